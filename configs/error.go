package configs

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Error is one thing in the configuration that cannot be used.
type Error struct {
	File         string // run file as the caller named it; "" if the value is from elsewhere
	Line, Column int    // from 1, in code points; 0 if not known
	Source       string // "environment IBID_JUDGE__KIND", "--set judge.kind", "--gate", "default"; "" with File
	Key          string // dotted setting; "" if the error is not about one
	Msg          string // what is wrong, without place and key
	Snippet      string // the line and a caret under the place, two lines; "" if there is none to show
	Hint         string // what to do about it; "" if there is nothing to say
}

// Error is one line: place, key and message.
func (e *Error) Error() string {
	var parts []string
	at := place{file: e.File, line: e.Line, column: e.Column, source: e.Source}.String()
	if at != "" && at != "default" {
		parts = append(parts, at)
	}
	if e.Key != "" && at != "--set "+e.Key {
		parts = append(parts, e.Key)
	}
	return strings.Join(append(parts, e.Msg), ": ")
}

// Errors are the errors of one configuration, at most the first 20, those of
// the run file before others and in its order. errors.As finds the first as an
// *Error.
type Errors []*Error

// Error has one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// sort puts errors of the run file first, from its top to its bottom.
func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		if a.File == "" || b.File == "" {
			return cmp.Compare(b.File, a.File) // one of them is ""
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Unwrap gives the errors one by one.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// A place is where a value was written: a position of the run file, or the
// name of what gave it.
type place struct {
	file         string
	line, column int
	source       string
}

func (p place) refuse(key, msg, hint string) *Error {
	return &Error{File: p.file, Line: p.line, Column: p.column, Source: p.source, Key: key, Msg: msg, Hint: hint}
}

// secretLine matches lines that may hold what must not reach a terminal or log.
var secretLine = regexp.MustCompile(`(?i)(key|token|secret|password|authorization)["']?\s*:`)

// snippet shows the place in the lines of the run file; "" if it is elsewhere
// or the line may hold a secret.
func (p place) snippet(lines []string) string {
	if p.file == "" || p.line < 1 || p.line > len(lines) || secretLine.MatchString(lines[p.line-1]) {
		return ""
	}
	return snippet(lines[p.line-1], p.line, p.column)
}

func (p place) String() string {
	switch {
	case p.file == "":
		return p.source
	case p.line == 0:
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column)
}

// snippetWidth is how many code points of a line are shown, so that a run file
// that is one endless line does not flood the terminal.
const snippetWidth = 100

// snippet shows one line with a caret under its column, both from 1.
func snippet(text string, line, column int) string {
	number := strconv.Itoa(line)
	runes := []rune(strings.TrimRight(text, " \t\r"))
	column = min(max(column, 1), len(runes)+1)
	from := max(0, column-snippetWidth)
	runes = runes[from:min(len(runes), from+snippetWidth+snippetWidth/2)]
	var under strings.Builder
	for i := range column - 1 - from {
		if runes[i] == '\t' {
			under.WriteByte('\t')
		} else {
			under.WriteByte(' ')
		}
	}
	return "  " + number + " | " + printable(runes) + "\n  " + strings.Repeat(" ", len(number)) + " | " + under.String() + "^"
}

// printable replaces what could steer a terminal.
func printable(runes []rune) string {
	for i, r := range runes {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			runes[i] = '\uFFFD'
		}
	}
	return string(runes)
}
