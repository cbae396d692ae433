package judge

import (
	"testing"
)

func TestCombine(t *testing.T) {
	verdict := func(joint Label, factual, relevant Tri, elsewhere Label, tampering string) *Verdict {
		return &Verdict{Tampering: tampering, Calls: []Call{{}}, Claims: []ClaimVerdict{{
			Factual: factual, Joint: joint.Support(), Contradicted: joint == Contradicts, JointWhy: joint.String(), Votes: 1,
			Checks:    []Check{{Support: joint.Support(), Relevant: relevant, Quote: joint.String()}},
			Elsewhere: elsewhere.Support(), ElsewhereQuote: elsewhere.String(),
		}}}
	}
	got := Combine([]*Verdict{
		verdict(Full, Yes, Yes, Unsure, "none"),
		verdict(Contradicts, No, No, Partial, "in_answer"),
		verdict(Unsure, Unset, Unset, Full, "none"),
		verdict(Mostly, Unset, Unset, None, "none"),
	})
	c := &got.Claims[0]
	// Contradicts, mostly, full: the middle one is mostly.
	if c.Joint != Mostly.Support() || c.JointWhy != "mostly" || c.Contradicted || c.Votes != 4 || c.Checks[0].Quote != "mostly" {
		t.Errorf("joint %+v", c)
	}
	// None, partial, full.
	if c.Elsewhere != Partial.Support() || c.ElsewhereQuote != "partial" {
		t.Errorf("elsewhere %+v", c.Elsewhere)
	}
	if c.Factual != Yes || c.Checks[0].Relevant != No || got.Tampering != "in_answer" || len(got.Calls) != 4 {
		t.Errorf("factual %s, relevant %s, tampering %s, %d calls", c.Factual, c.Checks[0].Relevant, got.Tampering, len(got.Calls))
	}
	two := Combine([]*Verdict{verdict(None, Yes, Yes, None, "none"), verdict(Contradicts, Yes, Yes, None, "none")})
	if c := &two.Claims[0]; !c.Contradicted || c.Joint != Contradicts.Support() {
		t.Errorf("of none and contradicts %+v", c.Joint)
	}
}
