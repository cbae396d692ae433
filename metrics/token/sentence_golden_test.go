package token

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSentencesOfLines reads testdata/sentences.txt: each line is a text in which | stands
// before each sentence, «1» is a marker, ⏎ ␍ ␅ ␤ ¶ ␋ ␌ are line ends
// and ⍽ a space that does not break. Lines
// that begin with # say what those below them are about. One splitter reads all of them.
func TestSentencesOfLines(t *testing.T) {
	const path = "testdata/sentences.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	signs := []string{"⏎", "\n", "␍", "\r", "␅", "\u0085", "␤", "\u2028", "¶", "\u2029", "␋", "\v", "␌", "\f", "⍽", "\u00a0"}
	shown := slices.Clone(signs)
	for i := 0; i < len(shown); i += 2 {
		shown[i], shown[i+1] = shown[i+1], shown[i]
	}
	var s Splitter
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			text, markers := parseMarked(strings.NewReplacer(signs...).Replace(strings.ReplaceAll(line, "|", "")))
			points := []rune(text)
			got, at := "", int32(0)
			for _, b := range s.Append(nil, text, markers) {
				got += string(points[at:b.Start]) + "|" + string(points[b.Start:b.End])
				at = b.End
			}
			got += string(points[at:])
			for _, m := range markers { // each is [, a sign and ]
				was := "[" + string(points[m.Start+1:m.End-1]) + "]"
				got = strings.Replace(got, was, "«"+string(points[m.Start+1:m.End-1])+"»", 1)
			}
			got = strings.NewReplacer(shown...).Replace(got)
			if !*update && got != line {
				t.Errorf("got\n%s\nwant\n%s", got, line)
			}
			line = got
		}
		out.WriteString(line + "\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
