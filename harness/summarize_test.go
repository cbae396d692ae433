package harness_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// writeRows writes rows as a dataset and returns its path.
func writeRows(t *testing.T, rows []*ibid.Answer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluate runs a dataset and returns the run directory.
func evaluate(t *testing.T, path string, settings ...string) string {
	t.Helper()
	return done(t, harness.Job{Source: path}, append([]string{"dataset=" + path, "judge=none", "out=" + t.TempDir(), "id=run"}, settings...)...)
}

// questions makes rows of several systems over shared documents; every third row
// cites nothing, every fifth has no truth.
func questions(n int, systems ...string) []*ibid.Answer {
	rng := rand.New(rand.NewPCG(7, 7))
	known := func(v int64) ibid.Integer { return ibid.Some(v) }
	var rows []*ibid.Answer
	for i := range n {
		doc := fmt.Sprintf("doc-%d", i%7)
		start := rng.Int64N(500)
		for k, system := range systems {
			r := &ibid.Answer{
				ID: fmt.Sprintf("q-%03d", i), System: system, Query: "q", Answer: "an answer",
				HasCitations: true, HasTruth: i%5 != 0,
				Tags: []ibid.Tag{{Key: "lang", Value: []string{"de", "en"}[i%2]}},
			}
			if r.HasTruth {
				r.Truth = []ibid.Mark{{Doc: doc, Start: known(start), End: known(start + 60)}}
			}
			if (i+k)%3 != 0 {
				at := start + rng.Int64N(40)
				r.Citations = []ibid.Citation{{Doc: doc, Start: known(at), End: known(at + 50)}}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// scored is what the check against the definition reads of a row.
type scored struct {
	id, system, lang string
	documents        []string
	value, num, den  float64
	defined          bool
}

// readScored reads char_f1 and its parts from rows.parquet.
func readScored(t *testing.T, dir string) []scored {
	t.Helper()
	f, err := runs.OpenRows(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []scored
	err = f.Each(func(b *runs.Block) error {
		by := make(map[string]*parquet.ColumnValues)
		for _, field := range f.Fields() {
			by[field.Name] = b.Column(field.Name)
		}
		overlap := by["overlap_chars"]
		for i := range overlap.Rows {
			row := scored{
				id: by["id"].Strings[i], system: by["system"].Strings[i], lang: by["tags"].Strings[by["tags"].Offsets[i]],
				num: 2 * float64(overlap.Ints[i]), den: float64(by["truth_chars"].Ints[i] + by["pred_chars"].Ints[i]),
			}
			if documents := by["documents"]; documents != nil {
				row.documents = slices.Clone(documents.Strings[documents.Offsets[i]:documents.Offsets[i+1]])
			}
			if row.defined = overlap.Valid[i] && row.den > 0; row.defined {
				row.value = row.num / row.den
			}
			out = append(out, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSummaryAgainstDefinition compares the numbers of each system and slice with those of its
// rows, picked in the plainest way.
func TestSummaryAgainstDefinition(t *testing.T) {
	path := writeRows(t, questions(60, "a", "b", "c"))
	for cluster, given := range map[string]bool{"auto": false, "question": false, "id": false, "lang": true} {
		t.Run("cluster="+cluster, func(t *testing.T) {
			dir := evaluate(t, path, "statistics.cluster="+cluster, "slices=[lang]")
			rows := readScored(t, dir)
			for i := range rows {
				if cluster == "lang" {
					rows[i].documents = []string{rows[i].lang}
				}
			}
			summary, err := runs.Summary.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			checked, said := 0, false
			for _, s := range summary {
				if s.Metric != "char_f1" {
					continue
				}
				checked++
				checkGroup(t, s, rows)
				said = said || slices.Contains(s.Warnings, "says nothing of other lang values than de, which 100 % of the rows touch")
			}
			if want := 2 * 4 * 3; checked != want { // agg × systems and all × slices and all
				t.Errorf("%d summary rows of char_f1, want %d", checked, want)
			}
			if said != given {
				t.Errorf("some slice speaks of one value only: %t, want %t", said, given)
			}
		})
	}
}

func checkGroup(t *testing.T, s runs.SummaryRow, rows []scored) {
	t.Helper()
	var y, x []float64
	var units []string
	var numbers stats.Numbering[string]
	documents := new(stats.Documents)
	undefined := int64(0)
	for _, r := range rows {
		switch {
		case s.System != "" && r.system != s.System || s.Slice != "" && "lang="+r.lang != s.Slice:
			continue
		case !r.defined:
			undefined++
			continue
		case s.Agg == runs.Micro:
			y, x = append(y, r.num), append(x, r.den)
		default:
			y, x = append(y, r.value), append(x, 1)
		}
		units = append(units, r.id)
		documents.Add(numbers.Numbers(r.documents...)...)
	}
	of := stats.NewRows(units, documents)
	want := stats.NewQuotient(of.Sums(y), of.Sums(x)).Within(of.Documents(nil), 0, 1, 0.95)
	name := fmt.Sprintf("%q %q %s", s.System, s.Slice, s.Agg)
	if s.N != int64(len(y)) || s.Undefined != undefined || s.Clusters != want.Clusters || s.Given != int32(len(want.Given)) || s.Method != string(want.Method) {
		t.Errorf("%s: n %d, undefined %d, clusters %d, given %d, %s; want %d, %d, %+v", name, s.N, s.Undefined, s.Clusters, s.Given, s.Method, len(y), undefined, want)
	}
	if want := float64(len(y)) / float64(int64(len(y))+undefined); s.DefinedShare == nil || *s.DefinedShare != want {
		t.Errorf("%s: defined in a share of %v of the rows, want %v", name, s.DefinedShare, want)
	}
	if s.Reasons["no_truth"] != undefined || len(s.Reasons) != int(min(1, undefined)) {
		t.Errorf("%s: undefined because of %v, want no_truth in %d", name, s.Reasons, undefined)
	}
	value, low, high := want.Nullable()
	for what, of := range map[string][2]*float64{
		"estimate": {s.Estimate, value}, "ci_low": {s.Low, low}, "ci_high": {s.High, high}, "se": {s.SE, &want.SE},
		"df": {s.DF, want.DF.Pointer()}, "design_effect": {s.DesignEffect, want.Effect.Pointer()},
	} {
		if (of[0] == nil) != (of[1] == nil) || of[0] != nil && math.Abs(*of[0]-*of[1]) > 1e-9 {
			t.Errorf("%s: %s is %v, want %v", name, what, of[0], of[1])
		}
	}
}

// nearlyEqual compares numbers but for rounding.
var nearlyEqual = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) })

// TestSummaryWithoutOrder shuffles the rows: no number may move by more than rounding.
func TestSummaryWithoutOrder(t *testing.T) {
	chained := questions(80, "a", "b")
	for i, r := range chained {
		for k := range r.Truth {
			r.Truth[k].Doc = fmt.Sprint("doc-", i%61)
		}
		r.Truth = append(r.Truth, ibid.Mark{Doc: fmt.Sprint("doc-", i*7%61), Start: ibid.Some(int64(i)), End: ibid.Some(int64(i + 40))})
		r.HasTruth = true
	}
	read := func(rows []*ibid.Answer) []runs.SummaryRow {
		summary, err := runs.Summary.Read(evaluate(t, writeRows(t, rows), "slices=[lang]"))
		if err != nil {
			t.Fatal(err)
		}
		return summary
	}
	for name, rows := range map[string][]*ibid.Answer{"a document each": questions(80, "a", "b"), "several": chained, "few": chained[:60]} {
		want := read(rows)
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 1))
			shuffled := slices.Clone(rows)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if diff := cmp.Diff(want, read(shuffled), nearlyEqual); diff != "" {
				t.Fatalf("%s: shuffle %d changes the summary:\n%s", name, seed, diff)
			}
		}
	}
}

// TestSharedSecondDocument: questions that share a document are not independent, be it the
// first that their truth names or another.
func TestSharedSecondDocument(t *testing.T) {
	rows := questions(40, "a")
	for i, r := range rows {
		mark := func(doc string) ibid.Mark {
			return ibid.Mark{Doc: doc, Start: ibid.Some(int64(0)), End: ibid.Some(int64(50))}
		}
		r.Truth, r.HasTruth = []ibid.Mark{mark(fmt.Sprint("own ", i)), mark(fmt.Sprint("shared ", i/10))}, true
		r.Citations = []ibid.Citation{{Doc: fmt.Sprint("own ", i), Start: ibid.Some(int64(0)), End: ibid.Some(int64(50 * (i / 20)))}}
	}
	path := writeRows(t, rows)
	for cluster, want := range map[string]int64{"auto": 4, "question": 40, "id": 40} {
		summary, err := runs.Summary.Read(evaluate(t, path, "statistics.cluster="+cluster))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range summary {
			if r.N == 40 && r.Agg == runs.Macro && r.Clusters != want {
				t.Errorf("%s: %s of %d clusters, want %d", cluster, r.Metric, r.Clusters, want)
			}
		}
	}
}

// TestIntervalsWithinBounds: no interval of a summary leaves the bounds of a metric that has two,
// with few rows, shared documents and several systems.
func TestIntervalsWithinBounds(t *testing.T) {
	summary, err := runs.Summary.Read(evaluate(t, writeRows(t, questions(12, "a", "b")), "slices=[lang]"))
	if err != nil {
		t.Fatal(err)
	}
	within := 0
	for _, r := range summary {
		d, ok := metrics.Lookup(r.Metric)
		if !ok || r.Low == nil || math.IsInf(d.Max, 1) {
			continue
		}
		if within++; *r.Low < d.Min || *r.High > d.Max || *r.Estimate < *r.Low || *r.Estimate > *r.High {
			t.Errorf("%s of %s %s: %v in [%v, %v] by %s", r.Metric, r.System, r.Slice, *r.Estimate, *r.Low, *r.High, r.Method)
		}
	}
	if within < 100 {
		t.Errorf("only %d intervals", within)
	}
}

// TestUnboundedMetrics: where items are unscored, a metric that has no bounds says none; its
// estimate is not its bounds.
func TestUnboundedMetrics(t *testing.T) {
	var rows []*ibid.Answer
	for i := range 4 {
		r := &ibid.Answer{ID: fmt.Sprintf("q-%d", i), Query: "q", Answer: "One. Two. Three.", HasCitations: true, HasClaims: true, HasLabels: true}
		for k, support := range []float64{1, 0, 1} {
			claim, citation := fmt.Sprint("claim ", k), fmt.Sprint("citation ", k)
			r.Claims = append(r.Claims, ibid.Claim{ClaimID: claim, Text: "A claim."})
			r.Citations = append(r.Citations, ibid.Citation{CitationID: citation, ClaimID: claim, Doc: "d"})
			if k == 2 && i%2 == 1 {
				continue // unscored
			}
			for _, l := range []ibid.Label{{ClaimID: claim}, {CitationID: citation}} {
				l.Annotator, l.Kind, l.Value = "ada", "support", ibid.Some(support)
				r.Labels = append(r.Labels, l)
			}
		}
		rows = append(rows, r)
	}
	summary, err := runs.Summary.Read(evaluate(t, writeRows(t, rows), "judge=human"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"consistency_variance": false, "drb_effective_citations": false, "mean_consistency": true}
	for _, r := range summary {
		bounded, ok := want[r.Metric]
		if !ok || r.Agg != runs.Macro || r.System != "" {
			continue
		}
		delete(want, r.Metric)
		if r.Estimate == nil || r.Unscored == 0 || (r.BoundLow != nil) != bounded {
			t.Errorf("%s: %d unscored, bounds %v, want bounds: %v", r.Metric, r.Unscored, r.BoundLow, bounded)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the summary: %v", want)
	}
}

// TestOwnDocuments: what rows bring along under one name is one document only if its text is.
func TestOwnDocuments(t *testing.T) {
	for text, want := range map[string]int32{"The same text.": 1, "Text number %d.": 0} {
		rows := questions(40, "a")
		for i, r := range rows {
			own := text
			if want == 0 {
				own = fmt.Sprintf(text, i)
			}
			r.Documents, r.HasDocuments = []ibid.Document{{Doc: "1", Text: own, HasText: true}}, true
			mark := ibid.Mark{Doc: "1", Start: ibid.Some[int64](0), End: ibid.Some(int64(1 + i%9))}
			r.Truth, r.HasTruth = []ibid.Mark{mark}, true
			r.Citations = []ibid.Citation{{Doc: "1", Start: ibid.Some[int64](0), End: ibid.Some[int64](5)}}
		}
		summary, err := runs.Summary.Read(evaluate(t, writeRows(t, rows)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range summary {
			if r.Metric == "char_f1" && r.Given != want {
				t.Errorf("%q: %d given documents of %s, want %d", text, r.Given, r.Metric, want)
			}
		}
	}
}
