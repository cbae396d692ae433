package history_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/annotations/history"
	"ibid/dataset/runs"
)

var day0 = time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)

// add writes a finished run of two systems that asks the questions from one number up to
// another, begun on a day.
func add(t *testing.T, folder, id string, day, from, to int, change func(*runs.Manifest)) runs.Listed {
	t.Helper()
	dir := filepath.Join(folder, id)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	started := day0.AddDate(0, 0, day)
	m := &runs.Manifest{
		Schema: runs.ManifestSchema, ID: id, Status: runs.StatusComplete, Rows: int64(to - from), Coverage: new(1.0),
		Ingredients: map[string]string{"judge": "openrouter m", "dataset": fmt.Sprint(day), "mark_scope": "sentence"},
		Timings:     runs.Timings{Started: started, Finished: new(started.Add(time.Minute))},
	}
	for k := from; k < to; k++ {
		m.Questions.Add(fmt.Sprint(k), "what?")
	}
	if change != nil {
		change(m)
	}
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	var summary []runs.SummaryRow
	for _, s := range []string{"", "alpha", "beta"} {
		summary = append(summary, runs.SummaryRow{System: s, Metric: "char_f1", Agg: runs.Macro, N: 100, Estimate: new(0.8)})
	}
	slices.SortFunc(summary, runs.CompareSummary)
	if err := runs.Summary.Write(dir, summary); err != nil {
		t.Fatal(err)
	}
	return runs.Listed{Dir: dir, Manifest: m}
}

func open(t *testing.T, folder string) *history.Folder {
	t.Helper()
	f, err := history.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// names are the series of a folder, each as the names of its runs.
func names(f *history.Folder) (all []string) {
	for _, s := range f.Series() {
		var of []string
		for _, r := range s.Runs {
			of = append(of, filepath.Base(r.Dir))
		}
		all = append(all, strings.Join(of, " "))
	}
	return all
}

// TestSeries: runs belong together by their questions, and by nothing else.
func TestSeries(t *testing.T) {
	folder := t.TempDir()
	if got := names(open(t, folder)); len(got) > 0 {
		t.Errorf("an empty folder has %q", got)
	}
	add(t, folder, "a", 1, 0, 40, nil)
	add(t, folder, "other", 2, 100, 130, nil)
	add(t, folder, "more", 3, 0, 60, func(m *runs.Manifest) { m.Judge.Kind = "lexical" })
	add(t, folder, "of earlier versions", 4, 0, 0, nil)
	add(t, folder, "slid", 5, 15, 75, nil) // shares 25 of 75 with a, 45 of 75 with more
	add(t, folder, "half", 6, 0, 30, nil)  // 15 of 75 of slid, 30 of 60 of more
	add(t, folder, "fewer", 7, 30, 40, nil)
	f := open(t, folder)
	if got, want := names(f), []string{"a more slid half", "other", "of earlier versions", "fewer"}; !slices.Equal(got, want) {
		t.Errorf("series %q, want %q", got, want)
	}
	for i, want := range []int{0, 0, 1, 0, 2, 3, 0} {
		if got := len(f.Before(f.Runs[i].Manifest).Runs); got != want {
			t.Errorf("%s: %d runs of its series before it, want %d", f.Runs[i].Dir, got, want)
		}
	}
}

// TestBase: the first complete run, until another is accepted; no later run moves it.
func TestBase(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, "limited", 0, 0, 40, func(m *runs.Manifest) { m.Limit = 40 })
	add(t, folder, "broken", 1, 0, 40, func(m *runs.Manifest) { m.Coverage = new(0.2) })
	base := func() string {
		next := &runs.Manifest{Timings: runs.Timings{Started: day0.AddDate(1, 0, 0)}}
		for k := range 40 {
			next.Questions.Add(fmt.Sprint(k), "what?")
		}
		dir := open(t, folder).Before(next).Base()
		if dir == "" {
			return ""
		}
		return filepath.Base(dir)
	}
	want := func(name, why string) {
		t.Helper()
		if got := base(); got != name {
			t.Errorf("the base is %q, want %q: %s", got, name, why)
		}
	}
	want("", "there is no complete run")
	add(t, folder, "n1", 2, 0, 40, nil)
	add(t, folder, "n2", 3, 0, 40, func(m *runs.Manifest) { m.Baseline = "elsewhere/n1" }) // as the folder was called then
	want("n1", "it is the first complete run")
	if _, err := open(t, folder).Accept("n2", day0); err != nil {
		t.Fatal(err)
	}
	want("n2", "it was accepted")
	add(t, folder, "n3", 4, 0, 40, func(m *runs.Manifest) { m.Baseline, m.Given = "n1", true })
	want("n2", "--baseline is for one run")
	if _, err := open(t, folder).Accept(filepath.Join(folder, "n1"), day0.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	want("n1", "the last entry counts")
	if err := os.RemoveAll(filepath.Join(folder, "n2")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, history.AcceptedFile)); err != nil {
		t.Fatal(err)
	}
	add(t, folder, "n4", 5, 0, 40, func(m *runs.Manifest) { m.Baseline = "n2" })
	want("n2", "it is gone, and does not move by itself")
}

