package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

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
// A second suite has one test case for each row of failing, which may be nil.
// Gates decide: rows are failures where the run did not pass, else they are
// skipped, with the reason, so that a CI system does not fail what passed.
func (g *Gates) WriteJUnit(w io.Writer, failing *Failing) error {
	s := junitSuite{Name: "ibid " + g.run.ID, Time: fmt.Sprintf("%.3f", g.run.Timings.Seconds)}
	s.add(g.coverageCase())
	for _, r := range g.Results {
		s.add(gateCase(r))
	}
	suites := junitSuites{Suites: []junitSuite{s}}
	if failing != nil && len(failing.Rows) > 0 {
		suites.Suites = append(suites.Suites, failing.junit(g.Verdict == runs.Passed))
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
	}
	return c
}

// junit has one test case for each failing row.
func (f *Failing) junit(passed bool) junitSuite {
	s := junitSuite{Name: "ibid " + f.Run.ID + ", rows", Time: "0.000"}
	for _, r := range f.Rows {
		c := junitCase{Class: "ibid.rows", Name: r.ID + "/" + r.System}
		m := &junitMessage{Message: problemWords[r.Problem].Short, Text: strings.Join(r.Why, "; ")}
		if r.Value != nil {
			m.Message += ", " + failingMetric + " is " + numberOrDash(r.Value)
		}
		switch {
		case passed:
			c.Skipped = m
		case r.Problem == metrics.ProblemError:
			c.Error = m
		default:
			c.Failure = m
		}
		s.add(c)
	}
	if f.Left > 0 {
		s.add(junitCase{Class: "ibid.rows", Name: Plural(f.Left, "more row", "more rows"), Skipped: &junitMessage{Message: "rows that fail, less badly: ibid show --failing"}})
	}
	return s
}
