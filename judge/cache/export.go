package cache

import (
	"context"
	"iter"
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
		var none T
		rows, err := s.reader.QueryContext(ctx, query)
		if err != nil {
			yield(none, s.readFault(ctx, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, s.readFault(ctx, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, s.readFault(ctx, err))
		}
	}
}
