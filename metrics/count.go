package metrics

// A Count is the index of a count column in [Scores.Counts] and
// [Scores.Known]. The constants are in column order.
type Count int

// The counts of a row. Those from TruthPages on exist so that micro values can
// be pooled from the rows alone.
const (
	TruthChars Count = iota
	PredChars
	OverlapChars
	UnionChars
	TolerancePredChars
	ToleranceOverlapChars
	ToleranceUnionChars
	TruthTokens
	PredTokens
	OverlapTokens
	TruthSpans
	PredSpans
	MatchedSpans
	PerfectMatches
	GoodMatches
	ExactHits
	BoundaryHits
	Citations
	ValidCitations
	CorrectCitations
	RelevantCitations
	ScoredCitations
	UnlinkedCitations
	Claims
	FactualClaims
	ClaimsNeedingCitation
	CitedClaims
	SupportedClaims
	ConsistentClaims
	ConsistentCitations
	ContradictedClaims
	HallucinatedClaims
	UnscoredClaims

	TruthPages
	PredPages
	OverlapPages
	TruthDocs
	PredDocs
	OverlapDocs
	DistinctTruthSpans
	DistinctPredSpans
	UntouchedPredSpans
	CitedChars
	AnswerChars
	CitedAnswerChars
	ClaimAnswerChars
	ConsistencyClaims
	NecessaryCitations
	NecessityCitations
	UndecidedClaims
	UndecidedCitedClaims
	UnscoredNeedingClaims
	UnscoredFactualClaims
	UnscoredConsistencyClaims
	RelevanceCitations
	UnscoredNecessityCitations

	NumCounts
)

// String returns the column name, such as "truth_chars".
func (c Count) String() string { return countDefinitions[c].Name }

// A Sum is the index of a pooled sum in [Scores.Sums] and [Scores.SumKnown]:
// a double column that exists so that micro values can be pooled from the rows
// alone. The constants are in column order; the numerators and denominators of
// custom ratio metrics follow.
type Sum int

// The built-in sums of a row.
const (
	SumExactJaccard Sum = iota
	SumToleranceJaccard
	SumBestExactJaccard
	SumSnappedJaccard
	SumBoundaryStart
	SumBoundaryEnd
	SumSupport
	SumConsistency

	numBuiltinSums
)
