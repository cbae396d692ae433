// Package cache keeps the answers of judges that cost money, so that the same
// request is paid for once: across runs, across processes, across crashes.
//
// A [SQLite] holds three things, in a file that several processes use at once. Entries are complete, validated answers, one
// for each [Key]; they never expire. Attempts are an audit of every call that
// went over the wire, failed ones with them, since those may be billed, too.
// Leases keep two processes from asking the same at the same time.
//
// The package does not know what a judge asks: a key is a digest of a request,
// a verdict is bytes. Failures are never entries; caching one would freeze it.
package cache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"ibid"
)

// A Key is the SHA-256 of all that can change an answer: the endpoint and the
// exact bytes of the request, without credentials.
type Key [32]byte

// String returns the key in lower-case hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// The statuses of an entry.
const (
	StatusOK       = "ok"       // the first reply was good
	StatusRepaired = "repaired" // the judge was told of a defect and sent a good reply
)

// An Entry is one complete, validated answer.
type Entry struct {
	Key Key
	// Status is StatusOK or StatusRepaired.
	Status string
	// Verdict is the normalised verdict as JSON; Raw is the body of the response
	// as it was received.
	Verdict, Raw []byte
	// ModelRequested is what was asked for, ModelResolved and Provider are who
	// answered; GenerationID is the provider's name for the answer.
	ModelRequested, ModelResolved, Provider, GenerationID string
	// Template and Schema name the versions of prompt and schema.
	Template, Schema, FinishReason string
	// CompletionTokens has ReasoningTokens in it, PromptTokens has CachedTokens.
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	// CostNanoUSD is what the answer cost, in billionths of a US dollar.
	CostNanoUSD, LatencyMillis int64
	// Attempts counts the calls on the wire that led to the answer, at least 1.
	Attempts int
	// Created is when the answer came, in UTC; a store keeps milliseconds.
	Created time.Time
	// Run is the id of the run that asked.
	Run string
	// Sent says what of the request that the answer is to does not stand in its key:
	// the room for the reply, how it was told its shape, what was left out.
	Sent string
}

// An Attempt is one call on the wire, billed or failed.
type Attempt struct {
	Key Key
	// N counts the calls for one request, from 1.
	N int
	// HTTPStatus is 0 when there was no response.
	HTTPStatus int
	// Class is what became of the call: "ok", "flow", "transient", "content",
	// "refusal", "row" or "stop"; "batch" for a line of a batch.
	Class string
	// Millis is how long it took; CostNanoUSD what it cost, in billionths of a
	// US dollar.
	Millis, CostNanoUSD int64
	// GenerationID is the provider's name for the answer; Error an excerpt of
	// what went wrong.
	GenerationID, Error string
	// At is when the call was made, in UTC; a store keeps milliseconds.
	At time.Time
	// Run is the id of the run that asked.
	Run string
}

// ErrClosed is the error of a store that was closed.
var ErrClosed = errors.New("the judge cache is closed")

// check refuses an entry that is no complete answer.
func (e *Entry) check() error {
	switch {
	case e == nil:
		return errors.New("judge cache: no entry")
	case e.Status != StatusOK && e.Status != StatusRepaired:
		return fmt.Errorf("judge cache: entry %s has status %q, want %q or %q", e.Key, e.Status, StatusOK, StatusRepaired)
	case len(e.Verdict) == 0:
		return fmt.Errorf("judge cache: entry %s has no verdict", e.Key)
	case e.Created.IsZero():
		return fmt.Errorf("judge cache: entry %s has no time", e.Key)
	}
	return nil
}

// What can be wrong with the file of a store.
var (
	// ErrNewer is a store that a newer version of the program has written.
	ErrNewer = errors.New("was written by a newer version")
	// ErrNotStore is a file that is something else.
	ErrNotStore = errors.New("is no judge cache")
	// ErrCorrupt is a store that is damaged.
	ErrCorrupt = errors.New("is damaged")
	// ErrBusy is a store that another process has kept to itself for too long.
	ErrBusy = errors.New("is kept busy by another process")
	// ErrFull is a store whose disk has no room.
	ErrFull = errors.New("has no room left on its disk")
	// ErrAccess is a store that cannot be opened, made or written where it is.
	ErrAccess = errors.New("cannot be opened for writing")
)

// storeError is the error of a store whose file cannot be used. It reads: judge cache
// /path/judge.sqlite: is damaged: malformed. err wraps one of the errors above where it is known.
func storeError(path string, err error, hint string) *ibid.Error {
	return &ibid.Error{File: "judge cache " + path, Err: err, Hint: hint}
}

// kinds says what the primary result codes of SQLite mean to the user.
var kinds = map[int]struct {
	is   error
	hint string
}{
	sqlite3.SQLITE_NOTADB:   {ErrNotStore, hintNotStore},
	sqlite3.SQLITE_CORRUPT:  {ErrCorrupt, hintCorrupt},
	sqlite3.SQLITE_BUSY:     {ErrBusy, "wait for the other process, or name another file with --cache"},
	sqlite3.SQLITE_LOCKED:   {ErrBusy, "wait for the other process, or name another file with --cache"},
	sqlite3.SQLITE_FULL:     {ErrFull, "make room, or name another file with --cache"},
	sqlite3.SQLITE_CANTOPEN: {ErrAccess, hintAccess},
	sqlite3.SQLITE_READONLY: {ErrAccess, hintAccess},
	sqlite3.SQLITE_PERM:     {ErrAccess, hintAccess},
}

const (
	hintCorrupt  = "move it away; the answers in it will be asked and paid for again"
	hintNotStore = "name another file with --cache"
	hintAccess   = "the folder has to be writable; name another file with --cache, or use --cache off"
)

// fault says what an error of the database means, once.
func fault(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*ibid.Error](err); ok {
		return err
	}
	out := storeError(path, err, "")
	if errors.Is(err, ErrCorrupt) {
		out.Hint = hintCorrupt
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		if kind, ok := kinds[e.Code()&0xff]; ok {
			out.Err, out.Hint = fmt.Errorf("%w: %w", kind.is, err), kind.hint
		}
	}
	return out
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C over all that a store keeps of an entry. SQLite notices
// damage to its own structure only, and a verdict with one letter changed may
// still be a verdict.
func (e *Entry) checksum() uint32 {
	b := make([]byte, 0, 512)
	b = append(b, e.Key[:]...)
	for _, s := range []string{
		e.Status, e.ModelRequested, e.ModelResolved, e.Provider, e.GenerationID, e.Template, e.Schema, e.FinishReason, e.Run,
	} {
		b = binary.AppendUvarint(b, uint64(len(s))) // so that no text runs into the next
		b = append(b, s...)
	}
	for _, n := range []int64{
		e.Created.UnixMilli(), e.PromptTokens, e.CompletionTokens, e.ReasoningTokens, e.CachedTokens, e.CostNanoUSD, e.LatencyMillis,
		int64(e.Attempts), int64(len(e.Verdict)),
	} {
		b = binary.AppendVarint(b, n)
	}
	b = append(b, e.Sent...)
	sum := crc32.Checksum(b, castagnoli)
	return crc32.Update(crc32.Update(sum, castagnoli, e.Verdict), castagnoli, e.Raw)
}

// verify compares an entry with the checksum that it was stored with.
func (e *Entry) verify(sum uint32) error {
	if e.checksum() != sum {
		return fmt.Errorf("%w: entry %s is not what was stored", ErrCorrupt, e.Key)
	}
	return nil
}
