package convert

import (
	"context"
	"errors"

	"ibid"
	"ibid/dataset"
)

// ToFiles converts paths into the Parquet files rows and, unless docs is "", docs. Both appear
// whole, or not at all: if the conversion fails, ctx ends, or check, unless nil, has an error.
func ToFiles(ctx context.Context, format string, paths []string, o Options, rows, docs string, check func(*Report) error) (Report, error) {
	f, err := find(format, o.With)
	if err != nil {
		return Report{}, err
	}
	sink, err := newFiles(f, rows, docs)
	if err != nil {
		return Report{}, err
	}
	o.Docs = docs != ""
	report, err := Convert(ctx, format, paths, o, sink)
	if err == nil {
		// What was interrupted may have looked like the end of the input: Ctrl-C
		// stops the other programs of a pipe, too.
		err = ctx.Err()
	}
	if err == nil {
		err = report.CheckColumns(o.Columns)
	}
	if err == nil && check != nil {
		err = check(&report)
	}
	if err != nil {
		return report, errors.Join(err, sink.abort())
	}
	return report, sink.close()
}

// files is a [Sink] that writes rows and documents to Parquet.
type files struct {
	rows *dataset.Writer
	docs *dataset.DocumentWriter // nil if there is no place for documents
}

func newFiles(format Format, rows, docs string) (*files, error) {
	base := ""
	if format.CodePoints {
		base = "document"
	}
	w, err := dataset.NewWriter(rows, base)
	if err != nil {
		return nil, err
	}
	f := &files{rows: w}
	if docs != "" {
		if f.docs, err = dataset.NewDocumentWriter(docs); err != nil {
			return nil, errors.Join(err, w.Abort())
		}
	}
	return f, nil
}

// WriteRow writes a row.
func (f *files) WriteRow(r *ibid.Answer) error { return f.rows.Write(r) }

// WriteDocument writes a document.
func (f *files) WriteDocument(d *ibid.Document) error { return f.docs.Write(d) }

// close completes the files.
func (f *files) close() error {
	if f.docs != nil {
		if err := f.docs.Close(); err != nil {
			return errors.Join(err, f.rows.Abort())
		}
	}
	return f.rows.Close()
}

// abort removes what was written.
func (f *files) abort() error {
	if f.docs != nil {
		return errors.Join(f.rows.Abort(), f.docs.Abort())
	}
	return f.rows.Abort()
}

// Inputs lists the files that the conversion of paths may read: the files themselves, the
// requests beside them, and all that are below directories but hidden ones.
func Inputs(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		err := walk(path, func(name string) error {
			all = append(all, name)
			if beside := besideRequest(name); name == path && beside != "" {
				all = append(all, beside)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// IsDirectoryOf reports whether a directory holds files that can be imported as a whole:
// responses, JSON Lines, CSV, or a collection that is a directory.
func IsDirectoryOf(path string) bool {
	if !isDirectory(path) {
		return false
	}
	if directoryFormat(path) != "" {
		return true
	}
	found, err := inDirectory(path, autoExtensions)
	return err == nil && len(found) > 0
}
