package verify

import (
	"fmt"
	"math"
	"strings"
)

// A metric is one number as the definitions say it: how it is made of a row, and how it is
// pooled over rows. It is written down here a second time, from the documents, so that a
// slip in the registry is a difference.
type metric struct {
	name     string
	kind     string // ratio, mean, binary, score, count
	min, max float64
	judged   bool // needs a judge
	bounded  bool // can be unscored, so that rows have its bounds

	num, den           []term // of the micro value
	unscored, scorable []term // of the coverage
}

// A term is a multiple of a column.
type term struct {
	column string
	factor float64
}

// metricTable has a metric a line: name, kind and bounds, then numerator, denominator,
// unscored and scorable items.
const metricTable = `char_precision ratio 0 1|overlap_chars|pred_chars
char_recall ratio 0 1|overlap_chars|truth_chars
char_f1 ratio 0 1|2*overlap_chars|truth_chars pred_chars
char_jaccard ratio 0 1|overlap_chars|union_chars
exact_match binary 0 1
any_overlap binary 0 1
token_precision ratio 0 1|overlap_tokens|pred_tokens
token_recall ratio 0 1|overlap_tokens|truth_tokens
token_f1 ratio 0 1|2*overlap_tokens|truth_tokens pred_tokens
token_jaccard ratio 0 1|overlap_tokens|truth_tokens pred_tokens -overlap_tokens
page_precision ratio 0 1|overlap_pages|pred_pages
page_recall ratio 0 1|overlap_pages|truth_pages
page_f1 ratio 0 1|2*overlap_pages|truth_pages pred_pages
doc_precision ratio 0 1|overlap_docs|pred_docs
doc_recall ratio 0 1|overlap_docs|truth_docs
doc_f1 ratio 0 1|2*overlap_docs|truth_docs pred_docs
set_tolerance_jaccard ratio 0 1|tolerance_overlap_chars|tolerance_union_chars
mean_exact_jaccard mean 0 1|sum_exact_jaccard|truth_spans
mean_tolerance_jaccard mean 0 1|sum_tolerance_jaccard|truth_spans
mean_best_exact_jaccard mean 0 1|sum_best_exact_jaccard|truth_spans
mean_snapped_jaccard mean 0 1|sum_snapped_jaccard|truth_spans
span_precision ratio 0 1|matched_spans|distinct_pred_spans
span_recall ratio 0 1|matched_spans|distinct_truth_spans
span_f1 ratio 0 1|2*matched_spans|distinct_truth_spans distinct_pred_spans
boundary_error_start mean -inf inf|sum_boundary_start|matched_spans
boundary_error_end mean -inf inf|sum_boundary_end|matched_spans
span_length_ratio score 0 inf
over_citation ratio 0 1|untouched_pred_spans|pred_spans
distinct_sources score 0 inf
citation_completeness judged-ratio 0 1|cited_claims|claims_needing_citation|undecided_claims|claims_needing_citation undecided_claims
supported_completeness judged-ratio 0 1|supported_claims|claims_needing_citation -unscored_needing_claims|unscored_needing_claims undecided_claims -no_text_needing_claims|claims_needing_citation undecided_claims -no_text_needing_claims
cited_claim_precision judged-ratio 0 1|supported_claims|cited_claims -unscored_needing_claims|unscored_needing_claims undecided_cited_claims -no_text_needing_claims|cited_claims undecided_cited_claims -no_text_needing_claims
citation_correctness judged-ratio 0 1|correct_citations|scored_citations|citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
citation_relevance judged-ratio 0 1|relevant_citations|relevance_citations|citations -no_claim_citations -no_text_citations -relevance_citations|citations -no_claim_citations -no_text_citations
mean_support_score judged-mean 0 1|sum_support|scored_citations|citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
factual_consistency judged-ratio 0 1|consistent_claims|factual_claims -unscored_factual_claims|unscored_factual_claims undecided_claims -no_text_factual_claims|factual_claims undecided_claims -no_text_factual_claims
mean_consistency judged-mean 0 1|sum_consistency|consistency_claims|unscored_consistency_claims -no_text_cited_claims|consistency_claims unscored_consistency_claims -no_text_cited_claims
consistency_variance judged-score 0 0.5|||unscored_consistency_claims -no_text_cited_claims|consistency_claims unscored_consistency_claims -no_text_cited_claims
hallucination_rate judged-ratio 0 1|hallucinated_claims|factual_claims -unscored_claims -no_text_claims|unscored_claims|factual_claims undecided_claims -no_text_claims
contradiction_rate judged-ratio 0 1|contradicted_claims|factual_claims -unscored_factual_claims|unscored_factual_claims undecided_claims -no_text_factual_claims|factual_claims undecided_claims -no_text_factual_claims
citation_density ratio 0 inf|cited_chars|answer_chars
citation_coverage judged-ratio 0 1|cited_answer_chars|claim_answer_chars
abstention_correct binary 0 1
span_accuracy_score overall-score 0 1|||unscored_extra_citations|citations
citation_quality_score judged-score 0 1|||citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
answer_consistency_score judged-score 0 1|||unscored_needing_claims undecided_claims -no_text_needing_claims|claims_needing_citation undecided_claims -no_text_needing_claims
hallucination_score judged-score 0 1|||unscored_claims|factual_claims undecided_claims -no_text_claims
overall_citation_accuracy overall-score 0 1|||citations unscored_needing_claims undecided_claims unscored_claims -no_claim_citations -scored_citations -no_text_citations -no_text_needing_claims|citations claims_needing_citation undecided_claims factual_claims undecided_claims -no_claim_citations -no_text_citations -no_text_needing_claims -no_text_claims
alce_recall judged-score 0 1|||unscored_consistency_claims|claims
alce_precision judged-score 0 1|||unscored_consistency_claims|claims
longcite_recall judged-score 0 1|||unscored_consistency_claims|claims
longcite_precision judged-score 0 1|||citations -no_claim_citations -relevance_citations|citations -no_claim_citations
longcite_f1 judged-score 0 1|||citations -no_claim_citations -relevance_citations|citations -no_claim_citations
trec_weighted_precision judged-score 0 1|||citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
trec_weighted_recall judged-score 0 1|||citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
drb_accuracy judged-score 0 1|||citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
drb_effective_citations judged-score 0 inf|||citations -no_claim_citations -no_text_citations -scored_citations|citations -no_claim_citations -no_text_citations
necessity_shared judged-ratio 0 1|necessary_citations|necessity_citations|unscored_necessity_citations|necessity_citations unscored_necessity_citations
citation_presence binary 0 1
offset_accuracy ratio 0 1|offset_accuracy_num|offset_accuracy_den`

