package annotations

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
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
	Bins      int     // of the calibration curve, at least 1
}

// folds is into how many parts the documents are put to choose a threshold.
const folds = 5

// A CalibrationRow is one number about a judge. Fields that are not defined are
// nil.
type CalibrationRow struct {
	Statistic string              `json:"statistic" doc:"name of the statistic, such as sensitivity"`
	Items     int64               `json:"items" unit:"items" doc:"items that it rests on"`
	Estimate  *float64            `json:"estimate" doc:"the value" null:"undefined"`
	Low       *float64            `json:"ci_low" doc:"lower end of the interval" null:"no interval"`
	High      *float64            `json:"ci_high" doc:"upper end of the interval" null:"no interval"`
	Method    string              `json:"method" doc:"how the interval was computed" null:"no interval"`
	Warnings  runs.ListOf[string] `json:"warnings" col:"-"`
	Target    *float64            `json:"target" doc:"what the interval is compared with" null:"the statistic does not decide"`
	Verdict   string              `json:"verdict" doc:"reliable, unreliable, undecided or no verdict: whether the judge is, by balanced_accuracy" null:"the statistic does not decide"`
	Need      *int64              `json:"need" unit:"items" doc:"items that would decide, if the estimate stays" null:"it is decided, or no number is known"`
}

// A CalibrationLine is a number about a judge with what it is of.
type CalibrationLine struct {
	Kind  string `col:"kind" doc:"kind of question"`
	Judge string `col:"judge" doc:"the judge"`
	CalibrationRow
	Level float64 `col:"level" after:"ci_high" range:"(0, 1)" doc:"confidence level of the interval"`
}

// CalibrationLines is the table of calibrations, in CSV.
var CalibrationLines = runs.NewTable[CalibrationLine]("ibid calibrate", "one number about the verdicts of a judge on one kind of question")

// Lines are the numbers of a calibration.
func (c *Calibration) Lines() []CalibrationLine {
	var all []CalibrationLine
	for _, r := range c.Statistics {
		all = append(all, CalibrationLine{c.Kind, c.Judge, r, c.Level})
	}
	return all
}

// A CalibrationBin is the items of a calibration curve whose scores lie close
// together.
type CalibrationBin struct {
	Index        int      `json:"bin"` // from 0
	Count        int64    `json:"count"`
	MeanScore    float64  `json:"mean_score"`
	PositiveRate float64  `json:"positive_rate"` // share of the items that people call positive
	Low          *float64 `json:"ci_low"`        // its interval; nil for items of one document
	High         *float64 `json:"ci_high"`
}

// A Calibration is what a judge's scores of one kind of question are worth.
type Calibration struct {
	Kind      string  `json:"kind"` // of question
	Judge     string  `json:"judge"`
	Items     int64   `json:"items"`
	Documents int64   `json:"documents"`
	Threshold float64 `json:"threshold"`
	Positive  float64 `json:"positive"`
	stats.Confusion
	Level      float64                     `json:"level"`
	Statistics []CalibrationRow            `json:"statistics"`
	Bins       int                         `json:"bins"`        // of the curves, also those without items
	EqualWidth runs.ListOf[CalibrationBin] `json:"equal_width"` // those that have items; none if scores lie outside [0, 1]
	EqualMass  runs.ListOf[CalibrationBin] `json:"equal_mass"`
	Best       *BestThreshold              `json:"best_threshold"` // nil if one side has one verdict only
	Isotonic   *Recalibration              `json:"isotonic"`       // nil for too few items
	Warnings   runs.ListOf[string]         `json:"warnings"`
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
	Threshold        float64         `json:"threshold"`
	HeldOut          stats.Confusion `json:"held_out"`
	BalancedAccuracy ibid.Number     `json:"held_out_balanced_accuracy"`
}

