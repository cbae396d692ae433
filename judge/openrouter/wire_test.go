package openrouter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
	"ibid/judge/prompts"
)

// handle starts a server that answers every request by f, but those for its models,
// of which it says nothing.
func handle(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			http.NotFound(w, r)
			return
		}
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// judgeAt makes a judge of an endpoint.
func judgeAt(t *testing.T, url string, change func(*Config)) *Judge {
	t.Helper()
	config := Config{BaseURL: url, Key: "secret", Models: []string{"m/m"}, Request: map[string]any{"temperature": int64(0)}, Timeout: 5 * time.Second, Backoff: time.Millisecond, Store: newStore(t)}
	if change != nil {
		change(&config)
	}
	j, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	for _, m := range j.members {
		m.gate.openWide() // the service has answered before
	}
	return j
}

// TestBody decodes what is sent and looks for what client libraries lose.
func TestBody(t *testing.T) {
	var body []byte
	url := handle(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		if r.URL.Path != "/v9/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Content-Type") != "application/json" || r.ContentLength != int64(len(body)) {
			t.Errorf("%s %v, length %d", r.URL.Path, r.Header, r.ContentLength)
		}
		w.WriteHeader(422)
	})
	row := rowsOf(1)[0]
	row.Question = "line\nquote \" back \\ tab\t \x01 \xff é 大 \u2028"
	for _, kind := range []string{KindOpenRouter, KindOpenAI} {
		j := judgeAt(t, url+"/v9/", func(c *Config) {
			c.Kind, c.Request["seed"], c.Necessity = kind, int64(3), true
			c.Request["provider"] = map[string]any{"sort": "price", "only": []any{"a"}}
			c.Request["reasoning"] = map[string]any{"effort": "low"}
		})
		_, err := j.Judge(t.Context(), row)
		failureOf(t, err)
		var got struct {
			Model       string
			Temperature *float64
			Seed        *int64
			MaxTokens   int64 `json:"max_tokens"`
			Provider    map[string]any
			Reasoning   map[string]any
			Messages    []struct{ Role, Content string }
			Format      struct {
				Type   string
				Schema struct {
					Strict bool
					Schema json.RawMessage
				} `json:"json_schema"`
			} `json:"response_format"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if got.Temperature == nil || *got.Temperature != 0 || got.Seed == nil || *got.Seed != 3 || got.Model != "m/m" || !got.Format.Schema.Strict {
			t.Errorf("%s: body %s", kind, body)
		}
		if got.Provider["sort"] != "price" || got.Reasoning["effort"] != "low" {
			t.Errorf("%s: provider %v, reasoning %v", kind, got.Provider, got.Reasoning)
		}
		// The schema keeps its order: a model writes why before it decides.
		if s := string(got.Format.Schema.Schema); strings.Index(s, `"why"`) > strings.Index(s, `"support"`) || !strings.Contains(s, `"sufficient"`) || strings.Contains(s, "\n") {
			t.Errorf("schema %s", s)
		}
		if got.MaxTokens < needLeast+needThinking {
			t.Errorf("max_tokens %d", got.MaxTokens)
		}
		if want := "line\nquote \" back \\ tab\t \x01 \uFFFD é 大 \u2028"; len(got.Messages) != 2 || !strings.Contains(got.Messages[1].Content, want) {
			t.Errorf("messages %q", got.Messages)
		}
		// What is sent first is what the settings say.
		q := j.matrixQuestion(j.members[0], newExhibits(row), 0)
		if string(q.request.body(shape{}, nil, q.request.maxTokens)) != string(body) {
			t.Errorf("%s: sent %s", kind, body)
		}
	}
}

// TestKey checks what makes requests the same, and what does not.
func TestKey(t *testing.T) {
	row := rowsOf(1)[0]
	key := func(change func(*Config), r *judge.Request, vote int) cache.Key {
		j := judgeAt(t, "http://localhost/v1", change)
		return j.matrixQuestion(j.members[0], newExhibits(r), vote).request.key()
	}
	base := key(nil, row, 0)
	renamed := *row
	renamed.Row = "another/name"
	for name, same := range map[string]cache.Key{
		"row":     key(nil, &renamed, 0),
		"key":     key(func(c *Config) { c.Key = "other" }, row, 0),
		"retries": key(func(c *Config) { c.Retries, c.Timeout, c.RPM, c.Concurrency, c.Run = 9, time.Hour, 3, 2, "r" }, row, 0),
		"tokens":  key(func(c *Config) { c.Request["max_tokens"] = int64(9000) }, row, 0),
		"headers": key(func(c *Config) { c.Headers = map[string]string{"X-Team": "a"} }, row, 0),
		"slash":   key(func(c *Config) { c.BaseURL += "/" }, row, 0),
	} {
		if same != base {
			t.Errorf("%s changes the key", name)
		}
	}
	for name, other := range map[string]cache.Key{
		"model":       key(func(c *Config) { c.Models = []string{"m/n"} }, row, 0),
		"endpoint":    key(func(c *Config) { c.BaseURL = "http://localhost/v2" }, row, 0),
		"temperature": key(func(c *Config) { c.Request["temperature"] = 0.5 }, row, 0),
		"seed":        key(func(c *Config) { c.Request["seed"] = int64(5) }, row, 0),
		"top_k":       key(func(c *Config) { c.Request["top_k"] = 1 }, row, 0),
		"reasoning":   key(func(c *Config) { c.Request["reasoning"] = map[string]any{"effort": "none"} }, row, 0),
		"provider":    key(func(c *Config) { c.Request["provider"] = map[string]any{"sort": "price"} }, row, 0),
		"schema":      key(func(c *Config) { c.Necessity = true }, row, 0),
		"vote":        key(nil, row, 1),
		"material":    key(nil, rowsOf(2)[1], 0),
	} {
		if other == base {
			t.Errorf("%s does not change the key", name)
		}
	}
}

// TestResponses serves bodies that a client may take for something else.
func TestResponses(t *testing.T) {
	good := `{"id":"gen-1","model":"m/m","provider":"P","choices":[{"finish_reason":"stop","message":{"content":%s}}],"usage":{"prompt_tokens":10.0,"completion_tokens":null,"cost":0.001},"created":1.5}`
	row := &judge.Request{Row: "r/s", Claims: []ibid.Claim{{Text: "A claim about one thing."}}}
	reply := `{"tampering":"none","claims":[{"id":"c1","kind":"factual","checks":[],"joint_why":"","joint":"none","elsewhere":"none","elsewhere_evidence_id":"","elsewhere_quote":""}]}`
	content := string(quoted(reply))
	tests := []struct {
		name   string
		status int
		body   string
		reason judge.Reason // "" if it is an answer
	}{
		{"good, with counts as fractions", 200, fmt.Sprintf(good, content), ""},
		{"white space around", 200, " \n\n " + fmt.Sprintf(good, content) + "\n ", ""},
		{"unknown members", 200, strings.Replace(fmt.Sprintf(good, content), `{"id"`, `{"x":{"y":[1]},"id"`, 1), ""},
		{"content in parts", 200, fmt.Sprintf(good, `[{"type":"text","text":`+content+`}]`), ""},
		{"two documents", 200, fmt.Sprintf(good, content) + fmt.Sprintf(good, content), judge.NoAnswer},
		{"cut short", 200, fmt.Sprintf(good, content)[:100], judge.NoAnswer},
		{"empty", 200, "", judge.NoAnswer},
		{"a page", 200, "<html></html>", judge.NoAnswer},
		{"error in 200", 200, `{"error":{"code":502,"message":"x"}}`, judge.NoAnswer},
		{"error in 200, code as a string", 200, `{"error":{"code":"400","message":"x"}}`, judge.Rejected},
		{"error in 200, code 400.0", 200, `{"error":{"code":400.0,"message":"x"}}`, judge.Rejected},
		{"error in 200, no code", 200, `{"error":{"message":"x"}}`, judge.NoAnswer},
		{"error is a string", 400, `{"error":"boom"}`, judge.Rejected},
		{"message is an object", 422, `{"error":{"code":422,"message":{"a":1}}}`, judge.Rejected},
		{"type is a number", 413, `{"error":{"code":413,"message":"x","type":7}}`, judge.TooLong},
		{"null error code", 400, `{"error":{"code":null,"message":"x"}}`, judge.Rejected},
		{"error without a body", 403, "", judge.Blocked},
		{"error of a choice", 200, `{"choices":[{"finish_reason":"error","message":{"content":"x"},"error":{"code":400,"message":"x"}}]}`, judge.Rejected},
		{"finish reason error", 200, `{"choices":[{"finish_reason":"error","message":{"content":"x"}}]}`, judge.NoAnswer},
		{"no choices", 200, `{"choices":[]}`, judge.NoAnswer},
		{"null choices", 200, `{"choices":null}`, judge.NoAnswer},
		{"null content", 200, fmt.Sprintf(good, "null"), judge.BadReply},
		{"blank content", 200, fmt.Sprintf(good, `" "`), judge.BadReply},
		{"redirect to nowhere", 304, "", judge.NoAnswer},
		{"too large", 200, `{"x":"` + strings.Repeat("x", maxResponse) + `"}`, judge.NoAnswer},
		{"context length", 400, `{"error":{"code":400,"message":"x","metadata":{"error_type":"context_length_exceeded"}}}`, judge.TooLong},
		{"not to be retried", 503, `{"error":{"http_status":503,"message":"x","availability":{"retryable":false}}}`, judge.Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := handle(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			v, err := judgeAt(t, url, nil).Judge(t.Context(), row)
			if tt.reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				if c := v.Calls[0]; c.PromptTokens != 10 || c.CostNanoUSD != 1_000_000 || c.Provider != "P" {
					t.Errorf("call %+v", c)
				}
				return
			}
			if f := failureOf(t, err); f.Reason != tt.reason {
				t.Errorf("%v, want %s", f, tt.reason)
			}
		})
	}
}

// TestConnections checks that answers sent in chunks leave their connection to
// the next call.
func TestConnections(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{"slow_drip"}, FaultShare: 1})
	defer s.Close()
	results := judgeAll(t.Context(), newTestJudge(t, s, nil), rowsOf(30), 1)
	if bad := failures(results); len(bad) > 0 {
		t.Fatal(bad)
	}
	if n := s.Counts().Connections; n != 1 {
		t.Errorf("%d connections of one worker", n)
	}
}

func TestDelay(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ms := fmt.Sprint(now.Add(3 * time.Second).UnixMilli())
	tests := []struct {
		name   string
		header map[string]string
		err    string
		want   time.Duration
		ok     bool
	}{
		{"none", nil, `{}`, 0, false},
		{"seconds", map[string]string{"Retry-After": "17"}, `{}`, 17 * time.Second, true},
		{"fraction", map[string]string{"Retry-After": " 1.5 "}, `{}`, 1500 * time.Millisecond, true},
		{"date", map[string]string{"Retry-After": "Fri, 20 Nov 2026 12:00:09 GMT"}, `{}`, 9 * time.Second, true},
		{"date in the past", map[string]string{"Retry-After": "Fri, 20 Nov 2026 11:00:00 GMT"}, `{}`, 0, true},
		{"nonsense, then metadata", map[string]string{"Retry-After": "soon"}, `{"metadata":{"retry_after_seconds":2}}`, 2 * time.Second, true},
		{"negative", map[string]string{"Retry-After": "-1"}, `{}`, 0, false},
		{"far away", map[string]string{"Retry-After": "1e300"}, `{}`, maxDelay, true},
		{"header before all", map[string]string{"Retry-After": "1"}, `{"availability":{"retry_after":2},"metadata":{"retry_after_seconds":3}}`, time.Second, true},
		{"availability before metadata", nil, `{"availability":{"retry_after":2.5},"metadata":{"retry_after_seconds":3}}`, 2500 * time.Millisecond, true},
		{"nested header", nil, `{"metadata":{"headers":{"retry-after":"4"}}}`, 4 * time.Second, true},
		{"nested number", nil, `{"metadata":{"headers":{"Retry-After":4}}}`, 4 * time.Second, true},
		{"nested reset", nil, `{"metadata":{"headers":{"X-RateLimit-Reset":"` + ms + `"}}}`, 3 * time.Second, true},
		{"reset in the header", map[string]string{"X-RateLimit-Reset": ms}, `{}`, 3 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			for k, v := range tt.header {
				header.Set(k, v)
			}
			var e wireError
			if err := json.Unmarshal([]byte(tt.err), &e); err != nil {
				t.Fatal(err)
			}
			if d, ok := delayOf(header, &e, now); d != tt.want || ok != tt.ok {
				t.Errorf("delay %v, %t, want %v, %t", d, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestRequireParameters leaves out what no provider takes where that is
// demanded, and keeps the key.
func TestRequireParameters(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{KeepBodies: true})
	defer s.Close()
	store := newStore(t)
	change := func(c *Config) {
		c.Models, c.Request["provider"], c.Store = []string{"fake/thinker"}, map[string]any{"require_parameters": true}, store
	}
	j := newTestJudge(t, s, change)
	if _, err := j.Judge(t.Context(), rowsOf(1)[0]); err != nil {
		t.Fatal(err)
	}
	if got := j.Notes(); len(got) != 1 || got[0] != "left out, since no provider takes it: fake/thinker: temperature" {
		t.Errorf("dropped %q", got)
	}
	if log := s.Log(); len(log) != 1 || strings.Contains(string(log[0].Text), `"temperature"`) || !strings.Contains(string(log[0].Text), `"require_parameters":true`) {
		t.Errorf("%d requests: %s", len(log), log[0].Text)
	}
	// Another process finds the answer without asking for models.
	again := newTestJudge(t, s, func(c *Config) { change(c); c.BaseURL = s.URL() })
	s.Close()
	if _, err := again.Judge(t.Context(), rowsOf(1)[0]); err != nil {
		t.Error(err)
	}
}

// TestPromptShape reads the example of the instructions as a reply to it: it names
// every member of the schema, and every quote of it stands in its passage.
func TestPromptShape(t *testing.T) {
	system := prompts.Builtin().Text(prompts.MatrixSystem)
	claims := regexp.MustCompile(`Claim c\d, citing (.*?): "(.*?)"`).FindAllStringSubmatch(system, -1)
	passages := regexp.MustCompile(`Passage e\d: "(.*?)"`).FindAllStringSubmatch(system, -1)
	if len(claims) != 2 || len(passages) != 3 {
		t.Fatalf("%q, %q", claims, passages)
	}
	r := &judge.Request{}
	for i, p := range passages {
		r.Evidence = append(r.Evidence, judge.Evidence{Text: p[1], Citation: i})
	}
	for _, c := range claims {
		claim := ibid.Claim{Text: c[2]}
		for i := range passages {
			if strings.Contains(c[1], fmt.Sprintf("e%d", i+1)) {
				claim.Citations = append(claim.Citations, int32(i))
			}
		}
		r.Claims = append(r.Claims, claim)
	}
	got, err := judge.Parse(system[strings.LastIndex(system, "The reply:"):], judge.NewRoster(r))
	if err != nil || len(got.Defects) > 0 || got.Verdict.Claims[1].ElsewhereEvidence != 2 {
		t.Errorf("%v, %+v", err, got)
	}
	for _, m := range regexp.MustCompile(`"([a-z_]+)":\{`).FindAllStringSubmatch(judge.Schema, -1) {
		if name := m[1]; name != "properties" && name != "items" && !strings.Contains(system, `"`+name+`"`) {
			t.Errorf("the instructions do not name %q", name)
		}
	}
}

// TestUnknownCost: with a budget, and an endpoint elsewhere that says nothing of what
// calls cost, the first answer is kept and nothing more is asked.
func TestUnknownCost(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{NoNetwork: true, Models: []judgetest.Model{{ID: "fake/judge", ContextLength: 9000, TellsNoCost: true}}})
	defer s.Close()
	j := newTestJudge(t, s, func(c *Config) { c.HTTP, c.MaxCostNanoUSD = s.Client(), 1e9 })
	rows := rowsOf(3)
	if _, err := j.Judge(t.Context(), rows[0]); err != nil {
		t.Fatal(err)
	}
	_, err := j.Judge(t.Context(), rows[1])
	if stop, ok := errors.AsType[*judge.StopError](err); !ok || stop.Reason != judge.StopPrice || !strings.Contains(stop.Hint, "judge.prices") {
		t.Errorf("error %v", err)
	}
	if n := s.Counts().Requests; n != 1 {
		t.Errorf("%d calls", n)
	}
}
