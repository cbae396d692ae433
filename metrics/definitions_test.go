package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics/presence"
)

// TestDirections: of which metrics and counts less is better, and of which neither; of all
// others more is. Gates, comparisons and rankings go by it.
func TestDirections(t *testing.T) {
	less := strings.Fields(`over_citation consistency_variance hallucination_rate contradiction_rate
		contradicted_claims hallucinated_claims untouched_pred_spans
		missing_citations unread_marks wrong_abstention fabricated_citation_rate misattributed_quote_rate quote_fabrication_rate
		misattributed_quotations fabricated_quotations`)
	neither := strings.Fields(`boundary_error_start boundary_error_end citation_density
		truth_chars pred_chars truth_tokens pred_tokens truth_spans pred_spans citations scored_citations
		claims factual_claims needing_claims truth_pages pred_pages truth_docs pred_docs distinct_truth_spans distinct_pred_spans
		cited_chars answer_chars consistency_claims relevance_citations offsets_checked abstained checked_citations quotations`)
	for _, d := range append(Definitions(), CountDefinitions()...) {
		want := HigherIsBetter
		if slices.Contains(less, d.Name) {
			want = LowerIsBetter
		} else if slices.Contains(neither, d.Name) {
			want = Neutral
		}
		if d.Direction != want {
			t.Errorf("%s: direction %v, want %v", d.Name, d.Direction, want)
		}
	}
}

// TestKinds: which metrics are 0 or 1 on a row, quotients or means of items, or values of
// the row alone.
func TestKinds(t *testing.T) {
	kinds := make(map[string]Kind)
	for kind, names := range map[Kind]string{
		Binary: "exact_match any_overlap abstention_correct wrong_abstention citation_presence",
		Mean:   "mean_exact_jaccard mean_tolerance_jaccard mean_snapped_jaccard boundary_error_start boundary_error_end mean_support_score mean_consistency",
		Score: `consistency_variance citation_coverage necessity_shared span_accuracy_score citation_quality_score answer_consistency_score hallucination_score
			overall_citation_accuracy alce_recall alce_precision longcite_recall longcite_precision longcite_f1 trec_weighted_precision trec_weighted_recall
			drb_accuracy drb_effective_citations`,
	} {
		for name := range strings.FieldsSeq(names) {
			kinds[name] = kind
		}
	}
	for _, d := range Definitions() {
		want, ok := kinds[d.Name]
		if !ok {
			want = Ratio
		}
		if d.Kind != want {
			t.Errorf("%s is a %v, want a %v", d.Name, d.Kind, want)
		}
	}
}

// TestTexts: what a definition says of itself stands where it belongs.
func TestTexts(t *testing.T) {
	for _, d := range CountDefinitions() {
		if known := strings.Contains(d.UndefinedWhen, "known") || d.UndefinedWhen == ""; !known || strings.HasSuffix(d.Summary, " known") && !strings.HasPrefix(d.Summary, "citations with") && !strings.Contains(d.Summary, "those of which") {
			t.Errorf("%s: %q, undefined when %q", d.Name, d.Summary, d.UndefinedWhen)
		}
	}
	for _, d := range Definitions() {
		if d.Judged != strings.HasPrefix(d.UndefinedWhen, "no judge") {
			t.Errorf("%s: judged: %v, undefined when %q", d.Name, d.Judged, d.UndefinedWhen)
		}
	}
}

// TestLookupAll finds every metric and count by each of its names.
func TestLookupAll(t *testing.T) {
	for _, d := range append(Definitions(), CountDefinitions()...) {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if got, ok := Lookup(name); !ok || got.Name != d.Name {
				t.Errorf("%s: %s, %v, want %s", name, got.Name, ok, d.Name)
			}
		}
	}
	for _, name := range []string{"", "char", "char_f", "char_f11", "CHAR_F1", "sum_support "} {
		if d, ok := Lookup(name); ok {
			t.Errorf("%q is %s", name, d.Name)
		}
	}
}

// asker answers for URLs with an error.
type asker struct{ error }

func (a asker) Live(context.Context, string) (bool, error) { return false, a.error }

// TestPresenceThatIsNotKnown: a page that nobody has asked for is not fetched; any other
// failure is an error of the row.
func TestPresenceThatIsNotKnown(t *testing.T) {
	for err, want := range map[error]ibid.Reason{
		fmt.Errorf("x: %w", presence.ErrNotFetched): ibid.NotFetched, fmt.Errorf("down"): ibid.RowError,
	} {
		d, e := presence.New(presence.Options{Strict: true, URLs: asker{err}})
		if e != nil {
			t.Fatal(e)
		}
		o := DefaultOptions()
		o.Presence = d
		out := score(t, o, &Row{Answer: ibid.Answer{Answer: "See https://a.b."}})
		if out.Reasons[CitationPresence] != want || out.PresenceErr == nil {
			t.Errorf("%v: %v (%v), want %v", err, out.Reasons[CitationPresence], out.PresenceErr, want)
		}
	}
}
