package metrics

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func extent(id string, start, end int64) Claim {
	return Claim{ID: id, Start: start, End: end, HasExtent: true}
}

func anchored(start, end int64) Anchor { return Anchor{Start: start, End: end, HasPosition: true} }

func TestLink(t *testing.T) {
	two := []Claim{extent("a", 5, 10), extent("b", 12, 20)}
	for _, tt := range []struct {
		name     string
		claims   []Claim
		anchor   Anchor
		want     []int32
		unlinked bool
	}{
		{name: "claim id", claims: two, anchor: Anchor{ClaimID: "b"}, want: []int32{1}},
		{name: "claim id beats position", claims: two, anchor: Anchor{ClaimID: "b", Start: 5, End: 7, HasPosition: true}, want: []int32{1}},
		{name: "unknown claim id", claims: two, anchor: Anchor{ClaimID: "c", Start: 5, End: 7, HasPosition: true}},
		{name: "claim id given twice", claims: []Claim{{ID: "x"}, {ID: "x"}}, anchor: Anchor{ClaimID: "x"}, want: []int32{0}},
		{name: "inside of one", claims: two, anchor: anchored(6, 7), want: []int32{0}},
		{name: "over both", claims: two, anchor: anchored(9, 13), want: []int32{0, 1}},
		{name: "over everything", claims: two, anchor: anchored(0, 100), want: []int32{0, 1}},
		{name: "between", claims: two, anchor: anchored(10, 12), want: []int32{0}},
		{name: "behind all", claims: two, anchor: anchored(20, 23), want: []int32{1}},
		{name: "before all", claims: two, anchor: anchored(0, 5), want: []int32{0}},
		{name: "point inside", claims: two, anchor: anchored(7, 7), want: []int32{0}},
		{name: "point at an end", claims: two, anchor: anchored(10, 10), want: []int32{0}},
		{name: "point at a start", claims: two, anchor: anchored(12, 12), want: []int32{0}},
		{name: "point behind a start", claims: two, anchor: anchored(13, 13), want: []int32{1}},
		{name: "point between touching", claims: []Claim{extent("a", 0, 5), extent("b", 5, 9)}, anchor: anchored(5, 5), want: []int32{0}},
		{name: "point at the start of the answer", claims: []Claim{extent("a", 0, 5)}, anchor: anchored(0, 0), want: []int32{0}},
		{name: "no position", claims: two, anchor: Anchor{Start: 6, End: 7}, want: []int32{0, 1}, unlinked: true},
		{name: "inverted position", claims: two, anchor: anchored(7, 6), want: []int32{0, 1}, unlinked: true},
		{name: "negative position", claims: two, anchor: anchored(-1, 6), want: []int32{0, 1}, unlinked: true},
		{name: "claims in any order", claims: []Claim{two[1], two[0]}, anchor: anchored(10, 12), want: []int32{1}},
		{name: "before is the one that ends last", claims: []Claim{extent("", 0, 9), extent("", 3, 5)}, anchor: anchored(9, 11), want: []int32{0}},
		{name: "before is the narrow one", claims: []Claim{extent("", 0, 9), extent("", 3, 9), extent("", 3, 9)}, anchor: anchored(9, 11), want: []int32{1}},
		{name: "nested", claims: []Claim{extent("", 0, 30), extent("", 3, 5), extent("", 20, 25)}, anchor: anchored(21, 22), want: []int32{0, 2}},
		{name: "claims without extent", claims: []Claim{{ID: "a"}, extent("b", 4, 4)}, anchor: anchored(3, 6)},
		{name: "no claims", anchor: anchored(3, 6)},
		{name: "no claims and no position", anchor: Anchor{}, unlinked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l Linker
			of, unlinked := l.Link(tt.claims, []Anchor{tt.anchor})
			if diff := cmp.Diff(tt.want, of[0], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("claims: -want +got:\n%s", diff)
			}
			if unlinked[0] != tt.unlinked {
				t.Errorf("unlinked %v, want %v", unlinked[0], tt.unlinked)
			}
		})
	}
}

