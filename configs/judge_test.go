package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestModels(t *testing.T) {
	for _, tt := range []struct {
		set  string
		want []string
	}{
		{"judge=none", nil},
		{"judge={kind: lexical, model: a/b}", nil},
		{"judge={kind: openrouter, model: a/b}", []string{"a/b"}},
		{"judge={kind: openrouter, model: [c/d, e/f]}", []string{"c/d", "e/f"}},
		{"judge={kind: openai, model: local, base_url: 'http://localhost:8000/v1'}", []string{"local"}},
	} {
		c, err := Load(Options{Set: []string{tt.set}})
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		if got := c.Judge.Models(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: models %q, want %q", tt.set, got, tt.want)
		}
	}
}

func TestLiveWarnings(t *testing.T) {
	for _, tt := range []struct {
		set  string
		want string // of the only warning, "" for none
	}{
		{"judge={kind: openrouter, model: a/b}", ""},
		{"judge={kind: openrouter, model: openrouter/auto}", "judge.model: openrouter/auto may choose another model for every row"},
		{"judge={kind: openrouter, model: [a/b, openrouter/auto]}", "openrouter/auto may choose"},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://example.org/v1'}", "judge.base_url: the key goes over the network unencrypted"},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://127.0.0.1:8000/v1'}", ""},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://localhost/v1'}", ""},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://[::1]/v1'}", ""},
		{"judge={kind: openai, model: m, base_url: 'http://example.org/v1'}", ""}, // no key is sent
		{"judge={kind: openai, model: m, base_url: 'http://example.org/v1', api_key_env: KEY}", "judge.base_url: the key goes over the network unencrypted"},
		{"judge={kind: openai, model: m, base_url: 'https://example.org/v1', api_key_env: KEY}", ""},
		{"judge={kind: openrouter, model: a/b, request: {provider: {only: [x]}, reasoning: {effort: low}}}", ""},
		{"judge={kind: lexical, model: openrouter/auto}", "judge.model: has no effect with judge: lexical"},
	} {
		c, err := Load(Options{Set: []string{tt.set}})
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		var got []string
		for _, w := range c.Warnings {
			got = append(got, w.Key+": "+w.Msg)
		}
		if len(got) > 1 || len(got) == 0 != (tt.want == "") || !strings.Contains(strings.Join(got, ""), tt.want) {
			t.Errorf("%s: warnings %q, want %q", tt.set, got, tt.want)
		}
	}
}

func TestAPIKey(t *testing.T) {
	environment := map[string]string{"OPENROUTER_API_KEY": " sk-1\n", "MY_KEY": "sk-2", "BLANK": " "}
	for _, tt := range []struct {
		set, want, err string
	}{
		{set: "judge=lexical"},
		{set: "judge={kind: openrouter, model: a/b}", want: "sk-1"},
		{set: "judge={kind: openrouter, model: a/b, api_key_env: MY_KEY}", want: "sk-2"},
		{set: "judge={kind: openrouter, model: a/b, api_key_env: NO_KEY}", err: "environment variable NO_KEY is not set"},
		{set: "judge={kind: openrouter, model: a/b, api_key_env: BLANK}", err: "environment variable BLANK is not set"},
		// The key of one service is not shown to another.
		{set: "judge={kind: openai, model: m, base_url: 'https://example.org/v1'}"},
		{set: "judge={kind: openai, model: m, base_url: 'https://example.org/v1', api_key_env: MY_KEY}", want: "sk-2"},
		{set: "judge={kind: openai, model: m, base_url: 'https://example.org/v1', api_key_env: NO_KEY}", err: "NO_KEY"},
	} {
		c, err := Load(Options{Set: []string{tt.set}})
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		got, err := c.APIKey(func(name string) string { return environment[name] })
		if got != tt.want || (err != nil) != (tt.err != "") {
			t.Errorf("%s: key %q, %v, want %q, %q", tt.set, got, err, tt.want, tt.err)
		}
		if bad, ok := errors.AsType[*Error](err); err != nil && (!ok || !strings.Contains(bad.Msg, tt.err) || bad.Hint == "" || bad.Key != "judge.api_key_env") {
			t.Errorf("%s: error %v, want %q with a hint", tt.set, err, tt.err)
		}
	}
}

