package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"
)

// Stats say what a store holds.
type Stats struct {
	Bytes   int64 `json:"bytes"` // on disk, with the log
	Entries int64 `json:"entries"`
	// What the stored answers cost, which is what a rerun saves.
	EntryCostUSD float64 `json:"entry_cost_usd"`
	Attempts     int64   `json:"attempts"`
	// What all calls on record cost, those that led to nothing with them.
	AttemptCostUSD float64 `json:"attempt_cost_usd"`
	// When the first and the last answer came; null without answers.
	Oldest  *time.Time   `json:"oldest"`
	Newest  *time.Time   `json:"newest"`
	Models  []ModelStats `json:"models"`  // by model and provider
	Classes []ClassStats `json:"classes"` // by class
}

// ModelStats are the entries of one model at one provider.
type ModelStats struct {
	Model            string  `json:"model"` // who answered; who was asked, where that is not known
	Provider         string  `json:"provider"`
	Entries          int64   `json:"entries"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	CostUSD          float64 `json:"cost_usd"`
}

// ClassStats are the attempts that ended in one way.
type ClassStats struct {
	Class    string  `json:"class"`
	Attempts int64   `json:"attempts"`
	CostUSD  float64 `json:"cost_usd"`
}

// Stats counts what is stored at one moment. It reads all of the store.
func (s *SQLite) Stats(ctx context.Context) (*Stats, error) {
	out, err := s.stats(ctx)
	return out, s.readFault(ctx, err)
}

func (s *SQLite) stats(ctx context.Context) (*Stats, error) {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // nothing was written
	out := &Stats{Models: []ModelStats{}, Classes: []ClassStats{}}
	var oldest, newest sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT n, cost, oldest, newest, calls, spent FROM
		(SELECT count(*) AS n, coalesce(sum(cost_nano_usd), 0) / 1e9 AS cost, min(created) AS oldest, max(created) AS newest FROM entry),
		(SELECT count(*) AS calls, coalesce(sum(cost_nano_usd), 0) / 1e9 AS spent FROM attempt)`).
		Scan(&out.Entries, &out.EntryCostUSD, &oldest, &newest, &out.Attempts, &out.AttemptCostUSD)
	if err != nil {
		return nil, err
	}
	if oldest.Valid {
		out.Oldest, out.Newest = new(time.UnixMilli(oldest.Int64).UTC()), new(time.UnixMilli(newest.Int64).UTC())
	}
	err = each(ctx, tx, func(row scanner) error {
		var m ModelStats
		err := row.Scan(&m.Model, &m.Provider, &m.Entries, &m.PromptTokens, &m.CompletionTokens, &m.CostUSD)
		out.Models = append(out.Models, m)
		return err
	}, `SELECT iif(model_resolved = '', model_requested, model_resolved) AS model, provider,
		count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost_nano_usd) / 1e9 FROM entry GROUP BY model, provider ORDER BY model, provider`)
	if err != nil {
		return nil, err
	}
	err = each(ctx, tx, func(row scanner) error {
		var c ClassStats
		err := row.Scan(&c.Class, &c.Attempts, &c.CostUSD)
		out.Classes = append(out.Classes, c)
		return err
	}, "SELECT class, count(*), sum(cost_nano_usd) / 1e9 FROM attempt GROUP BY class ORDER BY class")
	if err != nil {
		return nil, err
	}
	out.Bytes, err = Size(s.path)
	return out, err
}

// Size is the number of bytes that the store at path takes on disk, its log
// included.
func Size(path string) (int64, error) {
	var sum int64
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case err == nil:
			sum += info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return sum, nil
}

// Removed counts what a prune removes.
type Removed struct {
	Entries  int64 `json:"entries"`
	Attempts int64 `json:"attempts"`
}

// Always is later than every answer: [SQLite.Prune] before it removes all.
var Always = time.UnixMilli(math.MaxInt64)

// stepRows and stepPages bound what one transaction of a prune takes, so that
// runs that use the store get to write in between.
const (
	stepRows  = 1000
	stepPages = 1000
)

// Removable counts what Prune would remove.
func (s *SQLite) Removable(ctx context.Context, before time.Time) (Removed, error) {
	var r Removed
	err := s.one(ctx, "SELECT (SELECT count(*) FROM entry WHERE created < ?1), (SELECT count(*) FROM attempt WHERE at < ?1)", []any{before.UnixMilli()}, &r.Entries, &r.Attempts)
	return r, err
}

// Prune removes the entries and attempts from before a moment and gives their
// room on disk back. If it fails, some are gone already: those it counts.
func (s *SQLite) Prune(ctx context.Context, before time.Time) (r Removed, err error) {
	at := before.UnixMilli()
	if r.Entries, err = s.inSteps(ctx, "DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE created < ? LIMIT ?)", at, stepRows); err != nil {
		return r, err
	}
	if r.Attempts, err = s.inSteps(ctx, "DELETE FROM attempt WHERE id IN (SELECT id FROM attempt WHERE at < ? LIMIT ?)", at, stepRows); err != nil {
		return r, err
	}
	// Batches that the service still has are paid for.
	_, err = s.exec(ctx, "DELETE FROM batch WHERE state = 'done' AND created < ?1; DELETE FROM batch_line WHERE batch NOT IN (SELECT id FROM batch)", at)
	if err != nil {
		return r, err
	}
	return r, s.shrink(ctx)
}

// inSteps repeats a statement until it changes nothing, and returns how many rows it changed.
func (s *SQLite) inSteps(ctx context.Context, query string, args ...any) (sum int64, err error) {
	for {
		n, err := s.exec(ctx, query, args...)
		sum += n
		if err != nil || n == 0 {
			return sum, err
		}
	}
}

// shrink takes free pages off the end of the file.
func (s *SQLite) shrink(ctx context.Context) error {
	for {
		free, err := s.write(ctx, func(conn *sql.DB) (free int64, err error) {
			if _, err := run(conn, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", stepPages)); err != nil {
				return 0, err
			}
			return free, conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free)
		})
		if err != nil || free == 0 {
			return err
		}
	}
}

// one reads the one row that a query has.
func (s *SQLite) one(ctx context.Context, query string, args []any, to ...any) error {
	return s.readFault(ctx, s.reader.QueryRowContext(ctx, query, args...).Scan(to...))
}

// each calls scan for every row that a query has.
func each(ctx context.Context, from interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, scan func(scanner) error, query string, args ...any,
) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Latency is the mean time that stored answers of a model took, over at most the
// latest thousand that did not come in a batch; n is how many there are. It is 0
// without answers.
func (s *SQLite) Latency(ctx context.Context, requested string) (mean time.Duration, n int64, err error) {
	var millis float64
	err = s.one(ctx, `SELECT coalesce(avg(latency_ms), 0), count(*) FROM
		(SELECT latency_ms FROM entry WHERE model_requested = ? AND sent NOT LIKE 'batch%' ORDER BY id DESC LIMIT 1000)`, []any{requested}, &millis, &n)
	return time.Duration(millis * float64(time.Millisecond)), n, err
}

// Spent is what the calls of a run cost since a time, failed ones with them, in
// billionths of a US dollar. Since the run began is all of them; the time spares it
// older calls.
func (s *SQLite) Spent(ctx context.Context, run string, since time.Time) (nanoUSD int64, err error) {
	err = s.one(ctx, "SELECT coalesce(sum(cost_nano_usd), 0) FROM attempt WHERE at >= ? AND run = ?", []any{since.UnixMilli(), run}, &nanoUSD)
	return nanoUSD, err
}
