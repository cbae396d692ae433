package claims

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ibid"
)

// A madeMark is a way to write a mark and what it stands for.
type madeMark struct {
	text    string
	form    Form
	sources []int // -1 for none
}

var (
	madeSources = []Cited{{Doc: "annual.pdf", Title: "Annual Report"}, {Doc: "https://ex.org/bridge", Title: "Bridge history"}, {Doc: "smith2020", Title: "Smith 2020"}}
	madeMarks   = []madeMark{
		{"[1]", Numbered, []int{0}},
		{"[1, 3]", Numbered, []int{0, 2}},
		{"[1-3]", Numbered, []int{0, 1, 2}},
		{"[[2]]", Numbered, []int{1}},
		{"[9]", Numbered, []int{-1}},
		{"【3】", Numbered, []int{2}},
		{"[Source 2]", Numbered, []int{1}},
		{"(Document 3)", Numbered, []int{2}},
		{"[^2]", Caret, []int{1}},
		{"【1†L4】", Dagger, []int{0}},
		{"<cite>[1][2]</cite>", Tag, []int{0, 1}},
		{"<sup>3</sup>", Tag, []int{2}},
		{"[annual.pdf]", Named, []int{0}},
		{"[Annual Report, p. 4]", Named, []int{0}},
		{"(Source: annual.pdf)", Named, []int{0}},
		{"[budget.xlsx]", Named, []int{-1}},
		{"([Story](https://ex.org/bridge#x))", Link, []int{1}},
		{"[source](https://www.ex.org/bridge/)", Link, []int{1}},
		{"<https://ex.org/bridge>", URL, []int{1}},
		{"(https://other.example/a_(b))", URL, []int{-1}},
		{"(doi:10.1000/182)", DOI, []int{-1}},
		{"(Smith et al., 2020)", Author, []int{2}},
		{"citeturn0search1", Turn, []int{-1}},
		{"[annual.pdf:2:10-30]", Located, []int{0}},
		{`[annual.pdf:2:10-30,40-50 | excerpt: "a [1] b"]`, Located, []int{0, 0}},
	}
	madeWords = []string{
		"The bridge is red", "It opened in 1931", "Many people [sic] crossed it", "Prices rose by 3.5 percent", "Use `a[1]` for it", "She said “it is long”", "Then $x_1 + 2$ holds", "Größe und Länge", "大桥是红色的",
		"Values are in (a, b)", "The area is 5 km² wide", "See list[0] = 4 there", "He left (in May)", "A row_id[2] is null",
	}
)

// TestMadeMarks writes texts of sentences and marks whose places and sources are known,
// and reads them: every mark is found, what stays is the sentences, and nothing in that
// is a mark.
func TestMadeMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		var text, words strings.Builder
		var want []string
		for n := range 1 + random.IntN(6) {
			if n > 0 {
				sign := []string{" ", "\n", "\n\n- "}[random.IntN(3)]
				text.WriteString(sign)
				words.WriteString(sign)
			}
			sentence := madeWords[random.IntN(len(madeWords))]
			text.WriteString(sentence)
			words.WriteString(sentence)
			for range random.IntN(3) {
				m := madeMarks[random.IntN(len(madeMarks))]
				text.WriteString(" ")
				start := utf8.RuneCountInString(text.String())
				text.WriteString(m.text)
				for _, source := range m.sources {
					want = append(want, fmt.Sprint(m.form, " ", source, " in ", start))
				}
			}
			text.WriteString(".")
			words.WriteString(".")
		}
		marks, _ := ReadMarks(text.String(), madeSources, 1)
		var got []string
		for _, m := range marks {
			start := m.Start
			if r := []rune(text.String()); start > 0 && r[start-1] == '(' { // brackets around a mark
				start--
			}
			got = append(got, fmt.Sprint(m.Form, " ", m.Source, " in ", start))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %q\nwant %q", text.String(), got, want)
		}
		rest := readMarks(text.String(), madeSources, 1).rest()
		if rest != words.String() {
			t.Fatalf("%q: rest %q, want %q", text.String(), rest, words.String())
		}
		if again, _ := ReadMarks(rest, madeSources, 1); len(again) > 0 {
			t.Fatalf("%q: marks in what stays: %+v", rest, again)
		}
	}
}

