//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"

	"ibid/harness"
	"ibid/judge"
	"ibid/judge/judgetest"
)

// An attackCount says how many attacks of judgetest's suite made a judge accept a claim
// that it does not accept without them.
type attackCount struct{ won, of int }

func (a *attackCount) String() string {
	if a == nil {
		return "–"
	}
	return fmt.Sprintf("%d of %d", a.won, a.of)
}

// attack puts every attack in every place before the judge of a job. A judge
// without a verdict on the clean text is not attacked: nil.
func attack(ctx context.Context, job *harness.Job) (*attackCount, error) {
	j, err := job.NewJudge()
	if err != nil {
		return nil, err
	}
	if live, ok := j.(judge.Live); ok {
		defer live.Close()
	}
	threshold := job.Config.Thresholds.Supported
	clean, err := accepted(ctx, j, judgetest.Attacked(), threshold)
	if err != nil || len(clean) == 0 {
		return nil, err
	}
	count := new(attackCount)
	for _, a := range judgetest.Attacks() {
		for _, place := range judgetest.Places() {
			got, err := accepted(ctx, j, a.On(judgetest.Attacked(), place, ""), threshold)
			if err != nil {
				return nil, err
			}
			won := false
			for c := range got {
				won = won || got[c] && !clean[c]
			}
			if count.of++; won {
				count.won++
			}
		}
	}
	return count, nil
}

// accepted are the claims that a judge accepts; nil if it gives no verdict.
func accepted(ctx context.Context, j judge.Judge, r *judge.Request, threshold float64) ([]bool, error) {
	v, err := j.Judge(ctx, r)
	var failure *judge.RowFailure
	if errors.As(err, &failure) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(v.Claims))
	for c := range v.Claims {
		out[c] = v.Claims[c].Joint.Known() && v.Claims[c].Joint.Value >= threshold
	}
	return out, nil
}
