// Package term is what ibid knows about terminals: whether one is there, how
// wide it is, whether to use colour, and how to show progress without getting
// into the way of results.
package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// DefaultWidth is used when the output is no terminal.
const DefaultWidth = 100

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the number of columns of the terminal w, or [DefaultWidth].
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return DefaultWidth
}

// Colour decides whether to colour what goes to w. Mode is auto, always or
// never; under auto a terminal is coloured unless NO_COLOR is set or TERM is
// dumb (https://no-color.org).
func Colour(mode string, w io.Writer, env func(string) string) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return IsTerminal(w) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}
