package harness_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
)

// kindRows returns answers of two systems. Their citations have a kind and a state of source, or neither.
func kindRows(n int) []*ibid.Answer {
	rng := rand.New(rand.NewPCG(3, 1))
	text := []string{"Water is wet. Fire is hot.", "The tower is 300 m tall.", "Water is wet and cold."}
	var rows []*ibid.Answer
	for i := range n {
		for _, system := range []string{"a", "b"} {
			r := &ibid.Answer{
				ID: fmt.Sprint(i), System: system, Query: "q", Answer: "Water is wet.", HasCitations: true, HasTruth: true, HasClaims: true, HasDocuments: true,
				Claims: []ibid.Claim{{ClaimID: "c", Text: "Water is wet."}}, Truth: []ibid.Mark{{Doc: fmt.Sprintf("d%d", i%9), Start: ibid.Some[int64](0), End: ibid.Some[int64](13)}},
			}
			for k := range 3 {
				r.Documents = append(r.Documents, ibid.Document{Doc: fmt.Sprintf("d%d", (i+k)%9), HasText: true, Text: text[(i+k)%3]})
			}
			for range rng.IntN(5) {
				c := ibid.Citation{
					ClaimID: "c", Doc: fmt.Sprintf("d%d", (i+rng.IntN(4))%9), Start: ibid.Some[int64](0), End: ibid.Some(5 + rng.Int64N(18)),
					SourceType: []string{"", "web", "file", "a]b=c"}[rng.IntN(4)], SourceReference: []string{"", `{"source_status":"archived"}`, `{"promotion_status":"active"}`}[rng.IntN(3)],
				}
				if rng.IntN(3) == 0 {
					c.CitedText = "Water is wet."
				}
				r.Citations = append(r.Citations, c)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// TestSlicesByKind: a slice by kind or state of sources has of numbers over citations what a run has
// over the rows with such a citation, cut to these; of all others what it has over these rows whole.
func TestSlicesByKind(t *testing.T) {
	rows := kindRows(40)
	for _, judge := range []string{"none", "lexical"} {
		dir := evaluate(t, writeRows(t, rows), "judge="+judge, "slices=[source_type, source_status]")
		summary, err := runs.Summary.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		of := make(map[string][]runs.SummaryRow)
		for _, r := range summary {
			slice := r.Slice
			r.Slice = ""
			of[slice] = append(of[slice], r)
		}
		undecided, undefined := int64(0), 0
		for slice, got := range of {
			if slice == "" {
				continue
			}
			key, kind, _ := strings.Cut(slice, "=")
			var whole, cut []*ibid.Answer
			for _, r := range rows {
				other := func(c ibid.Citation) bool {
					if key == runs.SourceTypeSlice {
						return c.SourceType != kind
					}
					return runs.SourceOf(&c).Status != kind
				}
				if part := *r; slices.ContainsFunc(r.Citations, func(c ibid.Citation) bool { return !other(c) }) {
					part.Citations = slices.DeleteFunc(slices.Clone(r.Citations), other)
					whole, cut = append(whole, r), append(cut, &part)
				}
			}
			var want []runs.SummaryRow
			for ofCitations, rows := range map[bool][]*ibid.Answer{true: cut, false: whole} {
				run := evaluate(t, writeRows(t, rows), "judge="+judge)
				all, err := runs.Summary.Read(run)
				if err != nil {
					t.Fatal(err)
				}
				if ofCitations {
					sameDifferences(t, dir, slice, run)
				}
				for _, r := range all {
					if d, _ := metrics.Lookup(r.Metric); d.OfCitations() == ofCitations {
						want = append(want, r)
					}
				}
			}
			slices.SortFunc(want, runs.CompareSummary)
			slices.SortFunc(got, runs.CompareSummary)
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12), cmpopts.IgnoreFields(runs.SummaryRow{}, "Warnings")); diff != "" {
				t.Errorf("%s, %s: -want +got\n%s", judge, slice, diff)
			}
			for _, r := range got {
				if r.Metric == metrics.CitationCorrectness.String() && r.System == "" {
					undecided += r.Undecided
					undefined += int(r.Undefined)
				}
			}
		}
		if len(of) != 6 || judge == "lexical" && (undecided == 0 || undefined == 0) {
			t.Errorf("%d slices; %d citations are undecided, %d rows undefined", len(of)-1, undecided, undefined)
		}
	}
}

// sameDifferences compares what a comparison of two systems says of a slice with what it says of a
// run that has the slice alone.
func sameDifferences(t *testing.T, dir, slice, alone string) {
	t.Helper()
	for _, d := range append(metrics.Definitions(), runs.SummaryCounts()...) {
		if !d.OfCitations() {
			continue
		}
		var got [2]compare.Difference
		var ends [2][2]*float64
		for i, of := range []struct{ dir, slice string }{{alone, ""}, {dir, slice}} {
			run, err := compare.Open(of.dir)
			if err != nil {
				t.Fatal(err)
			}
			q := compare.Quantity{Metric: d, Micro: len(d.Num) > 0}
			l, err := compare.NewLookup(run, run, "a")
			if err == nil {
				got[i], err = l.Difference("b", of.slice, q)
			}
			if err == nil {
				q.Micro = false
				ends[i][0], ends[i][1], err = run.Ends("", of.slice, q, 0.95)
			}
			if err := errors.Join(err, run.Close()); err != nil {
				t.Fatal(err)
			}
			got[i].Undefined = 0 // rows of one system alone are in the slice
		}
		if diff := cmp.Diff(got[0], got[1], cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s of %s: -want +got\n%s", d.Name, slice, diff)
		}
		if diff := cmp.Diff(ends[0], ends[1], cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s of %s: ends -want +got\n%s", d.Name, slice, diff)
		}
	}
}

// TestRangesByKind: ranges of rows that are joined have the same slices by kind to the byte, and
// so has a run with one worker.
func TestRangesByKind(t *testing.T) {
	path := writeRows(t, kindRows(20))
	settings := []string{"dataset=" + path, "judge=lexical", "slices=[source_type, source_status]", "rows_per_part=2"}
	whole := done(t, harness.Job{Source: path}, append(settings, "out="+t.TempDir(), "id=run")...)
	joined, err := join(t, rangesOf(t, settings, 0, 4, 6, 30)...)
	if err != nil {
		t.Fatal(err)
	}
	sameTables(t, whole, joined, allTables...)
	sameTables(t, whole, done(t, harness.Job{Source: path, Workers: 1}, append(settings, "out="+t.TempDir(), "id=run")...), allTables...)
}
