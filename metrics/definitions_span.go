package metrics

import "math"

// The bounds of a number that has none.
var (
	unbounded = math.Inf(1)
	anyNumber = math.Inf(-1)
)

func term(c Count) []Term { return []Term{{c.String(), 1}} }

// terms is the sum of the given counts.
func terms(counts ...Count) []Term {
	all := make([]Term, len(counts))
	for i, c := range counts {
		all[i] = Term{c.String(), 1}
	}
	return all
}

func sumTerm(s Sum) []Term { return []Term{{sumDefinitions[s].Name, 1}} }

const (
	squad     = "Rajpurkar et al., SQuAD, EMNLP 2016, over code points instead of bags of tokens"
	jaccard   = "Jaccard 1912"
	dice      = "Dice 1945; Sørensen 1948"
	setTheory = "precision and recall of sets; van Rijsbergen 1979"
)

// overlapMetrics are precision, recall and F1 of the sets counted by t, p and
// both. what names their elements.
func overlapMetrics(prefix, what, missing, source string, t, p, both Count) []Definition {
	if missing != "" {
		missing += ", or "
	}
	return []Definition{
		{
			Name: prefix + "_precision", Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "share of the cited " + what + " that truth marks", Formula: "|T∩P| / |P|",
			UndefinedWhen: missing + "P empty", Source: source, Num: term(both), Den: term(p),
		},
		{
			Name: prefix + "_recall", Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "share of the " + what + " that truth marks which are cited", Formula: "|T∩P| / |T|",
			UndefinedWhen: missing + "T empty", Source: source, Num: term(both), Den: term(t),
		},
		{
			Name: prefix + "_f1", Group: what, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "harmonic mean of precision and recall over " + what, Formula: "2|T∩P| / (|T|+|P|)",
			UndefinedWhen: missing + "T and P empty", Source: dice,
			Num: []Term{{both.String(), 2}}, Den: terms(t, p),
		},
	}
}

// spanDefinitions are the metrics that need neither judge nor claims.
var spanDefinitions = concat(
	charDefinitions(),
	tokenDefinitions(),
	overlapMetrics("page", "pages", "no page known", setTheory, TruthPages, PredPages, OverlapPages),
	overlapMetrics("doc", "documents", "", setTheory, TruthDocs, PredDocs, OverlapDocs),
	toleranceDefinitions(),
	matchDefinitions(),
	shapeDefinitions(),
)