// summaryCounts are the counts that the summary has, beside the metrics.
const summaryCounts = `truth_chars pred_chars overlap_chars union_chars tolerance_pred_chars tolerance_overlap_chars tolerance_union_chars
	truth_tokens pred_tokens overlap_tokens truth_spans pred_spans matched_spans perfect_matches good_matches exact_hits boundary_hits
	citations valid_citations correct_citations relevant_citations scored_citations unlinked_citations
	claims factual_claims claims_needing_citation cited_claims supported_claims consistent_claims consistent_citations contradicted_claims hallucinated_claims unscored_claims`

// poolCounts are the other counts of a row, and poolSums the sums.
const (
	poolCounts = `truth_pages pred_pages overlap_pages truth_docs pred_docs overlap_docs distinct_truth_spans distinct_pred_spans untouched_pred_spans
	cited_chars answer_chars cited_answer_chars claim_answer_chars consistency_claims necessary_citations necessity_citations
	undecided_claims undecided_cited_claims unscored_needing_claims unscored_factual_claims unscored_consistency_claims relevance_citations
	unscored_necessity_citations unscored_extra_citations no_claim_citations no_text_claims no_text_needing_claims no_text_factual_claims
	no_text_cited_claims no_text_citations moved_citations moved_truth lost_truth missing_citations quoted_citations misplaced_quotes
	placed_citations whole_citations truth_marks out_of_bounds_truth`
	poolSums = `sum_exact_jaccard sum_tolerance_jaccard sum_best_exact_jaccard sum_snapped_jaccard sum_boundary_start sum_boundary_end
	sum_support sum_consistency offset_accuracy_num offset_accuracy_den`
)

// metrics are those of the table.
var metrics = readMetrics()

func readMetrics() []metric {
	var out []metric
	for line := range strings.Lines(metricTable) {
		parts := append(strings.Split(strings.TrimSpace(line), "|"), "", "", "", "")
		var m metric
		var low, high string
		if _, err := fmt.Sscan(parts[0], &m.name, &m.kind, &low, &high); err != nil {
			panic(err) // a slip in the table
		}
		m.min, m.max = boundOf(low), boundOf(high)
		group, kind, grouped := strings.Cut(m.kind, "-")
		if grouped {
			m.kind, m.judged, m.bounded = kind, group == "judged", true
		}
		m.num, m.den, m.unscored, m.scorable = termsOf(parts[1]), termsOf(parts[2]), termsOf(parts[3]), termsOf(parts[4])
		out = append(out, m)
	}
	return out
}

func boundOf(s string) float64 {
	v := math.Inf(1)
	switch s {
	case "inf":
	case "-inf":
		v = -v
	default:
		if _, err := fmt.Sscan(s, &v); err != nil {
			panic(err)
		}
	}
	return v
}

func termsOf(s string) (out []term) {
	for name := range strings.FieldsSeq(s) {
		t := term{name, 1}
		if rest, ok := strings.CutPrefix(name, "-"); ok {
			t = term{rest, -1}
		} else if rest, ok := strings.CutPrefix(name, "2*"); ok {
			t = term{rest, 2}
		}
		out = append(out, t)
	}
	return out
}
