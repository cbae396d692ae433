package cli

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/gob"
	"io"

	"ibid/dataset/disk"
	"ibid/report"
)

// failingChunk is how many failing rows are sorted in memory. Of more, sorted chunks wait
// in a temporary file until they are merged.
const failingChunk = 1 << 15

// A failingSpill is a temporary file of failing rows in sorted chunks.
type failingSpill struct {
	gate *rowGate
	file *disk.File
	ends []int64 // of the chunks in the file
}

func newFailingSpill(gate *rowGate) (*failingSpill, error) {
	file, err := disk.Nameless("")
	if err != nil {
		return nil, err
	}
	return &failingSpill{gate: gate, file: file}, nil
}

// A spilledRow is a row in the file. Gob takes a pointer to 0 for none.
type spilledRow struct {
	Row   report.FailingRow
	Known bool // there is a value
}

// Close gives the file up.
func (s *failingSpill) Close() error { return s.file.Close() }

// add appends a chunk of rows, which are sorted and come after those of the chunks before
// in the input.
func (s *failingSpill) add(rows []report.FailingRow) error {
	out := bufio.NewWriter(s.file)
	e := gob.NewEncoder(out)
	for i := range rows {
		if err := e.Encode(&spilledRow{rows[i], rows[i].Value != nil}); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	s.ends = append(s.ends, end)
	return err
}

// each calls yield with the first limit rows of all chunks, the worst first.
func (s *failingSpill) each(limit int64, yield func(*report.FailingRow) error) error {
	merge := &failingMerge{gate: s.gate}
	begin := int64(0)
	for n, end := range s.ends {
		c := &failingRun{number: n, in: gob.NewDecoder(bufio.NewReader(io.NewSectionReader(s.file, begin, end-begin)))}
		begin = end
		if more, err := c.next(); err != nil {
			return err
		} else if more {
			merge.runs = append(merge.runs, c)
		}
	}
	heap.Init(merge)
	for ; limit > 0 && len(merge.runs) > 0; limit-- {
		if err := yield(&merge.runs[0].row); err != nil {
			return err
		}
		more, err := merge.runs[0].next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(merge, 0)
		default:
			heap.Pop(merge)
		}
	}
	return nil
}

// A failingRun is a chunk as it is read.
type failingRun struct {
	number int
	in     *gob.Decoder
	row    report.FailingRow
}

// next reads the next row; there is none where more is false.
func (c *failingRun) next() (more bool, err error) {
	var r spilledRow
	if err := c.in.Decode(&r); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	if c.row = r.Row; r.Known && c.row.Value == nil {
		c.row.Value = new(0.0)
	}
	if c.row.Why == nil {
		c.row.Why = []string{} // which Gob does not tell from none, and JSON does
	}
	return true, nil
}

// A failingMerge is a heap of chunks by their next rows.
type failingMerge struct {
	gate *rowGate
	runs []*failingRun
}

func (m *failingMerge) Len() int      { return len(m.runs) }
func (m *failingMerge) Swap(i, j int) { m.runs[i], m.runs[j] = m.runs[j], m.runs[i] }
func (m *failingMerge) Push(x any)    { m.runs = append(m.runs, x.(*failingRun)) }

func (m *failingMerge) Less(i, j int) bool {
	a, b := m.runs[i], m.runs[j]
	return cmp.Or(m.gate.compare(&a.row, &b.row), cmp.Compare(a.number, b.number)) < 0
}

func (m *failingMerge) Pop() any {
	last := m.runs[len(m.runs)-1]
	m.runs = m.runs[:len(m.runs)-1]
	return last
}
