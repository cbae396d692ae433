// Package history watches metrics over nights: which runs belong together, control
// charts of each metric against a baseline, change points, and which runs are too old
// to keep.
package history

import (
	"math"
	"slices"
	"time"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A Night is one run in a history.
type Night struct {
	Run   string            `json:"run" doc:"id of the run"`
	Dir   string            `json:"-"`
	At    time.Time         `json:"at" doc:"when the run began, RFC 3339 in UTC"`
	Basis map[string]string `json:"-"` // what a run must share with the nights before to be compared with them
	Items string            `json:"-"` // which questions it asked
	Value ibid.Number       `json:"value" doc:"the metric" null:"undefined"`
	SE    ibid.Number       `json:"se" doc:"sampling error of the value" null:"undefined"`
}

// BaselineNights is how many nights a baseline is made of unless somebody wants
// others.
const BaselineNights = 8

// Options say how a history is watched.
type Options struct {
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
	Watched     bool        `json:"-"` // after the baseline
	Sigma       ibid.Number `json:"sigma" doc:"standard deviation of the night" null:"there is no baseline"`
	EWMA        ibid.Number `json:"ewma" doc:"exponentially weighted moving average" null:"in the baseline, or undefined"`
	Low         ibid.Number `json:"ewma_low" doc:"lower control limit of ewma" null:"in the baseline, or undefined"`
	High        ibid.Number `json:"ewma_high" doc:"upper control limit of ewma" null:"in the baseline, or undefined"`
	EWMASignal  bool        `json:"ewma_signal" doc:"ewma is outside its limits"`
	Up          ibid.Number `json:"cusum_up" unit:"standard deviations" doc:"sum of what is above the baseline" null:"in the baseline, or undefined"`
	Down        ibid.Number `json:"cusum_down" unit:"standard deviations" doc:"sum of what is below the baseline" null:"in the baseline, or undefined"`
	CUSUMSignal bool        `json:"cusum_signal" doc:"one of the sums is beyond its limit"`
}

// A Line is a night with what it is of.
type Line struct {
	Metric   string `col:"metric" doc:"name of the metric"`
	System   string `col:"system" doc:"the system; empty for all systems together"`
	Baseline int    `col:"baseline" doc:"number of the baseline, from 1"`
	ChartedNight
}

// Lines is the table of a history, in CSV.
var Lines = runs.NewTable[Line]("ibid history", "one metric of a run on its control charts")

// Lines are the nights of a series.
func (s *Series) Lines() []Line {
	var all []Line
	for i := range s.Segments {
		for _, n := range s.Segments[i].Nights {
			all = append(all, Line{s.Metric, s.System, i + 1, n})
		}
	}
	return all
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
func Watch(nights []Night, o Options) []Segment {
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
func changed(before, now *Night, o Options) []string {
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

func (s *Segment) chart(o Options) {
	values := make([]ibid.Number, len(s.Nights))
	for i, n := range s.Nights {
		values[i] = n.Value
	}
	s.Change, s.Pettitt = stats.FindChange(values, leastShift), stats.Pettitt(values)
	first, defined := 0, 0
	for first < len(values) && defined < o.Baseline {
		if values[first].Known() {
			defined++
		}
		first++
	}
	s.Baseline = stats.BaselineOf(values[:first])
	s.Complete = defined == o.Baseline
	s.Ready = s.Complete && s.Baseline.Sigma.Known() && s.Baseline.Sigma.Value > 0
	if !s.Ready {
		return
	}
	between, sampling := s.Baseline.Sigma.Value*s.Baseline.Sigma.Value, 0.0
	if o.AnyItems {
		sampling = meanSquare(s.Nights[:first])
		between = max(0, between-sampling)
	}
	standard := make([]ibid.Number, 0, len(values)-first)
	for i := first; i < len(s.Nights); i++ {
		n := &s.Nights[i]
		n.Watched = true
		variance := between + sampling
		if o.AnyItems && n.SE.Known() {
			variance = between + n.SE.Value*n.SE.Value
		}
		n.Sigma = stats.Of(math.Sqrt(variance))
		u := ibid.Number{}
		if n.Value.Known() {
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
		if x.SE.Known() {
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
func (s *Segment) follow(first int, standard []ibid.Number) {
	ewma := stats.StandardEWMA(0, stats.Of(1)).Chart(standard)
	cusum, alarm := stats.StandardCUSUM(0, stats.Of(1)).Chart(standard)
	target := s.Baseline.Mean.Value
	for i := range standard {
		n := &s.Nights[first+i]
		n.EWMASignal, n.CUSUMSignal = ewma[i].Signal, cusum[i].Signal
		n.Up, n.Down = cusum[i].High, cusum[i].Low
		if ewma[i].Mean.Known() {
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
