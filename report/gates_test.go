package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// hostileGates have a name that is markup in every format, and each verdict.
func hostileGates() *Gates {
	value := 0.25
	m := &runs.Manifest{ID: "a<b>&\"c\x00", Timings: runs.Timings{Seconds: 1.5}}
	return NewGates(m, runs.NoVerdict, []string{"1 of 2 rows are error rows"}, []runs.GateResult{
		{Gate: "char_f1 >= 0.2", Verdict: runs.Passed, Value: &value},
		{Gate: `char_f1["]]>"=<x>|] >= 0.5`, Verdict: runs.Failed, Value: &value},
		{Gate: "page_f1 > 0", Verdict: runs.NoVerdict, Reason: "undefined\x1b[2J: <0> rows"},
	})
}

func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := hostileGates().WriteJUnit(&out, nil); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="ibid a&lt;b&gt;&amp;&#34;c` + "\uFFFD" + `" tests="4" failures="1" errors="2" skipped="0" time="1.500">
    <testcase classname="ibid.run" name="min_coverage">
      <error message="1 of 2 rows are error rows">the run says too little to be judged by</error>
    </testcase>
    <testcase classname="ibid.gates" name="char_f1 &gt;= 0.2"></testcase>
    <testcase classname="ibid.gates" name="char_f1[&#34;]]&gt;&#34;=&lt;x&gt;|] &gt;= 0.5">
      <failure message="is 0.25">char_f1[&#34;]]&gt;&#34;=&lt;x&gt;|] &gt;= 0.5 is not met</failure>
    </testcase>
    <testcase classname="ibid.gates" name="page_f1 &gt; 0">
      <error message="undefined` + "\uFFFD" + `[2J: &lt;0&gt; rows">page_f1 &gt; 0 has no verdict</error>
    </testcase>
  </testsuite>
</testsuites>
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &out, want)
	}
	var back junitSuites
	if err := xml.Unmarshal(out.Bytes(), &back); err != nil || len(back.Suites[0].Cases) != 4 {
		t.Errorf("%d test cases read back, %v", len(back.Suites[0].Cases), err)
	}
}

// TestJUnitRows: rows are skipped, whether the run passed or not: gates alone fail a build.
func TestJUnitRows(t *testing.T) {
	value := 0.25
	for _, verdict := range []runs.Verdict{runs.Failed, runs.Passed} {
		m := &runs.Manifest{ID: "night"}
		failing := &Failing{Run: m, Rows: []FailingRow{
			{ID: "q-1", System: "alpha", Problem: metrics.ProblemUncited, Value: &value, Why: []string{"cites nothing", "1 true span missed"}}, {ID: "q<2>", System: "alpha", Problem: metrics.ProblemError, Why: []string{"not scored: \x00"}},
		}}
		var out bytes.Buffer
		if err := NewGates(m, verdict, nil, nil).WriteJUnit(&out, failing); err != nil {
			t.Fatal(err)
		}
		var back junitSuites
		if err := xml.Unmarshal(out.Bytes(), &back); err != nil || len(back.Suites) != 2 {
			t.Fatalf("%d suites, %v", len(back.Suites), err)
		}
		s := back.Suites[1]
		if s.Tests != 2 || s.Failures+s.Errors > 0 || s.Skipped != 2 || s.Cases[0].Name != "q-1/alpha" {
			t.Errorf("%s: %+v", verdict, s)
		}
	}
}

// A terminal gets no control characters, and a pull request no markup, out of
// the names of a run.
func TestGatesAreNoMarkup(t *testing.T) {
	tests := []struct {
		format string
		lines  []string
	}{
		{"text", []string{
			`run a<b>&"c : no verdict (1 of 3 failed, 1 of 3 has no verdict, 1 of 3 passed)`,
			"page_f1 > 0                 NONE         –", "- page_f1 > 0: undefined [2J: <0> rows",
			"1 of 2 rows are error rows",
		}},
		{"markdown", []string{
			`| char\_f1\["\]\]>"=&lt;x>\|\] >= 0.5 | FAIL | 0.250 |`,
			"1 of 2 rows are error rows",
		}},
		{"csv", []string{"gate,verdict,value,detail,reason", "char_f1 >= 0.2,pass,0.25,,"}},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, hostileGates(), tt.format, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, line := range tt.lines {
				if !strings.Contains("\n"+out.String(), "\n"+line+"\n") {
					t.Errorf("no line %s in\n%s", line, &out)
				}
			}
		})
	}
}
