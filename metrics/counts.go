package metrics

import (
	"math"
)

// A Count is the index of a count column in [Scores.Counts] and
// [Scores.Known]. The constants are in column order.
type Count int

// The counts of a row. Those from TruthPages on exist so that micro values can
// be pooled from the rows alone.
const (
	TruthChars Count = iota
	PredChars
	OverlapChars
	TruthTokens
	PredTokens
	OverlapTokens
	TruthSpans
	PredSpans
	MatchedSpans
	PerfectMatches
	GoodMatches
	Citations
	ValidCitations
	CorrectCitations
	RelevantCitations
	ScoredCitations
	Claims
	FactualClaims
	NeedingClaims
	CitedClaims
	SupportedClaims
	ConsistentClaims
	ContradictedClaims
	HallucinatedClaims

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
	ConsistencyClaims
	RelevanceCitations
	MissingCitations
	OffsetsChecked
	OffsetsHeld
	Abstained
	UnreadMarks
	CheckedCitations
	AllQuotations
	FaithfulQuotations
	MisattributedQuotations
	FabricatedQuotations

	NumCounts
)

// String returns the column name, such as "truth_chars".
func (c Count) String() string { return countDefinitions[c].Name }

// count makes the definition of a count column.
func count(name string, dir Direction, summary, unknownWhen string, aliases ...string) Definition {
	return Definition{
		Name: name, Aliases: aliases, Group: "counts", Kind: Quantity, Direction: dir, Min: 0, Max: math.Inf(1),
		Summary: summary, Formula: "count", UndefinedWhen: unknownWhen,
	}
}

const (
	noTruth     = "truth not known"
	noCitations = "citations not known"
	noEither    = "truth or citations not known"
	noTexts     = "no text of a source, or truth or citations not known"
	noQuotes    = "no text of a source is known"
	noPages     = "no page known, or truth or citations not known"
	noClaims    = "claims not known"
	noLinks     = "no judge, or claims or citations not known"
	noNeeds     = "no judge, no verdict on the row, or claims or citations not known"
	noSupport   = "no judge, or citations not known"
)

