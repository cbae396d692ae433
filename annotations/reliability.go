package annotations

import (
	"fmt"
	"math"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Verdicts on whether people, or a judge, can be relied on. One statistic decides for each
// kind of data: mean Jaccard of characters for marks, ordinal alpha for labels with an order,
// nominal alpha for others, balanced accuracy for a judge against people. The others have
// none, so that no two of them say different things.
const (
	Reliable   = "reliable"   // the interval's low end reaches the target
	Unreliable = "unreliable" // its high end does not
	Undecided  = "undecided"  // neither, or nothing can be told; then a warning says why
)

// ReliableTarget is the target of what decides: Krippendorff's (2004) of alpha.
const ReliableTarget = 0.8

// prevalentLabels is the share of one value above which alpha says little: it falls to 0
// although people agree (Feinstein & Cicchetti 1990).
const prevalentLabels = 0.9

// A ruling is what follows from a deciding statistic.
type ruling struct {
	verdict string
	need    *int64 // items that would decide; nil if unknown, or above mostNeeded
	why     string // why it is undecided whatever the interval; "" otherwise
}

// mostNeeded is the largest number of items that would decide, as a multiple of the items
// measured. A larger estimate is too uncertain to print.
const mostNeeded = 10

// rule is the verdict on an estimate whose best value is 1.
//
// Undecided names the items after which an interval would leave the target out, if the
// estimate stays where it is and the interval's half on the side of the target shrinks with
// the square root of the number of items (Cochran 1977, Sampling Techniques, chapter 4).
// Where all documents agree wholly nothing varies; then it is reliable if even Wilson's
// upper bound of 0 among the documents, taken as documents that agree by chance alone, would
// leave it at the target.
func rule(e *stats.Estimate, items, documents int64, target float64) ruling {
	few := slices.ContainsFunc(e.Warnings, func(w stats.Warning) bool { return w.Code == stats.FewClusters || w.Code == stats.OneUnit })
	clusters := stats.ClustersNeeded(e.Level)
	perDocument := float64(items) / float64(max(documents, 1))
	undecided := func(need float64, why string) ruling {
		if need = math.Ceil(need); need > float64(items*mostNeeded) || need <= 0 {
			return ruling{verdict: Undecided, why: why}
		}
		return ruling{Undecided, new(int64(max(need, float64(items)+1))), why}
	}
	switch {
	case !e.Defined():
		return undecided(0, "undefined")
	case e.Value == 1 && (few || e.Degenerate || !e.HasInterval || e.Low == 1):
		z := stats.NormalQuantile(e.Level)
		need := z * z * target / (1 - target)
		if float64(documents) >= need {
			return ruling{verdict: Reliable}
		}
		return undecided(need*perDocument, "")
	case few || documents < clusters: // as many as an interval needs need not decide
		return undecided(0, fmt.Sprintf("fewer than %d documents", clusters))
	case !e.HasInterval || e.Degenerate:
		return undecided(0, "no interval")
	case e.Low >= target:
		return ruling{verdict: Reliable}
	case e.High < target:
		return ruling{verdict: Unreliable}
	case e.Value == target:
		return undecided(0, "")
	}
	half := e.Value - e.Low
	if e.Value < target {
		half = e.High - e.Value
	}
	shrink := half / math.Abs(e.Value-target)
	return undecided(float64(items)*shrink*shrink, "")
}

// put puts a ruling into the row of the deciding statistic.
func (r *ruling) put(row *runs.AgreementRow, target float64) {
	row.Target, row.Verdict, row.Need = new(target), r.verdict, r.need
	if r.why != "" {
		row.Warnings = append(row.Warnings, "undecided: "+r.why)
	}
}

// decidesLabels rules on labels. prevalent is the share of the most frequent value.
func decidesLabels(row *runs.AgreementRow, e *stats.Estimate, prevalent float64) {
	r := rule(e, row.Items, row.Documents, ReliableTarget)
	switch {
	case !e.Defined():
		r = ruling{verdict: Undecided, why: "nothing varies, so that agreement cannot be told from chance; see ac1"}
	case prevalent > prevalentLabels:
		r = ruling{verdict: Undecided, why: fmt.Sprintf("%.0f %% of the labels have one value, of which alpha says little; see ac1", math.Floor(100*prevalent))}
	}
	r.put(row, ReliableTarget)
}

// decide rules on marks; telling are the documents in which anybody marked anything. Below
// the threshold of quality control annotators should meet.
func (q *Quality) decide(row *runs.AgreementRow, e *stats.Estimate, telling int64) {
	r := rule(e, row.Items, telling, q.Target)
	r.put(row, q.Target)
	if e.Defined() && e.Value < q.Recalibrate {
		row.Warnings = append(row.Warnings, fmt.Sprintf("below %g: annotators should meet", q.Recalibrate))
	}
}
