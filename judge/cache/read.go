package cache

import (
	"context"
	"database/sql"
	"errors"
)

// Get returns the entry of a key, nil if there is none.
func (s *SQLite) Get(ctx context.Context, key Key) (*Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A read takes microseconds; a context that can end would cost it two
	// goroutines that wait for that.
	e, err := scanEntry(s.get.QueryRowContext(context.WithoutCancel(ctx), key[:]))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, s.readFault(ctx, err)
	}
	return e, nil
}

// readFault says what an error of a read means.
func (s *SQLite) readFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.writer.isClosed() {
		return ErrClosed
	}
	return fault(s.path, err)
}
