package runs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// TestSlicesOfAnswers: what values an answer has for a key, each once and sorted.
func TestSlicesOfAnswers(t *testing.T) {
	a := &ibid.Answer{
		System: "s", Model: "m", Tags: []ibid.Tag{{Key: "lang", Value: "de"}, {Key: "model", Value: "tag"}},
		Citations: []ibid.Citation{
			{Doc: "b", SourceType: "web", SourceReference: `{"promotion_status": "draft", "source_status": "old", "asset_version": 2.5, "source_url": "u"}`},
			{Doc: "a", SourceType: "pdf", SourceReference: `{"source_status": "active", "source_version": "3"}`},
			{Doc: "a", SourceType: "web"},
			{DocNull: true, SourceReference: `{"source_status"`},
		},
	}
	for key, want := range map[string]string{"lang": "de", "model": "m", "provider": "", "system": "s", "source_type": "pdf web", "source_status": "active draft", "city": ""} {
		if got := strings.Join(AppendSlices([]string{"kept"}, a, key), " "); got != strings.TrimSpace("kept "+want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
		if IsColumnSlice(key) != slices.Contains(ColumnSlices(), key) || IsColumnSlice(key) == (key == "lang" || key == "city") {
			t.Errorf("%s is a column: %v", key, IsColumnSlice(key))
		}
	}
	for i, want := range []Source{{"draft", "2.5", "u"}, {"active", "3", ""}, {}, {}} {
		if got := SourceOf(&a.Citations[i]); got != want {
			t.Errorf("source of citation %d: %+v, want %+v", i, got, want)
		}
	}
	if got := AppendDocuments([]string{"z"}, a); !slices.Equal(got, []string{"z", "a", "b"}) {
		t.Errorf("documents %q", got)
	}
	a.Truth = []ibid.Mark{{Doc: "c"}, {DocNull: true}, {Doc: "c"}}
	if got := AppendDocuments(nil, a); !slices.Equal(got, []string{"c"}) {
		t.Errorf("documents of the truth %q", got)
	}
	a.Documents = []ibid.Document{{Doc: "c", Text: "x", HasText: true}}
	first := AppendDocuments(nil, a)
	a.Documents[0].Text = "y"
	if second := AppendDocuments(nil, a); first[0] == second[0] || !strings.HasPrefix(first[0], "c") {
		t.Errorf("documents of two texts: %q and %q", first, second)
	}
}

// TestScanSlices: rows come in the order of the file with each of their values, and those of
// a part of an earlier version without the column have none.
func TestScanSlices(t *testing.T) {
	table := parquet.NewTable([]parquet.Field{
		{Name: "id", Kind: parquet.String, Required: true}, {Name: "system", Kind: parquet.String}, {Name: "tags", Kind: parquet.MapString}, {Name: "source_types", Kind: parquet.ListString}, {Name: "documents", Kind: parquet.ListString},
	})
	for i := range 5 {
		table.At(0).AppendString(fmt.Sprint("q", i/2))
		if i != 3 {
			table.At(1).AppendString([]string{"a", "b"}[i%2])
		}
		if i > 0 {
			table.At(2).AppendMap([]string{"other", "lang"}, []string{"x", []string{"de", "en"}[i%2]})
		}
		if i > 1 {
			table.At(3).AppendStrings([]string{"web", "pdf"}[:(i-2)%2])
			table.At(4).AppendStrings([]string{fmt.Sprint("d", i/3), "e"})
		}
		table.EndRow()
	}
	path := filepath.Join(t.TempDir(), RowsFile)
	var file bytes.Buffer
	if err := new(parquet.Encoder).EncodePart(&file, table); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFrame(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, want := range map[string]string{
		"system": "0 a, 1 b, 2 a, 4 a", "lang": "1 en, 2 de, 3 en, 4 de", "source_type": "3 web", "provider": "", "source_status": "", "city": "", "other": "1 x, 2 x, 3 x, 4 x",
	} {
		var got []string
		if err := ScanSlices(filepath.Dir(path), f, key, func(row int, value string) { got = append(got, fmt.Sprint(row, " ", value)) }); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	touched, err := ReadDocuments(context.Background(), f, AutoCluster)
	if err != nil || !slices.Equal(touched.Names, []string{"e", "d1"}) {
		t.Errorf("%+v, %v", touched, err)
	}
	// What no other row touches has no name.
	for row, want := range [][]int32{nil, nil, {stats.Lone, 0}, {0, 1}, {0, 1}} {
		if got := slices.Sorted(slices.Values(touched.At(row, nil))); !slices.Equal(got, want) {
			t.Errorf("row %d touches %v, want %v", row, got, want)
		}
	}
}

// TestSigns: of which metrics and systems a sign takes the verdict, and how it is told.
func TestSigns(t *testing.T) {
	s := Sign{Name: "n", Text: "t", System: "a", Metrics: []string{"char_f1"}}
	for _, tt := range []struct {
		system, metric string
		want           bool
	}{{"a", "char_f1", true}, {"", "char_f1", true}, {"b", "char_f1", false}, {"a", "exact_match", false}} {
		if got := s.Counts(tt.system, tt.metric); got != tt.want {
			t.Errorf("%s of %q: %v", tt.metric, tt.system, got)
		}
	}
	note, accepted, whole := s, s, s
	note.Note, accepted.Accepted, whole.System = true, true, ""
	if note.Counts("a", "char_f1") || accepted.Counts("a", "char_f1") || !whole.Counts("b", "char_f1") {
		t.Error("notes and accepted signs count, or one of the whole run does not")
	}
	for want, s := range map[string]Sign{"sign n, system a: t": s, "note n, system a: t": note, "sign n (accepted), system a: t": accepted, "sign n: t": whole} {
		if got := s.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	m := &Manifest{Signs: []Sign{s, accepted, note}}
	if got := m.Shown(); len(got) != 2 || got[1].Note != true || len(m.Signs) != 3 {
		t.Errorf("shown %+v", got)
	}
}

// TestMoved: what was moved is told with how it counts.
func TestMoved(t *testing.T) {
	m := &Manifest{Statuses: map[string]int64{"quote_repaired": 1}, Citations: 9, Places: map[string]*metrics.Places{"a": {Moved: 2, Lost: 1}, "b": {Lost: 2}}}
	want := []string{
		"the quote of 1 citation of 9 is not at its offsets: counted where the quote is",
		"the quote of 2 truth spans is not at its offsets: counted where the quote is",
		"truth spans without a place (quote not found, or offsets beyond 2^31-1): 3; span metrics of their rows are undefined (truth_not_found)",
	}
	if got := m.Moved(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := new(Manifest).Moved(); len(got) != 0 {
		t.Errorf("of nothing %q", got)
	}
	if !m.OfRows() || (&Manifest{Dataset: "a"}).OfRows() {
		t.Error("which runs are of rows")
	}
}

// TestIntervals: which interval each kind of metric has.
func TestIntervals(t *testing.T) {
	f1, _ := metrics.Lookup("char_f1")
	exact, _ := metrics.Lookup("exact_match")
	free, _ := metrics.Lookup("boundary_error_start")
	y, x := []float64{0, 1, 2, 0, 1, 2, 0, 1}, []float64{2, 3, 2, 3, 2, 3, 2, 3}
	mean := stats.NewQuotient(y, x)
	s := mean.Spread(nil)
	for _, tt := range []struct {
		of    metrics.Definition
		micro bool
		want  stats.Method
	}{{f1, false, stats.LogitT}, {f1, true, stats.LogitT}, {exact, false, stats.LogitT}, {exact, true, stats.LogitT}, {free, true, stats.PlainT}, {free, false, stats.PlainT}} {
		if e := Interval(&tt.of, mean.Value, &s, tt.micro, 0.95); e.Method != tt.want {
			t.Errorf("%s, pooled: %v: by %s, want %s", tt.of.Name, tt.micro, e.Method, tt.want)
		}
	}
	a, b := SummaryRow{Metric: "m", Agg: "macro"}, SummaryRow{Metric: "m", Agg: "micro"}
	if CompareSummary(a, b) >= 0 || CompareSummary(b, a) <= 0 || CompareSummary(a, a) != 0 {
		t.Error("the order of two aggregates")
	}
}
