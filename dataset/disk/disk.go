// Package disk has files as a run uses them. A [Watch] can stand before every operation, so
// that a test knows what becomes of a run when any of them fails or is the last. What systems
// do differently is in one file each: locks that end with their process, files that can be
// renamed and removed while they are open, renames that survive a loss of power, and files
// without a name.
package disk

import "errors"

// ErrHeld means that another process, or another open file of this one, has the lock.
var ErrHeld = errors.New("the file is locked")
