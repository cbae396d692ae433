package harness

import "context"

// SummarizeAgain makes summary.parquet from rows.parquet alone: of all groups together, or one
// group after the other.
func (p *Plan) SummarizeAgain(ctx context.Context, one bool) error {
	memory := summaryMemory
	if one {
		memory = 1
	}
	_, err := p.summarize(ctx, memory)
	return err
}
