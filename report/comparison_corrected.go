package report

import (
	"fmt"

	"ibid/annotations/compare"
)

// correctedTable sets the differences that people's labels correct beside the raw
// ones; nil if there is none.
func (c *Comparison) correctedTable(p *compare.Pair) *table {
	base, other := CleanLine(c.Sides[p.Base].Name), CleanLine(c.Sides[p.New].Name)
	t := &table{right: 1, header: []string{
		"corrected for the judge's errors", base, other, "diff", fmt.Sprintf("%g %%", 100*c.Level), "raw diff", "labelled", "by",
	}}
	for i := range p.Differences {
		d := &p.Differences[i]
		if v := d.Corrected; v != nil {
			t.rows = append(t.rows, []string{
				quantityName(d), Number(v.Base), Number(v.New), signed(&v.Diff), interval(&v.Low, &v.High), signed(d.Diff),
				fmt.Sprintf("%s of %s", Thousands(v.Labelled), Thousands(d.N)), v.Method,
			})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}
