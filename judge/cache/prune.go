package cache

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Removed counts what a prune removes.
type Removed struct{ Entries, Attempts int64 }

// stepRows and stepPages bound what one transaction of a prune takes, so that
// runs that use the store get to write in between.
const (
	stepRows  = 1000
	stepPages = 1000
)

// Removable counts what Prune would remove.
func (s *SQLite) Removable(ctx context.Context, before time.Time) (Removed, error) {
	var r Removed
	row := s.reader.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM entry WHERE created < ?1), (SELECT count(*) FROM attempt WHERE at < ?1)", before.UnixMilli())
	if err := row.Scan(&r.Entries, &r.Attempts); err != nil {
		return Removed{}, s.readFault(ctx, err)
	}
	return r, nil
}

// Prune removes the entries and attempts from before a moment and gives their
// room on disk back. If it fails, some are gone already: those it counts.
func (s *SQLite) Prune(ctx context.Context, before time.Time) (Removed, error) {
	return s.remove(ctx, before.UnixMilli())
}

// Clear removes all entries and attempts, and the leases.
func (s *SQLite) Clear(ctx context.Context) (Removed, error) {
	r, err := s.remove(ctx, math.MaxInt64)
	if err != nil {
		return r, err
	}
	return r, s.write(ctx, func(p *prepared) error {
		_, err := p.conn.ExecContext(ctx, "DELETE FROM lease")
		return err
	})
}

func (s *SQLite) remove(ctx context.Context, before int64) (r Removed, err error) {
	if r.Entries, err = s.removeFrom(ctx, "entry", "created", before); err != nil {
		return r, err
	}
	if r.Attempts, err = s.removeFrom(ctx, "attempt", "at", before); err != nil {
		return r, err
	}
	return r, s.shrink(ctx)
}

func (s *SQLite) removeFrom(ctx context.Context, table, column string, before int64) (int64, error) {
	query := fmt.Sprintf("DELETE FROM %[1]s WHERE id IN (SELECT id FROM %[1]s WHERE %[2]s < ? LIMIT %[3]d)", table, column, stepRows)
	var sum int64
	for {
		n, err := s.count(ctx, func(p *prepared) (int64, error) {
			res, err := p.conn.ExecContext(ctx, query, before)
			if err != nil {
				return 0, err
			}
			return res.RowsAffected()
		})
		sum += n
		if err != nil || n == 0 {
			return sum, err
		}
	}
}

// shrink takes free pages off the end of the file.
func (s *SQLite) shrink(ctx context.Context) error {
	for {
		free, err := s.count(ctx, func(p *prepared) (free int64, err error) {
			if _, err := p.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", stepPages)); err != nil {
				return 0, err
			}
			return free, p.conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free)
		})
		if err != nil || free == 0 {
			return err
		}
	}
}

// count does a write that counts.
func (s *SQLite) count(ctx context.Context, do func(*prepared) (int64, error)) (int64, error) {
	counted := make(chan int64, 1)
	err := s.write(ctx, func(p *prepared) error {
		n, err := do(p)
		if err == nil {
			counted <- n
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return <-counted, nil
}
