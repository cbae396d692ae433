package duckdb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The columns of what ibid cache export writes.
var (
	answerColumns = columnList(
		"VARCHAR", "key created status model_requested model_resolved provider generation_id template schema finish_reason",
		"BIGINT", "prompt_tokens completion_tokens reasoning_tokens cached_tokens",
		"DOUBLE", "cost_usd",
		"BIGINT", "latency_ms attempts",
		"VARCHAR", "run verdict raw",
	)

	callColumns = columnList(
		"VARCHAR", "key at",
		"BIGINT", "n http_status",
		"VARCHAR", "class",
		"BIGINT", "ms",
		"DOUBLE", "cost_usd",
		"VARCHAR", "generation_id error run",
	)
)

// An endpoint judges as far as the schema goes: it finds no support anywhere. It
// refuses every third call.
type endpoint struct {
	mu               sync.Mutex
	calls, refused   int64
	prompt, complete int64 // tokens it told of
}

var claimTag = regexp.MustCompile(`<claim-[0-9a-f]+ id="(c[0-9]+)" citations="([^"]*)">`)

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls++; e.calls%3 == 0 {
		e.refused++
		http.Error(w, `{"error": {"code": 503, "message": "not now"}}`, http.StatusServiceUnavailable)
		return
	}
	var request struct {
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type object = map[string]any
	claims := []object{}
	for _, tag := range claimTag.FindAllStringSubmatch(request.Messages[len(request.Messages)-1].Content, -1) {
		checks := []object{}
		for _, id := range strings.Fields(tag[2]) {
			checks = append(checks, object{"evidence_id": id, "why": "nothing", "quote": "", "support": "none", "relevant": "no"})
		}
		claims = append(claims, object{
			"id": tag[1], "kind": "factual", "checks": checks, "joint_why": "nothing", "joint": "none",
			"elsewhere": "none", "elsewhere_evidence_id": "", "elsewhere_quote": "",
		})
	}
	content, err := json.Marshal(object{"tampering": "none", "claims": claims})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	prompt, complete := 1000+e.calls, int64(len(content))
	e.prompt, e.complete = e.prompt+prompt, e.complete+complete
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(object{
		"id": fmt.Sprint("gen-", e.calls), "model": request.Model, "provider": "Test",
		"choices": []object{{"index": 0, "finish_reason": "stop", "message": object{"role": "assistant", "content": string(content)}}},
		"usage":   object{"prompt_tokens": prompt, "completion_tokens": complete, "total_tokens": prompt + complete},
	})
}

// TestExportedAnswers has a model of our own judge the sample, and wants DuckDB to
// find in what ibid cache export writes what the model was asked and told.
func TestExportedAnswers(t *testing.T) {
	s := sample(t)
	e := new(endpoint)
	server := httptest.NewServer(e)
	defer server.Close()
	dir := filepath.Dir(filepath.Dir(s.dir)) // of the run file
	store := filepath.Join(t.TempDir(), "judge.sqlite")
	ibid(t, dir, "run", "ibid.yaml", "--id", "asked", "-q", "--judge", "openai", "--model", "local", "--cache", store, "--set", "judge.base_url="+server.URL,
		"--set", "judge.prices={prompt: 1, completion: 2}", "--set", "judge.retry_attempts=20", "--set", "gates=[]")
	answers, calls := filepath.Join(t.TempDir(), "answers.parquet"), filepath.Join(t.TempDir(), "calls.parquet")
	ibid(t, dir, "cache", "export", "--cache", store, "-o", answers, "-q")
	ibid(t, dir, "cache", "export", "--cache", store, "--attempts", "-o", calls, "-q")

	d := openDuck(t)
	d.load("answers", answers)
	d.load("calls", calls)
	for table, want := range map[string][]string{"answers": answerColumns, "calls": callColumns} {
		names, types := d.columns(table)
		var got []string
		for i := range names {
			got = append(got, names[i]+" "+types[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("columns of %s are\n%v, want\n%v", table, got, want)
		}
	}
	for query, want := range map[string]int64{
		"SELECT count(*) FROM answers":                                   e.calls - e.refused,
		"SELECT count(*) FROM calls":                                     e.calls,
		"SELECT count(*) FROM calls WHERE class <> 'ok'":                 e.refused,
		"SELECT count(*) FROM calls WHERE http_status = 503":             e.refused,
		"SELECT sum(prompt_tokens) FROM answers":                         e.prompt,
		"SELECT sum(completion_tokens) FROM answers":                     e.complete,
		"SELECT CAST(round(sum(cost_usd) * 1e6) AS BIGINT) FROM answers": e.prompt + 2*e.complete,
		"SELECT CAST(round(sum(cost_usd) * 1e6) AS BIGINT) FROM calls":   e.prompt + 2*e.complete,
	} {
		if got := d.number(query); got != want || want == 0 {
			t.Errorf("%s is %d, want %d", query, got, want)
		}
	}
	d.none("an answer without its call", "SELECT key FROM answers WHERE key NOT IN (SELECT key FROM calls WHERE class = 'ok')")
	d.none("a key that is no SHA-256", "SELECT key FROM answers WHERE NOT regexp_full_match(key, '[0-9a-f]{64}')")
	d.none("a key twice", "SELECT key FROM answers GROUP BY key HAVING count(*) > 1")
	d.none("a time that is none", "SELECT created FROM answers WHERE CAST(created AS TIMESTAMP) NOT BETWEEN TIMESTAMP '2020-01-01' AND TIMESTAMP '2200-01-01'")
	d.none("a response that is not as it came", "SELECT raw FROM answers WHERE NOT contains(raw, generation_id) OR NOT contains(raw, 'joint_why')")
	d.none("attempts that nobody recorded", "SELECT key, attempts FROM answers JOIN (SELECT key, count(*) AS n FROM calls GROUP BY key) USING (key) WHERE attempts <> n")
}
