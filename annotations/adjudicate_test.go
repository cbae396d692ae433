package annotations

import (
	"slices"
	"testing"

	"ibid"
	"ibid/metrics/stats"
)

func TestAdjudicateSpans(t *testing.T) {
	marks := []Mark{
		{"cay", []stats.Unit{unit(0, 10), unit(20, 30)}},
		{"ada", []stats.Unit{unit(5, 12)}},
		{"ben", []stats.Unit{unit(4, 12), unit(8, 14)}},
	}
	tests := []struct {
		policy ibid.Policy
		want   []stats.Unit
	}{
		{ibid.PolicyMajority, []stats.Unit{unit(4, 12)}},
		{ibid.PolicyUnion, []stats.Unit{unit(0, 14), unit(20, 30)}},
		{ibid.PolicyIntersection, []stats.Unit{unit(5, 10)}},
		{ibid.PolicyBest, []stats.Unit{unit(4, 14)}}, // ben: 8/10 overlap with ada
	}
	for _, tt := range tests {
		if got := CombineMarks(tt.policy, marks); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.policy, got, tt.want)
		}
	}
	if got := CombineMarks(ibid.PolicyMajority, []Mark{{"a", []stats.Unit{unit(0, 4)}}, {"b", []stats.Unit{unit(4, 8)}}}); len(got) != 0 {
		t.Errorf("a majority of two who share nothing: %v", got)
	}
	if got := CombineMarks(ibid.PolicyIntersection, []Mark{{"a", []stats.Unit{unit(0, 4)}}, {"b", nil}}); len(got) != 0 {
		t.Errorf("the intersection with nothing: %v", got)
	}
}

// FuzzAdjudicateSpans counts annotators character by character.
func FuzzAdjudicateSpans(f *testing.F) {
	f.Add([]byte{0, 9, 9, 12}, []byte{3, 9}, []byte{5, 20, 1, 2})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var marks []Mark
		for i, data := range [][]byte{a, b, c} {
			m := Mark{Annotator: string(rune('a' + i))}
			for k := 0; k+1 < len(data) && k < 12; k += 2 {
				if from, to := int64(data[k])%40, int64(data[k+1])%40; from < to {
					m.Units = append(m.Units, unit(from, to))
				}
			}
			marks = append(marks, m)
		}
		for policy, need := range map[ibid.Policy]int{ibid.PolicyMajority: 2, ibid.PolicyUnion: 1, ibid.PolicyIntersection: 3} {
			got := CombineMarks(policy, marks)
			for i := range int64(40) {
				in := func(u stats.Unit) bool { return u.Start <= i && i < u.End }
				n := 0
				for _, m := range marks {
					if slices.ContainsFunc(m.Units, in) {
						n++
					}
				}
				if slices.ContainsFunc(got, in) != (n >= need) {
					t.Fatalf("%s: character %d, marked by %d, in %v", policy, i, n, got)
				}
			}
		}
	})
}
