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
	queue chan *operation
	done  chan struct{}

	gate   sync.RWMutex // held for reading while sending to queue
	closed bool
}

// An operation is one write, what it has counted, and where its outcome goes.
type operation struct {
	do   func(*sql.DB) (int64, error)
	n    int64
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
	w := &writer{db: db, queue: make(chan *operation, maxBatch), done: make(chan struct{})}
	go w.loop()
	return w, nil
}

// submit queues a write, waits until it is durable, and returns what it has counted.
func (w *writer) submit(ctx context.Context, do func(*sql.DB) (int64, error)) (int64, error) {
	op := &operation{do: do, done: make(chan error, 1)}
	if err := w.send(ctx, op); err != nil {
		return 0, err
	}
	select {
	case err := <-op.done:
		return op.n, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (w *writer) send(ctx context.Context, op *operation) error {
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
	batch := make([]*operation, 0, maxBatch)
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
func (w *writer) commit(batch []*operation) error {
	if _, err := run(w.db, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, op := range batch {
		var err error
		if op.n, err = op.do(w.db); err != nil {
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
