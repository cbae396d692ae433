package cache

import (
	"context"
	"database/sql"
	"errors"
)

// Get returns the entry of a key, nil if there is none.
func (s *SQLite) Get(ctx context.Context, key Key) (*Entry, error) {
	e, err := scanEntry(s.get.QueryRowContext(ctx, key[:]))
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