// TestAccept: the file of accepted runs, and what cannot be accepted.
func TestAccept(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, "n1", 1, 0, 40, nil)
	elsewhere := t.TempDir()
	add(t, elsewhere, "x", 1, 0, 40, nil)
	for _, name := range []string{"nobody", filepath.Join(elsewhere, "x")} {
		if _, err := open(t, folder).Accept(name, day0); !errors.Is(err, ibid.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := open(t, folder).Accept("n1", day0); err != nil || s.Accepted() == nil {
		t.Errorf("%+v, %v", s, err)
	}
	path := filepath.Join(folder, history.AcceptedFile)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != `[{"run":"n1","at":"2026-01-01T02:00:00Z"}]`+"\n" {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(path, []byte("[{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Open(folder); !errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), history.AcceptedFile) {
		t.Errorf("a torn file: %v", err)
	}
}

// TestPastOf: the runs of the series before a run, what they do not share with the one
// before, and what cannot be read.
func TestPastOf(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, "first", 1, 0, 40, nil)
	add(t, folder, "another model", 3, 0, 40, func(m *runs.Manifest) { m.Ingredients["judge"] = "openrouter n" })
	add(t, folder, "others", 4, 100, 140, nil)
	add(t, folder, "more", 5, 0, 42, nil)
	run := add(t, folder, "this", 9, 0, 42, nil)
	add(t, folder, "later", 10, 0, 40, nil)
	for name, manifest := range map[string]string{"torn": `{"schema":"ibid.ma`, "an extension": `{"name":"a browser's","version":"1"}`} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, runs.ManifestFile), []byte(manifest), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, nights, err := history.PastOf(folder, run)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nights {
		got = append(got, fmt.Sprintf("%s %q", n.Name(), n.Changed))
	}
	if want := []string{`first []`, `another model ["judge"]`, `more ["questions" "judge"]`, `this []`}; !slices.Equal(got, want) {
		t.Errorf("nights %q, want %q", got, want)
	}
	if _, _, err := history.PastOf(filepath.Join(folder, "nowhere"), run); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestPastIsBounded: a folder of very many rows does not make a page slow.
func TestPastIsBounded(t *testing.T) {
	folder := t.TempDir()
	for day := range 4 {
		add(t, folder, fmt.Sprintf("n%d", day), day, 0, 40, func(m *runs.Manifest) { m.Rows = 5_000_000 })
	}
	a, nights, err := history.PastOf(folder, add(t, folder, "this", 9, 0, 40, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(nights) != 3 || nights[0].Name() != "n2" || len(a.Runs) != 3 {
		t.Errorf("%d nights; want the last two of four and the run", len(nights))
	}
}

// TestMacro: macro values over all rows, of a system or of all.
func TestMacro(t *testing.T) {
	n := &history.Night{Summary: []runs.SummaryRow{
		{Metric: "char_f1", Agg: runs.Macro, Estimate: new(0.4)}, {Metric: "token_f1", Agg: runs.Macro}, {Metric: "char_f1", System: "a", Agg: runs.Macro, Estimate: new(0.3)},
	}}
	for key, want := range map[[2]string]float64{{"char_f1", "a"}: 0.3, {"char_f1", ""}: 0.4, {"char_f1", "b"}: 0, {"token_f1", ""}: 0} {
		row := n.Macro(key[0], key[1])
		if row == nil != (want == 0) || row != nil && *row.Estimate != want {
			t.Errorf("%q: %+v", key, row)
		}
	}
	if got := n.Systems(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("systems %q", got)
	}
}

// TestSketch: the likeness of runs by their questions, exact for few and near for many, and
// the same after a manifest was written and read.
func TestSketch(t *testing.T) {
	of := func(from, to int) (s runs.Sketch) {
		for k := range to - from {
			s.Add(fmt.Sprint(to-1-k), "q")
			s.Add(fmt.Sprint(to-1-k), "q") // of another system
		}
		return s
	}
	for _, tt := range []struct {
		a, b runs.Sketch
		want float64
	}{
		{of(0, 40), of(0, 40), 1},
		{of(0, 40), of(20, 60), 20.0 / 60},
		{of(0, 3), of(3, 6), 0},
		{of(0, 0), of(0, 3), 0},
		{of(0, 0), of(0, 0), 0},
		{of(0, 5000), of(0, 5000), 1},
	} {
		if got, back := tt.a.Likeness(tt.b), tt.b.Likeness(tt.a); got != tt.want || back != tt.want {
			t.Errorf("%d and %d hashes: %v and %v, want %v", len(tt.a), len(tt.b), got, back, tt.want)
		}
	}
	if got := of(0, 5000).Likeness(of(1000, 5000)); got < 0.65 || got > 0.95 {
		t.Errorf("four fifths are %v", got)
	}
	var other runs.Sketch
	for k := range 40 {
		other.Add(fmt.Sprint(k), "another question")
	}
	if got := of(0, 40).Likeness(other); got != 0 {
		t.Errorf("other questions under the same ids are %v alike", got)
	}
	many := of(0, 5000)
	text, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	var back runs.Sketch
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, many) || len(many) != 64 {
		t.Errorf("%d hashes become %d: %v", len(many), len(back), err)
	}
	if err := json.Unmarshal([]byte(`{"count":3,"digest":"ab"}`), &back); err != nil || back != nil {
		t.Errorf("the form of earlier versions: %v, %v", back, err)
	}
	for _, bad := range []string{`["zz"]`, `["02","01"]`, `3`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is a sketch", bad)
		}
	}
}
