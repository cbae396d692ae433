package cache

import (
	"context"
	"time"
)

// Latency is the mean time that stored answers of a model took, over at most the
// latest thousand; n is how many there are. It is 0 without answers.
func (s *SQLite) Latency(ctx context.Context, requested string) (mean time.Duration, n int64, err error) {
	var millis float64
	err = s.reader.QueryRowContext(ctx, `SELECT coalesce(avg(latency_ms), 0), count(*) FROM
		(SELECT latency_ms FROM entry WHERE model_requested = ? ORDER BY id DESC LIMIT 1000)`, requested).Scan(&millis, &n)
	if err != nil {
		return 0, 0, s.readFault(ctx, err)
	}
	return time.Duration(millis * float64(time.Millisecond)), n, nil
}
