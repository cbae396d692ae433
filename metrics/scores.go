package metrics

// Scores holds the numbers of one row. [Scorer.Score] fills it and reuses its
// slices; the zero value is ready for use.
type Scores struct {
	Counts [NumCounts]int64
	Known  [NumCounts]bool // false: the count is not known and Counts holds 0

	Sums     []float64 // one per sum, see [SumDefinitions]
	SumKnown []bool    // false: not known and Sums holds 0

	Values  []float64 // one per metric, see [Definitions]; 0 where undefined
	Reasons []Reason  // one per metric; Defined where Values holds a value

	// Low and High are the least and the greatest value that a metric of the row
	// can have, whatever the verdicts are on what of it is unscored; a claim of
	// which nobody said whether it needs a citation is taken to need one. They
	// are given, also of a metric that is undefined because nothing of it is
	// scored, where HasBounds; elsewhere nothing is unscored or the metric has
	// no bounds, and they mean nothing.
	Low, High []float64
	HasBounds []bool

	// Components names the components of the overall score, separated by
	// commas: those of the run, the same in every row that was scored.
	Components string

	Outcomes []Outcome // one per claim of the row if the run has a judge, else empty

	// TruthAnnotator is the name of the one annotator whose spans were scored,
	// sharing the memory of the row. HasTruthAnnotator is false if there is no
	// such single annotator, or if it has no name.
	TruthAnnotator    string
	HasTruthAnnotator bool

	// PresenceErr is why citation_presence could not be decided, nil if it was.
	PresenceErr error

	Citations []CitationScore // one per citation of the row

	bounded bool // some HasBounds is set
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
}

// Value returns the value of m; ok is false where m is undefined.
func (s *Scores) Value(m Metric) (value float64, ok bool) {
	return s.Values[m], s.Reasons[m] == Defined
}

// Fail makes every metric undefined for the given reason and every count and
// sum unknown, as for a row that could not be read.
func (s *Scores) Fail(why Reason) {
	reasons := make([]Reason, NumMetrics())
	for i := range reasons {
		reasons[i] = why
	}
	s.reset(reasons, NumSums())
}

// reset forgets all numbers but keeps the memory. Every metric then has the
// given reason and the value 0.
func (s *Scores) reset(reasons []Reason, sums int) {
	if metrics := len(reasons); len(s.Values) != metrics || len(s.Sums) != sums {
		s.Values, s.Reasons = make([]float64, metrics), make([]Reason, metrics)
		s.Sums, s.SumKnown = make([]float64, sums), make([]bool, sums)
		s.Low, s.High, s.HasBounds = make([]float64, metrics), make([]float64, metrics), make([]bool, metrics)
	}
	s.Counts, s.Known = [NumCounts]int64{}, [NumCounts]bool{}
	clear(s.Sums)
	clear(s.SumKnown)
	clear(s.Values)
	copy(s.Reasons, reasons)
	s.TruthAnnotator, s.HasTruthAnnotator = "", false
	s.Citations = s.Citations[:0]
	s.Components, s.Outcomes, s.PresenceErr = "", s.Outcomes[:0], nil
	if s.bounded {
		clear(s.HasBounds)
		s.bounded = false
	}
}

func (s *Scores) count(c Count, n int64) {
	s.Counts[c], s.Known[c] = n, true
}

func (s *Scores) sum(x Sum, v float64) {
	s.Sums[x], s.SumKnown[x] = v, true
}

// ratio sets m to num/den, or to undefined for the given reason if den is 0.
func (s *Scores) ratio(m Metric, num, den int64, why Reason) {
	s.quotient(m, float64(num), float64(den), why)
}

func (s *Scores) quotient(m Metric, num, den float64, why Reason) {
	if den == 0 {
		s.undefined(m, why)
		return
	}
	s.Values[m], s.Reasons[m] = num/den, Defined
}

func (s *Scores) binary(m Metric, yes bool) {
	s.Values[m], s.Reasons[m] = 0, Defined
	if yes {
		s.Values[m] = 1
	}
}

func (s *Scores) undefined(m Metric, why Reason) {
	s.Values[m], s.Reasons[m] = 0, why
}
