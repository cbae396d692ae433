package judge

import (
	"slices"

	"ibid"
)

// Combine makes one verdict of several on the same request, of votes or of the
// models of a panel. An opinion is absent where the claim is unscored.
//
// A claim has a verdict if more than half of the opinions have one on it; else it is unscored,
// for the reason of the first that is absent. A label is the middle one of those that are not
// unsure, in the order contradicts, none, partial, mostly, full; of two middle ones it is the
// lower. So a majority wins, a tie does not count in favour of the answer, and unsure
// is an abstention. What belongs to a label (the quote, the reason) comes from
// the first verdict that has it. Yes and no go by majority; a tie is relevant:
// no, factual: yes. Tampering is reported if anyone reports it.
//
// It panics if there is no verdict or if they differ in shape.
func Combine(verdicts []*Verdict) *Verdict {
	out := &Verdict{Tampering: verdicts[0].Tampering, Claims: make([]ClaimVerdict, len(verdicts[0].Claims))}
	for _, v := range verdicts {
		out.Calls = append(out.Calls, v.Calls...)
		if !ibid.Tampered(out.Tampering) {
			out.Tampering = v.Tampering
		}
	}
	for c := range out.Claims {
		var claims []*ClaimVerdict
		var absent *ClaimVerdict
		for _, v := range verdicts {
			if v := &v.Claims[c]; v.Unscored == "" {
				claims = append(claims, v)
			} else if absent == nil {
				absent = v
			}
		}
		if to := &out.Claims[c]; 2*len(claims) > len(verdicts) {
			combineClaims(claims, to)
		} else {
			*to = UnscoredClaim(absent.Unscored, absent.JointWhy)
		}
		out.Claims[c].Absent = len(verdicts) - len(claims)
	}
	return out
}

func combineClaims(claims []*ClaimVerdict, out *ClaimVerdict) {
	joint := middle(claims, func(v *ClaimVerdict) ibid.Degree { return v.Joint.Degree })
	*out = *claims[joint]
	out.Votes, out.Surplus = 0, 0
	for _, v := range claims {
		out.Votes += v.Votes
		out.Surplus += v.Surplus
	}
	out.Factual = majorityOf(claims, ibid.Yes, func(v *ClaimVerdict) ibid.Tri { return v.Factual })
	out.NeedsCitation = majorityOf(claims, ibid.Yes, func(v *ClaimVerdict) ibid.Tri { return v.NeedsCitation })

	other := claims[middle(claims, func(v *ClaimVerdict) ibid.Degree { return v.Elsewhere.Degree })]
	out.Elsewhere, out.ElsewherePlace = other.Elsewhere, other.ElsewherePlace
	out.ElsewhereEvidence, out.ElsewhereAt = other.ElsewhereEvidence, other.ElsewhereAt
	out.ElsewhereQuote, out.ElsewhereAligned = other.ElsewhereQuote, other.ElsewhereAligned

	out.Checks = make([]Check, len(claims[0].Checks))
	for k := range out.Checks {
		out.Checks[k] = claims[middle(claims, func(v *ClaimVerdict) ibid.Degree { return v.Checks[k].Support.Degree })].Checks[k]
		out.Checks[k].Relevant = majorityOf(claims, ibid.No, func(v *ClaimVerdict) ibid.Tri { return v.Checks[k].Relevant })
	}
	out.Sufficient = slices.Clone(out.Sufficient)
}

// rank orders labels for [Combine].
var rank = [ibid.NumDegrees]int{ibid.Contradicts: 0, ibid.None: 1, ibid.Partial: 2, ibid.Mostly: 3, ibid.Full: 4}

// middle is the index of the first claim that has the middle label.
func middle(claims []*ClaimVerdict, label func(*ClaimVerdict) ibid.Degree) int {
	var sure []ibid.Degree
	for _, v := range claims {
		if l := label(v); l != ibid.Unsure {
			sure = append(sure, l)
		}
	}
	if len(sure) == 0 {
		return 0
	}
	slices.SortFunc(sure, func(a, b ibid.Degree) int { return rank[a] - rank[b] })
	want := sure[(len(sure)-1)/2]
	return slices.IndexFunc(claims, func(v *ClaimVerdict) bool { return label(v) == want })
}

func majorityOf(claims []*ClaimVerdict, tie ibid.Tri, value func(*ClaimVerdict) ibid.Tri) ibid.Tri {
	count := [3]int{}
	for _, v := range claims {
		count[value(v)]++
	}
	switch {
	case count[ibid.Yes] > count[ibid.No]:
		return ibid.Yes
	case count[ibid.No] > count[ibid.Yes]:
		return ibid.No
	case count[ibid.Yes] > 0:
		return tie
	}
	return ibid.Unset
}
