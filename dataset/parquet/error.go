package parquet

import (
	"errors"
	"fmt"
	"strings"
)

// ErrCorrupt is in the chain of the error for a file that breaks the rules of
// Parquet. Some damage cannot be seen: a file without page checksums may read
// as other values than were written.
var ErrCorrupt = errors.New("corrupt Parquet file")

// ErrNotParquet is in the chain of the error for a file that does not begin as Parquet.
var ErrNotParquet = errors.New("not a Parquet file")

func corrupt(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrCorrupt}, args...)...)
}

// An Error says where in the input something is wrong. It reads
//
//	a.parquet: row 17: citations.end: element 2: -1 does not fit
//
// with the parts that are known.
type Error struct {
	File   string // path as the user gave it, or as the directory or glob yielded it; "" if not known
	Row    int64  // zero-based row in File; -1 if the error concerns no single row
	Column string // dotted column, such as "citations.end"; "" if the error concerns no column
	Err    error  // the cause, never nil
	Hint   string // what to do about it, "" if nothing better is known than the cause
}

// Error returns file, row, column and cause on one line, without the hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Row >= 0 {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	if e.Column != "" {
		b.WriteString(e.Column)
		b.WriteString(": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
