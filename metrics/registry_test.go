package metrics

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ibid"
)

func TestDefinitionsAreComplete(t *testing.T) {
	columns := map[string]bool{}
	for _, d := range append(CountDefinitions(), SumDefinitions()...) {
		columns[d.Name] = true
	}
	names := map[string]bool{}
	all := append(append(Definitions(), CountDefinitions()...), SumDefinitions()...)
	for _, d := range all {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if names[name] || reservedColumns[name] {
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
		if (len(d.Unscored) > 0) != (len(d.Scorable) > 0) || len(d.Scorable) > 0 && !d.Judged && d.Group != "overall" {
			t.Errorf("%s: unscored %v of scorable %v, judged: %v", d.Name, d.Unscored, d.Scorable, d.Judged)
		}
		for _, x := range slices.Concat(d.Num, d.Den, d.Unscored, d.Scorable) {
			if !columns[x.Column] || x.Factor == 0 {
				t.Errorf("%s: term %v names no column", d.Name, x)
			}
		}
	}
	sums := int(numBuiltinSums)
	for _, m := range addedMetrics {
		if m.definition.Kind == Ratio {
			sums += 2
		}
	}
	if got, want := len(Definitions()), int(numBuiltin)+len(addedMetrics); got != want || len(SumDefinitions()) != sums {
		t.Errorf("%d metrics and %d sums, want %d and %d", got, len(SumDefinitions()), want, sums)
	}
}

// The constants index the definitions, which are written in lists of their own.
func TestConstantsMatchDefinitions(t *testing.T) {
	for name, m := range map[string]Metric{
		"char_precision": CharPrecision, "char_f1": CharF1, "exact_match": ExactMatch, "any_overlap": AnyOverlap,
		"token_precision": TokenPrecision, "token_jaccard": TokenJaccard, "page_f1": PageF1, "doc_precision": DocPrecision,
		"set_tolerance_jaccard": SetToleranceJaccard, "mean_exact_jaccard": MeanExactJaccard,
		"mean_tolerance_jaccard": MeanToleranceJaccard, "mean_best_exact_jaccard": MeanBestExactJaccard,
		"mean_snapped_jaccard": MeanSnappedJaccard, "span_precision": SpanPrecision, "span_f1": SpanF1,
		"boundary_error_start": BoundaryErrorStart, "boundary_error_end": BoundaryErrorEnd,
		"span_length_ratio": SpanLengthRatio, "over_citation": OverCitation, "distinct_sources": DistinctSources,
		"citation_completeness": CitationCompleteness, "citation_correctness": CitationCorrectness,
		"mean_support_score": MeanSupportScore, "factual_consistency": FactualConsistency,
		"consistency_variance": ConsistencyVariance, "hallucination_rate": HallucinationRate,
		"contradiction_rate": ContradictionRate, "citation_density": CitationDensity, "citation_coverage": CitationCoverage,
		"abstention_correct": AbstentionCorrect, "span_accuracy_score": SpanAccuracyScore,
		"hallucination_score": HallucinationScore, "overall_citation_accuracy": OverallCitationAccuracy,
		"alce_recall": ALCERecall, "longcite_f1": LongCiteF1, "trec_weighted_recall": TRECWeightedRecall,
		"drb_accuracy": DRBAccuracy, "drb_effective_citations": DRBEffectiveCitations,
		"necessity_shared": NecessityShared, "citation_presence": CitationPresence,
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
		dialectDefinitions(), componentDefinitions, overallDefinitions, answerDefinitions, claimDefinitions, citationDefinitions,
		matchDefinitions, docDefinitions, pageDefinitions, tokenDefinitions, charDefinitions,
	}
	reversed := merged(tables...)
	if !reflect.DeepEqual(reversed, builtinDefinitions) || len(reversed) != int(numBuiltin) {
		t.Errorf("%d definitions in the reversed order, want the %d of before", len(reversed), numBuiltin)
	}
	for m, d := range Definitions()[:numBuiltin] {
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

// A metric that stands in a file of its own comes after those with a constant, by name,
// whatever file is read first.
func TestAddedMetrics(t *testing.T) {
	perCitation := addedMetric{custom("claims_per_citation", Ratio, 0, math.Inf(1)), func(_ *Row, s *Scores) Value {
		if s.Counts[Citations] == 0 {
			return Value{Reason: ibid.NoCitations}
		}
		return Value{Num: float64(s.Counts[Claims]), Den: float64(s.Counts[Citations])}
	}}
	empty := addedMetric{custom("answer_empty", Binary, 0, 1), func(r *Row, _ *Scores) Value { return Value{Value: 1 - min(1, float64(len(r.Answer.Answer)))} }}
	row := cited(at("a", 0, 9), at("a", 5, 9))
	row.Claims, row.HasClaims = make([]ibid.Claim, 3), true
	for _, added := range [][]addedMetric{{perCitation, empty}, {empty, perCitation}} {
		r := newRegistry(added...)
		if first, second := r.metrics[numBuiltin].Name, r.metrics[numBuiltin+1].Name; first != "answer_empty" || second != "claims_per_citation" {
			t.Fatalf("added metrics are %s, %s", first, second)
		}
		var out Scores
		r.newScorer(DefaultOptions()).Score(&row, &out)
		if out.Values[numBuiltin] != 1 || out.Values[numBuiltin+1] != 1.5 || out.Sums[numBuiltinSums] != 3 || out.Sums[numBuiltinSums+1] != 2 {
			t.Errorf("values %v, sums %v", out.Values[numBuiltin:], out.Sums[numBuiltinSums:])
		}
	}
}

// The count columns that results files promise, in their order.
func TestCountColumns(t *testing.T) {
	want := strings.Fields(`truth_chars pred_chars overlap_chars union_chars tolerance_pred_chars tolerance_overlap_chars
		tolerance_union_chars truth_tokens pred_tokens overlap_tokens truth_spans pred_spans matched_spans perfect_matches
		good_matches exact_hits boundary_hits citations valid_citations correct_citations relevant_citations
		scored_citations unlinked_citations claims factual_claims claims_needing_citation cited_claims supported_claims
		consistent_claims consistent_citations contradicted_claims hallucinated_claims unscored_claims
		truth_pages pred_pages overlap_pages truth_docs pred_docs overlap_docs distinct_truth_spans distinct_pred_spans
		untouched_pred_spans cited_chars answer_chars cited_answer_chars claim_answer_chars consistency_claims
		necessary_citations necessity_citations undecided_claims undecided_cited_claims unscored_needing_claims
		unscored_factual_claims unscored_consistency_claims relevance_citations unscored_necessity_citations
		unscored_extra_citations
		no_claim_citations no_text_claims no_text_needing_claims no_text_factual_claims no_text_cited_claims no_text_citations moved_citations moved_truth lost_truth
		missing_citations quoted_citations misplaced_quotes placed_citations whole_citations truth_marks out_of_bounds_truth`)
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
	if m, ok := ByName("char_dice"); !ok || m != CharF1 {
		t.Errorf("ByName(char_dice) = %v, %v", m, ok)
	}
	if c, ok := CountByName("matched_spans"); !ok || c != MatchedSpans {
		t.Errorf("CountByName(matched_spans) = %v, %v", c, ok)
	}
}

func custom(name string, kind Kind, min, max float64) Definition {
	return Definition{Name: name, Group: "custom", Kind: kind, Min: min, Max: max, Summary: "test", Formula: "test"}
}

func TestRegisterRefuses(t *testing.T) {
	f := func(*Row) Value { return Value{} }
	alias := custom("fresh", Score, 0, 1)
	alias.Aliases = []string{"char_dice"}
	twice := custom("fresh", Score, 0, 1)
	twice.Aliases = []string{"fresh"}
	tests := []struct {
		name string
		d    Definition
		f    func(*Row) Value
		want string
	}{
		{"taken by a metric", custom("char_f1", Score, 0, 1), f, `metric char_f1: name "char_f1" is taken`},
		{"taken by a count", custom("citations", Score, 0, 1), f, `metric citations: name "citations" is taken`},
		{"taken by a sum", custom("sum_support", Score, 0, 1), f, `metric sum_support: name "sum_support" is taken`},
		{"taken by a column", custom("status", Score, 0, 1), f, `metric status: name "status" is taken`},
		{"taken alias", alias, f, `metric fresh: name "char_dice" is taken`},
		{"own alias", twice, f, `metric fresh: name "fresh" is taken`},
		{"parts taken", custom("old", Ratio, 0, 1), f, `metric old: name "old_num" is taken`},
		{"malformed", custom("Über", Score, 0, 1), f, `metric Über: name "Über" is not lower case letters, digits and underscores`},
		{"empty bounds", custom("fresh", Score, 1, 1), f, `metric fresh: bounds [1, 1] hold no interval`},
		{"no bounds", custom("fresh", Score, math.NaN(), 1), f, `metric fresh: bounds [NaN, 1] hold no interval`},
		{"binary bounds", custom("fresh", Binary, 0, 2), f, `metric fresh: bounds [0, 2] of a binary metric are not [0, 1]`},
		{"a count", custom("fresh", Quantity, 0, 1), f, `metric fresh: kind is not ratio, mean, binary or score`},
		{"no function", custom("fresh", Score, 0, 1), nil, `metric fresh: no function`},
	}
	r := newRegistry()
	if err := r.register(custom("old_num", Score, 0, 1), f); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := r.register(tt.d, tt.f); err == nil || err.Error() != tt.want {
				t.Errorf("register = %v, want %s", err, tt.want)
			}
		})
	}
	if n := len(r.metrics); n != int(numBuiltin)+1 {
		t.Errorf("%d metrics after refusals, want %d", n, numBuiltin+1)
	}
}

