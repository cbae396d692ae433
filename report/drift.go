package report

import (
	"fmt"
	"io"

	"ibid/annotations/compare"
)

// A Drift is the view model of runs that are not compared because the judge moved
// between them.
type Drift struct {
	Drifts []*compare.Drift
}

func (d *Drift) asJSON() any {
	return struct {
		Schema string           `json:"schema"`
		Drifts []*compare.Drift `json:"drifts"`
	}{"ibid.drift/v1", d.Drifts}
}

func (d *Drift) writeCSV(w io.Writer) error {
	var lines []compare.FlippedLine
	for _, one := range d.Drifts {
		lines = append(lines, one.Lines()...)
	}
	return compare.FlippedLines.WriteCSV(w, lines)
}

func (d *Drift) writeTo(p *paper) {
	p.title("not compared: the judge moved")
	for _, one := range d.Drifts {
		p.line(CleanLine(one.Sentence()))
		p.flips(one, p.all || p.markdown)
	}
}

// namedFlips is how many flipped verdicts text names unless all are asked for.
const namedFlips = 10

// flipWidth bounds the text of a claim, in characters.
const flipWidth = 60

// flips lists the verdicts that changed, and the agreement with people.
func (p *paper) flips(d *compare.Drift, all bool) {
	t := &table{header: []string{"anchor", "before", "after", "claim or cited document"}, right: 4}
	shown := d.Flipped
	if !all {
		shown = shown[:min(len(shown), namedFlips)]
	}
	for i := range shown {
		t.rows = append(t.rows, flipCells(&shown[i]))
	}
	p.table(t)
	if left := len(d.Flipped) - len(shown); left > 0 {
		p.line(fmt.Sprintf("%d more with -v, in JSON and CSV", left))
	}
	p.table(driftAgreement(d.Agreement))
}

func flipCells(f *compare.Flipped) []string {
	return []string{CleanLine(f.Where()), flipVerdict(f.LabelBase, f.Before), flipVerdict(f.LabelAfter, f.After), CleanLine(line(f.Text, flipWidth))}
}

func flipVerdict(name string, support float64) string {
	return CleanLine(name) + " " + number(support)
}

// driftAgreement sets the agreement with people before and after side by side.
func driftAgreement(all []compare.DriftAgreement) *table {
	t := &table{header: []string{"agreement with people", "before", "after", "labels"}, right: 1}
	for i := range all {
		a := &all[i]
		t.rows = append(t.rows,
			[]string{a.Kind + ": sensitivity", numberOrDash(a.Before.Sensitivity), numberOrDash(a.After.Sensitivity), Thousands(a.After.Items)},
			[]string{a.Kind + ": specificity", numberOrDash(a.Before.Specificity), numberOrDash(a.After.Specificity), Thousands(a.After.Items)})
	}
	return t
}
