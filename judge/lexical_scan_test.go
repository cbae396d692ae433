package judge

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"
)

func newScanner() *scanner { return &scanner{lexicon: loadLexicon()} }

func TestParseNumber(t *testing.T) {
	tests := []struct {
		text  string
		value string // digits e exp, "" if none
		other string
	}{
		{"0", "0e0", ""},
		{"007", "7e0", ""},
		{"4200", "42e2", ""},
		{"4,200", "42e2", "42e-1"},
		{"4.200", "42e-1", "42e2"},
		{"4,200,000", "42e5", ""},
		{"4.200.000", "42e5", ""},
		{"4,200.50", "42005e-1", ""},
		{"4.200,50", "42005e-1", ""},
		{"12,34,567", "1234567e0", ""},
		{"3.14", "314e-2", ""},
		{"3,14", "314e-2", ""},
		{"0.5", "5e-1", ""},
		{"1000.5", "10005e-1", ""},
		{"4'200", "42e2", ""},
		{"4\u202f200\u202f000", "42e5", ""},
		{"10.0.0.1", "", ""},
		{"1.2.3", "", ""},
		{"1,2.3,4", "", ""},
		{"1'2", "", ""},
	}
	for _, tt := range tests {
		n, ok := parseNumber(tt.text)
		got, other := fmt.Sprintf("%de%d", n.digits, n.exp), ""
		if !ok {
			got = ""
		}
		if n.hasOther {
			other = fmt.Sprintf("%de%d", n.other, n.otherExp)
		}
		if got != tt.value || other != tt.other {
			t.Errorf("parseNumber(%q) = %q or %q, want %q or %q", tt.text, got, other, tt.value, tt.other)
		}
	}
	a, _ := parseNumber("1" + strings.Repeat("2", 40))
	b, _ := parseNumber("1" + strings.Repeat("2", 39) + "3")
	c, _ := parseNumber("1" + strings.Repeat("2", 40))
	if a.same(&b) || !a.same(&c) {
		t.Error("long numbers are not compared by all of their digits")
	}
}

func TestParseDate(t *testing.T) {
	tests := map[string]date{
		"1909-07-11":   {1909, 7, 11, false},
		"1909/7/1":     {1909, 7, 1, false},
		"11.07.1909":   {1909, 7, 11, false},
		"11/07/1909":   {1909, 7, 11, true},
		"07/07/1909":   {1909, 7, 7, false},
		"7/25/1909":    {1909, 7, 25, false},
		"25/7/1909":    {1909, 7, 25, false},
		"1909-13-11":   {},
		"32.07.1909":   {},
		"1909-07/11":   {},
		"1909-07":      {},
		"555-12-1234":  {},
		"1.2.3":        {},
		"1909-07-11-2": {},
		"..":           {},
	}
	for text, want := range tests {
		got, ok := parseDate(text)
		if ok != (want != date{}) || ok && got != want {
			t.Errorf("parseDate(%q) = %+v, %t, want %+v", text, got, ok, want)
		}
	}
	swapped, sure := date{1909, 7, 11, true}, date{1909, 11, 7, false}
	if !swapped.backedBy(&sure) || !sure.backedBy(&swapped) || sure.backedBy(&date{1909, 11, 8, false}) {
		t.Error("a date of two readings is not matched by either")
	}
}

// TestPassages: where sentences end.
func TestPassages(t *testing.T) {
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
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScanner()
			s.scan(tt.text)
			var p passages
			var x terms
			x.reset(0)
			p.add(s.features, &x)
			var got []string
			for i := range p.list {
				got = append(got, tt.text[p.list[i].start:p.list[i].end])
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	s := newScanner()
	s.scan(strings.Repeat("word ", 3*maxPassage))
	var p passages
	var x terms
	x.reset(0)
	if p.add(s.features, &x); len(p.list) != 3 {
		t.Errorf("a text without a full stop has %d passages, want 3", len(p.list))
	}
}

// FuzzParseNumber compares plain decimals with math/big.
func FuzzParseNumber(f *testing.F) {
	f.Add(uint64(4200), uint64(50))
	f.Add(uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, whole, part uint64) {
		text := fmt.Sprintf("%d.%d", whole%1e9, part%1e8)
		want, _ := new(big.Rat).SetString(text)
		n, ok := parseNumber(text)
		power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.exp, -n.exp))), nil))
		got := new(big.Rat).SetInt(new(big.Int).SetUint64(n.digits))
		if n.exp < 0 {
			got.Quo(got, power)
		} else {
			got.Mul(got, power)
		}
		if !ok || got.Cmp(want) != 0 || n.digits%10 == 0 && n.digits != 0 {
			t.Errorf("parseNumber(%q) = %d e %d, %t", text, n.digits, n.exp, ok)
		}
	})
}

