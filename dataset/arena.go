package dataset

import "unsafe"

// arenaBlock is the size of an arena's usual block.
const arenaBlock = 256 << 10

// An arena holds the bytes of many strings in few blocks, which are used again
// after a reset.
type arena struct {
	blocks [][]byte
	block  int // the one being filled
	used   int // bytes of it
}

// text copies b and returns it as a string that lives until the reset.
func (a *arena) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if a.block >= len(a.blocks) || len(a.blocks[a.block])-a.used < len(b) {
		a.grow(len(b))
	}
	dst := a.blocks[a.block][a.used:]
	a.used += copy(dst, b)
	return unsafe.String(unsafe.SliceData(dst), len(b))
}

// grow moves on to the next block that has room for n bytes.
func (a *arena) grow(n int) {
	if a.used > 0 {
		a.block++
	}
	a.used = 0
	if a.block < len(a.blocks) && len(a.blocks[a.block]) >= n {
		return
	}
	fresh := make([]byte, max(n, arenaBlock))
	if a.block < len(a.blocks) {
		a.blocks[a.block] = fresh
		return
	}
	a.blocks = append(a.blocks, fresh)
}

// reset makes all strings invalid.
func (a *arena) reset() { a.block, a.used = 0, 0 }
