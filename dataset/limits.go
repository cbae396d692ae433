package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// Limits multiplies the most that a reader takes of a file, whatever the file says of
// itself; 0 is 1. What is over a limit is an error of its row, which names the limit; the
// other rows are read. Rows whose lists together do not fit end the reading.
type Limits int

// What is read at most, times [Limits].
const (
	mostMemory        = parquet.MostMemory // bytes of what is decoded at one time
	mostRowSpans      = 20_000             // elements of one list of a row
	mostAnswerBytes   = 4 << 20            // of an answer
	mostDocumentBytes = 64 << 20           // of a document's text
	mostNameBytes     = 4096               // of an id, a system or the name of a document in a row
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
func (s *Source) BatchRows(rows int) int { return s.fileSet.batchRows(rows) }

func (s *fileSet) batchRows(rows int) int {
	var entries int64
	for i := range s.files {
		entries += s.files[i].entries
	}
	perRow := entries / max(s.rows, 1)
	return int(max(min(int64(rows), s.options.Limits.PartSpans()/4/max(perRow, 1)), 1))
}

// entriesLeft is how many entries n more rows of b may have in a list.
func (b *Batch) entriesLeft(n int) int {
	return int(min(max(b.limits.PartSpans()-b.spans, 0), math.MaxInt32)) + n
}

// errManySpans is the error for a batch whose lists are too long together.
func (l Limits) errManySpans() error {
	return ibid.Usagef("limits: lists of the rows of one part have more than %d elements", l.PartSpans()).With("set rows_per_part lower, or limits higher")
}

// cutLists makes lists with too many elements null, and gives their rows their errors.
func (b *Batch) cutLists() {
	most := int(b.limits.Times(mostRowSpans))
	for g := range b.groups {
		if group := &b.groups[g]; len(group.code) > most {
			b.cutRows(group, b.spec.groups[g], func(entry int32) int32 { return entry })
		}
	}
	for col := range b.leaves {
		if d := &b.leaves[col]; len(d.start) > 0 && len(d.Levels) > most {
			b.cutRows(&b.groups[b.spec.columns[col].group], b.spec.path(col), func(entry int32) int32 { return d.start[entry] })
		}
	}
}

// cutRows does so for a list, or the lists in it: at is the first of theirs from an entry on.
func (b *Batch) cutRows(group *groupData, path string, at func(entry int32) int32) {
	most := b.limits.Times(mostRowSpans)
	for row := range len(group.start) - 1 {
		if n := int64(at(group.start[row+1]) - at(group.start[row])); n > most {
			b.setRowError(int32(row), path, fmt.Errorf("limits: %d elements, more than %d", n, most))
			group.code[group.start[row]] = codeNull
		}
	}
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
