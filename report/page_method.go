package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/metrics"
	"ibid/metrics/stats"
)

// A methodView says what the numbers of a page mean.
type methodView struct {
	Definitions []definitionText
	Intervals   []intervalText
	Notes       []string
	Footnotes   []string // each once
}

// A definitionText is a metric's definition in words.
type definitionText struct {
	Name, Aliases, Summary, Formula, Better, Bounds, Undefined, Source, Kind string
	Judged                                                                   bool
}

type intervalText struct{ Name, Text string }

var intervalWords = map[string]string{
	string(stats.LogitT):        "estimate ± t quantile × standard error on the logit scale, carried back to the bounds of the metric",
	string(stats.PlainT):        "estimate ± t quantile × standard error",
	string(stats.WilsonScore):   "Wilson's score interval of as many independent rows as would know as much: where no row differs, or the estimate is at a bound",
	string(stats.ConstantValue): "no row differs, and the metric has no bounds",
}

// methodSection says how the metrics of the page are defined. The footnotes are those
// that the sections before it have asked for.
func methodSection(data *pageData) *section {
	m := &methodView{Footnotes: data.notes.texts}
	for _, d := range slices.DeleteFunc(definitions(data), hidden) {
		m.Definitions = append(m.Definitions, definitionText{
			Name: d.Name, Aliases: strings.Join(d.Aliases, ", "), Summary: d.Summary, Formula: d.Formula,
			Better: betterWords[d.Direction], Bounds: boundsText(d.Min, d.Max), Undefined: d.UndefinedWhen, Source: d.Source,
			Kind: d.Kind.String(), Judged: d.Judged,
		})
	}
	used := make(map[string]bool)
	levels := make(map[string]bool)
	for _, s := range data.summary.rows {
		if s.Method != "" {
			used[s.Method] = true
			levels[levelText(s.Level)] = true
		}
	}
	for _, name := range sortedKeys(used) {
		m.Intervals = append(m.Intervals, intervalText{name, cmp.Or(intervalWords[name], "see the documentation of this method")})
	}
	if len(levels) > 0 {
		m.Notes = append(m.Notes, "Intervals are two-sided at level "+list(sortedKeys(levels))+
			". Rows that share a document are not independent of each other: the standard error is over documents, and degrees of freedom are fewer where few documents or rows carry it.")
	}
	m.Notes = append(m.Notes,
		"Macro is the mean of the rows' values; micro is the quotient of sums over rows.",
		"A metric without meaning for a row is undefined, with a reason. Such rows are left out of means and counted beside them.",
		whatFails())
	return &section{"method", "Method", m}
}

func whatFails() string {
	return fmt.Sprintf("A row fails if its worst problem is a warning or worse, or if its overall_citation_accuracy is below %v.", metrics.FailsBelow)
}

func boundsText(lo, hi float64) string {
	end := func(v float64) string {
		if math.IsInf(v, 0) {
			return "no limit"
		}
		return number(v)
	}
	return end(lo) + " to " + end(hi)
}
