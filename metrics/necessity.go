package metrics

import "slices"

// Necessity fills in what the minimal sufficient sets of a claim say of its
// citations: Necessary and Without of pairs, which is parallel to citations.
// Each set holds indices in the row's citations; no sets mean that not even all
// citations together support the claim.
func Necessity(pairs []PairVerdict, citations []int32, sets [][]int32) {
	for i, c := range citations {
		needed, spare := No, Support{Value: 0, Known: true}
		for _, set := range sets {
			if slices.Contains(set, c) {
				needed = Yes
			} else {
				spare.Value = 1
			}
		}
		pairs[i].Necessary, pairs[i].Without = needed, spare
	}
}

// scoreNecessity measures which citations are needed, if the judge says so.
func (s *Scorer) scoreNecessity(r *Row, out *Scores) {
	if !s.opt.Necessity {
		out.undefined(ALCEPrecision, NoJudge)
		out.HasBounds[ALCEPrecision] = false
		out.undefined(NecessityShared, NoJudge)
		return
	}
	var supported, unsure [Yes + 1]int64 // citations of claims that are supported, and may be, by Necessary
	for i := range s.judged.claims {
		it := &s.judged.claims[i]
		if it.joint.Known && !s.supported(it) {
			continue
		}
		for k := range r.Claims[i].Citations {
			if v := s.pair(r, i, k); it.joint.Known {
				supported[v.Necessary]++
			} else {
				unsure[v.Necessary]++
			}
		}
	}
	yes, scored := supported[Yes], supported[Yes]+supported[No]
	open := supported[Unset] + unsure[Unset] + unsure[Yes] + unsure[No]
	out.count(NecessaryCitations, yes)
	out.count(NecessityCitations, scored)
	out.count(UnscoredNecessityCitations, open)
	why := lack{NoClaims, whyOpen(r, s.judged.textless), r.unjudged()}
	if len(r.Citations) == 0 {
		why.items = NoCitations
	}
	out.settle(NecessityShared, float64(yes), scored, open, why)
	if open == 0 {
		return
	}
	// At worst, of the claims that may be supported those are whose citations are
	// not needed; at best, the others.
	low, high := 1.0, 0.0
	if n := scored + supported[Unset] + unsure[Unset] + unsure[No]; n > 0 {
		low = float64(yes) / float64(n)
	}
	if n := scored + supported[Unset] + unsure[Unset] + unsure[Yes]; n > 0 {
		high = 1 - float64(supported[No])/float64(n)
	}
	out.bound(NecessityShared, low, high)
}