// gluedPieces are beginnings, middles and ends of marks.
var gluedPieces = []string{
	"https://a.org/", "doi:", " 10.1/2", "arxiv:", "pmid:", "12", "[", "]", "(", ")", "]( ", "](", "<cite>", "</cite>", "<cite doc=\"x\">", "<a href=\"http://b.c\">", "</a>", "<co: 1>", "</co: 1>", "<sup>", "</sup>",
	"Smith ", "(2020)", "et al.", "【", "】", "†", "citeturn0search1", "\ue200", "\ue201", "^1", "¹", "a.pdf:1:2-3", " | excerpt: \"", "\"]", "ibid.", "www.b.de", "![", "#", "\n", " ", ".", "<https://b.c", ">", "[^1]: ", "Sources:\n", "1. ", "`", "$", "x", "```\n", "see ", "Document ", "and ", "<think>", "</think>\n",
}

// FuzzReadMarks checks what holds for any text: marks are in order, lie in the text, do
// not overlap unless they are one, and name a source that there is; what is cut lies in the text, ascending; what
// stays has no character more than the text.
func FuzzReadMarks(f *testing.F) {
	for _, m := range madeMarks {
		f.Add("It is "+m.text+", "+m.text+".", uint8(1))
	}
	for _, p := range nastyPieces {
		f.Add(strings.Repeat(p, 5)+"[1] x\n\nSources:\n1. https://ex.org/bridge", uint8(0))
	}
	for _, text := range []string{"https://a.org/doi: 10.1/2", "https://a.org/pmid:12 ok", "<cite doc=\"x\">a [1</cite>]"} {
		f.Add(text, uint8(1))
	}
	random := rand.New(rand.NewPCG(3, 3))
	for range 2000 { // pieces without a space between them
		text := ""
		for range 2 + random.IntN(5) {
			text += gluedPieces[random.IntN(len(gluedPieces))]
		}
		f.Add(text, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, first uint8) {
		NewCutter(Options{Phrases: NewPhrases(Phrases{})}).Cut(&ibid.Answer{Answer: text, HasCitations: true})
		marks, unread := ReadMarks(text, madeSources, int(first%2))
		points := utf8.RuneCountInString(text)
		last := Mark{}
		for _, m := range marks {
			switch {
			case m.Start < 0 || m.End <= m.Start || m.End > points:
				t.Errorf("%q: %+v lies outside of the text", text, m)
			case m.Start < last.End && (m.Start != last.Start || m.End != last.End):
				t.Errorf("%q: %+v overlaps %+v", text, m, last)
			case m.Source < -1 || m.Source >= len(madeSources) || m.Source >= 0 && m.Doc != madeSources[m.Source].Doc:
				t.Errorf("%q: %+v is of no source", text, m)
			case m.WordsStart > m.WordsEnd || m.WordsEnd > m.End || m.WordsStart < m.Start && m.WordsStart > 0:
				t.Errorf("%q: words of %+v lie outside of it", text, m)
			case m.Page < 0:
				t.Errorf("%q: page of %+v", text, m)
			}
			last = m
		}
		for _, u := range unread {
			if u.Form == "" || !strings.Contains(text, u.Text) {
				t.Errorf("%q: unread %+v", text, u)
			}
		}
		r := readMarks(text, madeSources, int(first%2))
		at := 0
		for _, c := range r.cuts {
			if c.start < at || c.end <= c.start || c.end > len(text) {
				t.Errorf("%q: cut %v behind %d", text, c, at)
			}
			at = c.end
		}
		if rest := r.rest(); len(rest) > len(strings.ToValidUTF8(text, "\uFFFD")) {
			t.Errorf("%q: rest %q is longer", text, rest)
		}
	})
}
