package metrics

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibid"
)

func TestDefinitionsAreComplete(t *testing.T) {
	columns := map[string]bool{}
	for _, d := range append(CountDefinitions(), Definitions()...) {
		columns[d.Name] = !d.Derived
	}
	names := map[string]bool{}
	for _, other := range strings.Fields("id system row status error truth_annotator overall_components provider model tags undefined answer_cost_usd answer_tokens answer_latency_ms") {
		names[other] = true // a column of results that is no number
	}
	columnName := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	all := append(Definitions(), CountDefinitions()...)
	for _, d := range all {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if names[name] {
				t.Errorf("name %s is used twice", name)
			}
			names[name] = true
			if !columnName.MatchString(name) {
				t.Errorf("name %q is malformed", name)
			}
		}
		if d.Group == "" || d.Summary == "" || d.Formula == "" || strings.Contains(d.Summary, "\n") {
			t.Errorf("%s: group %q, summary %q, formula %q", d.Name, d.Group, d.Summary, d.Formula)
		}
		if !(d.Min < d.Max) {
			t.Errorf("%s: bounds [%v, %v]", d.Name, d.Min, d.Max)
		}
	}
	for _, d := range Definitions() {
		if d.UndefinedWhen == "" || d.Source == "" {
			t.Errorf("%s: undefined when %q, source %q", d.Name, d.UndefinedWhen, d.Source)
		}
		if (len(d.Num) > 0) != (len(d.Den) > 0) || (len(d.Num) > 0) != (d.Kind == Ratio || d.Kind == Mean) {
			t.Errorf("%s is a %v with terms %v / %v", d.Name, d.Kind, d.Num, d.Den)
		}
		if len(d.Items) > 0 && !d.Judged && d.Group != "overall" {
			t.Errorf("%s has items, and no judge", d.Name)
		}
		for _, x := range slices.Concat(d.Num, d.Den) {
			if _, open := OpenByKey(x.Column); !columns[x.Column] && !open || x.Times != "" && !columns[x.Times] || x.Factor == 0 {
				t.Errorf("%s: term %v names no column", d.Name, x)
			}
		}
	}
}

// The constants index the definitions, which are written in lists of their own.
func TestConstantsMatchDefinitions(t *testing.T) {
	for name, m := range map[string]Metric{
		"char_precision": CharPrecision, "char_f1": CharF1, "exact_match": ExactMatch, "any_overlap": AnyOverlap,
		"token_precision": TokenPrecision, "token_jaccard": TokenJaccard, "page_f1": PageF1, "doc_precision": DocPrecision,
		"mean_exact_jaccard":     MeanExactJaccard,
		"mean_tolerance_jaccard": MeanToleranceJaccard,
		"mean_snapped_jaccard":   MeanSnappedJaccard, "span_precision": SpanPrecision, "span_f1": SpanF1,
		"boundary_error_start": BoundaryErrorStart, "boundary_error_end": BoundaryErrorEnd,
		"over_citation":         OverCitation,
		"citation_completeness": CitationCompleteness, "citation_correctness": CitationCorrectness,
		"mean_support_score": MeanSupportScore, "factual_consistency": FactualConsistency,
		"consistency_variance": ConsistencyVariance, "hallucination_rate": HallucinationRate,
		"contradiction_rate": ContradictionRate, "citation_density": CitationDensity, "citation_coverage": CitationCoverage,
		"abstention_correct": AbstentionCorrect, "span_accuracy_score": SpanAccuracyScore,
		"hallucination_score": HallucinationScore, "overall_citation_accuracy": OverallCitationAccuracy,
		"alce_recall": ALCERecall, "longcite_f1": LongCiteF1, "trec_weighted_recall": TRECWeightedRecall,
		"drb_accuracy": DRBAccuracy, "drb_effective_citations": DRBEffectiveCitations,
		"necessity_shared": NecessityShared, "citation_presence": CitationPresence, "offset_accuracy": OffsetAccuracy,
	} {
		if m.String() != name {
			t.Errorf("metric %d is %s, want %s", int(m), m, name)
		}
	}
}

