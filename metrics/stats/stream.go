package stats

import "math/bits"

// A Stream is a sequence of pseudo-random words that depends on nothing but what
// it was made from: a seed and numbers that say what it is for, such as the number
// of a replicate. Work that draws every replicate from a stream of its own gives
// the same result whatever the number of workers and the order of their work.
//
// It is the SplitMix64 generator, whose period is 2^64. It satisfies the Source
// interface of math/rand/v2. The zero Stream is the stream of seed 0. It is not
// for secrets, and not safe for concurrent use.
//
// Source: Steele, Lea & Flood 2014.
type Stream struct{ state uint64 }

// golden is 2^64 over the golden ratio, made odd: the step of a Stream.
const golden = 0x9e3779b97f4a7c15

// NewStream returns the stream of a seed and what it is for. Streams of other
// seeds or parts are independent of it for all practical purposes.
func NewStream(seed uint64, parts ...uint64) Stream {
	state := seed
	for _, p := range parts {
		state = mix(state+golden) ^ mix(p+golden)*golden
	}
	return Stream{mix(state)}
}

// Uint64 returns the next word.
func (s *Stream) Uint64() uint64 {
	s.state += golden
	return mix(s.state)
}

// Float64 returns the next number in [0, 1), a multiple of 2^-53.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// IntN returns the next integer in [0, n), each with the same chance, for n > 0.
//
// Source: Lemire 2019.
func (s *Stream) IntN(n int) int {
	hi, lo := bits.Mul64(s.Uint64(), uint64(n))
	if lo < uint64(n) {
		for least := -uint64(n) % uint64(n); lo < least; {
			hi, lo = bits.Mul64(s.Uint64(), uint64(n))
		}
	}
	return int(hi)
}

// mix is the finalizer of SplitMix64, a bijection that spreads every bit over all
// others; variant 13 of Stafford 2011.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Key is a hash of the name of a unit (an id, a document), the same in every
// process and on every machine, so that what is drawn for a unit depends on its
// name and not on its place. It is FNV-1a, mixed. Two of a million names meet
// with a chance below 3e-8. Several parts are one name, without anything between them.
func Key(parts ...string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, part := range parts {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 0x100000001b3
		}
	}
	return mix(h)
}
