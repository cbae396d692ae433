package openrouter

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ibid/judge/judgetest"
)

// TestOutage: twenty questions in a row that were given up for one class, over ten
// seconds at least, end a run, and so does a long time without an answer.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outage{now: time.Now, most: time.Minute}
		many := func(n int, class failureClass) bool {
			over := false
			for range n {
				over = o.gaveUp(class)
			}
			return over
		}
		if many(30, classTransient) {
			t.Error("over although no time has passed")
		}
		time.Sleep(outageTime)
		if !o.gaveUp(classTransient) {
			t.Error("31 in 10 s are not enough")
		}
		o.succeeded()
		if many(1, classTransient) {
			t.Error("an answer was forgotten")
		}
		time.Sleep(outageTime)
		if many(18, classTransient) || !o.gaveUp(classTransient) {
			t.Error("20 are not the limit")
		}
		if many(1, classContent) {
			t.Error("two classes are one")
		}

		o.succeeded()
		began := time.Now()
		if o.failed(began) {
			t.Error("over at the first failure")
		}
		time.Sleep(59 * time.Second)
		if o.failed(time.Now()) {
			t.Error("over too early")
		}
		time.Sleep(time.Second)
		if !o.failed(time.Now()) {
			t.Error("a minute without an answer is not the limit")
		}
		o.succeeded()
		if o.failed(began) {
			t.Error("a call that began before the last answer counts from its begin")
		}
	})
}

func TestHint(t *testing.T) {
	for text, want := range map[string]string{
		"status 404: No endpoints found matching your data policy":                                         "allow its providers in the privacy settings of the account, or name another model",
		"status 404: No endpoints found that can handle the requested parameters.":                         "leave require_parameters out of judge.request, or name another model",
		"status 400: This model's maximum context length is 4096 tokens. However, you requested 5000":      "ask for less at once: performance.batch_size, judge.evidence: span, or a model that reads more",
		`Post "http://127.0.0.1:1/v1/chat/completions": dial tcp 127.0.0.1:1: connect: connection refused`: "start the server, or look at judge.base_url",
		"no answer in time":   "raise judge.timeout, or lower judge.concurrency",
		"claim c2 is missing": "the model does not keep to the shape of replies; name another, or raise judge.retry_attempts",
		"xyz":                 "",
	} {
		if got := Hint(text); got != want {
			t.Errorf("Hint(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestOpening: one row that the model cannot manage does not end a run, even if it is
// the first; several do.
func TestOpening(t *testing.T) {
	rows := rowsOf(12)
	for name, tt := range map[string]struct {
		bad         func(*judgetest.Prompt) bool
		failed, max int // rows without a verdict, calls
	}{
		"one row": {func(p *judgetest.Prompt) bool {
			return strings.Contains(p.User, rows[0].Claims[len(rows[0].Claims)-1].Text)
		}, 1, 11 + 4},
		"all": {func(*judgetest.Prompt) bool { return true }, 12, 4 * 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Reply: func(p *judgetest.Prompt) string {
				a := judgetest.OverlapAnswer(p)
				if tt.bad(p) {
					a.Claims = a.Claims[1:]
				}
				return a.String()
			}})
			defer s.Close()
			j := newTestJudge(t, s, func(c *Config) { c.Retries = 3 })
			j.members[0].opening = newOpening()
			results := judgeAll(t.Context(), j, rows, 1)
			if bad := failures(results); len(bad) != tt.failed || s.Counts().Requests > tt.max {
				t.Errorf("%d rows failed after %d calls, want %d after at most %d: %q", len(bad), s.Counts().Requests, tt.failed, tt.max, bad)
			}
		})
	}
}
