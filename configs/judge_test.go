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
		{"judge={kind: openrouter, model: a/b, panel: [c/d, e/f]}", []string{"c/d", "e/f"}},
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
		{"judge={kind: openrouter, panel: [a/b, openrouter/auto]}", "openrouter/auto may choose"},
		{"judge={kind: openrouter, model: a/b, panel: [c/d]}", "judge.model: has no effect with judge.panel"},
		{"judge={kind: openrouter, model: a/b, cache: x.sqlite, cache_results: false}", "judge.cache: has no effect without judge.cache_results"},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://example.org/v1'}", "judge.base_url: the key goes over the network unencrypted"},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://127.0.0.1:8000/v1'}", ""},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://localhost/v1'}", ""},
		{"judge={kind: openrouter, model: a/b, base_url: 'http://[::1]/v1'}", ""},
		{"judge={kind: openai, model: m, base_url: 'http://example.org/v1'}", ""}, // no key is sent
		{"judge={kind: openai, model: m, base_url: 'http://example.org/v1', api_key_env: KEY}", "judge.base_url: the key goes over the network unencrypted"},
		{"judge={kind: openai, model: m, base_url: 'https://example.org/v1', api_key_env: KEY}", ""},
		{"judge={kind: openai, model: m, base_url: 'https://example.org/v1', provider: {only: [x]}}", "judge.provider: has no effect with judge: openai"},
		{"judge={kind: openrouter, model: a/b, provider: {only: [x]}, reasoning: {effort: low}}", ""},
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
		"judge={kind: openrouter, model: a/b}":                                            50,
		"judge={kind: openai, model: m, base_url: 'https://example.org/v1'}":              50,
		"judge={kind: openai, model: m, base_url: 'http://localhost:8000/v1'}":            4,
		"judge={kind: openai, model: m, base_url: 'http://[::1]:8000/v1'}":                4,
		"judge={kind: openai, model: m, base_url: 'http://192.168.1.7/v1'}":               4,
		"judge={kind: openai, model: m, base_url: 'http://vllm:8000/v1'}":                 4,
		"judge={kind: openai, model: m, base_url: 'http://gpu.local/v1'}":                 4,
		"judge={kind: openai, model: m, base_url: 'http://8.8.8.8/v1'}":                   50,
		"judge={kind: openai, model: m, base_url: 'http://localhost/v1', concurrency: 9}": 9,
		"judge=lexical": 50,
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
		live + "{X-Team: blue, X-Api-Key: 'env:TEAM'}}":                    "map[X-Api-Key:sk-9 X-Team:blue]",
		live + "{X-Team: 'env:NONE'}}":                                     "environment variable NONE is not set",
		live + "{X-Api-Key: sk-9}}":                                        "looks like a credential",
		live + "{Authorization: Bearer sk-9}}":                             "looks like a credential",
		live + "{X-Team: 'env:'}}":                                         "name of an environment variable",
		live + "{'X Team': blue}}":                                         "no name of a header",
		`judge={headers: {X-Team: "a\nb"}}`:                                "one line",
		"judge={extra_body: {top_k: 1, n: 2}}":                             `"n" cannot be set here`,
		"judge={extra_body: {max_tokens: 2}}":                              "max_tokens cannot be set here",
		"judge={extra_body: {top_k: 1}}":                                   "map[]",
		live + "{}, service_tier: flex}":                                   "map[]",
		live + "{}, service_tier: fast}":                                   "auto, default, flex",
		live + "{}, service_tier: flex, extra_body: {service_tier: flex}}": "is given in judge.extra_body, too",
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
		{[]string{base + ", template: {message: '{claim} {document}'}}"}, 0.5, 0.5},
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
