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
	sums  *itemSums
	x, y  []float64       // what the first and the second of two said of items, if numbers
	both  stats.Documents // of those items
	loose bool            // values are measurements, not categories
}

func newLabelSet(s *scale) *labelSet {
	set := &labelSet{scale: s, loose: len(s.values) > maxCategories}
	q := len(s.values)
	if set.loose {
		q = 0
	}
	set.sums = newItemSums(len(stats.NewTally(q).Vector()) + q*q)
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
	sums := s.sums.add(cluster, len(ratings) < 2)
	if len(ratings) == 2 && s.scale.numbers != nil {
		s.x, s.y = append(s.x, number(ratings[0].Value)), append(s.y, number(ratings[1].Value))
		s.both.Add(s.sums.documents.At(s.sums.documents.Units() - 1)...)
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
		Items: s.sums.items(), Documents: s.sums.telling(), Level: l.options.Level,
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
	deciding := "alpha_nominal"
	if s.scale.ordered(l.codeBook) {
		deciding = "alpha_ordinal"
	}
	whole := annotators == runs.AllAnnotators && !strings.Contains(slice, ",") && (slice == "" || strings.HasPrefix(slice, "kind="))
	for _, st := range all {
		of := estimand{columns: columnsFrom(0, s.tally()), f: st.f, low: -1, alone: st.alone}
		if st.share {
			of.low = 0
		}
		if st.table {
			of.columns = columnsFrom(s.tally(), s.sums.width)
		}
		row := blank
		row.Statistic = st.name
		e := s.sums.estimate(of, l.options.Level)
		fillRow(&row, &e)
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
		for i := range s.sums.alone {
			shares[c] += stats.TallyOf(s.categories(), s.sums.of(i)[:s.tally()]).Share(c)
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
			return optional(stats.ContingencyOf(q, sums).Kappa(w).Value)
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

// correlations are those of what two said of items that touch these documents.
func correlations(x, y []float64, documents *stats.Documents, level float64) map[string]stats.Estimate {
	return map[string]stats.Estimate{
		"pearson":  stats.PearsonOf(x, y, documents, level),
		"spearman": stats.PearsonOf(stats.Ranks(x), stats.Ranks(y), documents, level),
	}
}

// correlations are those of what two annotators said.
func (s *labelSet) correlations(blank runs.AgreementRow) []runs.AgreementRow {
	var rows []runs.AgreementRow
	for name, e := range correlations(s.x, s.y, &s.both, blank.Level) {
		row := blank
		row.Statistic = name
		fillRow(&row, &e)
		rows = append(rows, row)
	}
	return rows
}

// Value writes a number as a value.
func Value(v float64) string {
	return strconv.FormatFloat(v+0, 'g', -1, 64) // + 0 makes 0 of -0
}