// FuzzScan checks the places of features by counting code points anew.
func FuzzScan(f *testing.F) {
	f.Add("Dr. Smith's 4.2 million $ on July 11, 1909 [2] 【3†a】 isn't 5 °C.")
	f.Add("大桥于1909年7月11日开放、長2公里。30万人 é́\xff 1.1.1.1")
	s := newScanner()
	f.Fuzz(func(t *testing.T, text string) {
		s.scan(text)
		last := int32(-1)
		for i := range s.features {
			x := &s.features[i]
			if x.start < last || x.start >= x.end || int(x.end) > len(text) {
				t.Fatalf("%q: feature %d at [%d,%d) after %d", text, i, x.start, x.end, last)
			}
			last = x.start
			if got := utf8.RuneCountInString(text[:x.start]); got != int(x.cp) {
				t.Errorf("%q: feature %d begins at code point %d, not %d", text, i, got, x.cp)
			}
			if got := utf8.RuneCountInString(text[:x.end]); got != int(x.cpEnd) {
				t.Errorf("%q: feature %d ends at code point %d, not %d", text, i, got, x.cpEnd)
			}
		}
	})
}

// FuzzTable compares the table with a map.
func FuzzTable(f *testing.F) {
	f.Add([]byte{1, 65, 129, 1, 2, 3})
	f.Fuzz(func(t *testing.T, keys []byte) {
		var x table
		x.reset(0)
		want := make(map[uint64]int32)
		for i, k := range keys {
			h := uint64(k)<<56 | uint64(k)%5 | 1<<63 // few low bits, so that many collide
			if _, there := want[h]; !there {
				want[h] = int32(i)
				x.put(h, int32(i))
			}
		}
		for k := range 256 {
			h := uint64(k)<<56 | uint64(k)%5 | 1<<63
			v, there := want[h]
			if !there {
				v = -1
			}
			if got := x.get(h); got != v {
				t.Errorf("get(%x) = %d, want %d", h, got, v)
			}
		}
	})
}

// TestLexicon: each class was read, and words have the language they should.
func TestLexicon(t *testing.T) {
	x := loadLexicon()
	if x.languages != 12 || x.languages > maxLanguages {
		t.Errorf("%d languages, want 12", x.languages)
	}
	for text, ok := range map[string]func(w word) bool{
		"The":   func(w word) bool { return w.stop != 0 },
		"die":   func(w word) bool { return w.stop != 0 && w.stop&x.look(foldHash("the")).stop == 0 },
		"NICHT": func(w word) bool { return w.negates },
		"dr":    func(w word) bool { return w.abbr },
		"th":    func(w word) bool { return w.ordinal },
		"of":    func(w word) bool { return w.joint },
		"Juli":  func(w word) bool { return w.month == 7 },
		"млн":   func(w word) bool { return w.times == 6 },
		"zwölf": func(w word) bool { return w.number == 12 },
		"km":    func(w word) bool { return w.unit != 0 && w.unit == x.look(foldHash("公里")).unit },
		"xyzzy": func(w word) bool { return w == word{} },
	} {
		if w := x.look(foldHash(text)); !ok(w) {
			t.Errorf("%q is %+v", text, w)
		}
	}
}

// TestLexicalAllocations: a workspace that was used before makes nothing but
// the verdict, its claims and its checks, and a place per claim where there are
// sources.
func TestLexicalAllocations(t *testing.T) {
	text := "The bridge opened on July 11, 1909 and carries 4,200 cars a day. It was not closed in 3 years."
	r := &Request{
		Question: "When did the bridge open?",
		Claims: []Claim{
			{Text: "The bridge opened in 1909.", Evidence: []int{0}, Citations: []int{0}},
			{Text: "It carries 4200 cars.", Evidence: []int{0, 1}, Citations: []int{0, 1}},
		},
		Evidence: []Evidence{{Text: text, Citation: 0}, {Text: text + text, Citation: 1}},
	}
	for _, sources := range [][]Source{nil, {{Doc: "a", Text: text}}} {
		r.Sources = sources
		most := 3.0
		if len(sources) > 0 {
			most += float64(len(r.Claims))
		}
		w := &workspace{scanner: scanner{lexicon: loadLexicon()}}
		if n := testing.AllocsPerRun(100, func() { _, _ = w.judge(t.Context(), r) }); n > most {
			t.Errorf("%d sources: %v allocations, want at most %v", len(sources), n, most)
		}
	}
}
