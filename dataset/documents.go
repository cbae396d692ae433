package dataset

import (
	"context"
	"fmt"
	"strings"
)

// Documents are the sources that citations point into: for each the bounds of
// its text, pages and blocks, and the texts themselves in memory or in a
// temporary file. Documents are immutable and safe for concurrent use; each
// worker reads texts through a [View] of its own.
type Documents struct {
	numbers  map[string]int32
	docs     []document
	texts    blob
	skipped  int64
	problems []string
}

// A document is the index entry of one document.
type document struct {
	layout
	file              string // where it was first seen
	row               int64
	textAt, pagesAt   int64 // in the blob
	textLen, pagesLen int
}

// DocumentReader is what [LoadDocuments] reads from. The document that it
// yields may be reused after yield returns; an error of yield ends the reading
// and is returned.
type DocumentReader interface {
	Read(ctx context.Context, yield func(*Document) error) error
}

var _ DocumentReader = (*DocumentSource)(nil)

// LoadOptions say what [LoadDocuments] keeps, and where.
type LoadOptions struct {
	Need   func(name string) bool // documents to keep; nil keeps all
	Memory int64                  // bytes of text kept in memory before they go to a file; 0 means 64 MiB
	Dir    string                 // of the temporary file; "" means the system's
}

const defaultTextMemory = 64 << 20

// LoadDocuments reads all documents in one sequential pass. Two documents of
// one name must have the same text, pages and blocks; otherwise an [*Error] names
// both places. A text that is not valid UTF-8 is not kept: its document is known
// without its text, and [Documents.Problems] says so.
func LoadDocuments(ctx context.Context, from DocumentReader, o LoadOptions) (*Documents, error) {
	if o.Memory == 0 {
		o.Memory = defaultTextMemory
	}
	d := &Documents{numbers: make(map[string]int32), texts: blob{limit: o.Memory, dir: o.Dir}}
	err := from.Read(ctx, func(doc *Document) error {
		if o.Need != nil && !o.Need(doc.Doc) {
			d.skipped++
			return nil
		}
		return d.add(doc)
	})
	if err != nil {
		// Closing a file that is given up anyway has nothing to add to err.
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Documents) add(doc *Document) error {
	lay, t, problem := layOut(doc)
	if doc.Err != nil {
		// Which part of the text is missing is not known, so none is used.
		lay, t, problem = layout{}, texts{}, doc.Err.Error()
	}
	if problem != "" {
		d.problems = append(d.problems, fmt.Sprintf("%s: row %d: document %q: %s", doc.File, doc.FileRow, doc.Doc, problem))
	}
	if n, ok := d.numbers[doc.Doc]; ok {
		return d.compare(&d.docs[n], doc, &lay, t)
	}
	entry := document{layout: lay, file: doc.File, row: doc.FileRow, textLen: len(t.text), pagesLen: len(t.pages)}
	var err error
	if entry.textAt, err = d.texts.put(t.text); err != nil {
		return err
	}
	if entry.pagesAt, err = d.texts.put(t.pages); err != nil {
		return err
	}
	d.numbers[strings.Clone(doc.Doc)] = int32(len(d.docs))
	d.docs = append(d.docs, entry)
	return nil
}

// compare returns an error unless doc is the same document as first.
func (d *Documents) compare(first *document, doc *Document, lay *layout, t texts) error {
	held, err := d.load(first)
	if err != nil {
		return err
	}
	if first.equal(lay) && held == t {
		return nil
	}
	return &Error{
		File: doc.File, Row: doc.FileRow, Column: "doc",
		Err:  fmt.Errorf("%q differs from the document of the same name in %s: row %d", doc.Doc, first.file, first.row),
		Hint: "keep one of the two, or give them different names",
	}
}

func (d *Documents) load(doc *document) (t texts, err error) {
	if t.text, err = d.texts.get(doc.textAt, doc.textLen); err != nil {
		return texts{}, err
	}
	if t.pages, err = d.texts.get(doc.pagesAt, doc.pagesLen); err != nil {
		return texts{}, err
	}
	return t, nil
}

// Len is the number of documents kept.
func (d *Documents) Len() int { return len(d.docs) }

// Skipped is the number of documents that were not needed.
func (d *Documents) Skipped() int64 { return d.skipped }

// Has reports whether there is a document of that name.
func (d *Documents) Has(name string) bool {
	_, ok := d.numbers[name]
	return ok
}

// Bytes is the size of the texts kept.
func (d *Documents) Bytes() int64 { return d.texts.size }

// Problems are the texts that could not be kept, each with its file, row and
// reason, in the order of reading.
func (d *Documents) Problems() []string { return d.problems }

// Close gives back the temporary file, if there is one. No view may be used
// after it.
func (d *Documents) Close() error { return d.texts.close() }
