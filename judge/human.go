package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ibid"
)

// Human answers with the labels of the request.
//
// A "support" label on a claim is its joint support; on a citation it is that
// of the citation for all claims that cite it; on both it is that of the pair,
// and counts there in place of the citation's own. "relevant" labels work like
// those on citations, "needs_citation" and "factual" labels are on claims.
// What nobody labelled is unscored; nothing is derived from other labels. The
// answer to a yes-or-no question is yes above 0.5 and no below; at 0.5 the
// annotators do not agree, and it stays open.
//
// Labels count whether a citation is valid or not. A "support" label on a claim
// without citations is its support by what it does not cite. Human does not say
// whether evidence contradicts a claim.
type Human struct {
	policy ibid.Policy
}

// NewHuman returns a judge that combines the labels of several people by that
// policy, exactly: see [ibid.Policy.Label].
func NewHuman(policy ibid.Policy) *Human { return &Human{policy} }

// ParseLabelPolicy returns the policy of that name:
//
//	mean            the mean of the annotators' values
//	majority        the value that more annotators gave than any other
//	annotator:NAME  the value of one annotator
func ParseLabelPolicy(name string) (ibid.Policy, error) {
	p, err := ibid.ParsePolicy(name, ibid.PolicyMean, ibid.PolicyMajority, ibid.PolicyAnnotator)
	if err != nil {
		return "", fmt.Errorf("label %w", err)
	}
	return p, nil
}

// Info gives the label policy as the model.
func (h *Human) Info() Info { return Info{Kind: "human", Model: string(h.policy)} }

// target is what a label is on.
type target struct {
	claim, citation int // -1 if it is not on one
	kind            string
}

// Judge returns the labels of r. A label on an item that does not exist, of an
// unknown kind, or with a value outside [0, 1] is a [*RowFailure].
func (h *Human) Judge(ctx context.Context, r *Request) (*Verdict, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	said := make(map[target][]ibid.Opinion, len(r.Labels))
	for i := range r.Labels {
		l := &r.Labels[i]
		if err := l.check(r); err != nil {
			return nil, &RowFailure{Row: r.Row, Reason: BadLabel, Err: fmt.Errorf("label %d: %w", i+1, err)}
		}
		at := target{l.Claim, l.Citation, l.Kind}
		said[at] = append(said[at], ibid.Opinion{Annotator: l.Annotator, Value: l.Value.Value})
	}
	v := NewVerdict(len(r.Claims))
	for c := range r.Claims {
		h.claim(r, c, said, &v.Claims[c])
	}
	return v, nil
}

func (l *HumanLabel) check(r *Request) error {
	switch l.Kind {
	case ibid.SupportLabel:
		if l.Claim < 0 && l.Citation < 0 {
			return fmt.Errorf("support of neither a claim nor a citation")
		}
	case ibid.RelevantLabel:
		if l.Citation < 0 {
			return fmt.Errorf("relevant without a citation")
		}
	case ibid.NeedsCitationLabel, ibid.FactualLabel:
		if l.Claim < 0 || l.Citation >= 0 {
			return fmt.Errorf("%s is asked of a claim alone", l.Kind)
		}
	default:
		return fmt.Errorf("kind %q: not one of %s", clip(l.Kind), strings.Join(ibid.LabelKinds(), ", "))
	}
	if !l.Value.Known() {
		return fmt.Errorf("no value")
	}
	if l.Claim >= len(r.Claims) {
		return fmt.Errorf("claim %d of %d", l.Claim, len(r.Claims))
	}
	if v := l.Value.Value; !(v >= 0 && v <= 1) { // also NaN
		return fmt.Errorf("value %v is outside [0, 1]", v)
	}
	return nil
}

func (h *Human) claim(r *Request, c int, said map[target][]ibid.Opinion, out *ClaimVerdict) {
	claim := &r.Claims[c]
	out.Factual = h.answer(said[target{c, -1, ibid.FactualLabel}])
	out.NeedsCitation = h.answer(said[target{c, -1, ibid.NeedsCitationLabel}])
	if len(claim.Citations) == 0 {
		out.Joint = ibid.None.Support()
		out.Elsewhere, _ = h.support(said[target{c, -1, ibid.SupportLabel}])
		return
	}
	out.Joint, out.Votes = h.support(said[target{c, -1, ibid.SupportLabel}])
	out.Checks = make([]Check, len(claim.Citations))
	for i, k := range claim.Citations {
		check := &out.Checks[i]
		check.Citation = int(k)
		check.Evidence = slices.IndexFunc(r.Evidence, func(e Evidence) bool { return e.Citation == check.Citation })
		check.Support, _ = h.support(onPair(said, c, check.Citation, ibid.SupportLabel))
		check.Relevant = h.answer(onPair(said, c, check.Citation, ibid.RelevantLabel))
	}
}

// onPair returns what was said of the claim with the citation, or else of the
// citation alone.
func onPair(said map[target][]ibid.Opinion, claim, citation int, kind string) []ibid.Opinion {
	if o := said[target{claim, citation, kind}]; len(o) > 0 {
		return o
	}
	return said[target{-1, citation, kind}]
}

func (h *Human) support(said []ibid.Opinion) (ibid.Support, int) {
	v, votes := h.policy.Label(said)
	if votes == 0 {
		return ibid.Support{}, 0
	}
	return ibid.Scored(v), votes
}

func (h *Human) answer(said []ibid.Opinion) ibid.Tri {
	v, votes := h.policy.Label(said)
	if votes == 0 || v == 0.5 {
		return ibid.Unset
	}
	return ibid.TriOf(v > 0.5)
}
