package report

import (
	"math"
	"slices"
	"strconv"
)

// A rowIndex is what the script of the page knows of all rows at once. Lists are
// parallel to the rows that the page holds.
type rowIndex struct {
	PerPack    int           `json:"perPack"`
	Texts      []int         `json:"texts"` // first text of each pack
	Keys       []string      `json:"keys"`  // as in links
	IDs        []string      `json:"ids"`
	Question   []string      `json:"questions"`
	System     []int         `json:"system"`
	Systems    []string      `json:"systems"`
	Cited      []string      `json:"cited"`   // valid of all citations, in words
	Problem    []int         `json:"problem"` // also the order of badness
	Status     []uint32      `json:"status"`  // bit k: some citation has status k
	Outcome    []uint32      `json:"outcome"` // bit k: some claim has outcome k
	Failing    []int8        `json:"failing"`
	Worst      []int         `json:"worst"` // rows, worst first
	Tags       [][]int       `json:"tags"`
	TagNames   []string      `json:"tagNames"` // key=value
	Annotators []string      `json:"annotators"`
	Providers  []string      `json:"providers"`
	Provider   []int         `json:"provider"` // -1: none
	Models     []string      `json:"models"`
	Model      []int         `json:"model"`     // -1: none
	Annotator  []int         `json:"annotator"` // -1: none
	Types      []string      `json:"types"`     // kinds of sources
	Type       [][]int       `json:"type"`
	Docs       [][]int       `json:"docs"`
	DocNames   []string      `json:"docNames"`
	Metrics    []indexMetric `json:"metrics"`
	Columns    int           `json:"columns"` // how many of the metrics the table shows

	Partner     []int          `json:"partner"` // row of the run that this one is compared with, -1 if none
	Since       []int8         `json:"since"`   // how the row changed since then, as sinceNames has it
	SinceNames  []string       `json:"sinceNames"`
	MetricNames []string       `json:"metricNames"` // of a row's metrics, in order
	Undefined   [][]reasonText `json:"undefined"`   // why metrics are, by the number that rows have
	MaxCited    int            `json:"maxCited"`    // most citations seen at once
	Grouped     bool           `json:"grouped"`     // citations are grouped by kind of source
	Markers     bool           `json:"markers"`     // citations are numbered in the answer

	Problems []word          `json:"problems"`
	Statuses []word          `json:"statuses"`
	Outcomes []word          `json:"outcomes"`
	Signs    map[tone]string `json:"signs"`
	Judge    string          `json:"judge"` // what verdicts are called

	Asked *facets `json:"asked,omitempty"` // of a served page: which rows of the run these are, and what all have
}

// An indexMetric is one metric of all rows: its distinct values in ascending
// order, their text, and for each row the number of its value or -1.
type indexMetric struct {
	Name   string    `json:"name"`
	Label  string    `json:"label"`
	Max    float64   `json:"max"` // end of the last bar of the distribution, which is part of it
	Values []float64 `json:"values"`
	Texts  []string  `json:"text"`
	Code   []int     `json:"code"`
}

// indexedMetrics is how many metrics rows can be sorted and filtered by.
const indexedMetrics = 16

func newRowIndex(data *pageData, held []int) *rowIndex {
	x := &rowIndex{
		PerPack: rowsPerPack, Systems: make([]string, len(data.systems)), Columns: len(rowColumns(data)), Texts: []int{},
		Problems: problemWords[:], Statuses: statusWords, Outcomes: outcomeWords,
		Signs: make(map[tone]string), Judge: commonJudge(data), TagNames: []string{}, DocNames: []string{}, Metrics: []indexMetric{},
	}
	x.empty()
	for _, d := range definitions(data) {
		x.MetricNames = append(x.MetricNames, d.Name)
	}
	x.Undefined = append(x.Undefined, data.reasons.lists...)
	x.SinceNames = sinceCodes
	x.Partner, x.Since = sinceIndex(data, held)
	display := data.results[0].run.display()
	x.MaxCited, x.Grouped, x.Markers = display.MaxCitations, display.BySourceType, display.Markers
	for _, t := range []tone{toneGood, toneNote, toneWarn, toneBad, toneNeutral} {
		x.Signs[t] = t.sign()
	}
	for i, s := range data.systems {
		x.Systems[i] = line(s, 80)
	}
	x.Annotators, x.Types, x.Providers, x.Models = []string{}, []string{}, []string{}, []string{}
	tags, docs := newNames(&x.TagNames), newNames(&x.DocNames)
	annotators, types, providers, models := newNames(&x.Annotators), newNames(&x.Types), newNames(&x.Providers), newNames(&x.Models)
	place := make(map[int]int, len(held))
	for k, n := range held {
		place[n] = k
		row := &data.rows[n]
		r := data.results[row.run]
		i := row.index
		citations, claims := r.citationsOf(i), r.claimsOf(i)
		x.Keys = append(x.Keys, r.key(i))
		x.IDs = append(x.IDs, line(r.id[i], 80))
		x.Question = append(x.Question, row.question)
		x.System = append(x.System, row.system)
		x.Cited = append(x.Cited, citationsText(citations))
		x.Problem = append(x.Problem, int(row.problem)) // not bytes, which JSON would write as one text
		x.Status = append(x.Status, bits(statusWords, len(citations), func(i int) string { return citations[i].status }))
		x.Outcome = append(x.Outcome, bits(outcomeWords, len(claims), func(i int) string { return claims[i].outcome }))
		failing := int8(0)
		if row.problem.Fails() {
			failing = 1
		}
		x.Failing = append(x.Failing, failing)
		x.Tags = append(x.Tags, tags.numbers(len(r.tags[i]), func(k int) string { return line(r.tags[i][k].Key, 60) + "=" + line(r.tags[i][k].Value, 60) }))
		x.Docs = append(x.Docs, docs.numbers(len(citations), func(k int) string { return line(citations[k].doc, 120) }))
		x.Type = append(x.Type, types.numbers(len(citations), func(k int) string { return line(citations[k].sourceType, 80) }))
		x.Annotator = append(x.Annotator, annotators.ofKnown(line(r.annotator[i], 80)))
		x.Provider = append(x.Provider, providers.ofKnown(line(r.provider[i], 80)))
		x.Model = append(x.Model, models.ofKnown(line(r.model[i], 80)))
	}
	for _, n := range worstFirst(data, held) {
		x.Worst = append(x.Worst, place[n])
	}
	if data.asked != nil {
		data.asked.fill(data, x, place)
	}
	for _, d := range slices.DeleteFunc(orderedDefinitions(data.lead), hidden) {
		if len(x.Metrics) == indexedMetrics {
			break
		}
		m := indexMetric{Name: d.Name, Label: label(d.Name)}
		if fillMetric(data, &m, held) {
			m.Max = axisOf(d, data.ranges[d.Name].ends()).hi
			x.Metrics = append(x.Metrics, m)
		}
	}
	return x
}

