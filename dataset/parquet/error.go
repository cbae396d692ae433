package parquet

import (
	"errors"
	"fmt"
)

// ErrCorrupt is in the chain of the error for a file that breaks the rules of
// Parquet. Some damage cannot be seen: a file without page checksums may read
// as other values than were written.
var ErrCorrupt = errors.New("corrupt Parquet file")

// ErrNotParquet is in the chain of the error for a file that does not begin as Parquet.
var ErrNotParquet = errors.New("not a Parquet file")

// ErrLarge is in the chain of the error for a page or column that is larger than is read, or
// says so. Such an error is [ErrCorrupt], too: nothing of the file is used.
var ErrLarge error = largeError{}

type largeError struct{}

func (largeError) Error() string        { return "too large" }
func (largeError) Is(target error) bool { return target == ErrCorrupt }

func large(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrLarge}, args...)...)
}

func corrupt(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrCorrupt}, args...)...)
}

// recovered, where it is deferred, makes an error of a panic: what decoders do about damaged
// data.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = corrupt("%v", p)
	}
}
