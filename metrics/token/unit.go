package token

import "fmt"

// A Unit is what a position in a text counts.
type Unit uint8

const (
	CodePoint Unit = iota // Unicode code points
	UTF16                 // UTF-16 code units: a code point above U+FFFF counts 2
	Byte                  // bytes of the UTF-8 form
)

var unitNames = [...]string{"codepoint", "utf16", "byte"}

// ParseUnit returns the unit of that name: "codepoint", "utf16" or "byte".
func ParseUnit(name string) (Unit, error) {
	for u, n := range unitNames {
		if n == name {
			return Unit(u), nil
		}
	}
	return 0, fmt.Errorf("offset unit %q: not one of codepoint, utf16, byte", name)
}

// String returns the name that [ParseUnit] takes.
func (u Unit) String() string { return unitNames[u] }
