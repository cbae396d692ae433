package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/metrics"
	"ibid/report/doc"
)

// methodSection says how the metrics of the page are defined.
func methodSection(data *pageData) *doc.Section {
	levels := make(map[string]bool)
	for _, r := range data.results {
		for i := range r.run.Summary {
			if s := &r.run.Summary[i]; s.Method != "" {
				levels[levelText(s.Level)] = true
			}
		}
	}
	var out []doc.Block
	say := func(text string) { out = append(out, doc.Para{Text: doc.T(text)}) }
	if len(levels) > 0 {
		say("Intervals are two-sided at level " + list(sortedKeys(levels)) +
			". Rows that share a document are not independent of each other: the standard error is over documents, and degrees of freedom are fewer where few documents or rows carry it.")
	}
	say("Macro is the mean of the rows' values; micro is the quotient of sums over rows.")
	say("A metric without meaning for a row is undefined, with a reason. Such rows are left out of means and counted beside them.")
	say(whatFails())
	var defined doc.Facts
	for _, d := range slices.DeleteFunc(definitions(data), hidden) {
		defined = append(defined, doc.Fact{ID: "m-" + d.Name, Name: d.Name, Text: doc.T(definitionText(&d))})
	}
	return docSection("method", "Method", append(out, doc.Details{Summary: "Definitions of " + Plural(int64(len(defined)), "metric", "metrics"), Blocks: []doc.Block{defined}}))
}

// definitionText is the definition of a metric in words.
func definitionText(d *metrics.Definition) string {
	text := fmt.Sprintf("%s. Formula: %s. Kind: %s, %s, %s", strings.TrimSuffix(d.Summary, "."), strings.TrimSuffix(d.Formula, "."), d.Kind, betterWords[d.Direction], boundsText(d.Min, d.Max))
	if d.Judged {
		text += ", needs a judge"
	}
	for _, part := range []struct{ name, text string }{{"Undefined when ", d.UndefinedWhen}, {"Source: ", d.Source}, {"Also called ", strings.Join(d.Aliases, ", ")}} {
		if part.text != "" {
			text += ". " + part.name + strings.TrimSuffix(part.text, ".")
		}
	}
	return text + "."
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
