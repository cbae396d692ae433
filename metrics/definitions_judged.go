package metrics

// judgedDefinitions are the metrics of claims and links, the overall score with
// its components, the dialects of papers, and presence.
var judgedDefinitions = concat(
	completenessDefinitions(),
	citationDefinitions(),
	consistencyDefinitions(),
	coverageDefinitions(),
	overallDefinitions(),
	dialectDefinitions(),
	presenceDefinitions(),
)

const (
	specification = "citation accuracy specification 1.0"
	rashkin       = "Rashkin et al., AIS, Computational Linguistics 2023"
	liu           = "Liu et al., Evaluating Verifiability in Generative Search Engines, Findings of EMNLP 2023"
)

// judgedRatio is a ratio of two counts that needs verdicts.
func judgedRatio(name, group string, dir Direction, summary, formula, undefined, source string, num, den Count) Definition {
	return Definition{
		Name: name, Group: group, Kind: Ratio, Direction: dir, Min: 0, Max: 1,
		Summary: summary, Formula: formula, UndefinedWhen: "no judge, or " + undefined, Source: source,
		Num: term(num), Den: term(den), Judged: true,
	}
}

func completenessDefinitions() []Definition {
	const group = "claims"
	return []Definition{
		judgedRatio("citation_completeness", group, HigherIsBetter, "share of claims needing a citation that have one",
			"claims needing a citation that have one, valid or not / claims needing a citation", "no claim needs a citation",
			specification, CitedClaims, ClaimsNeedingCitation),
		judgedRatio("supported_completeness", group, HigherIsBetter, "share of claims needing a citation that their citations support (attribution recall)",
			"claims needing a citation with joined support ≥ supported / claims needing a citation", "no claim needs a citation",
			liu, SupportedClaims, ClaimsNeedingCitation),
		judgedRatio("cited_claim_precision", group, HigherIsBetter, "share of cited claims that their citations support (attribution precision)",
			"claims needing a citation with joined support ≥ supported / claims needing a citation that have one", "no claim needing a citation has one",
			rashkin, SupportedClaims, CitedClaims),
	}
}

func citationDefinitions() []Definition {
	const group = "citations"
	correctness := judgedRatio("citation_correctness", group, HigherIsBetter, "share of citations that support what they are cited for",
		"citations with support ≥ supported / scored citations", "no citation", specification, CorrectCitations, ScoredCitations)
	correctness.Aliases = []string{"citation_validity_rate"}
	return []Definition{
		correctness,
		judgedRatio("citation_relevance", group, HigherIsBetter, "share of citations that are relevant",
			"citations relevant for any linked claim / scored citations", "no citation", specification, RelevantCitations, ScoredCitations),
		{
			Name: "mean_support_score", Group: group, Kind: Mean, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "mean support of citations", Formula: "mean over scored citations of the best support over linked claims",
			UndefinedWhen: "no judge, or no citation", Source: specification,
			Num: sumTerm(SumSupport), Den: term(ScoredCitations), Judged: true,
		},
	}
}

func consistencyDefinitions() []Definition {
	const group = "claims"
	return []Definition{
		judgedRatio("factual_consistency", group, HigherIsBetter, "share of factual claims that agree with their sources",
			"factual claims with joined support ≥ consistent and not contradicted / factual claims", "no factual claim",
			specification, ConsistentClaims, FactualClaims),
		{
			Name: "mean_consistency", Group: group, Kind: Mean, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "mean joined support of cited claims", Formula: "mean of joined support over claims that have a citation",
			UndefinedWhen: "no judge, or no claim has a citation", Source: specification,
			Num: sumTerm(SumConsistency), Den: term(ConsistencyClaims), Judged: true,
		},
		{
			Name: "consistency_variance", Group: group, Kind: Score, Direction: LowerIsBetter, Min: 0, Max: 0.5,
			Summary: "spread of joined support over cited claims", Formula: "sample variance (n − 1) of joined support over claims that have a citation",
			UndefinedWhen: "no judge, or fewer than two claims have a citation", Source: specification, Judged: true,
		},
		judgedRatio("hallucination_rate", group, LowerIsBetter, "share of factual claims that no evidence supports",
			"factual claims with outcome contradicted or unsupported / factual claims", "no factual claim",
			specification, HallucinatedClaims, FactualClaims),
		judgedRatio("contradiction_rate", group, LowerIsBetter, "share of factual claims that their cited evidence contradicts",
			"factual claims with outcome contradicted / factual claims", "no factual claim",
			rashkin, ContradictedClaims, FactualClaims),
	}
}

