package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A Batch is a promise of answers: questions that were, or will be, sent together and
// are answered later. It stands in the store from before it is sent until its answers
// are in.
type Batch struct {
	ID    int64 // given by the store
	Token Key   // random: its name before the service has given it one
	// Endpoint and Model are whom it goes to.
	Endpoint, Model string
	Questions       int64
	State           BatchState
	ServiceID       string // what the service calls it, "" if that is not known
	Created         time.Time
	ReservedNanoUSD int64  // the most that it can cost
	Run             string // that pays for it
}

// A BatchState says how far a batch is.
type BatchState string

// The states of a batch.
const (
	BatchIntent BatchState = "intent" // it was sent, or was about to be: the service may have it
	BatchOpen   BatchState = "open"   // the service has it, under ServiceID
	BatchDone   BatchState = "done"   // what came of it is in the store
)

// A BatchLine is one question of a batch.
type BatchLine struct {
	Key       Key
	Batch     int64
	State     LineState
	MaxTokens int64 // room for the reply
	Form      int64 // how it was asked, in the words of who asks
	// Raw is the body of the reply, CostNanoUSD what it cost; of a line that was
	// answered. Error says why another one was not.
	Raw         []byte
	CostNanoUSD int64
	Error       string
	BatchState  BatchState // of its batch; set by Line alone
}

// A LineState says what became of a line.
type LineState string

// The states of a line.
const (
	LineSent     LineState = "sent"
	LineAnswered LineState = "answered"
	LineExpired  LineState = "expired" // it was not done; it may be sent again
	LineRefused  LineState = "refused" // sent again it would be refused again
)

// addBatches makes schema 3.
const addBatches = `
CREATE TABLE batch (
	id                INTEGER PRIMARY KEY,
	token             BLOB    NOT NULL UNIQUE,
	endpoint          TEXT    NOT NULL,
	model             TEXT    NOT NULL,
	questions         INTEGER NOT NULL,
	digest            BLOB    NOT NULL,
	state             TEXT    NOT NULL,
	service_id        TEXT    NOT NULL,
	created           INTEGER NOT NULL,
	reserved_nano_usd INTEGER NOT NULL,
	cost_nano_usd     INTEGER NOT NULL,
	run               TEXT    NOT NULL
);
CREATE TABLE batch_line (
	id            INTEGER PRIMARY KEY,
	key           BLOB    NOT NULL,
	batch         INTEGER NOT NULL,
	state         TEXT    NOT NULL,
	max_tokens    INTEGER NOT NULL,
	form          INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	error         TEXT    NOT NULL,
	raw           BLOB    NOT NULL,
	UNIQUE (key, batch)
);
CREATE INDEX batch_line_batch ON batch_line (batch);
`

const (
	batchColumns = "token, endpoint, model, questions, state, service_id, created, reserved_nano_usd, run"
	lineColumns  = "key, batch, state, max_tokens, form, cost_nano_usd, error, raw"
)

