package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"ibid"
	"ibid/dataset/disk"
	"ibid/metrics/quote"
)

// Documents are the sources that citations point into: for each the bounds of
// its text, pages and blocks, and the texts themselves in memory or in a
// temporary file. Documents are immutable and safe for concurrent use; each
// worker reads texts through a [View] of its own.
type Documents struct {
	numbers  map[string]int32
	docs     []document
	texts    blob
	most     int64                  // bytes of one text
	needed   func(name string) bool // of all documents that were read; nil of all
	all      *searched              // all documents that the run has, if they are small
	problems []string
}

// A document is what is known of one, and where its text is.
type document struct {
	layout
	file string // where it was first seen
	row  int64
	text stored
}

// textMemory is how many bytes of text are kept in memory before they go to a file.
const textMemory = 64 << 20

// newDocuments keeps memory bytes of texts in memory, the others in dir, "" being the system's.
func newDocuments(memory int64, dir string) *Documents {
	return &Documents{numbers: make(map[string]int32), texts: blob{limit: memory, dir: dir}, most: mostDocumentBytes}
}

// LoadDocuments reads the documents that are needed, nil being all, in one sequential pass. Two
// documents of one name must have the same text, pages and blocks, or one be a part of the
// other, which counts; otherwise an [*ibid.Error] names both places. A text that is not valid UTF-8, or over the limit of documents, is
// not kept: its document is known without its text, and [Documents.Problems] says so.
func LoadDocuments(ctx context.Context, from *DocumentSource, need func(name string) bool) (*Documents, error) {
	d := newDocuments(textMemory, "")
	d.most = from.fileSet.options.Limits.Times(mostDocumentBytes)
	return d.addAll(ctx, need, from.read)
}

// addAll adds the needed ones of the documents that read yields; d is closed if that fails.
func (d *Documents) addAll(ctx context.Context, need func(name string) bool, read documentReader) (*Documents, error) {
	err := read(ctx, need, func(doc *ibid.Document) error {
		if need != nil && !need(doc.Doc) {
			return nil
		}
		return d.add(doc)
	})
	if err != nil {
		_ = d.Close() // it is given up anyway
		return nil, err
	}
	return d, nil
}

func (d *Documents) add(doc *ibid.Document) error {
	lay, text, problem := layOut(doc, d.most)
	if doc.Err != nil {
		// Which part of the text is missing is not known, so none is used.
		lay, text, problem = layout{}, "", doc.Err.Error()
	}
	if problem != "" && d.isNeeded(doc) {
		at := fmt.Sprintf("%s: row %d: ", doc.File, doc.FileRow)
		if doc.FileRow < 0 { // the file is the document
			at = doc.File + ": "
		}
		d.problems = append(d.problems, fmt.Sprintf("%sdocument %q: %s", at, doc.Doc, problem))
	}
	n, known := d.numbers[doc.Doc]
	switch {
	case known && lay.partial && d.docs[n].whole():
		return nil
	case known && !(lay.whole() && d.docs[n].partial):
		if !d.isNeeded(doc) {
			return nil
		}
		return d.compare(&d.docs[n], doc, &lay, text)
	}
	entry := document{layout: lay, file: doc.File, row: doc.FileRow}
	var err error
	if entry.text, err = d.texts.put(text); err != nil {
		return err
	}
	if known {
		d.docs[n] = entry
		return nil
	}
	d.numbers[strings.Clone(doc.Doc)] = int32(len(d.docs))
	d.docs = append(d.docs, entry)
	return nil
}

// compare returns an error unless doc is the same document as first.
func (d *Documents) compare(first *document, doc *ibid.Document, lay *layout, text string) error {
	held, err := d.load(first)
	if err != nil {
		return err
	}
	if first.equal(lay) && held == text {
		return nil
	}
	return &ibid.Error{
		File: doc.File, Row: ibid.SomeIf(doc.FileRow, doc.FileRow >= 0), Column: "doc",
		Err:  fmt.Errorf("%q differs from the document of the same name in %s: row %d", doc.Doc, first.file, first.row),
		Hint: "keep one of the two, or give them different names",
	}
}

func (d *Documents) load(doc *document) (string, error) {
	return d.texts.get(doc.text, 0, doc.text.len)
}

// LoadAll is [LoadDocuments] of all documents if they are small, and of those that need is true
// of if they are not. Quotations are looked for in all documents if they are small.
func LoadAll(ctx context.Context, from *DocumentSource, need func(name string) bool) (*Documents, error) {
	size := int64(0)
	for _, f := range from.Files() {
		size += f.Size
	}
	if size <= wholeSearch {
		d := newDocuments(textMemory, "")
		d.most, d.needed = from.fileSet.options.Limits.Times(mostDocumentBytes), need
		d, err := d.addAll(ctx, nil, from.read)
		if err != nil || d.texts.size <= wholeSearch {
			return d.searchAll(), err
		}
		if err := d.Close(); err != nil {
			return nil, err
		}
	}
	return LoadDocuments(ctx, from, need)
}

// isNeeded reports whether what is wrong with a document concerns anybody.
func (d *Documents) isNeeded(doc *ibid.Document) bool { return d.needed == nil || d.needed(doc.Doc) }

