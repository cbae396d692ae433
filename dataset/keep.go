package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/quote"
	"ibid/metrics/token"
)

// metaErrors is what a [KeptWriter] states of rows with bad values: a JSON object of what
// is wrong with them, by their position.
const metaErrors = "ibid.errors"

// keptAround is how many code points on either side of a place are kept with it: enough
// to read it, and for the tokens of a place to be those of the whole text.
const keptAround = 400

// A KeptWriter writes the rows of a run as a DATASET, and the documents that they name as
// DOCUMENTS, in which nothing is left but what stands around places that are cited or
// marked, or where their quotes stand. All else is filler of the same length in bytes,
// code points and UTF-16 units, so that every place resolves as before. It is not safe for
// concurrent use.
type KeptWriter struct {
	file      *Writer
	documents string // path; "" if the run has none
	resolver  *Resolver
	errors    map[int64]string
	kept      map[string]*keptText // of the run's documents
	order     []string
}

// NewKeptWriter starts the file rows, of rows whose offsets and documents are as r says,
// and makes the file documents if r has documents of the run.
func NewKeptWriter(rows, documents string, r *Resolver) (*KeptWriter, error) {
	w := &KeptWriter{file: new(Writer), resolver: r, errors: make(map[int64]string), kept: make(map[string]*keptText)}
	if r.view != nil {
		w.documents = documents
	}
	c := &r.conv
	stated := map[string]string{metaOffsetUnit: c.OffsetUnit.String(), metaSpanEnd: c.SpanEnd.String(), metaOffsetBase: c.OffsetBase.String()}
	return w, w.file.file.open(rows, &rowSpec, stated)
}

// Write appends a row, and keeps what stands at further places, too. Of a row with a bad
// value the value is left out; whoever reads the file is told what was wrong.
func (w *KeptWriter) Write(row *ibid.Answer, further ...ibid.Place) error {
	r, bad := w.resolver, row.Err
	if err := r.Resolve(row); bad == nil {
		bad = err
	}
	if bad != nil {
		w.errors[w.file.Rows()] = bad.Error()
	}
	out := *row
	if keptBytes(&out, nil) > maxKeptBytes {
		return ErrTooLongToKeep
	}
	if out.Documents = w.note(row, further); keptBytes(&out, out.Documents) > maxKeptBytes {
		return ErrTooLongToKeep
	}
	if err := r.Err(); err != nil {
		return err
	}
	for i := range out.Citations {
		writable(&out.Citations[i].Page)
	}
	for i := range out.Truth {
		writable(&out.Truth[i].Page)
	}
	return w.file.Write(&out)
}

// maxKeptBytes is how many bytes of text a row may have to be kept.
const maxKeptBytes = 64 << 20

// ErrTooLongToKeep: a row has more than 64 MB of text.
var ErrTooLongToKeep = errors.New("more than 64 MB of text in one row")

// keptBytes is about how long the texts of a row are, with some documents.
func keptBytes(row *ibid.Answer, documents []ibid.Document) (n int) {
	n = len(row.Query) + len(row.Answer)
	for i := range row.Messages {
		n += len(row.Messages[i].Content)
	}
	for i := range row.Citations {
		n += len(row.Citations[i].CitedText) + len(row.Citations[i].SourceReference)
	}
	for i := range row.Truth {
		n += len(row.Truth[i].CitedText)
	}
	for i := range row.Claims {
		n += len(row.Claims[i].Text)
	}
	for i := range documents {
		n += len(documents[i].Text)
	}
	return n
}

// Skip appends a row of which nothing is kept but its names and tags.
func (w *KeptWriter) Skip(row *ibid.Answer) error {
	return w.file.Write(&ibid.Answer{ID: row.ID, System: row.System, QueryNull: true, AnswerNull: true, Tags: row.Tags})
}

// Close writes the documents and completes both files.
func (w *KeptWriter) Close() error {
	if err := w.writeDocuments(); err != nil {
		return errors.Join(err, w.Abort())
	}
	if len(w.errors) > 0 {
		told, err := json.Marshal(w.errors)
		if err != nil {
			return err
		}
		w.file.file.stated[metaErrors] = string(told)
	}
	return w.file.Close()
}

