package metrics

import "ibid"

// Scores holds the numbers of one row. [Scorer.Score] fills it and reuses its
// slices; the zero value is ready for use.
type Scores struct {
	Counts [NumCounts]int64
	Known  [NumCounts]bool // false: the count is not known and Counts holds 0

	Open [NumOpen]int64 // items without a verdict; 0 without a judge

	Values  [NumMetrics]float64     // 0 where undefined
	Reasons [NumMetrics]ibid.Reason // Defined where Values holds a value

	// Low and High are the least and the greatest value that a metric of the row
	// can have, whatever the verdicts are on what of it is unscored; a claim of
	// which nobody said whether it needs a citation is taken to need one. They
	// are given, also of a metric that is undefined because nothing of it is
	// scored, where HasBounds; elsewhere nothing is unscored or the metric has
	// no bounds, and they mean nothing.
	Low, High [NumMetrics]float64
	HasBounds [NumMetrics]bool
	Bounded   bool // some HasBounds is set

	Outcomes []ibid.Outcome // one per claim of the row if the run has a judge, else empty

	// TruthAnnotator is the name of the one annotator whose spans were scored,
	// sharing the memory of the row. HasTruthAnnotator is false if there is no
	// such single annotator, or if it has no name.
	TruthAnnotator    string
	HasTruthAnnotator bool

	// PresenceErr is why citation_presence could not be decided, nil if it was.
	PresenceErr error

	// LimitErr is the limit that the row is over, nil if it is over none. Its values mean
	// nothing then.
	LimitErr error

	Citations []CitationScore // one per citation of the row
}

// A CitationScore says how one citation compares with the truth of its row.
type CitationScore struct {
	// Defined is false if truth is not known or the citation is in no span
	// set; the other fields then mean nothing, and BestTruth is -1.
	Defined bool

	// BestTruth is the index in [Row.Truth] of the best truth span: largest
	// snapped Jaccard, then largest exact Jaccard, then lowest index. It is -1
	// if the citation, widened by the tolerance, overlaps no truth span of its
	// key. Only spans of the scored annotator count; under policy mean, those
	// of all. Under union, majority and intersection the truth spans are runs
	// of combined annotations, and BestTruth is the lowest index of an
	// annotation that overlaps the best run.
	BestTruth int

	Exact, Tolerance, Snapped float64 // Jaccard with the best truth span, in [0, 1]; 0 without one

	// VerdictOf is the citation whose verdict counts for this one: itself, or an
	// identical one. It means nothing without a judge.
	VerdictOf int

	// Concision is how closely the citation points, in (0, 1]: see the formula of
	// citation_quality_score. It is 0 without a judge and under Compat.
	Concision float64
}

// Value returns the value of m; ok is false where m is undefined.
func (s *Scores) Value(m Metric) (value float64, ok bool) {
	return s.Values[m], s.Reasons[m] == ibid.Defined
}

// Fail makes every metric undefined for the given reason and every count unknown, as for a row that could not be read.
func (s *Scores) Fail(why ibid.Reason) {
	var reasons [NumMetrics]ibid.Reason
	for i := range reasons {
		reasons[i] = why
	}
	s.reset(&reasons)
}

// reset forgets all numbers but keeps the memory. Every metric then has the
// given reason and the value 0.
func (s *Scores) reset(reasons *[NumMetrics]ibid.Reason) {
	s.Counts, s.Known, s.Open = [NumCounts]int64{}, [NumCounts]bool{}, [NumOpen]int64{}
	s.Values, s.Reasons = [NumMetrics]float64{}, *reasons
	s.TruthAnnotator, s.HasTruthAnnotator = "", false
	s.Citations = s.Citations[:0]
	s.Outcomes, s.PresenceErr, s.LimitErr = s.Outcomes[:0], nil, nil
	if s.Bounded {
		s.HasBounds, s.Bounded = [NumMetrics]bool{}, false
	}
}

func (s *Scores) count(c Count, n int64) {
	s.Counts[c], s.Known[c] = n, true
}

// An openCount counts open items by class.
type openCount [numOpenClasses]int64

func (n *openCount) all() int64 { return n[OpenUnscored] + n[OpenUndecided] + n[OpenNoText] }

// open counts the open items of a kind.
func (s *Scores) open(kind ItemKind, n openCount) {
	for class := range numOpenClasses {
		s.Open[OpenOf(class, kind)] = n[class]
	}
}

// ratio sets m to num/den, or to undefined for the given reason if den is 0.
func (s *Scores) ratio(m Metric, num, den int64, why ibid.Reason) {
	s.quotient(m, float64(num), float64(den), why)
}

