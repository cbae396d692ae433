package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/quote"
)

// A Text is a document, or a piece of a long one, as a run keeps it: a row of
// texts.parquet. Rows of one document follow each other, in the order of at.
type Text struct {
	Doc    string  `col:"doc" doc:"document, as citations name it"`
	Digest string  `col:"digest" doc:"SHA-256 of its whole text, 64 hex digits" null:"it has no text"`
	Length *int64  `col:"length" unit:"code points" doc:"length of its text" null:"it has no text"`
	At     int64   `col:"at" unit:"code points" doc:"begin of the piece in the text; 0 of a whole document"`
	Text   string  `col:"text" compress:"zstd" doc:"the text, or of a document over 1 MB a piece; pages that do not stand in the text follow it" null:"it has no text"`
	Pages  []int32 `col:"pages" doc:"begin and end of each page in the text, in code points" null:"it has no pages"`
	Part   bool    `col:"partial" doc:"the text is a part of the document, such as the snippet of a search result"`
	Blocks []int32 `col:"blocks" doc:"begin and end of each block in the text, in code points" null:"it has no blocks, or they do not stand in the text"`
	Rows   []int32 `col:"rows" doc:"positions of the rows that bring it along" null:"it is one of the documents of the run"`
}

const (
	wholeBytes  = 1 << 20 // of a document that is kept whole
	pieceChars  = 4000    // of a piece of a longer one, which begins at a multiple
	pieceMargin = 2000    // at least on either side of a place
)

// A Piece is a part of a document that a row points to: all of it, or a piece of a long
// one. It is good until the resolver takes the next row.
type Piece struct {
	Document int32 // number of the document; -1 of one that the row brings along
	At       int32 // begin, in code points

	r      *Resolver
	name   string
	source source
	end    int32
}

// EachPiece calls yield with the pieces of documents that the row resolved last points to, each
// once: by its citations, its truth, and at further places.
func (r *Resolver) EachPiece(row *ibid.Answer, further []ibid.Place, yield func(*Piece) error) error {
	var err error
	long := make(map[string]*longText) // nil: yielded whole
	piece := func(doc string, s source, start, end int32) {
		p := &Piece{s.number, start, r, doc, s, end}
		if s.inline != nil {
			p.Document = -1
		}
		if err == nil {
			err = yield(p)
		}
	}
	find := func(doc string) *longText {
		t, met := long[doc]
		if met {
			return t
		}
		var s source
		if r.find(doc, &s); s.layout == nil {
			return nil
		}
		if long[doc] = nil; r.bytesOf(&s) <= wholeBytes {
			piece(doc, s, 0, s.layout.extent())
			return nil
		}
		// That there is such a document is known by its beginning.
		long[doc] = &longText{r: r, source: s, pieces: map[int32]bool{0: true}}
		return long[doc]
	}
	for i := range row.Citations {
		c := &row.Citations[i]
		if c.DocNull {
			continue
		}
		if t := find(c.Doc); t != nil {
			t.place(&c.Place, c.CitedText, c.Held)
			for _, at := range []ibid.Interval{c.Given, c.Repaired} {
				if at.Known() {
					t.add(c.Place.Page, at.Start.Value, at.End.Value)
				}
			}
		}
	}
	for i := range row.Truth {
		if m := &row.Truth[i]; !m.DocNull {
			if t := find(m.Doc); t != nil {
				t.place(&m.Place, m.CitedText, false)
			}
		}
	}
	for i := range further {
		if t := find(further[i].Doc); t != nil {
			t.place(&further[i], "", true)
		}
	}
	for doc, t := range long {
		if t == nil {
			continue
		}
		for n := range t.pieces {
			piece(doc, t.source, n*pieceChars, min((n+1)*pieceChars, t.source.layout.extent()))
		}
	}
	return cmp.Or(err, r.err)
}

// extent is the length of the text and of the pages that do not stand in it.
func (l *layout) extent() int32 {
	if l.apart && len(l.pages) > 0 {
		return l.pages[len(l.pages)-1].end
	}
	return l.length
}

// bytesOf is the size of a document's text and of pages that do not stand in it.
func (r *Resolver) bytesOf(s *source) int {
	if s.inline == nil {
		return r.view.docs.docs[s.number].text.len
	}
	return len(s.inline.text.String())
}

// A longText is a document over 1 MB, and which of its pieces are kept.
type longText struct {
	r      *Resolver
	source source
	pieces map[int32]bool // their numbers
}

// add keeps what stands around the code points [start, end) of a key.
func (t *longText) add(page int32, start, end int64) {
	lay := t.source.layout
	of, ok := lay.key(page)
	if !ok || end < start {
		return
	}
	length := int64(of.end - of.start)
	start, end = min(max(start, 0), length), min(max(end, 0), length)
	from := int64(of.start)
	last := min(from+end+pieceMargin, int64(lay.extent())) - 1
	for n := int32(max(0, from+start-pieceMargin) / pieceChars); n <= int32(last/pieceChars); n++ {
		t.pieces[n] = true
	}
}

