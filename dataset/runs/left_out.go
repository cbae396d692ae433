package runs

import (
	"fmt"
	"math"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// A LeftOut knows what the systems of a table of rows left out: citations that are not known, or
// the text of answers, where other rows of the system have them. Numbers over rows count the
// worst value there, so that leaving out never pays; rows.parquet has null. Rows with a truth
// that is known and empty, and answers that abstain, are no part of it.
type LeftOut struct {
	Rows     int64           // that lack something
	cites    map[string]bool // systems with citations in some row
	says     map[string]bool // systems with a text in some row
	measured map[string]bool // metrics that some row has
}

// LeftOut looks for what is left out of a table of rows.
func (f *Frame) LeftOut() (*LeftOut, error) {
	l := &LeftOut{cites: make(map[string]bool), says: make(map[string]bool), measured: make(map[string]bool)}
	type lack struct {
		system      string
		cites, says bool
	}
	lacks := make(map[lack]int64)
	err := f.Each(func(b *Block) error {
		system, status, given := b.Texts("system"), b.Texts("status"), givenOf(b)
		for i, name := range system {
			if status[i] != RowOK {
				continue
			}
			of := lack{name, given.citations.Valid[i], given.chars.Ints[i] > 0}
			if of.cites && !l.cites[name] {
				l.cites[name] = true
			}
			if of.says && !l.says[name] {
				l.says[name] = true
			}
			if (!of.cites || !of.says) && !given.nothing(i) {
				lacks[of]++
			}
		}
		return nil
	})
	for of, n := range lacks {
		if !of.cites && l.cites[of.system] || !of.says && l.says[of.system] {
			l.Rows += n
		}
	}
	if err != nil || l.Rows == 0 {
		return l, err
	}
	return l, f.Each(func(b *Block) error {
		for _, d := range metrics.Definitions() {
			if !l.measured[d.Name] {
				_, known := b.Numbers(d.Name)
				l.measured[d.Name] = slices.Contains(known, true)
			}
		}
		return nil
	})
}

// given are the columns of a block that say what an answer has.
type given struct{ citations, chars, truth *parquet.ColumnValues }

func givenOf(b *Block) given {
	return given{b.Column(metrics.Citations.String()), b.Column(metrics.AnswerChars.String()), b.Column(metrics.TruthDocs.String())}
}

// nothing reports whether nothing is to be cited in row i: its truth is known and empty.
func (g *given) nothing(i int) bool { return g.truth.Valid[i] && g.truth.Ints[i] == 0 }

// emptyAnswer are the metrics that have their worst value where the answer has no text. It
// claims nothing: whether that agrees with its sources is undefined.
var emptyAnswer = []string{
	metrics.CitationCompleteness.String(), metrics.SupportedCompleteness.String(), metrics.CitationCorrectness.String(),
	metrics.MeanSupportScore.String(), metrics.CitationPresence.String(), metrics.OverallCitationAccuracy.String(),
}

// notWorst are metrics that say nothing of what is left out: nothing there is invented, or varies.
var notWorst = []string{metrics.OffsetAccuracy.String(), metrics.FabricatedCitationRate.String(), metrics.ConsistencyVariance.String()}

// Numbers are [Block.Numbers] of a metric as numbers over rows count them. left says which rows
// have the worst value because something is left out; nil if none has.
func (l *LeftOut) Numbers(b *Block, d *metrics.Definition) (values []float64, known, left []bool) {
	values, known = b.Numbers(d.Name)
	bounded := !math.IsInf(d.Min, 0) && !math.IsInf(d.Max, 0) && d.Direction != metrics.Neutral
	if l.Rows == 0 || !bounded || !l.measured[d.Name] || slices.Contains(notWorst, d.Name) || d.Group == "quotations" {
		return values, known, nil
	}
	reasons, system, given := b.Reasons(d.Name), b.Texts("system"), givenOf(b)
	ofEmpty, worst := slices.Contains(emptyAnswer, d.Name), d.Min
	if d.Direction == metrics.LowerIsBetter {
		worst = d.Max
	}
	for i, why := range reasons {
		uncited := why == ibid.NoCitations && !given.citations.Valid[i] && l.cites[system[i]]
		empty := ofEmpty && (why == ibid.NoCitations || why == ibid.NoClaims) && given.chars.Ints[i] == 0 && l.says[system[i]]
		if !uncited && !empty || given.nothing(i) {
			continue
		}
		if left == nil {
			values, known, left = slices.Clone(values), slices.Clone(known), make([]bool, len(known))
		}
		values[i], known[i], left[i] = worst, true, true
	}
	return values, known, left
}

// CountWorst says in a row of a summary that so many rows count as worst; of a pooled value, to
// which they add nothing that is known, that it is over the others.
func (r *SummaryRow) CountWorst(rows int64, pooled bool) {
	text := LeftOutText(rows)
	if pooled {
		r.N, r.Undefined = r.N-rows, r.Undefined+rows
		text = NotPooledText
	}
	r.Warnings = append(r.Warnings, text)
}

// NotPooledText says of a pooled value that it is not over all rows that the mean is over.
const NotPooledText = "it is over the rows that lack neither citations nor answer, and better than it would be"

// LeftOutText says that so many rows count as worst.
func LeftOutText(rows int64) string {
	if rows == 1 {
		return "1 row counts as worst: its citations are not known, or its answer is empty"
	}
	return fmt.Sprintf("%d rows count as worst: their citations are not known, or their answer is empty", rows)
}
