package token

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClaimText(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no marker", " One is red. ", "One is red."},
		{"before the stop", "One is red «1».", "One is red."},
		{"before the stop, no space", "One is red«1»«2».", "One is red."},
		{"behind the stop", "One is red. «1» «2»", "One is red."},
		{"in the middle", "One «1» is red.", "One is red."},
		{"in the middle, no space before", "One«1» is red.", "One is red."},
		{"in the middle, no space behind", "One «1»is red.", "One is red."},
		{"space among markers only", "One«1» «2»is red.", "One is red."},
		{"no space at all", "我«1»是", "我是"},
		{"list", "One is red «1», «2»; «3», two blue.", "One is red, two blue."},
		{"in brackets", "One is red («1», «2»).", "One is red."},
		{"in brackets, Chinese", "我是（«1»）。", "我是。"},
		{"in brackets with words", "One is red (see «1»).", "One is red (see)."},
		{"brackets that stay", "One is red «1» (dark).", "One is red (dark)."},
		{"at the start", "«1» One is red.", "One is red."},
		{"over a line", "- One «1»\n- two", "- One\n- two"},
		{"Arabic", "نص «1»؟", "نص؟"},
		{"control characters", "One«1»\x00\x00.", "One\x00\x00."},
		{"only markers", "«1», «2»", ""},
		{"quote", "He said “no «1»” «2».", "He said “no”."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, markers := parseMarked(tt.text)
			whole := Bounds{0, int32(utf8.RuneCountInString(text))}
			if got := NewText(text).Claim(whole, markers); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			// Neither what stands around the claim nor its markers change it.
			moved := []Bounds{{1, 4}}
			for _, m := range markers {
				moved = append(moved, Bounds{m.Start + 6, m.End + 6})
			}
			moved = append(moved, Bounds{whole.End + 6, whole.End + 9})
			if got := NewText("é[7]. "+text+"[8]").Claim(Bounds{6, whole.End + 6}, moved); got != tt.want {
				t.Errorf("inside of a text: got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever the markers are, the words outside them stay, in order.
func FuzzClaimText(f *testing.F) {
	f.Add("One is red («1», «2») «3».")
	f.Add("«1» [(«2»)] x («3» ( «4»))")
	f.Fuzz(func(t *testing.T, marked string) {
		text, markers := parseMarked(strings.ToValidUTF8(marked, "x"))
		markers = closedOnly(markers)
		points := []rune(text)
		var want []rune
		for i, r := range points {
			if !covered(markers, int32(i)) && isWordRune(r) {
				want = append(want, r)
			}
		}
		claim := NewText(text).Claim(Bounds{0, int32(len(points))}, markers)
		got := strings.Map(func(r rune) rune {
			if isWordRune(r) {
				return r
			}
			return -1
		}, claim)
		if got != string(want) {
			t.Errorf("%q: words %q, want %q", text, got, string(want))
		}
		if claim != strings.TrimFunc(claim, unicode.IsSpace) {
			t.Errorf("%q: %q has white space at an end", text, claim)
		}
	})
}

// closedOnly drops markers that nothing closes, and those within others.
func closedOnly(markers []Bounds) []Bounds {
	kept := markers[:0]
	end := int32(0)
	for _, m := range markers {
		if m.End > m.Start && m.Start >= end {
			kept = append(kept, m)
			end = m.End
		}
	}
	return kept
}

func covered(markers []Bounds, i int32) bool {
	for _, m := range markers {
		if m.Start <= i && i < m.End {
			return true
		}
	}
	return false
}
