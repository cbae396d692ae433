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

// A summaryIndex finds numbers of the summaries of one or more runs.
type summaryIndex struct {
	rows map[summaryKey]*runs.SummaryRow
	all  []string // systems
}

type summaryKey struct{ system, slice, metric, agg string }

func indexSummary(all []RunData) summaryIndex {
	x := summaryIndex{rows: make(map[summaryKey]*runs.SummaryRow)}
	seen := make(map[string]bool)
	for run := range all {
		prefix := prefixOf(all, run)
		for k := range all[run].Summary {
			s := &all[run].Summary[k]
			system := s.System
			if system != "" {
				system = prefix + system
				if !seen[system] {
					seen[system] = true
					x.all = append(x.all, system)
				}
			} else if prefix != "" {
				continue // several runs are not pooled
			}
			x.rows[summaryKey{system, s.Slice, s.Metric, s.Agg}] = s
		}
	}
	return x
}

func (x *summaryIndex) systems() []string { return x.all }

// find returns a macro value that is defined in some row, or nil. It has no estimate where it
// is withheld.
func (x *summaryIndex) find(system, slice, metric string) *runs.SummaryRow {
	if s := x.rows[summaryKey{system, slice, metric, runs.Macro}]; s != nil && (s.N > 0 && s.Estimate != nil || s.Reason != "") {
		return s
	}
	return nil
}

// findMicro returns the micro value, or nil.
func (x *summaryIndex) findMicro(system, slice, metric string) *runs.SummaryRow {
	return x.rows[summaryKey{system, slice, metric, runs.Micro}]
}

// slices lists the slices of the pooled group by key, in order.
func (x *summaryIndex) slices() map[string][]string {
	seen := make(map[string]map[string]bool)
	for k := range x.rows {
		if k.system != "" || k.slice == "" {
			continue
		}
		key, _, _ := strings.Cut(k.slice, "=")
		if seen[key] == nil {
			seen[key] = make(map[string]bool)
		}
		seen[key][k.slice] = true
	}
	out := make(map[string][]string)
	for key, values := range seen {
		out[key] = sortedKeys(values)
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