// empty makes the lists of an index without rows empty, not null, for the script
// of the page.
func (x *rowIndex) empty() {
	for _, list := range []*[]string{&x.Keys, &x.IDs, &x.Question, &x.Cited, &x.MetricNames} {
		*list = []string{}
	}
	for _, list := range []*[]int{&x.System, &x.Problem, &x.Worst, &x.Provider, &x.Model, &x.Annotator} {
		*list = []int{}
	}
	for _, list := range []*[][]int{&x.Tags, &x.Type, &x.Docs} {
		*list = [][]int{}
	}
	x.Status, x.Outcome, x.Failing, x.Undefined = []uint32{}, []uint32{}, []int8{}, [][]reasonText{}
}

// fillMetric encodes a metric by its distinct values; false if no row has it.
func fillMetric(data *pageData, m *indexMetric, held []int) bool {
	columns := make([]*metricColumn, len(data.results))
	for k, r := range data.results {
		columns[k] = r.metric(m.Name)
	}
	values := make([]float64, 0, len(held))
	for _, n := range held {
		if v, ok := columns[data.rows[n].run].at(data.rows[n].index); ok {
			values = append(values, rounded(v))
		}
	}
	slices.Sort(values)
	m.Values = slices.Compact(values)
	for _, v := range m.Values {
		m.Texts = append(m.Texts, number(v))
	}
	m.Code = make([]int, len(held))
	for k, n := range held {
		m.Code[k] = -1
		if v, ok := columns[data.rows[n].run].at(data.rows[n].index); ok {
			m.Code[k], _ = slices.BinarySearch(m.Values, rounded(v))
		}
	}
	return len(m.Values) > 0
}

// rounded is a value as rows are sorted and filtered by: to four decimals.
func rounded(v float64) float64 {
	const unit = 1e4
	// A whole number divided by the unit is the nearest to its decimal. Only where
	// v is about halfway between two, its own digits decide.
	whole, part := math.Modf(math.Abs(v) * unit)
	if whole < 1<<40 && math.Abs(part-0.5) > 1e-3 {
		if part > 0.5 {
			whole++
		}
		return math.Copysign(whole/unit, v)
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// bits has a bit for each word that one of n items has the code of.
func bits(words []word, n int, code func(i int) string) (set uint32) {
	for i := range n {
		if k := wordIndex(words, code(i)); k >= 0 {
			set |= 1 << k
		}
	}
	return set
}

// names numbers texts in the order of their first appearance.
type names struct {
	list   *[]string
	number map[string]int
}

func newNames(list *[]string) *names { return &names{list, make(map[string]int)} }

func (n *names) of(s string) int {
	k, ok := n.number[s]
	if !ok {
		k = len(*n.list)
		n.number[s] = k
		*n.list = append(*n.list, s)
	}
	return k
}

// ofKnown is the number of a text, -1 for the empty one.
func (n *names) ofKnown(s string) int {
	if s == "" {
		return -1
	}
	return n.of(s)
}

// numbers are those of n texts, each once; "" has none.
func (n *names) numbers(count int, text func(i int) string) []int {
	out := []int{}
	for i := range count {
		if s := text(i); s != "" {
			if k := n.of(s); !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}
