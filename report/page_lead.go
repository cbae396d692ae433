package report

import (
	"cmp"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// leadCandidates are the metrics a reader asks for first, best first. Those of
// judged runs come first: where there are verdicts, they matter most.
var leadCandidates = []string{
	"overall_citation_accuracy", "citation_correctness", "supported_completeness", "hallucination_rate", "span_accuracy_score", "mean_consistency",
	"char_f1", "char_precision", "char_recall", "mean_snapped_jaccard", "doc_f1", "page_f1", "token_f1", "over_citation",
	"abstention_correct", "citation_presence", "citation_density",
}

// maxLead is how many metrics are shown first.
const maxLead = 6

// leadOf chooses the metrics that are shown first, among those that there are. A score
// that is another metric's value again is left out.
func leadOf(has func(name string) bool) []string {
	var lead []string
	judged := has("citation_correctness")
	for _, name := range leadCandidates {
		again := name == "mean_snapped_jaccard" && slices.Contains(lead, "span_accuracy_score") ||
			!judged && (name == "overall_citation_accuracy" || name == "span_accuracy_score")
		if len(lead) < maxLead && has(name) && !again {
			lead = append(lead, name)
		}
	}
	return lead
}

// number is a macro value of a system of the page, "" for all of them together; nil if there
// is none. It has no estimate where that is withheld.
func (data *pageData) number(system, slice, metric string) *runs.SummaryRow {
	l := runOfSystem(data, system).summary.block(nameInRun(data, system), slice).line(metric)
	if l == nil || l.Macro.Estimate == nil && l.Macro.Reason == "" {
		return nil
	}
	return &l.Macro
}

// slicesOf lists the slices over all systems by key, in order.
func (s *Summary) slicesOf() map[string][]string {
	out := make(map[string][]string)
	single := len(s.systems()) == 1
	for i := range s.Blocks {
		if b := &s.Blocks[i]; b.Slice != "" && (b.System == "" || single) {
			key, _, _ := strings.Cut(b.Slice, "=")
			out[key] = append(out[key], b.Slice)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// orderedDefinitions are the definitions of metrics, those that lead first.
func orderedDefinitions(lead []string) []metrics.Definition {
	defs := slices.Clone(metrics.Definitions())
	rank := func(d metrics.Definition) int {
		if i := slices.Index(lead, d.Name); i >= 0 {
			return i
		}
		return len(lead)
	}
	slices.SortStableFunc(defs, func(a, b metrics.Definition) int { return cmp.Compare(rank(a), rank(b)) })
	return defs
}
