package judge_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"ibid/judge"
)

// A spoil is what a judge makes of a request in place of another.
type spoil func(ctx context.Context, of judge.Judge, r *judge.Request) (*judge.Verdict, error)

// A spoilt judge is another one that is spoilt.
type spoilt struct {
	of judge.Judge
	by spoil
}

func (s *spoilt) Info() judge.Info { return s.of.Info() }
func (s *spoilt) Judge(ctx context.Context, r *judge.Request) (*judge.Verdict, error) {
	return s.by(ctx, s.of, r)
}

// broken are judges by the promise that each breaks, as [testJudge] calls it.
func broken() map[string]func() judge.Judge {
	lexical := func(by spoil) func() judge.Judge {
		return func() judge.Judge { return &spoilt{judge.NewLexical(), by} }
	}
	return map[string]func() judge.Judge{
		"verdicts": lexical(func(ctx context.Context, of judge.Judge, r *judge.Request) (*judge.Verdict, error) {
			v, err := of.Judge(ctx, r)
			if err == nil {
				v.Tampering = "yes"
			}
			return v, err
		}),
		"deterministic": func() judge.Judge {
			var mu sync.Mutex
			asked := 0
			return &spoilt{judge.NewLexical(), func(ctx context.Context, of judge.Judge, r *judge.Request) (*judge.Verdict, error) {
				mu.Lock()
				defer mu.Unlock()
				if asked++; asked%7 == 3 {
					return nil, &judge.RowFailure{Row: r.Row, Reason: judge.BadReply}
				}
				return of.Judge(ctx, r)
			}}
		},
		"request_unchanged": lexical(func(ctx context.Context, of judge.Judge, r *judge.Request) (*judge.Verdict, error) {
			v, err := of.Judge(ctx, r)
			if len(r.Evidence) > 0 {
				r.Evidence[0].Text = strings.ToUpper(r.Evidence[0].Text)
			}
			return v, err
		}),
		"cancelled": lexical(func(ctx context.Context, of judge.Judge, r *judge.Request) (*judge.Verdict, error) {
			return of.Judge(context.WithoutCancel(ctx), r)
		}),
	}
}

const brokenVariable = "IBID_TEST_BROKEN_JUDGE"

// TestBroken is the test of a broken judge, in a process of its own since it fails.
func TestBroken(t *testing.T) {
	newJudge := broken()[os.Getenv(brokenVariable)]
	if newJudge == nil {
		t.Skip("begun by TestBrokenJudges")
	}
	testJudge(t, newJudge)
}

// TestBrokenJudges: a judge that breaks a promise fails at that promise.
func TestBrokenJudges(t *testing.T) {
	if judge.Raced() {
		t.Skip("the promises that are broken here are not checked under the race detector")
	}
	for promise := range broken() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBroken$")
		cmd.Env = append(os.Environ(), brokenVariable+"="+promise)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/"+promise) {
			t.Errorf("%s: %v\n%s", promise, err, out)
		}
	}
}
