package runs

import (
	"fmt"
	"slices"
	"strconv"

	"ibid"
	"ibid/metrics"
)

// A FewDefined is a metric that is known of too little of the rows.
type FewDefined struct {
	Metric  string
	Defined float64 // rows
	Rows    int64   // that count
	Why     string  // the commonest reason
	NoText  bool    // rows count in part, because claims of theirs cite no known text
}

// RowsText prints the rows that have the metric, of which some may count in part.
func (f *FewDefined) RowsText() string { return strconv.FormatFloat(f.Defined, 'g', 4, 64) }

// Metrics that are often undefined by their definition, so that it says nothing of the
// data.
var oftenUndefined = []string{"boundary_error_start", "boundary_error_end", "consistency_variance", "alce_precision"}

// commonest is the reason, of those that count, that most rows have which lack a metric; "" of
// none.
func commonest(reasons map[string]int64, counts func(why ibid.Reason) bool) string {
	most := ""
	for why, n := range reasons {
		if counts(ibid.ReasonOf(why)) && (most == "" || n > reasons[most] || n == reasons[most] && why < most) {
			most = why
		}
	}
	return most
}

// MostReason says for which reason most rows lack the metric, as the end of a sentence; "" if none does.
func (r *SummaryRow) MostReason() string {
	if why := commonest(r.Reasons, func(ibid.Reason) bool { return true }); why != "" {
		return ", most because of " + why
	}
	return ""
}

// FewDefined is how much of the rows that count has the metric, and whether that is too little: rows that lack it for a reason that says nothing of the system do
// not count.
func (r *SummaryRow) FewDefined() (FewDefined, bool) {
	if r.DefinedShare == nil || *r.DefinedShare >= metrics.MinDefined || slices.Contains(oftenUndefined, r.Metric) {
		return FewDefined{}, false
	}
	all := r.N + r.Undefined
	f := FewDefined{Metric: r.Metric, Defined: float64(r.N), Rows: all}
	for why, n := range r.Reasons {
		if metrics.Excuses(ibid.ReasonOf(why)) {
			f.Rows -= n
		}
	}
	f.Why = commonest(r.Reasons, func(why ibid.Reason) bool { return !metrics.Excuses(why) })
	if share := *r.DefinedShare; share < f.Defined/float64(all) { // some rows count in part
		f.Defined, f.NoText = share*float64(all), true
	}
	return f, f.Rows > 0 && f.Defined < metrics.MinDefined*float64(f.Rows)
}

// TooFewDefined says why the metric is known of too few rows to be judged by, "" if it is not.
func (r *SummaryRow) TooFewDefined() string {
	f, few := r.FewDefined()
	if !few {
		return ""
	}
	text := fmt.Sprintf("defined for %s of %d rows, below min_defined %v", f.RowsText(), f.Rows, metrics.MinDefined)
	switch {
	case f.Why != "":
		text += fmt.Sprintf(": %d have %s", r.Reasons[f.Why], f.Why)
	case f.NoText:
		text += ": claims that cite no known text do not count"
	}
	return text
}
