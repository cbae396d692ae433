package metrics

// A CitationVerdict is what a judge says of one citation, over all claims that
// it is linked to. The zero CitationVerdict is unscored.
type CitationVerdict struct {
	Support   Support // the best over its claims
	Relevant  Flag    // Yes if it is for any of its claims
	Necessary Flag    // Yes if it is for any of its claims, see [PairVerdict]
}

// A PairVerdict is what a judge says of one claim and one citation of it. The
// zero PairVerdict is unscored.
type PairVerdict struct {
	Support  Support // by this citation alone
	Without  Support // by the other citations of the claim taken together
	Relevant Flag

	// Necessary: the citation is in at least one minimal sufficient set, a set
	// of the claim's citations that supports the claim and of which no smaller
	// part does. See [Necessity].
	Necessary Flag
}