// AddBatch keeps a batch with its lines, all or nothing, and sets its ID. It is
// durable when AddBatch returns.
func (s *SQLite) AddBatch(ctx context.Context, b *Batch, lines []BatchLine) error {
	var id int64
	err := s.write(ctx, func(conn *sql.DB) error {
		res, err := conn.ExecContext(context.WithoutCancel(ctx), "INSERT INTO batch ("+batchColumns+", digest, cost_nano_usd) VALUES (?,?,?,?,?,?,?,?,?,x'',0)",
			b.Token[:], b.Endpoint, b.Model, b.Questions, string(b.State), b.ServiceID, b.Created.UnixMilli(), b.ReservedNanoUSD, b.Run)
		if err != nil {
			return err
		}
		if id, err = res.LastInsertId(); err != nil {
			return err
		}
		insert, err := conn.PrepareContext(context.WithoutCancel(ctx), "INSERT INTO batch_line ("+lineColumns+") VALUES (?,?,?,?,?,0,'',x'')")
		if err != nil {
			return err
		}
		defer insert.Close()
		for i := range lines {
			if _, err := insert.Exec(lines[i].Key[:], id, string(LineSent), lines[i].MaxTokens, lines[i].Form); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		b.ID = id
	}
	return err
}

// OpenBatch keeps that the service has a batch, and what it calls it.
func (s *SQLite) OpenBatch(ctx context.Context, id int64, serviceID string) error {
	return s.exec(ctx, "UPDATE batch SET state = 'open', service_id = ? WHERE id = ?", serviceID, id)
}

// DropBatch forgets a batch that the service never had, or will not answer: its
// questions are free to be asked.
func (s *SQLite) DropBatch(ctx context.Context, id int64) error {
	return s.exec(ctx, "DELETE FROM batch_line WHERE batch = ?1; DELETE FROM batch WHERE id = ?1", id)
}

// Batches are the batches of an endpoint in the order in which they were made.
func (s *SQLite) Batches(ctx context.Context, endpoint string) ([]Batch, error) {
	var out []Batch
	err := each(ctx, s.reader, func(row scanner) error {
		var b Batch
		var token []byte
		var created int64
		err := row.Scan(&b.ID, &token, &b.Endpoint, &b.Model, &b.Questions, &b.State, &b.ServiceID, &created, &b.ReservedNanoUSD, &b.Run)
		copy(b.Token[:], token)
		b.Created = time.UnixMilli(created).UTC()
		out = append(out, b)
		return err
	}, "SELECT id, "+batchColumns+" FROM batch WHERE endpoint = ? ORDER BY id", endpoint)
	if err != nil {
		return nil, s.readFault(ctx, err)
	}
	return out, nil
}

// Line is what batches have on a question: the line that was answered, else the last
// one, with how many there are that expired; nil if there is none.
func (s *SQLite) Line(ctx context.Context, key Key) (line *BatchLine, expired int, err error) {
	l := &BatchLine{Key: key}
	err = s.reader.QueryRowContext(ctx, `SELECT l.batch, l.state, l.max_tokens, l.form, l.cost_nano_usd, l.error, l.raw, b.state,
		(SELECT count(*) FROM batch_line WHERE key = ?1 AND state = 'expired')
		FROM batch_line l JOIN batch b ON b.id = l.batch WHERE l.key = ?1 ORDER BY l.state = 'answered' DESC, l.id DESC LIMIT 1`, key[:]).
		Scan(&l.Batch, &l.State, &l.MaxTokens, &l.Form, &l.CostNanoUSD, &l.Error, &l.Raw, &l.BatchState, &expired)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, s.readFault(ctx, err)
	}
	return l, expired, nil
}

// OpenLines counts the questions of a run that batches have not answered yet.
func (s *SQLite) OpenLines(ctx context.Context, run string) (n int64, err error) {
	err = s.one(ctx, "SELECT coalesce(sum(questions), 0) FROM batch WHERE run = ? AND state <> 'done'", []any{run}, &n)
	return n, err
}

// SettleLines keeps what became of lines of a batch, with an attempt for each, and
// returns what they cost. A line that is settled already stays as it is and costs
// nothing more, so that results may be read again after a crash.
func (s *SQLite) SettleLines(ctx context.Context, b *Batch, lines []BatchLine, at time.Time) (nanoUSD int64, err error) {
	return s.count(ctx, func(conn *sql.DB) (cost int64, err error) {
		update, err := conn.PrepareContext(context.WithoutCancel(ctx), "UPDATE batch_line SET state = ?, cost_nano_usd = ?, error = ?, raw = ? WHERE key = ? AND batch = ? AND state = 'sent'")
		if err != nil {
			return 0, err
		}
		defer update.Close()
		for i := range lines {
			l := &lines[i]
			n, err := affected(update.Exec(string(l.State), l.CostNanoUSD, l.Error, blob(l.Raw), l.Key[:], b.ID))
			if err != nil {
				return 0, err
			}
			if n == 0 {
				continue
			}
			a := Attempt{Key: l.Key, N: 1, Class: "batch", CostNanoUSD: l.CostNanoUSD, Error: l.Error, At: at, Run: b.Run, GenerationID: b.ServiceID}
			if l.State == LineAnswered {
				a.HTTPStatus = 200
			}
			if err := record(conn, &a); err != nil {
				return 0, err
			}
			cost += l.CostNanoUSD
		}
		return cost, nil
	})
}

// EndBatch ends a batch: lines that nothing was heard of have expired. It returns how
// many lines were answered.
func (s *SQLite) EndBatch(ctx context.Context, id int64) (answered int64, err error) {
	return s.count(ctx, func(conn *sql.DB) (n int64, err error) {
		if _, err := run(conn, `UPDATE batch_line SET state = 'expired', error = 'no result' WHERE batch = ?1 AND state = 'sent';
			UPDATE batch SET state = 'done', cost_nano_usd = (SELECT coalesce(sum(cost_nano_usd), 0) FROM batch_line WHERE batch = ?1 AND state = 'answered') WHERE id = ?1 AND state <> 'done'`, id); err != nil {
			return 0, err
		}
		err = conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT count(*) FROM batch_line WHERE batch = ? AND state = 'answered'", id).Scan(&n)
		return n, err
	})
}

// TidyBatches removes the lines of batches that are done whose questions have an
// answer, in small steps.
func (s *SQLite) TidyBatches(ctx context.Context) error {
	for {
		n, err := s.count(ctx, func(conn *sql.DB) (int64, error) {
			return affected(conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`DELETE FROM batch_line WHERE id IN (SELECT l.id FROM batch_line l JOIN batch b ON b.id = l.batch
				WHERE b.state = 'done' AND EXISTS (SELECT 1 FROM entry WHERE entry.key = l.key) LIMIT %d)`, stepRows)))
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
