package history

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// A nightRun is a run directory to be written.
type nightRun struct {
	manifest runs.Manifest
	systems  []string
	from, to int // its questions
	value    float64
	told     bool // its manifest says which questions these are
}

// newNight is a finished run of two systems over 100 questions, begun on a day.
func newNight(id string, day int) *nightRun {
	started := day0.AddDate(0, 0, day)
	return &nightRun{
		manifest: runs.Manifest{
			Schema: runs.ManifestSchema, ID: id, Status: runs.StatusComplete, Judge: runs.JudgeRecord{Kind: "openrouter"},
			Ingredients: map[string]string{"judge": "openrouter m", "dataset": fmt.Sprint(day)},
			Timings:     runs.Timings{Started: started, Finished: new(started.Add(time.Minute))},
		},
		systems: []string{"alpha", "beta"}, to: 100, value: 0.8,
	}
}

func (r *nightRun) write(t *testing.T, folder string) runs.Listed {
	t.Helper()
	dir := filepath.Join(folder, r.manifest.ID)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.manifest.Rows = int64(r.to - r.from)
	if r.told {
		var asked runs.QuestionSum
		for k := r.from; k < r.to; k++ {
			asked.Add(fmt.Sprintf("q%d", k))
		}
		r.manifest.Questions = new(asked.Set())
	}
	if err := r.manifest.Write(dir); err != nil {
		t.Fatal(err)
	}
	summary := []runs.SummaryRow{{Metric: "char_f1", Agg: runs.Micro, Estimate: new(0.1)}}
	for _, s := range append([]string{""}, r.systems...) {
		summary = append(summary, runs.SummaryRow{
			System: s, Metric: "char_f1", Agg: runs.Macro, N: 100, Clusters: 100, Estimate: new(r.value), Low: new(r.value - 0.1), High: new(r.value + 0.1), Level: 0.95,
		})
	}
	slices.SortFunc(summary, runs.CompareSummary)
	if err := runs.Summary.Write(dir, summary); err != nil {
		t.Fatal(err)
	}
	table := parquet.NewTable([]parquet.Field{{Name: "id", Kind: parquet.String, Required: true}})
	for k := r.from; k < r.to; k++ {
		table.At(0).AppendString(fmt.Sprintf("q%d", k))
		table.EndRow()
	}
	err := dataset.WriteFile(filepath.Join(dir, runs.RowsFile), func(w io.Writer) error {
		var e parquet.Encoder
		return e.EncodePart(w, table)
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs.Listed{Dir: dir, Manifest: &r.manifest}
}

func runsOf(p *Past) []string {
	var out []string
	for _, n := range p.Nights {
		out = append(out, n.Run)
	}
	return out
}

// TestPastOf: which runs of a folder are the history of one.
func TestPastOf(t *testing.T) {
	folder := t.TempDir()
	add := func(id string, day int, change func(*nightRun)) runs.Listed {
		r := newNight(id, day)
		if change != nil {
			change(r)
		}
		return r.write(t, folder)
	}
	told := func(r *nightRun) { r.told = true }
	first := add("first", 1, told)
	add("z second", 2, func(r *nightRun) { r.value = 0.7 })
	add("another model", 3, func(r *nightRun) { r.manifest.Ingredients["judge"] = "openrouter n" })
	add("more questions", 4, func(r *nightRun) { r.to = 199 })
	run := add("this", 9, told)

	add("later", 10, nil)
	add("unfinished", 5, func(r *nightRun) { r.manifest.Status = runs.StatusRunning })
	add("limited", 5, func(r *nightRun) { r.manifest.Limit = 100 })
	add("only some", 6, func(r *nightRun) { r.manifest.Only = map[string]string{"lang": "de"} })
	add("lexical", 6, func(r *nightRun) { r.manifest.Judge.Kind = "lexical" })
	add("one system", 6, func(r *nightRun) { r.systems = r.systems[:1] })
	add("twice as many", 6, func(r *nightRun) { r.to = 201 })
	add("others", 7, func(r *nightRun) { r.from, r.to, r.told = 50, 150, true })
	many := add("very many", 8, func(r *nightRun) { r.to, r.told = 301, true })
	// What manifests say of questions is not read again.
	for _, l := range []runs.Listed{first, many} {
		if err := os.Remove(filepath.Join(l.Dir, runs.RowsFile)); err != nil {
			t.Fatal(err)
		}
	}
	broken := add("no summary", 7, nil)
	if err := os.Remove(filepath.Join(broken.Dir, runs.SummaryFile)); err != nil {
		t.Fatal(err)
	}
	for name, manifest := range map[string]string{
		"torn": `{"schema":"ibid.ma`, "newer": `{"schema":"ibid.manifest/v9"}`, "an extension": `{"name":"a browser's","version":"1"}`,
	} {
		dir := filepath.Join(folder, name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, runs.ManifestFile), []byte(manifest), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	p, err := PastOf(folder, run)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := runsOf(p), []string{"first", "z second", "another model", "more questions", "this"}; !slices.Equal(got, want) {
		t.Errorf("nights are %q, want %q", got, want)
	}
	want := map[string][]string{
		Unreadable: {"newer", "torn", "no summary"}, OtherPart: {"limited", "only some"}, OtherJudge: {"lexical"},
		OtherSystems: {"one system"}, OtherQuestions: {"twice as many", "others", "very many"},
	}
	got := make(map[string][]string)
	for i, l := range p.LeftOut {
		got[l.Why] = l.Runs
		if i > 0 && len(l.Runs) > len(p.LeftOut[i-1].Runs) {
			t.Errorf("%q is after a rarer reason", l.Why)
		}
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("left out are %q, want %q", got, want)
	}

	s, ok := SeriesOf(p.Nights, "char_f1", "beta")
	var why [][]string
	for _, g := range s.Segments {
		why = append(why, g.Why)
	}
	if !ok || fmt.Sprint(why) != "[[] [judge] [questions judge] [questions]]" {
		t.Errorf("segments begin for %v", why)
	}
	if v := s.Segments[0].Nights[1].Value.Value; v != 0.7 {
		t.Errorf("the value of the second night is %v, want 0.7", v)
	}
	if _, ok := SeriesOf(p.Nights, "char_f1", "gamma"); ok {
		t.Error("a system that is in no run has a series")
	}
	if _, err := PastOf(filepath.Join(folder, "nowhere"), run); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestPastIsBounded: a folder of very many rows does not make a page slow.
func TestPastIsBounded(t *testing.T) {
	folder := t.TempDir()
	for day := range 4 {
		r := newNight(fmt.Sprintf("n%d", day), day)
		l := r.write(t, folder)
		l.Manifest.Rows = maxPastRows / 2
		if err := l.Manifest.Write(l.Dir); err != nil {
			t.Fatal(err)
		}
	}
	p, err := PastOf(folder, newNight("this", 9).write(t, folder))
	if err != nil {
		t.Fatal(err)
	}
	if got := runsOf(p); !slices.Equal(got, []string{"n2", "n3", "this"}) || p.Older != 2 {
		t.Errorf("nights are %q, %d older; want the last two of four", got, p.Older)
	}
}

// TestPooled: a night without numbers has the systems of the night before, or else of the
// first that has some.
func TestPooled(t *testing.T) {
	night := func(systems ...string) RunNight {
		n := RunNight{Night: Night{Basis: map[string]string{"judge": "x"}}}
		for _, s := range systems {
			n.Summary = append(n.Summary, runs.SummaryRow{System: s, Metric: "char_f1"})
		}
		return n
	}
	nights := []RunNight{night(), night("b", "a", "a", ""), night(), night("c")}
	for i, n := range Pooled(nights) {
		want := []string{`["a" "b"]`, `["a" "b"]`, `["a" "b"]`, `["c"]`}[i]
		if n.Basis["systems"] != want || n.Basis["judge"] != "x" {
			t.Errorf("night %d is of %v, want %s", i, n.Basis, want)
		}
		if nights[i].Basis["systems"] != "" {
			t.Errorf("the basis of night %d itself was changed", i)
		}
	}
}

// TestSeriesOf: macro values over all rows, of a system or of all.
func TestSeriesOf(t *testing.T) {
	night := RunNight{Summary: []runs.SummaryRow{
		{Metric: "char_f1", Agg: runs.Micro, Estimate: new(0.1)},
		{Metric: "char_f1", Slice: "lang=de", Agg: runs.Macro, Estimate: new(0.2)},
		{Metric: "char_f1", System: "a", Agg: runs.Macro, Estimate: new(0.3)},
		{Metric: "char_f1", Agg: runs.Macro, Estimate: new(0.4), SE: new(0.01)},
		{Metric: "hallucination_rate", Agg: runs.Macro, Estimate: new(0.5)},
		{Metric: "token_f1", Agg: runs.Macro},
	}}
	for _, tt := range []struct {
		metric, system string
		want           float64 // 0: undefined
	}{{"char_f1", "", 0.4}, {"char_f1", "a", 0.3}, {"char_f1", "b", 0}, {"hallucination_rate", "", 0.5}, {"token_f1", "", 0}} {
		s, ok := SeriesOf([]RunNight{night}, tt.metric, tt.system)
		if ok != (tt.want > 0) {
			t.Errorf("%+v: %+v, %v", tt, s, ok)
		}
		if row := night.Macro(tt.metric, tt.system); (row != nil) != ok || ok && *row.Estimate != tt.want {
			t.Errorf("%+v: the row %+v", tt, row)
		}
	}
}

// TestChanged names what a night does not share with the one before, in order; other
// questions come first.
func TestChanged(t *testing.T) {
	before := &Night{Basis: map[string]string{"judge": "a", "metrics": "1", "gone": "x"}, Items: "i"}
	now := &Night{Basis: map[string]string{"judge": "b", "metrics": "1", "came": "x"}, Items: "k"}
	if got := changed(before, now); !slices.Equal(got, []string{"questions", "came", "gone", "judge"}) {
		t.Errorf("changed: %v", got)
	}
	if got := changed(before, before); len(got) > 0 {
		t.Errorf("nothing changed, and %v did", got)
	}
}
