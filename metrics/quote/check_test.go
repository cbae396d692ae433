package quote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCheck: the outcomes on documents of our own.
func TestCheck(t *testing.T) {
	const pump = "Maintenance. The pump must be cleaned weekly. The tank must be drained yearly. Never open the valve while the motor is running."
	const lease = "The landlord is not permitted to end this lease before its term. The deposit of 1,250 euros is non-refundable after thirty days."
	s := &Search{
		Cited:  []Source{{Doc: "pump", Text: NewText(pump)}},
		Others: []Source{{Doc: "lease", Text: NewText(lease)}},
		Said:   []*Text{NewText("Must every bearing be greased after the winter?")},
	}
	for _, tt := range []struct{ quotation, want string }{
		{"The tank must be drained yearly.", "verbatim pump"},
		{"the tank must be drained yearly", "normalised pump"},
		{"The pump must be cleaned … the motor is running", "elided pump negation_left_out"},
		{"open the valve while the motor is running", "verbatim pump negation_before"},
		{"every bearing be greased after the winter", "echo"},
		{"the landlord is not permitted to end this lease", "elsewhere lease"},
		{"The pump must be cleaned monthly", "altered pump weekly → monthly words"},
		{"the landlord is permitted to end this lease", "altered lease −not negation"},
		{"The deposit of 1,350 euros is non-refundable", "altered lease 1,250 → 1,350 number"},
		{"deposit of 1,250 euros is refundable after thirty days", "altered lease non-refundable → refundable words"},
		{"The pump must be cleaned weekly. Never open the valve while the motor is running.", "altered pump −The tank must be drained yearly words"},
		{"The tank must be drained yearly. The deposit of 1,250 euros is non-refundable", "stitched pump"},
		{"Clearly, the tank must be drained yearly", "altered pump +Clearly words"},
		{"As ever, never open the valve while the motor is running", "altered pump +As ever words"},
		{"Cleaned, the tank must be drained yearly", "altered pump +Cleaned words"},
		{"All operators have to wear gloves at night", "nowhere"},
		{"泵必须每周清洗一次并且排空", "other_language"},
		{"Die Pumpe ist von dem Personal zu reinigen und der Tank ist zu leeren", "other_language"},
		{"Die Pumpe reinigt sich selbst jede Woche", "nowhere"}, // too few common words to tell its language
	} {
		r := Check(tt.quotation, s)
		got := r.Outcome.String()
		if len(r.Places) > 0 {
			got += " " + r.Places[0].Doc
		}
		got = strings.TrimRight(got+" "+r.Note+strings.TrimLeft(r.Difference()+" "+r.Kind, " "), " ")
		if got != tt.want {
			t.Errorf("%q is %q, want %q", tt.quotation, got, tt.want)
		}
	}
	unknown := &Search{Cited: []Source{{Doc: "x"}}, Others: s.Cited}
	if r := Check("The pump must be cleaned weekly", unknown); r.Outcome != NoText {
		t.Errorf("with an unknown text it is %v", r.Outcome)
	}
	missing := &Search{Cited: []Source{{Doc: "[7]", Missing: true}}, Others: s.Cited}
	if r := Check("The pump must be cleaned weekly", missing); r.Outcome != Elsewhere {
		t.Errorf("with a source that is not there it is %v", r.Outcome)
	}
	part := &Search{Cited: []Source{{Doc: "pump", Text: NewText(pump), Partial: true}}}
	if r := Check("The pump must be cleaned monthly", part); r.Outcome != NoText {
		t.Errorf("with a part of a text it is %v", r.Outcome)
	}
	if r := Check("The pump must be cleaned weekly", part); r.Outcome != Verbatim {
		t.Errorf("in a part of a text it is %v", r.Outcome)
	}
	chunks := &Search{Cited: []Source{{Doc: "a", Text: NewText("Never open the valve")}, {Doc: "b", Text: NewText("while the motor is running.")}}}
	if r := Check("open the valve while the motor", chunks); r.Outcome != Normalised || len(r.Places) != 2 {
		t.Errorf("across chunks it is %v at %v", r.Outcome, r.Places)
	}
}

// words of a text that no other of them has, so that what is made of them stands once.
func madeText(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 7))
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%c%s%x", 'a'+rune(rng.IntN(26)), []string{"re", "mo", "ti", "la"}[rng.IntN(4)], rng.IntN(1<<20))
	}
	return all
}

// TestStretches: every stretch of a text between the borders of words is verbatim, and with one
// word of it replaced, left out or put in it is altered.
func TestStretches(t *testing.T) {
	words := madeText(400, 1)
	text := NewText(strings.Join(words, " "))
	s := &Search{Cited: []Source{{Doc: "a", Text: text}}}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 5 + rng.IntN(40)
		from := rng.IntN(len(words) - n)
		own := slices.Clone(words[from : from+n])
		if r := Check(strings.Join(own, " "), s); r.Outcome != Verbatim || r.Places[0].Start > r.Places[0].End {
			t.Fatalf("%q is %v", own, r.Outcome)
		}
		at, want := 1+rng.IntN(n-2), ""
		switch rng.IntN(3) {
		case 0:
			want = own[at] + " → other"
			own[at] = "other"
		case 1:
			want = "−" + own[at]
			own = slices.Delete(own, at, at+1)
		default:
			want = "+other"
			own = slices.Insert(own, at, "other")
		}
		if r := Check(strings.Join(own, " "), s); r.Outcome != Altered || r.Difference() != want || r.Changed != 1 {
			t.Fatalf("%q is %v %q, want %q", own, r.Outcome, r.Difference(), want)
		}
	}
}

// FuzzCheck: nothing fails on odd texts, and places lie in their texts.
func FuzzCheck(f *testing.F) {
	f.Add("The pump must be cleaned weekly and drained", "the pump must … drained")
	f.Add(strings.Repeat("a b ", 300), strings.Repeat("b a ", 30))
	f.Add("\xff 水 b-\nc [1]", "水 “b-c” … \xfe")
	f.Fuzz(func(t *testing.T, text, quotation string) {
		r := Check(quotation, &Search{Cited: []Source{{Doc: "a", Text: NewText(text)}}, Others: []Source{{Doc: "b", Text: NewText(quotation + "x " + text)}}})
		for _, p := range r.Places {
			if p.Start < 0 || p.End <= p.Start || int(p.End) > len([]rune(text))+len([]rune(quotation))+2 {
				t.Errorf("%v is at %v", r.Outcome, p)
			}
		}
	})
}
