package annotations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// proposalStudy simulates a study: two items a document, half of the documents withheld.
// Each item has a right place; a proposal lies somewhere near it. People mark the right
// place, more or less, and with the probability follow take a shown proposal over instead.
func proposalStudy(rng *rand.Rand, items int, follow float64) map[int64][]BlindItem {
	said := make(map[int64][]BlindItem)
	for document := range items / 2 {
		hard := rng.Float64() < 0.3 // items of a document are alike: nobody's proposals are near
		for k := range 2 {
			near := func(spread float64) (int64, int64) {
				start := int64(1000 + spread*rng.NormFloat64())
				return start, start + 80 + rng.Int64N(40)
			}
			it := BlindItem{ID: fmt.Sprint(document, k), Annotator: "ada", Withheld: document%2 == 0}
			start, end := near(25)
			if hard || rng.Float64() < 0.2 {
				start, end = start+500, end+500
			}
			doc := fmt.Sprint(document)
			it.Proposals = []Proposal{{Doc: doc, Start: start, End: end}}
			if it.Withheld || rng.Float64() >= follow {
				start, end = near(10)
			}
			it.Truth = []BlindPlace{{Doc: doc, Start: &start, End: &end}}
			said[int64(2*document+k)] = []BlindItem{it}
		}
	}
	return said
}

// TestFollowPower: of 400 items of which half are withheld, people whose marks are nearer
// to proposals by 0.20 are told from those who do not follow, in at least 80 of 100
// studies; those who do not are taken for such in at most 5.
func TestFollowPower(t *testing.T) {
	studies := 400
	if testing.Short() {
		studies = 100
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, tt := range []struct {
		follow   float64
		gap      float64
		low, top float64 // share of studies that say that people follow
	}{{0, 0, 0, 0.05}, {0.31, 0.2, 0.8, 1}} {
		found, gap, covered := 0.0, 0.0, 0.0
		for range studies {
			f, ok := Follow(proposalStudy(rng, 400, tt.follow), 0.95)
			if !ok || !f.Gap.HasInterval || f.Shown.N != 200 || f.Withheld.N != 200 || f.Shown.Clusters != 100 {
				t.Fatalf("%+v, %v", f, ok)
			}
			if f.Follows() {
				found++
			}
			if f.Gap.Low <= tt.gap && tt.gap <= f.Gap.High {
				covered++
			}
			gap += f.Gap.Value / float64(studies)
		}
		share := found / float64(studies)
		t.Logf("gap %.3f: found in %.3f of %d studies, interval covers %.3f", gap, share, studies, covered/float64(studies))
		if math.Abs(gap-tt.gap) > 0.01 || share < tt.low || share > tt.top {
			t.Errorf("with a gap of %.3f people are found to follow in %.3f of the studies", gap, share)
		}
	}
}

// TestFollow: marks and proposals are compared over all documents, without what nobody
// marked or proposed, and with an empty list of marks.
func TestFollow(t *testing.T) {
	at := func(n int64) *int64 { return &n }
	said := map[int64][]BlindItem{
		1: {{Truth: []BlindPlace{{Doc: "d", Start: at(0), End: at(10)}, {Doc: "e", Start: at(0), End: at(10)}}, Proposals: []Proposal{{Doc: "d", Start: 5, End: 15}, {Doc: "d", Start: 8, End: 15}}}},
		2: {{Truth: []BlindPlace{}, Proposals: []Proposal{{Doc: "f", Start: 0, End: 4}}, Withheld: true}},
		3: {{Truth: nil, Proposals: []Proposal{{Doc: "f", Start: 0, End: 4}}}},
		4: {{Truth: []BlindPlace{{Doc: "d", Start: at(0), End: at(1)}}}},
	}
	f, ok := Follow(said, 0.95)
	if !ok || f.Shown.N != 1 || f.Shown.Value != 5.0/25 || f.Withheld.N != 1 || f.Withheld.Value != 0 || f.Gap.HasInterval {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := Follow(map[int64][]BlindItem{4: said[4]}, 0.95); ok {
		t.Error("nothing was proposed, and people follow it or not")
	}
	a := new(Agreement)
	a.AddFollowing(&f)
	if len(a.Statistics) != 3 || a.Warnings[0] != "whether they follow proposals is not known: too few items" {
		t.Errorf("%+v", a)
	}
}