func TestCustomMetrics(t *testing.T) {
	r := newRegistry()
	add := func(d Definition, f func(*Row) Value) Metric {
		t.Helper()
		if err := r.register(d, f); err != nil {
			t.Fatal(err)
		}
		return Metric(len(r.metrics) - 1)
	}
	ratio := add(custom("long_answers", Ratio, 0, 1), func(row *Row) Value { return Value{Num: 1, Den: float64(len(row.Answer.Answer))} })
	mean := add(custom("length", Mean, 0, 5), func(row *Row) Value { return Value{Value: float64(len(row.Answer.Answer))} })
	yes := add(custom("cites", Binary, 0, 1), func(row *Row) Value { return Value{Value: float64(len(row.Citations))} })
	never := add(custom("never", Score, 0, 1), func(*Row) Value { return Value{Value: 9, Reason: ibid.NoJudge} })
	nan := add(custom("nan", Score, 0, 1), func(*Row) Value { return Value{Value: math.NaN()} })

	o := DefaultOptions()
	s := r.newScorer(o)
	var out Scores
	row := cited(at("a", 0, 9)).against(by("", at("a", 0, 9)))
	row.Answer.Answer = "four"
	s.Score(row, &out)
	for m, want := range map[Metric]float64{ratio: 0.25, mean: 4, yes: 1, CharF1: 1} {
		if got, ok := out.Value(m); !ok || got != want {
			t.Errorf("%s = %v, %q, want %v", r.metrics[m].Name, got, out.Reasons[m], want)
		}
	}
	if d := r.metrics[ratio]; d.Num[0] != (Term{"long_answers_num", 1}) || d.Den[0] != (Term{"long_answers_den", 1}) {
		t.Errorf("terms of a ratio = %v / %v", d.Num, d.Den)
	}
	if x := int(numBuiltinSums); r.sums[x].Name != "long_answers_num" || out.Sums[x] != 1 || out.Sums[x+1] != 4 || !out.SumKnown[x+1] {
		t.Errorf("sums of a ratio = %v", out.Sums)
	}
	for m, want := range map[Metric]ibid.Reason{never: ibid.NoJudge, nan: ibid.RowError} {
		if out.Reasons[m] != want || out.Values[m] != 0 {
			t.Errorf("%s = %v, %q, want %q", r.metrics[m].Name, out.Values[m], out.Reasons[m], want)
		}
	}

	row.Answer.Answer = ""
	row.Citations = append(row.Citations, row.Citations...)
	s.Score(row, &out)
	if out.Reasons[ratio] != ibid.RowError || out.SumKnown[numBuiltinSums] || out.Reasons[yes] != ibid.RowError || out.Reasons[mean] != ibid.Defined {
		t.Errorf("reasons of 1/0, of 2 as a binary value, of 0 = %q, %q, %q", out.Reasons[ratio], out.Reasons[yes], out.Reasons[mean])
	}
	row.Answer.Answer = "seven.."
	s.Score(row, &out)
	if out.Reasons[mean] != ibid.RowError {
		t.Errorf("reason of a value above its bound = %q", out.Reasons[mean])
	}

	if err := r.register(custom("late", Score, 0, 1), func(*Row) Value { return Value{} }); !errors.Is(err, ErrSealed) {
		t.Errorf("registering after the first scorer = %v, want %v", err, ErrSealed)
	}
}

