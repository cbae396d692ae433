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
type Shares struct {
	sums       shareSums
	documents  *Documents
	held       []float64 // share of the units that touch a document; unshared of others
	given      []int32   // documents
	givenShare float64   // the least share of them, of the weight of the units that touch any
}

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

// NewShares are the shares of units, each at least 0, together 1. Units that touch documents
// have them in documents, which may be nil. A unit counts if its share or its error is not
// 0; errors may be nil if those without a share have none.
func NewShares(shares, errors []float64, documents *Documents) *Shares {
	s := &Shares{}
	counts := func(i int) bool { return shares[i] != 0 || errors != nil && errors[i] != 0 }
	if !s.hold(shares, documents, counts) {
		for i, g := range shares {
			if counts(i) {
				s.sums.own(g)
			}
		}
		return s
	}
	s.documents = documents
	type sums struct{ tau, q, t, o float64 }
	of := make([]sums, len(s.held))
	for i, g := range shares {
		if !counts(i) {
			continue
		}
		docs, k := documents.At(i), 0
		for _, d := range docs {
			if s.shared(d) {
				k++
			}
		}
		if k == 0 {
			s.sums.own(g)
			continue
		}
		s.sums.unit(g)
		n, gg := float64(k), g*g
		root := math.Sqrt(n)
		s.sums.h += float64(gg * gg * (1 - 1/n))
		for _, d := range docs {
			if s.shared(d) {
				to := &of[d]
				to.tau += g / root
				to.q += gg / root
				to.t += g / n
				to.o += gg / n
			}
		}
	}
	for d, h := range s.held {
		if h != unshared {
			s.sums.document(of[d].tau, of[d].q, of[d].t, of[d].o)
		}
	}
	return s
}

func (s *Shares) shared(document int32) bool {
	return document != Lone && s.held[document] != unshared
}

// hold finds the shared documents, and those that are given. It reports whether there are
// shared ones.
func (s *Shares) hold(shares []float64, documents *Documents, counts func(unit int) bool) (some bool) {
	if documents == nil {
		return false
	}
	s.held = make([]float64, documents.count())
	units := make([]int32, len(s.held))
	touching := 0.0
	for i, g := range shares {
		docs := documents.At(i)
		if len(docs) == 0 || !counts(i) {
			continue
		}
		touching += g
		for _, d := range docs {
			if d != Lone {
				s.held[d] += g
				units[d]++
			}
		}
	}
	// The limit is 0.9 of what units with documents have, less a rounding error.
	limit := float64(0.9*touching) - 1e-12
	s.givenShare = 1
	for d, n := range units {
		switch {
		case n > 1 && s.held[d] >= limit:
			s.given = append(s.given, int32(d))
			s.givenShare = min(s.givenShare, s.held[d]/touching)
			s.held[d] = unshared
		case n > 1:
			some = true
		default:
			s.held[d] = unshared
		}
	}
	return some
}
