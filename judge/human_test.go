package judge_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"ibid"
	"ibid/judge"
)

func humanVerdict(t *testing.T, policy string, r *judge.Request) *judge.Verdict {
	t.Helper()
	p, err := judge.ParseLabelPolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	v, err := judge.NewHuman(p).Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestHumanPolicies(t *testing.T) {
	label := func(annotator string, value float64) judge.HumanLabel {
		return judge.HumanLabel{Label: ibid.Label{Annotator: annotator, Kind: "support", Value: ibid.Some(value)}, Claim: 0, Citation: -1}
	}
	unscored := ibid.Support{}
	tests := []struct {
		name   string
		policy string
		labels []judge.HumanLabel
		want   ibid.Support
		votes  int
	}{
		{"nobody", "mean", nil, unscored, 0},
		{"one", "mean", []judge.HumanLabel{label("a", 0.5)}, ibid.Partial.Support(), 1},
		{"mean", "mean", []judge.HumanLabel{label("a", 1), label("b", 0.5)}, ibid.Support{Number: ibid.Some(0.75), Degree: ibid.Mostly}, 2},
		{"three who say 0.7", "mean", []judge.HumanLabel{label("a", 0.7), label("b", 0.7), label("c", 0.7)}, ibid.Scored(0.7), 3},
		{"0.6, 0.7 and 0.8", "mean", []judge.HumanLabel{label("a", 0.6), label("b", 0.7), label("c", 0.8)}, ibid.Scored(0.7), 3},
		{"one person twice is one vote", "mean", []judge.HumanLabel{label("a", 1), label("b", 0), label("a", 1)}, ibid.Partial.Support(), 2},
		{"majority", "majority", []judge.HumanLabel{label("a", 1), label("b", 0), label("c", 1)}, ibid.Full.Support(), 3},
		{"plurality", "majority", []judge.HumanLabel{label("a", 0), label("b", 0.5), label("c", 1), label("d", 0)}, ibid.None.Support(), 4},
		{"majority of none", "majority", []judge.HumanLabel{label("a", 1), label("b", 0)}, unscored, 0},
		{"three ways apart", "majority", []judge.HumanLabel{label("a", 1), label("b", 0), label("c", 0.5)}, unscored, 0},
		{"annotator", "annotator:b", []judge.HumanLabel{label("a", 1), label("b", 0)}, ibid.None.Support(), 1},
		{"annotator who said nothing", "annotator:c", []judge.HumanLabel{label("a", 1), label("b", 0)}, unscored, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the order of labels does not matter
				r := &judge.Request{Claims: []ibid.Claim{{Text: "x", Citations: []int32{0}}}, Labels: tt.labels}
				v := humanVerdict(t, tt.policy, r)
				if got := v.Claims[0]; got.Joint != tt.want || got.Votes != tt.votes {
					t.Errorf("%s of %+v = %+v by %d, want %+v by %d", tt.policy, tt.labels, got.Joint, got.Votes, tt.want, tt.votes)
				}
				slices.Reverse(tt.labels)
			}
		})
	}
}

