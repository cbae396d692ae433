package acts

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/annotations"
)

func stretch(start, end int64) Mark { return Mark{Doc: "d", Start: start, End: end} }

// TestMergingTruth: what stands for several opinions, how it came about, and whose it was.
func TestMergingTruth(t *testing.T) {
	ada := Opinion{Annotator: "ada", Marks: []Mark{stretch(0, 10)}}
	ben := Opinion{Annotator: "ben", Marks: []Mark{stretch(5, 15)}}
	alike := Opinion{Annotator: "cyd", Marks: []Mark{stretch(0, 4), stretch(4, 10)}}
	none := Opinion{Annotator: "dan"}
	nothing := []Mark{}
	decided := &Decision{By: "lead", Marks: &nothing, How: HowNew}
	for _, tt := range []struct {
		name     string
		rule     ibid.Policy
		said     []Opinion
		decision *Decision
		want     string
	}{
		{"nobody", "", nil, nil, "undecided"},
		{"one", "", []Opinion{ada}, nil, "[0 10) take [ada]"},
		{"one who marked nothing", "", []Opinion{none}, nil, "nothing"},
		{"alike", "", []Opinion{ada, alike}, nil, "[0 10) equal [ada cyd]"},
		{"nobody marked anything", "", []Opinion{none, none}, nil, "nothing"},
		{"differ", "", []Opinion{ada, ben}, nil, "undecided"},
		{"one marked nothing", "", []Opinion{ada, none}, nil, "undecided"},
		{"the best of three is nobody's business", "", []Opinion{ada, alike, ben}, nil, "undecided"},
		{"union", ibid.PolicyUnion, []Opinion{ada, ben}, nil, "[0 15) union [ada ben]"},
		{"intersection", ibid.PolicyIntersection, []Opinion{ada, ben}, nil, "[5 10) intersection [ada ben]"},
		{"decided", ibid.PolicyUnion, []Opinion{ada, ben}, decided, "nothing"},
		{"decided without opinions", "", nil, decided, "nothing"},
		{"only labels are decided", "", []Opinion{ada, ben}, &Decision{By: "lead"}, "undecided"},
	} {
		got := "undecided"
		if marks := (Merging{tt.rule}).Truth(tt.said, tt.decision); marks != nil {
			got = "nothing"
			for _, m := range *marks {
				got = fmt.Sprintf("[%d %d) %s %v", m.Start, m.End, m.How, m.From)
				if m.Annotator != Adjudicated || m.DecidedBy != "" {
					t.Errorf("%s: %+v", tt.name, m.Origin)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestMergingLabels: each question is decided for itself.
func TestMergingLabels(t *testing.T) {
	label := func(claim string, value float64) annotations.BlindLabel {
		return annotations.BlindLabel{ClaimID: claim, Kind: "support", Value: &value}
	}
	said := []Opinion{
		{Annotator: "ada", Labels: []annotations.BlindLabel{label("equal", 1), label("differ", 1), label("taken", 0.5), label("new", 1), {ClaimID: "open", Kind: "support"}}},
		{Annotator: "ben", Labels: []annotations.BlindLabel{label("equal", 1), label("differ", 0), label("taken", 0), label("new", 0), label("alone", 0.8)}},
	}
	d := &Decision{By: "lead", Labels: []annotations.BlindLabel{label("taken", 0), label("new", 0.5), label("equal", 1)}}
	list := func(labels []MergedLabel, open int) []string {
		out := []string{fmt.Sprint(open, " open")}
		for _, l := range labels {
			out = append(out, fmt.Sprintf("%s %g %s %v %s", l.ClaimID, *l.Value, l.How, l.From, l.DecidedBy))
		}
		return out
	}
	want := []string{"1 open", "equal 1 equal [ada ben] ", "taken 0 take [ben] lead", "new 0.5 new [] lead", "alone 0.8 take [ben] "}
	if diff := cmp.Diff(want, list(Merging{}.Labels(said, d))); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
	want = []string{"0 open", "equal 1 equal [ada ben] ", "differ 0 intersection [ada ben] ", "taken 0 take [ben] lead", "new 0.5 new [] lead", "alone 0.8 take [ben] "}
	if diff := cmp.Diff(want, list(Merging{ibid.PolicyIntersection}.Labels(said, d))); diff != "" {
		t.Errorf("with a rule (-want +got):\n%s", diff)
	}
}
