package dataset

import (
	"context"
	"errors"
)

// documentBatch is how many documents are decoded at a time: few, because their
// texts may be long.
const documentBatch = 64

// A DocumentSource is a set of DOCUMENTS files: one document per row, read as
// if the files were one.
type DocumentSource struct{ files fileSet }

// OpenDocuments is [Open] for DOCUMENTS files. o.Want is ignored.
func OpenDocuments(pattern string, o ReadOptions) (*DocumentSource, error) {
	o.Want = WantDocuments
	files, err := openFiles(pattern, &documentSpec, o)
	if err != nil {
		return nil, err
	}
	return &DocumentSource{*files}, nil
}

// Rows is the number of documents in all files.
func (s *DocumentSource) Rows() int64 { return s.files.rows }

// Files lists the files in reading order.
func (s *DocumentSource) Files() []FileInfo { return s.files.infos() }

// Conventions returns what the files state; OpenDocuments has checked that they
// agree.
func (s *DocumentSource) Conventions() FileConventions { return s.files.conventions }

// Columns lists our names of the columns that were found.
func (s *DocumentSource) Columns() []string { return s.files.columns() }

// Ignored is as for [Source].
func (s *DocumentSource) Ignored() []string { return s.files.ignored }

// Read decodes all documents in order and hands each to yield, whose error ends
// it. The document and its strings are valid until yield returns. A document
// without a name is an [*Error], as is a damaged file.
func (s *DocumentSource) Read(ctx context.Context, yield func(*Document) error) error {
	var d Document
	return s.files.read(ctx, 0, documentBatch, func(b *Batch) error {
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
func (b *Batch) fileDocument(i int, d *Document) error {
	seg := b.segment(i)
	d.File, d.FileRow = seg.file, seg.fileRow+int64(i-seg.first)
	d.Err = b.errs[int32(i)]
	name := &b.leaves[fileDoc]
	if !name.plain(i) {
		return &Error{File: d.File, Row: d.FileRow, Column: "doc", Err: errors.New("a document needs a name")}
	}
	d.Doc = name.text[i]
	d.Title = b.leaves[fileTitle].plainText(i)
	d.Text, d.HasText = b.leaves[fileText].plainText(i), b.leaves[fileText].plain(i)
	d.SourceType = b.leaves[fileSourceType].plainText(i)
	d.Metadata = b.leaves[fileMetadata].plainText(i)
	d.Pages, d.HasPages = b.values(groupPages, filePages, i, d.Pages)
	d.Blocks, d.HasBlocks = b.values(groupBlocks, fileBlocks, i, d.Blocks)
	return nil
}

// values appends the elements of a list of plain texts to dst[:0]; a null
// element is "".
func (b *Batch) values(group, col, i int, dst []string) ([]string, bool) {
	lo, hi, has := b.groups[group].elements(i)
	return append(dst[:0], b.leaves[col].texts(lo, hi)...), has
}
