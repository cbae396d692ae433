package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// SummaryFile is the file of a run with its numbers.
const SummaryFile = "summary.parquet"

// The two ways of aggregating a metric over rows.
const (
	Macro = "macro" // mean of the rows' values
	Micro = "micro" // quotient of sums over rows
)

// A SummaryRow is one number of a run's summary: a metric over the rows of one
// system and slice. Fields that are not defined are nil.
type SummaryRow struct {
	System string `json:"system" doc:"the system; empty for the rows of all systems together"`
	Slice  string `json:"slice" doc:"key=value of the rows; empty for all rows"`
	Metric string `json:"metric" doc:"name of the metric or count"`
	Agg    string `json:"agg" doc:"macro: mean of the rows' values; micro: quotient of sums over rows"`

	N         int64    `json:"n" unit:"rows" doc:"rows where the metric is defined"`
	Num       *float64 `json:"num" doc:"numerator of a micro value" null:"a macro value"`
	Den       *float64 `json:"den" doc:"denominator of a micro value" null:"a macro value"`
	Undefined int64    `json:"undefined" unit:"rows" doc:"rows where the metric is not defined"`
	Unscored  int64    `json:"unscored" unit:"items" doc:"items that should have been judged and were not"`
	Coverage  *float64 `json:"coverage" range:"[0, 1]" doc:"share of the items to be judged that were" null:"the metric needs no judge"`

	Estimate *float64 `json:"estimate" doc:"the value" null:"undefined: no row has a value, or reason says why"`
	Low      *float64 `json:"ci_low" doc:"lower end of the confidence interval of the estimate" null:"no interval"`
	High     *float64 `json:"ci_high" doc:"upper end of the confidence interval of the estimate" null:"no interval"`
	Level    float64  `json:"level" range:"(0, 1)" doc:"confidence level of all intervals of the row" null:"never"`
	Method   string   `json:"method" doc:"how the interval was computed" null:"no interval"`
	Clusters int64    `json:"clusters" unit:"clusters" doc:"independent documents, or rows without, that the standard error rests on, rounded"`

	BoundLow  *float64 `json:"bound_low" doc:"the estimate if every unscored item were the worst" null:"nothing is unscored, or the bound is not known"`
	BoundHigh *float64 `json:"bound_high" doc:"the estimate if every unscored item were the best" null:"nothing is unscored, or the bound is not known"`

	Corrected       *float64 `json:"corrected" doc:"the estimate, corrected for the errors of the judge by people's labels" null:"not corrected"`
	CorrectedLow    *float64 `json:"corrected_low" doc:"lower end of the interval of the corrected estimate" null:"not corrected"`
	CorrectedHigh   *float64 `json:"corrected_high" doc:"upper end of the interval of the corrected estimate" null:"not corrected"`
	CorrectedMethod string   `json:"corrected_method" doc:"how the estimate was corrected" null:"not corrected"`

	Warnings ListOf[string] `json:"warnings" doc:"what a reader of the number must know"`

	DefinedShare *float64 `json:"defined_share" range:"[0, 1]" doc:"share of the rows where the metric is defined; a row some of whose claims or citations have no known text counts by the share of the others" null:"there are no rows"`

	SE           *float64 `json:"se" doc:"standard error of the estimate" null:"no interval"`
	DF           *float64 `json:"df" doc:"degrees of freedom of the interval" null:"no interval, or no row differs"`
	DesignEffect *float64 `json:"design_effect" doc:"variance of the estimate over that of independent rows" null:"no interval, or no row differs"`
	Given        int32    `json:"given" unit:"documents" doc:"documents that nearly all rows touch, so that the interval says nothing of others" null:"never"`

	Reason string `json:"reason" doc:"why there is no estimate although there are verdicts: selective, their mean lies outside the bounds; undecided, more than 1 - min_coverage of the claims or citations are" null:"there is an estimate, or nothing to make one of"`

	Reasons   map[string]int64 `json:"reasons" unit:"rows" doc:"rows without a value of their own, by the reason; those that count as worst are among them" null:"a count, or all rows have a value"`
	Undecided int64            `json:"undecided" unit:"items" doc:"items that were judged, and what was read cannot settle them"`
}

// What a [SummaryRow.Reason] is. Selective: only rows of one kind have the metric, for the mean
// over these rows lies outside the bounds over all. Undecided: too many of its items are.
const Selective = "selective"

var Undecided = ibid.Undecided.String()

// selectiveSlack is how far a mean may lie outside its bounds by rounding.
const selectiveSlack = 1e-9

// IsSelective reports whether the mean over rows with a value lies outside the bounds.
func IsSelective(mean, low, high float64) bool {
	return mean < low-selectiveSlack || mean > high+selectiveSlack
}

// Withhold takes the estimate and the interval away from a row, and says why: Selective or
// Undecided. Bounds stay.
func (r *SummaryRow) Withhold(reason string) {
	r.Estimate, r.Low, r.High, r.SE, r.DF, r.DesignEffect, r.Method = nil, nil, nil, nil, nil, nil, ""
	r.Reason, r.Warnings = reason, ListOf[string]{WithheldText(reason, r.BoundLow, r.BoundHigh)}
}

