package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	spent  int64  // most nano-USD, but for one call; 0 = any
	free   bool   // nothing is paid
	parts  bool   // rows are asked in parts, which see less
	stderr string // what a line of it is, as a regular expression; "" if there is no warning
}

// A refusal is why a model takes no request with those members and that many tokens, nil if it does.
type refusal = func(members map[string]json.RawMessage, tokens int64) map[string]any

func because(format string, args ...any) map[string]any {
	return map[string]any{"error": map[string]any{"code": 400, "message": fmt.Sprintf(format, args...)}}
}

// refusesParameters refuses parameters as OpenAI words it.
func refusesParameters(members map[string]json.RawMessage, _ int64) map[string]any {
	for _, name := range []string{"max_tokens", "temperature", "seed"} {
		if members[name] != nil {
			return map[string]any{"error": map[string]any{
				"code": "unsupported_parameter", "param": name, "message": "Unsupported parameter: '" + name + "' is not supported with this model.",
			}}
		}
	}
	return nil
}

// takesFormats refuses other types of response_format.
func takesFormats(types ...string) refusal {
	return func(members map[string]json.RawMessage, _ int64) map[string]any {
		var format struct{ Type string }
		if json.Unmarshal(members["response_format"], &format) != nil || slices.Contains(types, format.Type) {
			return nil // none is asked for, or one of them
		}
		return because("'response_format.type' must be one of %s", strings.Join(append([]string{"text"}, types...), ", "))
	}
}

// takesTokens refuses longer replies.
func takesTokens(most int64) refusal {
	return func(members map[string]json.RawMessage, _ int64) map[string]any {
		var asked int64
		if json.Unmarshal(members["max_tokens"], &asked) != nil || asked <= most {
			return nil
		}
		return because("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", asked, most, asked)
	}
}

// readsTokens refuses longer prompts. With top, the error is at the top of the body, as vLLM had it.
func readsTokens(context int64, format string, top bool) refusal {
	return func(_ map[string]json.RawMessage, tokens int64) map[string]any {
		switch {
		case tokens <= context:
			return nil
		case top:
			return map[string]any{"object": "error", "message": fmt.Sprintf(format, tokens, context), "type": "BadRequestError", "code": 400}
		}
		return because(format, tokens, context)
	}
}

