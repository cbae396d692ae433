package stats

import "math"

const (
	// alike is the working correlation of two units that touch the same documents.
	alike = 0.25
	// most is the share of the weight from which one unit, or one document, is taken for
	// all; less a rounding error.
	most = 0.9 - 1e-12
)

// Shares are the weights of units in a number, and what its variance and its degrees of
// freedom owe to them and to the documents that the units touch. All numbers with the same
// shares, such as means over the same rows, have them in common.
//
// Two units that touch a document are not independent. A document that nine tenths of the
// weight touch, of that of all units that touch any, is given: numbers speak of it and of no
// others like it, so it makes no units depend on each other. A document that one unit touches
// does neither.
//
// They are added up unit after unit, so that none is kept: each is named to Touch, and again to
// Add once Weigh knows the weight of all.
type Shares struct {
	sums       shareSums
	documents  *Documents       // of NewShares; nil if no two units share one
	units      []int32          // that touch a document
	held       []float64        // share of the units that touch a document; unshared of others
	of         []documentShares // nil once sums have them
	given      []int32          // documents
	givenShare float64          // the least share of them, of the weight of the units that touch any
	touching   float64          // weight of the units that touch any
}

// documentShares are the sums over the units of a document of which shareSums are made.
type documentShares struct{ tau, q, t, o float64 }

// unshared marks a document that makes no units depend on each other.
const unshared = -1

// shareSums are sums over units, and over documents: those that are shared, and one for each
// unit without such. Their letters are those of docs/statistics.md.
type shareSums struct {
	n, documents       int
	heaviest           float64 // share
	a, c, h            float64 // of units: Σg², Σg³, Σg⁴(1−1/k)
	b, tq              float64 // of documents: Στ², Στq
	p                  float64 // of documents: Σp and so on
	tp, tt, pp, ptt, e float64 // e is Σp²t
}

func (s *shareSums) unit(g float64) {
	s.n++
	s.heaviest = max(s.heaviest, g)
	s.a += float64(g * g)
	s.c += float64(g * g * g)
}

// document adds one with τ = Σ g/√k, q = Σ g²/√k, t = Σ g/k, o = Σ g²/k over its units.
func (s *shareSums) document(tau, q, t, o float64) {
	p := float64((1-alike)*o) + float64(alike*t*t)
	s.documents++
	s.b += float64(tau * tau)
	s.tq += float64(tau * q)
	s.p += p
	s.tp += float64(t * p)
	s.tt += float64(t * t)
	s.pp += float64(p * p)
	s.ptt += float64(p * t * t)
	s.e += float64(p * p * t)
}

// own adds a unit that touches no shared document.
func (s *shareSums) own(g float64) {
	s.unit(g)
	s.document(g, g*g, g, g*g)
}

// freedom is φ: Satterthwaite's degrees of freedom of the sum of squares over documents, if
// units are split evenly over theirs and correlate as alike says. It is G − 1 for G documents
// of equally many units.
func (s *shareSums) freedom() float64 {
	mean := s.p - 2*s.tp + float64(s.p*s.tt)
	square := s.pp - 4*s.e + float64(2*s.p*s.ptt) + 2*(float64(s.tp*s.tp)+float64(s.tt*s.pp)) -
		float64(4*s.p*s.tp*s.tt) + float64(s.p*s.p*s.tt*s.tt) + float64((1-alike)*(1-alike)*s.h)
	return mean * mean / square
}

// variance is v, the variance of the number if units have the variance 1 and correlate as alike
// says; its inverse is the size of a sample of independent units that knows as much.
func (s *shareSums) variance() float64 { return float64((1-alike)*s.a) + float64(alike*s.b) }

// centred are c₀ and c, the sums of squares that errors are expected to have if units are
// independent, and if they correlate as alike says.
func (s *shareSums) centred() (independent, correlated float64) {
	independent = s.a - 2*s.c + float64(s.a*s.a)
	correlated = float64((1-alike)*independent) + float64(alike*(s.a-2*s.tq+float64(s.a*s.b)))
	return independent, correlated
}

// StartShares are those of no units yet, which may touch documents with numbers below that.
func StartShares(documents int) *Shares {
	return &Shares{units: make([]int32, documents), held: make([]float64, documents)}
}

// EqualShares are those of n units that touch no documents.
func EqualShares(n int) *Shares {
	g, all := 1/float64(n), float64(n)
	gg := g * g
	return &Shares{sums: shareSums{
		n: n, documents: n, heaviest: g, a: g, c: gg, b: g, tq: gg,
		p: g, tp: gg, tt: g, pp: all * gg * gg, ptt: all * gg * gg, e: all * gg * gg * g,
	}}
}

// Touch notes a unit that counts, with its weight and the documents that it touches, each once.
func (s *Shares) Touch(weight float64, documents []int32) {
	if len(documents) > 0 {
		s.touching += weight
	}
	for _, d := range documents {
		if d != Lone {
			s.held[d] += weight
			s.units[d]++
		}
	}
}

// Weigh finds the shared documents, and those that are given, once all units are touched, whose
// weight is all.
func (s *Shares) Weigh(all float64) {
	touching := s.touching / all
	// The limit is 0.9 of what units with documents have, less a rounding error.
	limit := float64(0.9*touching) - 1e-12
	s.givenShare = 1
	some := false
	for d, n := range s.units {
		held := s.held[d] / all
		switch {
		case n > 1 && held >= limit:
			s.given = append(s.given, int32(d))
			s.givenShare = min(s.givenShare, held/touching)
			s.held[d] = unshared
		case n > 1:
			some, s.held[d] = true, held
		default:
			s.held[d] = unshared
		}
	}
	if s.units = nil; !some {
		s.held = nil
	}
	s.of = make([]documentShares, len(s.held))
}

// Add adds the next unit, whose share is its weight over that of all.
func (s *Shares) Add(share float64, documents []int32) {
	k := 0
	if len(s.held) > 0 {
		for _, d := range documents {
			if d != Lone && s.held[d] != unshared {
				k++
			}
		}
	}
	if k == 0 {
		s.sums.own(share)
		return
	}
	s.sums.unit(share)
	n, square := float64(k), share*share
	root := math.Sqrt(n)
	s.sums.h += float64(square * square * (1 - 1/n))
	add := documentShares{share / root, square / root, share / n, square / n}
	for _, d := range documents {
		if d != Lone && s.held[d] != unshared {
			to := &s.of[d]
			to.tau += add.tau
			to.q += add.q
			to.t += add.t
			to.o += add.o
		}
	}
}

// NewShares are the shares of units, each at least 0, together 1. Units that touch documents
// have them in documents, which may be nil. A unit counts if its share or its error is not
// 0; errors may be nil if those without a share have none.
func NewShares(shares, errors []float64, documents *Documents) *Shares {
	s := StartShares(documents.Count())
	counts := func(i int) bool { return shares[i] != 0 || errors != nil && errors[i] != 0 }
	var of []int32
	if documents != nil {
		for i, g := range shares {
			if counts(i) {
				of = documents.At(i, of)
				s.Touch(g, of)
			}
		}
	}
	if s.Weigh(1); s.held != nil {
		s.documents = documents
	}
	for i, g := range shares {
		if counts(i) {
			of = s.documents.At(i, of)
			s.Add(g, of)
		}
	}
	return s
}
