package judgetest

import (
	"fmt"
	"io"
	"log"
	"slices"
	"time"
)

// silent takes what the HTTP server says of broken connections, which the
// faults break on purpose.
var silent = log.New(io.Discard, "", 0)

// An Exchange is one request for an answer and what became of it.
type Exchange struct {
	Start, End time.Time // when it came, and when its answer began to be sent
	Body       [32]byte  // SHA-256 of its body
	Text       []byte    // the body itself, if kept
	Attempt    int       // how often this body was let in before, from 0; -1 if a limit kept it out
	Status     int       // of HTTP, 0 if the connection was cut
	Fault      Fault     // "" if none
	Paid       bool      // it was charged
	Whole      bool      // a whole and valid answer was handed out
	NanoUSD    int64
	// NotBefore is when the same request may come again, zero if nothing was
	// said.
	NotBefore time.Time
}

// Log returns what has ended so far. An exchange enters it just after its
// answer is sent; after Close nothing is missing.
func (s *Server) Log() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ResetLog forgets what came so far, totals included; what was spent and how
// often bodies came stays.
func (s *Server) ResetLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.counts = nil, Counts{}
}

// PaidTwice names the requests for which whole answers were handed out more
// than once.
func PaidTwice(log []Exchange) []string {
	whole := make(map[[32]byte]int)
	var twice []string
	for i := range log {
		if !log[i].Whole {
			continue
		}
		if whole[log[i].Body]++; whole[log[i].Body] > 1 {
			twice = append(twice, fmt.Sprintf("request %x: whole answer number %d", log[i].Body[:4], whole[log[i].Body]))
		}
	}
	return twice
}

// EarlyRetries names the requests that came again before they were allowed to.
func EarlyRetries(log []Exchange) []string {
	byStart := slices.Clone(log)
	slices.SortStableFunc(byStart, func(a, b Exchange) int { return a.Start.Compare(b.Start) })
	notBefore := make(map[[32]byte]time.Time)
	var early []string
	for i := range byStart {
		x := &byStart[i]
		if until := notBefore[x.Body]; x.Start.Before(until) {
			early = append(early, fmt.Sprintf("request %x: %v before its time", x.Body[:4], until.Sub(x.Start)))
		}
		if x.NotBefore.After(notBefore[x.Body]) {
			notBefore[x.Body] = x.NotBefore
		}
	}
	return early
}

// record adds a finished exchange to the log and the totals.
func (s *Server) record(x *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Requests++
	if x.Whole {
		s.counts.Answers++
	}
	if x.Fault != "" {
		s.counts.Faults++
	}
	if x.Attempt < 0 || x.Fault == stray {
		s.counts.Refused++
	}
	if !s.config.Lean {
		s.log = append(s.log, *x)
	}
}
