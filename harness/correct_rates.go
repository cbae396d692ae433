package harness

import (
	"fmt"
	"math"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// RoganGladenMethod is how a summary names its corrections by a judge's rates.
const RoganGladenMethod = "rogan-gladen"

// shares are the metrics whose rows have the share of items that a judge calls
// supported, with the kind of question that the judge was asked.
var shares = map[string]string{
	"citation_correctness":   annotations.CitationSupport,
	"citation_quality_score": annotations.CitationSupport,
	"cited_claim_precision":  annotations.ClaimSupport,
}

// CorrectByRates corrects values of the summary that are shares of supported items
// by the judge's sensitivity and specificity on other items, as an older labelled
// run has them (Rogan & Gladen). The correction is linear, so a mean of the rows'
// shares is corrected as a share of all items is.
func CorrectByRates(rates map[string]annotations.Rates, summary []runs.SummaryRow) {
	forget(summary, RoganGladenMethod)
	for i := range summary {
		row := &summary[i]
		of, known := rates[shares[row.Metric]]
		if !known || row.Slice != "" || row.Estimate == nil {
			continue
		}
		p, n := *row.Estimate, effective(row)
		e := of.Corrected(p*n, n, row.Level)
		if !e.Value.Defined || !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d labels", RoganGladenMethod, of.Labels)
	}
}

// effective is how many independent items would give a share the standard error
// that it has, whose items share rows, questions and documents. Where its interval
// tells none, every cluster counts as one item.
func effective(row *runs.SummaryRow) float64 {
	n := float64(row.Clusters)
	if se, ok := standardError(row); ok {
		n = *row.Estimate * (1 - *row.Estimate) / (se * se)
	}
	if row.Agg == runs.Micro {
		n = min(n, *row.Den)
	}
	return n
}

// standardError is that of a share in (0, 1), read off its interval as if that were
// normal; Student's are wider, which errs on the safe side. Intervals of micro
// values are symmetric on the logit scale.
func standardError(row *runs.SummaryRow) (se float64, ok bool) {
	p := *row.Estimate
	if row.Low == nil || p <= 0 || p >= 1 {
		return 0, false
	}
	se = (*row.High - *row.Low) / 2
	if row.Agg == runs.Micro {
		if *row.Low <= 0 || *row.High >= 1 {
			return 0, false
		}
		logit := func(v float64) float64 { return math.Log(v / (1 - v)) }
		se = p * (1 - p) * (logit(*row.High) - logit(*row.Low)) / 2
	}
	se /= stats.NormalQuantile(row.Level)
	return se, se > 0
}
