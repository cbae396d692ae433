package report

import (
	"fmt"
	"slices"
	"strings"
)

// writeMarkdown writes what fits a pull request or the summary of a CI step: the
// verdict and what matters most at once, every number folded away below.
func (s *Summary) writeMarkdown(p *paper) {
	fmt.Fprintf(p, "## %s%s\n", gateWords[countGates(s.Gates).gravest()].sign, markdownText(s.Title))
	if len(s.Gates) > 0 {
		markdownGates(p, s.Gates)
	}
	for _, sign := range s.Run.Shown() {
		fmt.Fprintf(p, "\n- %s\n", markdownText(sign.Sentence()))
	}
	s.markdownLead(p)
	fmt.Fprintf(p, "\n<details><summary>all metrics</summary>\n")
	for _, block := range s.Blocks {
		fmt.Fprintf(p, "\n### %s\n\n| metric | macro | %s | micro | %s | n | undefined |\n|---|--:|--:|--:|--:|--:|--:|\n",
			markdownText(block.Title), levelOf(block), levelOf(block))
		for _, l := range block.Lines {
			if !l.Count {
				fmt.Fprintf(p, "| %s |\n", strings.Join(textLine(l, &p.notes), " | "))
			}
		}
	}
	p.WriteString("\n</details>\n")
	p.footnotes()
}

// markdownLead sets the metrics that matter most side by side, one line for each
// system; the line of all systems comes last.
func (s *Summary) markdownLead(p *paper) {
	var blocks []summaryBlock
	for _, block := range s.Blocks {
		if block.Slice == "" && len(block.Lines) > 0 {
			blocks = append(blocks, block)
		}
	}
	slices.SortStableFunc(blocks, func(x, y summaryBlock) int { return pooledLast(x) - pooledLast(y) })
	lead := leadOf(func(name string) bool {
		return slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
	})
	if len(lead) == 0 {
		return
	}
	fmt.Fprintf(p, "\n| macro, %s |", levelOf(blocks[0]))
	for _, name := range lead {
		fmt.Fprintf(p, " %s |", label(name))
	}
	p.WriteString("\n|---|" + strings.Repeat("--:|", len(lead)) + "\n")
	for i := range blocks {
		fmt.Fprintf(p, "| %s |", markdownText(blocks[i].Title))
		for _, name := range lead {
			l := blocks[i].line(name)
			if l == nil {
				p.WriteString(" – |")
				continue
			}
			fmt.Fprintf(p, " %s |", strings.TrimSpace(estimateText(&l.Macro)+p.notes.marks(l.Notes)+" "+interval(l.Macro.Low, l.Macro.High)))
		}
		p.WriteString("\n")
	}
}

func pooledLast(b summaryBlock) int {
	if b.System == "" {
		return 1
	}
	return 0
}

// line finds a metric of the block, or nil.
func (b *summaryBlock) line(metric string) *summaryLine {
	i := slices.IndexFunc(b.Lines, func(l summaryLine) bool { return l.Metric.Name == metric && !l.Count })
	if i < 0 {
		return nil
	}
	return &b.Lines[i]
}
