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
	"abstention_correct", "citation_presence", "citation_density", "distinct_sources",
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

func indexSummary(all []*results) summaryIndex {
	x := summaryIndex{rows: make(map[summaryKey]*runs.SummaryRow)}
	seen := make(map[string]bool)
	for _, r := range all {
		for k := range r.run.Summary {
			s := &r.run.Summary[k]
			system := s.System
			if system != "" {
				system = r.prefix + system
				if !seen[system] {
					seen[system] = true
					x.all = append(x.all, system)
				}
			} else if r.prefix != "" {
				continue // several runs are not pooled
			}
			x.rows[summaryKey{system, s.Slice, s.Metric, s.Agg}] = s
		}
	}
	return x
}

func (x *summaryIndex) systems() []string { return x.all }

// find returns a macro value that is defined in some row, or nil.
func (x *summaryIndex) find(system, slice, metric string) *runs.SummaryRow {
	if s := x.rows[summaryKey{system, slice, metric, runs.Macro}]; s != nil && s.N > 0 && s.Estimate != nil {
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

// totals count what the rows of a page hold, by system.
type totals struct {
	rows, errors, failing []int64
	citations, valid      []int64
	claims                []int64
	status                map[string][]int64
	outcome               map[string][]int64
}

// listRows lists all rows of all runs and counts what they hold.
func listRows(data *pageData) {
	number := make(map[string]int, len(data.systems))
	for k, s := range data.systems {
		number[s] = k
	}
	t := &data.totals
	counts := func() []int64 { return make([]int64, len(data.systems)) }
	t.rows, t.errors, t.failing, t.citations, t.valid, t.claims = counts(), counts(), counts(), counts(), counts(), counts()
	t.status, t.outcome = make(map[string][]int64), make(map[string][]int64)
	add := func(m map[string][]int64, code string, system int) {
		if m[code] == nil {
			m[code] = make([]int64, len(data.systems))
		}
		m[code][system]++
	}
	for run, r := range data.results {
		l := data.limits[run]
		for i := range r.id {
			system, ok := number[r.system[i]]
			if !ok { // a system without a single defined number
				system = len(data.systems)
				number[r.system[i]] = system
				data.systems = append(data.systems, r.system[i])
				grow(data)
			}
			row := pageRow{run: run, index: i, problem: l.ofRow(r, i), system: system}
			data.rows = append(data.rows, row)
			t.rows[system]++
			if r.failed[i] != "" {
				t.errors[system]++
			}
			if row.problem.Fails() {
				t.failing[system]++
			}
			for _, c := range r.citationsOf(i) {
				t.citations[system]++
				if validStatus(c.status) {
					t.valid[system]++
				}
				add(t.status, c.status, system)
			}
			for _, c := range r.claimsOf(i) {
				t.claims[system]++
				add(t.outcome, c.outcome, system)
			}
		}
	}
}

// grow makes room for one more system in all counts.
func grow(data *pageData) {
	t := &data.totals
	for _, list := range []*[]int64{&t.rows, &t.errors, &t.failing, &t.citations, &t.valid, &t.claims} {
		*list = append(*list, 0)
	}
	for _, m := range []map[string][]int64{t.status, t.outcome} {
		for code := range m {
			m[code] = append(m[code], 0)
		}
	}
}

func sum(list []int64) (total int64) {
	for _, n := range list {
		total += n
	}
	return total
}

// leadValue is the value of the first metric, turned so that more is better.
func leadValue(data *pageData, row *pageRow) (float64, bool) {
	if len(data.lead) == 0 {
		return 0, false
	}
	column := data.results[row.run].metric(data.lead[0])
	v, ok := column.at(row.index)
	if ok && column.def.Direction == metrics.LowerIsBetter {
		v = -v
	}
	return v, ok
}
