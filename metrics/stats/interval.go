package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ibid"
)

// rounding is how near to its bounds a number is taken for being at them, and how small a
// standard error is taken for none, as a share of the width between the bounds.
const rounding = 1e-12

// Within is the interval of a value with this spread that lies between low and high; where
// these are not both finite it has no bounds.
//
// Within bounds it is value ± t standard errors on the logit scale, carried back, so that its
// ends are strictly between them. Where the value is at a bound, or no unit differs, the logit
// has no standard error: then it is Wilson's interval of Size units. Without bounds it is
// symmetric.
func (s *Spread) Within(value, low, high, level float64) Estimate {
	e := s.start(value, level)
	if !s.OK {
		return e
	}
	width := high - low
	if math.IsInf(width, 0) || math.IsNaN(width) {
		s.unbounded(&e)
		return e
	}
	u, se := (value-low)/width, e.SE/width
	switch {
	case se < rounding || u <= rounding || u >= 1-rounding:
		bottom, top := s.wilson(&e, u, se)
		e.setEnds(WilsonScore, low+float64(width*bottom), low+float64(width*top))
		if top == 1 {
			e.High = high
		}
	default:
		at, half := math.Log(u/(1-u)), studentPoint(level, s.DF)*se/(u*(1-u))
		e.setEnds(LogitT, low+float64(width*logistic(at-half)), low+float64(width*logistic(at+half)))
	}
	return e
}

// start is the value with all but the interval.
func (s *Spread) start(value, level float64) Estimate {
	e := Estimate{Value: value, Reason: ibid.Defined, Level: level, Given: s.Given, GivenShare: s.GivenShare}
	switch {
	case s.OK:
	case s.Units == 1:
		e.warn(OneUnit, restsOnOne)
		return e
	default:
		e.warn(OneUnit, fmt.Sprintf("no interval: one row has %.0f %% of the weight", math.Floor(100*s.Heaviest)))
		return e
	}
	e.SE, e.HasSE = math.Sqrt(s.Variance), true
	e.DF, e.Effect, e.Effective = ibid.Some(s.DF), Of(s.Effect), s.Size
	e.Clusters = int64(math.Round(s.Clusters))
	if need := ClustersNeeded(level); s.Clusters < float64(need)-1e-9 {
		e.warn(FewClusters, fmt.Sprintf(fewPrefix+"%d independent units; with fewer than %d it leans on how alike answers about one document usually are", min(e.Clusters, need-1), need))
	}
	return e
}

const fewPrefix = "rests on about "

// SaysFew reports whether a note is that of [FewClusters].
func SaysFew(note string) bool { return strings.HasPrefix(note, fewPrefix) }

func (e *Estimate) setEnds(method Method, low, high float64) {
	e.Low, e.High, e.HasInterval, e.Method = low, high, true, method
}

// still records that no unit differs.
func (e *Estimate) still() {
	e.SE, e.DF, e.Effect = 0, ibid.Number{}, ibid.Number{}
	e.Degenerate = true
}

// wilson is Wilson's interval of a share u, whose standard error is se.
func (s *Spread) wilson(e *Estimate, u, se float64) (low, high float64) {
	switch {
	case u <= rounding:
		u = 0
	case u >= 1-rounding:
		u = 1
	}
	if se < rounding {
		e.still()
		e.warn(AllAlike, "no row differs; that is not certainty")
	} else {
		e.warn(AllAlike, "the value is at a bound; that is not certainty")
	}
	return wilson(u*s.Size, s.Size, NormalQuantile(e.Level))
}

const restsOnOne = "no interval: it rests on one question"

const noWidth = "no row differs, so the interval has no width; that is not certainty"

func (s *Spread) unbounded(e *Estimate) {
	if e.SE < rounding*max(1, math.Abs(e.Value)) {
		e.still()
		e.warn(NoWidth, noWidth)
		e.setEnds(ConstantValue, e.Value, e.Value)
		return
	}
	half := studentPoint(e.Level, s.DF) * e.SE
	e.setEnds(PlainT, e.Value-half, e.Value+half)
}

// NameGiven warns, where e has an interval, that it speaks of nothing but the documents that
// are given.
func (e *Estimate) NameGiven(name func(document int32) string) {
	if !e.HasInterval || len(e.Given) == 0 {
		return
	}
	names := make([]string, len(e.Given))
	for i, d := range e.Given {
		names[i] = shown(name(d))
	}
	slices.Sort(names)
	e.warn(GivenDocuments, fmt.Sprintf("says nothing of other documents than %s, which %.0f %% of the rows touch", strings.Join(names, " and "), math.Floor(100*e.GivenShare+1e-9)))
}

// longestName is how many characters of a document's name are shown.
const longestName = 80

// shown is a name as it can stand in a line of text, quoted if it has characters that do not
// print.
func shown(name string) string {
	if r := []rune(name); len(r) > longestName {
		name = string(r[:longestName]) + "…"
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || name == "" {
		return strconv.Quote(name)
	}
	return name
}