// TestConcurrency: a machine of one's own is asked less at once, unless the user says
// how much.
func TestConcurrency(t *testing.T) {
	for set, want := range map[string]int64{
		"judge={kind: openrouter, model: a/b}":                                            48,
		"judge={kind: openai, model: m, base_url: 'https://example.org/v1'}":              48,
		"judge={kind: openai, model: m, base_url: 'http://localhost:8000/v1'}":            8,
		"judge={kind: openai, model: m, base_url: 'http://[::1]:8000/v1'}":                8,
		"judge={kind: openai, model: m, base_url: 'http://192.168.1.7/v1'}":               8,
		"judge={kind: openai, model: m, base_url: 'http://vllm:8000/v1'}":                 8,
		"judge={kind: openai, model: m, base_url: 'http://gpu.local/v1'}":                 8,
		"judge={kind: openai, model: m, base_url: 'http://8.8.8.8/v1'}":                   48,
		"judge={kind: openai, model: m, base_url: 'http://localhost/v1', concurrency: 9}": 9,
		"judge=lexical": 48,
	} {
		c, err := Load(Options{Set: []string{set}})
		if err != nil {
			t.Errorf("%s: %v", set, err)
		} else if c.Judge.Concurrency != want {
			t.Errorf("%s: %d calls at once, want %d", set, c.Judge.Concurrency, want)
		}
	}
}