func TestOptions(t *testing.T) {
	change := func(f func(*Options)) Options {
		o := DefaultOptions()
		f(&o)
		return o
	}
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"default", DefaultOptions(), ""},
		{"largest tolerance", change(func(o *Options) { o.Tolerance = math.MaxInt32 }), ""},
		{"negative tolerance", change(func(o *Options) { o.Tolerance = -1 }), "tolerance -1 is not in [0, 2147483647]"},
		{"large tolerance", change(func(o *Options) { o.Tolerance = math.MaxInt32 + 1 }), "tolerance 2147483648 is not in [0, 2147483647]"},
		{"no overlap", change(func(o *Options) { o.MinOverlap = 0 }), "minimal overlap 0 is not in (0, 1]"},
		{"NaN", change(func(o *Options) { o.GoodMatch = math.NaN() }), "good match NaN is not in [0, 1]"},
		{"annotator", change(func(o *Options) { o.TruthPolicy = "annotator:a:b" }), ""},
		{"no annotator", change(func(o *Options) { o.TruthPolicy = "annotator:" }), `truth policy "annotator:" is not best, union, majority, intersection, mean or annotator:NAME`},
		{"zero value", Options{}, "minimal overlap 0 is not in (0, 1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewScorer(tt.o)
			if got := tt.o.Validate(); (got == nil) != (err == nil) || got != nil && got.Error() != tt.want || got == nil && tt.want != "" {
				t.Errorf("Validate = %v, NewScorer: %v, want %q", got, err, tt.want)
			}
		})
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
