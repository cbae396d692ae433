package report

import (
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
	string(stats.CR1T):                "mean ± t quantile (clusters − 1 degrees of freedom) × CR1 standard error over clusters",
	string(stats.LogitCR3):            "t quantile (effective clusters − 1 degrees of freedom) × delete-one-cluster standard error on the logit scale, carried back to the bounds of the metric",
	string(stats.AtanhT):              "t quantile × standard error on the scale of atanh, carried back: of a difference",
	string(stats.AtanhCR3):            "the same for a difference, on the scale of atanh",
	string(stats.WilsonT):             "Wilson's score interval with Student's t, one trial for each effective cluster: where all clusters agree",
	string(stats.CR1Effective):        "the same with the degrees of freedom that clusters of unequal size leave",
	string(stats.DeltaT):              "ratio ± t quantile × linearised standard error over clusters",
	string(stats.LogitT):              "the linearised interval on the logit scale, carried back to (0, 1)",
	string(stats.LogitEffective):      "the same, with the degrees of freedom and the standard error that clusters of unequal size leave",
	string(stats.WilsonScore):         "Wilson's score interval of a proportion",
	string(stats.WilsonCluster):       "Wilson's score interval at the effective sample size that clusters leave",
	string(stats.WilsonClusterT):      "Wilson's score interval at the effective sample size that clusters leave, adjusted for their number",
	string(stats.BCaBootstrap):        "bias-corrected and accelerated interval of a bootstrap of clusters",
	string(stats.PercentileBootstrap): "percentile interval of a bootstrap of clusters",
	string(stats.ClopperPearsonExact): "exact binomial interval of Clopper and Pearson",
}

// dependenceWords say what stands in place of independent rows, by the ends of methods.
var dependenceWords = map[string]string{
	stats.ByComponents: "rows that documents connect are one cluster",
	stats.ByPairs:      "the standard error is over all pairs of rows that share a document; effective documents take the place of clusters",
	stats.ByDocuments:  "the standard error is over sums of the rows of each document; effective documents take the place of clusters",
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
		text := intervalWords[string(stats.Method(name).Base())]
		if _, how, depends := strings.Cut(name, "/"); depends {
			text += "; " + dependenceWords[how]
		}
		if text == "" {
			text = "see the documentation of this method"
		}
		m.Intervals = append(m.Intervals, intervalText{name, text})
	}
	if len(levels) > 0 {
		m.Notes = append(m.Notes, "Intervals are two-sided at level "+list(sortedKeys(levels))+
			". Rows of one cluster are not independent of each other, so standard errors are over clusters.")
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
