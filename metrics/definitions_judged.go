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

// judged is a metric over scored items: the numbers of den that are not of
// unscored. Its coverage is 1 - unscored/scorable.
type judged struct {
	num, den           []Term
	unscored, scorable []Term
}

// less is a sum of counts with others taken off.
func less(from []Term, off ...Count) []Term {
	for _, c := range off {
		from = append(from, Term{c.String(), -1})
	}
	return from
}

func (j judged) define(name, group string, kind Kind, dir Direction, summary, formula, undefined, source string) Definition {
	return Definition{
		Name: name, Group: group, Kind: kind, Direction: dir, Min: 0, Max: 1,
		Summary: summary, Formula: formula, UndefinedWhen: "no judge or no verdict on the row, claims or citations not known, or " + undefined, Source: source,
		Num: j.num, Den: j.den, Unscored: j.unscored, Scorable: j.scorable, Judged: true,
	}
}

// The items of which a metric is a share or a mean.
var (
	needing      = judged{unscored: terms(UnscoredNeedingClaims, UndecidedClaims), scorable: terms(ClaimsNeedingCitation, UndecidedClaims)}
	factual      = judged{unscored: terms(UnscoredFactualClaims, UndecidedClaims), scorable: terms(FactualClaims, UndecidedClaims)}
	citedClaims  = judged{unscored: term(UnscoredConsistencyClaims), scorable: terms(ConsistencyClaims, UnscoredConsistencyClaims)}
	allCitations = judged{unscored: less(term(Citations), ScoredCitations), scorable: term(Citations)}
)

// of returns the items with what is counted over them.
func (j judged) of(num, den []Term) judged {
	j.num, j.den = num, den
	return j
}

func completenessDefinitions() []Definition {
	const group = "claims"
	completeness := needing.of(term(CitedClaims), term(ClaimsNeedingCitation))
	completeness.unscored = term(UndecidedClaims)
	precision := judged{
		num: term(SupportedClaims), den: less(term(CitedClaims), UnscoredNeedingClaims),
		unscored: terms(UnscoredNeedingClaims, UndecidedCitedClaims), scorable: terms(CitedClaims, UndecidedCitedClaims),
	}
	return []Definition{
		completeness.define("citation_completeness", group, Ratio, HigherIsBetter, "share of claims needing a citation that have one",
			"claims needing a citation that have one, valid or not / claims needing a citation", "no claim needs a citation",
			specification),
		needing.of(term(SupportedClaims), less(term(ClaimsNeedingCitation), UnscoredNeedingClaims)).
			define("supported_completeness", group, Ratio, HigherIsBetter, "share of claims needing a citation that their citations support (attribution recall)",
				"claims needing a citation with joined support ≥ supported / scored claims needing a citation", "no claim needs a citation, or none is scored",
				liu),
		precision.define("cited_claim_precision", group, Ratio, HigherIsBetter, "share of cited claims that their citations support (attribution precision)",
			"claims needing a citation with joined support ≥ supported / scored claims needing a citation that have one", "no claim needing a citation has one, or none is scored",
			rashkin),
	}
}

func citationDefinitions() []Definition {
	const group = "citations"
	correctness := allCitations.of(term(CorrectCitations), term(ScoredCitations)).
		define("citation_correctness", group, Ratio, HigherIsBetter, "share of citations that support what they are cited for",
			"citations with support ≥ supported / scored citations", "no citation, or none is scored", specification)
	correctness.Aliases = []string{"citation_validity_rate"}
	relevance := judged{
		num: term(RelevantCitations), den: term(RelevanceCitations),
		unscored: less(term(Citations), RelevanceCitations), scorable: term(Citations),
	}
	return []Definition{
		correctness,
		relevance.define("citation_relevance", group, Ratio, HigherIsBetter, "share of citations that are relevant",
			"citations relevant for any linked claim / citations whose relevance is scored", "no citation, or none is scored", specification),
		allCitations.of(sumTerm(SumSupport), term(ScoredCitations)).
			define("mean_support_score", group, Mean, HigherIsBetter, "mean support of citations",
				"mean over scored citations of the best support over linked claims", "no citation, or none is scored", specification),
	}
}

