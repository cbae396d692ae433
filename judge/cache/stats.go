package cache

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Stats say what a store holds.
type Stats struct {
	Entries, Attempts int64
	// EntryCostNanoUSD is what the stored answers cost, which is what a rerun
	// saves; AttemptCostNanoUSD is what all calls on record cost, those that led
	// to nothing with them. Both in billionths of a US dollar.
	EntryCostNanoUSD, AttemptCostNanoUSD int64
	// Bytes is the size on disk with the log.
	Bytes int64
	// Oldest and Newest are when the first and the last answer came; zero
	// without entries.
	Oldest, Newest time.Time
	Models         []ModelStats // by model and provider
	Classes        []ClassStats // by class
}

// ModelStats are the entries of one model at one provider.
type ModelStats struct {
	Model                          string // who answered; who was asked, where that is not known
	Provider                       string
	Entries                        int64
	PromptTokens, CompletionTokens int64
	CostNanoUSD                    int64
}

// ClassStats are the attempts that ended in one way.
type ClassStats struct {
	Class                 string
	Attempts, CostNanoUSD int64
}

// Stats counts what is stored at one moment. It reads all of the store.
func (s *SQLite) Stats(ctx context.Context) (*Stats, error) {
	out, err := s.stats(ctx)
	if err != nil {
		return nil, s.readFault(ctx, err)
	}
	return out, nil
}

func (s *SQLite) stats(ctx context.Context) (*Stats, error) {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // nothing was written
	out := new(Stats)
	if err := out.addModels(ctx, tx); err != nil {
		return nil, err
	}
	if err := out.addClasses(ctx, tx); err != nil {
		return nil, err
	}
	var oldest, newest sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT min(created), max(created) FROM entry").Scan(&oldest, &newest); err != nil {
		return nil, err
	}
	if oldest.Valid {
		out.Oldest, out.Newest = time.UnixMilli(oldest.Int64).UTC(), time.UnixMilli(newest.Int64).UTC()
	}
	out.Bytes, err = Size(s.path)
	return out, err
}

func (s *Stats) addModels(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT iif(model_resolved = '', model_requested, model_resolved) AS model, provider,
		count(*), sum(prompt_tokens), sum(completion_tokens), sum(cost_nano_usd) FROM entry GROUP BY model, provider ORDER BY model, provider`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m ModelStats
		if err := rows.Scan(&m.Model, &m.Provider, &m.Entries, &m.PromptTokens, &m.CompletionTokens, &m.CostNanoUSD); err != nil {
			return err
		}
		s.Models = append(s.Models, m)
		s.Entries += m.Entries
		s.EntryCostNanoUSD += m.CostNanoUSD
	}
	return rows.Err()
}

func (s *Stats) addClasses(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "SELECT class, count(*), sum(cost_nano_usd) FROM attempt GROUP BY class ORDER BY class")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var c ClassStats
		if err := rows.Scan(&c.Class, &c.Attempts, &c.CostNanoUSD); err != nil {
			return err
		}
		s.Classes = append(s.Classes, c)
		s.Attempts += c.Attempts
		s.AttemptCostNanoUSD += c.CostNanoUSD
	}
	return rows.Err()
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
