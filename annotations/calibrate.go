package annotations

import (
	"cmp"
	"fmt"
	"maps"
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
	Cluster string  // its documents, see [ClusterOf]
	Human   float64 // what people said, one value
	Judge   float64 // the judge's score

	Stands   bool   // the evidence has the claim word for word: a yes with any thresholds on overlap
	Document string // the first that the claim cites, which decides its fold; "" if it cites none
}

// document is what decides the fold of an item.
func (v *Verdict) document() string { return cmp.Or(v.Document, v.Item) }

// CalibrateOptions say how a judge is measured.
type CalibrateOptions struct {
	Options
	Threshold float64 // from which on the judge's score, and people's value, is a yes
	Abstains  bool    // the judge never says no of its own: what is below the threshold is no verdict
	Undecided int64   // items of which it said nothing, if it abstains

	Fitted *Thresholds // decide on the judge's scores in place of Threshold; nil if none do
}

// decide says what the judge says of an item.
func (o *CalibrateOptions) decide(v *Verdict) ibid.Tri {
	switch {
	case v.Stands:
		return ibid.Yes
	case o.Fitted != nil:
		return o.Fitted.Decide(v.document(), v.Judge)
	case o.Abstains && v.Judge < o.Threshold:
		return ibid.Unset
	}
	return ibid.TriOf(v.Judge >= o.Threshold)
}

// bins is into how many bins of equal width scores are put.
const bins = 5

// A CalibrationRow is one number about a judge. Fields that are not defined are
// nil.
type CalibrationRow struct {
	Statistic string              `json:"statistic" doc:"name of the statistic, such as sensitivity"`
	Items     int64               `json:"items" unit:"items" doc:"items that it rests on"`
	Estimate  *float64            `json:"estimate" doc:"the value" null:"undefined"`
	Low       *float64            `json:"ci_low" doc:"lower end of the interval" null:"no interval"`
	High      *float64            `json:"ci_high" doc:"upper end of the interval" null:"no interval"`
	Level     float64             `json:"-" col:"level" range:"(0, 1)" doc:"confidence level of the interval"` // of a line
	Method    string              `json:"method" doc:"how the interval was computed" null:"no interval"`
	Warnings  runs.ListOf[string] `json:"warnings" col:"-"`
	Target    *float64            `json:"target" doc:"what the interval is compared with" null:"the statistic does not decide"`
	Verdict   string              `json:"verdict" doc:"reliable, unreliable or undecided: whether the judge is" null:"the statistic does not decide"`
	Need      *int64              `json:"need" unit:"items" doc:"items that would decide, if the estimate stays" null:"it is decided, or no number is known"`
}

// A CalibrationLine is a number about a judge with what it is of.
type CalibrationLine struct {
	Kind  string `col:"kind" doc:"kind of question"`
	Judge string `col:"judge" doc:"the judge"`
	CalibrationRow
}

// CalibrationLines is the table of calibrations, in CSV.
var CalibrationLines = runs.NewTable[CalibrationLine]("ibid calibrate", "one number about the verdicts of a judge on one kind of question")

// Lines are the numbers of a calibration.
func (c *Calibration) Lines() []CalibrationLine {
	var all []CalibrationLine
	for _, r := range c.Statistics {
		r.Level = c.Level
		all = append(all, CalibrationLine{c.Kind, c.Judge, r})
	}
	return all
}

// A CalibrationBin is the items of a calibration curve whose scores lie close
// together.
type CalibrationBin struct {
	From         float64  `json:"from"`
	To           float64  `json:"to"`
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
	Abstains  bool    `json:"abstains"`  // the judge says yes or nothing
	Undecided int64   `json:"undecided"` // items of which it said nothing, if it abstains
	stats.Confusion
	Level      float64                     `json:"level"`
	Statistics []CalibrationRow            `json:"statistics"`
	Bins       runs.ListOf[CalibrationBin] `json:"bins"`           // those that have items; none if scores lie outside [0, 1]
	Best       *BestThreshold              `json:"best_threshold"` // that [Fit] would choose; nil if it would choose none, or has chosen
	Fitted     *Fitted                     `json:"fitted"`         // nil if [CalibrateOptions.Threshold] decides
	Warnings   runs.ListOf[string]         `json:"warnings"`
}

