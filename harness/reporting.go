package harness

import (
	"slices"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// Groups of metrics that are details of how spans match, and metrics that say
// which claims are hallucinated and how, beyond the rate.
var (
	spanDetails          = []string{"best matches", "matched spans"}
	hallucinationDetails = []string{"contradiction_rate", "contradicted_claims", "hallucinated_claims"}
)

// withhold leaves out of a summary what the settings do not want reported. What
// overall scores and gates of the specification are made of stays.
func withhold(rows []runs.SummaryRow, want *configs.Reporting) []runs.SummaryRow {
	rows = slices.DeleteFunc(rows, func(r runs.SummaryRow) bool {
		d, ok := metrics.Lookup(r.Metric)
		return !want.DetailedSpanAnalysis && ok && slices.Contains(spanDetails, d.Group) ||
			!want.HallucinationDetails && slices.Contains(hallucinationDetails, r.Metric)
	})
	if !want.ConfidenceIntervals {
		for i := range rows {
			r := &rows[i]
			r.Low, r.High, r.CorrectedLow, r.CorrectedHigh, r.Method, r.Warnings = nil, nil, nil, nil, "", nil
		}
	}
	return rows
}
