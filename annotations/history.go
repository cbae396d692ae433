package annotations

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ibid/metrics/stats"
)

// A Night is one run in a history.
type Night struct {
	Run   string
	Dir   string
	At    time.Time
	Basis map[string]string // what a run must share with the nights before to be compared with them
	Items string            // which questions it asked
	Value stats.Number
	SE    stats.Number // sampling error of Value
}

// BaselineNights is how many nights a baseline is made of unless somebody wants
// others.
const BaselineNights = 8

// HistoryOptions say how a history is watched.
type HistoryOptions struct {
	Baseline int  // nights that a baseline is made of, at least 2
	AnyItems bool // other questions begin no new baseline
}

// A Series is one metric over nights.
type Series struct {
	Metric, System string
	Lower          bool // is better
	Segments       []Segment
}

// A Segment is the nights of one baseline: the same questions, judge and
// settings.
type Segment struct {
	Why      []string // what changed against the segment before; nil of the first
	Nights   []ChartedNight
	Baseline stats.Baseline // of the first nights
	Complete bool           // the baseline has all its nights
	Ready    bool           // it is complete and its nights differ, so that there are limits
	Alarm    *stats.CUSUMAlarm
	Change   stats.ChangePoint
	Pettitt  stats.PettittTest
}

// A ChartedNight is a night on the control charts. EWMA and its limits are in the
// units of the metric, the sums of CUSUM in standard deviations.
type ChartedNight struct {
	Night
	Watched         bool // after the baseline
	Sigma           stats.Number
	EWMA, Low, High stats.Number
	EWMASignal      bool
	Up, Down        stats.Number
	CUSUMSignal     bool
}

// leastShift is how many nights a change point has on either side.
const leastShift = 2

// Watch makes the history of nights, which come in order: EWMA and CUSUM charts
// against the mean of the first nights of each baseline, and the change point.
//
// The standard deviation of a night is that of the nights of the baseline, from
// the moving range. Where the questions may differ from night to night it has the
// night's own sampling error instead of the mean one of the baseline,
//
//	σ_t² = max(0, σ² - mean se²) + se_t²
//
// A night whose sampling error is undefined then has the mean one. Over the same
// questions sampling error is the same every night and moves nothing.
func Watch(nights []Night, o HistoryOptions) []Segment {
	var out []Segment
	for i, n := range nights {
		var why []string
		if i > 0 {
			why = changed(&nights[i-1], &n, o)
		}
		if i == 0 || len(why) > 0 {
			out = append(out, Segment{Why: why})
		}
		last := &out[len(out)-1]
		last.Nights = append(last.Nights, ChartedNight{Night: n})
	}
	for i := range out {
		out[i].chart(o)
	}
	return out
}

// changed says what a night does not share with the one before.
func changed(before, now *Night, o HistoryOptions) []string {
	var why []string
	for key, v := range now.Basis {
		if before.Basis[key] != v {
			why = append(why, key)
		}
	}
	for key := range before.Basis {
		if _, ok := now.Basis[key]; !ok {
			why = append(why, key)
		}
	}
	slices.Sort(why)
	if !o.AnyItems && before.Items != now.Items {
		why = append([]string{"questions"}, why...)
	}
	return why
}

func (s *Segment) chart(o HistoryOptions) {
	values := make([]stats.Number, len(s.Nights))
	for i, n := range s.Nights {
		values[i] = n.Value
	}
	s.Change, s.Pettitt = stats.FindChange(values, leastShift), stats.Pettitt(values)
	first, defined := 0, 0
	for first < len(values) && defined < o.Baseline {
		if values[first].Defined {
			defined++
		}
		first++
	}
	s.Baseline = stats.BaselineOf(values[:first])
	s.Complete = defined == o.Baseline
	s.Ready = s.Complete && s.Baseline.Sigma.Defined && s.Baseline.Sigma.Value > 0
	if !s.Ready {
		return
	}
	between, sampling := s.Baseline.Sigma.Value*s.Baseline.Sigma.Value, 0.0
	if o.AnyItems {
		sampling = meanSquare(s.Nights[:first])
		between = max(0, between-sampling)
	}
	standard := make([]stats.Number, 0, len(values)-first)
	for i := first; i < len(s.Nights); i++ {
		n := &s.Nights[i]
		n.Watched = true
		variance := between + sampling
		if o.AnyItems && n.SE.Defined {
			variance = between + n.SE.Value*n.SE.Value
		}
		n.Sigma = stats.Of(math.Sqrt(variance))
		u := stats.Number{}
		if n.Value.Defined {
			u = stats.FractionOf(n.Value.Value-s.Baseline.Mean.Value, n.Sigma.Value)
		}
		standard = append(standard, u)
	}
	s.follow(first, standard)
}

// meanSquare is the mean squared sampling error.
func meanSquare(nights []ChartedNight) float64 {
	var sum, n float64
	for _, x := range nights {
		if x.SE.Defined {
			sum += x.SE.Value * x.SE.Value
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// follow runs both charts over the standardised nights after the baseline.
func (s *Segment) follow(first int, standard []stats.Number) {
	ewma := stats.StandardEWMA(0, stats.Of(1)).Chart(standard)
	cusum, alarm := stats.StandardCUSUM(0, stats.Of(1)).Chart(standard)
	target := s.Baseline.Mean.Value
	for i := range standard {
		n := &s.Nights[first+i]
		n.EWMASignal, n.CUSUMSignal = ewma[i].Signal, cusum[i].Signal
		n.Up, n.Down = cusum[i].High, cusum[i].Low
		if ewma[i].Mean.Defined {
			n.EWMA = stats.Of(target + ewma[i].Mean.Value*n.Sigma.Value)
			n.Low, n.High = stats.Of(target+ewma[i].Low.Value*n.Sigma.Value), stats.Of(target+ewma[i].High.Value*n.Sigma.Value)
		}
	}
	if alarm != nil {
		alarm.Night += first
		alarm.Onset += first
		s.Alarm = alarm
	}
}

// Expired are the nights that are older than an age, but for the last night of
// each baseline, which later nights are compared with. Segments must be those of
// one series over all nights.
func Expired(segments []Segment, now time.Time, age time.Duration) []Night {
	var out []Night
	for _, s := range segments {
		for i, n := range s.Nights {
			if i+1 < len(s.Nights) && now.Sub(n.At) > age {
				out = append(out, n.Night)
			}
		}
	}
	return out
}

// ParseAge reads an age such as 30d, 12h or 90m.
func ParseAge(text string) (time.Duration, error) {
	if n := len(text); n > 1 && text[n-1] == 'd' {
		var days int
		if _, err := fmt.Sscanf(text, "%dd", &days); err == nil && fmt.Sprintf("%dd", days) == text && days >= 0 && days < 100_000 {
			return time.Duration(days) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no age: it is a number of days or hours, such as 30d or 12h", text)
}
