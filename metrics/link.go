package metrics

// An Anchor is what a citation says about the claim it belongs to.
type Anchor struct {
	ClaimID string // "" if it names none

	// Start and End are the half-open code points of the answer that the
	// citation covers or, of a marker, takes up. Start = End is a point, which
	// stands for the code point before it.
	Start, End  int64
	HasPosition bool // false: Start and End mean nothing
}
