// Package cache keeps the answers of judges that cost money, so that the same
// request is paid for once: across runs, across processes, across crashes.
//
// A [SQLite] is a file that several processes use at once. It holds entries: complete,
// validated answers, one for each [Key], which never expire; attempts: an audit of every
// call that went over the wire, failed ones with them, since those may be billed, too;
// leases, which keep two processes from asking the same at the same time; and batches.
//
// The package does not know what a judge asks: a key is a digest of a request,
// a verdict is bytes. Failures are never entries; caching one would freeze it.
package cache

import (
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
	// Template is the version of the prompt.
	Template string
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

// checksum is a CRC-32C over all of an entry. SQLite notices damage to its own structure only, and
// a verdict with one letter changed may still be a verdict.
func (e *Entry) checksum() int64 {
	about := fmt.Appendf(nil, "%s %d %q %d", e.Key, e.Created.UnixMilli(),
		[]string{e.Status, e.ModelRequested, e.ModelResolved, e.Provider, e.GenerationID, e.Template, e.Run, e.Sent},
		[]int64{e.PromptTokens, e.CompletionTokens, e.ReasoningTokens, e.CachedTokens, e.CostNanoUSD, e.LatencyMillis, int64(e.Attempts), int64(len(e.Verdict))})
	sum := crc32.Checksum(about, castagnoli)
	return int64(crc32.Update(crc32.Update(sum, castagnoli, e.Verdict), castagnoli, e.Raw))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errChanged is the error of an entry that is not what was stored.
var errChanged = errors.New("not what was stored")

// storeError is the error of a store whose file cannot be used. It reads: judge cache
// /path/judge.sqlite: is damaged: malformed.
func storeError(path string, err error, hint string) *ibid.Error {
	return &ibid.Error{File: "judge cache " + path, Err: err, Hint: hint}
}

// faults says what the primary result codes of SQLite mean to the user, and what to do.
var faults = map[int][2]string{
	sqlite3.SQLITE_NOTADB:   {notStore, hintNotStore},
	sqlite3.SQLITE_CORRUPT:  {"is damaged", "move it away; the answers in it will be asked and paid for again"},
	sqlite3.SQLITE_BUSY:     {busy, hintBusy},
	sqlite3.SQLITE_LOCKED:   {busy, hintBusy},
	sqlite3.SQLITE_FULL:     {"has no room left on its disk", "make room, or name another file with --cache"},
	sqlite3.SQLITE_CANTOPEN: {noAccess, hintAccess},
	sqlite3.SQLITE_READONLY: {noAccess, hintAccess},
	sqlite3.SQLITE_PERM:     {noAccess, hintAccess},
}

const (
	notStore     = "is no judge cache"
	hintNotStore = "name another file with --cache"
	noAccess     = "cannot be opened for writing"
	hintAccess   = "the folder has to be writable; name another file with --cache, or use --cache off"
	busy         = "is kept busy by another process"
	hintBusy     = "wait for the other process, or name another file with --cache"
)

// fault says what an error of the database means, once.
func fault(path string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*ibid.Error](err); ok {
		return err
	}
	code := codeOf(err)
	if errors.Is(err, errChanged) {
		code = sqlite3.SQLITE_CORRUPT
	}
	if f, ok := faults[code]; ok {
		return storeError(path, fmt.Errorf("%s: %w", f[0], err), f[1])
	}
	return storeError(path, err, "")
}

// codeOf is the primary result code of SQLite in an error, 0 if it has none.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool { return codeOf(err) == sqlite3.SQLITE_BUSY }
