package report

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"ibid/dataset/runs"
)

// mostItems is how many citations and truth spans a row may have to be opened on a page.
// ibid show opens all.
const mostItems = 5000

// tooLong reports whether row i has more than a page shows of one row.
func (r *results) tooLong(i int) bool {
	return int64(len(r.citationsOf(i)))+r.truthSpans[i] > mostItems
}

// open reads all of the citations, claims, verdicts and calls of the rows that look
// chooses. A large run has far more than a page shows, and they take most of the
// memory that it would take.
func (r *results) open(look func(i int) bool) error {
	r.opened = make(map[int]*openedRow)
	byRow := make(map[int64]*openedRow)
	for i := range r.row {
		if look(i) {
			r.opened[i] = &openedRow{}
			byRow[r.row[i]] = r.opened[i]
		}
	}
	err := scanOf(r, runs.Citations, nil, byRow, func(row *openedRow, c *runs.Citation) {
		cleanTexts(&c.CitationID, &c.Unit, &c.Precheck, &c.Reason, &c.Quote, &c.CitedText)
		row.citations = append(row.citations, *c)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a summary of rows may have none, and warns
		return err
	}
	err = scanOf(r, runs.Calls, nil, byRow, func(row *openedRow, c *runs.Call) { row.calls = append(row.calls, newCallShown(c)) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !r.judged {
		return nil
	}
	err = scanOf(r, runs.Claims, nil, byRow, func(row *openedRow, c *runs.Claim) {
		cleanTexts(&c.ClaimID, &c.Text, &c.Reason)
		row.claims = append(row.claims, *c)
	})
	if err != nil {
		return err
	}
	// The verdicts on a row follow each other; most rows need no table of them.
	var of []runs.Judgment
	end := func() {
		if len(of) == 0 {
			return
		}
		if t := newVerdictTable(of); !t.small() {
			byRow[of[0].Row].verdicts = t
		}
		byRow[of[0].Row].tampering = tamperingInWords(of[0].Tampering, suspectedIn(of))
		of = of[:0]
	}
	columns := []string{"row", "claim", "evidence", "support", "label", "annotator", "vote", "unscored", "tampering", "suspected"}
	err = scanOf(r, runs.Verdicts, columns, byRow, func(_ *openedRow, v *runs.Judgment) {
		if len(of) > 0 && of[0].Row != v.Row {
			end()
		}
		of = append(of, *v)
	})
	end()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an earlier version made the run
	}
	return err
}

// scanOf calls yield with the rows of a table that belong to opened rows.
func scanOf[T any](r *results, table *runs.Table[T], columns []string, byRow map[int64]*openedRow, yield func(row *openedRow, item *T)) error {
	return table.ScanOf(r.run.Dir, columns, slices.Sorted(maps.Keys(byRow)), func(row int64, item *T) error {
		yield(byRow[row], item)
		return nil
	})
}
