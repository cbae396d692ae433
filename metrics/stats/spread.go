package stats

import "math"

// A Spread is how far a number may be from what it estimates.
type Spread struct {
	Units     int     // that count
	Documents int     // that are shared, and units without one
	Heaviest  float64 // largest share of a unit

	Given      []int32 // documents that the number speaks of, see [Shares]
	GivenShare float64 // the least share of them, of the weight of the units that touch any

	// The others are known only if OK is true: not of fewer than two units, nor where one has
	// nine tenths of the weight.
	OK       bool
	Variance float64 // at least 0
	DF       float64 // degrees of freedom, at least 1
	Size     float64 // independent units that would know as much, for Wilson's interval
	Clusters float64 // independent groups of units: degrees of freedom of a sum of squares over documents, and one
	Effect   float64 // Variance over that of independent units; NaN where no unit differs
}

// errorSums are sums over the errors of units and of documents.
type errorSums struct {
	e         float64 // of units: squares
	twice     float64 // of units: what squares over documents count more than once
	q         float64 // of documents: squares S²/(1−h)
	qq, signs float64 // of documents: squares of those, and their powers 1.5 with the sign of S
}

// document adds the sum of the errors of its units, which have the share held.
func (s *errorSums) document(sum, held float64) {
	square := sum * sum / (1 - held)
	s.q += square
	s.qq += float64(square * square)
	s.signs += math.Copysign(square*math.Sqrt(square), sum)
}

// own adds a unit that touches no shared document.
func (s *errorSums) own(e, share float64) {
	s.e += float64(e * e)
	s.document(e, share)
}

// Errors adds up what units add to the distance of a number from what it estimates, one after the
// other, so that none is kept. They sum to 0.
type Errors struct {
	shares *Shares
	sums   errorSums
	of     []float64 // of each document: the sum of its units
}

// Errors is that of a number with these shares, of which Weigh must know all.
func (s *Shares) Errors() *Errors { return &Errors{shares: s, of: make([]float64, len(s.held))} }

// Add adds the error of the next unit, with its share and the documents that it touches.
func (r *Errors) Add(e, share float64, documents []int32) {
	if e == 0 {
		return
	}
	k, held := 0, 0.0
	if of := r.shares.held; len(of) > 0 {
		for _, d := range documents {
			if d != Lone && of[d] != unshared {
				r.of[d] += e
				k, held = k+1, held+of[d]
			}
		}
	}
	if k == 0 {
		r.sums.own(e, share)
		return
	}
	square := e * e
	r.sums.e += square
	r.sums.twice += float64(max(0, float64(k-1)-2*held) * square)
}

// Spread is that of the number, once all units are added to the shares and the errors.
//
// The variance is that of sums over documents, each enlarged for what centring takes from it
// (HC2), less what units with several documents are counted too often. It is moderated by
// the variance that there would be if two units of one document correlated by 1/4, which
// counts as one more degree of freedom. The degrees of freedom are Satterthwaite's for units
// that are split evenly over their documents, and fewer where few units carry the variance.
// For n independent units of equal weight it is s²/n with n − 1. docs/statistics.md has the
// formulas and what the intervals were measured to cover.
func (r *Errors) Spread() Spread {
	s := r.shares
	for d, h := range s.held {
		if h == unshared {
			continue
		}
		if s.of != nil {
			s.sums.document(s.of[d].tau, s.of[d].q, s.of[d].t, s.of[d].o)
		}
		r.sums.document(r.of[d], h)
	}
	s.of = nil
	out := s.sums.spread(&r.sums)
	out.Given, out.GivenShare = s.given, s.givenShare
	return out
}

// Spread is that of a number with these shares, of which s was made, and errors.
func (s *Shares) Spread(errors, shares []float64) Spread {
	of := s.Errors()
	var documents []int32
	for i, e := range errors {
		documents = s.documents.At(i, documents)
		of.Add(e, shares[i], documents)
	}
	return of.Spread()
}

// spread is the variance with its degrees of freedom.
func (s *shareSums) spread(of *errorSums) Spread {
	out := Spread{Units: s.n, Documents: s.documents, Heaviest: s.heaviest}
	if s.n < 2 || s.heaviest >= most {
		return out
	}
	phi := s.freedom()
	independent, correlated := s.centred()
	moderate := of.e * s.variance() / correlated
	out.OK = true
	out.Variance = (float64(phi*max(0, of.q-of.twice)) + moderate) / (phi + 1)
	out.Size, out.Clusters = 1/s.variance(), phi+1
	out.Effect = out.Variance * independent / (of.e * s.a)
	out.DF = min(phi+1, max(1, 1/s.a-1))
	if of.q > 0 {
		omega := 1 / (float64(s.n) * s.a)
		gamma := of.signs / (of.q * math.Sqrt(of.q))
		unequal := of.qq/(of.q*of.q) - 1/phi - float64(omega*omega*gamma*gamma)
		if unequal*out.DF > 2 {
			out.DF = max(1, 2/unequal)
		}
	}
	return out
}
