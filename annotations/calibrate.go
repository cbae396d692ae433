package annotations

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ibid/metrics/stats"
)

// A Verdict is what people and a judge said of one item.
type Verdict struct {
	Item    string
	Cluster string  // its document
	Human   float64 // what people said, one value
	Judge   float64 // the judge's score
}

// CalibrateOptions say how a judge is measured.
type CalibrateOptions struct {
	Options
	Threshold float64 // from which on the judge's score is a yes
	Positive  float64 // from which on people's value is a yes
	Bins      int     // of the calibration curve
}

// folds is into how many parts the documents are put to choose a threshold.
const folds = 5

// A CalibrationRow is one number about a judge. Fields that are not defined are
// nil.
type CalibrationRow struct {
	Statistic string
	Estimate  *float64
	Low, High *float64
	Method    string // of the interval
	Items     int64  // that it rests on
	Warnings  []string
}

// A CalibrationBin is the items of a calibration curve whose scores lie close
// together.
type CalibrationBin struct {
	Index        int // from 0
	Count        int64
	MeanScore    float64
	PositiveRate float64  // share of the items that people call positive
	Low, High    *float64 // its interval; nil for items of one document
}

// A Calibration is what a judge's scores of one kind of question are worth.
type Calibration struct {
	Kind       string // of question
	Judge      string
	Items      int64
	Documents  int64
	Threshold  float64
	Positive   float64
	Confusion  stats.Confusion
	Statistics []CalibrationRow
	Bins       int              // of the curves, also those without items
	EqualWidth []CalibrationBin // those that have items; none if scores lie outside [0, 1]
	EqualMass  []CalibrationBin
	Best       *BestThreshold // nil if one side has one verdict only
	Isotonic   *Recalibration // nil for too few items
	Noise      *Noise         // nil unless the judge was asked more than once
	Level      float64
	Warnings   []string
}

// Statistic finds a number by its name; one that was not measured is not defined.
func (c *Calibration) Statistic(name string) CalibrationRow {
	for _, r := range c.Statistics {
		if r.Statistic == name {
			return r
		}
	}
	return CalibrationRow{Statistic: name}
}

// A BestThreshold is the threshold with the highest balanced accuracy. HeldOut is
// what it reaches on documents that it was not chosen on.
type BestThreshold struct {
	Threshold        float64
	HeldOut          stats.Confusion
	BalancedAccuracy stats.Number // held out
}

// A Recalibration maps scores to the share of positive items, fitted on one half
// of the documents and reported on the other.
type Recalibration struct {
	X, Fitted               []float64
	FittedOn, ReportedOn    int64 // items
	ECEBefore, ECEAfter     stats.Number
	BrierBefore, BrierAfter stats.Number
}

// Noise splits the variance of a judge's scores: how much the same item varies
// when it is judged again, and how much items differ.
type Noise struct {
	Items, Judgments int64
	Judge            float64 // variance of one judgment of an item
	Sample           float64 // variance of the items' means, without what judging again adds to it
}

// Calibrate measures a judge on items of one kind.
func Calibrate(kind, judge string, items []Verdict, o CalibrateOptions) *Calibration {
	slices.SortStableFunc(items, func(a, b Verdict) int { return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Item, b.Item)) })
	c := &Calibration{Kind: kind, Judge: judge, Items: int64(len(items)), Threshold: o.Threshold, Positive: o.Positive, Bins: o.Bins, Level: o.Level}
	sums := newClusterSums(4)
	scores, human := make([]float64, len(items)), make([]float64, len(items))
	positive := make([]bool, len(items))
	unit := true
	for i, it := range items {
		scores[i], human[i], positive[i] = it.Judge, it.Human, it.Human >= o.Positive
		unit = unit && it.Judge >= 0 && it.Judge <= 1
		c.Confusion.Add(positive[i], it.Judge >= o.Threshold)
		sums.of(it.Cluster, false)[cell(positive[i], it.Judge >= o.Threshold)]++
	}
	c.Documents = sums.documents()
	c.confusionRows(sums, &o.Options)
	c.add("auroc", stats.AUROC(scores, positive).Pointer(), nil, "", c.Items)
	c.correlations(scores, human)
	if unit && len(items) > 0 {
		width, mass := stats.EqualWidth(scores, positive, o.Bins), stats.EqualMassWhole(scores, positive, o.Bins)
		c.EqualWidth, c.EqualMass = c.curve(&width, items, positive), c.curve(&mass, items, positive)
		c.add("brier", width.Brier.Pointer(), nil, "", c.Items)
		c.add("ece", width.ECE.Pointer(), nil, "", c.Items)
		c.add("ece_equal_mass", mass.ECE.Pointer(), nil, "", c.Items)
		c.Isotonic = recalibrate(items, positive, o)
	}
	c.Best = bestThreshold(items, positive)
	if c.Documents < c.Items {
		c.Warnings = append(c.Warnings, "items share documents: intervals are over documents")
	}
	return c
}