func coverageDefinitions() []Definition {
	const group = "answer"
	return []Definition{
		{
			Name: "citation_density", Group: group, Kind: Ratio, Direction: Neutral, Min: 0, Max: unbounded,
			Summary: "cited source text per answer text", Formula: "code points in the union of cited source spans / code points of the answer",
			UndefinedWhen: "citations not known, or answer empty", Source: specification,
			Num: term(CitedChars), Den: term(AnswerChars),
		},
		{
			Name: "citation_coverage", Group: group, Kind: Ratio, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "share of the answer's claims, by length, that carry a citation", Formula: "answer code points in claims that carry a citation / answer code points in claims",
			UndefinedWhen: "no claim", Source: liu, Num: term(CitedAnswerChars), Den: term(ClaimAnswerChars),
		},
		{
			Name: "abstention_correct", Group: group, Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if a citation was given exactly when one was expected", Formula: "1 if (citations not empty) = (truth not empty, or some claim needs a citation), else 0",
			UndefinedWhen: "citations not known, or truth and claims not known", Source: "2 × 2 table of citation expected and given",
		},
	}
}

func overallDefinitions() []Definition {
	const group = "overall"
	part := func(name, summary, formula, undefined string, judged bool) Definition {
		return Definition{
			Name: name, Group: group, Kind: Score, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: summary, Formula: formula, UndefinedWhen: undefined, Source: specification, Judged: judged,
		}
	}
	return []Definition{
		part("span_accuracy_score", "component: are the right places cited", "mean_snapped_jaccard", "no truth span", false),
		part("citation_quality_score", "component: do citations support their claims", "citation_correctness", "no judge, or no citation", true),
		part("answer_consistency_score", "component: does the answer agree with what it cites", "mean_consistency", "no judge, or no claim has a citation", true),
		part("hallucination_score", "component: is the answer free of unsupported claims", "1 − hallucination_rate", "no judge, or no factual claim", true),
		part("overall_citation_accuracy", "weighted mean of the components that the run has",
			"Σ w·score / Σ w; a component undefined because nothing is cited although something should be counts 0",
			"nothing is to be cited and nothing is, or data of a component is missing", true),
	}
}

func dialectDefinitions() []Definition {
	dialect := func(name string, summary, formula, undefined, source string) Definition {
		return Definition{
			Name: name, Group: "dialects", Kind: Score, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: summary, Formula: formula, UndefinedWhen: "no judge, or " + undefined, Source: source, Judged: true,
		}
	}
	const (
		alce     = "Gao et al., ALCE, EMNLP 2023"
		longcite = "Zhang et al., LongCite, 2024"
		trec     = "Thakur et al., TREC 2024 RAG Track support evaluation, arXiv 2504.15205"
		drb      = "Du et al., DeepResearch Bench, 2025"
	)
	effective := dialect("drb_effective_citations", "supported citations of the answer", "count of citations whose claim they support",
		"no citation", drb)
	effective.Max = unbounded
	necessity := judgedRatio("necessity_shared", "dialects", HigherIsBetter, "share of citations that some minimal sufficient set needs",
		"citations in at least one minimal sufficient set of their claim / citations of supported claims", "no supported claim, or judge.necessity is false",
		"leave-out sets; Gao et al., ALCE, EMNLP 2023, with redundant citations not punished", NecessaryCitations, NecessityCitations)
	return []Definition{
		dialect("alce_recall", "share of sentences that their citations jointly support", "supported sentences / sentences", "no claim", alce),
		dialect("alce_precision", "share of citations that are not irrelevant for their sentence",
			"citations that support alone, or without which the rest does not support / citations", "no citation, or judge.necessity is false", alce),
		dialect("longcite_recall", "mean graded support of statements", "mean over statements of 1, 0.5 or 0 for full, partial or no support", "no claim", longcite),
		dialect("longcite_precision", "share of citations that are relevant for their statement", "relevant citations / citations", "no citation", longcite),
		dialect("longcite_f1", "harmonic mean of LongCite recall and precision", "2PR / (P + R)", "no claim or no citation", longcite),
		dialect("trec_weighted_precision", "mean graded support per citation", "Σ weight / citations, weight 1, 0.5 or 0 for full, partial or no support", "no citation", trec),
		dialect("trec_weighted_recall", "mean graded support per sentence", "Σ weight / sentences, weight 1, 0.5 or 0 for full, partial or no support", "no claim", trec),
		dialect("drb_accuracy", "share of cited statements that their source supports", "supported pairs of statement and source / pairs", "no citation", drb),
		effective,
		necessity,
	}
}

func presenceDefinitions() []Definition {
	return []Definition{{
		Name: "citation_presence", Group: "presence", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary: "1 if the answer names a source in its text", Formula: "1 if a URL, DOI, (Author, Year) or [file:page:start-end] is found, else 0",
		UndefinedWhen: "presence was not looked for", Source: "pattern match",
	}}
}