// TestRequestHeaders: values come from the environment or are literal; what looks like
// a credential must not stand in a file.
func TestRequestHeaders(t *testing.T) {
	environment := map[string]string{"TEAM": "sk-9\n"}
	const live = "judge={kind: openai, model: m, base_url: 'https://example.org/v1', headers: "
	for set, want := range map[string]string{
		live + "{X-Team: blue, X-Api-Key: 'env:TEAM'}}":          "map[X-Api-Key:sk-9 X-Team:blue]",
		live + "{X-Team: 'env:NONE'}}":                           "environment variable NONE is not set",
		live + "{X-Api-Key: sk-9}}":                              "looks like a credential",
		live + "{Authorization: Bearer sk-9}}":                   "looks like a credential",
		live + "{X-Team: 'env:'}}":                               "name of an environment variable",
		live + "{'X Team': blue}}":                               "no name of a header",
		`judge={headers: {X-Team: "a\nb"}}`:                      "one line",
		"judge={request: {top_k: 1, n: 2}}":                      `"n" cannot be set here`,
		"judge={request: {max_tokens: much}}":                    "max_tokens: want a count of tokens",
		"judge={request: {top_k: 1}}":                            "map[]",
		live + "{}, request: {service_tier: flex}}":              "map[]",
		live + "{}, request: {service_tier: flex}, batch: true}": "service_tier with judge.batch",
		"judge={prices: {prompt: 1}}":                            "completion is missing",
		"judge={prices: {prompt: 1, completion: 2, output: 3}}":  "output is no price",
		"judge={prices: {prompt: 1, completion: -2}}":            "at least 0, got -2",
	} {
		c, err := Load(Options{Set: []string{set}})
		got := ""
		if err == nil {
			var headers map[string]string
			headers, err = c.RequestHeaders(func(name string) string { return environment[name] })
			got = fmt.Sprint(headers)
		}
		if err != nil {
			got = err.Error()
			if strings.Contains(got, "sk-9") {
				t.Errorf("%s: the error shows the value: %s", set, got)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", set, got, want)
		}
	}
}

// A judge that gives probabilities has even thresholds unless the user says otherwise.
func TestVerifierSettings(t *testing.T) {
	base := "judge={kind: openai, model: m, base_url: 'http://localhost:1', protocol: yes-no"
	for _, tt := range []struct {
		set                   []string
		supported, consistent float64
	}{
		{[]string{base + "}"}, 0.5, 0.5},
		{[]string{base + ", prompts: verifier.yaml}"}, 0.5, 0.5},
		{[]string{base + "}", "thresholds.supported=0.7"}, 0.7, 0.5},
		{[]string{"judge=lexical"}, 0.7, 0.8},
	} {
		c, err := Load(Options{Set: tt.set})
		if err != nil {
			t.Fatal(err)
		}
		if c.Thresholds.Supported != tt.supported || c.Thresholds.Consistent != tt.consistent {
			t.Errorf("%v: thresholds %v", tt.set, c.Thresholds)
		}
	}
}

// Members of requests that the user does not name stay, and null leaves one out.
func TestRequest(t *testing.T) {
	for set, want := range map[string]string{
		"judge=lexical":                                      "map[seed:1 temperature:0]",
		"judge.request={top_k: 3}":                           "map[seed:1 temperature:0 top_k:3]",
		"judge.request={temperature: null}":                  "map[seed:1]",
		"llm_evaluation={temperature: 0.5, max_tokens: 100}": "map[max_tokens:100 seed:1 temperature:0.5]",
	} {
		c, err := Load(Options{Set: []string{set}})
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		if got := fmt.Sprint(c.Judge.RequestMembers()); got != want {
			t.Errorf("%s: %s, want %s", set, got, want)
		}
		var again []string
		for _, v := range c.Effective() {
			if v.Key == "judge.request" {
				again = append(again, fmt.Sprint(FromValues([]Value{v}).Judge.RequestMembers()))
			}
		}
		if len(again) != 1 || again[0] != want {
			t.Errorf("%s: read back %s, want %s", set, again, want)
		}
	}
}

func TestReadMapping(t *testing.T) {
	got, err := ReadMapping(write(t, "yes: [PASS, 1]\ninverted: true\n"), "")
	if err != nil || fmt.Sprint(got) != "map[inverted:true yes:[PASS 1]]" {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{"- a\n": ":1:1: want a mapping, got a list", "yes: a: b\n": ":1:", "a: 1\na: 2\n": ":2:1: key"} {
		if _, err := ReadMapping(write(t, text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestEndpointFits: what requests add is cut off the end of judge.base_url, and Azure's key has a
// variable of its own unless one is named. A model that is named judges, unless the environment names it.
func TestEndpointFits(t *testing.T) {
	for _, tt := range []struct {
		set                []string
		env                string
		base, key, kind    string
		warnings           int
		azure, defaultBase bool
	}{
		{set: []string{"judge.kind=openai", "judge.model=m", "judge.base_url=http://localhost:8000/v1/chat/completions/?a=b"}, base: "http://localhost:8000/v1?a=b", key: "OPENROUTER_API_KEY", kind: "openai", warnings: 1},
		{set: []string{"judge.kind=openai", "judge.model=m", "judge.base_url=https://x.openai.azure.com"}, base: "https://x.openai.azure.com", key: "AZURE_OPENAI_API_KEY", kind: "openai", azure: true},
		{set: []string{"judge.model=m", "judge.base_url=http://localhost:8000?api-version=1", "judge.api_key_env=K"}, base: "http://localhost:8000?api-version=1", key: "K", kind: "openai", azure: true},
		{set: []string{"llm_evaluation.model=a/b"}, key: "OPENROUTER_API_KEY", kind: "openrouter", defaultBase: true},
		{env: "IBID_JUDGE__MODEL=a/b", key: "OPENROUTER_API_KEY", kind: "lexical", defaultBase: true, warnings: 1},
	} {
		c, err := Load(Options{Set: tt.set, Environ: []string{tt.env}})
		if err != nil {
			t.Errorf("%q: %v", tt.set, err)
			continue
		}
		if base := c.Judge.BaseURL; base != tt.base && !tt.defaultBase || c.Judge.APIKeyEnv != tt.key || c.Judge.Kind != tt.kind || c.Judge.Azure() != tt.azure || len(c.Warnings) != tt.warnings {
			t.Errorf("%q: %s, %s, %s, %v", tt.set, base, c.Judge.APIKeyEnv, c.Judge.Kind, c.Warnings)
		}
	}
}
