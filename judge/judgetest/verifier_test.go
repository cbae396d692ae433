package judgetest

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

// TestVerifier sends what the documentations of the servers have as examples.
func TestVerifier(t *testing.T) {
	t.Parallel()
	nli := NewServer(ServerConfig{Verifier: &VerifierConfig{MaxTokens: 12}})
	defer nli.Close()
	plain := NewServer(ServerConfig{Verifier: &VerifierConfig{Logprobs: "refused"}})
	defer plain.Close()
	ask := func(s *Server, path, body string) (int, string) {
		t.Helper()
		resp, err := http.Post(strings.TrimSuffix(s.URL(), "/v1")+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(b))
	}
	long := strings.Repeat("word ", 20)
	for _, tt := range []struct {
		name, path, body string
		status           int
		want             string // in the response
	}{
		{"one text", "/predict", `{"inputs":"a b"}`, 422, "error"}, // this one takes lists alone
		{"a list of one pair", "/predict", `{"inputs":[["a b","a"]]}`, 200, `[[{"label":"entailment","score":1}`},
		{"too long", "/predict", `{"inputs":[["` + long + `","b"]],"truncate":false}`, 413, "must have less than 12 tokens"},
		{"nothing", "/predict", `{"inputs":[]}`, 422, "error"},
		{"another model", "/v1/chat/completions", `{"model":"x","messages":[{"role":"user","content":"Document: a\nClaim: a"}]}`, 404, "does not exist"},
		{"too long for vLLM", "/v1/chat/completions", `{"model":"fake/verifier","messages":[{"role":"user","content":"` + long + `"}]}`, 400, "maximum context length is 12 tokens"},
		{"cut off at one token", "/v1/chat/completions", `{"model":"fake/verifier","messages":[{"role":"user","content":"Document: a\nClaim: a"}],"max_tokens":1}`, 200, `"finish_reason":"length"`},
	} {
		if status, got := ask(nli, tt.path, tt.body); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: status %d, want %d: %s, want %s", tt.name, status, tt.status, got, tt.want)
		}
	}
	chat := `{"model":"fake/verifier","messages":[{"role":"user","content":"Document: a b\nClaim: a c"}],"max_tokens":5,"logprobs":true,"top_logprobs":5}`
	if status, got := ask(plain, "/v1/chat/completions", chat); status != 400 || !strings.Contains(got, "logprobs") {
		t.Errorf("logprobs are refused: %d, %s", status, got)
	}
	_, got := ask(nli, "/v1/chat/completions", chat)
	var reply struct {
		Choices []struct {
			Finish   string `json:"finish_reason"`
			Logprobs struct {
				Content []struct {
					Top []struct{ Logprob float64 } `json:"top_logprobs"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(got), &reply); err != nil || reply.Choices[0].Finish != "stop" || len(reply.Choices[0].Logprobs.Content) != 1 {
		t.Fatalf("%v: %s", err, got)
	}
	sum := 0.0
	for _, o := range reply.Choices[0].Logprobs.Content[0].Top {
		sum += math.Exp(o.Logprob)
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("the probabilities of a token sum to %v", sum)
	}
}
