package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/documents"
	"ibid/dataset/parquet"
)

// filesOfFolder lists the files of a folder that has no Parquet file in it: each is a document,
// named by its path from there, with slashes. It returns nil for everything else.
func filesOfFolder(path string) (files []inputFile, err error) {
	if !isFolder(path) {
		return nil, nil // for others to say
	}
	if found, err := matching(path, parquetFiles); err == nil && len(found) > 0 {
		return nil, nil
	}
	readable := 0
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return parquet.FileError(name, err)
		}
		if name != path && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil // a folder, a pipe, a link to nothing
		}
		doc, err := filepath.Rel(path, name)
		if err != nil {
			return parquet.FileError(name, err)
		}
		if doc = filepath.ToSlash(doc); !utf8.ValidString(doc) {
			return parquet.FileError(name, errors.New("the name is not UTF-8"))
		}
		if documents.KindOfName(name) != documents.Unreadable {
			readable++
		}
		files = append(files, inputFile{FileInfo: FileInfo{Name: name, Doc: doc, Rows: 1, Size: info.Size(), Modified: info.ModTime()}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if readable == 0 {
		return nil, &ibid.Error{
			File: path, Err: errors.New("neither a .parquet file nor documents in this directory"),
			Hint: fmt.Sprintf("documents end in %s; for Parquet files with another ending give a glob, such as %s", strings.Join(documents.Extensions(), ", "), filepath.Join(path, "*")),
		}
	}
	return files, nil
}

// readFolder hands the documents that need names to yield, in the order of their names;
// a nil need names all. What cannot be read is a document with an Err.
func (s *DocumentSource) readFolder(ctx context.Context, need func(string) bool, yield func(*ibid.Document) error) error {
	for i := range s.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := &s.files[i]
		if need != nil && !need(f.Doc) {
			continue
		}
		d := ibid.Document{Doc: f.Doc, File: f.Name, FileRow: -1}
		if d.Err = f.fill(ctx, &d); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	return nil
}

// mostFile is the largest file that is read as a document, in bytes.
const mostFile = 256 << 20

// fill reads one file. An error says what is wrong with the document; one of the
// disk does, too.
func (f *inputFile) fill(ctx context.Context, d *ibid.Document) error {
	kind := documents.KindOfName(d.File)
	if kind == documents.Unreadable {
		return errors.New("neither text, Markdown, HTML nor PDF")
	}
	in, err := os.Open(d.File)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, mostFile+1))
	switch {
	case err != nil:
		return err
	case len(data) > mostFile:
		return fmt.Errorf("over %d bytes", mostFile)
	case int64(len(data)) != f.Size:
		return errors.New("the file has changed while it was being read")
	}
	t, err := documents.Read(ctx, kind, "", data)
	if err == nil {
		FillDocument(d, &t)
	}
	return err
}

// FillDocument gives d the title and the text, or the pages, of t.
func FillDocument(d *ibid.Document, t *documents.Text) {
	d.Title = t.Title
	d.Text, d.HasText = t.Text, t.Pages == nil
	d.Pages, d.HasPages = t.Pages, t.Pages != nil
}

// Reader says what turns the files of a folder into text, with its version, where that can
// change their texts; "" for other DOCUMENTS.
func (s *DocumentSource) Reader() string {
	if !s.folder {
		return ""
	}
	for i := range s.files {
		if documents.KindOfName(s.files[i].Name) == documents.PDF {
			return documents.Version + ", " + documents.PDFReader()
		}
	}
	return documents.Version
}
