package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"ibid/dataset/parquet"
)

// Limits multiplies the most that a reader takes of a file, whatever the file says of
// itself; 0 is 1. What is over a limit is an error of its row, which names the limit; the
// other rows are read.
type Limits int

// What is read at most, times [Limits].
const (
	mostMemory        = 1 << 30  // bytes of what is decoded at one time
	mostRowSpans      = 20_000   // elements of one list of a row
	mostAnswerBytes   = 4 << 20  // of an answer
	mostDocumentBytes = 64 << 20 // of a document's text
	mostNameBytes     = 4096     // of an id, a system or the name of a document in a row
)

// Times is a limit multiplied.
func (l Limits) Times(n int64) int64 { return n * int64(max(l, 1)) }

// spanBytes is about what an element of a list takes in memory until the results of its
// part are written.
const spanBytes = 512

// PartSpans is how many elements of lists the rows of one batch may have together.
func (l Limits) PartSpans() int64 { return l.Times(mostMemory) / spanBytes }

// BatchRows is how many of the rows asked for can be read at one time: fewer where the
// lists of a row are long, as the footers of the files say.
func (s *Source) BatchRows(rows int) int { return s.files.batchRows(rows) }

func (s *fileSet) batchRows(rows int) int {
	var entries int64
	for i := range s.files {
		entries += s.files[i].entries
	}
	perRow := entries / max(s.rows, 1)
	return int(max(min(int64(rows), s.options.Limits.PartSpans()/4/max(perRow, 1)), 1))
}

// A cutRow is a row of a batch whose list was passed over.
type cutRow struct {
	row     int
	what    string // the column
	entries int
	total   bool // the row alone is within the limit
}

// rowLimit is what n more rows of b may have in one list.
func (b *Batch) rowLimit(n int) parquet.RowLimit {
	l := b.limits
	return parquet.RowLimit{Row: int(l.Times(mostRowSpans)), Total: int(min(max(l.PartSpans()-b.spans, 0), math.MaxInt32)) + n}
}

// cut notes rows that were passed over. first is the row of the batch that the cuts
// count from.
func (b *Batch) cut(cuts []parquet.Cut, first int, what string) {
	for _, c := range cuts {
		b.cuts = append(b.cuts, cutRow{first + c.Row, what, c.Entries, c.Total})
	}
}

// cutErrors gives the rows that were passed over their errors.
func (b *Batch) cutErrors() {
	l := b.limits
	for _, c := range b.cuts {
		err := fmt.Errorf("limits: %d elements, more than %d", c.entries, l.Times(mostRowSpans))
		if c.total {
			err = fmt.Errorf("limits: with %d elements more here, the rows of one part have more than %d; set rows_per_part lower or limits higher", c.entries, l.PartSpans())
		}
		b.setRowError(int32(c.row), c.what, err)
	}
}

// readCut appends to d the entries of one member of a list, where rows that cuts name
// are passed over. codes and levels are those of the list.
func readCut(c *parquet.Cursor, cuts []parquet.Cut, levels []byte, d *leafData, a *parquet.Arena) error {
	at := 0
	for _, cut := range cuts {
		if err := c.ReadEntries(cut.Entry-at, levels[at:cut.Entry], &d.Values, a); err != nil {
			return err
		}
		entries, err := c.SkipRow(&d.Values)
		if err != nil {
			return err
		}
		if entries != cut.Entries {
			return corrupt("the members of one list have different lengths")
		}
		at = cut.Entry + 1
	}
	return c.ReadEntries(len(levels)-at, levels[at:], &d.Values, a)
}

// cutTexts cuts names and answers that are over their limits, and gives their rows their
// errors. A digest keeps cut names apart.
func (b *Batch) cutTexts() {
	for col := range b.leaves {
		d, c := &b.leaves[col], &b.spec.columns[col]
		most := 0
		switch {
		case !b.spec.rows:
		case c.name:
			most = int(b.limits.Times(mostNameBytes))
		case c.member == "answer" && c.group < 0:
			most = int(b.limits.Times(mostAnswerBytes))
		}
		for i, text := range d.Texts {
			if most == 0 || len(text) <= most {
				continue
			}
			sum := sha256.Sum256([]byte(text))
			d.Texts[i] = strings.ToValidUTF8(text[:min(most, 64)], "") + "…" + hex.EncodeToString(sum[:8])
			d.bad = append(d.bad, refusedValue{int32(i), fmt.Sprintf("limits: %d bytes, more than %d", len(text), most)})
		}
	}
}
