package annotations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics/stats"
)

// agreeing are n items, of so many documents, that a judge and people accept and
// as many that both reject.
func agreeing(n, documents int) []Verdict {
	var out []Verdict
	for i := range n {
		for _, v := range []float64{0, 1} {
			out = append(out, Verdict{Item: fmt.Sprint(i, v), Cluster: fmt.Sprint(i % documents), Human: v, Judge: v})
		}
	}
	return out
}

func calibrateOptions() CalibrateOptions {
	return CalibrateOptions{Options: testOptions, Threshold: 0.5}
}

// TestSharesOfSharedDocuments: where every verdict is right, Wilson's interval says how
// little that proves: of 12 items in 4 documents it is that of 12 / (1 + 2/4) items.
func TestSharesOfSharedDocuments(t *testing.T) {
	c := Calibrate("support", "bot", agreeing(12, 4), calibrateOptions())
	for _, name := range []string{"sensitivity", "specificity", "precision"} {
		want := stats.Wilson(8, 8, 0.95)
		if r := c.Statistic(name); r.Estimate == nil || *r.Estimate != 1 || r.Low == nil || math.Abs(*r.Low-want.Low) > 1e-12 || *r.High != 1 || len(r.Warnings) == 0 {
			t.Errorf("%s = %+v, want [%v, 1] with a warning", name, r, want.Low)
		}
	}
	alone := Calibrate("support", "bot", agreeing(1, 1), calibrateOptions())
	if r := alone.Statistic("sensitivity"); r.Estimate == nil || r.Low != nil {
		t.Errorf("one document has the interval %+v", r)
	}
	if r := Calibrate("support", "bot", nil, calibrateOptions()).Statistic("sensitivity"); r.Estimate != nil || r.Low != nil {
		t.Errorf("sensitivity of nothing = %+v", r)
	}
}

// TestCurveHasIntervals: bins have the intervals of their items.
func TestCurveHasIntervals(t *testing.T) {
	var items []Verdict
	for i := range 30 {
		v := Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint("d", i), Judge: 0.35}
		if i%3 == 0 {
			v.Human = 1
		}
		items = append(items, v)
	}
	items = append(items, Verdict{Item: "x", Cluster: "x", Judge: 0.95, Human: 1})
	c := Calibrate("support", "bot", items, calibrateOptions())
	if len(c.Bins) != 2 || c.Bins[0].From != 0.2 || c.Bins[0].To != 0.4 || c.Bins[0].Count != 30 {
		t.Fatalf("bins = %+v", c.Bins)
	}
	y, x := make([]float64, 30), make([]float64, 30)
	for i := range y {
		y[i], x[i] = float64(max(0, 1-i%3)), 1
	}
	want := stats.NewQuotient(y, x).Within(nil, 0, 1, 0.95)
	if b := c.Bins[0]; b.Low == nil || math.Abs(*b.Low-want.Low) > 1e-12 || math.Abs(*b.High-want.High) > 1e-12 {
		t.Errorf("interval %v to %v, want %v to %v", *b.Low, *b.High, want.Low, want.High)
	}
	if b := c.Bins[1]; b.Low != nil || b.PositiveRate != 1 {
		t.Errorf("a bin of one item = %+v", b)
	}
}

// verdicts are items of documents with five each, of which the judge calls wrong
// ones wrong.
func verdicts(documents int, wrong func(i int) bool) []Verdict {
	var items []Verdict
	for i := range 5 * documents {
		v := Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint(i / 5), Human: float64(i % 2), Judge: float64(i % 2)}
		if wrong(i) {
			v.Judge = 1 - v.Judge
		}
		items = append(items, v)
	}
	return items
}

// TestFewDocuments: intervals of two documents say that they are too few.
func TestFewDocuments(t *testing.T) {
	c := Calibrate("", "judge", verdicts(2, func(i int) bool { return i == 3 }), calibrateOptions())
	for _, r := range c.Statistics[:6] {
		if !slices.Contains(r.Warnings, "rests on about 2 independent units; with fewer than 6 it leans on how alike answers about one document usually are") {
			t.Errorf("%s: %q", r.Statistic, r.Warnings)
		}
	}
}