// slowLink follows the rules one by one.
func slowLink(claims []Claim, a Anchor) (of []int32, unlinked bool) {
	if a.ClaimID != "" {
		for i := range claims {
			if claims[i].ID == a.ClaimID {
				return []int32{int32(i)}, false
			}
		}
		return nil, false
	}
	if !a.HasPosition || a.Start < 0 || a.End < a.Start {
		for i := range claims {
			of = append(of, int32(i))
		}
		return of, true
	}
	if a.Start == a.End && a.Start > 0 {
		a.Start--
	}
	before, first := -1, -1
	for i, c := range claims {
		if !c.HasExtent || c.Start >= c.End {
			continue
		}
		for p := a.Start; p < a.End; p++ {
			if c.Start <= p && p < c.End {
				of = append(of, int32(i))
				break
			}
		}
		if c.End <= a.Start && (before < 0 || c.End > claims[before].End || c.End == claims[before].End && c.Start > claims[before].Start) {
			before = i
		}
		if first < 0 || c.Start < claims[first].Start {
			first = i
		}
	}
	switch {
	case len(of) > 0 || first < 0:
	case before >= 0:
		of = append(of, int32(before))
	default:
		of = append(of, int32(first))
	}
	return of, false
}

func TestLinkAgainstSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l Linker
	for range 20_000 {
		claims := make([]Claim, rng.IntN(6))
		for i := range claims {
			start := rng.Int64N(20)
			claims[i] = Claim{ID: fmt.Sprint(rng.IntN(8)), Start: start, End: start + rng.Int64N(8), HasExtent: rng.IntN(5) > 0}
		}
		anchors := make([]Anchor, rng.IntN(6))
		for i := range anchors {
			start := rng.Int64N(28) - 1
			anchors[i] = Anchor{Start: start, End: start + rng.Int64N(8) - 1, HasPosition: rng.IntN(6) > 0}
			if rng.IntN(4) == 0 {
				anchors[i].ClaimID = fmt.Sprint(rng.IntN(8))
			}
		}
		of, unlinked := l.Link(claims, anchors)
		citations := make([][]int32, len(claims))
		for i, a := range anchors {
			want, wantUnlinked := slowLink(claims, a)
			if !cmp.Equal(want, of[i], cmpopts.EquateEmpty()) || wantUnlinked != unlinked[i] {
				t.Fatalf("claims %+v\ncitation %+v: got %v, %v, want %v, %v", claims, a, of[i], unlinked[i], want, wantUnlinked)
			}
			for _, c := range want {
				citations[c] = append(citations[c], int32(i))
			}
		}
		for i, c := range claims {
			if !cmp.Equal(citations[i], c.Citations, cmpopts.EquateEmpty()) {
				t.Fatalf("claim %d: citations %v, want %v", i, c.Citations, citations[i])
			}
		}
	}
}

// Citations of one claim must not be able to write into those of another.
func TestLinkKeepsClaimsApart(t *testing.T) {
	claims := []Claim{extent("", 0, 5), extent("", 5, 9)}
	var l Linker
	of, _ := l.Link(claims, []Anchor{anchored(0, 3), anchored(6, 7)})
	_ = append(claims[0].Citations, 77)
	_ = append(of[0], 77)
	if claims[1].Citations[0] != 1 || of[1][0] != 1 {
		t.Errorf("got %v and %v", claims[1].Citations, of[1])
	}
}

func linkFixture() ([]Claim, []Anchor) {
	var claims []Claim
	var anchors []Anchor
	for i := range int64(8) {
		claims = append(claims, extent(fmt.Sprint(i), 10*i, 10*i+9))
		anchors = append(anchors, anchored(10*i+9, 10*i+12), Anchor{ClaimID: fmt.Sprint(i)})
	}
	return claims, append(anchors, Anchor{})
}

func TestLinkDoesNotAllocate(t *testing.T) {
	claims, anchors := linkFixture()
	var l Linker
	l.Link(claims, anchors)
	if n := testing.AllocsPerRun(100, func() { l.Link(claims, anchors) }); n > 0 {
		t.Errorf("%v allocations per row", n)
	}
}

func BenchmarkLink(b *testing.B) {
	claims, anchors := linkFixture()
	var l Linker
	b.ReportAllocs()
	for b.Loop() {
		l.Link(claims, anchors)
	}
}