// A Recalibration maps scores to the share of positive items, fitted on one half
// of the documents and reported on the other.
type Recalibration struct {
	X           []float64   `json:"x"`
	Fitted      []float64   `json:"fitted"`
	FittedOn    int64       `json:"fitted_on"` // items
	ReportedOn  int64       `json:"reported_on"`
	ECEBefore   ibid.Number `json:"ece_before"`
	ECEAfter    ibid.Number `json:"ece_after"`
	BrierBefore ibid.Number `json:"brier_before"`
	BrierAfter  ibid.Number `json:"brier_after"`
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
	of := connect(items, sums)
	area := of.auroc(scores, positive, o.Level)
	auroc, _, _ := area.Nullable()
	c.add("auroc", auroc, &area, c.Items)
	c.correlations(scores, human, of)
	if unit && len(items) > 0 {
		width, mass := stats.EqualWidth(scores, positive, o.Bins), stats.EqualMassWhole(scores, positive, o.Bins)
		c.EqualWidth, c.EqualMass = c.curve(&width, items, positive), c.curve(&mass, items, positive)
		brier := of.brier(scores, positive, o.Level)
		c.add("brier", width.Brier.Pointer(), &brier, c.Items)
		// The bins' own noise adds to an ECE: around it there is no interval that covers.
		biased := stats.Estimate{Warnings: []stats.Warning{{Code: "biased", Text: "biased: bins of few items are off by chance, which makes it too large; no interval"}}}
		c.add("ece", width.ECE.Pointer(), &biased, c.Items)
		c.add("ece_equal_mass", mass.ECE.Pointer(), &biased, c.Items)
		c.Isotonic = recalibrate(items, of.folds, positive, o)
	}
	c.Best = bestThreshold(items, of.folds, positive)
	if !of.independent() {
		c.Warnings = append(c.Warnings, "items share documents: intervals are over documents")
	}
	if of.pairs() && (c.Best != nil || c.Isotonic != nil) {
		c.Warnings = append(c.Warnings, "documents connect most items: those that a threshold or a curve is fitted on share documents with those that it is measured on")
	}
	return c
}

// connected is how the items of a calibration depend on each other by their documents.
type connected struct {
	dependence *stats.Dependence
	units      []int32  // of each item
	folds      []string // what decides which part of the items each is in
	known      bool     // dependence is
}

// connect finds how items depend on each other; sums are theirs.
func connect(items []Verdict, sums *clusterSums) *connected {
	out := &connected{folds: make([]string, len(items))}
	keys := slices.Sorted(maps.Keys(sums.sums))
	out.dependence, out.known = sums.dependence(keys)
	names := make(map[uint64]string)
	for _, it := range items {
		names[stats.Key(it.Cluster)] = it.Cluster
	}
	for i, it := range items {
		out.folds[i] = it.Cluster
		d := out.dependence
		if d == nil {
			continue
		}
		unit, _ := slices.BinarySearch(keys, stats.Key(it.Cluster))
		out.units = append(out.units, int32(unit))
		if d.Components {
			out.folds[i] = names[d.Keys[d.Of[unit]]]
		} else {
			out.folds[i], _, _ = strings.Cut(it.Cluster, documentSeparator)
		}
	}
	return out
}

// independent reports whether no two items share a document.
func (c *connected) independent() bool {
	seen := make(map[string]bool, len(c.folds))
	for _, name := range c.folds {
		seen[name] = true
	}
	return c.known && c.dependence == nil && len(seen) == len(c.folds)
}

// pairs reports whether the items depend on each other as no clusters do.
func (c *connected) pairs() bool { return c.dependence != nil && !c.dependence.Components }

func (c *connected) auroc(scores []float64, positive []bool, level float64) stats.Estimate {
	if c.pairs() {
		return stats.DependentAUROC(scores, positive, c.units, c.dependence, level)
	}
	e := stats.ClusteredAUROC(scores, positive, c.folds, level)
	if !c.known {
		e.Low, e.High, e.HasInterval = 0, 0, false
	}
	if c.dependence != nil {
		e.Method = e.Method.By(stats.ByComponents)
	}
	return e
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
		e := sums.share([]int{0}, []int{1}, c.Level)
		_, bin.Low, bin.High = e.Nullable()
		out = append(out, bin)
	}
	return out
}

// add adds a number with the interval of an estimate of it.
func (c *Calibration) add(name string, estimate *float64, e *stats.Estimate, items int64) {
	row := CalibrationRow{Statistic: name, Estimate: estimate, Items: items, Warnings: stats.Texts(e.Warnings)}
	if _, row.Low, row.High = e.Nullable(); e.HasInterval {
		row.Method = string(e.Method)
	}
	c.Statistics = append(c.Statistics, row)
}

