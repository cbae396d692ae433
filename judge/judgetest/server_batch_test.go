package judgetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// batchCall makes one request of the batch API and decodes its answer.
func batchCall(t *testing.T, s *Server, method, path string, body []byte) (status int, got object) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.URL(), "/v1")+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+DefaultKey)
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(raw, &got) // an error page is no JSON
	return resp.StatusCode, got
}

// TestServerBatches: a batch goes through its statuses with each look, ends with its
// results inline, and costs half of what the same calls do; what the API would refuse is
// refused.
func TestServerBatches(t *testing.T) {
	s := NewServer(ServerConfig{Batches: &BatchConfig{}})
	defer s.Close()
	if resp, _, err := ask(t, s, fakeBody("fake/judge", nil)); err != nil || resp.StatusCode != 200 {
		t.Fatal(err)
	}
	one := s.Counts().SpentNanoUSD
	line := func(id string, body []byte) string {
		return `{"custom_id":"` + id + `","body":` + string(body) + `}`
	}
	head, good := `{"endpoint":"/v1/chat/completions","model":"fake/judge","requests":[`, line("question-1", fakeBody("fake/judge", nil))
	for name, body := range map[string]string{
		"requests first": `{"requests":[` + good + `],"endpoint":"/v1/chat/completions","model":"fake/judge"}`,
		"no JSON":        head + good,
		"no requests":    head + "]}",
		"same id twice":  head + good + "," + good + "]}",
		"another model":  head + line("question-1", fakeBody("other/judge", nil)) + "]}",
		"unknown model":  strings.ReplaceAll(head+good+"]}", "fake/judge", "fake/nobody"),
		"other endpoint": strings.Replace(head+good+"]}", "/v1/chat/completions", "/v1/responses", 1),
		"unknown member": `{"priority":1,` + head[1:] + good + "]}",
	} {
		if status, got := batchCall(t, s, "POST", "/v1/batches", []byte(body)); status != 400 {
			t.Errorf("%s: status %d, %v", name, status, got)
		}
	}
	bad := line("question-2", fakeBody("fake/judge", map[string]any{"messages": []any{}}))
	status, got := batchCall(t, s, "POST", "/v1/batches", []byte(head+good+","+bad+"]}"))
	if status != 202 || got["status"] != "validating" || got["results"] != nil {
		t.Fatalf("status %d, %v", status, got)
	}
	id := got["id"].(string)
	for _, want := range []string{"in_progress", "finalizing", "completed", "completed"} {
		if _, got = batchCall(t, s, "GET", "/v1/batches/"+id, nil); got["status"] != want {
			t.Fatalf("status %v, want %s", got["status"], want)
		}
	}
	results := got["results"].([]any)
	answered, refused := results[0].(object)["response"].(object), results[1].(object)["response"].(object)
	if len(results) != 2 || answered["status_code"] != 200.0 || refused["status_code"] != 400.0 || results[0].(object)["custom_id"] != "question-1" {
		t.Errorf("results %v", results)
	}
	if cost := got["usage"].(object)["cost"].(float64); cost != usd(one/2) || s.Counts().SpentNanoUSD != one+one/2 {
		t.Errorf("cost %v, spent %d; a call costs %d", cost, s.Counts().SpentNanoUSD, one)
	}
	if n := s.Counts(); n.Twice != 1 || n.TwiceInBatches != 1 {
		t.Errorf("the question was asked in a call and in a batch: %+v", n)
	}
}
