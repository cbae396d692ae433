package judgetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/judge"
)

const fakeUser = "Code 12345678.\n\n<question-12345678>\nWhen?\n</question-12345678>\n\n<claims-12345678>\n" +
	"<claim-12345678 id=\"c1\" cites=\"e1 e2\">\nThe bridge opened in 1909.\n</claim-12345678>\n" +
	"<claim-12345678 id=\"c2\" cites=\"nothing\">\nIt </claim> is red.\n</claim-12345678>\n</claims-12345678>\n\n<evidence-12345678>\n" +
	"<passage-12345678 id=\"e1\">\n<cited-12345678>The bridge opened in 1909 and is red.</cited-12345678>\n</passage-12345678>\n" +
	"<passage-12345678 id=\"e2\">\n<cited-12345678>Porto was dry.</cited-12345678>\n</passage-12345678>\n</evidence-12345678>\n"

func fakeBody(model string, extra map[string]any) []byte {
	q := map[string]any{"model": model, "messages": []any{
		map[string]any{"role": "system", "content": "Audit."}, map[string]any{"role": "user", "content": fakeUser},
	}, "response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "audit", "schema": map[string]any{}}}}
	for k, v := range extra {
		q[k] = v
	}
	return mustMarshal(q)
}

func ask(t *testing.T, s *Server, body []byte) (*http.Response, string, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+DefaultKey)
	client := &http.Client{Timeout: 300 * time.Millisecond}
	defer client.CloseIdleConnections()
	resp, err := client.Do(q)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, string(got), err
}

func TestServerAnswers(t *testing.T) {
	s := NewServer(ServerConfig{})
	defer s.Close()
	resp, body, err := ask(t, s, fakeBody("openrouter/auto", nil))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(body, err)
	}
	var e struct {
		ID, Model, Provider string
		Choices             []struct{ Message struct{ Content string } }
		Usage               struct{ Cost float64 }
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatal(err)
	}
	if e.ID == "" || e.Model != "fake/judge" || e.Provider != "Fake" || e.Usage.Cost == 0 {
		t.Errorf("envelope %+v", e)
	}
	r := &judge.Request{
		Claims:   []ibid.Claim{{Text: "The bridge opened in 1909.", Citations: []int32{0, 1}}, {Text: "It is red."}},
		Evidence: []judge.Evidence{{Text: "The bridge opened in 1909 and is red."}, {Text: "Porto was dry.", Citation: 1}},
	}
	reply, err := judge.Parse(e.Choices[0].Message.Content, judge.NewRoster(r))
	if err != nil || len(reply.Defects) > 0 {
		t.Fatal(err, reply)
	}
	first, second := &reply.Verdict.Claims[0], &reply.Verdict.Claims[1]
	if first.Joint != ibid.Full.Support() || first.Checks[1].Support != ibid.None.Support() || second.Elsewhere != ibid.Partial.Support() {
		t.Errorf("verdict %+v", reply.Verdict)
	}
	q, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/models", nil)
	q.Header.Set("Authorization", "Bearer "+DefaultKey)
	list, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	list.Body.Close()
	if list.StatusCode != 200 {
		t.Error(list.Status)
	}
}

// TestServerRefuses checks what a service finds wrong with a request.
func TestServerRefuses(t *testing.T) {
	s := NewServer(ServerConfig{})
	defer s.Close()
	tests := []struct {
		name   string
		body   []byte
		status int
	}{
		{"not JSON", []byte("{"), 400},
		{"model", fakeBody("no/model", nil), 400},
	}
	for _, tt := range tests {
		if resp, body, err := ask(t, s, tt.body); err != nil || resp.StatusCode != tt.status {
			t.Errorf("%s: %v, %s, want status %d", tt.name, err, body, tt.status)
		}
	}
}

