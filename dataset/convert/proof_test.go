package convert

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"ibid/metrics/token"
)

// mixed has code points of one to four bytes, and of one and two UTF-16 units.
const mixed = "Äpfel und 😀 Birnen – “beide” reif. Zwei Sätze, ein 🍐, 漢字 und kein Ende."

// offsetsOf gives the place of part in text as a reading would have it, by
// counting the units of what stands before.
func offsetsOf(t *testing.T, text, part string, r Reading) (start, end int64) {
	t.Helper()
	before, _, found := strings.Cut(text, part)
	if !found {
		t.Fatalf("%q is not in %q", part, text)
	}
	count := func(s string) int64 {
		switch r.Unit {
		case token.Byte:
			return int64(len(s))
		case token.UTF16:
			return int64(len(utf16.Encode([]rune(s))))
		}
		return int64(len([]rune(s)))
	}
	start, end = count(before), count(before)+count(part)
	if r.OneBased {
		start, end = start+1, end+1
	}
	if r.Inclusive {
		end--
	}
	return start, end
}

// quotesOf returns the quotes of parts of text as r has them.
func quotesOf(t *testing.T, text string, r Reading, parts ...string) []quote {
	t.Helper()
	all := make([]quote, len(parts))
	for i, part := range parts {
		start, end := offsetsOf(t, text, part, r)
		all[i] = quote{text: part, start: start, end: end}
	}
	return all
}

// settled gathers quotes of texts and returns the report, and the passages at
// the places that the proof gives each quote.
func settled(t *testing.T, texts []string, all [][]quote) (Report, []string) {
	t.Helper()
	var p proof
	marks := make([][]*markedSpan, len(texts))
	for i, text := range texts {
		for k := range all[i] {
			m := &markedSpan{quote: all[i][k]}
			m.evidence = p.examine(newSearched(token.NewText(text)), &m.quote)
			p.count(&m.evidence)
			marks[i] = append(marks[i], m)
		}
	}
	report := newReport("test")
	chosen := p.settle(&report)
	var passages []string
	for i, text := range texts {
		for _, m := range marks[i] {
			start, end, unit := m.quote.placed(newSearched(token.NewText(text)), chosen)
			passages = append(passages, passage(text, start.Value, end.Value)+unit)
		}
	}
	return report, passages
}

// passage is the text between two code points, or the numbers if there is none.
func passage(text string, start, end int64) string {
	r := []rune(text)
	if start < 0 || start > end || end > int64(len(r)) {
		return fmt.Sprintf("[%d,%d)", start, end)
	}
	return string(r[start:end])
}

func TestProofOfEveryReading(t *testing.T) {
	parts := []string{"Äpfel", "Birnen – “beide”", "Sätze, ein 🍐", "漢", "Ende."}
	for _, r := range readings {
		t.Run(r.String(), func(t *testing.T) {
			report, passages := settled(t, []string{mixed}, [][]quote{quotesOf(t, mixed, r, parts...)})
			if diff := cmp.Diff(parts, passages); diff != "" {
				t.Errorf("passages (-want +got):\n%s", diff)
			}
			want := map[string]int64{r.String(): int64(len(parts))}
			if diff := cmp.Diff(want, report.Readings); diff != "" || report.Proved != int64(len(parts)) || report.Spans != report.Proved {
				t.Errorf("report %+v; readings (-want +got):\n%s", report, diff)
			}
		})
	}
}