// TestRates: errors that share documents count less than as many in documents of
// their own.
func TestRates(t *testing.T) {
	var shared, alone []Verdict
	for i := range 50 {
		judge := 1.0
		if i < 5 {
			judge = 0
		}
		shared = append(shared, Verdict{Cluster: fmt.Sprint(i / 5), Human: 1, Judge: judge})
	}
	r := MeasureRates(shared, calibrateOptions())
	if e := r.Sensitivity.Effective; math.Abs(r.Sensitivity.Share-0.9) > 1e-12 || e > 13 || e < 5 || r.Specificity != (Rate{}) || r.Labels != 50 {
		t.Errorf("rates %v, want 0.9 of about 10 and nothing", r)
	}
	for i := range 10 {
		alone = append(alone, Verdict{Cluster: fmt.Sprint(i), Human: 1, Judge: min(1, float64(i))})
	}
	want := Rates{Sensitivity: Rate{0.9, 10}, Labels: 10}
	if r := MeasureRates(alone, calibrateOptions()); r.Sensitivity.Share != want.Sensitivity.Share || math.Abs(r.Sensitivity.Effective-10) > 1e-9 || r.Specificity != want.Specificity {
		t.Errorf("items of their own documents: %v, want %v", r, want)
	}
	narrow, wide := want.Corrected(30, 40, 0.95), r.Corrected(30, 40, 0.95)
	if narrow.Value.Known() || wide.Value.Known() {
		t.Errorf("without negative items: %v and %v", narrow, wide)
	}
	r.Specificity, want.Specificity = Rate{0.9, 50}, Rate{0.9, 50}
	narrow, wide = want.Corrected(30, 40, 0.95), r.Corrected(30, 40, 0.95)
	if narrow.Value != wide.Value || narrow.SE.Value >= wide.SE.Value {
		t.Errorf("labels that share documents: %v, of their own: %v", wide, narrow)
	}
}

// TestSaidTwice: whoever labels an item twice is one person still.
func TestSaidTwice(t *testing.T) {
	table := &Table{Items: []Judged{{ID: "x", Cluster: "x", Ratings: []Rating{{Annotator: "ada", Value: "1"}, {Annotator: "ada", Value: "1"}, {Annotator: "ben", Value: "0"}, {Annotator: "bot", Value: "0.9"}}}}}
	for policy, want := range map[ibid.Policy][]float64{ibid.PolicyMean: {0.5}, ibid.PolicyMajority: nil, EachLabel: {1, 0}} {
		got, err := TableVerdicts(table, "bot", policy)
		if err != nil {
			t.Fatal(err)
		}
		var human []float64
		for _, v := range got {
			human = append(human, v.Human)
		}
		if !slices.Equal(human, want) {
			t.Errorf("%s: %v, want %v", policy, human, want)
		}
	}
	table.Items[0].Ratings[0].Annotator, table.Items[0].Ratings[1].Annotator = "", ""
	if got, err := TableVerdicts(table, "bot", ibid.PolicyMajority); err != nil || len(got) != 1 || got[0].Human != 1 {
		t.Errorf("two without a name are two: %v, %v", got, err)
	}
	table.Items[0].Ratings[3].Value = "nan"
	if _, err := TableVerdicts(table, "bot", ibid.PolicyMean); err == nil {
		t.Error("nan is a score")
	}
}

// TestUnanimousReachTheThreshold: people who all say what the threshold is say yes,
// however many they are.
func TestUnanimousReachTheThreshold(t *testing.T) {
	for n := 1; n <= 30; n++ {
		item := Judged{ID: "x", Cluster: "x", Ratings: []Rating{{Annotator: "bot", Value: "0.7"}, {Annotator: "bot", Value: "0.7"}, {Annotator: "bot", Value: "0.7"}}}
		for i := range n {
			item.Ratings = append(item.Ratings, Rating{Annotator: fmt.Sprint("p", i), Value: "0.7"})
		}
		got, err := TableVerdicts(&Table{Items: []Judged{item}}, "bot", ibid.PolicyMean)
		if err != nil {
			t.Fatal(err)
		}
		o := calibrateOptions()
		o.Threshold = 0.7
		if c := Calibrate("", "bot", got, o).Confusion; c != (stats.Confusion{TP: 1}) {
			t.Errorf("%d people who all say 0.7 and a judge who says it three times: %+v, want one true positive", n, c)
		}
	}
}

