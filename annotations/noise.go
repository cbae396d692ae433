package annotations

import (
	"maps"
	"math"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// Repeated is what a judge that judged the same data several times varied in.
type Repeated struct {
	Runs     int                  `json:"runs"`
	Verdicts runs.ListOf[NoiseOf] `json:"verdicts"` // on single questions, by kind
	Metrics  runs.ListOf[NoiseOf] `json:"metrics"`  // values of rows, by metric
}

// A NoiseOf is the noise of one kind of question, or of one metric's rows.
type NoiseOf struct {
	Name string `json:"name"`
	Noise
	MeanSE float64 `json:"judge_se_of_mean"` // see [Noise.MeanSE]
}

// Noise splits the variance of a judge's scores: how much the same item varies
// when it is judged again, and how much items differ.
type Noise struct {
	Items     int64   `json:"items"`
	Judgments int64   `json:"judgments"`
	Judge     float64 `json:"judge_variance"`  // of one judgment of an item
	Sample    float64 `json:"sample_variance"` // of the items' means, without what judging again adds to it
}

// MeanSE is the standard error that the judge alone gives to the mean over the
// items, each judged once: what is left of it if the same items are judged again.
func (n *Noise) MeanSE() float64 { return math.Sqrt(n.Judge / float64(n.Items)) }

// Share is the judge's part of the variance of one judgment of one item, in
// [0, 1]; ok is false if nothing varied.
func (n *Noise) Share() (share float64, ok bool) {
	if n.Judge+n.Sample == 0 {
		return 0, false
	}
	return n.Judge / (n.Judge + n.Sample), true
}

// ReadRepeated reads what the finished runs in dirs, which must be of the same
// data, judged differently. Kinds of questions and metrics that no two runs have a
// verdict on, or of one item only, are left out.
func ReadRepeated(dirs []string) (*Repeated, error) {
	verdicts := make(map[string]map[VerdictKey][]float64)
	values := make(map[string]map[VerdictKey][]float64)
	for _, dir := range dirs {
		v, err := ReadVerdicts(dir)
		if err != nil {
			return nil, err
		}
		for key, score := range v {
			gather(verdicts, key.Question(), key, score)
		}
		if err := readJudgedRows(dir, values); err != nil {
			return nil, err
		}
	}
	return &Repeated{Runs: len(dirs), Verdicts: noises(verdicts), Metrics: noises(values)}, nil
}

// readJudgedRows gathers the rows' values of judged metrics.
func readJudgedRows(dir string, into map[string]map[VerdictKey][]float64) error {
	var names []string
	for _, d := range metrics.Definitions() {
		if d.Corrigible() {
			names = append(names, d.Name)
		}
	}
	return runs.Rows().Scan(dir, append(names, "id", "system"), func(_ int64, r *runs.Row) error {
		for name, v := range r.Numbers {
			gather(into, name, VerdictKey{ID: r.ID, System: r.System}, v)
		}
		return nil
	})
}

func gather(into map[string]map[VerdictKey][]float64, name string, key VerdictKey, value float64) {
	if into[name] == nil {
		into[name] = make(map[VerdictKey][]float64)
	}
	into[name][key] = append(into[name][key], value)
}

// noises measures each kind in the order of the names, over items in the order of
// theirs, so that sums have one order.
func noises(scores map[string]map[VerdictKey][]float64) []NoiseOf {
	var out []NoiseOf
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		var items [][]float64
		for _, key := range slices.SortedFunc(maps.Keys(scores[name]), VerdictKey.compare) {
			items = append(items, scores[name][key])
		}
		if n := MeasureNoise(items); n != nil {
			out = append(out, NoiseOf{name, *n, n.MeanSE()})
		}
	}
	return out
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
