package ibid

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUsage is in the chain of errors about what cannot be done as it was asked for:
// settings, schemas, arguments. Nothing has been written then.
var ErrUsage = errors.New("wrong use")

// An Error says where something is wrong, and what to do about it. It reads
//
//	a.parquet: row 17: citations.end: element 2: -1 does not fit
//
// with the parts that are known.
type Error struct {
	File   string   // as the user named it, or as a directory or glob yielded it
	Row    Integer  // in File, from 0
	Column string   // with dots, such as "citations.end"
	Err    error    // the cause, never nil
	Hint   string   // what to do about it; "" if nothing better is known than the cause
	More   []string // further lines, such as what changed
	Usage  bool     // it is [ErrUsage], too
}

// Usagef is an error about wrong use.
func Usagef(format string, args ...any) *Error {
	return &Error{Err: fmt.Errorf(format, args...), Usage: true}
}

// With adds what to do about it, and further lines.
func (e *Error) With(hint string, more ...string) *Error {
	e.Hint, e.More = hint, more
	return e
}

// Error is one line, without the hint.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Row.Known() {
		fmt.Fprintf(&b, "row %d: ", e.Row.Value)
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

// Is reports whether the error is about wrong use, if that is asked.
func (e *Error) Is(target error) bool { return e.Usage && target == ErrUsage }

// Advice is the hint of an error and its further lines: those of the first [Error] of its
// chain that has any.
func Advice(err error) (hint string, more []string) {
	for hint == "" && more == nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			break
		}
		hint, more, err = e.Hint, e.More, e.Err
	}
	return hint, more
}
