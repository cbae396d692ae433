package cache

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Entries are all entries in the order in which they were put, as they stood
// when the walk began. An error ends it.
func (s *SQLite) Entries(ctx context.Context) iter.Seq2[*Entry, error] {
	return walk(ctx, s, "SELECT "+entryColumns+" FROM entry ORDER BY id", scanEntry)
}

// Attempts are all attempts in the order in which they were recorded, as they
// stood when the walk began. An error ends it.
func (s *SQLite) Attempts(ctx context.Context) iter.Seq2[Attempt, error] {
	return walk(ctx, s, "SELECT "+attemptColumns+" FROM attempt ORDER BY id", scanAttempt)
}

func walk[T any](ctx context.Context, s *SQLite, query string, scan func(scanner) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		enough := errors.New("enough")
		err := each(ctx, s.reader, func(row scanner) error {
			v, err := scan(row)
			if err == nil && !yield(v, nil) {
				err = enough
			}
			return err
		}, query)
		if err != nil && err != enough {
			var none T
			yield(none, s.readFault(ctx, err))
		}
	}
}

func scanAttempt(row scanner) (Attempt, error) {
	var a Attempt
	var key []byte
	var at int64
	err := row.Scan(&key, &a.N, &a.HTTPStatus, &a.Class, &a.Millis, &a.CostNanoUSD, &a.GenerationID, &a.Error, &at, &a.Run)
	copy(a.Key[:], key)
	a.At = time.UnixMilli(at).UTC()
	return a, err
}
