package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A labelSet is what some annotators said, by item: a tally, and for
// two annotators a contingency table after it.
type labelSet struct {
	scale *scale
	width int
	sums  *itemSums
	loose bool // values are measurements, not categories
}

func newLabelSet(s *scale) *labelSet {
	set := &labelSet{scale: s, loose: len(s.values) > maxCategories}
	q := len(s.values)
	if set.loose {
		q = 0
	}
	set.width = len(stats.NewTally(q).Vector()) + q*q
	set.sums = &itemSums{names: new(stats.Numbering[string])}
	return set
}

func (s *labelSet) categories() int {
	if s.loose {
		return 0
	}
	return len(s.scale.values)
}

// tally is the number of sums that belong to the tally.
func (s *labelSet) tally() int { return s.width - s.categories()*s.categories() }

// add adds one item.
func (s *labelSet) add(cluster string, ratings []Rating) {
	sums := make([]float64, s.width+1)
	s.sums.add(cluster, sums)
	if len(ratings) < 2 {
		sums[s.width] = 1
	}
	if s.loose {
		return
	}
	groups := [][]Rating{ratings}
	if isSecond(ratings) && len(ratings) > 2 { // a second look, pair by pair
		groups = nil
		for a := range ratings {
			for b := range a {
				if compared(true, &ratings[a], &ratings[b]) {
					groups = append(groups, []Rating{ratings[a], ratings[b]})
				}
			}
		}
	}
	for _, g := range groups {
		counts := make([]int, s.categories())
		for _, r := range g {
			counts[s.scale.index[r.Value]]++
		}
		stats.TallyOf(s.categories(), sums[:s.tally()]).Add(counts)
	}
	if len(ratings) == 2 {
		table := stats.ContingencyOf(s.categories(), sums[s.tally():s.width])
		table.Add(s.scale.index[ratings[0].Value], s.scale.index[ratings[1].Value])
	}
}

// A labelStatistic is a number made of the tally or the contingency table.
type labelStatistic struct {
	name string
	estimand
	decides bool
}

// rows measures the agreement of a set; pair says that it has two annotators.
func (s *labelSet) rows(l *Labels, annotators, slice string, pair bool) []runs.AgreementRow {
	items, documents := s.sums.counts()
	blank := runs.AgreementRow{
		Kind: runs.LabelAgreement, Annotators: annotators, Slice: slice,
		Items: items, Documents: documents, Level: l.options.Level,
	}
	if s.loose {
		blank.Statistic = "percent_agreement"
		blank.Warnings = []string{fmt.Sprintf("%d different values are no categories", len(s.scale.values))}
		return []runs.AgreementRow{blank}
	}
	var rows []runs.AgreementRow
	whole := annotators == runs.AllAnnotators && !strings.Contains(slice, ",") && (slice == "" || strings.HasPrefix(slice, "kind="))
	for _, st := range s.statistics(l, pair) {
		row := blank
		row.Statistic = st.name
		e := s.sums.estimate(st.estimand, l.options.Level)
		fillRow(&row, &e)
		if st.decides && whole {
			decidesLabels(&row, &e, s.prevalent())
		}
		rows = append(rows, row)
	}
	return rows
}

// prevalent is the share of the most frequent value, of ratings.
func (s *labelSet) prevalent() float64 {
	shares := make([]float64, s.categories())
	for c := range shares {
		for _, item := range s.sums.items {
			shares[c] += stats.TallyOf(s.categories(), item.sums[:s.tally()]).Share(c)
		}
	}
	all := 0.0
	for _, n := range shares {
		all += n
	}
	if all == 0 {
		return 0
	}
	return slices.Max(shares) / all
}

// statistics are those of all annotators, or of two. Where values have an order and are more
// than two, ordinal alpha decides, else nominal alpha.
func (s *labelSet) statistics(l *Labels, pair bool) []labelStatistic {
	q := s.categories()
	tally := func(low float64, f func(t *stats.Tally) ibid.Number) estimand {
		return estimand{columns: columnsFrom(0, s.tally()), low: low, f: func(sums []float64) (float64, bool) { return optional(f(stats.TallyOf(q, sums))) }}
	}
	percent := labelStatistic{name: "percent_agreement", estimand: tally(0, (*stats.Tally).Percent)}
	if pair {
		table := estimand{columns: columnsFrom(s.tally(), s.width), low: -1, f: func(sums []float64) (float64, bool) {
			return optional(stats.ContingencyOf(q, sums).Kappa(stats.Unweighted).Value)
		}}
		return []labelStatistic{percent, {name: "cohen_kappa", estimand: table}}
	}
	name, scale := "alpha_nominal", stats.Nominal
	if s.scale.ordered(l.codeBook) {
		name, scale = "alpha_ordinal", stats.Ordinal
	}
	alpha := tally(-1, func(t *stats.Tally) ibid.Number { return t.Alpha(scale, s.scale.numbers) })
	ac1 := tally(-1, func(t *stats.Tally) ibid.Number { return t.AC1().Value })
	ac1.alone = true // how often values are used
	return []labelStatistic{{name, alpha, true}, percent, {name: "ac1", estimand: ac1}}
}

// Value writes a number as a value.
func Value(v float64) string {
	return strconv.FormatFloat(v+0, 'g', -1, 64) // + 0 makes 0 of -0
}
