package duckdb

import "strings"

// The columns that each file begins with, in order, each as name and DuckDB type.
// Groups stand for columns of one type.
var (
	rowsColumns = columnList(
		"VARCHAR", "id system",
		"BIGINT", "row",
		"VARCHAR", "status error fails_because truth_annotator provider model",
		"MAP(VARCHAR, VARCHAR)", "tags",
		"VARCHAR", "span_null judge_null",
		"MAP(VARCHAR, VARCHAR)", "undefined",
		"BIGINT", contractCounts+partCounts,
		"DOUBLE", storedMetrics,
		"MAP(VARCHAR, BIGINT)", "open",
		"MAP(VARCHAR, DOUBLE)", "bounds dialects",
	)

	citationsColumns = columnList(
		"VARCHAR", "id system",
		"BIGINT", "row",
		"INTEGER", "citation",
		"VARCHAR", "citation_id doc",
		"INTEGER", "page",
		"BIGINT", "start end",
		"VARCHAR", "unit",
		"BIGINT", "answer_start answer_end cited_length claim_length",
		"VARCHAR", "status",
		"BIGINT", "repaired_start repaired_end",
		"INTEGER", "best_truth",
		"DOUBLE", "exact_jaccard tolerance_jaccard snapped_jaccard",
		"INTEGER[]", "claims",
		"DOUBLE", "support",
		"VARCHAR", "label",
		"BOOLEAN", "relevant necessary",
		"VARCHAR", "precheck reason quote",
		"BIGINT", "quote_start quote_end",
		"VARCHAR", "cited_text source_type answer_role",
		"BIGINT", "scope_start scope_end",
		"DOUBLE", "concision",
		"VARCHAR", "source_ref",
	)

	verdictsColumns = columnList(
		"VARCHAR", "id system",
		"BIGINT", "row",
		"INTEGER", "claim",
		"VARCHAR", "claim_id claim_text evidence doc",
		"INTEGER", "page",
		"BIGINT", "start end",
		"DOUBLE", "support",
		"VARCHAR", "label",
		"BOOLEAN", "contradicted relevant factual needs_citation",
		"VARCHAR[]", "sufficient",
		"DOUBLE", "overlap",
		"VARCHAR", "quote aligned",
		"BIGINT", "quote_start quote_end",
		"VARCHAR", "why",
		"VARCHAR", "tampering judge model annotator template",
		"INTEGER", "vote votes",
		"INTEGER", "absent surplus",
		"VARCHAR", "source settled unscored",
		"VARCHAR[]", "suspected",
	)

	claimsColumns = columnList(
		"VARCHAR", "id system",
		"BIGINT", "row",
		"INTEGER", "claim",
		"VARCHAR", "claim_id",
		"BIGINT", "start end",
		"VARCHAR", "text",
		"BOOLEAN", "factual needs_citation",
		"INTEGER[]", "citations",
		"DOUBLE", "support",
		"VARCHAR", "label",
		"BOOLEAN", "contradicted",
		"VARCHAR", "outcome elsewhere_doc",
		"INTEGER", "elsewhere_page",
		"BIGINT", "elsewhere_start elsewhere_end",
		"DOUBLE", "elsewhere_support",
		"VARCHAR", "reason",
		"INTEGER", "votes",
	)

	summaryColumns = columnList(
		"VARCHAR", "system slice metric agg",
		"BIGINT", "n",
		"DOUBLE", "num den",
		"BIGINT", "undefined unscored",
		"DOUBLE", "coverage estimate ci_low ci_high level",
		"VARCHAR", "method",
		"BIGINT", "clusters",
		"DOUBLE", "bound_low bound_high corrected corrected_low corrected_high",
		"VARCHAR", "corrected_method",
		"VARCHAR[]", "warnings",
		"DOUBLE", "defined_share se df design_effect",
		"INTEGER", "given",
		"VARCHAR", "reason",
		"MAP(VARCHAR, BIGINT)", "reasons",
		"BIGINT", "undecided",
	)
)

