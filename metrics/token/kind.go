package token

import "fmt"

// A Kind names a way to divide a text into tokens.
type Kind uint8

const (
	KindWords      Kind = iota // [Words]
	KindWhitespace             // [Whitespace]
)

var kindNames = [...]string{"words", "whitespace"}

// ParseKind returns the kind of that name: "words" or "whitespace".
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("tokenizer %q: not one of words, whitespace", name)
}

// String returns the name that [ParseKind] takes.
func (k Kind) String() string { return kindNames[k] }

// Index returns the tokens of text.
func (k Kind) Index(text string) *Index {
	if k == KindWhitespace {
		return Whitespace(text)
	}
	return Words(text)
}