func TestProof(t *testing.T) {
	var (
		ours      = Reading{}
		bytes     = Reading{Unit: token.Byte}
		inclusive = Reading{Inclusive: true}
	)
	moved := func(q []quote, by int64) []quote {
		for i := range q {
			q[i].start, q[i].end = q[i].start+by, q[i].end+by
		}
		return q
	}
	const plain = "one two three four"
	tests := []struct {
		name     string
		texts    []string
		quotes   [][]quote
		readings map[string]int64
		repaired int64
		mismatch int64
		degen    int64
		passages []string
	}{
		{
			"plain ASCII tells no unit: ours",
			[]string{plain},
			[][]quote{quotesOf(t, plain, bytes, "two", "four")},
			map[string]int64{"codepoint_exclusive": 2},
			0, 0, 0,
			[]string{"two", "four"},
		},
		{
			"one article decides for the file",
			[]string{plain, mixed},
			[][]quote{quotesOf(t, plain, bytes, "two"), quotesOf(t, mixed, bytes, "beide", "reif")},
			map[string]int64{"byte_exclusive": 3},
			0, 0, 0,
			[]string{"two", "beide", "reif"},
		},
		{
			"a quote that nothing reproduces has no vote",
			[]string{mixed},
			[][]quote{append(quotesOf(t, mixed, bytes, "Birnen", "beide"), quote{text: "Quitten", start: 3, end: 9}, quote{text: `"beide"`, start: 1, end: 4})},
			map[string]int64{"byte_exclusive": 2},
			1, 1, 0,
			[]string{"Birnen", "beide"},
		},
		{
			"readings that contradict each other: ours, and the rest is searched",
			[]string{mixed},
			[][]quote{append(quotesOf(t, mixed, bytes, "Birnen", "und "), quotesOf(t, mixed, inclusive, "reif")...)},
			map[string]int64{},
			2, 1, 0, nil,
		},
		{
			"two readings give different places, neither ours",
			[]string{"aaa"},
			[][]quote{{{text: "aa", start: 1, end: 2}}},
			map[string]int64{},
			0, 1, 0, nil,
		},
		{
			"two readings give different places, one is ours",
			[]string{"aaaa"},
			[][]quote{{{text: "aa", start: 1, end: 3}}},
			map[string]int64{"codepoint_exclusive": 1},
			0, 0, 0,
			[]string{"aa"},
		},
		{
			"other quotation marks, dashes and white space",
			[]string{mixed},
			[][]quote{{{text: " Birnen - \"beide\"\n", start: 12, end: 28}, {text: "reif", start: 29, end: 33}}},
			map[string]int64{"codepoint_exclusive": 2},
			0, 0, 0,
			[]string{"Birnen – “beide”", "reif"},
		},
		{
			"elsewhere",
			[]string{plain},
			[][]quote{moved(quotesOf(t, plain, ours, "two"), 7)},
			map[string]int64{},
			1, 0, 0, nil,
		},
		{
			"quotes behind their offsets",
			[]string{plain},
			[][]quote{moved(quotesOf(t, plain, ours, "three", "four"), -2)},
			map[string]int64{},
			2, 0, 0, nil,
		},
		{
			"no span",
			[]string{plain},
			[][]quote{{{text: "two", start: 4, end: 4}, {text: "two", start: 7, end: 4}, {text: "two", start: -1, end: 3}, {text: "two", start: 4, end: 7}}},
			map[string]int64{"codepoint_exclusive": 1},
			0, 0, 3,
			[]string{"", "[7,4)", "[-1,3)", "two"},
		},
		{
			"one character, inclusive, is a span",
			[]string{mixed},
			[][]quote{quotesOf(t, mixed, inclusive, "Ä", "🍐")},
			map[string]int64{"codepoint_inclusive": 2},
			0, 0, 0,
			[]string{"Ä", "🍐"},
		},
		{
			"the largest offsets",
			[]string{plain},
			[][]quote{{{text: "two", start: 1<<63 - 1, end: 1<<63 - 1}, {text: "one", start: 0, end: 1<<63 - 1}, {text: "four", start: 14, end: 18}}},
			map[string]int64{"codepoint_exclusive": 1},
			1, 0, 1, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, passages := settled(t, tt.texts, tt.quotes)
			if diff := cmp.Diff(tt.readings, report.Readings); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
			if report.Repaired != tt.repaired || report.Mismatched != tt.mismatch || report.Degenerate != tt.degen {
				t.Errorf("repaired %d, mismatched %d, degenerate %d; want %d, %d, %d",
					report.Repaired, report.Mismatched, report.Degenerate, tt.repaired, tt.mismatch, tt.degen)
			}
			if tt.passages != nil {
				if diff := cmp.Diff(tt.passages, passages[:len(tt.passages)]); diff != "" {
					t.Errorf("passages (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestAligned counts under every reading, whichever is chosen.
func TestAligned(t *testing.T) {
	report, _ := settled(t, []string{mixed}, [][]quote{quotesOf(t, mixed, Reading{Unit: token.UTF16}, "Äpfel", "Birnen", "reif")})
	want := map[string]int64{
		"utf16_exclusive":            3,
		"codepoint_exclusive":        1, // before the first wide code point
		"codepoint_exclusive_1based": 2, // after exactly one
		"byte_inclusive":             1, // of a word with one two-byte letter
	}
	if diff := cmp.Diff(want, report.Aligned); diff != "" {
		t.Errorf("aligned (-want +got):\n%s", diff)
	}
}

// FuzzReadingSpan compares with an index of every unit of the text.
func FuzzReadingSpan(f *testing.F) {
	f.Add(mixed, int64(3), int64(9))
	f.Add("a", int64(0), int64(1))
	f.Add("😀", int64(1), int64(2))
	f.Fuzz(func(t *testing.T, s string, start, end int64) {
		text := token.NewText(s)
		runes := []rune(text.String())
		for _, r := range readings {
			at := map[int64]int{} // unit -> the code point that starts there
			unit := int64(0)
			for i, c := range runes {
				at[unit] = i
				switch r.Unit {
				case token.Byte:
					unit += int64(len(string(c)))
				case token.UTF16:
					unit += int64(len(utf16.Encode([]rune{c})))
				default:
					unit++
				}
			}
			at[unit] = len(runes)
			lo, hi, ok := r.Span(text, start, end)
			from, to := start, end
			if r.OneBased {
				from, to = from-1, to-1
			}
			if r.Inclusive {
				to++
			}
			wantLo, okLo := at[from]
			wantHi, okHi := at[to]
			want := okLo && okHi && from < to && start >= 0 && end >= 0
			if ok != want || ok && (lo != wantLo || hi != wantHi) {
				t.Errorf("%s.Span(%q, %d, %d) = %d, %d, %t; want %d, %d, %t", r, s, start, end, lo, hi, ok, wantLo, wantHi, want)
			}
		}
	})
}
