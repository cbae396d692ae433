package judge

import (
	"context"
	"fmt"

	"ibid"
)

// Recorded answers with the verdicts that the input brings: what another program said
// of each citation, as labels of support on citations.
//
// A citation that nothing was recorded of is unscored. The joint support of a claim is
// what was recorded of its citations, if that is known of all: of the one, or the best of
// several, since what they say together bears out no less.
type Recorded struct{}

// Info says that verdicts were recorded; nobody was asked.
func (Recorded) Info() Info { return Info{Kind: "recorded"} }

// Judge returns what was recorded of the citations of r. A value outside [0, 1] is a
// [*RowFailure].
func (Recorded) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	said := make(map[int]ibid.Support, len(r.Labels))
	for i := range r.Labels {
		l := &r.Labels[i]
		if err := l.check(r); err != nil {
			return nil, &RowFailure{Row: r.Row, Reason: BadLabel, Err: fmt.Errorf("verdict on citation %d: %w", l.Citation+1, err)}
		}
		said[l.Citation] = ibid.Scored(l.Value.Value)
	}
	evidence := make(map[int]int, len(r.Evidence))
	for i := range r.Evidence {
		evidence[r.Evidence[i].Citation] = i
	}
	v := NewVerdict(len(r.Claims))
	for c := range r.Claims {
		out := &v.Claims[c]
		if len(r.Claims[c].Citations) == 0 {
			out.Joint = ibid.None.Support()
			continue
		}
		joint, all := ibid.Support{}, true
		for _, k := range r.Claims[c].Citations {
			check := Check{Citation: int(k), Evidence: -1, Support: said[int(k)]}
			if at, known := evidence[check.Citation]; known {
				check.Evidence = at
			}
			all = all && check.Support.Known()
			if check.Support.Known() && (!joint.Known() || check.Support.Value > joint.Value) {
				joint = check.Support
			}
			out.Checks = append(out.Checks, check)
		}
		if all {
			out.Joint, out.Votes = joint, 1
		}
	}
	return v, nil
}