func (s *Scores) quotient(m Metric, num, den float64, why ibid.Reason) {
	if den == 0 {
		s.undefined(m, why)
		return
	}
	s.Values[m], s.Reasons[m] = num/den, ibid.Defined
}

func (s *Scores) binary(m Metric, yes bool) {
	s.Values[m], s.Reasons[m] = 0, ibid.Defined
	if yes {
		s.Values[m] = 1
	}
}

func (s *Scores) undefined(m Metric, why ibid.Reason) {
	s.Values[m], s.Reasons[m] = 0, why
}

// A share counts the items that a metric is a share of. Unscored items are
// open: least and most say how many of them count, however they turn out.
// Revocable items are among yes, and a missing verdict can take them out of it.
type share struct {
	yes, scored int64
	open        openCount
	least, most int64
	revocable   int64
}

// add adds a scored item.
func (h *share) add(yes bool) {
	h.scored++
	if yes {
		h.yes++
	}
}

// addOpen adds an unscored item of a class: whether it counts whatever the verdict, and
// whether it can count.
func (h *share) addOpen(class OpenClass, surely, possibly bool) {
	h.open[class]++
	if surely {
		h.least++
	}
	if possibly {
		h.most++
	}
}

// A mean adds up scores in [0, 1] of items, of which some are unscored.
type mean struct {
	sum    float64
	scored int64
	open   openCount
}

// add adds an item, of that class if it is unscored.
func (a *mean) add(s ibid.Support, class OpenClass) {
	if !s.Known() {
		a.open[class]++
		return
	}
	a.scored++
	a.sum += s.Value
}

// A weighted adds up scores in [0, 1] of items, each of which can add its weight at most.
type weighted struct {
	sum                float64 // of score times weight
	weight, openWeight float64 // of the scored and of the unscored items
	scored, open       int64
}

func (w *weighted) add(score, weight float64) {
	w.scored++
	w.sum += score * weight
	w.weight += weight
}

func (w *weighted) addOpen(weight float64) {
	w.open++
	w.openWeight += weight
}

// A lack says why metrics of judged items have no value.
type lack struct {
	items  ibid.Reason // there is none
	scored ibid.Reason // none is scored
	failed bool        // the row has no verdict: what is scored was not asked about, and alone says nothing
}

// share sets m to the share of the scored items, and its bounds.
func (s *Scores) share(m Metric, h share, why lack) {
	open := h.open.all()
	s.settle(m, float64(h.yes), h.scored, open, why)
	if open+h.revocable > 0 {
		n := float64(h.scored + open)
		s.bound(m, float64(h.yes-h.revocable+h.least)/n, float64(h.yes+h.most)/n)
	}
}

// mean sets m to the mean over the scored items, and its bounds.
func (s *Scores) mean(m Metric, a mean, why lack) {
	open := a.open.all()
	s.settle(m, a.sum, a.scored, open, why)
	if open > 0 {
		n := float64(a.scored + open)
		s.bound(m, a.sum/n, (a.sum+float64(open))/n)
	}
}

// weighted sets m to the mean over all items, and its bounds: unscored items score as
// the scored ones do, each at its own weight.
func (s *Scores) weighted(m Metric, w weighted, why lack) {
	n := float64(w.scored + w.open)
	switch {
	case n == 0:
		s.undefined(m, why.items)
	case w.open > 0 && (why.failed || w.scored == 0), w.weight == 0 && w.openWeight > 0:
		s.undefined(m, why.scored)
	case w.openWeight == 0:
		s.quotient(m, w.sum, n, ibid.Defined)
	default:
		s.quotient(m, w.sum/w.weight*(w.weight+w.openWeight), n, ibid.Defined)
	}
	if w.open > 0 {
		s.bound(m, w.sum/n, (w.sum+w.openWeight)/n)
	}
}

func (s *Scores) settle(m Metric, num float64, scored, open int64, why lack) {
	switch {
	case scored+open == 0:
		s.undefined(m, why.items)
	case scored == 0, why.failed && open > 0:
		s.undefined(m, why.scored)
	default:
		s.quotient(m, num, float64(scored), ibid.Defined)
	}
}

// bound sets the bounds of m.
func (s *Scores) bound(m Metric, low, high float64) {
	s.Low[m], s.High[m], s.HasBounds[m] = low, high, true
	s.Bounded = true
}

// Excuses reports whether the reason for which a metric of a row is undefined says
// nothing of the system: there is nothing to compare with, nothing to cite, nobody to
// judge, too much is undecided, nothing is quoted, or the answer abstains.
func Excuses(why ibid.Reason) bool {
	switch why {
	case ibid.NoTruth, ibid.NothingToCite, ibid.NoJudge, ibid.Abstained, ibid.NoQuotations, ibid.Unsettled:
		return true
	}
	return false
}
