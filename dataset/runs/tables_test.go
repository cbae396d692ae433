package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// writeRun makes a small run of two rows, the second of which could not be scored.
func writeRun(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key := Key{"q1", "a", 0}
	err := errors.Join(
		Rows().Write(dir, []Row{
			{
				Key: key, Status: RowOK, Tags: map[string]string{"lang": "de"}, Undefined: map[string]string{"citation_correctness": "no_judge"},
				Numbers: map[string]float64{"mean_exact_jaccard": 0.25, "truth_chars": 10, "pred_chars": 30, "overlap_chars": 10, "citations": 2},
			},
			{Key: Key{"q2", "a", 1}, Status: RowError, Error: "answer: null"},
		}),
		Citations.Write(dir, []Citation{{Key: key, Number: 0, Doc: "d", Status: "ok"}, {Key: key, Number: 1, Status: "document_not_found"}}),
		Claims.Write(dir, []Claim{{Key: key, Text: "t", Citations: []int32{0}, Elsewhere: &Elsewhere{Doc: "e", Start: new(int64(3))}}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRows(t *testing.T) {
	dir := writeRun(t)
	rows, err := Rows().Read(dir)
	if err != nil || len(rows) != 2 || rows[1].Error != "answer: null" {
		t.Fatalf("%v, %v", rows, err)
	}
	row := rows[0]
	if *row.Number("mean_exact_jaccard") != 0.25 || *row.Number("char_f1") != 0.5 || *row.Number("exact_match") != 0 || *row.Number("citations") != 2 || row.Number("doc_recall") != nil {
		t.Errorf("numbers of a row: %v", row.Numbers)
	}
	if row.Tags["lang"] != "de" || row.Undefined["citation_correctness"] != "no_judge" {
		t.Errorf("maps of a row: %v, %v", row.Tags, row.Undefined)
	}
}

// Every number has a column or is derived.
func TestRowsLayout(t *testing.T) {
	l := NewRowsLayout()
	if len(l.Counts) != int(metrics.NumCounts) || len(l.Metrics)+len(l.Derived)+len(DialectMetrics()) != metrics.NumMetrics {
		t.Errorf("%d counts, %d metrics and %d derived ones", len(l.Counts), len(l.Metrics), len(l.Derived))
	}
	for _, c := range l.Counts {
		if l.Columns[c.At].Name != c.Count.String() {
			t.Errorf("%v is column %s", c.Count, l.Columns[c.At].Name)
		}
	}
	for _, m := range l.Metrics {
		if l.Columns[m.At].Name != m.Metric.String() {
			t.Errorf("%v is column %s", m.Metric, l.Columns[m.At].Name)
		}
	}
}

func TestOfRow(t *testing.T) {
	dir := writeRun(t)
	citations, err := Citations.OfRow(dir, 0)
	if err != nil || len(citations) != 2 || citations[1].Status != "document_not_found" || citations[1].Doc != "" {
		t.Errorf("%v, %v", citations, err)
	}
	claims, err := Claims.OfRow(dir, 0)
	if err != nil || len(claims) != 1 || claims[0].Elsewhere.Doc != "e" || *claims[0].Elsewhere.Start != 3 || claims[0].Votes != nil {
		t.Errorf("%v, %v", claims, err)
	}
	if calls, err := Calls.OfRow(dir, 0); calls != nil || err != nil {
		t.Errorf("a run without calls: %v, %v", calls, err)
	}
	if citations, err := Citations.OfRow(t.TempDir(), 0); citations != nil || err != nil {
		t.Errorf("a run without citations: %v, %v", citations, err)
	}
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	row := SummaryRow{System: "b", Metric: "m", Agg: Macro, N: 3}
	row.Fill(&stats.Estimate{Value: 0.5, Reason: ibid.Defined, Low: 0.4, High: 0.6, HasInterval: true, Level: 0.95, Method: "cr1-t", N: 3, Clusters: 2})
	if err := Summary.Write(dir, []SummaryRow{{System: "a", Metric: "m", Agg: Micro, Level: 0.9, Warnings: []string{"few"}}, row}); err != nil {
		t.Fatal(err)
	}
	rows, err := Summary.Read(dir)
	want := []SummaryRow{
		{System: "a", Metric: "m", Agg: Micro, Level: 0.9, Warnings: []string{"few"}},
		{System: "b", Metric: "m", Agg: Macro, N: 3, Estimate: new(0.5), Low: new(0.4), High: new(0.6), Level: 0.95, Method: "cr1-t", Clusters: 2, Warnings: []string{}},
	}
	if diff := cmp.Diff(want, rows); err != nil || diff != "" {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	var out bytes.Buffer
	if err := Summary.Copy(&out, dir, false); err != nil || !strings.HasPrefix(out.String(), "system,slice,metric,agg,n,") || !strings.Contains(out.String(), "\nb,,m,macro,3,,,0,0,,0.5,0.4,0.6,0.95,cr1-t,2,") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestSummaryOfSlices(t *testing.T) {
	dir := t.TempDir()
	written := []SummaryRow{
		{Metric: "m", Agg: Macro, N: 4}, {Slice: "lang=de", Metric: "m", Agg: Macro, N: 1}, {Slice: "lang=en", Metric: "m", Agg: Macro, N: 2}, {Slice: "topic=x=y", Metric: "m", Agg: Macro, N: 3},
	}
	for i := range written {
		written[i].Warnings = []string{}
	}
	err := dataset.WriteFile(filepath.Join(dir, SummaryFile), func(w io.Writer) error {
		return Summary.encodeEach(w, 3, func(yield func(*SummaryRow) error) error { // in two row groups
			for i := range written {
				if err := yield(&written[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if fields, err := SummaryFields(dir); err != nil || !cmp.Equal(fields, []string{"system", "lang", "topic"}) {
		t.Errorf("fields %v, %v", fields, err)
	}
	got, err := ReadSummaryOf(dir, func(k SummaryKey) bool { return strings.HasSuffix(k.Slice, "n") || k.Slice == "topic=x=y" })
	if diff := cmp.Diff(written[2:], got); err != nil || diff != "" {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if got, err = ReadSummaryOf(dir, WholeSystems); err != nil || !cmp.Equal(got, written[:1]) {
		t.Errorf("without a slice: %v, %v", got, err)
	}
	got[0].Corrected = new(0.25)
	if err := ReplaceSummary(dir, got); err != nil {
		t.Fatal(err)
	}
	written[0].Corrected = new(0.25)
	got, err = Summary.Read(dir)
	if diff := cmp.Diff(written, got); err != nil || diff != "" {
		t.Errorf("replaced: %v: -want +got\n%s", err, diff)
	}
}

func TestAgreementAndLabelled(t *testing.T) {
	dir := t.TempDir()
	if rows, err := Agreement.ReadIfAny(dir); rows != nil || err != nil {
		t.Errorf("no agreement: %v, %v", rows, err)
	}
	pair := Pair("a", "b")
	written := []AgreementRow{
		{Statistic: "x", Kind: LabelAgreement}, {Statistic: "x", Kind: SpanAgreement, Annotators: pair}, {Statistic: "y", Kind: SpanAgreement, Annotators: AllAnnotators},
	}
	SortAgreement(written)
	if err := Agreement.Write(dir, written); err != nil {
		t.Fatal(err)
	}
	rows, err := Agreement.ReadIfAny(dir)
	if err != nil || len(rows) != 3 || rows[0].Annotators != AllAnnotators || rows[1].Annotators != pair || rows[2].Kind != LabelAgreement {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestDocumentation(t *testing.T) {
	f := Form{File: "x.parquet", Doc: "one x", Columns: []Column{
		{Name: "a", Kind: 0, Doc: "an a | b", Unit: "bytes", Range: ">= 0", Null: "none"}, {Name: "level", Kind: 2, Doc: "a level", Null: "never"},
	}}
	if want := "x.parquet: one x\n  a (int32, bytes, >= 0): an a | b\n      null: none\n  level (double): a level\n"; f.Text() != want {
		t.Errorf("got:\n%swant:\n%s", f.Text(), want)
	}
}

func TestManifests(t *testing.T) {
	dir := t.TempDir()
	begun := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for name, after := range map[string]time.Duration{"late": time.Hour, "early": 0} {
		m := Manifest{
			Schema: ManifestSchema, ID: name, Status: StatusComplete, Timings: Timings{Started: begun.Add(after), Finished: &begun},
			Settings: []configs.Value{{Key: "limits", Value: "7"}}, Judge: JudgeRecord{Kind: "lexical", Asked: 4, Unanswered: 1},
		}
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o777), m.Write(filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	other := Manifest{Schema: "somebody/v1"}
	later := Manifest{Schema: strings.Split(ManifestSchema, "/")[0] + "/v99"}
	for name, m := range map[string]*Manifest{"other": &other, "newer": &later} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o777), m.Write(filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	list, unreadable, err := List(dir)
	if err != nil || len(list) != 2 || list[0].Manifest.ID != "early" || len(unreadable) != 1 || unreadable[0].Name != "newer" {
		t.Fatalf("%v, %v, %v", list, unreadable, err)
	}
	var wrong *SchemaError
	if err := unreadable[0].Err; !errors.As(err, &wrong) || !strings.Contains(err.Error(), "this ibid reads") {
		t.Errorf("a manifest of another form: %v", err)
	}
	m, err := ReadManifestIfAny(list[0].Dir)
	if err != nil || m.Effective().Limits != 7 || len(m.Effective().Slices) != 0 || m.Judge.Coverage() != 0.75 || m.Judge.Name() != "lexical" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := ReadManifestIfAny(t.TempDir()); m != nil || err != nil {
		t.Errorf("no run: %v, %v", m, err)
	}
	if (&JudgeRecord{}).Coverage() != 1 {
		t.Error("a judge that was asked nothing answered all of it")
	}
}

// TestRowByName: a row is found by its position, its id, and id and system.
func TestRowByName(t *testing.T) {
	dir := t.TempDir()
	const perGroup = 40
	err := dataset.WriteFile(filepath.Join(dir, RowsFile), func(w io.Writer) error {
		return Rows().encodeEach(w, perGroup, func(yield func(*Row) error) error {
			for i := range int64(10 * perGroup) {
				if err := yield(&Row{Key: Key{fmt.Sprintf("q/%d", i*7%(10*perGroup)/2), []string{"a", "b"}[i%2], i}, Status: RowOK}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(10 * perGroup) {
		at, err := NamedRows(dir, fmt.Sprint("#", i))
		if err != nil || len(at) != 1 || at[0].Row != i {
			t.Fatalf("row at %d: %v, %v", i, at, err)
		}
		name := at[0].ID + "/" + at[0].System
		found, err := NamedRows(dir, name)
		if err != nil || len(found) != 1 || found[0].Key != at[0].Key {
			t.Fatalf("row named %s: %v, %v, want %v", name, found, err, at)
		}
	}
	if found, err := NamedRows(dir, "q/3"); err != nil || len(found) != 2 {
		t.Errorf("rows named q/3: %v, %v, want two", found, err)
	}
	if found, err := NamedRows(dir, "q/3/c"); err != nil || len(found) != 0 {
		t.Errorf("rows named q/3/c: %v, %v, want none", found, err)
	}
}
