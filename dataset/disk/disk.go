// Package disk has what systems do differently about files: locks that end with their
// process, files that can be renamed and removed while they are open, renames that survive
// a loss of power, and files without a name.
package disk

import "errors"

// ErrHeld means that another process, or another open file of this one, has the lock.
var ErrHeld = errors.New("the file is locked")
