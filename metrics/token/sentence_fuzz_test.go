package token

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var sentenceSeeds = []string{
	"One is red«1». Two.«2» «3» Three? «4»\n- four\n- five",
	"Dr. Smith paid $3.50 at 5 p.m. in the U.S. He left.",
	"我是中文。「你呢？」«1»«2»他走了……完",
	"see https://example.com/?a=B. \"Yes!\" she said... Then 1. a 2. B",
	"«<statement>»x«</statement>»«1»\r\n\r\n\xff é\u0301. A\u2028b",
	"He: 1. One; 2. Two. (a) 3. 10. 1990 am 3. Mai",
	strings.Repeat(".) ", 50) + "x" + strings.Repeat("«1» ", 40) + "Y",
}

func FuzzSentences(f *testing.F) {
	for _, s := range sentenceSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, marked string) {
		text, markers := parseMarked(marked)
		markers = closedOnly(markers)
		points := []rune(text)
		got := Sentences(text, markers)

		end := int32(0)
		for _, b := range got {
			if b.Start < end || b.End <= b.Start || int(b.End) > len(points) {
				t.Fatalf("%q: %v: not sorted, not disjoint, empty or outside", text, got)
			}
			end = b.End
			if unicode.IsSpace(points[b.Start]) || unicode.IsSpace(points[b.End-1]) {
				t.Errorf("%q: %v has white space at an end", text, b)
			}
		}
		words := 0
		for i, r := range points {
			if !isWordRune(r) {
				continue
			}
			inMarker := covered(markers, int32(i))
			if !inMarker {
				words++
			}
			if !covered(got, int32(i)) && (len(got) > 0 || !inMarker) {
				t.Errorf("%q: %v: nothing covers %q at %d", text, got, r, i)
			}
		}
		for _, b := range got {
			if !slices.ContainsFunc(points[b.Start:b.End], isWordRune) || NewText(text).Claim(b, markers) == "" {
				t.Errorf("%q: %v is no claim", text, b)
			}
		}
		if (words == 0) != (len(got) == 0) {
			t.Errorf("%q: %d letters and numbers, %d sentences", text, words, len(got))
		}
		checkRepeat(t, text, markers, got)
	})
}

// checkRepeat compares a paragraph before and behind others: sentences do not
// depend on other paragraphs.
func checkRepeat(t *testing.T, text string, markers, alone []Bounds) {
	const before, behind = "One is red. Two is\n\n", "\n\nThree is. Four"
	if len(alone) == 0 || !isWordRune([]rune(text)[0]) || covered(markers, 0) {
		return // what is before the first word belongs to the paragraph before
	}
	n := int32(utf8.RuneCountInString(text))
	shift := int32(len(before))
	want := []Bounds{{0, 11}, {12, 18}}
	for _, b := range alone {
		want = append(want, Bounds{b.Start + shift, b.End + shift})
	}
	for _, b := range []Bounds{{2, 11}, {12, 16}} {
		want = append(want, Bounds{b.Start + shift + n, b.End + shift + n})
	}
	var moved []Bounds
	for _, m := range markers {
		moved = append(moved, Bounds{m.Start + shift, m.End + shift})
	}
	if diff := cmp.Diff(want, Sentences(before+text+behind, moved)); diff != "" {
		t.Errorf("%q in the middle: -alone +there:\n%s", text, diff)
	}
}

// The time must grow as the text does: four times for four times the length, and
// not sixteen.
func TestSentencesLinear(t *testing.T) {
	for _, unit := range []string{
		")", " ", "\"", ".", ". ", ".)", "1", ". 1,", ".1 ", "\u0301", ")\u0301", "\u00ad", "a", "-", "A. ", "1. ", "a.b", "..\n", "\n",
		"http://", "www.", "/?A", "«1»", "«1» ", "«1».", "“", "。", "。「", ".»«", "…", "(1) ", "«<statement>»a", "x.x.x.x.", "iP. ",
	} {
		for _, prefix := range []string{"", "a.", "a?", "a. «1"} {
			took := func(n int) time.Duration {
				text, markers := parseMarked(prefix + strings.Repeat(unit, n/len(unit)))
				markers = closedOnly(markers)
				var s Splitter
				best := time.Hour
				for range 2 {
					start := time.Now()
					s.Append(nil, text, markers)
					best = min(best, time.Since(start))
				}
				return best
			}
			if long := took(40_000); long > 100*time.Millisecond {
				if short := took(10_000); long > 10*short {
					t.Errorf("%q and then %q: %v for four times what takes %v", prefix, unit, long, short)
				}
			}
		}
	}
}

func TestSplitterKeepsMemory(t *testing.T) {
	text, markers := parseMarked(sentenceSeeds[0] + sentenceSeeds[1] + sentenceSeeds[2] + sentenceSeeds[5])
	statement := strings.Repeat("<statement>a.</statement> ", 9)
	text += statement
	for at := int32(utf8.RuneCountInString(text) - len(statement)); int(at) < utf8.RuneCountInString(text); at += 26 {
		markers = append(markers, Bounds{at, at + 11}, Bounds{at + 13, at + 25})
	}
	var s Splitter
	dst := s.Append(nil, text, markers)
	if n := testing.AllocsPerRun(100, func() { dst = s.Append(dst[:0], text, markers) }); n > 0 {
		t.Errorf("%v allocations per text", n)
	}
}

func BenchmarkSentences(b *testing.B) {
	for name, text := range map[string]string{"english": strings.Repeat(sentenceSeeds[0]+" "+sentenceSeeds[1]+"\n\n", 100), "chinese": strings.Repeat(sentenceSeeds[2], 200)} {
		b.Run(name, func(b *testing.B) {
			text, markers := parseMarked(text)
			var s Splitter
			var dst []Bounds
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = s.Append(dst[:0], text, markers)
			}
		})
	}
}
