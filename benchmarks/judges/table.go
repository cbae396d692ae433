//go:build unix

package main

import (
	"fmt"
	"io"

	"ibid/annotations"
	"ibid/metrics/stats"
)

// show prints what judges came to on a set, and how far they differ from plain overlap,
// which is the first.
func show(out io.Writer, set *labelledSet, results []*measured) {
	fmt.Fprintf(out, "\n### %s\n\n", set.name)
	fmt.Fprintln(out, "| judge | claims | AUROC | balanced accuracy | at best threshold, held out | κ | contradicted, of them right | flips | attacks | $ per 1,000 | s per 1,000 |")
	fmt.Fprintln(out, "|---|--:|---|---|--:|---|--:|--:|--:|--:|--:|")
	for _, m := range results {
		c := m.calibration
		held := "–"
		if b := c.Best; b != nil && b.BalancedAccuracy.Known() {
			held = fmt.Sprintf("%.3f", b.BalancedAccuracy.Value)
		}
		flips, cost := "–", "–"
		if m.flips != nil && m.flips.Defined() {
			flips = fmt.Sprintf("%.3f%s", m.flips.Value, between(m.flips))
		}
		if m.cost != nil {
			cost = fmt.Sprintf("%.3f", *m.cost)
		}
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %d, %d | %s | %s | %s | %.2f |\n", m.variant, c.Items,
			statistic(c, "auroc"), statistic(c, "balanced_accuracy"), held, statistic(c, "kappa"), m.contradicted, m.right, flips, m.attacks, cost, m.seconds)
	}
	fmt.Fprintf(out, "\nAUROC less that of plain overlap, on the claims that both have a score of:\n\n")
	fmt.Fprintln(out, "| judge | claims | difference | p |")
	fmt.Fprintln(out, "|---|--:|---|--:|")
	for _, m := range results[1:] {
		showDifference(out, m.variant, m, results[0], func(string) bool { return true })
		if set.known != nil {
			showDifference(out, m.variant+", without claims that rules were measured on", m, results[0], func(item string) bool { return !set.known[item] })
		}
	}
}

func showDifference(out io.Writer, name string, a, b *measured, keep func(string) bool) {
	x, y, human, clusters := paired(a.items, b.items, keep)
	positive := make([]bool, len(human))
	for i, v := range human {
		positive[i] = v >= a.calibration.Positive
	}
	d, test := stats.PairedAUROC(x, y, positive, clusters, a.calibration.Level)
	if !d.Defined() {
		return
	}
	p := "–"
	if test.Defined() {
		p = fmt.Sprintf("%.2g", test.P)
	}
	fmt.Fprintf(out, "| %s | %d | %+.3f%s | %s |\n", name, len(x), d.Value, between(&d), p)
}

// statistic is a number of a calibration with its interval.
func statistic(c *annotations.Calibration, name string) string {
	r := c.Statistic(name)
	if r.Estimate == nil {
		return "–"
	}
	if r.Low == nil || r.High == nil {
		return fmt.Sprintf("%.3f", *r.Estimate)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *r.Estimate, *r.Low, *r.High)
}

func between(e *stats.Estimate) string {
	if !e.HasInterval {
		return ""
	}
	return fmt.Sprintf(" [%.3f, %.3f]", e.Low, e.High)
}

// published is what others measured. Their sets are larger and cut otherwise, so these
// figures are beside the ones above, not among them.
const published = `
### Published

| judge | set | balanced accuracy |
|---|---|--:|
| Bespoke-MiniCheck-7B | LLM-AggreFact, mean over its sets | 0.774 |
| GPT-4o | LLM-AggreFact, mean over its sets | 0.759 |
| FactCG (0.4 B) | LLM-AggreFact, mean over its sets | 0.756 |
| GPT-3.5 | LLM-AggreFact, mean over its sets | 0.701 |
| best of 39 models | LLM-AggreFact, ExpertQA alone | 0.610 |
| GPT-4-turbo | LLM-AggreFact, ExpertQA alone | 0.592 |
`