// WithheldText says what a reason of [SummaryRow.Withhold] means, and the bounds unless they are
// nil: a sentence without its full stop.
func WithheldText(reason string, low, high *float64) string {
	why := "only rows of one kind were scored"
	if reason == Undecided {
		why = "too much is undecided"
	}
	if low == nil {
		return why + ": no estimate"
	}
	return fmt.Sprintf("%s: between %.3f and %.3f, no estimate", why, *low, *high)
}

// Summary is the table of summary.parquet.
var Summary = NewTable[SummaryRow](SummaryFile, "one number: a metric over the rows of one system and slice")

// CompareSummary orders rows as the file does.
func CompareSummary(a, b SummaryRow) int {
	return cmp.Or(cmp.Compare(a.System, b.System), cmp.Compare(a.Slice, b.Slice),
		cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Agg, b.Agg))
}

// Interval is the interval of a value of a metric, as the mean of the rows' values or, if
// micro, as the quotient of sums, from its spread. Every summary and comparison takes its
// interval from here.
func Interval(d *metrics.Definition, value float64, s *stats.Spread, micro bool, level float64) stats.Estimate {
	low, high := Bounds(d, micro)
	return s.Within(value, low, high, level)
}

// Bounds are the ends between which a value of a metric lies, infinite where it has none: a
// quotient of sums has those of the metric only if they are 0 and 1.
func Bounds(d *metrics.Definition, micro bool) (low, high float64) {
	if micro && d.Kind != metrics.Binary && (d.Min != 0 || d.Max != 1) {
		return math.Inf(-1), math.Inf(1)
	}
	return d.Min, d.Max
}

// Fill takes over what an estimator says.
func (r *SummaryRow) Fill(e *stats.Estimate) {
	r.Level, r.Clusters = e.Level, e.Clusters
	if e.Defined() {
		r.Estimate = new(e.Value)
	}
	if e.HasInterval {
		r.Low, r.High, r.Method = new(e.Low), new(e.High), string(e.Method)
		if e.HasSE {
			r.SE = new(e.SE)
		}
		r.DF, r.DesignEffect = e.DF.Pointer(), e.Effect.Pointer()
	}
	r.Given = int32(len(e.Given))
	for _, w := range e.Warnings {
		r.Warnings = append(r.Warnings, w.Text)
	}
}

// A SummaryKey says what a row of a summary is about.
type SummaryKey struct{ System, Slice, Metric, Agg string }

// ReadSummaryOf reads the rows of the summary of the finished run in dir whose keys fit, which
// is asked of each in file order: a run of many slices has millions of rows.
func ReadSummaryOf(dir string, fits func(k SummaryKey) bool) ([]SummaryRow, error) {
	f, err := OpenFrame(filepath.Join(dir, SummaryFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wanted := []int64{}
	err = f.Each(func(b *Block) error {
		system, slice, metric, agg := b.Texts("system"), b.Texts("slice"), b.Texts("metric"), b.Texts("agg")
		for i := range b.Len() {
			if fits(SummaryKey{system[i], slice[i], metric[i], agg[i]}) {
				wanted = append(wanted, b.First+int64(i))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := make([]SummaryRow, 0, len(wanted)) // not twice as many: thousands of systems have them
	shared := make(sharedReasons)
	err = Summary.scan(f, nil, wanted, func(_ int64, r *SummaryRow) error {
		r.Reasons = shared.of(r.Reasons)
		rows = append(rows, *r)
		return nil
	})
	return rows, err
}

// sharedReasons are maps by what they hold: thousands of rows lack a metric for the same reasons.
type sharedReasons map[string]map[string]int64

func (s sharedReasons) of(reasons map[string]int64) map[string]int64 {
	if reasons == nil {
		return nil
	}
	var key []byte
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		key = strconv.AppendInt(append(key, why...), reasons[why], 10)
	}
	if _, ok := s[string(key)]; !ok {
		s[string(key)] = reasons
	}
	return s[string(key)]
}

// WholeSystems is what fits numbers over all rows of systems, without slices.
func WholeSystems(k SummaryKey) bool { return k.Slice == "" }

// SummaryFields lists what the summary of the run in dir is grouped by: system, and the
// keys of its slices.
func SummaryFields(dir string) ([]string, error) {
	fields := []string{"system"}
	_, err := ReadSummaryOf(dir, func(k SummaryKey) bool {
		if key, _, ok := strings.Cut(k.Slice, "="); ok && !slices.Contains(fields, key) {
			fields = append(fields, strings.Clone(key))
		}
		return false
	})
	return fields, err
}

// ReplaceSummary replaces rows of the summary of the finished run in dir by others of the
// same keys.
func ReplaceSummary(dir string, rows []SummaryRow) error {
	by := make(map[SummaryKey]*SummaryRow, len(rows))
	for i := range rows {
		r := &rows[i]
		by[SummaryKey{r.System, r.Slice, r.Metric, r.Agg}] = r
	}
	return Summary.WriteEach(dir, func(yield func(*SummaryRow) error) error {
		return Summary.Scan(dir, nil, func(_ int64, r *SummaryRow) error {
			return yield(cmp.Or(by[SummaryKey{r.System, r.Slice, r.Metric, r.Agg}], r))
		})
	})
}
