package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
)

// Limits of one row group that a writer fills: whichever is reached first.
const (
	groupRows  = 128 << 10
	groupBytes = 12 << 20
)

// errClosed is returned by a writer that has been closed or aborted.
var errClosed = errors.New("writer is closed")

// A Writer writes rows as one DATASET file. Nothing exists under the file's
// name before Close has succeeded. A Writer is not safe for concurrent use.
type Writer struct{ fileWriter }

// NewWriter starts the file path. The file states that its offsets are half-open
// code points which count from the start of the "document" or of the "page", as
// offsetBase says; with offsetBase "" it states nothing, and what its offsets
// mean is left to the settings of a run.
func NewWriter(path, offsetBase string) (*Writer, error) {
	var stated map[string]string
	switch offsetBase {
	case "":
	case "document", "page":
		stated = map[string]string{metaOffsetUnit: "codepoint", metaSpanEnd: "exclusive", metaOffsetBase: offsetBase}
	default:
		return nil, fmt.Errorf("%s: offset base %q is neither document nor page", path, offsetBase)
	}
	w := new(Writer)
	if err := w.open(path, &rowSpec, stated); err != nil {
		return nil, err
	}
	return w, nil
}

// Write appends r. Empty strings of optional columns are written as null, as
// are id, query and answer if r says so; a list is null unless its Has field is
// set. Bytes that are not UTF-8 become U+FFFD. Pos, File, FileRow and Err are not
// written. The row's position is the Row of an [Error].
func (w *Writer) Write(r *ibid.Answer) error {
	f := &w.fileWriter
	if f.pending == nil {
		return f.wrap(errClosed)
	}
	for _, l := range rowLists {
		if err := l.check(r); err != nil {
			return f.wrap(err)
		}
	}
	writeFields(f, f.table, rowFields, r)
	for _, l := range rowLists {
		l.write(f, r)
	}
	f.tags(r.Tags)
	return f.endRow()
}

// fitsInt32 reports whether v can be a page.
func fitsInt32(v int64) bool { return math.MinInt32 <= v && v <= math.MaxInt32 }

// tags writes no tags as null. Of two with one key the last counts, as for a reader.
func (f *fileWriter) tags(tags []ibid.Tag) {
	if len(tags) == 0 {
		return
	}
	values := make(map[string]string, len(tags))
	for _, t := range tags {
		values[t.Key] = t.Value
	}
	keys := slices.Sorted(maps.Keys(values))
	texts := make([]string, len(keys))
	for i, k := range keys {
		keys[i], texts[i] = f.copied(k), f.copied(values[k])
	}
	f.table.At(len(rowFields)+groupTags).AppendMap(keys, texts)
}

// A DocumentWriter writes documents as one DOCUMENTS file, with the promises of
// [Writer].
type DocumentWriter struct{ fileWriter }

// NewDocumentWriter starts the file path.
func NewDocumentWriter(path string) (*DocumentWriter, error) {
	w := new(DocumentWriter)
	if err := w.open(path, &documentSpec, nil); err != nil {
		return nil, err
	}
	return w, nil
}

// Write appends d. File, FileRow and Err are not written.
func (w *DocumentWriter) Write(d *ibid.Document) error {
	f := &w.fileWriter
	if f.pending == nil {
		return f.wrap(errClosed)
	}
	writeFields(f, f.table, fileFields, d)
	if d.Doc == "" { // is no null here
		f.table.At(0).AppendString("")
	}
	return f.endRow()
}

// A fileWriter writes the columns of a schemaSpec as one Parquet file. It keeps one row
// group in memory.
type fileWriter struct {
	path    string
	pending *pendingFile // nil before open and after close and abort
	stated  map[string]string
	encoder parquet.Encoder
	table   *parquet.Table
	arena   parquet.Arena
	rows    int64
	bytes   int // of values in the table
}

func (f *fileWriter) open(path string, spec *schemaSpec, stated map[string]string) error {
	pending, err := createPending(path)
	if err != nil {
		return err
	}
	f.path, f.pending, f.stated, f.table = path, pending, stated, parquet.NewTable(spec.fields())
	f.encoder.Begin(pending, f.table.Fields())
	return nil
}

// fields are the columns as they are written: plain ones, then lists.
func (s *schemaSpec) fields() []parquet.Field {
	fields := s.memberFields(-1)
	for g, name := range s.groups {
		f := parquet.Field{Name: name, Kind: parquet.ListStruct, Fields: s.memberFields(g)}
		switch {
		case f.Fields[0].Name == "":
			f.Kind = parquet.ListString
		case f.Fields[0].Name == "key":
			f.Kind = parquet.MapString
		}
		fields = append(fields, f)
	}
	return fields
}

func (s *schemaSpec) memberFields(g int) []parquet.Field {
	var fields []parquet.Field
	for _, c := range s.members(g) {
		fields = append(fields, parquet.Field{Name: s.columns[c].member, Kind: s.columns[c].kind})
	}
	return fields
}

// copied returns a copy of s that is good until the row group is written.
func (f *fileWriter) copied(s string) string {
	f.bytes += len(s) + 20 // and what the table has of it
	return f.arena.Copy(s)
}

func (f *fileWriter) endRow() error {
	f.table.EndRow()
	f.rows++
	if f.table.Rows() < groupRows && f.bytes < groupBytes {
		return nil
	}
	return f.wrap(f.group())
}

// group writes the rows in memory, if there are any, as a row group.
func (f *fileWriter) group() error {
	if f.table.Rows() == 0 {
		return nil
	}
	err := f.encoder.Group(f.table)
	f.table.Reset()
	f.arena.Reset()
	f.bytes = 0
	return err
}

// wrap names the row that was being written.
func (f *fileWriter) wrap(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*ibid.Error); ok {
		e.File, e.Row = f.path, ibid.Some(f.rows)
		return e
	}
	return &ibid.Error{File: f.path, Row: ibid.Some(f.rows), Err: err}
}

// Rows is the number of rows written so far.
func (f *fileWriter) Rows() int64 { return f.rows }

// Close completes the file, syncs it and gives it its name. After an error
// there is no file, and whatever had the name before is still there.
func (f *fileWriter) Close() error {
	if f.pending == nil {
		return errClosed
	}
	err := f.group()
	if err == nil {
		err = f.encoder.End(f.stated)
	}
	if err != nil {
		f.Abort()
		return &ibid.Error{File: f.path, Err: err}
	}
	pending := f.pending
	f.pending = nil
	if err := pending.commit(); err != nil {
		return &ibid.Error{File: f.path, Err: err}
	}
	return nil
}

// Abort removes what was written. After Close it does nothing, so that it can
// be deferred.
func (f *fileWriter) Abort() error {
	if f.pending == nil {
		return nil
	}
	pending := f.pending
	f.pending = nil
	return pending.discard()
}
