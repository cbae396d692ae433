//go:build unix

package main

import (
	"fmt"
	"io"

	"ibid/annotations"
)

// show prints what judges came to on a set.
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