// TestConnectedItems: where items share documents in a chain, every number has an interval,
// another than of as many documents of their own.
func TestConnectedItems(t *testing.T) {
	items := func(cluster func(i int) string) []Verdict {
		draw := rand.New(rand.NewPCG(3, 0))
		var out []Verdict
		for i := range 64 {
			human := float64(i / 2 % 2)
			judge := min(1, max(0, 0.1+0.2*human+0.6*draw.Float64()))
			out = append(out, Verdict{Item: fmt.Sprint(i), Cluster: cluster(i), Human: human, Judge: judge})
		}
		return out
	}
	alone := Calibrate("support", "j", items(func(i int) string { return fmt.Sprint("d", i) }), calibrateOptions())
	chain := Calibrate("support", "j", items(func(i int) string {
		return ClusterOf([]string{fmt.Sprintf("d%02d", i/2), fmt.Sprintf("d%02d", i/2+1)})
	}), calibrateOptions())
	if !slices.Contains(chain.Warnings, "items share documents: intervals are over documents") || slices.Contains(alone.Warnings, "items share documents: intervals are over documents") {
		t.Errorf("warnings %q, and %q of their own documents", chain.Warnings, alone.Warnings)
	}
	for _, name := range []string{"balanced_accuracy", "auroc", "f1", "kappa"} {
		of, other := chain.Statistic(name), alone.Statistic(name)
		switch {
		case math.Abs(*of.Estimate-*other.Estimate) > 1e-12 || of.Low == nil || other.Low == nil:
			t.Errorf("%s: %+v, of their own documents %+v", name, of, other)
		case *of.High == *other.High || *of.Low == *other.Low:
			t.Errorf("%s: [%v, %v], of their own documents [%v, %v]", name, *of.Low, *of.High, *other.Low, *other.High)
		}
	}
}

// scored are n items of documents that each have three, whose scores and values lie on grids,
// so that many are tied.
func scored(n int, seed int64) []Verdict {
	draw := rand.New(rand.NewPCG(uint64(seed), 0))
	var items []Verdict
	for i := range n {
		human := float64(draw.IntN(3)) / 2
		judge := math.Round(20*(0.2+0.5*human)+float64(draw.IntN(9))-4) / 20
		items = append(items, Verdict{Item: fmt.Sprintf("%03d", i), Cluster: fmt.Sprint("d", i/3), Document: fmt.Sprint("d", i/3), Human: human, Judge: max(0, min(1, judge))})
	}
	return items
}

// balanced is the balanced accuracy of a threshold on the items that count.
func balanced(items []Verdict, threshold float64, counts func(Verdict) bool) (accuracy float64, c stats.Confusion) {
	for _, it := range items {
		if counts(it) {
			c.Add(it.Human >= 0.5, it.Judge >= threshold)
		}
	}
	return c.BalancedAccuracy().Value, c
}

// slowThreshold tries every point halfway between two scores.
func slowThreshold(items []Verdict, counts func(Verdict) bool) float64 {
	var scores []float64
	for _, it := range items {
		if counts(it) {
			scores = append(scores, it.Judge)
		}
	}
	slices.Sort(scores)
	scores = slices.Compact(scores)
	best, most := math.NaN(), -1.0
	for k := range len(scores) - 1 {
		t := (scores[k] + scores[k+1]) / 2
		if a, _ := balanced(items, t, counts); a > most {
			best, most = t, a
		}
	}
	return best
}

