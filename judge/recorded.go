package judge

import (
	"context"
	"fmt"

	"ibid"
)

// Recorded answers with the verdicts that the input brings: what another program said
// of each citation, as labels of support on citations.
//
// A citation that nothing was recorded of is unscored. See [ClaimVerdict.JoinChecks] for
// claims.
type Recorded struct{}

// Info says that verdicts were recorded; nobody was asked.
func (Recorded) Info() Info { return Info{Kind: "recorded"} }

// Judge returns what was recorded of the citations of r. A value outside [0, 1] is a
// [*RowFailure].
func (Recorded) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	for i := range r.Labels {
		l := &r.Labels[i]
		if err := l.check(r); err != nil {
			return nil, &RowFailure{Row: r.Row, Reason: BadLabel, Err: fmt.Errorf("verdict on citation %d: %w", l.Citation+1, err)}
		}
	}
	v, err := NewHuman(ibid.PolicyMean).Judge(ctx, r)
	if err != nil {
		return nil, err
	}
	for c := range v.Claims {
		v.Claims[c].JoinChecks(len(r.Claims[c].Citations))
	}
	return v, nil
}

// JoinChecks gives a claim with a verdict on each of its citations, and none on all of them together,
// the support of the best citation as its joint support: together they support it no less. A claim
// without citations gets none.
func (v *ClaimVerdict) JoinChecks(citations int) {
	if citations == 0 {
		v.Joint = ibid.None.Support()
		return
	}
	best, known := ibid.Support{}, 0
	for i := range v.Checks {
		if s := v.Checks[i].Support; s.Known() {
			known++
			if !best.Known() || s.Value > best.Value {
				best = s
			}
		}
	}
	if known == citations {
		v.Joint, v.Votes = best, 1
	}
}
