package main

import (
	"bytes"
	"math"
	"regexp"
	"testing"

	"ibid/judge/judgetest"
)

// A liveCase is a service, and what a run against it must do.
type liveCase struct {
	name   string
	config judgetest.ServerConfig
	args   []string // beside those of liveTest.args

	code   int
	calls  int    // most requests for answers
	stderr string // what a line of it is, as a regular expression; "" if there is none
}

// TestLiveCases lists what services do that models and gateways of all kinds stand
// behind: how many calls a run of a few rows takes, its exit code and what it says.
// Where a run ends well, its verdicts are those of a plain service and its cost is
// what the service has charged.
func TestLiveCases(t *testing.T) {
	const rows = 12
	plain := newLiveTest(t, rows, judgetest.ServerConfig{})
	plain.must("plain")
	want := plain.verdicts("plain")
	always := func(f ...judgetest.Fault) judgetest.ServerConfig {
		return judgetest.ServerConfig{Faults: f, FaultShare: 1}
	}
	for _, c := range []liveCase{
		{name: "odd envelope", config: always(judgetest.OddEnvelope), calls: rows},
		{name: "odd replies", config: always(judgetest.OddReply), calls: rows},
		{name: "drafts", config: always(judgetest.Draft), calls: rows},
		{name: "retyped quotes", config: always(judgetest.RetypedQuotes), calls: rows},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiveTest(t, rows, c.config)
			stderr, code := l.run("case", c.args...)
			l.server.Close() // so that the totals are complete
			counts := l.server.Counts()
			if code != c.code || counts.Requests > c.calls {
				t.Errorf("exit code %d after %d calls, want %d and at most %d\n%s", code, counts.Requests, c.code, c.calls, stderr)
			}
			if c.stderr == "" && stderr != "" || c.stderr != "" && !regexp.MustCompile("(?m)^"+c.stderr+"$").MatchString(stderr) {
				t.Errorf("no line of stderr is %s:\n%s", c.stderr, stderr)
			}
			if c.code != 0 || code != 0 {
				return
			}
			for name, data := range l.verdicts("case") {
				if (name == "claims.parquet" || name == "summary.parquet") && !bytes.Equal(data, want[name]) {
					t.Errorf("%s differs from that of a plain service", name)
				}
			}
			if cost := *l.manifest("case").Judge.CostUSD; math.Abs(cost-float64(counts.SpentNanoUSD)/1e9) > 1e-9 {
				t.Errorf("cost $%v, the service charged $%v", cost, float64(counts.SpentNanoUSD)/1e9)
			}
			l.noKey()
		})
	}
}
