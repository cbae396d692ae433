package harness

import (
	"testing"

	"ibid/annotations"
	"ibid/metrics/stats"
)

// TestMarkedPartsInAnyOrder: parts are added in the order of the input, whatever order
// they are finished in, and what is not known of one part is not known of all.
func TestMarkedPartsInAnyOrder(t *testing.T) {
	newParts := func() *markedParts {
		return &markedParts{sum: &Annotated{Spans: annotations.NewSpans(annotations.Options{Worst: 1}), Labels: annotations.NewLabels(annotations.Options{}, nil)}}
	}
	part := func(id string) *markedPart {
		unit := []stats.Unit{{Start: 0, End: 4, Category: 1}}
		return &markedPart{found: found{items: []annotations.Item{{ID: id, Marks: []annotations.Mark{{Annotator: "ada", Units: unit}, {Annotator: "bob"}}}}}}
	}
	m := newParts()
	for _, n := range []int64{2, 0, 1, 3} {
		if m.add(n, part(string(rune('a'+n)))); n == 0 && m.parts.next != 1 {
			t.Errorf("after parts 2 and 0, part %d is next", m.parts.next)
		}
	}
	if m.parts.next != 4 || len(m.parts.waiting) != 0 || m.all() == nil || !m.all().Spans.Pairable() {
		t.Errorf("after all parts, part %d is next and %d wait", m.parts.next, len(m.parts.waiting))
	}
	m = newParts()
	m.partly = true
	if m.add(0, part("a")); m.all() != nil {
		t.Error("what is known of some parts is taken for all")
	}
}