// A confusion is laid out in this order.
const (
	cellTP = iota
	cellFP
	cellFN
	cellTN
)

// cell is the place of an item in a confusion.
func cell(human, judge bool) int {
	switch {
	case human && judge:
		return cellTP
	case judge:
		return cellFP
	case human:
		return cellFN
	}
	return cellTN
}

func confusionOf(s []float64) stats.Confusion {
	return stats.Confusion{TP: int64(s[cellTP]), FP: int64(s[cellFP]), FN: int64(s[cellFN]), TN: int64(s[cellTN])}
}

// curve takes over the bins of a calibration, with intervals over documents.
func (c *Calibration) curve(of *stats.Calibration, items []Verdict, positive []bool) []CalibrationBin {
	var out []CalibrationBin
	for _, b := range of.Bins {
		sums := newClusterSums(2)
		for _, i := range b.Items {
			at := sums.of(items[i].Cluster, false)
			at[1]++
			if positive[i] {
				at[0]++
			}
		}
		bin := CalibrationBin{Index: b.Index, Count: b.Count, MeanScore: b.MeanScore, PositiveRate: b.PositiveRate}
		if e := sums.share([]int{0}, []int{1}, c.Level); e.HasInterval {
			bin.Low, bin.High = new(e.Low), new(e.High)
		}
		out = append(out, bin)
	}
	return out
}

func (c *Calibration) add(name string, estimate *float64, e *stats.Estimate, method string, items int64) {
	row := CalibrationRow{Statistic: name, Estimate: estimate, Items: items}
	if e != nil && e.HasInterval {
		row.Low, row.High, row.Method = new(e.Low), new(e.High), method
	}
	if e != nil {
		for _, w := range e.Warnings {
			row.Warnings = append(row.Warnings, w.Text)
		}
	}
	c.Statistics = append(c.Statistics, row)
}

// confusionRows adds what the confusion says. Shares have Wilson's interval, over
// the documents where items share them; for all that is no share documents are
// resampled.
func (c *Calibration) confusionRows(sums *clusterSums, o *Options) {
	at := c.Confusion
	share := func(name string, hits, of []int, items int64) {
		e := sums.share(hits, of, o.Level)
		var value *float64
		if e.Defined() {
			value = new(e.Value)
		}
		c.add(name, value, &e, string(e.Method), items)
	}
	number := func(name string, f func(stats.Confusion) stats.Number) {
		e := sums.estimate(o, []int{0, 1, 2, 3}, func(s []float64) (float64, bool) { return optional(f(confusionOf(s))) })
		c.add(name, f(at).Pointer(), &e, string(e.Method), at.N())
	}
	share("sensitivity", []int{cellTP}, []int{cellTP, cellFN}, at.TP+at.FN)
	share("specificity", []int{cellTN}, []int{cellTN, cellFP}, at.TN+at.FP)
	share("precision", []int{cellTP}, []int{cellTP, cellFP}, at.TP+at.FP)
	share("negative_predictive_value", []int{cellTN}, []int{cellTN, cellFN}, at.TN+at.FN)
	share("accuracy", []int{cellTP, cellTN}, []int{cellTP, cellFP, cellFN, cellTN}, at.N())
	number("balanced_accuracy", stats.Confusion.BalancedAccuracy)
	number("f1", stats.Confusion.F1)
	number("kappa", stats.Confusion.Kappa)
	number("mcc", stats.Confusion.MCC)
}