// TestCalibrationByHand counts everything that a calibration says in the plainest way.
func TestCalibrationByHand(t *testing.T) {
	for seed := range int64(6) {
		items := scored(150, seed)
		o := calibrateOptions()
		c := Calibrate("support", "bot", slices.Clone(items), o)
		everything := func(Verdict) bool { return true }
		_, at := balanced(items, o.Threshold, everything)
		if c.Confusion != at || c.Documents != 50 || c.Items != 150 {
			t.Errorf("confusion %+v of %d documents, want %+v of 50", c.Confusion, c.Documents, at)
		}
		for name, want := range map[string]struct {
			value float64
			items int64
		}{
			"sensitivity": {float64(at.TP) / float64(at.TP+at.FN), at.TP + at.FN},
			"specificity": {float64(at.TN) / float64(at.TN+at.FP), at.TN + at.FP},
			"precision":   {float64(at.TP) / float64(at.TP+at.FP), at.TP + at.FP},
			"f1":          {2 * float64(at.TP) / float64(2*at.TP+at.FP+at.FN), 150},
		} {
			r := c.Statistic(name)
			if r.Estimate == nil || math.Abs(*r.Estimate-want.value) > 1e-12 || r.Items != want.items {
				t.Errorf("%s = %v of %d, want %v of %d", name, *r.Estimate, r.Items, want.value, want.items)
			} else if r.Low == nil || *r.Low >= *r.Estimate || *r.High < *r.Estimate || *r.High == *r.Estimate && *r.High < 1 || r.Method == "" {
				t.Errorf("%s has the interval %v to %v around %v by %q", name, *r.Low, *r.High, *r.Estimate, r.Method)
			}
		}
		if want := slowThreshold(items, everything); c.Best.Threshold != want {
			t.Errorf("best threshold %v, want %v", c.Best.Threshold, want)
		}
		// Each fifth of the documents meets the threshold that the others choose.
		var held stats.Confusion
		documents := make(map[string]bool)
		for _, v := range items {
			documents[v.Document] = true
		}
		fold := dealt(documents)
		for part := range 5 {
			is := func(v Verdict) bool { return fold[v.Document] == part }
			_, x := balanced(items, slowThreshold(items, func(v Verdict) bool { return !is(v) }), is)
			held.TP, held.FP, held.FN, held.TN = held.TP+x.TP, held.FP+x.FP, held.FN+x.FN, held.TN+x.TN
		}
		if c.Best.HeldOut != held || c.Best.BalancedAccuracy != held.BalancedAccuracy() {
			t.Errorf("held out: %+v, want %+v", c.Best.HeldOut, held)
		}
	}
}

// TestItemsTwice: every item twice in its document says little more than once.
func TestItemsTwice(t *testing.T) {
	items := scored(120, 3)
	once := Calibrate("", "bot", slices.Clone(items), calibrateOptions())
	twice := Calibrate("", "bot", append(slices.Clone(items), items...), calibrateOptions())
	for _, name := range []string{"spearman", "sensitivity", "precision", "auroc"} {
		a, b := once.Statistic(name), twice.Statistic(name)
		if a.Low == nil || b.Low == nil || math.Abs(*a.Estimate-*b.Estimate) > 1e-9 || a.Method != b.Method {
			t.Errorf("%s once %+v, twice %+v", name, a, b)
			continue
		}
		if ratio := (*b.High - *b.Low) / (*a.High - *a.Low); ratio < 0.7 || ratio > 1.01 {
			t.Errorf("%s once [%v, %v] by %s, twice [%v, %v] by %s", name, *a.Low, *a.High, a.Method, *b.Low, *b.High, b.Method)
		}
	}
	if len(once.Warnings) != 1 || !strings.HasPrefix(once.Warnings[0], "items share documents") {
		t.Errorf("warnings %q", once.Warnings)
	}
	alone := slices.Clone(items)
	for i := range alone {
		alone[i].Cluster = alone[i].Item
	}
	if c := Calibrate("", "bot", alone, calibrateOptions()); len(c.Warnings) > 0 {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// TestScoresBeyondOne: what is no probability has no curve.
func TestScoresBeyondOne(t *testing.T) {
	for v, want := range map[float64]bool{1: true, 0: true, 1.5: false, -0.1: false} {
		items := scored(60, 1)
		items[7].Judge = v
		if c := Calibrate("", "bot", items, calibrateOptions()); (c.Bins != nil) != want || c.Statistic("auroc").Estimate == nil {
			t.Errorf("with a score of %v there is a curve: %v", v, c.Bins != nil)
		}
	}
}

// TestAbstains: of a judge that says yes or nothing precision alone is known, and what it does
// not say yes to is undecided, also where it was settled without it.
func TestAbstains(t *testing.T) {
	var items []Verdict
	for i := range 31 {
		v := Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint("d", i), Judge: 1, Human: 1}
		if i == 30 {
			v.Human = 0
		}
		items = append(items, v)
	}
	items = append(items, Verdict{Item: "invalid", Cluster: "x", Judge: 0, Human: 0})
	o := calibrateOptions()
	o.Abstains, o.Undecided = true, 88
	c := Calibrate("claim support", "lexical", items, o)
	r := c.Statistic("precision")
	if c.Items != 31 || c.Undecided != 89 || c.Confusion != (stats.Confusion{TP: 30, FP: 1}) || len(c.Statistics) != 1 || math.Abs(*r.Estimate-30.0/31) > 1e-12 || r.Target == nil || r.Verdict != Undecided || c.Best != nil {
		t.Errorf("%+v, %+v", c, r)
	}
}
