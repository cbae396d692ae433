package report

import (
	"fmt"
	"path/filepath"
	"time"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// A RunList is the view model of the runs of a folder.
type RunList struct {
	Dir  string
	Last string // folder of the run that was begun last
	Runs []listedRun
}

type listedRun struct {
	ID       string       `json:"id"`
	Started  time.Time    `json:"started"`
	Rows     int64        `json:"rows"`
	Errors   int64        `json:"error_rows"`
	Systems  int          `json:"systems"`
	Judge    string       `json:"judge"`
	Metric   string       `json:"metric"` // the first that matters; "" if none is defined
	Value    *float64     `json:"value"`  // over all rows
	Low      *float64     `json:"ci_low"`
	High     *float64     `json:"ci_high"`
	Gates    int          `json:"gates"`
	Passed   int          `json:"gates_passed"`
	Verdict  runs.Verdict `json:"verdict"` // of the gates; "" without gates
	Baseline string       `json:"baseline"`

	folder  string             // its name in the folder of the list
	series  string             // runs that are points of one line
	systems []*runs.SummaryRow // the first number that matters of each
}

// Add appends the run in dir.
func (l *RunList) Add(dir string, m *runs.Manifest, summary []runs.SummaryRow, gates []runs.GateResult) {
	s := NewSummary(m, summary, gates)
	r := listedRun{
		ID: m.ID, Started: m.Timings.Started, Rows: m.Rows, Errors: m.Errors, Systems: len(s.systems()), Judge: m.Judge.Kind,
		Gates: len(gates), Baseline: m.Baseline, folder: filepath.Base(dir),
	}
	for i := range s.Blocks { // all systems together come first
		b := &s.Blocks[i]
		if b.Slice != "" {
			continue
		}
		if lead := leadOf(func(name string) bool { return b.line(name) != nil }); len(lead) > 0 {
			v := &b.line(lead[0]).Macro
			r.Metric, r.Value, r.Low, r.High = lead[0], v.Estimate, v.Low, v.High
		}
		break
	}
	r.series = filepath.Base(m.Dataset) + ", " + m.Judge.Kind + ", " + r.Metric
	for _, b := range s.systems() {
		if v := b.line(r.Metric); v != nil && v.Macro.Estimate != nil {
			r.systems = append(r.systems, &v.Macro)
		}
	}
	count := countGates(gates)
	r.Passed, r.Verdict = int(count[runs.Passed]), count.gravest()
	if count[runs.NoVerdict] > 0 { // it wins over a gate that failed
		r.Verdict = runs.NoVerdict
	}
	l.Runs = append(l.Runs, r)
}

// blocks are a line a run, and what to type next.
func (l *RunList) blocks() []doc.Block {
	if len(l.Runs) == 0 {
		return []doc.Block{doc.Para{Text: doc.T(fmt.Sprintf("No runs in %s. Make one: ibid run DATASET", l.Dir))}}
	}
	return []doc.Block{runTable(l.Runs, func(*listedRun) string { return "" }), doc.Para{Text: doc.T("ibid show " + shellWord(l.Last) + "  # the last")}}
}

// runTable has a line for each run; link leads to its page.
func runTable(list []listedRun, link func(r *listedRun) string) doc.Table {
	t := doc.Table{Columns: []doc.Column{
		{Name: "run"},
		{Name: "begun (UTC)"},
		{Name: "rows", Number: true, Keep: 1},
		{Name: "systems", Number: true, Keep: 3},
		{Name: "metric"},
		{Name: "value", Number: true},
		{Name: "interval", Number: true, Keep: 1},
		{Name: "gates", Keep: 2},
		{Name: "baseline", Keep: 3},
	}}
	for i := range list {
		r, gates, baseline := &list[i], doc.Cell{}, ""
		if r.Gates > 0 {
			gates.Text = doc.Text{{Text: fmt.Sprintf("%d/%d %s", r.Passed, r.Gates, r.Verdict), Tone: gateWords[r.Verdict].tone.doc()}}
		}
		if r.Baseline != "" {
			baseline = clipLine(filepath.Base(r.Baseline), 30)
		}
		t.Rows = append(t.Rows, []doc.Cell{
			{Text: doc.Text{{Text: clipLine(r.ID, 40), Link: link(r)}}},
			doc.C(r.Started.UTC().Format("2006-01-02 15:04")), doc.C(Thousands(r.Rows)), doc.C(Thousands(int64(r.Systems))),
			doc.C(shortName(r.Metric)), doc.C(numberOrDash(r.Value)), doc.C(interval(r.Low, r.High)), gates, doc.C(baseline),
		})
	}
	return t
}