// contractCounts are the counts that summary.parquet has, too.
const contractCounts = `
	truth_chars pred_chars overlap_chars truth_tokens pred_tokens overlap_tokens
	truth_spans pred_spans matched_spans perfect_matches good_matches
	citations valid_citations correct_citations relevant_citations scored_citations
	claims factual_claims needing_claims cited_claims supported_claims consistent_claims
	contradicted_claims hallucinated_claims`

// partCounts are the counts that only rows.parquet has, apart from those of [answerCounts].
const partCounts = `
	truth_pages pred_pages overlap_pages truth_docs pred_docs overlap_docs
	distinct_truth_spans distinct_pred_spans untouched_pred_spans cited_chars answer_chars
	consistency_claims relevance_citations
	missing_citations offsets_checked offsets_held
	abstained unread_marks
	checked_citations quotations faithful_quotations misattributed_quotations fabricated_quotations`

// answerCounts are in both.
const answerCounts = `
	missing_citations abstained unread_marks
	checked_citations quotations faithful_quotations misattributed_quotations fabricated_quotations`

// storedMetrics are the metrics that are columns of rows.parquet, in the order in which they
// are defined.
const storedMetrics = `
	mean_exact_jaccard mean_tolerance_jaccard mean_snapped_jaccard
	boundary_error_start boundary_error_end
	citation_correctness mean_support_score mean_consistency consistency_variance
	hallucination_rate citation_coverage abstention_correct
	span_accuracy_score citation_quality_score answer_consistency_score
	overall_citation_accuracy
	citation_presence`

// dialectMetrics are those in the map dialects.
const dialectMetrics = `
	alce_recall alce_precision longcite_recall longcite_precision longcite_f1
	trec_weighted_precision trec_weighted_recall drb_accuracy drb_effective_citations
	necessity_shared`

// derivedMetrics are those that follow from columns, see [duck.whole].
const derivedMetrics = `
	char_precision char_recall char_f1 char_jaccard exact_match any_overlap
	token_precision token_recall token_f1 token_jaccard
	page_precision page_recall page_f1 doc_precision doc_recall doc_f1
	span_precision span_recall span_f1 over_citation
	citation_completeness supported_completeness cited_claim_precision citation_relevance
	factual_consistency contradiction_rate citation_density wrong_abstention hallucination_score
	offset_accuracy fabricated_citation_rate quote_fidelity misattributed_quote_rate quote_fabrication_rate`

const contractMetrics = storedMetrics + derivedMetrics + dialectMetrics

// onlyMacro are the metrics that have no micro value, next to the counts.
var onlyMacro = []string{"consistency_variance", "citation_coverage", "necessity_shared", "overall_citation_accuracy"}

// reasons are the words that say why a metric is undefined.
var reasons = []string{
	"no_truth", "no_citations", "no_claims", "no_documents", "no_judge", "nothing_to_cite", "judge_failed", "row_error", "not_fetched", "not_asked", "truth_not_found", "no_quotations",
}

// statuses are what can become of a citation.
var statuses = []string{
	"ok", "unchecked", "document_not_found", "page_not_found", "span_out_of_bounds", "span_too_long",
	"quote_mismatch", "quote_repaired", "quote_located", "quote_ambiguous", "quote_not_found", "no_claim", "span_empty", "span_inverted", "span_negative",
}

// valid are the statuses of citations that judges are asked about, and of those that
// back nothing.
var valid = []string{"ok", "unchecked", "quote_repaired", "quote_located", "quote_ambiguous", "no_claim"}

// sqlList makes an SQL list of words.
func sqlList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}

// columnList turns pairs of a type and names into one "name type" per column.
func columnList(pairs ...string) (columns []string) {
	for i := 0; i < len(pairs); i += 2 {
		for _, name := range strings.Fields(pairs[i+1]) {
			columns = append(columns, name+" "+pairs[i])
		}
	}
	return columns
}
