package stats

import (
	"math"

	"ibid"
)

// A series is one value a night, in order; a night without a value is not
// defined. It leaves a control chart as it was and is never a signal.

// A Baseline is how a series behaves while nothing happens.
type Baseline struct {
	N    int64
	Mean ibid.Number
	SD   ibid.Number // with the divisor n-1
	// Sigma is the mean distance of consecutive values over 1.128, which a slow
	// drift does not inflate as it does SD.
	Sigma ibid.Number
}

// BaselineOf describes the defined values of a series. SD and Sigma are undefined
// for fewer than two.
func BaselineOf(series []ibid.Number) Baseline {
	x, _ := defined(series)
	b := Baseline{N: int64(len(x))}
	if len(x) == 0 {
		return b
	}
	mean := meanOf(x)
	b.Mean = Of(mean)
	if len(x) < 2 {
		return b
	}
	var squares, moves float64
	for i, v := range x {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			moves += math.Abs(v - x[i-1])
		}
	}
	// 1.128 is the mean range of two standard normal values.
	b.SD, b.Sigma = Of(math.Sqrt(squares/float64(len(x)-1))), Of(moves/float64(len(x)-1)/1.128)
	return b
}

// defined are the defined values of a series and their positions.
func defined(series []ibid.Number) (x []float64, at []int) {
	for i, v := range series {
		if v.Known() {
			x, at = append(x, v.Value), append(at, i)
		}
	}
	return x, at
}

// An EWMA chart follows a weighted mean in which the last night has the weight
// Lambda and older ones less and less. It finds small lasting shifts.
type EWMA struct {
	Target     float64
	Sigma      ibid.Number // of one night; if it is undefined or 0 there are no signals
	Lambda     float64     // in (0, 1]
	Width      float64     // half the distance of the limits, in standard deviations of the weighted mean
	Asymptotic bool        // limits of a chart that has run for ever, instead of the exact ones
}

// StandardEWMA has λ = 0.2 and L = 2.86: a false alarm in about 370 nights.
//
// Source: Lucas & Saccucci 1990.
func StandardEWMA(target float64, sigma ibid.Number) EWMA {
	return EWMA{Target: target, Sigma: sigma, Lambda: 0.2, Width: 2.86}
}

// An EWMANight is the state of an EWMA chart after one night.
type EWMANight struct {
	Mean, Low, High ibid.Number
	Signal          bool // Mean is outside [Low, High]
}

// Chart follows a series.
//
// Source: Roberts 1959.
func (e EWMA) Chart(series []ibid.Number) []EWMANight {
	nights := make([]EWMANight, len(series))
	z, t := e.Target, 0.0
	for i, v := range series {
		if !v.Known() {
			continue
		}
		t++
		z = e.Lambda*v.Value + (1-e.Lambda)*z
		nights[i].Mean = Of(z)
		if !e.Sigma.Known() {
			continue
		}
		variance := e.Lambda / (2 - e.Lambda)
		if !e.Asymptotic {
			variance *= 1 - math.Pow(1-e.Lambda, 2*t)
		}
		half := e.Width * e.Sigma.Value * math.Sqrt(variance)
		nights[i].Low, nights[i].High = Of(e.Target-half), Of(e.Target+half)
		nights[i].Signal = e.Sigma.Value > 0 && beyond(math.Abs(z-e.Target), half)
	}
	return nights
}

// A CUSUM chart adds up how far a series has been above its target, and below it,
// beyond the slack that chance explains.
type CUSUM struct {
	Target float64
	Sigma  ibid.Number // of one night; if it is undefined or 0 there are no signals
	Slack  float64     // k, in sigma: half the shift to find
	Limit  float64     // h, in sigma
	Reset  bool        // both sums begin again after a signal
}

// StandardCUSUM has k = 0.5 and h = 5: a false alarm in about 465 nights, and a
// shift by one sigma found in about 10.
func StandardCUSUM(target float64, sigma ibid.Number) CUSUM {
	return CUSUM{Target: target, Sigma: sigma, Slack: 0.5, Limit: 5}
}

// A CUSUMNight is the state of a CUSUM chart after one night.
type CUSUMNight struct {
	High, Low   ibid.Number // the sums, in units of the series
	NHigh, NLow int         // nights that the sum has been above 0
	Signal      bool
}

// CUSUMAlarm is the first signal of a chart.
type CUSUMAlarm struct {
	Night  int  // position of the signal
	Onset  int  // position of the night at which the sum left 0
	Upward bool // the series rose
}

