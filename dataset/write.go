package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/parquet-go/parquet-go"

	"ibid"
)

// Limits of one row group that a writer fills: whichever is reached first.
const (
	groupRows  = 128 << 10
	groupBytes = 32 << 20
)

// errClosed is returned by a writer that has been closed or aborted.
var errClosed = errors.New("writer is closed")

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
func (w *Writer) Write(r *ibid.Answer) error {
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
func (w *DocumentWriter) Write(d *ibid.Document) error {
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
		return errClosed
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
		return errClosed
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

// The stored types are the columns of DATASET and DOCUMENTS as they are
// written. Pointers keep null apart from zero, nil slices null apart from
// empty.

type storedRow struct {
	ID        *string           `parquet:"id,optional"`
	Query     *string           `parquet:"query,optional"`
	Answer    *string           `parquet:"answer,optional"`
	System    *string           `parquet:"system,optional,dict"`
	Provider  *string           `parquet:"provider,optional,dict"`
	Model     *string           `parquet:"model,optional,dict"`
	Citations []storedCitation  `parquet:"citations,optional,list"`
	Truth     []storedTruth     `parquet:"truth,optional,list"`
	Claims    []storedClaim     `parquet:"claims,optional,list"`
	Labels    []storedLabel     `parquet:"labels,optional,list"`
	Documents []storedInline    `parquet:"documents,optional,list"`
	Messages  []storedMessage   `parquet:"messages,optional,list"`
	Tags      map[string]string `parquet:"tags,optional"`
}

type storedCitation struct {
	Doc               *string  `parquet:"doc,optional,dict"`
	Page              *int32   `parquet:"page,optional"`
	Start             *int64   `parquet:"start,optional"`
	End               *int64   `parquet:"end,optional"`
	Unit              *string  `parquet:"unit,optional,dict"`
	CitedText         *string  `parquet:"cited_text,optional"`
	Title             *string  `parquet:"title,optional,dict"`
	AnswerStart       *int64   `parquet:"answer_start,optional"`
	AnswerEnd         *int64   `parquet:"answer_end,optional"`
	CitationID        *string  `parquet:"citation_id,optional"`
	ClaimID           *string  `parquet:"claim_id,optional"`
	SourceType        *string  `parquet:"source_type,optional,dict"`
	Method            *string  `parquet:"method,optional,dict"`
	Confidence        *float64 `parquet:"confidence,optional"`
	Relevance         *float64 `parquet:"relevance,optional"`
	TokenContribution *int64   `parquet:"token_contribution,optional"`
	SourceReference   *string  `parquet:"source_reference,optional"`
}

type storedTruth struct {
	Annotator *string `parquet:"annotator,optional,dict"`
	Doc       *string `parquet:"doc,optional,dict"`
	Page      *int32  `parquet:"page,optional"`
	Start     *int64  `parquet:"start,optional"`
	End       *int64  `parquet:"end,optional"`
	Unit      *string `parquet:"unit,optional,dict"`
	ClaimID   *string `parquet:"claim_id,optional"`
}

type storedClaim struct {
	ClaimID *string `parquet:"claim_id,optional"`
	Text    *string `parquet:"text,optional"`
	Start   *int64  `parquet:"start,optional"`
	End     *int64  `parquet:"end,optional"`
}

type storedLabel struct {
	Annotator  *string  `parquet:"annotator,optional,dict"`
	ClaimID    *string  `parquet:"claim_id,optional"`
	CitationID *string  `parquet:"citation_id,optional"`
	Kind       *string  `parquet:"kind,optional,dict"`
	Value      *float64 `parquet:"value,optional"`
}

type storedInline struct {
	Doc        *string  `parquet:"doc,optional,dict"`
	Title      *string  `parquet:"title,optional,dict"`
	Text       *string  `parquet:"text,optional"`
	SourceType *string  `parquet:"source_type,optional,dict"`
	Pages      []string `parquet:"pages,optional,list"`
	Blocks     []string `parquet:"blocks,optional,list"`
}

type storedMessage struct {
	Role    *string `parquet:"role,optional,dict"`
	Content *string `parquet:"content,optional"`
}

type storedDocument struct {
	Doc        string   `parquet:"doc"`
	Title      *string  `parquet:"title,optional"`
	Text       *string  `parquet:"text,optional"`
	SourceType *string  `parquet:"source_type,optional,dict"`
	Pages      []string `parquet:"pages,optional,list"`
	Blocks     []string `parquet:"blocks,optional,list"`
	Metadata   *string  `parquet:"metadata,optional"`
}

// storeRow converts r. The strings stay those of r.
func storeRow(r *ibid.Answer) (storedRow, error) {
	row := storedRow{
		ID:        storeString(&r.ID, !r.IDNull),
		Query:     storeString(&r.Query, !r.QueryNull),
		Answer:    storeString(&r.Answer, !r.AnswerNull),
		System:    storeText(&r.System),
		Provider:  storeText(&r.Provider),
		Model:     storeText(&r.Model),
		Claims:    storeList(r.Claims, r.HasClaims, storeClaim),
		Labels:    storeList(r.Labels, r.HasLabels, storeLabel),
		Documents: storeList(r.Documents, r.HasDocuments, storeInline),
		Messages:  storeList(r.Messages, r.HasMessages, storeMessage),
	}
	for i := range r.Citations {
		if p := r.Citations[i].Page; p.Known() && !fitsInt32(p.Value) {
			return row, pageError("citations.page", i, p.Value)
		}
	}
	for i := range r.Truth {
		if p := r.Truth[i].Page; p.Known() && !fitsInt32(p.Value) {
			return row, pageError("truth.page", i, p.Value)
		}
	}
	row.Citations = storeList(r.Citations, r.HasCitations, storeCitation)
	row.Truth = storeList(r.Truth, r.HasTruth, storeTruth)
	if len(r.Tags) > 0 {
		row.Tags = maps.Collect(func(yield func(string, string) bool) {
			for _, t := range r.Tags {
				if !yield(t.Key, t.Value) {
					return
				}
			}
		})
	}
	return row, nil
}

func pageError(column string, element int, page int64) *Error {
	return &Error{Row: -1, Column: column, Err: fmt.Errorf("element %d: %d is no page number", element, page)}
}

func storeCitation(c *ibid.Citation) storedCitation {
	return storedCitation{
		Doc:               storeString(&c.Doc, !c.DocNull),
		Page:              storePage(c.Page),
		Start:             storeInt(&c.Start),
		End:               storeInt(&c.End),
		Unit:              storeText(&c.Unit),
		CitedText:         storeText(&c.CitedText),
		Title:             storeText(&c.Title),
		AnswerStart:       storeInt(&c.AnswerStart),
		AnswerEnd:         storeInt(&c.AnswerEnd),
		CitationID:        storeText(&c.CitationID),
		ClaimID:           storeText(&c.ClaimID),
		SourceType:        storeText(&c.SourceType),
		Method:            storeText(&c.Method),
		Confidence:        storeFloat(&c.Confidence),
		Relevance:         storeFloat(&c.Relevance),
		TokenContribution: storeInt(&c.TokenContribution),
		SourceReference:   storeText(&c.SourceReference),
	}
}

func storeTruth(t *ibid.Mark) storedTruth {
	return storedTruth{
		Annotator: storeText(&t.Annotator),
		Doc:       storeString(&t.Doc, !t.DocNull),
		Page:      storePage(t.Page),
		Start:     storeInt(&t.Start),
		End:       storeInt(&t.End),
		Unit:      storeText(&t.Unit),
		ClaimID:   storeText(&t.ClaimID),
	}
}

func storeClaim(c *ibid.Claim) storedClaim {
	return storedClaim{
		ClaimID: storeText(&c.ClaimID), Text: storeText(&c.Text),
		Start: storeInt(&c.Start), End: storeInt(&c.End),
	}
}

func storeLabel(l *ibid.Label) storedLabel {
	return storedLabel{
		Annotator: storeText(&l.Annotator), ClaimID: storeText(&l.ClaimID), CitationID: storeText(&l.CitationID),
		Kind: storeText(&l.Kind), Value: storeFloat(&l.Value),
	}
}

func storeInline(d *ibid.Document) storedInline {
	return storedInline{
		Doc: storeText(&d.Doc), Title: storeText(&d.Title), Text: storeString(&d.Text, d.HasText),
		SourceType: storeText(&d.SourceType),
		Pages:      storeStrings(d.Pages, d.HasPages), Blocks: storeStrings(d.Blocks, d.HasBlocks),
	}
}

func storeDocument(d *ibid.Document) storedDocument {
	return storedDocument{
		Doc: d.Doc, Title: storeText(&d.Title), Text: storeString(&d.Text, d.HasText),
		SourceType: storeText(&d.SourceType),
		Pages:      storeStrings(d.Pages, d.HasPages), Blocks: storeStrings(d.Blocks, d.HasBlocks),
		Metadata: storeText(&d.Metadata),
	}
}

func storeMessage(m *ibid.Message) storedMessage {
	return storedMessage{Role: storeText(&m.Role), Content: storeText(&m.Content)}
}

// storeText writes "" as null.
func storeText(s *string) *string { return storeString(s, *s != "") }

func storeString(s *string, valid bool) *string {
	if !valid {
		return nil
	}
	return s
}

func storeInt(v *ibid.Integer) *int64 {
	if !v.Known() {
		return nil
	}
	return &v.Value
}

func storeFloat(v *ibid.Number) *float64 {
	if !v.Known() {
		return nil
	}
	return &v.Value
}

func storePage(v ibid.Integer) *int32 {
	if !v.Known() {
		return nil
	}
	page := int32(v.Value)
	return &page
}

// storeList returns nil for a null list, and never nil for an empty one.
func storeList[T, S any](list []T, has bool, store func(*T) S) []S {
	if !has {
		return nil
	}
	out := make([]S, len(list))
	for i := range list {
		out[i] = store(&list[i])
	}
	return out
}

func storeStrings(list []string, has bool) []string {
	switch {
	case !has:
		return nil
	case list == nil:
		return []string{}
	}
	return list
}

// rowBytes estimates what r adds to its row group before compression.
func rowBytes(r *ibid.Answer) int64 {
	n := 64 + len(r.ID) + len(r.Query) + len(r.Answer) + 100*len(r.Citations) + 60*len(r.Truth) + 40*len(r.Labels)
	for i := range r.Citations {
		n += len(r.Citations[i].CitedText) + len(r.Citations[i].SourceReference)
	}
	for i := range r.Claims {
		n += 40 + len(r.Claims[i].Text)
	}
	for i := range r.Messages {
		n += 16 + len(r.Messages[i].Content)
	}
	bytes := int64(n)
	for i := range r.Documents {
		bytes += documentBytes(&r.Documents[i])
	}
	return bytes
}

func documentBytes(d *ibid.Document) int64 {
	n := 64 + len(d.Doc) + len(d.Title) + len(d.Text) + len(d.Metadata)
	for _, texts := range [][]string{d.Pages, d.Blocks} {
		for _, text := range texts {
			n += len(text)
		}
	}
	return int64(n)
}
