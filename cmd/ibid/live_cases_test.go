package main

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
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
	stderr string // what a line of it is, as a regular expression; "" if there is no warning
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
	model := func(m judgetest.Model) judgetest.ServerConfig {
		m.ID, m.ContextLength, m.PromptNanoUSD, m.CompletionNanoUSD, m.Provider = "fake/judge", 128_000, 150, 600, "Fake"
		return judgetest.ServerConfig{Models: []judgetest.Model{m}}
	}
	openAI := []string{"--judge", "openai", "--set", "judge.api_key_env=OPENROUTER_API_KEY"}
	for _, c := range []liveCase{
		{name: "odd envelope", config: always(judgetest.OddEnvelope), calls: rows},
		{name: "odd replies", config: always(judgetest.OddReply), calls: rows},
		{name: "drafts", config: always(judgetest.Draft), calls: rows},
		{name: "retyped quotes", config: always(judgetest.RetypedQuotes), calls: rows},

		{name: "hidden reasoning", config: model(judgetest.Model{ReasoningTokens: 1500}), calls: 2 * rows},
		{name: "much hidden reasoning", config: model(judgetest.Model{ReasoningTokens: 6000}), calls: 3 * rows},
		{name: "hidden reasoning and a limit", config: model(judgetest.Model{ReasoningTokens: 1500, MaxCompletion: 2400}), calls: 2 * rows},
		{name: "hidden reasoning and a limit that nobody tells", config: model(judgetest.Model{ReasoningTokens: 1500, MaxCompletion: 2400}), args: openAI, calls: 3 * rows},
		{
			name: "model of OpenAI", config: model(judgetest.Model{Refuses: []string{"max_tokens", "temperature", "seed"}, ReasoningTokens: 500}),
			args: openAI, calls: 5 * rows, stderr: `ibid: warning: fake/judge: temperature is left out: status 400: Unsupported parameter.*`,
		},
		{
			name: "no schema", config: model(judgetest.Model{Formats: []string{"json_object"}}), args: openAI, calls: 2 * rows,
			stderr: `ibid: warning: fake/judge: replies are asked for as json_object instead of json_schema: status 400: 'response_format.type' must be .*`,
		},
		{
			name: "no format", config: model(judgetest.Model{Formats: []string{}}), args: openAI, calls: 3 * rows,
			stderr: `ibid: warning: fake/judge: replies are asked for as text instead of json_object: status 400: .*`,
		},
		{name: "format ignored", config: model(judgetest.Model{IgnoresFormat: true}), args: openAI, calls: rows},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiveTest(t, rows, c.config)
			args := slices.DeleteFunc(l.args("case", c.args...), func(arg string) bool { return arg == "-q" })
			_, stderr, code := command(t, l.dir, args...)
			l.server.Close() // so that the totals are complete
			counts := l.server.Counts()
			if code != c.code || counts.Requests > c.calls {
				t.Errorf("exit code %d after %d calls, want %d and at most %d\n%s", code, counts.Requests, c.code, c.calls, stderr)
			}
			warned := strings.Count(stderr, "warning: ") > strings.Count(stderr, "questions share documents")
			if c.stderr == "" && warned || c.stderr != "" && !regexp.MustCompile("(?m)^"+c.stderr+"$").MatchString(stderr) {
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