// Fitted are the limits that decide: those of all labels, which decide about what is not
// labelled, and those of each fold.
type Fitted struct {
	Thresholds Limits   `json:"thresholds"`
	Folds      []Limits `json:"folds"`
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

// Calibrate measures a judge on items of one kind.
func Calibrate(kind, judge string, items []Verdict, o CalibrateOptions) *Calibration {
	slices.SortStableFunc(items, func(a, b Verdict) int { return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Item, b.Item)) })
	c := &Calibration{Kind: kind, Judge: judge, Threshold: o.Threshold, Level: o.Level, Undecided: o.Undecided}
	all := len(items)
	items = slices.DeleteFunc(items, func(v Verdict) bool { return o.decide(&v) == ibid.Unset })
	c.Undecided += int64(all - len(items))
	c.Items, c.Abstains = int64(len(items)), o.Abstains
	if t := o.Fitted; t != nil {
		c.Abstains, c.Fitted = t.Abstains(), &Fitted{Thresholds: t.Limits}
		for _, f := range t.Folds {
			c.Fitted.Folds = append(c.Fitted.Folds, f.Limits)
		}
	}
	j := judgingOf(items, &o)
	c.Confusion = j.Counts()
	c.Documents = int64(len(j.names))
	if c.Abstains {
		precision := j.precision()
		c.add("precision", &precision, c.Items, j)
		c.decide(&precision)
		return c
	}
	scores, human := make([]float64, len(items)), make([]float64, len(items))
	levels, unit := make(map[float64]bool), true
	for i, it := range items {
		scores[i], human[i] = it.Judge, it.Human
		levels[it.Human] = true
		unit = unit && it.Judge >= 0 && it.Judge <= 1
	}
	c.confusionRows(j)
	area := stats.AUROC(scores, j.Human, j.Rows, o.Level)
	c.add("auroc", &area, c.Items, j)
	if len(levels) > 2 {
		e := stats.PearsonOf(stats.Ranks(scores), stats.Ranks(human), j.documents, o.Level)
		c.add("spearman", &e, c.Items, j)
	}
	if unit && len(items) > 0 {
		c.Bins = curve(scores, j)
	}
	if o.Fitted == nil {
		c.Best = bestThreshold(items, o.Threshold)
	}
	if j.documents.Shared() {
		c.Warnings = append(c.Warnings, "items share documents: intervals are over documents")
	}
	if j.several && (c.Best != nil || c.Fitted != nil) {
		c.Warnings = append(c.Warnings, "items touch several documents: those that a threshold is chosen on may share some with those that it is measured on")
	}
	return c
}

// A judging is what people and a judge say of items that touch documents.
type judging struct {
	stats.Judging
	documents *stats.Documents
	several   bool     // some item touches several documents
	names     []string // of the documents
}

func judgingOf(items []Verdict, o *CalibrateOptions) *judging {
	j := &judging{documents: new(stats.Documents)}
	var numbers stats.Numbering[string]
	for i := range items {
		it := &items[i]
		names := strings.Split(it.Cluster, documentSeparator)
		j.documents.Add(numbers.Numbers(names...)...)
		j.several = j.several || len(names) > 1
		j.Human, j.Judge = append(j.Human, it.Human >= o.Threshold), append(j.Judge, o.decide(it) == ibid.Yes)
	}
	j.Rows, j.Level, j.names = stats.NewRows[int](nil, j.documents), o.Level, numbers.Names
	return j
}

// share is the share of the items of which of is true that hit is true of, too.
func (j *judging) share(of, hit func(i int) bool) stats.Estimate {
	y, x := make([]float64, len(j.Human)), make([]float64, len(j.Human))
	for i := range y {
		if of(i) {
			x[i] = 1
			if hit(i) {
				y[i] = 1
			}
		}
	}
	return stats.NewQuotient(y, x).Within(j.documents, 0, 1, j.Level)
}

// right is the share of the items which people say yes, or no, to that the judge says so, too.
func (j *judging) right(yes bool) stats.Estimate {
	return j.share(func(i int) bool { return j.Human[i] == yes }, func(i int) bool { return j.Judge[i] == yes })
}

