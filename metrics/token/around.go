package token

import "slices"

// reach is how many bytes around a place are looked at for a seam.
const reach = 512

// seam reports whether a text can be divided into tokens on both sides of byte at,
// each without a look at the other: there, white space of ASCII is followed by a
// letter or digit of ASCII. No rule of Unicode Standard Annex #29 joins these, and
// none looks past white space.
func seam(text string, at int) bool {
	before := text[at-1]
	return (before == ' ' || before == '\n') && classes[text[at]]&(letter|digit) != 0
}

// Around widens the bytes [from, to) of text to [lo, hi), which is divided into
// tokens as the whole text is: at seams or at its ends. ok is false if none is near.
func Around(text string, from, to int) (lo, hi int, ok bool) {
	for lo = from; lo > 0 && (lo == len(text) || !seam(text, lo)); lo-- {
		if from-lo == reach {
			return 0, 0, false
		}
	}
	for hi = to; hi < len(text) && (hi == 0 || !seam(text, hi)); hi++ {
		if hi-to == reach {
			return 0, 0, false
		}
	}
	return lo, hi, true
}

// AppendTo appends to x the words of a text that begins at code point at, except
// those that begin before the last token of x ends.
func AppendTo(x *Index, text string, at int32) {
	n := len(x.Starts)
	x.addWords(text, at)
	if n == 0 {
		return
	}
	again := n
	for again < len(x.Starts) && x.Starts[again] < x.Ends[n-1] {
		again++
	}
	x.Starts, x.Ends = slices.Delete(x.Starts, n, again), slices.Delete(x.Ends, n, again)
}
