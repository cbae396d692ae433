package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/judge/cache"
)

const (
	// exportRows and exportBytes bound a row group of an export, and with it what
	// is held in memory.
	exportRows  = 4096
	exportBytes = 32 << 20
)

// ExportEntries writes the entries of a judge cache to a Parquet file, which
// appears whole or not at all, and returns how many there are. Keys are in
// hexadecimal and times RFC 3339 in UTC; bytes of a response that are not UTF-8
// become U+FFFD.
func ExportEntries(ctx context.Context, path string, store *cache.SQLite) (int64, error) {
	return export(path, entryColumns, store.Entries(ctx))
}

// ExportAttempts writes the audit of a judge cache, as ExportEntries does its
// entries.
func ExportAttempts(ctx context.Context, path string, store *cache.SQLite) (int64, error) {
	return export(path, attemptColumns, store.Attempts(ctx))
}

// An exportColumn is one column of an export and where its value comes from;
// one of the functions is set.
type exportColumn[T any] struct {
	name   string
	text   func(T) string
	number func(T) int64
	usd    func(T) int64 // in billionths, written as a double of dollars
}

var entryColumns = []exportColumn[*cache.Entry]{
	{name: "key", text: func(e *cache.Entry) string { return e.Key.String() }},
	{name: "created", text: func(e *cache.Entry) string { return exportTime(e.Created) }},
	{name: "status", text: func(e *cache.Entry) string { return e.Status }},
	{name: "model_requested", text: func(e *cache.Entry) string { return e.ModelRequested }},
	{name: "model_resolved", text: func(e *cache.Entry) string { return e.ModelResolved }},
	{name: "provider", text: func(e *cache.Entry) string { return e.Provider }},
	{name: "generation_id", text: func(e *cache.Entry) string { return e.GenerationID }},
	{name: "template", text: func(e *cache.Entry) string { return e.Template }},
	{name: "schema", text: func(e *cache.Entry) string { return e.Schema }},
	{name: "finish_reason", text: func(e *cache.Entry) string { return e.FinishReason }},
	{name: "prompt_tokens", number: func(e *cache.Entry) int64 { return e.PromptTokens }},
	{name: "completion_tokens", number: func(e *cache.Entry) int64 { return e.CompletionTokens }},
	{name: "reasoning_tokens", number: func(e *cache.Entry) int64 { return e.ReasoningTokens }},
	{name: "cached_tokens", number: func(e *cache.Entry) int64 { return e.CachedTokens }},
	{name: "cost_usd", usd: func(e *cache.Entry) int64 { return e.CostNanoUSD }},
	{name: "latency_ms", number: func(e *cache.Entry) int64 { return e.LatencyMillis }},
	{name: "attempts", number: func(e *cache.Entry) int64 { return int64(e.Attempts) }},
	{name: "run", text: func(e *cache.Entry) string { return e.Run }},
	{name: "verdict", text: func(e *cache.Entry) string { return string(e.Verdict) }},
	{name: "raw", text: func(e *cache.Entry) string { return string(e.Raw) }},
}

var attemptColumns = []exportColumn[cache.Attempt]{
	{name: "key", text: func(a cache.Attempt) string { return a.Key.String() }},
	{name: "at", text: func(a cache.Attempt) string { return exportTime(a.At) }},
	{name: "n", number: func(a cache.Attempt) int64 { return int64(a.N) }},
	{name: "http_status", number: func(a cache.Attempt) int64 { return int64(a.HTTPStatus) }},
	{name: "class", text: func(a cache.Attempt) string { return a.Class }},
	{name: "ms", number: func(a cache.Attempt) int64 { return a.Millis }},
	{name: "cost_usd", usd: func(a cache.Attempt) int64 { return a.CostNanoUSD }},
	{name: "generation_id", text: func(a cache.Attempt) string { return a.GenerationID }},
	{name: "error", text: func(a cache.Attempt) string { return a.Error }},
	{name: "run", text: func(a cache.Attempt) string { return a.Run }},
}

func exportTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// field is the column as the file has it.
func (c *exportColumn[T]) field() parquet.Field {
	kind := parquet.String
	switch {
	case c.number != nil:
		kind = parquet.Int64
	case c.usd != nil:
		kind = parquet.Double
	}
	return parquet.Field{Name: c.name, Kind: kind, Required: true}
}

// append adds the value of v in column i and returns about how many bytes it
// takes.
func (c *exportColumn[T]) append(t *parquet.Table, i int, v T) int {
	switch {
	case c.number != nil:
		t.AppendInt(i, c.number(v))
	case c.usd != nil:
		t.AppendDouble(i, float64(c.usd(v))/1e9)
	default:
		s := c.text(v)
		t.AppendString(i, s)
		return len(s)
	}
	return 8
}

// exportPrefix begins the names of folders in which exports are made.
const exportPrefix = ".ibid-export-"

// export writes items to a file. Its row groups are made one by one in a folder
// beside it, so that memory does not grow with the cache.
func export[T any](path string, columns []exportColumn[T], items iter.Seq2[T, error]) (n int64, err error) {
	parent := filepath.Dir(path)
	if err := removeOldFolders(parent, exportPrefix); err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp(parent, exportPrefix+"*.tmp")
	if err != nil {
		return 0, err
	}
	lock, err := acquire(folder)
	if err != nil {
		return 0, errors.Join(err, os.RemoveAll(folder))
	}
	defer func() { err = errors.Join(err, lock.remove(folder)) }()
	fields := make([]parquet.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].field()
	}
	table, err := parquet.NewTable(fields)
	if err != nil {
		return 0, err
	}
	x := exporter{folder: folder, table: table}
	size := 0
	for v, err := range items {
		if err != nil {
			return 0, err
		}
		for i := range columns {
			size += columns[i].append(table, i, v)
		}
		table.EndRow()
		n++
		if table.Rows() == exportRows || size >= exportBytes {
			if err := x.endPart(); err != nil {
				return 0, err
			}
			size = 0
		}
	}
	if table.Rows() > 0 || n == 0 {
		if err := x.endPart(); err != nil {
			return 0, err
		}
	}
	return n, dataset.WriteFile(path, func(w io.Writer) error { return parquet.Join(w, fields, x.parts, nil) })
}

// An exporter makes the row groups of an export.
type exporter struct {
	folder  string
	table   *parquet.Table
	encoder parquet.Encoder
	parts   []parquet.Part
}

func (x *exporter) endPart() error {
	path := filepath.Join(x.folder, fmt.Sprintf("%08d.parquet", len(x.parts)))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(x.encoder.EncodePart(f, x.table), f.Close()); err != nil {
		return err
	}
	x.parts = append(x.parts, parquet.Part{Path: path})
	x.table.Reset()
	return nil
}
