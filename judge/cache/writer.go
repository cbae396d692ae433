package cache

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// maxBatch bounds what one transaction holds, and with it how long other
// processes wait for the file.
const maxBatch = 256

// A writer is the one goroutine of a process that writes to a store. It commits
// in groups: what queues up while one transaction is synced is the next one.
type writer struct {
	db    *sql.DB // of one connection
	queue chan operation
	done  chan struct{}

	gate   sync.RWMutex // held for reading while sending to queue
	closed bool
}

// An operation is one write and where its outcome goes.
type operation struct {
	do   func(*sql.DB) error
	done chan error // has room for one
}

func newWriter(ctx context.Context, path string) (*writer, error) {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db, path); err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{db: db, queue: make(chan operation, maxBatch), done: make(chan struct{})}
	go w.loop()
	return w, nil
}

// submit queues a write and waits until it is durable.
func (w *writer) submit(ctx context.Context, do func(*sql.DB) error) error {
	op := operation{do: do, done: make(chan error, 1)}
	if err := w.send(ctx, op); err != nil {
		return err
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) send(ctx context.Context, op operation) error {
	w.gate.RLock()
	defer w.gate.RUnlock()
	if w.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.queue <- op:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) loop() {
	defer close(w.done)
	batch := make([]operation, 0, maxBatch)
	for first := range w.queue {
		batch = append(batch[:0], first)
		for len(batch) < maxBatch && len(w.queue) > 0 {
			batch = append(batch, <-w.queue)
		}
		err := w.commit(batch)
		for _, op := range batch {
			op.done <- err
		}
	}
}

// commit writes all of a batch or nothing.
func (w *writer) commit(batch []operation) error {
	if _, err := run(w.db, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, op := range batch {
		if err := op.do(w.db); err != nil {
			_, undo := run(w.db, "ROLLBACK")
			return errors.Join(err, undo)
		}
	}
	_, err := run(w.db, "COMMIT")
	if err != nil {
		// A commit that fails for want of room may or may not have ended the
		// transaction; rolling back where there is none does no harm.
		_, _ = run(w.db, "ROLLBACK")
	}
	return err
}

// close writes what is queued and folds the log into the file as far as other
// processes let it.
func (w *writer) close() error {
	w.gate.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.gate.Unlock()
	<-w.done
	_, err := w.db.Exec("DELETE FROM lease WHERE until < ?", time.Now().UnixMilli())
	if err == nil || isBusy(err) {
		// Whoever closes the file last folds in the whole log; a process that waits
		// for the others to let it do so would only wait.
		_, err = w.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	if isBusy(err) {
		err = nil
	}
	return errors.Join(err, w.db.Close())
}

func (w *writer) isClosed() bool {
	w.gate.RLock()
	defer w.gate.RUnlock()
	return w.closed
}

// Get returns the entry of a key, nil if there is none. The entry is the caller's own.
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

// readFault says what an error of a read means, nil if there is none.
func (s *SQLite) readFault(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case s.writer.isClosed():
		return ErrClosed
	}
	return fault(s.path, err)
}
