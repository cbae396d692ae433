package cache

import (
	"context"
	"database/sql"
	"errors"
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

const batchColumns = "token, endpoint, model, questions, state, service_id, created, reserved_nano_usd, run"

// AddBatch keeps a batch with its lines, all or nothing, and sets its ID. It is
// durable when AddBatch returns.
func (s *SQLite) AddBatch(ctx context.Context, b *Batch, lines []BatchLine) error {
	id, err := s.write(ctx, func(conn *sql.DB) (id int64, err error) {
		durable := context.WithoutCancel(ctx)
		if err := conn.QueryRowContext(durable, "INSERT INTO batch ("+batchColumns+") VALUES (?,?,?,?,?,?,?,?,?) RETURNING id",
			b.Token[:], b.Endpoint, b.Model, b.Questions, string(b.State), b.ServiceID, b.Created.UnixMilli(), b.ReservedNanoUSD, b.Run).Scan(&id); err != nil {
			return 0, err
		}
		insert, err := conn.PrepareContext(durable, "INSERT INTO batch_line (key, batch, state, max_tokens, form, cost_nano_usd, error, raw) VALUES (?,?,?,?,?,0,'',x'')")
		if err != nil {
			return 0, err
		}
		defer insert.Close()
		for i := range lines {
			if _, err := insert.Exec(lines[i].Key[:], id, string(LineSent), lines[i].MaxTokens, lines[i].Form); err != nil {
				return 0, err
			}
		}
		return id, nil
	})
	if err == nil {
		b.ID = id
	}
	return err
}

// OpenBatch keeps that the service has a batch, and what it calls it.
func (s *SQLite) OpenBatch(ctx context.Context, id int64, serviceID string) error {
	_, err := s.exec(ctx, "UPDATE batch SET state = 'open', service_id = ? WHERE id = ?", serviceID, id)
	return err
}

// DropBatch forgets a batch that the service never had, or will not answer: its
// questions are free to be asked.
func (s *SQLite) DropBatch(ctx context.Context, id int64) error {
	_, err := s.exec(ctx, "DELETE FROM batch_line WHERE batch = ?1; DELETE FROM batch WHERE id = ?1", id)
	return err
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
	return out, s.readFault(ctx, err)
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
	return s.write(ctx, func(conn *sql.DB) (cost int64, err error) {
		for i := range lines {
			l := &lines[i]
			n, err := run(conn, "UPDATE batch_line SET state = ?, cost_nano_usd = ?, error = ?, raw = ? WHERE key = ? AND batch = ? AND state = 'sent'",
				string(l.State), l.CostNanoUSD, l.Error, blob(l.Raw), l.Key[:], b.ID)
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
			if _, err := record(conn, &a); err != nil {
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
	return s.write(ctx, func(conn *sql.DB) (n int64, err error) {
		if _, err := run(conn, `UPDATE batch_line SET state = 'expired', error = 'no result' WHERE batch = ?1 AND state = 'sent';
			UPDATE batch SET state = 'done' WHERE id = ?1`, id); err != nil {
			return 0, err
		}
		err = conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT count(*) FROM batch_line WHERE batch = ? AND state = 'answered'", id).Scan(&n)
		return n, err
	})
}

// TidyBatches removes the lines of batches that are done whose questions have an
// answer, in small steps.
func (s *SQLite) TidyBatches(ctx context.Context) error {
	_, err := s.inSteps(ctx, `DELETE FROM batch_line WHERE id IN (SELECT l.id FROM batch_line l JOIN batch b ON b.id = l.batch
		WHERE b.state = 'done' AND EXISTS (SELECT 1 FROM entry WHERE entry.key = l.key) LIMIT ?)`, stepRows)
	return err
}