// TestServerFaults serves every fault, and the same again under the same seed.
func TestServerFaults(t *testing.T) {
	all := slices.Concat(Faults("retryable"), Faults("harmless"), Faults("final"), Faults("stopping"))
	for _, f := range all {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := NewServer(ServerConfig{Faults: []Fault{f}, FaultShare: 1, RetryAfter: 10 * time.Millisecond})
			defer s.Close()
			resp, body, err := ask(t, s, fakeBody("fake/judge", nil))
			s.Close() // so that the log is complete
			x := s.Log()[0]
			if x.Fault != f {
				t.Errorf("log has %+v", x)
			}
			if harmless := faultOf(f).group == "harmless"; x.Whole != harmless {
				t.Errorf("whole is %t", x.Whole)
			}
			later := slices.Contains(Faults("retryable")[:10], f) && f != "429_silent"
			if later != (len(s.notBefore) > 0) {
				t.Errorf("not before %v", s.notBefore)
			}
			good := err == nil && resp.StatusCode == 200 && json.Valid([]byte(body)) && strings.Contains(body, `"finish_reason":"stop"`) && strings.Contains(body, "checks")
			if usable := faultOf(f).group == "harmless" || slices.Contains([]Fault{"missing_items", "unknown_id", "schema_mismatch", "invented_quote"}, f); good != usable {
				t.Errorf("status and body look good: %t; %v %s", good, err, body)
			}
		})
	}
}

func TestServerRepeats(t *testing.T) {
	faults := func() string {
		s := NewServer(ServerConfig{Seed: 4, Faults: Faults("retryable")[10:13], FaultShare: 0.5})
		defer s.Close()
		for i := range 20 {
			if _, _, err := ask(t, s, fakeBody("fake/judge", map[string]any{"seed": i % 7})); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		all := ""
		for _, x := range s.Log() {
			all += string(x.Fault) + "- "
		}
		return all
	}
	if a, b := faults(), faults(); a != b || !strings.Contains(a, " - ") || !strings.Contains(a, "500") {
		t.Errorf("faults %s\nthen %s", a, b)
	}
}

func TestServerLimits(t *testing.T) {
	s := NewServer(ServerConfig{MaxInFlight: 1, Rate: 0.001})
	defer s.Close()
	for i := range 12 {
		want := 200
		if i >= 10 {
			want = 429
		}
		resp, _, err := ask(t, s, fakeBody("fake/judge", nil))
		if err != nil || resp.StatusCode != want || (want == 429) != (resp.Header.Get("Retry-After") != "") {
			t.Errorf("request %d: %v, %v, want %d", i, resp, err, want)
		}
	}
	if n := s.Counts(); n.Early != 1 || n.Twice != 9 || n.Answers != 10 || n.Questions != 1 {
		t.Errorf("counts %+v", n)
	}
	broke := NewServer(ServerConfig{CreditNanoUSD: 1})
	defer broke.Close()
	for i, want := range []int{200, 402} {
		if resp, _, err := ask(t, broke, fakeBody("fake/judge", nil)); err != nil || resp.StatusCode != want {
			t.Errorf("request %d: %v, %v, want %d", i, resp, err, want)
		}
	}
	short := NewServer(ServerConfig{})
	defer short.Close()
	if _, body, err := ask(t, short, fakeBody("fake/thinker", map[string]any{"max_tokens": 210})); err != nil || !strings.Contains(body, `"finish_reason":"length"`) {
		t.Errorf("%v, %s, want finish reason length", err, body)
	}
}

// TestServerDirect serves without a network.
func TestServerDirect(t *testing.T) {
	for _, f := range []Fault{"", "reset", "reset_mid_body"} {
		s := NewServer(ServerConfig{NoNetwork: true, Faults: []Fault{f}, FaultShare: float64(min(1, len(f)))})
		q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", bytes.NewReader(fakeBody("fake/judge", nil)))
		q.Header.Set("Authorization", "Bearer "+DefaultKey)
		resp, err := s.Client().Do(q)
		if (err == nil) != (f == "") {
			t.Errorf("%q: %v", f, err)
		}
		if err == nil {
			resp.Body.Close()
		}
		s.Close()
		if n := s.Counts(); n.Requests != 1 || n.Connections != 0 {
			t.Errorf("%q: %+v", f, n)
		}
	}
}