// Definitions are found by their constants: in which order the tables are put together
// does not matter, and no metric can be defined twice.
func TestDefinitionsHaveNoOrder(t *testing.T) {
	tables := []map[Metric]Definition{
		quoteDefinitions, offsetDefinitions, dialectDefinitions(), componentDefinitions, overallDefinitions, answerDefinitions, claimDefinitions, citationDefinitions,
		matchDefinitions, docDefinitions, pageDefinitions, tokenDefinitions, charDefinitions,
	}
	reversed := merged(tables...)
	if len(reversed) != NumMetrics || len(Definitions()) != NumMetrics {
		t.Errorf("%d definitions in the reversed order, %d in theirs, want %d", len(reversed), len(Definitions()), NumMetrics)
	}
	for m, d := range Definitions() {
		if !reflect.DeepEqual(d, reversed[Metric(m)]) {
			t.Errorf("metric %d is %s, want %s", m, d.Name, reversed[Metric(m)].Name)
		}
	}
	defer func() {
		if got, want := fmt.Sprint(recover()), "metric 2 is defined twice, as char_f1 and char_f1"; got != want {
			t.Errorf("merging a table twice: %s, want %s", got, want)
		}
	}()
	merged(map[Metric]Definition{CharF1: reversed[CharF1]}, charDefinitions)
}

// The count columns that results files promise, in their order.
func TestCountColumns(t *testing.T) {
	want := strings.Fields(`truth_chars pred_chars overlap_chars truth_tokens pred_tokens overlap_tokens truth_spans pred_spans matched_spans perfect_matches
		good_matches citations valid_citations correct_citations relevant_citations
		scored_citations claims factual_claims needing_claims cited_claims supported_claims
		consistent_claims contradicted_claims hallucinated_claims
		truth_pages pred_pages overlap_pages truth_docs pred_docs overlap_docs distinct_truth_spans distinct_pred_spans
		untouched_pred_spans cited_chars answer_chars consistency_claims relevance_citations missing_citations
		offsets_checked offsets_held abstained unread_marks checked_citations quotations faithful_quotations misattributed_quotations fabricated_quotations`)
	if len(want) != int(NumCounts) {
		t.Errorf("%d counts, want %d", NumCounts, len(want))
	}
	for i, name := range want {
		if got := CountDefinitions()[i].Name; got != name || Count(i).String() != name {
			t.Errorf("count %d is %s, want %s", i, got, name)
		}
	}
}

func TestNamesOfValues(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"ratio": Ratio, "mean": Mean, "binary": Binary, "score": Score, "count": Quantity,
		"higher is better": HigherIsBetter, "lower is better": LowerIsBetter, "neutral": Neutral,
		"": ibid.Defined, "no_truth": ibid.NoTruth, "no_citations": ibid.NoCitations, "no_claims": ibid.NoClaims, "no_documents": ibid.NoDocuments,
		"no_judge": ibid.NoJudge, "nothing_to_cite": ibid.NothingToCite, "judge_failed": ibid.JudgeFailed, "row_error": ibid.RowError,
	} {
		if got.String() != want {
			t.Errorf("%#v is called %q, want %q", got, got.String(), want)
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"char_f1": "char_f1", "char_dice": "char_f1", "citation_validity_rate": "citation_correctness",
		"truth_chars": "truth_chars", "sum_exact_jaccard": "", "nope": "",
	} {
		d, ok := Lookup(name)
		if d.Name != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v, want %q", name, d.Name, ok, want)
		}
	}
	if c, ok := CountByName("matched_spans"); !ok || c != MatchedSpans {
		t.Errorf("CountByName(matched_spans) = %v, %v", c, ok)
	}
}

func TestFail(t *testing.T) {
	s := score(t, DefaultOptions(), cited(at("a", 0, 9)).against(by("ann", at("a", 0, 9))))
	s.Fail(ibid.RowError)
	for m := range Definitions() {
		wantReason(t, s, ibid.RowError, Metric(m))
	}
	if s.Known != [NumCounts]bool{} || len(s.Citations) != 0 || s.HasTruthAnnotator {
		t.Errorf("a failed row keeps numbers: %+v", s)
	}
}