// precision is the share of the items that the judge says yes to that people say yes to, too.
func (j *judging) precision() stats.Estimate {
	return j.share(func(i int) bool { return j.Judge[i] }, func(i int) bool { return j.Human[i] })
}

// curve sorts scores in [0, 1] into bins, with intervals over documents.
func curve(scores []float64, j *judging) []CalibrationBin {
	var out []CalibrationBin
	for _, b := range stats.EqualWidth(scores, j.Human, bins) {
		in := make(map[int]bool, len(b.Items))
		for _, i := range b.Items {
			in[i] = true
		}
		e := j.share(func(i int) bool { return in[i] }, func(i int) bool { return j.Human[i] })
		bin := CalibrationBin{From: float64(b.Index) / bins, To: float64(b.Index+1) / bins, Count: int64(len(b.Items)), MeanScore: b.MeanScore, PositiveRate: b.PositiveRate}
		_, bin.Low, bin.High = e.Nullable()
		out = append(out, bin)
	}
	return out
}

// add adds a number with its interval.
func (c *Calibration) add(name string, e *stats.Estimate, items int64, j *judging) {
	e.NameGiven(func(d int32) string { return j.names[d] })
	row := CalibrationRow{Statistic: name, Items: items, Method: string(e.Method), Warnings: stats.Texts(e.Warnings)}
	row.Estimate, row.Low, row.High = e.Nullable()
	c.Statistics = append(c.Statistics, row)
}

// decidesJudge is the statistic that decides whether a judge is reliable.
const decidesJudge = "balanced_accuracy"

// confusionRows adds what the confusion says.
func (c *Calibration) confusionRows(j *judging) {
	at := c.Confusion
	for _, x := range []struct {
		name  string
		e     stats.Estimate
		items int64
	}{
		{decidesJudge, j.BalancedAccuracy(), at.N()},
		{"sensitivity", j.right(true), at.TP + at.FN},
		{"specificity", j.right(false), at.TN + at.FP},
		{"precision", j.precision(), at.TP + at.FP},
		{"f1", j.F1(), at.N()},
		{"kappa", j.Kappa(), at.N()},
	} {
		c.add(x.name, &x.e, x.items, j)
		if x.name == decidesJudge {
			c.decide(&x.e)
		}
	}
}

// decide rules on the judge by the statistic that was added last.
func (c *Calibration) decide(e *stats.Estimate) {
	row := &c.Statistics[len(c.Statistics)-1]
	r := rule(e, c.Items, c.Documents, ReliableTarget)
	row.Target, row.Verdict, row.Need = new(ReliableTarget), r.verdict, r.need
	if r.why != "" {
		row.Warnings = append(row.Warnings, "undecided: "+r.why)
	}
}

// bestThreshold is the threshold that [Fit] chooses, and what those of the folds reach; nil if
// it chooses none.
func bestThreshold(items []Verdict, threshold float64) *BestThreshold {
	t, err := Fit(SupportScore, items, threshold)
	if err != nil {
		return nil
	}
	var held stats.Confusion
	for i := range items {
		held.Add(items[i].Human >= threshold, t.Decide(items[i].document(), items[i].Judge) == ibid.Yes)
	}
	return &BestThreshold{Threshold: *t.Supported, HeldOut: held, BalancedAccuracy: held.BalancedAccuracy()}
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
	names := make(map[string]bool)
	for _, it := range t.Items {
		var own []float64
		var people []string // in the order in which they come
		var opinions []ibid.Opinion
		for k, r := range it.Ratings {
			v, err := parseNumber(r.Value)
			if err != nil {
				return nil, fmt.Errorf("item %s: %q is no number", it.ID, r.Value)
			}
			names[r.Annotator] = true
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
				out = append(out, Verdict{Item: it.ID, Cluster: it.Cluster, Document: it.Cluster, Human: v, Judge: ibid.MeanLabel(own)})
			}
		}
	}
	if !names[judge] {
		all := slices.Sorted(maps.Keys(names))
		hint := "labels are by " + strings.Join(all[:min(len(all), 10)], ", ")
		if near := ibid.Nearest(judge, all); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, &ibid.Error{Err: fmt.Errorf("no label is by %q", judge), Hint: hint}
	}
	return out, nil
}