// TestLiveCases lists what services do that models and gateways of all kinds stand
// behind: how many calls a run of a few rows takes, its exit code and what it says.
// Where a run ends well, its verdicts are those of a plain service and its cost is
// what the service has charged.
func TestLiveCases(t *testing.T) {
	t.Parallel()
	const rows = 12
	plain := newLiveTest(t, rows, judgetest.ServerConfig{})
	plain.must("plain")
	want := plain.verdicts("plain")
	always := func(f ...judgetest.Fault) judgetest.ServerConfig {
		return judgetest.ServerConfig{Faults: f, FaultShare: 1}
	}
	model := func(m judgetest.Model) judgetest.ServerConfig {
		m.ID, m.PromptNanoUSD, m.CompletionNanoUSD, m.Provider = "fake/judge", 150, 600, "Fake"
		return judgetest.ServerConfig{Models: []judgetest.Model{m}}
	}
	context := int64(0) // less than the longest prompt
	for _, x := range plain.server.Log() {
		context = max(context, x.Prompt-1)
	}
	once := []string{"--set", "judge.retry_attempts=1"}
	openAI := []string{"--judge", "openai", "--set", "judge.api_key_env=OPENROUTER_API_KEY"}
	for _, c := range []liveCase{
		{name: "odd envelope", config: always("odd_envelope"), calls: rows},
		{name: "drafts", config: always("draft"), calls: rows},

		{name: "hidden reasoning", config: model(judgetest.Model{ReasoningTokens: 1500}), calls: 2 * rows},
		{name: "much hidden reasoning", config: model(judgetest.Model{ReasoningTokens: 6000}), calls: 3 * rows},
		{name: "hidden reasoning and a limit", config: model(judgetest.Model{ReasoningTokens: 1500, MaxCompletion: 2400, Refuse: takesTokens(2400)}), calls: 2 * rows},
		{name: "hidden reasoning and a limit that nobody tells", config: model(judgetest.Model{ReasoningTokens: 1500, MaxCompletion: 2400, Refuse: takesTokens(2400)}), args: openAI, calls: 3 * rows},
		{
			name: "model of OpenAI", config: model(judgetest.Model{Refuse: refusesParameters, ReasoningTokens: 500}),
			args: openAI, calls: 5 * rows, stderr: `ibid: warning: fake/judge: temperature is left out: status 400: Unsupported parameter.*`,
		},
		{
			name: "no schema", config: model(judgetest.Model{Refuse: takesFormats("json_object")}), args: openAI, calls: 2 * rows,
			stderr: `ibid: warning: fake/judge: replies are asked for as json_object instead of json_schema: status 400: 'response_format.type' must be .*`,
		},
		{
			name: "no format", config: model(judgetest.Model{Refuse: takesFormats()}), args: openAI, calls: 3 * rows,
			stderr: `ibid: warning: fake/judge: replies are asked for as text instead of json_object: status 400: .*`,
		},
		{
			name: "400", config: always("400"), args: once, code: 4, calls: rows,
			stderr: `ibid: warning: no answer of the judge, 12 times: status 400: .*`,
		},
		{name: "401", config: always("401"), code: 4, calls: 1, stderr: `hint: put a valid key into OPENROUTER_API_KEY; then go on with: .*`},
		{name: "401 without a key", args: []string{"--judge", "openai"}, code: 4, calls: 1, stderr: `hint: no key is sent: .* judge.api_key_env, .*`},
		{
			name: "403", config: always("403"), code: 4, calls: 1,
			stderr: `ibid: stopped: the key is refused: status 403: You are not allowed to use this model with the key \[key\]: .*`,
		},
		{name: "data policy", config: always("404_data_policy"), code: 4, calls: 1, stderr: `hint: allow its providers in the privacy settings of the account, or name another model; then go on with: .*`},
		{name: "daily limit", config: always("429_daily"), code: 4, calls: 1, stderr: `ibid: stopped: the rate limit does not lift in time: status 429: .*`},
		{
			name: "500", config: always("500"), args: append([]string{"--set", "judge.max_outage=1s"}, once...), code: 4, calls: 5,
			stderr: `ibid: stopped: the service does not answer: no answer for [0-9]s: status 500: .*`,
		},
		{
			name: "no such host", args: append([]string{"--set", "judge.base_url=http://nowhere.invalid/api/v1", "--set", "judge.max_outage=1s"}, once...), code: 4,
			stderr: `hint: look at the host in judge.base_url, and at the network; then go on with: .*`,
		},
		{
			name: "prose", config: judgetest.ServerConfig{Reply: func(*judgetest.Prompt) string { return "All of it is true." }}, code: 4, calls: 40,
			stderr: `ibid: stopped: the model does not reply as it is asked to: 32 replies more are of no use than of use: no complete JSON object with claims: .*`,
		},
		{
			name: "some are refused", config: judgetest.ServerConfig{Seed: 2, Faults: []judgetest.Fault{"400"}, FaultShare: 0.3}, code: 4, calls: rows,
			stderr: `ibid: warning: no answer of the judge, \d times: status 400: Provider returned error \(the service does not take the request: .*\)`,
		},
		{
			name: "context of llama.cpp", calls: 5 * rows, parts: true,
			config: model(judgetest.Model{ContextLength: context, Refuse: readsTokens(context, "the request (%d tokens) exceeds the available context size (%d tokens), try increasing it", false)}),
		},
		{
			name: "context of vLLM", calls: 5 * rows, parts: true,
			config: model(judgetest.Model{ContextLength: context, Refuse: readsTokens(context, "The decoder prompt (length %d) is longer than the maximum model length of %d. Make sure that the number of tokens is smaller.", true)}),
		},
		{
			name: "budget that a router's first calls show", config: judgetest.ServerConfig{}, code: 4, calls: rows - 1, spent: 2_000_000,
			args:   []string{"--model", "openrouter/auto", "--max-cost", "0.002"},
			stderr: `ibid: stopped: the budget is reached: .*`,
		},
		{
			name: "budget and costs as strings", config: always("odd_envelope"), code: 4, calls: rows - 1, spent: 2_000_000,
			args:   []string{"--model", "openrouter/auto", "--max-cost", "0.002"},
			stderr: `ibid: stopped: the budget is reached: .*`,
		},
		{name: "key of one's own", config: model(judgetest.Model{BYOK: true}), calls: rows},
		{
			name: "budget on this machine", config: model(judgetest.Model{TellsNoCost: true}), args: append([]string{"--max-cost", "0.001", "--set", "judge.prices={prompt: 0, completion: 0}"}, openAI...),
			calls: rows, free: true,
		},
		{
			name: "a budget without a price", config: model(judgetest.Model{TellsNoCost: true}), args: append([]string{"--max-cost", "0.001"}, openAI...), code: 4, calls: 1,
			stderr: `ibid: stopped: what calls cost is not known, so the budget cannot be kept: .*`,
		},
		{
			name: "redirect", config: always("307"), code: 4, calls: 1,
			stderr: `ibid: stopped: the service sends requests elsewhere, .*: status 307: a redirect to http://127.0.0.1:\d+/api/v1/elsewhere: .*`,
		},
		{name: "format ignored", config: model(judgetest.Model{IgnoresFormat: true}), args: openAI, calls: rows},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiveTest(t, rows, c.config)
			args := slices.DeleteFunc(l.args("case", c.args...), func(arg string) bool { return arg == "-q" })
			_, stderr, code := command(t, l.dir, args...)
			l.server.Close() // so that the totals are complete
			counts := l.server.Counts()
			said := regexp.MustCompile(`(?m)^ibid: (warning: |stopped: ).*`).FindString(stderr)
			t.Logf("%d calls for %d rows, exit code %d; %s", counts.Requests, rows, code, said)
			if code != c.code || counts.Requests > c.calls || c.parts && counts.Requests <= rows {
				t.Errorf("exit code %d after %d calls, want %d and at most %d\n%s", code, counts.Requests, c.code, c.calls, stderr)
			}
			dearest := int64(0)
			for _, x := range l.server.Log() {
				dearest = max(dearest, x.NanoUSD)
			}
			if c.spent > 0 && counts.SpentNanoUSD > c.spent+dearest {
				t.Errorf("%d nano-USD are spent, want at most %d and the price of a call, %d", counts.SpentNanoUSD, c.spent, dearest)
			}
			warned := strings.Contains(stderr, "warning: ")
			if c.stderr == "" && warned || c.stderr != "" && !regexp.MustCompile("(?m)^"+c.stderr+"$").MatchString(stderr) {
				t.Errorf("no line of stderr is %s:\n%s", c.stderr, stderr)
			}
			if c.code != 0 || code != 0 {
				return
			}
			for name, data := range l.verdicts("case") {
				if !c.parts && (name == "claims.parquet" || name == "summary.parquet") && !bytes.Equal(data, want[name]) {
					t.Errorf("%s differs from that of a plain service", name)
				}
			}
			if cost := *l.manifest("case").Judge.CostUSD; math.Abs(cost-float64(counts.SpentNanoUSD)/1e9) > 1e-9 && (!c.free || cost != 0) {
				t.Errorf("cost $%v, the service charged $%v", cost, float64(counts.SpentNanoUSD)/1e9)
			}
			l.noKey()
		})
	}
}

