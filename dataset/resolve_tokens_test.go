package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics/token"
)

// allTokens are the tokens of the text of a key.
func allTokens(r *Resolver, doc string, page int32) (*token.Index, bool) {
	var x token.Index
	ok := r.Tokens(&x, doc, page, 0, 1<<30)
	return &x, ok
}

// TestTokensOfSpans: the tokens that spans touch are those of the whole text, wherever
// the text is and however it is written.
func TestTokensOfSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prose := func(words ...string) string {
		var b strings.Builder
		for b.Len() < 6000 {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{" ", " ", " ", ". ", ",", "\n", "\n\n", "-", "'", " .5"}[rng.IntN(10)])
		}
		return b.String()
	}
	ascii := prose("harbour", "can't", "3.14", "a", "of", "4,5")
	texts := map[string]string{
		"ascii": ascii, "mixed": prose("Straße", "a", "e\u0301t", "\U0001F6A2", "\u05d0\"\u05d0", "3", "quay"), "chinese": strings.Repeat("港口处理了四百万吨。", 600),
		"joined": strings.Repeat("x", 6000), "short": "one two", "empty": "",
	}
	var docs []ibid.Document
	for name, text := range texts {
		docs = append(docs, withText(name, text))
	}
	docs = append(docs, ibid.Document{Doc: "pages", Pages: []string{ascii[:2000], ascii[2000:2007], ascii[2007:]}, HasPages: true})
	for _, inFile := range []bool{false, true} {
		loaded, err := documentList(docs).load(t, map[bool]int64{false: 1 << 20, true: 1}[inFile], t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []bool{false, true} {
			r := NewResolver(loaded.View(1<<20), Conventions{})
			row := ibid.Answer{}
			if own {
				row.HasDocuments, row.Documents = true, docs
			}
			r.Resolve(&row)
			check := func(name string, page int32, text string) {
				t.Helper()
				whole := token.Words(text)
				length := len([]rune(text))
				for range 200 {
					var x token.Index
					from := int32(0)
					var spans [][2]int32
					for range 1 + rng.IntN(3) {
						start := from + rng.Int32N(int32(length)+2)
						from = start + rng.Int32N(60)
						if rng.IntN(40) == 0 {
							from += 3000
						}
						spans = append(spans, [2]int32{start, from})
						if !r.Tokens(&x, name, page, start, from) {
							t.Fatalf("no tokens of %s, page %d", name, page)
						}
					}
					if !slices.IsSorted(x.Starts) || slices.Contains(diffs(&x), true) {
						t.Fatalf("%s, %v: %v to %v are no tokens", name, spans, x.Starts, x.Ends)
					}
					for _, s := range spans {
						lo, hi := whole.Range(s[0], s[1])
						a, b := x.Range(s[0], s[1])
						if !slices.Equal(whole.Starts[lo:hi], x.Starts[a:b]) || !slices.Equal(whole.Ends[lo:hi], x.Ends[a:b]) {
							t.Fatalf("%s, page %d, %v of %v: tokens at %v, want %v", name, page, s, spans, x.Starts[a:b], whole.Starts[lo:hi])
						}
					}
				}
			}
			for name, text := range texts {
				check(name, 0, text)
			}
			for i, text := range docs[len(docs)-1].Pages {
				check("pages", int32(i+1), text)
			}
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if err := loaded.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// diffs says of each token but the first whether it begins before the last one ends.
func diffs(x *token.Index) []bool {
	var out []bool
	for i := 1; i < x.Len(); i++ {
		out = append(out, x.Starts[i] < x.Ends[i-1])
	}
	return out
}

// BenchmarkTokens takes as long in a long text as in a short one.
func BenchmarkTokens(b *testing.B) {
	for _, chars := range []int{3000, 30_000} {
		var docs []ibid.Document
		for i := range 200 {
			docs = append(docs, withText(fmt.Sprint(i), strings.Repeat("word of, prose. ", chars/16)))
		}
		loaded, err := documentList(docs).load(b, textMemory, "")
		if err != nil {
			b.Fatal(err)
		}
		r := NewResolver(loaded.View(1<<20), Conventions{})
		r.Resolve(&ibid.Answer{})
		b.Run(fmt.Sprintf("chars=%d", chars), func(b *testing.B) {
			b.ReportAllocs()
			var x token.Index
			for i := 0; b.Loop(); i++ {
				x.Reset()
				start := int32(i * 7919 % (chars - 200))
				r.Tokens(&x, docs[i%len(docs)].Doc, 0, start, start+160)
			}
		})
	}
}