func consistencyDefinitions() []Definition {
	const group = "claims"
	hallucination := judged{
		num: term(HallucinatedClaims), den: less(term(FactualClaims), UnscoredClaims),
		unscored: term(UnscoredClaims), scorable: terms(FactualClaims, UndecidedClaims),
	}
	factualScored := less(term(FactualClaims), UnscoredFactualClaims)
	variance := citedClaims.define("consistency_variance", group, Score, LowerIsBetter, "spread of joined support over cited claims",
		"sample variance (n − 1) of joined support over scored claims that have a citation", "fewer than two claims that have a citation are scored", specification)
	variance.Max = 0.5
	return []Definition{
		factual.of(term(ConsistentClaims), factualScored).
			define("factual_consistency", group, Ratio, HigherIsBetter, "share of factual claims that agree with their sources",
				"factual claims with joined support ≥ consistent and not contradicted / scored factual claims", "no claim is factual, or none of these is scored",
				specification),
		citedClaims.of(sumTerm(SumConsistency), term(ConsistencyClaims)).
			define("mean_consistency", group, Mean, HigherIsBetter, "mean joined support of cited claims",
				"mean of joined support over scored claims that have a citation", "no claim has a citation, or none of these is scored", specification),
		variance,
		hallucination.define("hallucination_rate", group, Ratio, LowerIsBetter, "share of factual claims that no evidence supports",
			"factual claims with outcome contradicted or unsupported / factual claims whose outcome is scored", "no claim is factual, or none of these is scored",
			specification),
		factual.of(term(ContradictedClaims), factualScored).
			define("contradiction_rate", group, Ratio, LowerIsBetter, "share of factual claims that their cited evidence contradicts",
				"factual claims with outcome contradicted / scored factual claims", "no claim is factual, or none of these is scored",
				rashkin),
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
			UndefinedWhen: "no judge, for which claims are cut; or citations or the place of a claim in the answer not known, or no claim",
			Source:        liu, Num: term(CitedAnswerChars), Den: term(ClaimAnswerChars), Judged: true,
		},
		{
			Name: "abstention_correct", Group: group, Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
			Summary: "1 if a citation was given exactly when one was expected", Formula: "1 if (citations not empty) = (truth not empty, or some claim needs a citation), else 0; without a judge, truth alone says",
			UndefinedWhen: "citations not known, or truth does not ask for one and it is not known whether a claim does", Source: "2 × 2 table of citation expected and given",
		},
	}
}

func overallDefinitions() []Definition {
	const group = "overall"
	part := func(items judged, name, summary, formula, undefined string) Definition {
		d := items.define(name, group, Score, HigherIsBetter, summary, formula, undefined, specification)
		d.Judged = len(items.scorable) > 0
		if !d.Judged {
			d.UndefinedWhen = undefined
		}
		return d
	}
	outcomes := judged{unscored: term(UnscoredClaims), scorable: terms(FactualClaims, UndecidedClaims)}
	all := judged{
		unscored: less(terms(Citations, UnscoredConsistencyClaims, UnscoredClaims), ScoredCitations),
		scorable: terms(Citations, ConsistencyClaims, UnscoredConsistencyClaims, FactualClaims, UndecidedClaims),
	}
	overall := part(all, "overall_citation_accuracy", "weighted mean of the components that the run has: truth gives the first, a judge the others",
		"Σ w·score / Σ w over the components of the run; one that is undefined because the answer cites nothing although something should be cited counts 0",
		"")
	overall.Judged = false
	overall.UndefinedWhen = "nothing is to be cited and nothing is, data of a component is missing, or the run has neither truth nor judge"
	return []Definition{
		part(judged{}, "span_accuracy_score", "component: are the right places cited", "mean_snapped_jaccard", "no truth span"),
		part(allCitations, "citation_quality_score", "component: do citations support their claims", "citation_correctness", "no citation, or none is scored"),
		part(citedClaims, "answer_consistency_score", "component: does the answer agree with what it cites", "mean_consistency", "no claim has a citation, or none of these is scored"),
		part(outcomes, "hallucination_score", "component: is the answer free of unsupported claims", "1 − hallucination_rate", "no claim is factual, or none of these is scored"),
		overall,
	}
}
