package harness

import "context"

// SummarizeAgain makes summary.parquet from rows.parquet alone, in memory or by way of
// temporary files.
func (p *Plan) SummarizeAgain(ctx context.Context, spill bool) error {
	memory := summaryMemory
	if spill {
		memory = 1
	}
	_, err := p.summarize(ctx, memory)
	return err
}