// searchAll notes that quotations are looked for in all documents.
func (d *Documents) searchAll() *Documents {
	if d != nil {
		d.all = &searched{names: make([]string, len(d.docs)), texts: make([]*quote.Text, len(d.docs))}
		for name, i := range d.numbers {
			d.all.names[i] = name
		}
	}
	return d
}

// Has reports whether there is a document of that name.
func (d *Documents) Has(name string) bool {
	_, ok := d.numbers[name]
	return ok
}

// Problems are the texts that could not be kept, each with its file, row and
// reason, in the order of reading.
func (d *Documents) Problems() []string { return d.problems }

// Close gives back the temporary file, if there is one. No view may be used
// after it. Nil documents have nothing to close.
func (d *Documents) Close() error {
	if d == nil {
		return nil
	}
	return d.texts.close()
}

// documentBatch is how many documents are decoded at a time: few, because their
// texts may be long.
const documentBatch = 64

// A DocumentSource is a set of DOCUMENTS files: one document per row, read as
// if the files were one. Or it is a folder without Parquet files, in which each
// file is a document: text, Markdown, HTML or PDF, named by its path from the
// folder, with slashes. The pages of a PDF are its pages.
type DocumentSource struct {
	fileSet
	folder bool
}

// OpenDocuments is [Open] for DOCUMENTS files. o.Want is ignored.
func OpenDocuments(pattern string, o ReadOptions) (*DocumentSource, error) {
	folder, err := filesOfFolder(pattern)
	if err != nil {
		return nil, err
	}
	if folder != nil {
		set := fileSet{spec: &documentSpec, options: o, files: folder, rows: int64(len(folder)), present: make([]bool, len(documentSpec.columns))}
		return &DocumentSource{set, true}, nil
	}
	o.Want = WantDocuments
	files, err := openFiles(pattern, &documentSpec, o)
	if err != nil {
		return nil, err
	}
	return &DocumentSource{fileSet: *files}, nil
}

// Read decodes all documents in order and hands each to yield, whose error ends
// it. The document and its strings are valid until yield returns. A document
// without a name is an [*ibid.Error], as is a damaged file; a file of a folder that
// cannot be read is a document with an Err.
func (s *DocumentSource) Read(ctx context.Context, yield func(*ibid.Document) error) error {
	return s.read(ctx, nil, yield)
}

// A documentReader yields documents, at least those that are needed. It may use a document
// again after yield returns.
type documentReader func(ctx context.Context, need func(name string) bool, yield func(*ibid.Document) error) error

// read is Read; files of a folder that are not needed are not even opened.
func (s *DocumentSource) read(ctx context.Context, need func(name string) bool, yield func(*ibid.Document) error) error {
	if s.folder {
		return s.readFolder(ctx, need, yield)
	}
	return s.fileSet.eachDocument(ctx, documentBatch, yield)
}

// eachDocument decodes the documents of files, rows at a time.
func (s *fileSet) eachDocument(ctx context.Context, rows int, yield func(*ibid.Document) error) error {
	var d ibid.Document
	return s.read(ctx, 0, rows, func(b *Batch) error {
		defer b.Release()
		for i := range b.Len() {
			if err := b.fileDocument(i, &d); err != nil {
				return err
			}
			if err := yield(&d); err != nil {
				return err
			}
		}
		return nil
	})
}

// fileDocument fills d with row i of a batch of a DOCUMENTS file.
func (b *Batch) fileDocument(i int, d *ibid.Document) error {
	d.File, d.FileRow = b.Place(i)
	d.Err = b.errs[int32(i)]
	if !b.leaves[0].is(i, codePlain) {
		return &ibid.Error{File: d.File, Row: ibid.Some(d.FileRow), Column: "doc", Err: errors.New("a document needs a name")}
	}
	fillFields(b, i, fileFields, d)
	return nil
}

// A blob holds texts: in memory up to a limit, after that in a temporary file that has no
// name (where the system allows that), so that nothing is left behind however the process
// ends.
//
// After the last put, get is safe for concurrent use.
type blob struct {
	limit int64 // bytes that stay in memory
	dir   string
	size  int64
	file  *disk.File // after the limit
	end   int64      // of file
}

// A stored text is in memory, or in the file of a blob.
type stored struct {
	text string
	at   int64 // in the file, if text is ""
	len  int
}

// put keeps s, to which it keeps no reference.
func (b *blob) put(s string) (stored, error) {
	kept := stored{at: b.end, len: len(s)}
	if b.size += int64(len(s)); b.size <= b.limit {
		kept.text = strings.Clone(s)
		return kept, nil
	}
	if b.file == nil {
		f, err := disk.Nameless(b.dir)
		if err != nil {
			return kept, fmt.Errorf("document texts: %w", err)
		}
		b.file = f
	}
	if _, err := b.file.WriteAt(unsafe.Slice(unsafe.StringData(s), len(s)), b.end); err != nil {
		return kept, fmt.Errorf("document texts: %w", err)
	}
	b.end += int64(len(s))
	return kept, nil
}

// get returns the bytes [from, to) of a text.
func (b *blob) get(s stored, from, to int) (string, error) {
	if s.text != "" || from == to {
		return s.text[from:to], nil
	}
	p := make([]byte, to-from)
	if _, err := b.file.ReadAt(p, s.at+int64(from)); err != nil {
		return "", fmt.Errorf("document texts: %w", err)
	}
	return unsafe.String(&p[0], len(p)), nil
}

// close gives back the file, if there is one.
func (b *blob) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}
