package annotations

import (
	"fmt"
	"math"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Verdicts on whether people, or a judge, can be relied on. One statistic decides for each
// kind of data: alpha over characters for marks, ordinal alpha for labels with an order,
// nominal alpha for others, balanced accuracy for a judge against people. The others have
// none, so that no two of them say different things.
const (
	Reliable   = "reliable"   // the interval's low end reaches the target
	Unreliable = "unreliable" // its high end does not
	Undecided  = "undecided"  // neither, or there is no interval that can be trusted
	NoVerdict  = "no verdict" // the statistic is undefined, or says little about such labels
)

// ReliableTarget is the target of what decides: Krippendorff's (2004) of alpha.
const ReliableTarget = 0.8

// prevalentLabels is the share of one value above which alpha says little: it falls to 0
// although people agree (Feinstein & Cicchetti 1990).
const prevalentLabels = 0.9

// A ruling is what follows from a deciding statistic.
type ruling struct {
	verdict string
	need    *int64 // items that would decide; nil if that is not known
}

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
	switch {
	case !e.Defined():
		return ruling{verdict: NoVerdict}
	case e.Value == 1 && (few || e.Degenerate || !e.HasInterval || e.Low == 1):
		z := stats.NormalQuantile(e.Level)
		need := z * z * target / (1 - target)
		if float64(documents) >= need {
			return ruling{verdict: Reliable}
		}
		return ruling{Undecided, new(int64(math.Ceil(need * perDocument)))}
	case few || documents < clusters || !e.HasInterval || e.Degenerate: // as many as an interval needs need not decide
		return ruling{verdict: Undecided}
	case e.Low >= target:
		return ruling{verdict: Reliable}
	case e.High < target:
		return ruling{verdict: Unreliable}
	case e.Value == target:
		return ruling{verdict: Undecided}
	}
	half := e.Value - e.Low
	if e.Value < target {
		half = e.High - e.Value
	}
	shrink := half / math.Abs(e.Value-target)
	if need := math.Ceil(float64(items) * shrink * shrink); need < math.MaxInt32 {
		return ruling{Undecided, new(int64(max(need, float64(items)+1)))}
	}
	return ruling{verdict: Undecided}
}

// decides puts the verdict of a deciding statistic into its row. prevalent is the share of
// the most frequent label, 0 for marks.
//
// telling are the documents that say something about it.
func decides(row *runs.AgreementRow, e *stats.Estimate, telling int64, prevalent float64) {
	r := rule(e, row.Items, telling, ReliableTarget)
	switch {
	case r.verdict == NoVerdict:
		row.Warnings = append(row.Warnings, "nothing varies, so that agreement cannot be told from chance: no verdict; see ac1")
	case prevalent > prevalentLabels:
		r = ruling{verdict: NoVerdict}
		row.Warnings = append(row.Warnings, fmt.Sprintf("%.0f %% of the labels have one value: alpha says little, so there is no verdict; see ac1", math.Floor(100*prevalent)))
	}
	row.Target, row.Verdict, row.Need = new(ReliableTarget), r.verdict, r.need
}

// meet is the target of raw agreement on marks, which has no verdict, and what quality
// control asks for below its threshold.
func (q *Quality) meet(row *runs.AgreementRow, e *stats.Estimate) {
	row.Target = new(q.Target)
	if e.HasInterval && e.Low < q.Recalibrate {
		row.Warnings = append(row.Warnings, fmt.Sprintf("may be below %g: annotators should meet", q.Recalibrate))
	}
}
