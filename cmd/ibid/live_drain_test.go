package main

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ibid/judge/judgetest"
)

// A said is what a process has written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a run without waiting for it; ended gets its error.
func (l *liveTest) start(id string, more ...string) (process *exec.Cmd, stderr *said, ended chan error) {
	l.Helper()
	args := l.args(id, more...)
	stderr, ended = new(said), make(chan error, 1)
	process = exec.Command("ibid", append(args[:2:2], args[3:]...)...) // without -q
	process.Dir, process.Env, process.Stderr = l.dir, environ(l.dir), stderr
	if err := process.Start(); err != nil {
		l.Fatal(err)
	}
	go func() { ended <- process.Wait() }()
	return process, stderr, ended
}

// until waits for what a run has done.
func (l *liveTest) until(what string, ended chan error, done func() bool) {
	l.Helper()
	for !done() {
		select {
		case err := <-ended:
			l.Fatalf("the run ended before %s: %v", what, err)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestLiveDrained interrupts a run: what is under way is waited for, and not asked
// again when the run goes on.
func TestLiveDrained(t *testing.T) {
	t.Parallel()
	const rows = 60
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			var interrupted atomic.Bool
			latency := func(*rand.Rand) time.Duration {
				if interrupted.Load() {
					return 0
				}
				return time.Second
			}
			l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: latency})
			process, stderr, ended := l.start("drained")
			l.until("four calls were under way", ended, func() bool { return l.server.Counts().MaxInFlight >= 4 })
			if err := process.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := exitCode(<-ended); code != want || !regexp.MustCompile("waiting for calls under way: [4-9]; they are paid for; interrupt again to end at once").MatchString(stderr.String()) {
				t.Errorf("exit code %d, want %d\n%s", code, want, stderr)
			}
			if n := l.server.Counts(); n.Answers != n.Requests || n.Answers > 20 {
				t.Errorf("%d answers were taken, want those of all %d calls, and nothing asked after the interrupt", n.Answers, n.Requests)
			}
			interrupted.Store(true)
			l.must("drained")
			if twice := l.server.Counts().Twice; twice > 0 || l.server.Counts().Answers != rows {
				t.Errorf("%d answers for %d rows, %d paid twice", l.server.Counts().Answers, rows, twice)
			}
		})
	}
}

// TestLiveInterruptedTwice ends a run whose calls would take long: it dies of the second signal.
func TestLiveInterruptedTwice(t *testing.T) {
	t.Parallel()
	l := newLiveTest(t, 5, judgetest.ServerConfig{Faults: []judgetest.Fault{"hang"}, FaultShare: 1})
	process, stderr, ended := l.start("twice")
	l.until("a call was under way", ended, func() bool { return l.server.Counts().MaxInFlight > 0 })
	for _, told := range []string{"", "waiting for calls under way: "} {
		l.until("it was told to wait", ended, func() bool { return strings.Contains(stderr.String(), told) })
		if err := process.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err == nil || err.Error() != "signal: interrupt" {
		t.Errorf("the run ended with %v\n%s", err, stderr)
	}
}
