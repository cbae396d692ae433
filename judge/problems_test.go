package judge_test

import (
	"context"
	"testing"

	"ibid"
	"ibid/judge"
)

// TestProblems breaks a good verdict in every way that is looked for.
func TestProblems(t *testing.T) {
	good := func() (*judge.Request, *judge.Verdict) {
		r := plain()
		v, err := judge.NewLexical().Judge(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		return r, v
	}
	tests := []struct {
		name  string
		spoil func(v *judge.Verdict)
	}{
		{"a claim too few", func(v *judge.Verdict) { v.Claims = v.Claims[1:] }},
		{"tampering", func(v *judge.Verdict) { v.Tampering = "yes" }},
		{"score above 1", func(v *judge.Verdict) { v.Claims[0].Joint.Value = 1.1 }},
		{"unscored is a number", func(v *judge.Verdict) { v.Claims[0].Elsewhere = ibid.Support{Number: ibid.Number{Value: 0.5}} }},
		{"scored and unsure", func(v *judge.Verdict) { v.Claims[0].Joint = ibid.Support{Number: ibid.Some[float64](0)} }},
		{"uncited and supported", func(v *judge.Verdict) { v.Claims[2].Joint = ibid.Full.Support() }},
		{"contradicted without the label", func(v *judge.Verdict) { v.Claims[0].Joint, v.Claims[0].Contradicted = ibid.Full.Support(), ibid.Yes }},
		{"contradicts with a score", func(v *judge.Verdict) {
			v.Claims[0].Checks[0].Support = ibid.Support{Number: ibid.Some(0.5), Degree: ibid.Contradicts}
		}},
		{"votes where nothing was asked", func(v *judge.Verdict) { v.Claims[2].Votes = 1 }},
		{"check missing", func(v *judge.Verdict) { v.Claims[0].Checks = v.Claims[0].Checks[:1] }},
		{"check twice", func(v *judge.Verdict) { v.Claims[0].Checks[1] = v.Claims[0].Checks[0] }},
		{"check of another's citation", func(v *judge.Verdict) { v.Claims[0].Checks[1].Citation = 2 }},
		{"check in another's evidence", func(v *judge.Verdict) { v.Claims[0].Checks[0].Evidence = 1 }},
		{"quote past the end", func(v *judge.Verdict) { v.Claims[0].Checks[0].QuoteAt = judge.Interval{Start: 0, End: 35} }},
		{"factual", func(v *judge.Verdict) { v.Claims[0].Factual = 3 }},
		{"sufficient", func(v *judge.Verdict) { v.Claims[2].Sufficient = [][]int{{0}} }},
		{"elsewhere is cited", func(v *judge.Verdict) { v.Claims[0].ElsewhereEvidence = 0 }},
		{"elsewhere does not exist", func(v *judge.Verdict) { v.Claims[0].ElsewhereEvidence = 7 }},
		{"elsewhere in an unknown document", func(v *judge.Verdict) { v.Claims[0].ElsewherePlace = &judge.Place{Doc: "x"} }},
		{"elsewhere is empty", func(v *judge.Verdict) {
			v.Claims[0].ElsewherePlace = &judge.Place{Doc: "bridge", Page: 1, Start: 5, End: 5}
		}},
	}
	if r, v := good(); len(problemsOf(r, v)) > 0 {
		t.Fatalf("a good verdict has problems: %q", problemsOf(r, v))
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, v := good()
			tt.spoil(v)
			if len(problemsOf(r, v)) == 0 {
				t.Error("not found")
			}
		})
	}
}