func (c *Calibration) correlations(scores, human []float64) {
	for _, x := range []struct {
		name, method string
		stats.Correlation
	}{
		{"pearson", "fisher-z", stats.Pearson(scores, human, c.Level)},
		{"spearman", "bonett-wright", stats.Spearman(scores, human, c.Level)},
	} {
		row := CalibrationRow{Statistic: x.name, Estimate: x.Value.Pointer(), Items: x.N}
		if c.Documents == c.Items && x.Defined() {
			row.Low, row.High, row.Method = x.Low.Pointer(), x.High.Pointer(), x.method
		}
		c.Statistics = append(c.Statistics, row)
	}
}

// foldOf puts the items of a document into the same part.
func foldOf(cluster string, parts uint64) uint64 { return stats.Key("fold\x00"+cluster) % parts }

// bestThreshold chooses a threshold on all items, and says what thresholds that
// were chosen in the same way on four parts of five reach on the fifth.
func bestThreshold(items []Verdict, positive []bool) *BestThreshold {
	var held stats.Confusion
	for part := range uint64(folds) {
		var train []int
		for i := range items {
			if foldOf(items[i].Cluster, folds) != part {
				train = append(train, i)
			}
		}
		t, ok := chooseThreshold(items, positive, train)
		if !ok {
			return nil
		}
		for i := range items {
			if foldOf(items[i].Cluster, folds) == part {
				held.Add(positive[i], items[i].Judge >= t)
			}
		}
	}
	all := make([]int, len(items))
	for i := range all {
		all[i] = i
	}
	t, ok := chooseThreshold(items, positive, all)
	if !ok {
		return nil
	}
	return &BestThreshold{Threshold: t, HeldOut: held, BalancedAccuracy: held.BalancedAccuracy()}
}

// chooseThreshold is the threshold with the highest balanced accuracy on some
// items, halfway between two scores; the lowest of equals.
func chooseThreshold(items []Verdict, positive []bool, among []int) (best float64, ok bool) {
	order := slices.Clone(among)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[a].Judge, items[b].Judge) })
	var c stats.Confusion
	for _, i := range order {
		c.Add(positive[i], true)
	}
	most := math.Inf(-1)
	for k, i := range order {
		if positive[i] {
			c.TP--
			c.FN++
		} else {
			c.FP--
			c.TN++
		}
		if k+1 == len(order) || items[order[k+1]].Judge == items[i].Judge {
			continue
		}
		if v := c.BalancedAccuracy(); v.Defined && v.Value > most {
			most, best, ok = v.Value, (items[i].Judge+items[order[k+1]].Judge)/2, true
		}
	}
	return best, ok
}

// leastRecalibrated is the fewest items of either half.
const leastRecalibrated = 20

func recalibrate(items []Verdict, positive []bool, o CalibrateOptions) *Recalibration {
	var x, y, before []float64
	var labels []bool
	for i, it := range items {
		if foldOf(it.Cluster, 2) == 0 {
			v := 0.0
			if positive[i] {
				v = 1
			}
			x, y = append(x, it.Judge), append(y, v)
		} else {
			before, labels = append(before, it.Judge), append(labels, positive[i])
		}
	}
	if len(x) < leastRecalibrated || len(before) < leastRecalibrated {
		return nil
	}
	f := stats.FitIsotonic(x, y, nil)
	after := make([]float64, len(before))
	for i, s := range before {
		after[i] = f.At(s).Value
	}
	from, to := stats.EqualWidth(before, labels, o.Bins), stats.EqualWidth(after, labels, o.Bins)
	return &Recalibration{
		X: f.X, Fitted: f.Fitted, FittedOn: int64(len(x)), ReportedOn: int64(len(before)),
		ECEBefore: from.ECE, ECEAfter: to.ECE, BrierBefore: from.Brier, BrierAfter: to.Brier,
	}
}

