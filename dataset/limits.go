package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"ibid/dataset/parquet"
)

// Limits bound what a reader takes of a file, whatever the file says of itself. What is
// over a limit is an error of its row, which names the limit; the other rows are read.
// A limit of 0 stands for its default.
type Limits struct {
	Memory        int64 // bytes for what is decoded at one time; 1 GiB
	RowSpans      int   // most elements of one list of a row; 1,000,000
	DocumentBytes int64 // most bytes of one document's text; 1 GiB
	NameBytes     int   // most bytes of an id, a system or the name of a document in a row; 4,096
}

// Defaults of [Limits].
const (
	defaultMemory        = 1 << 30
	defaultRowSpans      = 1_000_000
	defaultDocumentBytes = 1 << 30
	defaultNameBytes     = 4096
)

func (l Limits) orDefault() Limits {
	return Limits{cmp.Or(l.Memory, defaultMemory), cmp.Or(l.RowSpans, defaultRowSpans), cmp.Or(l.DocumentBytes, defaultDocumentBytes), cmp.Or(l.NameBytes, defaultNameBytes)}
}

// spanBytes is about what an element of a list takes in memory until the results of its
// part are written.
const spanBytes = 512

// PartSpans is how many elements of lists the rows of one batch may have together.
func (l Limits) PartSpans() int64 { return l.orDefault().Memory / spanBytes }

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
	l := b.limits.orDefault()
	return parquet.RowLimit{Row: l.RowSpans, Total: int(min(max(l.PartSpans()-b.spans, 0), math.MaxInt32)) + n}
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
	l := b.limits.orDefault()
	for _, c := range b.cuts {
		err := fmt.Errorf("limits.row_spans: %d elements, more than %d", c.entries, l.RowSpans)
		if c.total {
			err = fmt.Errorf("limits.memory: with %d elements more here, the rows of one part have more than %d; set limits.rows_per_part lower or limits.memory higher", c.entries, l.PartSpans())
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

// cutNames cuts the names that are over the limit, and gives their rows their errors. A
// digest keeps cut names apart.
func (b *Batch) cutNames() {
	most := b.limits.orDefault().NameBytes
	for col := range b.leaves {
		d := &b.leaves[col]
		if !b.spec.rows || !b.spec.columns[col].name {
			continue
		}
		for i, text := range d.Texts {
			if len(text) <= most {
				continue
			}
			sum := sha256.Sum256([]byte(text))
			d.Texts[i] = strings.ToValidUTF8(text[:min(most, 64)], "") + "…" + hex.EncodeToString(sum[:8])
			d.bad = append(d.bad, refusedValue{int32(i), fmt.Sprintf("limits.name_bytes: %d bytes, more than %d", len(text), most)})
		}
	}
}
