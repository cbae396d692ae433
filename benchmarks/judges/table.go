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
	fmt.Fprintln(out, "| judge | claims | AUROC | balanced accuracy | at best threshold, held out | κ | $ per 1,000 | s per 1,000 |")
	fmt.Fprintln(out, "|---|--:|---|---|--:|---|--:|--:|")
	for _, m := range results {
		c := m.calibration
		held := "–"
		if b := c.Best; b != nil && b.BalancedAccuracy.Known() {
			held = fmt.Sprintf("%.3f", b.BalancedAccuracy.Value)
		}
		cost := "–"
		if m.cost != nil {
			cost = fmt.Sprintf("%.3f", *m.cost)
		}
		fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %s | %s | %.2f |\n", m.variant, c.Items,
			statistic(c, "auroc"), statistic(c, "balanced_accuracy"), held, statistic(c, "kappa"), cost, m.seconds)
	}
	fmt.Fprintf(out, "\nAUROC less that of plain overlap, on the claims that both have a score of:\n\n")
	fmt.Fprintln(out, "| judge | claims | difference | p |")
	fmt.Fprintln(out, "|---|--:|---|--:|")
	for _, m := range results[1:] {
		showDifference(out, m, results[0])
	}
}

func showDifference(out io.Writer, a, b *measured) {
	x, y, human, clusters := paired(a.items, b.items)
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
	fmt.Fprintf(out, "| %s | %d | %+.3f%s | %s |\n", a.variant, len(x), d.Value, between(&d), p)
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