func TestHumanTargets(t *testing.T) {
	// Claims 0 and 1 cite citation 5 (valid) and 6 (not valid); claim 2 cites nothing.
	r := &judge.Request{
		Claims: []ibid.Claim{
			{Citations: []int32{5, 6}},
			{Citations: []int32{5, 6}},
			{},
		},
		Evidence: []judge.Evidence{{Text: "t", Citation: 5}},
		Labels: []judge.HumanLabel{
			{Label: ibid.Label{Kind: "support", Value: ibid.Some(0.5)}, Claim: 0, Citation: -1},
			{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](1)}, Claim: -1, Citation: 5},
			{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](0)}, Claim: 1, Citation: 5},
			{Label: ibid.Label{Kind: "support", Value: ibid.Some(0.8)}, Claim: -1, Citation: 6},
			{Label: ibid.Label{Kind: "relevant", Value: ibid.Some[float64](1)}, Claim: -1, Citation: 6},
			{Label: ibid.Label{Kind: "relevant", Value: ibid.Some[float64](0)}, Claim: 1, Citation: 6},
			{Label: ibid.Label{Kind: "factual", Value: ibid.Some[float64](0)}, Claim: 1, Citation: -1},
			{Label: ibid.Label{Kind: "needs_citation", Value: ibid.Some[float64](1)}, Claim: 2, Citation: -1},
			{Label: ibid.Label{Kind: "factual", Value: ibid.Some(0.5)}, Claim: 2, Citation: -1},
			{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](1)}, Claim: 2, Citation: -1},
		},
	}
	want := []judge.ClaimVerdict{
		{
			Joint: ibid.Partial.Support(), Votes: 1, ElsewhereEvidence: -1,
			Checks: []judge.Check{
				{Citation: 5, Evidence: 0, Support: ibid.Full.Support()},
				{Citation: 6, Evidence: -1, Support: ibid.Mostly.Support(), Relevant: ibid.Yes},
			},
		},
		{
			Factual: ibid.No, ElsewhereEvidence: -1,
			Checks: []judge.Check{
				{Citation: 5, Evidence: 0, Support: ibid.None.Support()},
				{Citation: 6, Evidence: -1, Support: ibid.Mostly.Support(), Relevant: ibid.No},
			},
		},
		{NeedsCitation: ibid.Yes, Joint: ibid.None.Support(), Elsewhere: ibid.Full.Support(), ElsewhereEvidence: -1},
	}
	if got := humanVerdict(t, "mean", r).Claims; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestHumanRefuses(t *testing.T) {
	tests := []struct {
		name  string
		label judge.HumanLabel
	}{
		{"unknown kind", judge.HumanLabel{Label: ibid.Label{Kind: "quality", Value: ibid.Some[float64](0)}, Citation: -1}},
		{"value above 1", judge.HumanLabel{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](2)}}},
		{"value not a number", judge.HumanLabel{Label: ibid.Label{Kind: "support", Value: ibid.Some(math.NaN())}}},
		{"claim out of range", judge.HumanLabel{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](0)}, Claim: 1}},
		{"on nothing", judge.HumanLabel{Label: ibid.Label{Kind: "support", Value: ibid.Some[float64](0)}, Claim: -1, Citation: -1}},
		{"relevance of a claim", judge.HumanLabel{Label: ibid.Label{Kind: "relevant", Value: ibid.Some[float64](0)}, Citation: -1}},
		{"factual citation", judge.HumanLabel{Label: ibid.Label{Kind: "factual", Value: ibid.Some[float64](0)}, Claim: -1}},
		{"factual pair", judge.HumanLabel{Label: ibid.Label{Kind: "factual", Value: ibid.Some[float64](0)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &judge.Request{Row: "q/s", Claims: []ibid.Claim{{}}, Labels: []judge.HumanLabel{tt.label}}
			_, err := judge.NewHuman(ibid.PolicyMean).Judge(context.Background(), r)
			failure, ok := errors.AsType[*judge.RowFailure](err)
			if !ok || failure.Reason != judge.BadLabel || failure.Row != "q/s" {
				t.Errorf("error %v, want a bad label of row q/s", err)
			}
		})
	}
}

func TestParseLabelPolicy(t *testing.T) {
	for _, name := range []string{"mean", "majority", "annotator:Ann B."} {
		if p, err := judge.ParseLabelPolicy(name); err != nil || string(p) != name {
			t.Errorf("ParseLabelPolicy(%q) = %s, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "median", "annotator:", "Mean"} {
		if _, err := judge.ParseLabelPolicy(name); err == nil {
			t.Errorf("ParseLabelPolicy(%q) is no error", name)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, l := range []ibid.Degree{ibid.Unsure, ibid.None, ibid.Partial, ibid.Mostly, ibid.Full, ibid.Contradicts} {
		if got, err := ibid.ParseDegree(l.String()); got != l || err != nil {
			t.Errorf("ParseLabel(%q) = %s, %v", l, got, err)
		}
		if s := l.Support(); l != ibid.Contradicts && s.Known() && ibid.Scored(s.Value) != s {
			t.Errorf("Scored(%v) = %+v, want %+v", s.Value, ibid.Scored(s.Value), s)
		}
	}
	if _, err := ibid.ParseDegree("Full"); err == nil {
		t.Error(`ParseLabel("Full") is no error`)
	}
	if got := ibid.Scored(0.25).Degree; got != ibid.None {
		t.Errorf("Scored(0.25) is %s, want the lower of the two labels", got)
	}
}

// TestHumanMeanIsExact: however many people all say 0.7, they reach 0.7.
func TestHumanMeanIsExact(t *testing.T) {
	for people := 1; people <= 12; people++ {
		r := &judge.Request{Claims: []ibid.Claim{{Text: "x", Citations: []int32{0}}}}
		for i := range people {
			r.Labels = append(r.Labels, judge.HumanLabel{Label: ibid.Label{Annotator: string(rune('a' + i)), Kind: "support", Value: ibid.Some(0.7)}, Citation: -1})
		}
		if got := humanVerdict(t, "mean", r).Claims[0].Joint.Value; got != 0.7 {
			t.Errorf("%d people who say 0.7 come to %v", people, got)
		}
	}
}
