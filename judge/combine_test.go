package judge

import (
	"testing"

	"ibid"
)

func TestCombine(t *testing.T) {
	verdict := func(joint ibid.Degree, factual, relevant ibid.Tri, elsewhere ibid.Degree, tampering string) *Verdict {
		return &Verdict{Tampering: tampering, Calls: []Call{{}}, Claims: []ClaimVerdict{{
			Factual: factual, Joint: joint.Support(), Contradicted: ibid.TriOf(joint == ibid.Contradicts), JointWhy: joint.String(), Votes: 1,
			Checks:    []Check{{Support: joint.Support(), Relevant: relevant, Quote: joint.String()}},
			Elsewhere: elsewhere.Support(), ElsewhereQuote: elsewhere.String(),
		}}}
	}
	got := Combine([]*Verdict{
		verdict(ibid.Full, ibid.Yes, ibid.Yes, ibid.Unsure, "none"),
		verdict(ibid.Contradicts, ibid.No, ibid.No, ibid.Partial, "in_answer"),
		verdict(ibid.Unsure, ibid.Unset, ibid.Unset, ibid.Full, "none"),
		verdict(ibid.Mostly, ibid.Unset, ibid.Unset, ibid.None, "none"),
	})
	c := &got.Claims[0]
	// Contradicts, mostly, full: the middle one is mostly.
	if c.Joint != ibid.Mostly.Support() || c.JointWhy != "mostly" || c.Contradicted != ibid.No || c.Votes != 4 || c.Checks[0].Quote != "mostly" {
		t.Errorf("joint %+v", c)
	}
	// None, partial, full.
	if c.Elsewhere != ibid.Partial.Support() || c.ElsewhereQuote != "partial" {
		t.Errorf("elsewhere %+v", c.Elsewhere)
	}
	if c.Factual != ibid.Yes || c.Checks[0].Relevant != ibid.No || got.Tampering != "in_answer" || len(got.Calls) != 4 {
		t.Errorf("factual %s, relevant %s, tampering %s, %d calls", c.Factual, c.Checks[0].Relevant, got.Tampering, len(got.Calls))
	}
	two := Combine([]*Verdict{verdict(ibid.None, ibid.Yes, ibid.Yes, ibid.None, "none"), verdict(ibid.Contradicts, ibid.Yes, ibid.Yes, ibid.None, "none")})
	if c := &two.Claims[0]; c.Contradicted != ibid.Yes || c.Joint != ibid.Contradicts.Support() {
		t.Errorf("of none and contradicts %+v", c.Joint)
	}
}