// Chart follows a series. The alarm is nil if there is no signal.
//
// Source: Page 1954; tabular form of Montgomery.
func (c CUSUM) Chart(series []ibid.Number) ([]CUSUMNight, *CUSUMAlarm) {
	nights := make([]CUSUMNight, len(series))
	slack, limit := c.Slack*c.Sigma.Value, c.Limit*c.Sigma.Value
	var high, low side
	var alarm *CUSUMAlarm
	for i, v := range series {
		if !v.Known() || !c.Sigma.Known() {
			continue
		}
		high.add(v.Value-c.Target-slack, i)
		low.add(c.Target-v.Value-slack, i)
		signal := c.Sigma.Value > 0 && (beyond(high.sum, limit) || beyond(low.sum, limit))
		nights[i] = CUSUMNight{Of(high.sum), Of(low.sum), high.nights, low.nights, signal}
		if !signal {
			continue
		}
		if alarm == nil {
			alarm = &CUSUMAlarm{Night: i, Onset: high.onset, Upward: true}
			if !beyond(high.sum, limit) {
				alarm.Onset, alarm.Upward = low.onset, false
			}
		}
		if c.Reset {
			high, low = side{}, side{}
		}
	}
	return nights, alarm
}

// A side is one sum of a CUSUM chart.
type side struct {
	sum           float64
	nights, onset int
}

func (s *side) add(excess float64, night int) {
	s.sum = max(0, s.sum+excess)
	if s.sum == 0 {
		s.nights = 0
		return
	}
	if s.nights++; s.nights == 1 {
		s.onset = night
	}
}

// beyond reports whether v is above the limit by more than rounding.
func beyond(v, limit float64) bool { return v > limit*(1+1e-9) }

// A ChangePoint is the place where one shift of the mean explains a series best.
type ChangePoint struct {
	Found       bool    // the series is long enough
	Left        int     // defined values before the change
	Index       int     // position in the series of the first value after it
	Gain        float64 // reduction of the sum of squares
	MeanLeft    float64
	MeanRight   float64
	P           ibid.Number // exact permutation p-value, up to exactLength values
	LeastLength int         // values needed on either side
}

// exactLength is the longest series of which all orders are tried.
const exactLength = 8

// FindChange finds the single shift with least values on either side, at least 1,
// that leaves the smallest sum of squares; the earliest of equals.
func FindChange(series []ibid.Number, least int) ChangePoint {
	x, at := defined(series)
	c := ChangePoint{LeastLength: least}
	if len(x) < 2*least || len(x) < 2 {
		return c
	}
	c.Found = true
	c.Left, c.Gain = bestSplit(x, least)
	c.Index = at[c.Left]
	c.MeanLeft, c.MeanRight = meanOf(x[:c.Left]), meanOf(x[c.Left:])
	if len(x) <= exactLength {
		c.P = Of(permutationP(x, least, c.Gain))
	}
	return c
}

func bestSplit(x []float64, least int) (left int, gain float64) {
	var total, sum float64
	for _, v := range x {
		total += v
	}
	n := float64(len(x))
	left, gain = least, -1
	for k := 1; k <= len(x)-least; k++ {
		sum += x[k-1]
		if k < least {
			continue
		}
		a, b := float64(k), n-float64(k)
		d := sum/a - (total-sum)/b
		// The first of equals, also of those that differ by rounding.
		if g := a * b / n * d * d; g > gain+1e-12*math.Abs(gain) {
			left, gain = k, g
		}
	}
	return left, max(0, gain)
}

// permutationP is the share of all orders of x whose best split gains as much.
func permutationP(x []float64, least int, gain float64) float64 {
	y := append([]float64(nil), x...)
	var reached, all float64
	var permute func(k int)
	permute = func(k int) {
		if k == len(y) {
			all++
			if _, g := bestSplit(y, least); g >= gain*(1-1e-9) {
				reached++
			}
			return
		}
		for i := k; i < len(y); i++ {
			y[k], y[i] = y[i], y[k]
			permute(k + 1)
			y[k], y[i] = y[i], y[k]
		}
	}
	permute(0)
	return reached / all
}

// A PettittTest asks whether the distribution of a series changed once, by ranks.
type PettittTest struct {
	K     ibid.Number // max |U|
	Left  int         // defined values before the change
	Index int         // position in the series of the first value after it
	P     ibid.Number // approximate
}

// Pettitt tests a series. It is undefined for fewer than two values.
//
// Source: Pettitt 1979, with p = 2 exp(-6K²/(n³+n²)), at most 1.
func Pettitt(series []ibid.Number) PettittTest {
	x, at := defined(series)
	var out PettittTest
	if len(x) < 2 {
		return out
	}
	most := -1.0
	u := 0.0
	for t := range len(x) - 1 {
		// Moving x[t] to the left adds its signs against all others: those
		// against values on the left cancel.
		for _, v := range x {
			u += sign(x[t] - v)
		}
		if math.Abs(u) > most {
			most, out.Left, out.Index = math.Abs(u), t+1, at[t+1]
		}
	}
	n := float64(len(x))
	out.K, out.P = Of(most), Of(min(1, 2*math.Exp(-6*most*most/(n*n*n+n*n))))
	return out
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