// TestLiveEndpoints runs with three addresses: a deployment of Azure, which takes the key in the
// header api-key; one that ends with /chat/completions; and one without a version.
func TestLiveEndpoints(t *testing.T) {
	t.Parallel()
	key := []string{"--set", "judge.api_key_env=OPENROUTER_API_KEY"}
	for _, c := range []struct {
		name, base string
		args       []string
		code       int
		stderr     string
	}{
		{name: "azure", base: "?api-version=2024-10-21"},
		{
			name: "whole path", base: "/api/v1/chat/completions", args: key,
			stderr: `ibid: warning: --set judge\.base_url: judge\.base_url: /chat/completions is cut off its end: requests add it`,
		},
		{name: "no version", base: "/api", args: key, code: 4, stderr: `hint: judge\.base_url has no version: is it http://127\.0\.0\.1:\d+/api/v1\?; then go on with: .*`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiveTest(t, 5, judgetest.ServerConfig{Models: []judgetest.Model{{ID: "judge-1", ContextLength: 128_000, TellsNoCost: true}}})
			base := strings.TrimSuffix(l.server.URL(), "/api/v1") + c.base
			args := l.args("case", append([]string{"--judge", "openai", "--model", "judge-1", "--set", "judge.base_url=" + base}, c.args...)...)
			_, stderr, code := command(t, l.dir, slices.DeleteFunc(args, func(arg string) bool { return arg == "-q" })...)
			if code != c.code || c.stderr != "" && !regexp.MustCompile("(?m)^"+c.stderr+"$").MatchString(stderr) {
				t.Errorf("exit code %d, want %d; no line of stderr is %s:\n%s", code, c.code, c.stderr, stderr)
			}
			if j := l.manifest("case").Judge; c.code == 0 && (j.Calls != 5 || j.Coverage() != 1) {
				t.Errorf("%+v", j)
			}
			l.noKey()
		})
	}
}
