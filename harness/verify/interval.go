package verify

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/stat/distuv"
)

// precision is that of sums over clusters, in bits: enough that what cancels is exact.
const precision = 512

// equal is the standard error, in units of a metric's range, below which values differ by
// rounding alone.
const equal = 1e-12

// A cluster is what rows that are not independent add up to: y over x.
type cluster struct {
	y, x *big.Float
	rows int64
}

// A sample are the clusters of a group.
type sample struct {
	clusters []*cluster
	byName   map[string]*cluster
	rows     int64

	pairs *pairVariance // where its units depend on each other, as no clusters do
	how   string
}

func newSample() *sample { return &sample{byName: make(map[string]*cluster)} }

func wideFloat(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func (s *sample) add(name string, y, x float64) {
	c, ok := s.byName[name]
	if !ok {
		c = &cluster{y: wideFloat(0), x: wideFloat(0)}
		s.byName[name] = c
		s.clusters = append(s.clusters, c)
	}
	c.y.Add(c.y, wideFloat(y))
	c.x.Add(c.x, wideFloat(x))
	c.rows++
	s.rows++
}

func float(b *big.Float) float64 {
	v, _ := b.Float64()
	return v
}

// totals are the sums over all clusters.
func (s *sample) totals() (y, x *big.Float) {
	y, x = wideFloat(0), wideFloat(0)
	for _, c := range s.clusters {
		y.Add(y, c.y)
		x.Add(x, c.x)
	}
	return y, x
}

// ratio is Σy/Σx; unknown without clusters or where Σx is 0.
func (s *sample) ratio() (v float64, known bool) {
	y, x := s.totals()
	if x.Sign() == 0 {
		return 0, false
	}
	return float(new(big.Float).SetPrec(precision).Quo(y, x)), true
}

// informative is how many clusters have x.
func (s *sample) informative() (n float64) {
	for _, c := range s.clusters {
		if c.x.Sign() != 0 {
			n++
		}
	}
	return n
}

// errors are the standard errors of Σy/Σx: linearised (CR1), and of deleting one cluster at
// a time (CR3). CR3 is not known where one cluster has everything.
func (s *sample) errors() (cr1, cr3 float64, hasCR3 bool) {
	y, x := s.totals()
	g := float64(len(s.clusters))
	squares, deleted := wideFloat(0), wideFloat(0)
	hasCR3 = true
	for _, c := range s.clusters {
		// y_g - R x_g, times Σx
		d := new(big.Float).SetPrec(precision).Mul(c.y, x)
		d.Sub(d, new(big.Float).SetPrec(precision).Mul(y, c.x))
		squares.Add(squares, new(big.Float).SetPrec(precision).Mul(d, d))
		rest := new(big.Float).SetPrec(precision).Sub(x, c.x)
		if rest.Sign() == 0 {
			hasCR3 = false
			continue
		}
		d.Quo(d, rest)
		deleted.Add(deleted, new(big.Float).SetPrec(precision).Mul(d, d))
	}
	xx := new(big.Float).SetPrec(precision).Mul(x, x)
	root := func(v *big.Float) float64 { return math.Sqrt(float(v)) }
	cr1 = root(squares.Quo(squares, new(big.Float).SetPrec(precision).Mul(xx, xx))) * math.Sqrt(g/(g-1))
	cr3 = root(deleted.Quo(deleted, xx)) * math.Sqrt((g-1)/g)
	return cr1, cr3, hasCR3
}

// kish is the effective number of clusters: (Σx)² / Σx².
func (s *sample) kish() float64 {
	var sum, squares float64
	for _, c := range s.clusters {
		x := float(c.x)
		sum, squares = sum+x, squares+x*x
	}
	return sum * sum / squares
}

func normal(level float64) float64 { return distuv.UnitNormal.Quantile(0.5 + level/2) }

func student(level, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.5 + level/2)
}

