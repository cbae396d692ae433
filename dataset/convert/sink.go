package convert

import (
	"errors"

	"ibid"
	"ibid/dataset"
)

// Files is a [Sink] that writes rows and documents to Parquet. Both files appear whole,
// with Close, or not at all.
type Files struct {
	rows *dataset.Writer
	docs *dataset.DocumentWriter // nil if there is no place for documents
}

// NewFiles starts the files rows and docs for what is read in a format, or with the program
// in a file. With docs "" there is no place for documents.
func NewFiles(format, with, rows, docs string) (*Files, error) {
	base := ""
	if f, err := find(format, with); err != nil {
		return nil, err
	} else if f.CodePoints {
		base = "document"
	}
	w, err := dataset.NewWriter(rows, base)
	if err != nil {
		return nil, err
	}
	f := &Files{rows: w}
	if docs != "" {
		if f.docs, err = dataset.NewDocumentWriter(docs); err != nil {
			return nil, errors.Join(err, w.Abort())
		}
	}
	return f, nil
}

// WriteRow writes a row.
func (f *Files) WriteRow(r *ibid.Answer) error { return f.rows.Write(r) }

// WriteDocument writes a document.
func (f *Files) WriteDocument(d *ibid.Document) error { return f.docs.Write(d) }

// Close completes the files.
func (f *Files) Close() error {
	if f.docs != nil {
		if err := f.docs.Close(); err != nil {
			return errors.Join(err, f.rows.Abort())
		}
	}
	return f.rows.Close()
}

// Abort removes what was written.
func (f *Files) Abort() error {
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
