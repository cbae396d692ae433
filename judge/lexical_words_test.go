package judge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ibid"
)

// TestSentencesOfTexts: where sentences end.
func TestSentencesOfTexts(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"plain", "One here. Two here! Three?", []string{"One here", "Two here", "Three"}},
		{"lines", "Title\nText without a stop\n\nMore", []string{"Title", "Text without a stop", "More"}},
		{"abbreviations", "Dr. Smith met J. Doe at 5 p.m. today. He left.", []string{"Dr. Smith met J. Doe at 5 p.m. today", "He left"}},
		{"decimals", "It is 3.5 high. Yes.", []string{"It is 3.5 high", "Yes"}},
		{"list items", "1. First thing.\n2. Second thing.", []string{"1. First thing", "2. Second thing"}},
		{"dates", "Am 11. Juli 1909 kam er. Dann nicht.", []string{"Am 11. Juli 1909 kam er", "Dann nicht"}},
		{"Chinese", "大桥开放。人口三十万！", []string{"大桥开放", "人口三十万"}},
		{"no text", " .\n ", nil},
	}
	sentences := func(text string) (out []string) {
		var w lexicalWork
		w.addText(text)
		for i := range w.sentences {
			out = append(out, text[w.sentences[i].start:w.sentences[i].end])
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sentences(tt.text); strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := sentences(strings.Repeat("word ", 3*maxSentence)); len(got) != 3 {
		t.Errorf("a text without a full stop has %d sentences, want 3", len(got))
	}
}

// FuzzReadWords checks the places of words by counting code points anew.
func FuzzReadWords(f *testing.F) {
	f.Add("Dr. Smith's 4.2 million $ on July 11, 1909 [2] 【3†a】 isn't 5 °C.")
	f.Add("大桥于1909年7月11日开放、長2公里。30万人 é́\xff 1.1.1.1")
	var w wordReader
	f.Fuzz(func(t *testing.T, text string) {
		last := int32(-1)
		for i, x := range w.read(text) {
			if x.start < last || x.start >= x.end || int(x.end) > len(text) {
				t.Fatalf("%q: word %d at [%d,%d) after %d", text, i, x.start, x.end, last)
			}
			last = x.start
			if got := utf8.RuneCountInString(text[:x.start]); got != int(x.cp) {
				t.Errorf("%q: word %d begins at code point %d, not %d", text, i, got, x.cp)
			}
			if got := utf8.RuneCountInString(text[:x.end]); got != int(x.cpEnd) {
				t.Errorf("%q: word %d ends at code point %d, not %d", text, i, got, x.cpEnd)
			}
		}
	})
}

// TestLexicon: each class was read.
func TestLexicon(t *testing.T) {
	lexicon := loadLexicon()
	look := func(word string) wordEntry {
		whole, _ := wordKeys(word)
		w, _ := lexicon.get(whole)
		return w
	}
	key := func(word string) uint64 {
		_, key := wordKeys(word)
		return key
	}
	for text, ok := range map[string]func(w wordEntry) bool{
		"The":   func(w wordEntry) bool { return w.stop },
		"die":   func(w wordEntry) bool { return w.stop },
		"NICHT": func(w wordEntry) bool { return w.negates },
		"dr":    func(w wordEntry) bool { return w.abbr },
		"th":    func(w wordEntry) bool { return w.stop },
		"Juli":  func(w wordEntry) bool { return w.number && w.key == key("7") },
		"zwölf": func(w wordEntry) bool { return w.number && w.key == key("012") },
		"km":    func(w wordEntry) bool { return !w.number && w.key == look("公里").key },
		"xyzzy": func(w wordEntry) bool { return w == wordEntry{} },
	} {
		if w := look(text); !ok(w) {
			t.Errorf("%q is %+v", text, w)
		}
	}
}

// TestLexicalAllocations: memory that was used before makes nothing but the
// verdict, its claims and its checks, and a place per claim where there are
// sources.
func TestLexicalAllocations(t *testing.T) {
	text := "The bridge opened on July 11, 1909 and carries 4,200 cars a day. It was not closed in 3 years."
	r := &Request{
		Question: "When did the bridge open?",
		Claims: []ibid.Claim{
			{Text: "The bridge opened in 1909.", Citations: []int32{0}},
			{Text: "It carries 4200 cars.", Citations: []int32{0, 1}},
		},
		Evidence: []Evidence{{Text: text, Citation: 0}, {Text: text + text, Citation: 1}},
	}
	for _, sources := range [][]Source{nil, {{Doc: "a", Text: text}}} {
		r.Sources = sources
		most := 3.0
		if len(sources) > 0 {
			most += float64(len(r.Claims))
		}
		w := new(lexicalWork)
		if n := testing.AllocsPerRun(100, func() { _ = w.judge(t.Context(), r) }); n > most {
			t.Errorf("%d sources: %v allocations, want at most %v", len(sources), n, most)
		}
	}
}