// wilson is Wilson's score interval of k of n.
func wilson(k, n, z float64) (low, high float64) {
	center := (k + z*z/2) / (n + z*z)
	half := z * math.Sqrt(k*(n-k)/n+z*z/4) / (n + z*z)
	low, high = center-half, center+half
	if k == 0 {
		low = 0
	}
	if k == n {
		high = 1
	}
	return low, high
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func expit(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// An interval is what the summary says of a number beside its value.
type interval struct {
	low, high float64
	known     bool
	method    string
	se        float64
}

func around(v, half, se float64, method string) interval {
	return interval{v - half, v + half, true, method, se}
}

// A spread is what an interval rests on.
type spread struct {
	known     bool    // there is a standard error
	cr1, cr3  float64 // linearised, and of deleting one cluster
	hasCR3    bool
	df        float64 // of quotients of sums
	effective float64 // of means, with unequal clusters counted for less
	trials    float64 // clusters that tell something
	single    bool    // every cluster is one row
	clusters  int64
	pairs     bool   // the units of the sample are no clusters, but depend on each other
	how       string // what is added to the name of a method
}

func (s *sample) spread() spread {
	g := float64(len(s.clusters))
	w := spread{
		df: g - 1, trials: s.informative(), single: int64(len(s.clusters)) == s.rows, clusters: int64(len(s.clusters)), how: s.how,
	}
	if p := s.pairs; p != nil {
		w.known, w.cr1, w.cr3, w.hasCR3 = p.known, p.se, p.se, true
		w.df, w.effective, w.trials, w.clusters, w.pairs = p.effective-1, max(1, p.effective-1), p.effective, int64(p.effective), true
		w.how = "/" + p.kind
		return w
	}
	if w.known = w.trials >= 2; w.known {
		w.cr1, w.cr3, w.hasCR3 = s.errors()
		w.effective = max(1, s.kish()-1)
	}
	return w
}

// meanInterval is that of a mean over rows of a metric in [low, high].
func (w *spread) meanInterval(v, level, low, high float64, old bool) interval {
	width := high - low
	switch {
	case !w.known:
		return interval{}
	case old && w.single:
		return around(v, student(level, w.df)*w.cr1, w.cr1, "cr1-t"+w.how)
	case old || math.IsInf(width, 0) || !w.hasCR3:
		return around(v, student(level, w.effective)*w.cr1, w.cr1, "cr1-t-effective"+w.how)
	}
	unit, se, t := (v-low)/width, w.cr3/width, student(level, w.effective)
	if unit <= 0 || unit >= 1 || se < equal {
		n := w.effective + 1
		a, b := wilson(unit*n, n, t)
		return interval{low + width*a, low + width*b, true, "wilson-t" + w.how, w.cr3}
	}
	half := t * se / (unit * (1 - unit))
	method := "logit-t-cr3"
	if w.pairs {
		method = "logit-t"
	}
	return interval{low + width*expit(logit(unit)-half), low + width*expit(logit(unit)+half), true, method + w.how, w.cr3}
}

// shareInterval is that of a share of ones among so many rows.
func (w *spread) shareInterval(p, level float64, rows int64) interval {
	n, z := float64(rows), normal(level)
	switch {
	case w.single && !w.pairs && rows > 1:
		a, b := wilson(p*n, n, z)
		return interval{a, b, true, "wilson" + w.how, w.cr1}
	case !w.known:
		return interval{}
	}
	effective := w.trials
	if p > 0 && p < 1 && w.cr1 > 0 {
		shrink := z / student(level, w.df)
		effective = min(n, p*(1-p)/(w.cr1*w.cr1)*shrink*shrink)
	}
	a, b := wilson(p*effective, effective, z)
	return interval{a, b, true, "wilson-cluster-t" + w.how, w.cr1}
}

// ratioInterval is that of a quotient of sums, in [0, 1] or without bounds.
func (w *spread) ratioInterval(r, level float64, within, old bool) interval {
	if !w.known {
		return interval{}
	}
	t := student(level, w.df)
	switch {
	case within && !old && r >= 0 && r <= 1:
		n, se, method := w.effective+1, w.cr1, "logit-t"
		if !w.pairs {
			se *= (1 - 1/float64(w.clusters)) / (1 - 1/n)
			method = "logit-t-effective"
		}
		if t = student(level, w.effective); r == 0 || r == 1 || se < equal {
			a, b := wilson(r*n, n, t)
			return interval{a, b, true, "wilson-t" + w.how, se}
		}
		half := t * se / (r * (1 - r))
		return interval{expit(logit(r) - half), expit(logit(r) + half), true, method + w.how, se}
	case !within || r < 0 || r > 1:
		return around(r, t*w.cr1, w.cr1, "delta-t"+w.how)
	case r == 0 || r == 1:
		a, b := wilson(r*w.trials, w.trials, student(level, w.trials-1))
		return interval{a, b, true, "wilson-t" + w.how, w.cr1}
	case w.cr1 == 0:
		return interval{r, r, true, "logit-t" + w.how, 0}
	}
	half := t * w.cr1 / (r * (1 - r))
	return interval{expit(logit(r) - half), expit(logit(r) + half), true, "logit-t" + w.how, w.cr1}
}
