package metrics

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ibid"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func extent(id string, start, end int64) ibid.Claim {
	return ibid.Claim{ClaimID: id, Extent: ibid.Between(start, end)}
}

func anchored(start, end int64) ibid.Citation {
	return ibid.Citation{Extent: ibid.Between(start, end)}
}

// scopesOf gives each citation its extent as its scope.
func scopesOf(citations []ibid.Citation) [][]ibid.Interval {
	all := make([][]ibid.Interval, len(citations))
	for i := range citations {
		if at := citations[i].Extent; at.Known() && 0 <= at.Start.Value && at.Start.Value <= at.End.Value {
			all[i] = []ibid.Interval{at}
		}
	}
	return all
}

func TestLink(t *testing.T) {
	two := []ibid.Claim{extent("a", 5, 10), extent("b", 12, 20)}
	for _, tt := range []struct {
		name   string
		claims []ibid.Claim
		anchor ibid.Citation
		want   []int32
	}{
		{name: "claim id", claims: two, anchor: ibid.Citation{ClaimID: "b"}, want: []int32{1}},
		{name: "claim id beats position", claims: two, anchor: ibid.Citation{ClaimID: "b", Extent: ibid.Between(5, 7)}, want: []int32{1}},
		{name: "unknown claim id", claims: two, anchor: ibid.Citation{ClaimID: "c", Extent: ibid.Between(5, 7)}},
		{name: "claim id given twice", claims: []ibid.Claim{{ClaimID: "x"}, {ClaimID: "x"}}, anchor: ibid.Citation{ClaimID: "x"}, want: []int32{0}},
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
		{name: "point between touching", claims: []ibid.Claim{extent("a", 0, 5), extent("b", 5, 9)}, anchor: anchored(5, 5), want: []int32{0}},
		{name: "point at the start of the answer", claims: []ibid.Claim{extent("a", 0, 5)}, anchor: anchored(0, 0), want: []int32{0}},
		{name: "no position", claims: two, anchor: ibid.Citation{AnswerStart: ibid.Some[int64](6), AnswerEnd: ibid.Some[int64](7)}, want: []int32{0, 1}},
		{name: "inverted position", claims: two, anchor: anchored(7, 6), want: []int32{0, 1}},
		{name: "negative position", claims: two, anchor: anchored(-1, 6), want: []int32{0, 1}},
		{name: "claims in any order", claims: []ibid.Claim{two[1], two[0]}, anchor: anchored(10, 12), want: []int32{1}},
		{name: "before is the one that ends last", claims: []ibid.Claim{extent("", 0, 9), extent("", 3, 5)}, anchor: anchored(9, 11), want: []int32{0}},
		{name: "before is the narrow one", claims: []ibid.Claim{extent("", 0, 9), extent("", 3, 9), extent("", 3, 9)}, anchor: anchored(9, 11), want: []int32{1}},
		{name: "nested", claims: []ibid.Claim{extent("", 0, 30), extent("", 3, 5), extent("", 20, 25)}, anchor: anchored(21, 22), want: []int32{0, 2}},
		{name: "claims without extent", claims: []ibid.Claim{{ClaimID: "a"}, extent("b", 4, 4)}, anchor: anchored(3, 6)},
		{name: "no claims", anchor: anchored(3, 6)},
		{name: "no claims and no position", anchor: ibid.Citation{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l Linker
			citations := []ibid.Citation{tt.anchor}
			of := l.Link(tt.claims, citations, scopesOf(citations), true)
			if diff := cmp.Diff(tt.want, of[0], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("claims: -want +got:\n%s", diff)
			}
		})
	}
}

// slowLink follows the rules one by one.
func slowLink(claims []ibid.Claim, cite ibid.Citation) (of []int32) {
	if cite.ClaimID != "" {
		for i := range claims {
			if claims[i].ClaimID == cite.ClaimID {
				return []int32{int32(i)}
			}
		}
		return nil
	}
	from, to := cite.Extent.Start.Value, cite.Extent.End.Value
	if !cite.Extent.Known() || from < 0 || to < from {
		for i := range claims {
			of = append(of, int32(i))
		}
		return of
	}
	if from == to && from > 0 {
		from--
	}
	before, first := -1, -1
	for i, c := range claims {
		start, end := c.Extent.Start.Value, c.Extent.End.Value
		if !c.Extent.Known() || start >= end {
			continue
		}
		for p := from; p < to; p++ {
			if start <= p && p < end {
				of = append(of, int32(i))
				break
			}
		}
		if end <= from && (before < 0 || end > endOf(&claims[before]) || end == endOf(&claims[before]) && start > startOf(&claims[before])) {
			before = i
		}
		if first < 0 || start < startOf(&claims[first]) {
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
	return of
}

func TestLinkAgainstSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l Linker
	for range 20_000 {
		claims := make([]ibid.Claim, rng.IntN(6))
		for i := range claims {
			start := rng.Int64N(20)
			claims[i] = ibid.Claim{ClaimID: fmt.Sprint(rng.IntN(8))}
			if end := start + rng.Int64N(8); rng.IntN(5) > 0 {
				claims[i].Extent = ibid.Between(start, end)
			}
		}
		anchors := make([]ibid.Citation, rng.IntN(6))
		for i := range anchors {
			start := rng.Int64N(28) - 1
			if end := start + rng.Int64N(8) - 1; rng.IntN(6) > 0 {
				anchors[i].Extent = ibid.Between(start, end)
			}
			if rng.IntN(4) == 0 {
				anchors[i].ClaimID = fmt.Sprint(rng.IntN(8))
			}
		}
		of := l.Link(claims, anchors, scopesOf(anchors), true)
		citations := make([][]int32, len(claims))
		for i, a := range anchors {
			want := slowLink(claims, a)
			if !cmp.Equal(want, of[i], cmpopts.EquateEmpty()) {
				t.Fatalf("claims %+v\ncitation %+v: got %v, want %v", claims, a, of[i], want)
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
	claims := []ibid.Claim{extent("", 0, 5), extent("", 5, 9)}
	var l Linker
	citations := []ibid.Citation{anchored(0, 3), anchored(6, 7)}
	of := l.Link(claims, citations, scopesOf(citations), true)
	_ = append(claims[0].Citations, 77)
	_ = append(of[0], 77)
	if claims[1].Citations[0] != 1 || of[1][0] != 1 {
		t.Errorf("got %v and %v", claims[1].Citations, of[1])
	}
}

func linkFixture() ([]ibid.Claim, []ibid.Citation) {
	var claims []ibid.Claim
	var anchors []ibid.Citation
	for i := range int64(8) {
		claims = append(claims, extent(fmt.Sprint(i), 10*i, 10*i+9))
		anchors = append(anchors, anchored(10*i+9, 10*i+12), ibid.Citation{ClaimID: fmt.Sprint(i)})
	}
	return claims, append(anchors, ibid.Citation{})
}

func TestLinkDoesNotAllocate(t *testing.T) {
	claims, anchors := linkFixture()
	var l Linker
	scopes := scopesOf(anchors)
	l.Link(claims, anchors, scopes, true)
	if n := testing.AllocsPerRun(100, func() { l.Link(claims, anchors, scopes, true) }); n > 0 {
		t.Errorf("%v allocations per row", n)
	}
}

func BenchmarkLink(b *testing.B) {
	claims, anchors := linkFixture()
	var l Linker
	b.ReportAllocs()
	scopes := scopesOf(anchors)
	for b.Loop() {
		l.Link(claims, anchors, scopes, true)
	}
}
