package presence

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func located(start, end, run int, file string, page int32, spans ...Offsets) Inline {
	return Inline{Form: Located, Start: start, End: end, Run: run, File: file, Page: page, Spans: spans}
}

func numbered(start, end, run int, ranges ...Range) Inline {
	return Inline{Form: Numbered, Start: start, End: end, Run: run, Numbers: ranges}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Inline
	}{
		{"located", "Up. [annual_report.pdf:5:1234-1289]", []Inline{located(4, 35, 0, "annual_report.pdf", 5, Offsets{1234, 1289})}},
		{"several spans", "[a.pdf:1:0-5,9-12]", []Inline{located(0, 18, 0, "a.pdf", 1, Offsets{0, 5}, Offsets{9, 12})}},
		{"run of brackets", "x [a:1:0-5] [b:2:1-2].", []Inline{
			located(2, 11, 0, "a", 1, Offsets{0, 5}), located(12, 21, 0, "b", 2, Offsets{1, 2}),
		}},
		{"two runs", "[a:1:0-5] and [b:2:1-2]", []Inline{
			located(0, 9, 0, "a", 1, Offsets{0, 5}), located(14, 23, 1, "b", 2, Offsets{1, 2}),
		}},
		{"excerpt", `[a.pdf:1:0-5 | excerpt: "the [1] "sic" one"]`, []Inline{
			{Form: Located, End: 44, File: "a.pdf", Page: 1, Spans: []Offsets{{0, 5}}, Excerpt: `the [1] "sic" one`, HasExcerpt: true},
		}},
		{"excerpt over two lines", "[a:1:0-5 | excerpt: \"x\ny\"]", []Inline{
			{Form: Located, End: 26, File: "a", Page: 1, Spans: []Offsets{{0, 5}}, Excerpt: "x\ny", HasExcerpt: true},
		}},
		{"empty excerpt", `[a:1:0-5 | excerpt: ""]`, []Inline{
			{Form: Located, End: 23, File: "a", Page: 1, Spans: []Offsets{{0, 5}}, HasExcerpt: true},
		}},
		{"spaces and en dash", "[ a b.pdf : 2 : 3 – 4 ]", []Inline{located(0, 23, 0, "a b.pdf", 2, Offsets{3, 4})}},
		{"colons in the name", `[C:\d\a.pdf:2:3-4][https://x.org/a:2:3-4]`, []Inline{
			located(0, 18, 0, `C:\d\a.pdf`, 2, Offsets{3, 4}), located(18, 41, 0, "https://x.org/a", 2, Offsets{3, 4}),
		}},
		{"brackets in the name", "[report[1].pdf:2:3-4]", []Inline{located(0, 21, 0, "report[1].pdf", 2, Offsets{3, 4})}},
		{"spans that are none", "[a.pdf:1:9-3][a.pdf:1:5-5][a.pdf:1:-4-2]", []Inline{
			located(0, 13, 0, "a.pdf", 1, Offsets{9, 3}), located(13, 26, 0, "a.pdf", 1, Offsets{5, 5}),
			located(26, 40, 0, "a.pdf", 1, Offsets{-4, 2}),
		}},
		{"code points, not bytes", "日本 [é.pdf:1:0-5] ü[1]", []Inline{
			located(3, 16, 0, "é.pdf", 1, Offsets{0, 5}), numbered(18, 21, 1, Range{1, 1}),
		}},
		{"numbers", "a [1] b [1,2] c [1-3] d [2, 4–6]", []Inline{
			numbered(2, 5, 0, Range{1, 1}), numbered(8, 13, 1, Range{1, 1}, Range{2, 2}),
			numbered(16, 21, 2, Range{1, 3}), numbered(24, 32, 3, Range{2, 2}, Range{4, 6}),
		}},
		{"inside another bracket", "[see [1]]", []Inline{numbered(5, 8, 0, Range{1, 1})}},
		{"a link with a number", "[1](https://x.org)", []Inline{numbered(0, 3, 0, Range{1, 1})}},
		{"lenticular", "A【3】。B【1-2】", []Inline{
			{Form: Numbered, Start: 1, End: 4, Lenticular: true, Numbers: []Range{{3, 3}}},
			{Form: Numbered, Start: 6, End: 11, Run: 1, Lenticular: true, Numbers: []Range{{1, 2}}},
		}},
		{"dagger", "x【15†L10-L20】【4:0†source】[2†L3]", []Inline{
			{Form: Dagger, Start: 1, End: 13, Lenticular: true, Numbers: []Range{{15, 15}}, Locator: "L10-L20"},
			{Form: Dagger, Start: 13, End: 25, Lenticular: true, Numbers: []Range{{0, 0}}, Turn: 4, HasTurn: true, Locator: "source"},
			{Form: Dagger, Start: 25, End: 31, Numbers: []Range{{2, 2}}, Locator: "L3"},
		}},
		{"plain text in lenticular brackets", "【注】見よ【see [1]】", []Inline{numbered(10, 13, 0, Range{1, 1})}},
		{"caret", "It rose.^12 It fell^3^4, so[^5].", []Inline{
			{Form: Caret, Start: 8, End: 11, Numbers: []Range{{12, 12}}},
			{Form: Caret, Start: 19, End: 21, Run: 1, Numbers: []Range{{3, 3}}},
			{Form: Caret, Start: 21, End: 23, Run: 1, Numbers: []Range{{4, 4}}},
			{Form: Caret, Start: 27, End: 31, Run: 2, Numbers: []Range{{5, 5}}, Bracketed: true},
		}},
		{"powers", "x^2 + 10^6 km^2 (a+b)^2 π^2 log^2 CO^2e e^1.5 e^-1 |v|^2", nil},
		{"statement", "<statement>A b.<cite>[1-3][5-6]</cite></statement>", []Inline{
			{Form: Statement, End: 50, Numbers: []Range{{1, 3}, {5, 6}}, Body: "A b.", BodyStart: 11, BodyEnd: 15},
		}},
		{"statement that cites nothing", "<statement>Hi.<cite></cite></statement>\n<statement>Yo [9].<cite>[7]</cite>\n</statement>", []Inline{
			{Form: Statement, End: 39, Body: "Hi.", BodyStart: 11, BodyEnd: 14},
			{Form: Statement, Start: 40, End: 87, Run: 1, Numbers: []Range{{7, 7}}, Body: "Yo [9].", BodyStart: 51, BodyEnd: 58},
			numbered(54, 57, 2, Range{9, 9}),
		}},
		{"plain text", "[sic] [fig. 3] [ibid] [x](y) [12:30] [10:30:00] [1.5] [3 men] [2-methyl] [-1, 1] [2024-05-01] [Note: see 10:30-11:00] a|b <cite>Ulysses</cite> [] ^ 【】", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, bad := Parse(tt.text)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Parse(%q)\n got %+v\nwant %+v", tt.text, got, tt.want)
			}
			if len(bad) > 0 {
				t.Errorf("Parse(%q) reports %v", tt.text, bad)
			}
		})
	}
}

