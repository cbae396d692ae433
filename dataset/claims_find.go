package dataset

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A claimFinder finds claims in an answer by their text, white space ignored:
// programs that cut answers into claims change it.
type claimFinder struct {
	answer string
	ready  bool // dense and points are those of answer

	dense  []byte  // the answer without white space
	points []int32 // for each byte of dense, the code point of the answer it is of
	claim  []byte
}

func (f *claimFinder) reset(answer string) { f.answer, f.ready = answer, false }

// once returns the half-open code points of the answer where claim stands. ok
// is false if it does so nowhere or more than once, and for a claim of nothing
// but white space.
func (f *claimFinder) once(claim string) (start, end int64, ok bool) {
	f.claim = f.claim[:0]
	for _, r := range claim {
		if !unicode.IsSpace(r) {
			f.claim = utf8.AppendRune(f.claim, r)
		}
	}
	if len(f.claim) == 0 {
		return 0, 0, false
	}
	if !f.ready {
		f.squeeze()
	}
	at := bytes.Index(f.dense, f.claim)
	if at < 0 || bytes.Contains(f.dense[at+1:], f.claim) {
		return 0, 0, false
	}
	return int64(f.points[at]), int64(f.points[at+len(f.claim)-1]) + 1, true
}

// squeeze makes dense and points.
func (f *claimFinder) squeeze() {
	f.dense, f.points, f.ready = f.dense[:0], f.points[:0], true
	cp := int32(0)
	for _, r := range f.answer {
		if !unicode.IsSpace(r) {
			f.dense = utf8.AppendRune(f.dense, r)
			for len(f.points) < len(f.dense) {
				f.points = append(f.points, cp)
			}
		}
		cp++
	}
}
