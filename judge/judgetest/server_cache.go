package judgetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// A stored answer is one kept for a client that asked for it.
type stored struct {
	body  []byte
	until time.Time
}

const defaultCacheSeconds = 300

// wantsCache reports whether the client asked for answers to be kept.
func (t *turn) wantsCache() bool { return t.r.Header.Get("X-OpenRouter-Cache") == "true" }

// fromCache answers with what was kept, for free.
func (t *turn) fromCache() bool {
	if !t.wantsCache() {
		return false
	}
	s := t.server
	s.mu.Lock()
	if t.r.Header.Get("X-OpenRouter-Cache-Clear") == "true" {
		delete(s.cached, t.x.Body)
	}
	kept, ok := s.cached[t.x.Body]
	s.mu.Unlock()
	if !ok || time.Now().After(kept.until) {
		return false
	}
	var e map[string]any
	if err := json.Unmarshal(kept.body, &e); err != nil {
		return false
	}
	t.w.Header().Set("X-OpenRouter-Cache-Status", "HIT")
	t.w.Header().Set("X-OpenRouter-Cache-Source-Id", e["id"].(string))
	e["id"], e["usage"] = t.generationID(), usage{}
	t.x.Status, t.x.End = http.StatusOK, time.Now()
	writeJSON(t.w, http.StatusOK, e)
	return true
}

// keep keeps a good answer if the client asked for it.
func (t *turn) keep(body []byte) {
	if !t.wantsCache() || !t.x.Whole {
		return
	}
	seconds, err := strconv.Atoi(t.r.Header.Get("X-OpenRouter-Cache-TTL"))
	if err != nil {
		seconds = defaultCacheSeconds
	}
	t.w.Header().Set("X-OpenRouter-Cache-Status", "MISS")
	s := t.server
	s.mu.Lock()
	s.cached[t.x.Body] = stored{body, time.Now().Add(time.Duration(seconds) * time.Second)}
	s.mu.Unlock()
}