func TestParseMalformed(t *testing.T) {
	tests := []struct {
		text string
		want string // the errors, joined
		good string // the citations beside them, printed
	}{
		{"é [a.pdf:5:12-]", `characters 2-15: span has no end: "[a.pdf:5:12-]"`, ""},
		{"[a.pdf:5:1-2,x]", `characters 0-15: span has no start: "[a.pdf:5:1-2,x]"`, ""},
		{"[a.pdf:5:1-2,]", `characters 0-14: no span is given: "[a.pdf:5:1-2,]"`, ""},
		{"[a.pdf:5:12]", `characters 0-12: span is not start-end: "[a.pdf:5:12]"`, ""},
		{"[a.pdf:5:1-2-3]", `characters 0-15: span is not start-end: "[a.pdf:5:1-2-3]"`, ""},
		{"[a.pdf:p5:1-2]", `characters 0-14: page is not a number: "[a.pdf:p5:1-2]"`, ""},
		{"[a.pdf::1-2]", `characters 0-12: no page is named: "[a.pdf::1-2]"`, ""},
		{"[a.pdf:9999999999:1-2]", `characters 0-22: page is too large: "[a.pdf:9999999999:1-2]"`, ""},
		{"[a.pdf:1:1-99999999999999999999]", `characters 0-32: offset is too large: "[a.pdf:1:1-99999999999999999999]"`, ""},
		{"[a.pdf:1-2]", `characters 0-11: page or span is missing: "[a.pdf:1-2]"`, ""},
		{"[r[1].pdf:1:5-]", `characters 0-15: span has no end: "[r[1].pdf:1:5-]"`, ""},
		{"see [a.pdf:1:5-9 and\n[2]", `characters 4-16: bracket is not closed: "[a.pdf:1:5-9"`, "[2]"},
		{"cut off [12", `characters 8-11: bracket is not closed: "[12"`, ""},
		{`[a:1:1-2 | excerpt: x] [2]`, `characters 0-22: excerpt is not quoted: "[a:1:1-2 | excerpt: x]"`, "[2]"},
		{
			`[a:1:1-2 | excerpt: "foo] and [b:2:3-4 | excerpt: "bar"]`,
			`characters 0-25: excerpt is not closed: "[a:1:1-2 | excerpt: \"foo]"`, `[b:2:3-4 | excerpt: "bar"]`,
		},
		{"[a:1:1-2 | excerpt: \"foo\n\n[1]", `characters 0-24: excerpt is not closed: "[a:1:1-2 | excerpt: \"foo"`, "[1]"},
		{`[a:1:1- | excerpt: "foo"]`, `characters 0-25: span has no end: "[a:1:1- | excerpt: \"foo\"]"`, ""},
		{"[a:1:1-2 | note: x]", `characters 0-19: only an excerpt can follow the span: "[a:1:1-2 | note: x]"`, ""},
		{"[1,]", `characters 0-4: number is missing: "[1,]"`, ""},
		{"[1-]", `characters 0-4: range has no end: "[1-]"`, ""},
		{"[,2]", `characters 0-4: number is missing: "[,2]"`, ""},
		{"[1--3]", `characters 0-6: list holds something other than numbers: "[1--3]"`, ""},
		{"[1, p. 5]", `characters 0-9: list holds something other than numbers: "[1, p. 5]"`, ""},
		{"[3-1]", `characters 0-5: range runs backwards: "[3-1]"`, ""},
		{"[1-1001]", `characters 0-8: range is wider than 1000: "[1-1001]"`, ""},
		{"[1234567890]", `characters 0-12: number is too large: "[1234567890]"`, ""},
		{"so.^1234567890", `characters 3-14: number is too large: "^1234567890"`, ""},
		{"【†source】", `characters 0-9: no number before the dagger: "【†source】"`, ""},
		{"【x:1†source】", `characters 0-12: turn is not a number: "【x:1†source】"`, ""},
		{"【1†sou\n[1]", `characters 0-6: bracket is not closed: "【1†sou"`, "[1]"},
		{"<statement>A.\n[1]", `characters 0-11: statement without a cite: "<statement>"`, "[1]"},
		{"<statement>A.<cite>[1-2]</cite>", `characters 0-11: statement is not closed: "<statement>"; characters 13-31: cite outside a statement: "<cite>[1-2]</cite>"`, ""},
		{"<statement>A.<cite>[1-2]</statement>", `characters 0-11: cite is not closed: "<statement>"; characters 13-24: cite outside a statement: "<cite>[1-2]"`, ""},
		{"<statement>A.<cite>1-2</cite></statement>", `characters 0-41: cite holds something other than [a-b]: "<statement>A.<cite>1-2</cite></statement>"`, ""},
		{"<statement>A.<cite>[2-1]</cite></statement>", `characters 0-43: range runs backwards: "<statement>A.<cite>[2-1]</cite></statement>"`, ""},
		{"<cite>[1-2]</cite>", `characters 0-18: cite outside a statement: "<cite>[1-2]</cite>"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			good, bad := Parse(tt.text)
			var errs, printed []string
			for i := range bad {
				errs = append(errs, bad[i].Error())
			}
			for _, c := range good {
				printed = append(printed, c.String())
			}
			if got := strings.Join(errs, "; "); got != tt.want {
				t.Errorf("Parse(%q) reports\n     %s\nwant %s", tt.text, got, tt.want)
			}
			if got := strings.Join(printed, " "); got != tt.good {
				t.Errorf("Parse(%q) = %s, want %s", tt.text, got, tt.good)
			}
		})
	}
}

func TestAppendNumbers(t *testing.T) {
	cs, _ := Parse("[1,4-6,2]")
	if got := fmt.Sprint(cs[0].AppendNumbers([]int{7})); got != "[7 1 4 5 6 2]" {
		t.Errorf("AppendNumbers = %s", got)
	}
}

// 100 kB of a hostile text take well under a second unless something is
// quadratic; then they take many.
func TestHostileTexts(t *testing.T) {
	section := newDetector(t, Options{Mode: ResourceSection, Semantic: &Semantic{Embedder: topics{}}})
	const size = 100_000
	for _, piece := range []string{
		"[", "]", "[[1]", "[a.pdf:1:1-2", "[a:1:1-2 | excerpt: \"", "[a:1:1-2 | excerpt: x", "<statement>", "<cite>[",
		"<statement><cite>", "【1†", "a^", "^1", "|", "[^", "[1,", ":1:", "(", "://",
		"http://", "www.", "doi:", "sources ", "sources\n", "https://a.b sources ", "(A, 2020)", "A (2020) ", "(A & B ", "[a:1:1-2] ", "a. ",
	} {
		for _, text := range []string{
			strings.Repeat(piece, size/len(piece)),
			strings.Repeat("[", size/20) + strings.Repeat(piece, size/len(piece)/2) + strings.Repeat(":1:1-2]", size/20),
		} {
			start := time.Now()
			Parse(text)
			References(text)
			if _, err := section.passes(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("%d bytes of %q take %v", len(text), piece, d)
			}
		}
	}
}

// without returns c as it would be at the beginning of a text.
func without(c Inline) Inline {
	c.BodyStart -= c.Start
	c.BodyEnd -= c.Start
	if c.Form != Statement {
		c.BodyStart, c.BodyEnd = 0, 0
	}
	c.Start, c.End, c.Run = 0, 0, 0
	return c
}

// TestParseUnseen: characters that nobody sees between the numbers of a place make it no
// citation, and never one of nothing.
func TestParseUnseen(t *testing.T) {
	for _, text := range []string{"[a.pdf:0:\x1d-3-3]", "[\x02**:0 :\x1d-3 – 3 ]", "[a.pdf:1:\u200b1-2]"} {
		if got, _ := Parse(text); len(got) != 0 {
			t.Errorf("%q has %d citations, want none", text, len(got))
		}
	}
	if got, _ := Parse("[a.pdf:0:-3-3]"); len(got) != 1 || len(got[0].Spans) != 1 {
		t.Errorf("without them there is %v", got)
	}
}

// FuzzParse holds Parse to what its documentation says of every text: places
// lie in the text and in order, what is found reads the same alone, and what is
// printed reads as what was printed.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`A [a.pdf:5:1-2,3-4 | excerpt: "x ] y"] b [report[1].pdf:1:0-3][1][2-4] c【4:0†s】d^3^4`,
		"<statement>A [1].<cite>[1-3][5]</cite></statement><statement>B<cite></cite></statement>",
		"[a.pdf:5:12-] [1,] <cite>[1]</cite> 【1† [x\n[a:1:2-3", "[ a : 1 : -1 – 2 ]\xff[\x80:1:2-3]", "[a|b:1:1-2|c] [^12] ^3",
		"00[0.A00:0:0\u2011", " 0[^0]0",
		"<statement>【1†<cite>[1-2]</cite></statement>】 [a:1:1-2 | excerpt: \"<statement>\"]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		citations, bad := Parse(text)
		runes := []rune(text)
		last := 0
		for _, c := range citations {
			if c.Start < last || c.End <= c.Start || c.End > len(runes) {
				t.Fatalf("%+v is out of order or place in %q", c, text)
			}
			last = c.End
			if c.Form == Statement {
				last = c.BodyStart
			}
			for _, e := range bad {
				if e.Start < c.End && c.Start < e.End && !(c.Form == Statement && c.BodyStart <= e.Start && e.End <= c.BodyEnd) {
					t.Fatalf("%+v and %v share text in %q", c, &e, text)
				}
			}
			for _, own := range []string{c.String(), slice(text, c.Start, c.End)} {
				again, _ := Parse(own)
				if len(again) == 0 || !reflect.DeepEqual(without(again[0]), without(c)) {
					t.Fatalf("%+v of %q reads %+v from %q", c, text, again, own)
				}
				if again[0].Start != 0 || again[0].End != utf8.RuneCountInString(own) {
					t.Fatalf("%q is read only up to %d", own, again[0].End)
				}
				if c.Form != Statement && len(again) != 1 {
					t.Fatalf("%q gives %d citations", own, len(again))
				}
			}
		}
		for i, e := range bad {
			if e.Reason == "" || e.Text != slice(text, e.Start, e.End) || i > 0 && e.Start < bad[i-1].End {
				t.Fatalf("%+v of %q", e, text)
			}
		}
		// Printing every citation in place changes nothing but the spelling.
		printed := reprint(text, citations)
		again, _ := Parse(printed)
		if len(again) != len(citations) {
			t.Fatalf("%q gives %d citations, printed as %q %d", text, len(citations), printed, len(again))
		}
		for i := range again {
			a, c := again[i], citations[i]
			if c.Form != Statement && (!reflect.DeepEqual(without(a), without(c)) || a.Run != c.Run) {
				t.Fatalf("%+v of %q reads %+v from %q", c, text, a, printed)
			}
		}
	})
}

// slice returns the code points start to end of text, its bytes unchanged.
func slice(text string, start, end int) string {
	at, from := 0, len(text)
	for i := range text {
		if at == start {
			from = i
		}
		if at == end {
			return text[from:i]
		}
		at++
	}
	return text[from:]
}

// reprint replaces every citation but statements by its canonical spelling.
func reprint(text string, citations []Inline) string {
	var b strings.Builder
	at := 0
	for _, c := range citations {
		if c.Form == Statement {
			continue
		}
		b.WriteString(slice(text, at, c.Start) + c.String())
		at = c.End
	}
	b.WriteString(slice(text, at, utf8.RuneCountInString(text)))
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	texts := map[string]string{
		"plain":   strings.Repeat("The company reported ten million in revenue for the first quarter. ", 15),
		"located": strings.Repeat("The company reported ten million in revenue. [annual_report.pdf:5:1234-1289] ", 13),
	}
	for name, text := range texts {
		b.Run("text="+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Parse(text)
			}
		})
	}
}
