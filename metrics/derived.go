package metrics

import (
	"fmt"
	"slices"
	"strings"
)

// A rule derives a metric that is no quotient: from the values of columns, all of them known.
type rule struct {
	columns []string
	value   func(x []float64) (value float64, ok bool)
	sql     string
}

var overlapColumns = []string{TruthChars.String(), PredChars.String(), OverlapChars.String()}

// rules are those of the derived metrics without numerator and denominator.
var rules = map[string]rule{
	"exact_match": {
		overlapColumns, func(x []float64) (float64, bool) { return truth(x[2] == x[0] && x[2] == x[1]), x[0]+x[1] > 0 },
		"CASE WHEN truth_chars + pred_chars > 0 THEN (overlap_chars = truth_chars AND overlap_chars = pred_chars)::DOUBLE END",
	},
	"any_overlap": {
		overlapColumns, func(x []float64) (float64, bool) { return truth(x[2] > 0), x[0]+x[1] > 0 },
		"CASE WHEN truth_chars + pred_chars > 0 THEN (overlap_chars > 0)::DOUBLE END",
	},
	"wrong_abstention": {
		[]string{TruthDocs.String(), Abstained.String()},
		func(x []float64) (float64, bool) { return x[1], x[0] > 0 },
		"CASE WHEN truth_docs > 0 THEN abstained::DOUBLE END",
	},
	"hallucination_score": {[]string{"hallucination_rate"}, func(x []float64) (float64, bool) { return 1 - x[0], true }, "1 - hallucination_rate"},
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Columns are the columns of rows.parquet that a derived metric follows from.
func (d *Definition) Columns() []string { return derivedFrom[d.Name] }

var derivedFrom = func() map[string][]string {
	from := make(map[string][]string)
	for i := range definitions {
		d := &definitions[i]
		if d.Derived {
			from[d.Name] = rules[d.Name].columns
		}
		for _, t := range slices.Concat(d.Num, d.Den) {
			if d.Derived && !slices.Contains(from[d.Name], t.Column) {
				from[d.Name] = append(from[d.Name], t.Column)
			}
		}
	}
	return from
}()

// Derive computes a derived metric of a row from the values of [Definition.Columns], all of
// them known: of a quotient, that of Num and Den. ok is false where the metric is undefined.
func (d *Definition) Derive(x []float64) (value float64, ok bool) {
	if r, ok := rules[d.Name]; ok {
		return r.value(x)
	}
	columns := d.Columns()
	sum := func(terms []Term) (s float64) {
		for _, t := range terms {
			s += t.Factor * x[slices.Index(columns, t.Column)]
		}
		return s
	}
	den := sum(d.Den)
	if den == 0 {
		return 0, false
	}
	return sum(d.Num) / den, true
}

// SQL is the expression for a derived metric in a query over rows.parquet, null where it is
// undefined.
func (d *Definition) SQL() string {
	if r, ok := rules[d.Name]; ok {
		return r.sql
	}
	sum := func(terms []Term) string {
		var b strings.Builder
		for i, t := range terms {
			switch {
			case t.Factor < 0:
				b.WriteString(" - ")
			case i > 0:
				b.WriteString(" + ")
			}
			if t.Factor != 1 && t.Factor != -1 {
				fmt.Fprintf(&b, "%g * ", max(t.Factor, -t.Factor))
			}
			if _, open := OpenByKey(t.Column); open {
				fmt.Fprintf(&b, "coalesce(open['%s'], 0)", t.Column)
			} else {
				b.WriteString(t.Column)
			}
		}
		return b.String()
	}
	quotient := fmt.Sprintf("%s / nullif(%s, 0)", sum(d.Num), sum(d.Den))
	if d.Withheld() {
		return fmt.Sprintf("CASE WHEN judge_null IS NULL AND undefined['%s'] IS NULL THEN %s END", d.Name, quotient)
	}
	return quotient
}

// Withheld reports whether a derived metric has no value in some rows where its columns give
// one, because too many items are undecided. The columns judge_null and undefined say so.
func (d *Definition) Withheld() bool {
	return d.Derived && d.Judged && d.ReadsTexts() && len(d.Den) > 0
}

// derive sets a derived metric from the counts, all of which are known; x is memory for them.
func (s *Scores) derive(m Metric, x []float64) {
	d := &definitions[m]
	for i, name := range d.Columns() {
		c, _ := CountByName(name)
		x[i] = float64(s.Counts[c])
	}
	s.Values[m], _ = d.Derive(x)
}