// MeasureNoise splits the variance of scores of items that were judged more than
// once, each list those of one item; nil if none was, or if there is one item
// only.
//
// Source: one-way analysis of variance, unequal sizes; Searle, Casella &
// McCulloch 1992, §3.6.
func MeasureNoise(scores [][]float64) *Noise {
	var n, sum, within, squares float64
	again := false
	for _, s := range scores {
		mean := 0.0
		for _, v := range s {
			mean += v / float64(len(s))
		}
		for _, v := range s {
			within += (v - mean) * (v - mean)
		}
		k := float64(len(s))
		n, sum, squares = n+k, sum+k*mean, squares+k*k
		again = again || len(s) > 1
	}
	items := float64(len(scores))
	if !again || items < 2 {
		return nil
	}
	var between float64
	for _, s := range scores {
		mean := 0.0
		for _, v := range s {
			mean += v / float64(len(s))
		}
		between += float64(len(s)) * (mean - sum/n) * (mean - sum/n)
	}
	judge := within / (n - items)
	size := (n - squares/n) / (items - 1)
	return &Noise{
		Items: int64(items), Judgments: int64(n), Judge: judge,
		Sample: max(0, (between/(items-1)-judge)/size),
	}
}

// Combine makes one value of what several people said: their mean, or the value
// that most of them gave. ok is false if there is none.
func Combine(policy string, values []float64) (v float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	if policy == "majority" {
		var ratings []Rating
		for _, x := range values {
			ratings = append(ratings, Rating{Value: Value(x)})
		}
		text, ok := Majority.Label(ratings)
		return number(text), ok
	}
	sorted := slices.Sorted(slices.Values(values))
	for _, x := range sorted {
		v += x / float64(len(sorted))
	}
	return v, true
}

// TableVerdicts pairs the judge's scores of a table with what people said. With
// the policy "each" every person's label is an item of its own; otherwise see
// [Combine]. Whoever labelled an item more than once counts once, with the mean,
// the judge too.
func TableVerdicts(t *Table, judge, policy string) ([]Verdict, *Noise, error) {
	var out []Verdict
	var scores [][]float64
	found := false
	for _, it := range t.Items {
		var own []float64
		var human said
		for _, r := range it.Ratings {
			v, err := parseNumber(r.Value)
			if err != nil {
				return nil, nil, fmt.Errorf("item %s: %q is no number", it.ID, r.Value)
			}
			if r.Annotator == judge {
				own = append(own, v)
			} else {
				human.add(r.Annotator, v)
			}
		}
		found = found || len(own) > 0
		if len(own) == 0 {
			continue
		}
		scores = append(scores, own)
		score, _ := Combine("mean", own)
		if policy == "each" {
			for _, v := range human.values() {
				out = append(out, Verdict{Item: it.ID, Cluster: it.Cluster, Human: v, Judge: score})
			}
		} else if v, ok := Combine(policy, human.values()); ok {
			out = append(out, Verdict{Item: it.ID, Cluster: it.Cluster, Human: v, Judge: score})
		}
	}
	if !found {
		return nil, nil, fmt.Errorf("no label is by %q", judge)
	}
	return out, MeasureNoise(scores), nil
}

// said is what each person said of one item, in the order in which they come.
// Whoever has no name is somebody else every time.
type said struct {
	names []string
	all   [][]float64
}

func (s *said) add(name string, v float64) {
	k := slices.Index(s.names, name)
	if k < 0 || name == "" {
		k = len(s.names)
		s.names, s.all = append(s.names, name), append(s.all, nil)
	}
	s.all[k] = append(s.all[k], v)
}

// values are one of each person.
func (s *said) values() []float64 {
	out := make([]float64, len(s.all))
	for i, values := range s.all {
		out[i], _ = Combine("mean", values)
	}
	return out
}
