package openrouter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/openrouter"
	"ibid/metrics/presence"
)

var _ presence.Embedder = (*openrouter.Embedder)(nil)

// An embeddings endpoint gives each text the vector (its length, 1).
func embeddings(t *testing.T, before func(w http.ResponseWriter, r *http.Request, call int32) (done bool)) (url string, calls *atomic.Int32) {
	calls = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil && before(w, r, calls.Add(1)) {
			return
		}
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || in.Model != "m" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		var data []string
		for i := range in.Input { // the last one first: only the index tells
			n := len(in.Input) - 1 - i
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, n, len(in.Input[n])))
		}
		fmt.Fprintf(w, `{"model":"m-1","data":[%s],"usage":{"prompt_tokens":%d,"cost":0.002}}`, strings.Join(data, ","), 10*len(in.Input))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", calls
}

func counting(http.ResponseWriter, *http.Request, int32) bool { return false }

func TestEmbedder(t *testing.T) {
	url, calls := embeddings(t, counting)
	store := openStore(t)
	e := &openrouter.Embedder{Model: "m", BaseURL: url, Store: store, Timeout: 5 * time.Second}
	var texts []string
	for i := range 100 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	for range 2 {
		got, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if len(v) != 2 || v[0] != float32(i+1) {
				t.Fatalf("vector %d is %v", i, v)
			}
		}
	}
	if calls.Load() != 2 { // 64 and 36 texts; the second time, none
		t.Errorf("%d calls, want 2", calls.Load())
	}
	// What is kept needs no endpoint; what is not is an error, and nobody is asked.
	offline := &openrouter.Embedder{Model: "m", BaseURL: url, Store: store, Offline: true}
	if got, err := offline.Embed(t.Context(), texts[:3]); err != nil || got[2][0] != 3 {
		t.Errorf("kept: %v, %v", got, err)
	}
	if _, err := offline.Embed(t.Context(), []string{"new"}); !errors.Is(err, openrouter.ErrNotKept) {
		t.Errorf("error %v, want %v", err, openrouter.ErrNotKept)
	}
	// Another model is another answer.
	other := &openrouter.Embedder{Model: "m2", BaseURL: url, Store: store, Offline: true}
	if _, err := other.Embed(t.Context(), texts[:1]); !errors.Is(err, openrouter.ErrNotKept) {
		t.Errorf("error %v, want %v", err, openrouter.ErrNotKept)
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
}

func TestEmbedderFaults(t *testing.T) {
	const key = "sk-secret"
	tests := []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request, call int32) bool
		calls int32
		err   string // "" if it is mended
	}{
		{"busy once", func(w http.ResponseWriter, _ *http.Request, call int32) bool {
			if call == 1 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return call == 1
		}, 2, ""},
		{"key refused", func(w http.ResponseWriter, r *http.Request, _ int32) bool {
			http.Error(w, "no such key: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), http.StatusUnauthorized)
			return true
		}, 1, "HTTP 401: no such key: [key]"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request, _ int32) bool {
			http.Redirect(w, r, "https://example.org/", http.StatusTemporaryRedirect)
			return true
		}, 1, "HTTP 307"},
		{"down", func(w http.ResponseWriter, _ *http.Request, _ int32) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, 2, "HTTP 502"},
		{"too few vectors", func(w http.ResponseWriter, _ *http.Request, _ int32) bool {
			io.WriteString(w, `{"data":[{"index":0,"embedding":[1]}]}`)
			return true
		}, 1, "embeddings of 1 texts, and not one of each of 2"},
		{"one vector twice", func(w http.ResponseWriter, _ *http.Request, _ int32) bool {
			io.WriteString(w, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`)
			return true
		}, 1, "not one of each"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request, _ int32) bool { io.WriteString(w, "<html>"); return true }, 1, "no list of embeddings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url, calls := embeddings(t, tt.fault)
			e := &openrouter.Embedder{Model: "m", BaseURL: url, Key: key, Retries: 1, Store: openStore(t)}
			_, err := e.Embed(t.Context(), []string{"a", "b"})
			if calls.Load() != tt.calls {
				t.Errorf("%d calls, want %d", calls.Load(), tt.calls)
			}
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var stop *judge.StopError
			if !errors.As(err, &stop) || stop.Reason != judge.StopEmbedder || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), key) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestEmbedderInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, _ := embeddings(t, func(_ http.ResponseWriter, r *http.Request, _ int32) bool {
		io.Copy(io.Discard, r.Body) // only then is it noticed that nobody waits any more
		cancel()
		<-r.Context().Done()
		return true
	})
	e := &openrouter.Embedder{Model: "m", BaseURL: url, Retries: 3}
	if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// openStore makes a store that is closed with the test.
func openStore(t *testing.T) *cache.SQLite {
	t.Helper()
	s, err := cache.Open(filepath.Join(t.TempDir(), "judge.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