func (w *KeptWriter) writeDocuments() error {
	if w.documents == "" {
		return nil
	}
	to, err := NewDocumentWriter(w.documents)
	if err != nil {
		return err
	}
	for _, doc := range w.order {
		d := w.kept[doc].document(w.resolver, doc)
		if err := to.Write(&d); err != nil {
			return errors.Join(err, to.Abort())
		}
	}
	return errors.Join(w.resolver.Err(), to.Close())
}

// Abort removes what was written. After Close it does nothing.
func (w *KeptWriter) Abort() error { return w.file.Abort() }

// writable makes a page that is none null; its row has an error.
func writable(page *ibid.Integer) {
	if page.Known() && !fitsInt32(page.Value) {
		*page = ibid.Integer{}
	}
}

// keptErrors are the errors of the rows of a file by their positions, as a KeptWriter left
// them.
func keptErrors(stated string) (map[int64]error, error) {
	if stated == "" {
		return nil, nil
	}
	var told map[int64]string
	if err := json.Unmarshal([]byte(stated), &told); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", metaErrors, err)
	}
	out := make(map[int64]error, len(told))
	for pos, text := range told {
		out[pos] = errors.New(text)
	}
	return out, nil
}

// note takes note of what the row resolved last needs of the run's documents, and returns
// those that it brings itself, with filler in place of what it does not need.
func (w *KeptWriter) note(row *ibid.Answer, further []ibid.Place) []ibid.Document {
	r := w.resolver
	own := make(map[string]*keptText)
	find := func(doc string, null bool) *keptText {
		if null {
			return nil
		}
		if k, ok := own[doc]; ok {
			return k
		}
		var s source
		if r.find(doc, &s); s.layout == nil {
			return nil
		}
		if s.inline != nil {
			own[doc] = &keptText{source: s}
			return own[doc]
		}
		k, ok := w.kept[doc]
		if !ok {
			name := strings.Clone(doc)
			k = &keptText{source: s}
			w.kept[name], w.order = k, append(w.order, name)
		}
		return k
	}
	for i := range row.Citations {
		c := &row.Citations[i]
		if k := find(c.Doc, c.DocNull); k != nil {
			k.place(r, &c.Place, c.CitedText, c.Held)
			for _, given := range []ibid.Interval{c.Given, c.Repaired} {
				if given.Known() {
					k.add(c.Place.Page, given.Start.Value, given.End.Value)
				}
			}
		}
	}
	for i := range row.Truth {
		m := &row.Truth[i]
		if k := find(m.Doc, m.DocNull); k != nil {
			k.place(r, &m.Place, m.CitedText, false)
		}
	}
	for i := range further {
		if k := find(further[i].Doc, false); k != nil {
			k.add(further[i].Page, further[i].Start, further[i].End)
		}
	}
	var out []ibid.Document
	for i := range row.Documents {
		d := &row.Documents[i]
		k := own[d.Doc]
		if k == nil { // nothing points into it: that it has a text is all that counts
			out = append(out, ibid.Document{Doc: d.Doc, Title: d.Title, SourceType: d.SourceType})
			if d.HasText || d.HasPages || d.HasBlocks {
				out[i].HasText, out[i].Text = true, string(filler[1])
			}
			continue
		}
		filled := k.document(r, d.Doc)
		filled.Title, filled.SourceType, filled.Digest = d.Title, d.SourceType, d.TextDigest()
		out = append(out, filled)
	}
	return out
}

// A keptText is one document, and what is kept of it.
type keptText struct {
	source source
	text   []ibid.Stretch // of the text of the document
	apart  []ibid.Stretch // of the pages, where they are not in the text
	merged int            // how many there were when they were merged last
}

// add keeps the code points [start, end) of a key and what stands around them.
func (k *keptText) add(page int32, start, end int64) {
	s, ok := k.source.layout.key(page)
	if !ok || end < start {
		return
	}
	length := int64(s.end - s.start)
	start, end = min(max(start, 0), length), min(max(end, 0), length)
	of := ibid.Stretch{Start: int64(s.start) + max(0, start-keptAround), End: int64(s.start) + min(length, end+keptAround)}
	to := &k.text
	if page > 0 && k.source.layout.apart {
		to = &k.apart
	}
	if *to = append(*to, of); len(*to) >= 2*max(k.merged, 32) {
		*to = merge(*to)
		k.merged = len(*to)
	}
}

