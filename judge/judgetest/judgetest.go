// Package judgetest tests that a judge keeps the promises of [judge.Judge], and
// has a fake of the service that live judges ask.
//
// [TestJudge] is for whoever writes a judge. [NewServer] starts a service on
// the loopback that speaks OpenRouter's API, with its faults and its limits and
// a log of who paid for what: point a judge's base URL at [Server.URL].
package judgetest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"

	"ibid/judge"
)

// TestJudge puts [Requests] to the judges that newJudge makes and checks every
// promise of the interface: the shape of verdicts, scores in range, the same
// verdict every time and from every goroutine, a request that stays as it was,
// errors, and that a context that has ended is obeyed. A judge may fail single
// requests with a [*judge.RowFailure], but not all of them.
func TestJudge(t *testing.T, newJudge func() judge.Judge) {
	t.Run("info", func(t *testing.T) { testInfo(t, newJudge()) })
	t.Run("verdicts", func(t *testing.T) { testVerdicts(t, newJudge()) })
	t.Run("deterministic", func(t *testing.T) { testDeterministic(t, newJudge) })
	t.Run("request unchanged", func(t *testing.T) { testUnchanged(t, newJudge()) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, newJudge()) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, newJudge()) })
}

func testInfo(t *testing.T, j judge.Judge) {
	before := j.Info()
	if before.Kind == "" {
		t.Error("Info().Kind is empty")
	}
	for _, r := range Requests() {
		_, _ = j.Judge(t.Context(), r) // errors are the matter of the other tests
	}
	if after := j.Info(); after != before {
		t.Errorf("Info() changed from %+v to %+v", before, after)
	}
}

func testVerdicts(t *testing.T, j judge.Judge) {
	judged := 0
	for _, r := range Requests() {
		v, err := j.Judge(t.Context(), r)
		var failure *judge.RowFailure
		switch {
		case errors.As(err, &failure):
			if v != nil {
				t.Errorf("%s: a verdict beside the error %v", r.Row, err)
			}
			if failure.Row != r.Row || failure.Reason == "" {
				t.Errorf("%s: failure %+v does not name row and reason", r.Row, failure)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", r.Row, err)
			continue
		}
		judged++
		for _, problem := range Problems(r, v) {
			t.Errorf("%s: %s", r.Row, problem)
		}
	}
	if judged == 0 {
		t.Error("no request got a verdict")
	}
}

func testDeterministic(t *testing.T, newJudge func() judge.Judge) {
	first, second := newJudge(), newJudge()
	for _, r := range Requests() {
		want, wantErr := first.Judge(t.Context(), r)
		for _, j := range []judge.Judge{first, second} {
			if got, err := j.Judge(t.Context(), r); !same(got, want, err, wantErr) {
				t.Errorf("%s: first %+v, %v, then %+v, %v", r.Row, want, wantErr, got, err)
			}
		}
	}
}

func testUnchanged(t *testing.T, j judge.Judge) {
	for _, r := range Requests() {
		before := dump(t, r)
		v, _ := j.Judge(t.Context(), r)
		if after := dump(t, r); after != before {
			t.Errorf("%s: the request changed\nfrom %s\nto   %s", r.Row, before, after)
		}
		if v == nil {
			continue
		}
		// What a caller does to one verdict must not reach another.
		kept, keptErr := j.Judge(t.Context(), r)
		for i := range v.Claims {
			clear(v.Claims[i].Checks)
			if p := v.Claims[i].ElsewherePlace; p != nil {
				*p = judge.Place{}
			}
		}
		clear(v.Claims)
		if again, err := j.Judge(t.Context(), r); !same(again, kept, err, keptErr) {
			t.Errorf("%s: after a verdict was overwritten %+v, %v, want %+v, %v", r.Row, again, err, kept, keptErr)
		}
	}
}

func testConcurrent(t *testing.T, j judge.Judge) {
	const workers = 8
	requests := Requests()
	type result struct {
		verdict *judge.Verdict
		err     error
	}
	want := make([]result, len(requests))
	for i, r := range requests {
		want[i].verdict, want[i].err = j.Judge(t.Context(), r)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range 3 * len(requests) {
				i := (n + w) % len(requests)
				if got, err := j.Judge(t.Context(), requests[i]); !same(got, want[i].verdict, err, want[i].err) {
					t.Errorf("%s: alone %+v, %v, among others %+v, %v", requests[i].Row, want[i].verdict, want[i].err, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func testCancelled(t *testing.T, j judge.Judge) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range Requests() {
		if v, err := j.Judge(ctx, r); !errors.Is(err, context.Canceled) || v != nil {
			t.Errorf("%s: %+v, %v after the context was cancelled", r.Row, v, err)
		}
	}
}

// same compares verdicts but for what calls took, and errors by their text.
func same(a, b *judge.Verdict, aErr, bErr error) bool {
	if aErr != nil || bErr != nil {
		return a == nil && b == nil && aErr != nil && bErr != nil && aErr.Error() == bErr.Error()
	}
	return reflect.DeepEqual(a.Claims, b.Claims) && a.Tampering == b.Tampering
}

func dump(t *testing.T, r *judge.Request) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
