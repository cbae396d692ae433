package annotations

import (
	"fmt"
	"slices"
	"strings"

	"ibid/metrics/stats"
)

// A Policy makes one opinion of several.
type Policy string

// The policies.
const (
	// Majority keeps the characters that more than half of the annotators marked,
	// and the value that more of them gave than any other; without one there is
	// none.
	Majority Policy = "majority"
	// Union keeps what anybody marked, and the highest value.
	Union Policy = "union"
	// Intersection keeps what everybody marked, and the lowest value.
	Intersection Policy = "intersection"
	// Best takes over the annotator who agrees best with the others on the item;
	// of equals the first by name.
	Best Policy = "best"
)

// Policies are all policies.
var Policies = []Policy{Majority, Union, Intersection, Best}

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (Policy, error) {
	if slices.Contains(Policies, Policy(name)) {
		return Policy(name), nil
	}
	return "", fmt.Errorf("policy %q: not one of majority, union, intersection, best", name)
}

// Spans are the marks that stand for those of several annotators, sorted and
// disjoint. Touching marks stay apart only under [Best].
func (p Policy) Spans(marks []Mark) []stats.Unit {
	if p == Best {
		return bestMarks(marks)
	}
	need := map[Policy]int{Majority: len(marks)/2 + 1, Union: 1, Intersection: len(marks)}[p]
	type edge struct {
		at   int64
		step int
	}
	var edges []edge
	for _, m := range marks {
		for _, u := range unionOf(m.Units) {
			edges = append(edges, edge{u.Start, 1}, edge{u.End, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return b.step - a.step // what begins where another ends continues it
	})
	var out []stats.Unit
	depth, from := 0, int64(0)
	for _, e := range edges {
		before := depth
		depth += e.step
		switch {
		case before < need && depth >= need:
			from = e.at
		case before >= need && depth < need && e.at > from:
			out = append(out, stats.Unit{Start: from, End: e.at, Category: 1})
		}
	}
	return out
}

// unionOf are the characters of some units, as disjoint units.
func unionOf(units []stats.Unit) []stats.Unit {
	var end int64
	for _, u := range units {
		end = max(end, u.End)
	}
	var out []stats.Unit
	for _, u := range stats.MergeUnits(units, end) {
		if n := len(out); n > 0 && u.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, u.End)
			continue
		}
		out = append(out, u)
	}
	return out
}

// bestMarks are those of the annotator with the highest mean Jaccard.
func bestMarks(marks []Mark) []stats.Unit {
	sorted := slices.Clone(marks)
	slices.SortStableFunc(sorted, func(a, b Mark) int { return strings.Compare(a.Annotator, b.Annotator) })
	var length int64
	m := stats.Marked{}
	for _, x := range sorted {
		m.Annotators = append(m.Annotators, append([]stats.Unit{}, x.Units...))
		for _, u := range x.Units {
			length = max(length, u.End)
		}
	}
	m.Length = length
	score := make([]float64, len(sorted))
	m.Pairs(func(i, j int, p stats.PairScore) {
		v := 1.0 // both marked nothing
		if d := p.Jaccard(); d.Defined {
			v = d.Value
		}
		score[i] += v
		score[j] += v
	})
	best := 0
	for i := range score {
		if score[i] > score[best] {
			best = i
		}
	}
	return stats.MergeUnits(sorted[best].Units, length)
}

// Label is the value that stands for several ratings, which must be numbers; ok
// is false if the policy finds none.
func (p Policy) Label(ratings []Rating) (value string, ok bool) {
	if len(ratings) == 0 {
		return "", false
	}
	sorted := slices.Clone(ratings)
	slices.SortStableFunc(sorted, func(a, b Rating) int { return strings.Compare(a.Annotator, b.Annotator) })
	switch p {
	case Union:
		return slices.MaxFunc(sorted, byNumber).Value, true
	case Intersection:
		return slices.MinFunc(sorted, byNumber).Value, true
	}
	count := make(map[string]int)
	for _, r := range sorted {
		count[r.Value]++
	}
	most, tied := sorted[0].Value, false
	for _, r := range sorted[1:] {
		switch {
		case count[r.Value] > count[most]:
			most, tied = r.Value, false
		case r.Value != most && count[r.Value] == count[most]:
			tied = true
		}
	}
	// Who agrees best gave the value that most others gave, too.
	return most, p == Best || !tied
}

func byNumber(a, b Rating) int {
	switch x, y := number(a.Value), number(b.Value); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
