package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// keptTexts are the texts that a row points to, in the order of texts.parquet.
func keptTexts(t *testing.T, r *Resolver, row *ibid.Answer, further ...ibid.Place) []*Text {
	t.Helper()
	var all []*Text
	err := r.EachPiece(row, further, func(p *Piece) error {
		text, err := p.Text("")
		all = append(all, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b *Text) int {
		return cmp.Or(cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Doc, b.Doc), slices.Compare(a.Pages, b.Pages), cmp.Compare(a.At, b.At))
	})
	return all
}

// loadKept makes documents of texts.
func loadKept(t *testing.T, all []*Text) *Documents {
	t.Helper()
	docs, err := LoadTexts(func(yield func(*Text) error) error {
		for _, text := range all {
			if err := yield(text); err != nil {
				return err
			}
		}
		return nil
	}, func(text *Text) []string { return []string{text.Doc} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { docs.Close() })
	return docs
}

// TestTextsResolveAlike: places resolve in the documents that a row points to, whole ones and
// pieces of long ones, as they do in all documents, and have the same text around them.
func TestTextsResolveAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	word := func() string { return []string{"tower", "é東", "😀", "of", "330 metres", "harbour\n"}[rng.IntN(6)] }
	text := func(words int) string {
		var b strings.Builder
		for range words {
			b.WriteString(word() + " ")
		}
		return b.String()
	}
	long, middle := text(250_000), text(300)
	pages := []string{text(200_000), text(20), text(9_000)}
	blocks := []string{"first block", "second block", "third"}
	documents := []ibid.Document{
		withText("long", long), withText("middle", middle), withText("other", text(10)),
		{Doc: "paged", Pages: pages, HasPages: true},
		{Doc: "apart", Text: text(50), HasText: true, Pages: []string{"not in", "the text 😀"}, HasPages: true},
		{Doc: "blocks", Text: strings.Join(blocks, "\n\n"), HasText: true, Blocks: blocks, HasBlocks: true},
		{Doc: "no text"},
		{Doc: "empty", HasText: true},
	}
	if len(long) <= wholeBytes || len(pages[0]) <= wholeBytes {
		t.Fatal("the long documents are too short for the test")
	}
	for _, base := range []OffsetBase{FromDocument, FromPage} {
		conv := Conventions{OffsetBase: base, Checks: Checks{Existence: true, Bounds: true, Text: true}}
		whole := loadView(t, documents...)
		for range 15 {
			row := &ibid.Answer{HasCitations: true, HasTruth: true}
			for range 6 {
				doc := documents[rng.IntN(len(documents))]
				c := ibid.Citation{Doc: doc.Doc}
				n := int64(max(1, utf8.RuneCountInString(doc.Text+strings.Join(doc.Pages, ""))))
				c.Start = some(rng.Int64N(n + 3))
				c.End = some(c.Start.Value + rng.Int64N(40))
				switch rng.IntN(6) {
				case 0:
					c.Unit = "document"
				case 1:
					c.Start, c.End, c.Page = ibid.Integer{}, ibid.Integer{}, some(int64(1+rng.IntN(3)))
				case 2:
					c.Page = some(int64(1 + rng.IntN(3)))
				case 3:
					c.CitedText = "330 metres " + word()
				case 4:
					c.Unit, c.Start, c.End = "block", some(0), some(int64(1+rng.IntN(3)))
				}
				if rng.IntN(2) == 0 {
					row.Citations = append(row.Citations, c)
				} else {
					row.Truth = append(row.Truth, ibid.Mark{Annotator: "ada", Doc: c.Doc, Page: c.Page, Start: c.Start, End: c.End, Unit: c.Unit, CitedText: c.CitedText})
				}
			}
			first := NewResolver(whole, conv)
			_ = first.Resolve(row)
			want := fmt.Sprintf("%+v\n%+v", row.Citations, row.Truth)
			texts := keptTexts(t, first, row)
			again := NewResolver(loadKept(t, texts).View(1<<20), conv)
			_ = again.Resolve(row)
			if got := fmt.Sprintf("%+v\n%+v", row.Citations, row.Truth); got != want {
				t.Fatalf("places\n%s\nwant\n%s", got, want)
			}
			for i := range row.Citations {
				p := &row.Citations[i].Place
				a, okA := first.Excerpt(p.Doc, p.Page, p.Start-pieceMargin/2, p.End+pieceMargin/2)
				b, okB := again.Excerpt(p.Doc, p.Page, p.Start-pieceMargin/2, p.End+pieceMargin/2)
				if p.Level == ibid.LevelCharacters && (a != b || okA != okB) {
					t.Fatalf("around %+v stands %.80q, want %.80q", p, b, a)
				}
			}
			for _, text := range texts {
				if !strings.Contains(want, "{Doc:"+text.Doc+" ") {
					t.Fatalf("%s is kept, to which nothing points", text.Doc)
				}
			}
		}
	}
}

// TestPieces: a long document is kept as pieces around its places, a short one whole; the
// digest is that of the whole text.
func TestPieces(t *testing.T) {
	long := strings.Repeat("word ", 300_000)
	r := NewResolver(loadView(t, withText("long", long), withText("short", "a short text")), Conventions{})
	row := &ibid.Answer{HasCitations: true, Citations: []ibid.Citation{
		{Doc: "long", Start: some(10_100), End: some(10_200)}, {Doc: "short", Start: some(0), End: some(1)},
	}}
	if err := r.Resolve(row); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(long))
	var got []string
	for _, text := range keptTexts(t, r, row, ibid.Place{Doc: "long", Level: ibid.LevelCharacters, Start: 1_400_000, End: 1_400_001}) {
		got = append(got, fmt.Sprint(text.Doc, " ", text.At, " ", len(text.Text), " ", *text.Length))
		if text.Doc == "long" && (text.Digest != hex.EncodeToString(sum[:]) || text.Text != long[text.At:int(text.At)+len(text.Text)]) {
			t.Errorf("piece at %d has the digest %s, want that of the text, or another text", text.At, text.Digest)
		}
	}
	slices.Sort(got)
	want := []string{"long 1396000 4000 1500000", "long 1400000 4000 1500000", "long 12000 4000 1500000", "long 0 4000 1500000", "long 8000 4000 1500000", "short 0 12 12"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("kept\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Other units cannot be counted in pieces.
	pieces := NewResolver(loadKept(t, keptTexts(t, r, row)).View(1<<20), Conventions{OffsetUnit: token.Byte})
	_ = pieces.Resolve(row)
	if err := pieces.Err(); err == nil || !strings.Contains(err.Error(), `offsets of unit byte cannot be counted in the pieces that are kept of document "long"`) {
		t.Errorf("offsets in bytes of a piece: %v", err)
	}
}
