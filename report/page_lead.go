package report

import (
	"cmp"
	"slices"
	"strings"

	"ibid/annotations/compare"
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

// shortNames are the names of metrics where there is little room: aliases, so that they
// can be typed.
var shortNames = map[string]string{
	"overall_citation_accuracy": "overall",
	"citation_correctness":      "correctness",
	"supported_completeness":    "completeness",
	"hallucination_rate":        "hallucination",
	"span_accuracy_score":       "span_accuracy",
	"mean_consistency":          "consistency",
	"mean_snapped_jaccard":      "span_overlap",
}

func shortName(metric string) string { return cmp.Or(shortNames[metric], metric) }

// mostLeading is how many numbers of a system the first screen has.
const mostLeading = 8

// Leading are the metrics that a first look shows: those that lead, and those that gates
// name. It is what the change from an earlier run is asked of.
func (s *Summary) Leading() []compare.Quantity {
	var all []compare.Quantity
	for _, name := range s.leading() {
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, compare.Quantity{Metric: d})
		}
	}
	return all
}

func (s *Summary) leading() []string {
	blocks := s.firstBlocks()
	names := leadOf(func(name string) bool {
		return slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
	})
	for _, g := range s.Gates {
		d, ok := metrics.Lookup(metricOf(g.Gate))
		name := shownMetric(d.Name)
		known := slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
		if ok && known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), mostLeading)]
}

func metricOf(gate string) string {
	words := strings.FieldsFunc(gate, func(r rune) bool { return !isNameRune(r) })
	for _, w := range words {
		if _, ok := metrics.Lookup(w); ok {
			return w
		}
	}
	return ""
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
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
