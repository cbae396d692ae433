package dataset

import (
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
)

// Limits of one row group that a writer fills: whichever is reached first.
const (
	groupRows  = 128 << 10
	groupBytes = 32 << 20
)

// ErrClosed is returned by a writer that has been closed or aborted.
var ErrClosed = errors.New("writer is closed")

// A Writer writes rows as one DATASET file. Nothing exists under the file's
// name before Close has succeeded. A Writer is not safe for concurrent use.
type Writer struct{ file fileWriter[storedRow] }

// NewWriter starts the file path. The file states that its offsets are half-open
// code points which count from the start of the "document" or of the "page", as
// offsetBase says; with offsetBase "" it states nothing, and what its offsets
// mean is left to the settings of a run.
func NewWriter(path, offsetBase string) (*Writer, error) {
	var stated []parquet.WriterOption
	switch offsetBase {
	case "":
	case "document", "page":
		stated = []parquet.WriterOption{
			parquet.KeyValueMetadata(metaOffsetUnit, "codepoint"),
			parquet.KeyValueMetadata(metaSpanEnd, "exclusive"),
			parquet.KeyValueMetadata(metaOffsetBase, offsetBase),
		}
	default:
		return nil, fmt.Errorf("%s: offset base %q is neither document nor page", path, offsetBase)
	}
	w := new(Writer)
	if err := w.file.open(path, stated...); err != nil {
		return nil, err
	}
	return w, nil
}

// Write appends r. Empty strings of optional columns are written as null, as
// are id, query and answer if r says so; a list is null unless its Has field is
// set. Pos, File, FileRow and Err are not written. The row's position is the
// Row of an [Error].
func (w *Writer) Write(r *Row) error {
	row, err := storeRow(r)
	if err == nil {
		err = w.file.write(row, rowBytes(r))
	}
	if err != nil {
		return w.file.wrap(err)
	}
	return nil
}

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.file.rows }

// Close completes the file, syncs it and gives it its name. After an error
// there is no file, and whatever had the name before is still there.
func (w *Writer) Close() error { return w.file.close() }

// Abort removes what was written. After Close it does nothing, so that it can
// be deferred.
func (w *Writer) Abort() error { return w.file.abort() }

// A DocumentWriter writes documents as one DOCUMENTS file, with the promises of
// [Writer].
type DocumentWriter struct{ file fileWriter[storedDocument] }

// NewDocumentWriter starts the file path.
func NewDocumentWriter(path string) (*DocumentWriter, error) {
	w := new(DocumentWriter)
	if err := w.file.open(path); err != nil {
		return nil, err
	}
	return w, nil
}

// Write appends d. File, FileRow and Err are not written.
func (w *DocumentWriter) Write(d *Document) error {
	if err := w.file.write(storeDocument(d), documentBytes(d)); err != nil {
		return w.file.wrap(err)
	}
	return nil
}

// Rows is the number of documents written so far.
func (w *DocumentWriter) Rows() int64 { return w.file.rows }

// Close is as for [Writer].
func (w *DocumentWriter) Close() error { return w.file.close() }

// Abort is as for [Writer].
func (w *DocumentWriter) Abort() error { return w.file.abort() }

// A fileWriter writes values of T as one Parquet file.
type fileWriter[T any] struct {
	path    string
	pending *pendingFile // nil before open and after close and abort
	parquet *parquet.GenericWriter[T]
	rows    int64
	group   struct{ rows, bytes int64 }
}

func (w *fileWriter[T]) open(path string, options ...parquet.WriterOption) error {
	pending, err := createPending(path)
	if err != nil {
		return err
	}
	w.path, w.pending = path, pending
	// Version 1 pages and plain strings are what every reader in use
	// understands.
	options = append(options, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain), parquet.CreatedBy("ibid", "", ""))
	w.parquet = parquet.NewGenericWriter[T](pending, options...)
	return nil
}

func (w *fileWriter[T]) write(v T, bytes int64) error {
	if w.pending == nil {
		return ErrClosed
	}
	if _, err := w.parquet.Write([]T{v}); err != nil {
		return err
	}
	w.rows++
	w.group.rows++
	w.group.bytes += bytes
	if w.group.rows < groupRows && w.group.bytes < groupBytes {
		return nil
	}
	w.group.rows, w.group.bytes = 0, 0
	return w.parquet.Flush()
}

// wrap names the row that was being written.
func (w *fileWriter[T]) wrap(err error) error {
	if e, ok := err.(*Error); ok {
		e.File, e.Row = w.path, w.rows
		return e
	}
	return &Error{File: w.path, Row: w.rows, Err: err}
}

func (w *fileWriter[T]) close() error {
	if w.pending == nil {
		return ErrClosed
	}
	pending := w.pending
	if err := w.parquet.Close(); err != nil {
		w.abort()
		return &Error{File: w.path, Row: -1, Err: err}
	}
	w.pending = nil
	if err := pending.commit(); err != nil {
		return &Error{File: w.path, Row: -1, Err: err}
	}
	return nil
}

func (w *fileWriter[T]) abort() error {
	if w.pending == nil {
		return nil
	}
	pending := w.pending
	w.pending = nil
	return pending.discard()
}

// fitsInt32 reports whether v can be a page.
func fitsInt32(v int64) bool { return math.MinInt32 <= v && v <= math.MaxInt32 }
