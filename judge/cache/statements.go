package cache

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// entryColumns are the columns of an entry in the order of scan and of the
// statement that puts one.
const entryColumns = `key, created, status, model_requested, model_resolved, provider, generation_id, template, schema, finish_reason,
	prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cost_nano_usd, latency_ms, attempts, run, crc32c, verdict, raw`

// attemptColumns are those of an attempt.
const attemptColumns = `key, n, http_status, class, ms, cost_nano_usd, generation_id, error, at, run`

// prepared are the statements of the writing connection.
type prepared struct {
	conn                    *sql.Conn // for what is rare
	begin, commit, rollback *sql.Stmt
	putEntry, addAttempt    *sql.Stmt
	takeLease, dropLease    *sql.Stmt
}

func prepare(ctx context.Context, conn *sql.Conn) (*prepared, error) {
	p := &prepared{conn: conn}
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&p.begin, "BEGIN IMMEDIATE"},
		{&p.commit, "COMMIT"},
		{&p.rollback, "ROLLBACK"},
		{&p.putEntry, "INSERT INTO entry (" + entryColumns + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING"},
		{&p.addAttempt, "INSERT INTO attempt (" + attemptColumns + ") VALUES (?,?,?,?,?,?,?,?,?,?)"},
		{&p.takeLease, `INSERT INTO lease (key, owner, until) VALUES (?1, ?2, ?3) ON CONFLICT (key)
			DO UPDATE SET owner = ?2, until = ?3 WHERE owner = ?2 OR until <= ?4`},
		{&p.dropLease, "DELETE FROM lease WHERE key = ? AND owner = ?"},
	} {
		stmt, err := conn.PrepareContext(ctx, s.sql)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		*s.to = stmt
	}
	return p, nil
}

func (p *prepared) close() error {
	var all error
	for _, s := range []*sql.Stmt{p.begin, p.commit, p.rollback, p.putEntry, p.addAttempt, p.takeLease, p.dropLease} {
		if s != nil {
			all = errors.Join(all, s.Close())
		}
	}
	return all
}

func (p *prepared) run(s *sql.Stmt, args ...any) error {
	_, err := s.Exec(args...)
	return err
}

func (p *prepared) put(e *Entry) error {
	return p.run(p.putEntry, e.Key[:], e.Created.UnixMilli(), e.Status, e.ModelRequested, e.ModelResolved, e.Provider, e.GenerationID,
		e.Template, e.Schema, e.FinishReason, e.PromptTokens, e.CompletionTokens, e.ReasoningTokens, e.CachedTokens, e.CostNanoUSD,
		e.LatencyMillis, e.Attempts, e.Run, e.checksum(), e.Verdict, blob(e.Raw))
}

// blob keeps an empty value from being stored as null.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (p *prepared) record(a *Attempt) error {
	return p.run(p.addAttempt, a.Key[:], a.N, a.HTTPStatus, a.Class, a.Millis, a.CostNanoUSD, a.GenerationID, a.Error, a.At.UnixMilli(), a.Run)
}

// acquire returns 1 if owner has the lease now, else 0.
func (p *prepared) acquire(key Key, owner string, now time.Time, ttl time.Duration) (int64, error) {
	res, err := p.takeLease.Exec(key[:], owner, now.Add(ttl).UnixMilli(), now.UnixMilli())
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (p *prepared) release(key Key, owner string) error {
	return p.run(p.dropLease, key[:], owner)
}

// A scanner is a row of an answer.
type scanner interface{ Scan(...any) error }

// scanEntry reads an entry. One that is not what was stored is an error.
func scanEntry(row scanner) (*Entry, error) {
	e := new(Entry)
	var key []byte
	var created int64
	var sum uint32
	err := row.Scan(&key, &created, &e.Status, &e.ModelRequested, &e.ModelResolved, &e.Provider, &e.GenerationID, &e.Template, &e.Schema,
		&e.FinishReason, &e.PromptTokens, &e.CompletionTokens, &e.ReasoningTokens, &e.CachedTokens, &e.CostNanoUSD, &e.LatencyMillis,
		&e.Attempts, &e.Run, &sum, &e.Verdict, &e.Raw)
	if err != nil {
		return nil, err
	}
	copy(e.Key[:], key)
	e.Created = time.UnixMilli(created).UTC()
	return e, e.verify(sum)
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
