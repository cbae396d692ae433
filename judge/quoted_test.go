package judge

import "testing"

// TestQuoteIn: quotes that stand in a text although they are not copied to the letter,
// and those that do not. The aligned text is given where it is not obvious.
func TestQuoteIn(t *testing.T) {
	const text = "The Council said on 5 May 1998 that it was not shown – so far – to be “safe” for children. " +
		"Sales fell by -3.5% to 4,200 units in Lower Saxony; the mayor's office, however, gave no reason whatsoever for that and left the matter open. " +
		"Trials were closed early. It was clearly shown that nobody was harmed in them. Ελλάδα 東京は大きい。"
	tests := []struct {
		name, quote, want string // want "" if it does not stand there
	}{
		{"case", "the council SAID on 5 may 1998", "The Council said on 5 May 1998"},
		{"quotation marks and dashes", `not shown - so far - to be "safe" for children`, "not shown – so far – to be “safe” for children"},
		{"marks around", `"it was not shown"`, "it was not shown"},
		{"final point added", "fell by -3.5% to 4200 units.", "fell by -3.5% to 4,200 units"},
		{"apostrophe", "the mayor’s office", "the mayor's office"},
		{"another sign", "fell by 3.5% to 4,200 units", ""},
		{"another unit", "fell by -3.5 to 4,200 units", ""},
		{"gap", "Sales fell by -3.5% … in Lower Saxony", "Sales fell by -3.5% to 4,200 units in Lower Saxony"},
		{"gap in dots at the ends", "...Trials were closed early. ... that nobody was harmed [...]", "Trials were closed early. It was clearly shown that nobody was harmed"},
		{"gap over a negation", "said on 5 May ... it was ... shown", ""},
		{"gap before a negated end", "Sales fell by ... reason whatsoever", ""},
		{"pieces in another order", "in Lower Saxony ... Sales fell", ""},
		{"pieces of single words", "Sales ... units", ""},
		{"short, one word other", "Trials were stopped early", ""},
		{"long, one word other", "It was clearly demonstrated that nobody was harmed in them", "It was clearly shown that nobody was harmed in them"},
		{"long, one word left out", "It was shown that nobody was harmed in them. Ελλάδα", "It was clearly shown that nobody was harmed in them. Ελλάδα"},
		{"long, one word added", "It was then clearly shown that nobody was harmed in them", "It was clearly shown that nobody was harmed in them"},
		{"long, two words other", "It was later demonstrated that nobody was harmed in them", ""},
		{"long, negation left out", "it was shown so far to be safe for children sales", ""},
		{"long, negation replaced", "that it was clearly shown so far to be safe for children", ""},
		{"long, negation added", "It was not clearly shown that nobody was harmed in them", ""},
		{"long, another number", "The Council said on 6 May 1998 that it was not shown", ""},
		{"long, another name", "to 4,200 units in Upper Saxony; the mayor's office, however, gave", ""},
		{"long, another quantifier", "It was clearly shown that everybody was harmed in all them", ""},
		{"script without spaces", "東京は大きい", "東京は大きい"},
		{"another letter of it", "東京は小さい", ""},
		{"empty", " … ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at, got, ok := quoteIn(text, tt.quote)
			if ok && got == "" { // the quote, to the letter
				got = tt.quote
			}
			if got != tt.want || ok != (tt.want != "") {
				t.Fatalf("quoteIn(%q) = %q, %t, want %q", tt.quote, got, ok, tt.want)
			}
			if ok && string([]rune(text)[at.Start:at.End]) != got {
				t.Errorf("%+v is not where %q stands", at, got)
			}
		})
	}
}
