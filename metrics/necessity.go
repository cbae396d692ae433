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
