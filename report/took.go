package report

import (
	"slices"
	"strconv"

	"ibid/annotations/compare"
	"ibid/report/doc"
)

// tookTable sets beside each other what the answers of several took on average,
// nil if nothing is known of any.
func tookTable(names []string, all []compare.Took) *doc.Table {
	t := &doc.Table{Caption: "what answers took", Class: "metrics", Columns: []doc.Column{{Name: "mean of an answer"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, doc.Column{Name: name, Number: true}, doc.Column{Name: "n", Number: true, Keep: 1})
	}
	for _, of := range []struct {
		name string
		mean func(compare.Took) *compare.Mean
	}{
		{"answer_cost_usd", func(t compare.Took) *compare.Mean { return t.CostUSD }},
		{"answer_tokens", func(t compare.Took) *compare.Mean { return t.Tokens }},
		{"answer_latency_ms", func(t compare.Took) *compare.Mean { return t.LatencyMillis }},
	} {
		if !slices.ContainsFunc(all, func(t compare.Took) bool { return of.mean(t) != nil }) {
			continue
		}
		row := []doc.Cell{doc.C(of.name)}
		for _, took := range all {
			if m := of.mean(took); m != nil {
				row = append(row, doc.C(amount(m.Value)), doc.C(Thousands(m.N)))
			} else {
				row = append(row, doc.C("–"), doc.C("0"))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// amount prints a number from 0 up with four digits: a cent is not 0.000.
func amount(v float64) string {
	if v >= 1000 {
		return number(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
