package metrics

func dialectDefinitions() []Definition {
	const (
		group    = "dialects"
		alce     = "Gao et al., ALCE, EMNLP 2023"
		longcite = "Zhang et al., LongCite, 2024"
		trec     = "Thakur et al., TREC 2024 RAG Track support evaluation, arXiv 2504.15205"
		drb      = "Du et al., DeepResearch Bench, 2025"

		noClaim    = "no claim, or none is scored"
		noCitation = "no citation, or none is scored"
	)
	statements := judged{unscored: term(UnscoredConsistencyClaims), scorable: term(Claims)}
	relevance := judged{unscored: less(term(Citations), RelevanceCitations), scorable: term(Citations)}
	dialect := func(items judged, name, summary, formula, undefined, source string) Definition {
		return items.define(name, group, Score, HigherIsBetter, summary, formula, undefined, source)
	}
	effective := dialect(allCitations, "drb_effective_citations", "supported pairs of statement and source; 0 if nothing is cited",
		"count of pairs of a statement and a document it cites that supports it", "there are such pairs and none is scored", drb)
	effective.Max = unbounded
	necessity := judged{
		num: term(NecessaryCitations), den: term(NecessityCitations),
		unscored: term(UnscoredNecessityCitations), scorable: terms(NecessityCitations, UnscoredNecessityCitations),
	}
	return []Definition{
		dialect(statements, "alce_recall", "share of statements that their citations jointly support",
			"statements with joined support ≥ supported / statements; one that cites a document that does not exist is not supported", noClaim, alce),
		dialect(statements, "alce_precision", "share of citations that are not irrelevant for their statement",
			"citations of supported statements that support alone, or without which the others do not / citations", noCitation+", or judge.necessity is false", alce),
		dialect(statements, "longcite_recall", "mean joined support of statements",
			"mean over the first 40 statements of joined support; without a citation 1 if none is needed, else 0", noClaim, longcite),
		dialect(relevance, "longcite_precision", "share of citations that are relevant for their statement",
			"relevant citations / citations, over the first 40 statements", noCitation, longcite),
		dialect(relevance, "longcite_f1", "harmonic mean of LongCite recall and precision", "2PR / (P + R)", "either is undefined", longcite),
		dialect(allCitations, "trec_weighted_precision", "mean support per citation", "Σ support / citations, each for its statement", noCitation, trec),
		dialect(allCitations, "trec_weighted_recall", "mean support per statement by its first citation",
			"Σ support by the first citation / statements", noClaim, trec),
		dialect(allCitations, "drb_accuracy", "share of pairs of statement and source in which the source supports the statement",
			"supported pairs of a statement and a document it cites / such pairs, best citation per pair", noCitation, drb),
		effective,
		necessity.define("necessity_shared", group, Ratio, HigherIsBetter, "share of citations of supported claims that some minimal sufficient set needs",
			"citations in at least one minimal sufficient set of their claim / citations of claims with joined support ≥ supported", "no supported claim, or judge.necessity is false",
			"leave-out sets; Gao et al., ALCE, EMNLP 2023, with redundant citations not punished"),
	}
}

func presenceDefinitions() []Definition {
	return []Definition{{
		Name: "citation_presence", Group: "presence", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "1 if the answer names a source in its text",
		Formula:       "1 if an assistant message, or else the answer, holds a URL, DOI, (Author, Year) or [file:page:start-end] where presence.mode looks, else 0; empty text gives 0",
		UndefinedWhen: "a check of URLs or of meaning, where one is asked for, could not be made", Source: "pattern match",
	}}
}