var countDefinitions = [NumCounts]Definition{
	TruthChars:         count("truth_chars", Neutral, "code points of truth, |T|", noTruth),
	PredChars:          count("pred_chars", Neutral, "code points of predicted spans, |P|", noCitations),
	OverlapChars:       count("overlap_chars", HigherIsBetter, "code points in both, |T∩P|", noEither),
	TruthTokens:        count("truth_tokens", Neutral, "tokens touched by truth", noTexts),
	PredTokens:         count("pred_tokens", Neutral, "tokens touched by predicted spans", noTexts),
	OverlapTokens:      count("overlap_tokens", HigherIsBetter, "tokens touched by both", noTexts),
	TruthSpans:         count("truth_spans", Neutral, "truth spans in T, duplicates counted", noTruth),
	PredSpans:          count("pred_spans", Neutral, "predicted spans in P, duplicates counted", noCitations),
	MatchedSpans:       count("matched_spans", HigherIsBetter, "pairs of the one-to-one matching", noEither),
	PerfectMatches:     count("perfect_matches", HigherIsBetter, "truth spans whose best match by tolerance Jaccard is exact", noEither),
	GoodMatches:        count("good_matches", HigherIsBetter, "truth spans whose best match has tolerance Jaccard ≥ 0.8", noEither),
	Citations:          count("citations", Neutral, "citations of the answer", noCitations),
	ValidCitations:     count("valid_citations", HigherIsBetter, "citations with status ok, unchecked, quote_repaired, quote_located, quote_ambiguous or no_claim", noCitations),
	CorrectCitations:   count("correct_citations", HigherIsBetter, "citations with support ≥ supported", noSupport),
	RelevantCitations:  count("relevant_citations", HigherIsBetter, "citations relevant for a linked claim", noSupport),
	ScoredCitations:    count("scored_citations", Neutral, "citations with a scored support; not valid ones have 0", noSupport),
	Claims:             count("claims", Neutral, "claims of the answer", noClaims),
	FactualClaims:      count("factual_claims", Neutral, "claims that state a fact", noNeeds),
	NeedingClaims:      count("needing_claims", Neutral, "claims that need a citation", noNeeds, "claims_needing_citation"),
	CitedClaims:        count("cited_claims", HigherIsBetter, "claims needing a citation that have one, valid or not", noNeeds),
	SupportedClaims:    count("supported_claims", HigherIsBetter, "claims needing a citation with joined support ≥ supported", noNeeds),
	ConsistentClaims:   count("consistent_claims", HigherIsBetter, "factual claims with joined support ≥ consistent, not contradicted", noNeeds),
	ContradictedClaims: count("contradicted_claims", LowerIsBetter, "factual claims with outcome contradicted", noNeeds),
	HallucinatedClaims: count("hallucinated_claims", LowerIsBetter, "factual claims with outcome contradicted or unsupported", noNeeds),

	TruthPages:         count("truth_pages", Neutral, "distinct pages touched by truth", noPages),
	PredPages:          count("pred_pages", Neutral, "distinct pages touched by citations", noPages),
	OverlapPages:       count("overlap_pages", HigherIsBetter, "distinct pages touched by both", noPages),
	TruthDocs:          count("truth_docs", Neutral, "distinct documents of truth", noTruth),
	PredDocs:           count("pred_docs", Neutral, "distinct documents of citations with a usable place", noCitations),
	OverlapDocs:        count("overlap_docs", HigherIsBetter, "distinct documents of both", noEither),
	DistinctTruthSpans: count("distinct_truth_spans", Neutral, "truth spans, identical ones counted once", noTruth),
	DistinctPredSpans:  count("distinct_pred_spans", Neutral, "predicted spans, identical ones counted once", noCitations),
	UntouchedPredSpans: count("untouched_pred_spans", LowerIsBetter, "predicted spans that touch no truth", noEither),
	CitedChars:         count("cited_chars", Neutral, "code points in the union of cited source spans", "citations, or the length of a cited text, not known"),
	AnswerChars:        count("answer_chars", Neutral, "code points of the answer; 0 if it is white space", ""),
	ConsistencyClaims:  count("consistency_claims", Neutral, "claims with a citation and a scored joined support", noLinks),

	RelevanceCitations:      count("relevance_citations", Neutral, "citations of which it is known whether they are relevant; not valid ones are not", noSupport),
	MissingCitations:        count("missing_citations", LowerIsBetter, "citations of documents that are not among those given (document_not_found), identical ones once", noCitations),
	OffsetsChecked:          count("offsets_checked", Neutral, "citations with a quote and offsets, of which it is known whether the offsets hold the quote", "no text is known to compare a quote with"),
	OffsetsHeld:             count("offsets_held", HigherIsBetter, "of these, those whose offsets hold it", "no text is known to compare a quote with"),
	Abstained:               count("abstained", Neutral, "1 if the answer abstains: it says that it cannot answer, and claims and cites nothing; else 0", "citations or claims not known; without a judge claims are known where truth is and the answer cites nothing"),
	CheckedCitations:        count("checked_citations", Neutral, "citations of which it is known whether their document exists, identical ones once", "citations not known, or of none it is known"),
	AllQuotations:           count("quotations", Neutral, "quotations of the answer that count", noQuotes),
	FaithfulQuotations:      count("faithful_quotations", HigherIsBetter, "of these, those that a cited document has", noQuotes),
	MisattributedQuotations: count("misattributed_quotations", LowerIsBetter, "of these, those that only a document has that is not cited", noQuotes),
	FabricatedQuotations:    count("fabricated_quotations", LowerIsBetter, "of these, those that stand nowhere or are made of pieces of several places", noQuotes),
	UnreadMarks:             count("unread_marks", LowerIsBetter, "marks of the answer that were not understood", "not known: no marks were read, the citations came as a list"),
}

// term is one count, as the numerator or denominator of a micro value.
func term(c Count) []Term { return terms(c) }

// terms is the sum of the given counts.
func terms(counts ...Count) []Term {
	all := make([]Term, len(counts))
	for i, c := range counts {
		all[i] = Term{Column: c.String(), Factor: 1}
	}
	return all
}

// less is a sum of counts with others taken off.
func less(from []Term, off ...Count) []Term {
	for _, c := range off {
		from = append(from, Term{Column: c.String(), Factor: -1})
	}
	return from
}

// sumOf is the sum that a metric is the mean of, over as many items as a count says.
func sumOf(mean string, items Count) []Term {
	return []Term{{Column: mean, Factor: 1, Times: items.String()}}
}
