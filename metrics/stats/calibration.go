package stats

// A Bin is the items of a calibration curve whose scores lie close together.
type Bin struct {
	Index        int // of the bin, from 0
	Count        int64
	MeanScore    float64
	PositiveRate float64 // share of the items that people call positive
	Items        []int   // positions of the items
}

// A Calibration says whether scores mean what they say: whether of the items
// with score s a share s is positive.
type Calibration struct {
	Bins  []Bin  // that have items
	ECE   Number // expected calibration error: mean |rate - score|, bins weighted by items; too high where bins have few items
	MCE   Number // largest |rate - score|
	Brier Number // mean (score - label)²
	N     int64
}

// EqualWidth sorts scores in [0, 1] into bins (b/bins, (b+1)/bins], 0 belonging
// to the first. A bin's edge is the quotient rounded to float64.
//
// Source: Guo et al. 2017.
func EqualWidth(scores []float64, positive []bool, bins int) Calibration {
	groups := make([][]int, bins)
	for i, s := range scores {
		b := 0
		for b < bins-1 && s > float64(b+1)/float64(bins) {
			b++
		}
		groups[b] = append(groups[b], i)
	}
	return calibration(scores, positive, groups)
}

// EqualMass sorts items by score, ties by their order, into bins of equally many;
// the first ones have one more where that does not come out even.
func EqualMass(scores []float64, positive []bool, bins int) Calibration {
	order := byValue(scores)
	groups := make([][]int, bins)
	size, more := len(order)/bins, len(order)%bins
	for b := range groups {
		n := size
		if b < more {
			n++
		}
		groups[b], order = order[:n], order[n:]
	}
	return calibration(scores, positive, groups)
}

// EqualMassWhole is EqualMass that parts no items of one score: which of them come
// first says nothing. A bin ends after the score that gives it its share of the
// items that are left, so there may be fewer bins.
func EqualMassWhole(scores []float64, positive []bool, bins int) Calibration {
	order := byValue(scores)
	groups := make([][]int, bins)
	for b := range groups {
		left := bins - b
		n := (len(order) + left - 1) / left
		for n > 0 && n < len(order) && scores[order[n]] == scores[order[n-1]] {
			n++
		}
		groups[b], order = order[:n], order[n:]
	}
	return calibration(scores, positive, groups)
}

func calibration(scores []float64, positive []bool, groups [][]int) Calibration {
	c := Calibration{N: int64(len(scores))}
	if c.N == 0 {
		return c
	}
	var ece, mce, brier float64
	for b, items := range groups {
		if len(items) == 0 {
			continue
		}
		var score, label float64
		for _, i := range items {
			y := oneIf(positive[i])
			score, label = score+scores[i], label+y
			brier += (scores[i] - y) * (scores[i] - y)
		}
		n := float64(len(items))
		bin := Bin{Index: b, Count: int64(len(items)), MeanScore: score / n, PositiveRate: label / n, Items: items}
		gap := max(bin.PositiveRate-bin.MeanScore, bin.MeanScore-bin.PositiveRate)
		ece += n * gap
		mce = max(mce, gap)
		c.Bins = append(c.Bins, bin)
	}
	all := float64(c.N)
	c.ECE, c.MCE, c.Brier = Of(ece/all), Of(mce), Of(brier/all)
	return c
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