// decidesJudge is the statistic that decides whether a judge is reliable.
const decidesJudge = "balanced_accuracy"

// confusionRows adds what the confusion says. Shares have Wilson's interval, over
// the documents where items share them; for all that is no share documents are
// resampled.
func (c *Calibration) confusionRows(sums *clusterSums, o *Options) {
	at := c.Confusion
	share := func(name string, hits, of []int, items int64) {
		e := sums.share(hits, of, o.Level)
		value, _, _ := e.Nullable()
		c.add(name, value, &e, items)
	}
	number := func(name string, f func(stats.Confusion) ibid.Number) {
		e := sums.estimate(o, []int{cellTP, cellFP, cellFN, cellTN}, func(s []float64) (float64, bool) {
			return optional(f(stats.Confusion{TP: int64(s[cellTP]), FP: int64(s[cellFP]), FN: int64(s[cellFN]), TN: int64(s[cellTN])}))
		})
		c.add(name, f(at).Pointer(), &e, at.N())
		if name == decidesJudge {
			row := &c.Statistics[len(c.Statistics)-1]
			r := rule(&e, at.N(), c.Documents, ReliableTarget)
			row.Target, row.Verdict, row.Need = new(ReliableTarget), r.verdict, r.need
		}
	}
	share("sensitivity", []int{cellTP}, []int{cellTP, cellFN}, at.TP+at.FN)
	share("specificity", []int{cellTN}, []int{cellTN, cellFP}, at.TN+at.FP)
	share("precision", []int{cellTP}, []int{cellTP, cellFP}, at.TP+at.FP)
	share("negative_predictive_value", []int{cellTN}, []int{cellTN, cellFN}, at.TN+at.FN)
	share("accuracy", []int{cellTP, cellTN}, []int{cellTP, cellFP, cellFN, cellTN}, at.N())
	number(decidesJudge, stats.Confusion.BalancedAccuracy)
	number("f1", stats.Confusion.F1)
	number("kappa", stats.Confusion.Kappa)
	number("mcc", stats.Confusion.MCC)
}

// correlations have the intervals of papers where items are independent, else Fisher's with
// the standard error of what the items of each document add up to.
func (c *Calibration) correlations(scores, human []float64, of *connected) {
	for _, x := range correlate(scores, human, c.Level) {
		row := CalibrationRow{Statistic: x.name, Estimate: x.Value.Pointer(), Items: x.N}
		if of.independent() && x.Defined() {
			row.Low, row.High, row.Method = x.Low.Pointer(), x.High.Pointer(), x.method
		} else if x.Value.Known() && !of.independent() {
			s := of.spread(x.influence(scores, human))
			if e := s.Within(x.Value.Value, -1, 1, x.N, c.Level); of.known && math.Abs(e.Value) < 1 {
				c.add(x.name, row.Estimate, &e, x.N)
				continue
			}
		}
		c.Statistics = append(c.Statistics, row)
	}
}

// spread is the standard error of what items add up to.
func (c *connected) spread(adds []float64) stats.Spread {
	if c.pairs() {
		sums := make([]stats.Sum, c.dependence.Units)
		for i, v := range adds {
			s := &sums[c.units[i]]
			s.Y, s.Rows = s.Y+v, s.Rows+1
		}
		return c.dependence.Spread(sums, 0, 1)
	}
	at := make(map[string]int)
	var sums []stats.Sum // in the order in which clusters come
	for i, v := range adds {
		k, ok := at[c.folds[i]]
		if !ok {
			k = len(sums)
			at[c.folds[i]], sums = k, append(sums, stats.Sum{})
		}
		sums[k].Y, sums[k].Rows = sums[k].Y+v, sums[k].Rows+1
	}
	squares, rows, n := 0.0, 0.0, float64(len(sums))
	for _, s := range sums {
		squares, rows = squares+s.Y*s.Y, rows+s.Rows*s.Rows
	}
	out := stats.Spread{Known: n > 1, Effective: n}
	if out.Known {
		out.SE, out.Effective = math.Sqrt(squares*n/(n-1)), max(2, float64(len(adds))*float64(len(adds))/rows)
	}
	if c.dependence != nil {
		out.How = stats.ByComponents
	}
	return out
}