// place keeps where a place is, and all places where its quote stands unless the place
// holds it.
func (t *longText) place(p *ibid.Place, quoted string, held bool) {
	if p.Level == ibid.LevelCharacters {
		t.add(p.Page, p.Start, p.End)
		for i := range p.Parts() {
			t.add(p.Page, p.Part(i).Start, p.Part(i).End)
		}
	}
	if quote.Blank(quoted) || held && p.Level == ibid.LevelCharacters {
		return
	}
	keys := []int32{0}
	if t.r.conv.OffsetBase == FromPage {
		for i := range t.source.layout.pages {
			keys = append(keys, int32(i+1))
		}
	}
	for _, page := range keys {
		reg, ok := t.r.region(&t.source, page)
		if !ok {
			continue
		}
		places, many, bytes := reg.find(quoted)
		t.r.grew(&t.source, bytes)
		if many {
			t.add(page, 0, reg.len())
		}
		for _, found := range places {
			for _, piece := range found {
				t.add(page, piece.Start, piece.End)
			}
		}
	}
}

// Text is the piece as a run keeps it, without rows. digest is that of the document if
// another piece has it, else "".
func (p *Piece) Text(digest string) (*Text, error) {
	lay := p.source.layout
	out := &Text{Doc: strings.Clone(p.name), At: int64(p.At)}
	if !lay.hasText {
		return out, nil
	}
	o := p.source.inline
	if o == nil {
		var err error
		if o, err = p.r.view.open(p.source.number); err != nil {
			return nil, err
		}
	}
	if out.Digest = digest; digest == "" {
		sum := sha256.Sum256([]byte(o.text.String()))
		out.Digest = hex.EncodeToString(sum[:])
	}
	out.Length, out.Part = new(int64(lay.length)), lay.partial
	out.Text = o.text.Slice(int(p.At), int(p.end))
	out.Pages, out.Blocks = boundsOf(lay.hasPages, lay.pages), boundsOf(lay.hasBlocks, lay.blocks)
	return out, nil
}

// boundsOf are begin and end of each part; nil without parts.
func boundsOf(has bool, parts []stretch) []int32 {
	if !has {
		return nil
	}
	out := make([]int32, 0, 2*len(parts))
	for _, s := range parts {
		out = append(out, s.start, s.end)
	}
	return out
}

// filler stands for each code point of a text that was not kept: no white space, no
// letter, and nothing that a text has.
const filler = "\u001a"

// LoadTexts makes documents of texts that a run kept, as each yields them, which must
// follow each other as in texts.parquet. names are those that a document has in the
// result, which may be none. Where a long one was not kept, it has filler.
func LoadTexts(each func(yield func(*Text) error) error, names func(*Text) []string) (*Documents, error) {
	d := newDocuments(textMemory, "")
	var pieces []*Text
	flush := func() error {
		if len(pieces) == 0 {
			return nil
		}
		first := pieces[0]
		entry, number := document{row: -1}, int32(len(d.docs))
		if entry.layout = first.layout(); entry.hasText {
			var err error
			if entry.text, err = d.texts.put(assemble(&entry.layout, pieces)); err != nil {
				return err
			}
		}
		for _, name := range names(first) {
			d.numbers[name] = number
		}
		d.docs, pieces = append(d.docs, entry), pieces[:0]
		return nil
	}
	err := each(func(t *Text) error {
		if len(pieces) > 0 && pieces[0].Compare(t) != 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		pieces = append(pieces, new(*t))
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		_ = d.Close() // it is given up anyway
		return nil, err
	}
	return d, nil
}

// Compare orders texts by what they say of their document; those of one document are equal.
func (t *Text) Compare(o *Text) int {
	order := func(a, b bool) int { return strings.Compare(strconv.FormatBool(b), strconv.FormatBool(a)) } // true first
	return cmp.Or(strings.Compare(t.Digest, o.Digest), strings.Compare(t.Doc, o.Doc), slices.Compare(t.Pages, o.Pages), slices.Compare(t.Blocks, o.Blocks),
		order(t.Pages == nil, o.Pages == nil), order(t.Blocks == nil, o.Blocks == nil), order(t.Part, o.Part), order(t.Rows != nil, o.Rows != nil))
}

// layout is that of the document.
func (t *Text) layout() (l layout) {
	if t.Length == nil {
		return l
	}
	l = layout{hasText: true, partial: t.Part, length: int32(*t.Length), hasPages: t.Pages != nil, hasBlocks: t.Blocks != nil}
	parts := func(bounds []int32) (out []stretch) {
		for i := 0; i+1 < len(bounds); i += 2 {
			out = append(out, stretch{bounds[i], bounds[i+1]})
		}
		return out
	}
	l.pages, l.blocks = parts(t.Pages), parts(t.Blocks)
	l.apart = len(l.pages) > 0 && l.pages[len(l.pages)-1].end > l.length
	return l
}

// assemble puts the pieces of a document together.
func assemble(l *layout, pieces []*Text) string {
	if len(pieces) == 1 && utf8.RuneCountInString(pieces[0].Text) == int(l.extent()) {
		return pieces[0].Text
	}
	l.pieces = true
	var b strings.Builder
	at := int64(0)
	for _, p := range pieces {
		b.WriteString(strings.Repeat(filler, int(max(0, p.At-at))))
		b.WriteString(p.Text)
		at = p.At + int64(utf8.RuneCountInString(p.Text))
	}
	b.WriteString(strings.Repeat(filler, int(max(0, int64(l.extent())-at))))
	return b.String()
}
