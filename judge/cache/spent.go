package cache

import (
	"context"
	"time"
)

// Spent is what the calls of a run cost since a time, failed ones with them, in
// billionths of a US dollar. The time spares it older calls: since the run began
// is all of them.
func (s *SQLite) Spent(ctx context.Context, run string, since time.Time) (nanoUSD int64, err error) {
	err = s.reader.QueryRowContext(ctx, "SELECT coalesce(sum(cost_nano_usd), 0) FROM attempt WHERE at >= ? AND run = ?",
		since.UnixMilli(), run).Scan(&nanoUSD)
	if err != nil {
		return 0, s.readFault(ctx, err)
	}
	return nanoUSD, nil
}