// brier is the mean squared error of scores in [0, 1].
func (c *connected) brier(scores []float64, positive []bool, level float64) stats.Estimate {
	errors, mean := make([]float64, len(scores)), 0.0
	for i, v := range scores {
		if positive[i] {
			v = 1 - v
		}
		errors[i] = v * v
		mean += v * v / float64(len(scores))
	}
	for i := range errors {
		errors[i] = (errors[i] - mean) / float64(len(errors))
	}
	s := c.spread(errors)
	e := s.Within(mean, 0, 1, int64(len(scores)), level)
	if !c.known {
		e.Low, e.High, e.HasInterval = 0, 0, false
	}
	return e
}

// foldOf puts the items of a document into the same part.
func foldOf(cluster string, parts uint64) uint64 { return stats.Key("fold\x00"+cluster) % parts }

// bestThreshold chooses a threshold on all items, and says what thresholds that
// were chosen in the same way on four parts of five reach on the fifth.
func bestThreshold(items []Verdict, clusters []string, positive []bool) *BestThreshold {
	var held stats.Confusion
	for part := range uint64(folds) {
		var train []int
		for i := range items {
			if foldOf(clusters[i], folds) != part {
				train = append(train, i)
			}
		}
		t, ok := chooseThreshold(items, positive, train)
		if !ok {
			return nil
		}
		for i := range items {
			if foldOf(clusters[i], folds) == part {
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
		if v := c.BalancedAccuracy(); v.Known() && v.Value > most {
			most, best, ok = v.Value, (items[i].Judge+items[order[k+1]].Judge)/2, true
		}
	}
	return best, ok
}

// leastRecalibrated is the fewest items of either half.
const leastRecalibrated = 20

func recalibrate(items []Verdict, clusters []string, positive []bool, o CalibrateOptions) *Recalibration {
	var x, y, before []float64
	var labels []bool
	for i, it := range items {
		if foldOf(clusters[i], 2) == 0 {
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

// InNumbers puts the numbers that words stand for in place of labels that are words.
func (t *Table) InNumbers(values map[string]float64) {
	for i := range t.Items {
		for k := range t.Items[i].Ratings {
			if v, ok := values[t.Items[i].Ratings[k].Value]; ok {
				t.Items[i].Ratings[k].Value = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
}

// EachLabel is the policy of [TableVerdicts] that makes an item of every person's
// label.
const EachLabel ibid.Policy = "each"

// TableVerdicts pairs the judge's scores of a table with what people said. With the
// policy [EachLabel] every person's label is an item of its own; otherwise see
// [ibid.Policy.Label], which finds one value for the item, or none. Whoever labelled
// an item more than once counts once, with the mean, the judge too. Whoever has no
// name is somebody else every time.
func TableVerdicts(t *Table, judge string, policy ibid.Policy) ([]Verdict, error) {
	var out []Verdict
	found := false
	for _, it := range t.Items {
		var own []float64
		var people []string // in the order in which they come
		var opinions []ibid.Opinion
		for k, r := range it.Ratings {
			v, err := parseNumber(r.Value)
			if err != nil {
				return nil, fmt.Errorf("item %s: %q is no number", it.ID, r.Value)
			}
			if r.Annotator == judge {
				own = append(own, v)
				continue
			}
			name := cmp.Or(r.Annotator, ibid.UnnamedAnnotator(k))
			if !slices.Contains(people, name) {
				people = append(people, name)
			}
			opinions = append(opinions, ibid.Opinion{Annotator: name, Value: v})
		}
		found = found || len(own) > 0
		if len(own) == 0 {
			continue
		}
		policies := []ibid.Policy{policy}
		if policy == EachLabel {
			policies = nil
			for _, name := range people {
				policies = append(policies, ibid.PolicyAnnotator+ibid.Policy(name))
			}
		}
		for _, p := range policies {
			if v, annotators := p.Label(opinions); annotators > 0 {
				out = append(out, Verdict{Item: it.ID, Cluster: it.Cluster, Human: v, Judge: ibid.MeanLabel(own)})
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("no label is by %q", judge)
	}
	return out, nil
}
