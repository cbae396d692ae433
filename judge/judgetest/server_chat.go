package judgetest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// A turn is one exchange while it lasts.
type turn struct {
	server  *Server
	w       http.ResponseWriter
	r       *http.Request
	request chatRequest
	model   *Model
	random  *rand.Rand // of the body and the attempt
	x       *Exchange
}

// chat serves one request for an answer.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.turns.Add(1)
	defer s.turns.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	x := &Exchange{Start: time.Now(), Body: sha256.Sum256(body), Attempt: -1}
	if s.config.KeepBodies {
		x.Text = body
	}
	t := &turn{server: s, w: w, r: r, x: x}
	defer func() {
		if x.End.IsZero() {
			x.End = time.Now()
		}
		s.record(x)
	}()
	if err := json.Unmarshal(body, &t.request); err != nil {
		t.fail(400, apiError{Code: 400, Message: "Invalid JSON in request body"})
		return
	}
	if status, e := s.refuse(&t.request); status != 0 {
		t.fail(status, e)
		return
	}
	t.model = s.models[t.request.Model]
	if !t.enter() {
		return
	}
	defer t.leave()
	t.serve()
}

// enter lets the request in, or answers 429.
func (t *turn) enter() bool {
	s := t.server
	if s.bucket != nil {
		if wait, ok := s.bucket.take(); !ok {
			t.limited(wait)
			return false
		}
	}
	s.mu.Lock()
	full := s.config.MaxInFlight > 0 && s.inFlight >= s.config.MaxInFlight
	if !full {
		s.inFlight++
		s.counts.MaxInFlight = max(s.counts.MaxInFlight, s.inFlight)
		t.x.Attempt = s.attempts[t.x.Body]
		s.attempts[t.x.Body]++
	}
	s.mu.Unlock()
	if full {
		t.limited(0)
	}
	return !full
}

func (t *turn) leave() {
	t.server.mu.Lock()
	t.server.inFlight--
	t.server.mu.Unlock()
}

// limited answers 429 the way a limit does: in whole seconds.
func (t *turn) limited(wait time.Duration) {
	seconds := max(1, int((wait+time.Second-1)/time.Second))
	t.w.Header().Set("X-RateLimit-Limit", strconv.FormatFloat(t.server.config.Rate, 'f', -1, 64))
	t.w.Header().Set("X-RateLimit-Remaining", "0")
	t.w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(wait).UnixMilli(), 10))
	t.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	t.notBefore(time.Duration(seconds) * time.Second)
	t.fail(429, apiError{Code: 429, Message: "Rate limit exceeded", Metadata: map[string]any{"error_type": "rate_limit_exceeded"}})
}

// notBefore notes that the request may come again after d from now.
func (t *turn) notBefore(d time.Duration) {
	t.x.End = time.Now()
	t.x.NotBefore = t.x.End.Add(d)
}

// fail answers with an error.
func (t *turn) fail(status int, e apiError) {
	t.x.Status = status
	if t.x.End.IsZero() {
		t.x.End = time.Now()
	}
	writeError(t.w, status, e)
}

// serve answers a request that was let in, with a fault if it is its turn.
func (t *turn) serve() {
	s := t.server
	t.random = s.randomOf(t.x)
	share, kind := t.random.Float64(), t.random.IntN(max(1, len(s.config.Faults)))
	switch {
	case share < s.config.StrayShare:
		t.x.Fault = stray
	case len(s.config.Faults) > 0 && share < s.config.StrayShare+s.config.FaultShare && s.oneMoreFault():
		t.x.Fault = s.config.Faults[kind]
	}
	if s.broke() {
		t.fail(402, apiError{Code: 402, Message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits"})
		return
	}
	if t.x.Fault != "" {
		t.inject(t.x.Fault)
		return
	}
	if t.fromCache() {
		return
	}
	t.think(1)
	t.answer(t.reply())
}

// oneMoreFault counts a fault, unless there are enough.
func (s *Server) oneMoreFault() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.MaxFaults > 0 && s.faults >= s.config.MaxFaults {
		return false
	}
	s.faults++
	return true
}

// randomOf depends on the body and the attempt, not on when they came.
func (s *Server) randomOf(x *Exchange) *rand.Rand {
	var b [8 + 32 + 8]byte
	binary.BigEndian.PutUint64(b[:], s.config.Seed)
	copy(b[8:], x.Body[:])
	binary.BigEndian.PutUint64(b[40:], uint64(x.Attempt))
	h := sha256.Sum256(b[:])
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])))
}

// broke reports whether the credits are used up.
func (s *Server) broke() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.CreditNanoUSD > 0 && s.spent >= s.config.CreditNanoUSD
}

// think takes the time of an answer, times factor, unless the client goes.
func (t *turn) think(factor float64) {
	if t.server.config.Latency == nil {
		return
	}
	wait := time.NewTimer(time.Duration(factor * float64(t.server.config.Latency(t.random))))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-t.r.Context().Done():
	}
}

// reply is the text of a good answer.
func (t *turn) reply() string { return t.server.config.Reply(readPrompt(&t.request)) }
