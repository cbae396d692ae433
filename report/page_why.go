package report

import (
	"cmp"
	"fmt"
	"slices"

	"ibid/report/doc"
)

// whySection counts what is known of answers, claims and citations, and where they go wrong.
func whySection(data *pageData) *doc.Section {
	t := &data.totals
	failing := Plural(sum(t.failing), "failing row", "failing rows")
	var out []doc.Block
	if most := countTable(data, "What fails most, of "+failing, "problem", failingWords(data), t.problem, t.rows); len(most.Rows) > 0 {
		out = append(out, most)
	}
	fold := func(table doc.Table) {
		if len(table.Rows) > 0 {
			out = append(out, doc.Details{Summary: table.Caption, Blocks: []doc.Block{table}})
		}
	}
	if data.judged() && !data.partsLeftOut().NoHallucinations {
		fold(countTable(data, "What became of "+Plural(sum(t.claims), "claim", "claims"), "outcome", outcomeWords, t.outcome, t.claims))
	}
	fold(countTable(data, "What is known of "+Plural(sum(t.citations), "cited place", "cited places"), "status", statusWords, t.status, t.citations))
	fold(kindTable(data))
	return docSection("why", "Why", out)
}

// failingWords are the problems of answers that fail, the most frequent first, then the gravest.
func failingWords(data *pageData) []word {
	words := slices.DeleteFunc(answerStates(), func(w word) bool { return w.Tone != toneWarn && w.Tone != toneBad })
	slices.SortStableFunc(words, func(x, y word) int {
		return cmp.Compare(sum(data.totals.problem[y.Code]), sum(data.totals.problem[x.Code]))
	})
	return words
}

// countTable counts the states that occur, in the order of words, of all rows and by system.
// Counts link to the rows of their state.
func countTable(data *pageData, caption, facet string, words []word, counts map[string][]int64, of []int64) doc.Table {
	t := doc.Table{Caption: caption, Class: "counted", Columns: []doc.Column{{Name: "state"}, {Name: "count", Number: true}, {Name: "share", Number: true}}}
	several := len(data.systems) > 1
	if several {
		for _, s := range data.systems {
			t.Columns = append(t.Columns, doc.Column{Name: line(s, 40), Number: true, Keep: 1})
		}
	}
	t.Columns = append(t.Columns, doc.Column{Name: "meaning", Keep: 3})
	for _, w := range words {
		n, filter := sum(counts[w.Code]), facet+":"+w.Code
		if n == 0 {
			continue
		}
		row := []doc.Cell{{Text: doc.Text{w.span(rowsLink(filter))}}, doc.C(Thousands(n)), doc.C(percent(n, sum(of)))}
		for k, s := range data.systems {
			if c := counts[w.Code][k]; several && c > 0 {
				row = append(row, doc.Cell{Text: doc.Text{{Text: fmt.Sprintf("%s (%s)", Thousands(c), percent(c, of[k])), Link: rowsLink(filter, "system:"+line(s, 80))}}})
			} else if several {
				row = append(row, doc.C("0"))
			}
		}
		t.Rows = append(t.Rows, append(row, doc.C(w.Long)))
	}
	return t
}
