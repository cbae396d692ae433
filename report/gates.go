package report

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// Gates is the view model of what became of a run's gates.
type Gates struct {
	Schema  string                       `json:"schema"`
	Run     runJSON                      `json:"run"`
	Verdict runs.Verdict                 `json:"verdict"`
	Lacks   runs.ListOf[string]          `json:"lacks"` // why the run as a whole says too little to be judged by
	Results runs.ListOf[runs.GateResult] `json:"gates"`

	title      string // the verdict in words
	run        *runs.Manifest
	quotations []doc.Block // see AddQuotations
}

// NewGates makes the view model of a verdict and of what it rests on.
func NewGates(m *runs.Manifest, verdict runs.Verdict, lacks []string, results []runs.GateResult) *Gates {
	return &Gates{"ibid.gate/v1", runOf(m), verdict, lacks, results, fmt.Sprintf("run %s: %s (%s)", m.ID, verdict, gatesInWords(results)), m, nil}
}

func (g *Gates) section() doc.Section {
	return doc.Section{Title: g.title, Blocks: slices.Concat(gateBlocks("Gates", g.Results), paras(doc.Plain, g.Lacks), g.quotations)}
}

func (g *Gates) asJSON() any { return g }

func (g *Gates) writeCSV(w io.Writer) error {
	rows := [][]string{{"gate", "verdict", "value", "detail", "reason"}}
	for _, r := range g.Results {
		rows = append(rows, []string{r.Gate, string(r.Verdict), exact(r.Value), r.Detail, r.Reason})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// gateBlocks are the table of what each gate wants and got, those that did not pass first, and below
// it what their values rest on, or why there is none: it is too long for a column.
func gateBlocks(caption string, results []runs.GateResult) []doc.Block {
	t := doc.Table{Caption: caption, Columns: []doc.Column{
		{Name: "gate"}, {Name: "verdict"}, {Name: "value", Number: true},
	}}
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b runs.GateResult) int {
		return slices.Index(gateOrder, a.Verdict) - slices.Index(gateOrder, b.Verdict)
	})
	for _, g := range sorted {
		t.Rows = append(t.Rows, []doc.Cell{doc.C(g.Gate), {Text: doc.Text{gateWords[g.Verdict]}}, doc.C(numberOrDash(g.Value))})
	}
	out := []doc.Block{t}
	for _, g := range results {
		if text := strings.TrimSpace(g.Reason + " " + g.Detail); text != "" {
			out = append(out, doc.Para{Kind: doc.Item, Text: doc.T(g.Gate + ": " + text)})
		}
	}
	return out
}

// gateOrder are the verdicts in the order in which they are shown.
var gateOrder = []runs.Verdict{runs.Failed, runs.NoVerdict, runs.NotAsked, runs.Passed}

// gatesInWords counts gates by how they ended.
func gatesInWords(gates []runs.GateResult) string {
	if len(gates) == 0 {
		return "none is set"
	}
	count := countGates(gates)
	what := map[runs.Verdict]string{runs.Failed: "failed", runs.NotAsked: "not asked", runs.Passed: "passed"}
	what[runs.NoVerdict] = oneOrMany(count[runs.NoVerdict], "has no verdict", "have no verdict")
	var parts []string
	for _, v := range gateOrder {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", count[v], len(gates), what[v]))
		}
	}
	return strings.Join(parts, ", ")
}

// gateText is what a gate looked at, or why there is nothing to look at.
func gateText(g runs.GateResult) string {
	return strings.TrimSpace(cmp.Or(g.Reason, numberOrDash(g.Value)) + " " + g.Detail)
}

// gateWords are the verdicts in words; "" is that of a run without gates.
var gateWords = map[runs.Verdict]doc.Span{
	runs.Passed:    {Text: "PASS", Tone: doc.Good},
	runs.Failed:    {Text: "FAIL", Tone: doc.Bad},
	runs.NoVerdict: {Text: "NONE", Tone: doc.Warn},
	runs.NotAsked:  {Text: "SKIP", Tone: doc.Dim},
	"":             {Tone: doc.Dim},
}

// countGates is how many gates ended in which way.
func countGates(results []runs.GateResult) map[runs.Verdict]int64 {
	count := make(map[runs.Verdict]int64)
	for _, g := range results {
		count[g.Verdict]++
	}
	return count
}

// gravest is the verdict that is said first.
func gravest(results []runs.GateResult) runs.Verdict {
	count := countGates(results)
	for _, v := range []runs.Verdict{runs.Failed, runs.NoVerdict, runs.Passed, runs.NotAsked} {
		if count[v] > 0 {
			return v
		}
	}
	return ""
}

// The elements of JUnit XML that common CI systems read.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"` // seconds
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes JUnit XML: one test case says whether the run can be judged
// at all, and one each says what became of a gate. A gate that failed is a
// failure; what has no verdict is an error.
//
// A second suite has one test case for each row of failing, which may be nil. They are
// skipped, with the reason: gates alone fail a build.
func (g *Gates) WriteJUnit(w io.Writer, failing *Failing) error {
	s := junitSuite{Name: "ibid " + g.run.ID, Time: fmt.Sprintf("%.3f", g.run.Timings.Seconds)}
	s.add(g.coverageCase())
	for _, r := range g.Results {
		s.add(gateCase(r))
	}
	suites := junitSuites{Suites: []junitSuite{s}}
	if failing != nil && len(failing.Rows) > 0 {
		suites.Suites = append(suites.Suites, failing.junit())
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// coverageCase is there whether something is lacking or not, so that the test
// cases of a run file are the same every night.
func (g *Gates) coverageCase() junitCase {
	c := junitCase{Class: "ibid.run", Name: "min_coverage"}
	if len(g.Lacks) > 0 {
		c.Error = &junitMessage{Message: strings.Join(g.Lacks, "; "), Text: "the run says too little to be judged by"}
	}
	return c
}

func gateCase(g runs.GateResult) junitCase {
	c := junitCase{Class: "ibid.gates", Name: g.Gate}
	switch g.Verdict {
	case runs.Failed:
		c.Failure = &junitMessage{Message: "is " + exact(g.Value), Text: g.Gate + " is not met"}
	case runs.NoVerdict:
		c.Error = &junitMessage{Message: g.Reason, Text: g.Gate + " has no verdict"}
	case runs.NotAsked:
		c.Skipped = &junitMessage{Message: g.Reason}
	}
	return c
}

// junit has one test case for each row.
func (f *Failing) junit() junitSuite {
	s := junitSuite{Name: "ibid " + f.Run.ID + ", answers that newly fail", Time: "0.000"}
	for _, r := range f.Rows {
		c := junitCase{Class: "ibid.rows", Name: r.name()}
		c.Skipped = &junitMessage{Message: problemWords[r.Problem].Short, Text: strings.Join(r.Why, "; ")}
		if r.Value != nil {
			c.Skipped.Message += ", " + failingMetric + " is " + numberOrDash(r.Value)
		}
		s.add(c)
	}
	if f.Left > 0 {
		s.add(junitCase{Class: "ibid.rows", Name: Plural(f.Left, "more row", "more rows"), Skipped: &junitMessage{Message: "rows that fail, less badly: ibid show --failing"}})
	}
	return s
}
