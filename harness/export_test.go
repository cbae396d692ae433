package harness

import "context"

// SummarizeAgain makes summary.parquet from rows.parquet alone.
func (p *Plan) SummarizeAgain(ctx context.Context) error {
	_, err := p.summarize(ctx, nil)
	return err
}