func concat(lists ...[]Definition) []Definition {
	var all []Definition
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func charDefinitions() []Definition {
	all := overlapMetrics("char", "characters", "", squad, TruthChars, PredChars, OverlapChars)
	all[CharF1].Aliases = []string{"char_dice"}
	return append(all,
		Definition{
			Name: "char_jaccard", Group: "characters", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "overlap of cited and true characters over their union", Formula: "|T∩P| / |T∪P|",
			UndefinedWhen: "T and P empty", Source: jaccard, Num: term(OverlapChars), Den: term(UnionChars),
		},
		Definition{
			Name: "exact_match", Group: "characters", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if exactly the true characters are cited", Formula: "1 if T = P, else 0",
			UndefinedWhen: "T and P empty", Source: squad,
		},
		Definition{
			Name: "any_overlap", Group: "characters", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if any true character is cited", Formula: "1 if T∩P is not empty, else 0",
			UndefinedWhen: "T and P empty", Source: setTheory,
		},
	)
}

func tokenDefinitions() []Definition {
	all := overlapMetrics("token", "tokens", "no text", squad, TruthTokens, PredTokens, OverlapTokens)
	return append(all, Definition{
		Name: "token_jaccard", Group: "tokens", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary: "overlap of cited and true tokens over their union", Formula: "|T∩P| / |T∪P|",
		UndefinedWhen: "no text, or T and P empty", Source: jaccard, Num: term(OverlapTokens),
		Den: append(terms(TruthTokens, PredTokens), Term{OverlapTokens.String(), -1}),
	})
}

func toleranceDefinitions() []Definition {
	perTruth := func(name, summary, formula string, num Sum) Definition {
		return Definition{
			Name: name, Group: "best matches", Kind: Mean, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: summary, Formula: formula, UndefinedWhen: "no truth span", Source: jaccard,
			Num: sumTerm(num), Den: term(TruthSpans),
		}
	}
	all := []Definition{
		{
			Name: "set_tolerance_jaccard", Group: "best matches", Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "Jaccard of truth and the predicted spans widened by the tolerance", Formula: "|T∩P⁺| / |T∪P⁺|",
			UndefinedWhen: "T and P empty", Source: jaccard, Num: term(ToleranceOverlapChars), Den: term(ToleranceUnionChars),
		},
		perTruth("mean_exact_jaccard", "mean exact Jaccard of each truth span's best match by tolerance Jaccard",
			"mean over truth spans x of |x∩y| / |x∪y|, y best by |x∩y⁺| / |x∪y⁺|", SumExactJaccard),
		perTruth("mean_tolerance_jaccard", "mean tolerance Jaccard of each truth span's best match",
			"mean over truth spans x of max over y of |x∩y⁺| / |x∪y⁺|", SumToleranceJaccard),
		perTruth("mean_best_exact_jaccard", "mean of each truth span's best exact Jaccard",
			"mean over truth spans x of max over y of |x∩y| / |x∪y|", SumBestExactJaccard),
		perTruth("mean_snapped_jaccard", "mean of each truth span's best Jaccard after small boundary errors are forgiven",
			"mean over truth spans x of max over y of |x∩y'| / |x∪y'|, y' = y with ends within min(tolerance, |x|/4) of x's moved onto them", SumSnappedJaccard),
	}
	for i := 1; i <= 2; i++ {
		all[i].Source = "citation accuracy specification 1.0, per truth span"
	}
	return all
}

func matchDefinitions() []Definition {
	all := overlapMetrics("span", "matched spans", "", setTheory, DistinctTruthSpans, DistinctPredSpans, MatchedSpans)
	how := "; m = pairs of the one-to-one matching of distinct spans with Jaccard ≥ min_overlap_threshold"
	all[0].Summary, all[0].Formula, all[0].UndefinedWhen = "share of predicted spans matched one to one", "m / |pred spans|"+how, "no predicted span"
	all[1].Summary, all[1].Formula, all[1].UndefinedWhen = "share of truth spans matched one to one", "m / |truth spans|"+how, "no truth span"
	all[2].Summary, all[2].Formula, all[2].UndefinedWhen = "harmonic mean of span precision and recall", "2m / (|truth spans| + |pred spans|)"+how, "neither truth nor predicted span"
	boundary := func(end string, num Sum) Definition {
		return Definition{
			Name: "boundary_error_" + end, Group: "matched spans", Kind: Mean, Direction: Neutral, Min: anyNumber, Max: unbounded,
			Summary: "mean signed distance of the " + end + "s of matched pairs, in code points; positive = too late",
			Formula: "mean over matched pairs of (predicted " + end + " − truth " + end + ")", UndefinedWhen: "no matched pair",
			Source: "signed error", Num: sumTerm(num), Den: term(MatchedSpans),
		}
	}
	return append(all, boundary("start", SumBoundaryStart), boundary("end", SumBoundaryEnd))
}

func shapeDefinitions() []Definition {
	return []Definition{
		{
			Name: "span_length_ratio", Group: "citing habits", Kind: Score, Direction: Neutral, Min: 0, Max: unbounded,
			Summary: "mean length of predicted spans over mean length of truth spans",
			Formula: "(Σ|y| / predicted spans) / (Σ|x| / truth spans)", UndefinedWhen: "no truth or no predicted span",
			Source: "ratio of means",
		},
		{
			Name: "over_citation", Group: "citing habits", Kind: Ratio, Direction: LowerIsBetter, Min: 0, Max: 1,
			Summary: "share of predicted spans that touch no truth", Formula: "predicted spans touching no truth / predicted spans",
			UndefinedWhen: "no predicted span", Source: "false discovery rate over spans",
			Num: term(UntouchedPredSpans), Den: term(PredSpans),
		},
		{
			Name: "distinct_sources", Group: "citing habits", Kind: Score, Direction: Neutral, Min: 0, Max: unbounded,
			Summary: "documents that the citations name", Formula: "count of distinct documents",
			UndefinedWhen: "citations not known", Source: "count",
		},
	}
}