// merge sorts stretches and joins those that touch.
func merge(all []ibid.Stretch) []ibid.Stretch {
	slices.SortFunc(all, func(a, b ibid.Stretch) int { return cmp.Compare(a.Start, b.Start) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// place keeps where a place is, and all places where its quote stands unless the place
// holds it.
func (k *keptText) place(r *Resolver, p *ibid.Place, quoted string, held bool) {
	if p.Level == ibid.LevelCharacters {
		k.add(p.Page, p.Start, p.End)
		for i := range p.Parts() {
			k.add(p.Page, p.Part(i).Start, p.Part(i).End)
		}
	}
	if quote.Blank(quoted) || held && p.Level == ibid.LevelCharacters {
		return
	}
	keys := []int32{0}
	if r.conv.OffsetBase == FromPage {
		for i := range k.source.layout.pages {
			keys = append(keys, int32(i+1))
		}
	}
	for _, page := range keys {
		reg, ok := r.region(&k.source, page)
		if !ok {
			continue
		}
		places, many, bytes := reg.find(quoted)
		r.grew(&k.source, bytes)
		if many {
			k.add(page, 0, reg.len())
		}
		for _, found := range places {
			for _, piece := range found {
				k.add(page, piece.Start, piece.End)
			}
		}
	}
}

// document is the document with filler.
func (k *keptText) document(r *Resolver, doc string) ibid.Document {
	out := ibid.Document{Doc: doc}
	lay := k.source.layout
	if !lay.hasText {
		return out
	}
	reg, ok := r.region(&k.source, 0)
	if !ok {
		return out
	}
	whole := k.source.inline
	if whole == nil {
		opened, err := r.view.open(k.source.number)
		if err != nil {
			return out // the resolver has the error
		}
		whole = opened
	}
	out.HasText = true
	// Pages and blocks are found by the white space between them.
	k.text = append(append(k.text, between(lay.blocks, lay.length)...), between(lay.pages, lay.length)...)
	out.Text = fill(reg.whole, k.text)
	text := token.NewText(out.Text)
	pages := text
	if lay.apart {
		pages = token.NewText(fill(whole.pages, k.apart))
	}
	out.HasPages, out.HasBlocks = lay.hasPages, lay.hasBlocks
	for _, s := range lay.pages {
		out.Pages = append(out.Pages, pages.Slice(int(s.start), int(s.end)))
	}
	for _, s := range lay.blocks {
		out.Blocks = append(out.Blocks, text.Slice(int(s.start), int(s.end)))
	}
	return out
}

// between are the gaps before, between and after parts of a text.
func between(parts []stretch, length int32) (gaps []ibid.Stretch) {
	if len(parts) == 0 {
		return nil
	}
	at := int32(0)
	for _, p := range append(slices.Clone(parts), stretch{length, length}) {
		if at < p.start {
			gaps = append(gaps, ibid.Stretch{Start: int64(at), End: int64(p.start)})
		}
		at = p.end
	}
	return gaps
}

// Filler of one to four bytes: no white space, no letter, and nothing that a text has.
var filler = [utf8.UTFMax + 1]rune{1: '\u001a', 2: '\u0086', 3: '\ufffc', 4: '\U0010fffd'}

// fill puts filler in place of all code points of a text but the kept ones.
func fill(text *token.Text, kept []ibid.Stretch) string {
	kept = merge(kept)
	var b strings.Builder
	b.Grow(len(text.String()))
	at := 0
	for _, s := range append(kept, ibid.Stretch{Start: int64(text.Len()), End: int64(text.Len())}) {
		if from := int(s.Start); at < from {
			for _, c := range text.Slice(at, from) {
				b.WriteRune(filler[utf8.RuneLen(c)])
			}
			at = from
		}
		if to := int(s.End); at < to {
			b.WriteString(text.Slice(at, to))
			at = to
		}
	}
	return b.String()
}
