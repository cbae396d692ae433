package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A labelSet is what some annotators said, summed by document: a tally, and for
// two annotators a contingency table after it.
type labelSet struct {
	scale *scale
	sums  *clusterSums
	x, y  []float64 // what the first and the second of two said, if numbers
	loose bool      // values are measurements, not categories
}

func newLabelSet(s *scale) *labelSet {
	set := &labelSet{scale: s, loose: len(s.values) > maxCategories}
	q := len(s.values)
	if set.loose {
		q = 0
	}
	set.sums = newClusterSums(len(stats.NewTally(q).Vector()) + q*q)
	return set
}

func (s *labelSet) categories() int {
	if s.loose {
		return 0
	}
	return len(s.scale.values)
}

// tally is the number of sums that belong to the tally.
func (s *labelSet) tally() int { return s.sums.width - s.categories()*s.categories() }

// add adds one item.
func (s *labelSet) add(cluster string, ratings []Rating) {
	sums := s.sums.of(cluster, len(ratings) < 2)
	if len(ratings) == 2 && s.scale.numbers != nil {
		s.x, s.y = append(s.x, number(ratings[0].Value)), append(s.y, number(ratings[1].Value))
	}
	if s.loose {
		return
	}
	counts := make([]int, s.categories())
	for _, r := range ratings {
		counts[s.scale.index[r.Value]]++
	}
	stats.TallyOf(s.categories(), sums[:s.tally()]).Add(counts)
	if len(ratings) == 2 {
		table := stats.ContingencyOf(s.categories(), sums[s.tally():])
		table.Add(s.scale.index[ratings[0].Value], s.scale.index[ratings[1].Value])
	}
}

// A labelStatistic is a number made of the tally or the contingency table.
type labelStatistic struct {
	name  string
	f     stats.Statistic
	table bool // of the contingency table
	share bool // is between 0 and 1
	alone bool // needs to know how often values are used, also of items with one rating
}

// rows measures the agreement of a set; pair says that it has two annotators.
func (s *labelSet) rows(l *Labels, annotators, slice string, pair bool) []runs.AgreementRow {
	blank := runs.AgreementRow{
		Kind: runs.LabelAgreement, Annotators: annotators, Slice: slice,
		Items: s.sums.items(), Documents: s.sums.documents(), Level: l.options.Level,
	}
	var rows []runs.AgreementRow
	if pair && len(s.scale.values) > 2 && s.scale.numbers != nil {
		rows = append(rows, s.correlations(blank)...)
	}
	if s.loose {
		blank.Statistic = "percent_agreement"
		blank.Warnings = []string{fmt.Sprintf("%d different values are no categories: only correlations of two annotators", len(s.scale.values))}
		return append(rows, blank)
	}
	all := s.statistics(l, pair)
	list := make([]estimand, len(all))
	for i, st := range all {
		columns := columnsFrom(0, s.tally())
		if st.table {
			columns = columnsFrom(s.tally(), s.sums.width)
		}
		list[i] = estimand{columns: columns, f: st.f, share: st.share, alone: st.alone && !st.share}
	}
	deciding := "alpha_nominal"
	if s.scale.ordered(l.codeBook) {
		deciding = "alpha_ordinal"
	}
	whole := annotators == runs.AllAnnotators && !strings.Contains(slice, ",") && (slice == "" || strings.HasPrefix(slice, "kind="))
	for i, e := range s.sums.estimates(&l.options, list) {
		st := all[i]
		row := blank
		row.Statistic = st.name
		fillRow(&row, &e, s.sums.pooled)
		if st.name == deciding && whole {
			decides(&row, &e, row.Documents, s.prevalent())
		}
		rows = append(rows, row)
	}
	return rows
}

// prevalent is the share of the most frequent value, of ratings.
func (s *labelSet) prevalent() float64 {
	shares := make([]float64, s.categories())
	for c := range shares {
		for _, sums := range s.sums.sums {
			shares[c] += stats.TallyOf(s.categories(), sums[:s.tally()]).Share(c)
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

// statistics are those that the values allow.
func (s *labelSet) statistics(l *Labels, pair bool) []labelStatistic {
	q := s.categories()
	tally := func(f func(t *stats.Tally) ibid.Number) stats.Statistic {
		return func(sums []float64) (float64, bool) { return optional(f(stats.TallyOf(q, sums))) }
	}
	alpha := func(scale stats.Scale) stats.Statistic {
		return tally(func(t *stats.Tally) ibid.Number { return t.Alpha(scale, s.scale.numbers) })
	}
	kappa := func(w stats.Weights) stats.Statistic {
		return func(sums []float64) (float64, bool) {
			return optional(stats.ContingencyOf(q, sums).Kappa(w, l.options.Level).Value)
		}
	}
	out := []labelStatistic{
		{name: "percent_agreement", f: tally((*stats.Tally).Percent), share: true},
		{name: "ac1", f: tally(func(t *stats.Tally) ibid.Number { return t.AC1().Value }), alone: true},
		{name: "alpha_nominal", f: alpha(stats.Nominal)},
	}
	if pair {
		out = append(out, labelStatistic{name: "cohen_kappa", f: kappa(stats.Unweighted), table: true})
	} else {
		out = append(out, labelStatistic{name: "fleiss_kappa", f: tally(func(t *stats.Tally) ibid.Number { return t.Fleiss().Value }), alone: true})
	}
	if !s.scale.ordered(l.codeBook) {
		return out
	}
	out = append(out, labelStatistic{name: "alpha_ordinal", f: alpha(stats.Ordinal)})
	if s.scale.numbers != nil {
		out = append(out, labelStatistic{name: "alpha_interval", f: alpha(stats.Interval)})
		if s.scale.numbers[0] >= 0 {
			out = append(out, labelStatistic{name: "alpha_ratio", f: alpha(stats.Ratio)})
		}
	}
	if pair {
		out = append(out,
			labelStatistic{name: "cohen_kappa_linear", f: kappa(stats.Linear), table: true},
			labelStatistic{name: "cohen_kappa_quadratic", f: kappa(stats.Quadratic), table: true})
	}
	return out
}

// A correlation has the method of its interval, and what each pair adds to it.
type correlation struct {
	stats.Correlation
	name, method string
	influence    func(x, y []float64) []float64
}

func correlate(x, y []float64, level float64) []correlation {
	return []correlation{
		{stats.Pearson(x, y, level), "pearson", "fisher-z", stats.PearsonInfluence},
		{stats.Spearman(x, y, level), "spearman", "bonett-wright", stats.SpearmanInfluence},
	}
}

// correlations are those of what two annotators said. Their intervals take items
// for independent, so there are none where items share documents.
func (s *labelSet) correlations(blank runs.AgreementRow) []runs.AgreementRow {
	var rows []runs.AgreementRow
	d, known := s.sums.dependence(slices.Sorted(maps.Keys(s.sums.sums)))
	for _, c := range correlate(s.x, s.y, blank.Level) {
		row := blank
		row.Statistic, row.Estimate = c.name, c.Value.Pointer()
		switch {
		case row.Documents < row.Items || d != nil || !known:
			row.Warnings = []string{"items share documents: no interval"}
		case c.Defined():
			row.Low, row.High, row.Method = c.Low.Pointer(), c.High.Pointer(), c.method
		}
		rows = append(rows, row)
	}
	return rows
}

// Value writes a number as a value.
func Value(v float64) string {
	return strconv.FormatFloat(v+0, 'g', -1, 64) // + 0 makes 0 of -0
}
