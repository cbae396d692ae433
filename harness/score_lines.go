package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/convert"
)

// lines are rows of JSON Lines: so many of them at a time are imported, as ibid import does,
// into a temporary dataset.
type lines struct {
	plan    *Plan
	in      io.Reader
	columns map[string]string
	dir     string
	o       dataset.ReadOptions
	source  *dataset.Source // of no rows: what all chunks have
}

func (p *Plan) openLines(in io.Reader, o dataset.ReadOptions) (rowStream, error) {
	dir, err := os.MkdirTemp("", "ibid-score-")
	if err != nil {
		return nil, err
	}
	l := &lines{plan: p, in: in, columns: o.Columns, dir: dir, o: o}
	l.o.Columns = nil // they are our own names once they are imported
	none, err := l.begin()
	if err == nil {
		err = none.writer.Close()
	}
	if err == nil {
		l.source, err = dataset.Open(l.path(), l.o)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *lines) path() string { return filepath.Join(l.dir, "lines.parquet") }

func (l *lines) Source() *dataset.Source { return l.source }
func (l *lines) Use(src *dataset.Source) { l.source = src }

func (l *lines) Close() error { return os.RemoveAll(l.dir) }

// A chunk is a dataset of some lines.
type chunk struct {
	writer  *dataset.Writer
	numbers []*int64      // the member row of each
	bad     map[int]error // lines that cannot be read
}

func (l *lines) begin() (*chunk, error) {
	w, err := dataset.NewWriter(l.path(), "")
	return &chunk{writer: w, bad: make(map[int]error)}, err
}

// Each imports line by line. A line that cannot be read is a row without an id.
func (l *lines) Each(ctx context.Context, yield func(*dataset.StreamBatch) error) error {
	config := l.plan.job.Config
	s := &lineSink{lines: l, rows: maxJudgedRows, yield: func(c *chunk) error { return l.read(ctx, c, yield) }}
	if l.plan.live != nil {
		s.rows = maxLiveRows
	}
	first := firstMark(config.Marks.First)
	report, err := convert.Convert(ctx, "jsonl", []string{"-"}, convert.Options{Limits: int(config.Limits), FirstMark: first, Stdin: l.in, StdinName: stdinName, Columns: l.columns, OnError: s.refuse}, s)
	if err == nil {
		err = s.err
	}
	if err == nil && s.chunk != nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	return CheckImport(&report, first, l.columns)
}

// A lineSink makes chunks of imported rows.
type lineSink struct {
	lines *lines
	rows  int // of a chunk
	yield func(*chunk) error
	chunk *chunk
	err   error // of refuse, which cannot return one
}

func (s *lineSink) refuse(e convert.RecordError) {
	if s.err == nil {
		s.err = s.write(&ibid.Answer{IDNull: true, QueryNull: true, AnswerNull: true}, nil, e)
	}
}

func (s *lineSink) WriteRow(r *ibid.Answer) error {
	if s.err != nil {
		return s.err
	}
	return s.write(r, inputRow(r), nil)
}

// WriteDocument is not called: there is no place for documents.
func (s *lineSink) WriteDocument(*ibid.Document) error { return nil }

func (s *lineSink) write(r *ibid.Answer, number *int64, bad error) (err error) {
	if s.chunk == nil {
		if s.chunk, err = s.lines.begin(); err != nil {
			return err
		}
	}
	c := s.chunk
	if err := c.writer.Write(r); err != nil {
		return err
	}
	if bad != nil {
		c.bad[len(c.numbers)] = bad
	}
	if c.numbers = append(c.numbers, number); len(c.numbers) < s.rows {
		return nil
	}
	return s.end()
}

func (s *lineSink) end() error {
	c := s.chunk
	s.chunk = nil
	if err := c.writer.Close(); err != nil {
		return err
	}
	return s.yield(c)
}

// inputRow is the member row of a line, which the import keeps with all that it does not
// know; nil if there is none.
func inputRow(r *ibid.Answer) *int64 {
	var members struct {
		Row *int64 `json:"row"`
	}
	if kept, ok := r.Tag("source_reference"); !ok || json.Unmarshal([]byte(kept), &members) != nil {
		return nil
	}
	return members.Row
}

// read yields the rows of a chunk.
func (l *lines) read(ctx context.Context, c *chunk, yield func(*dataset.StreamBatch) error) error {
	source, err := dataset.Open(l.path(), l.o)
	if err != nil {
		return err
	}
	return source.Like(l.source).Read(ctx, 0, len(c.numbers), func(b *dataset.Batch) error {
		first := int(b.Pos())
		for i := range b.Len() {
			if err := c.bad[first+i]; err != nil {
				b.Refuse(i, err)
			}
		}
		return yield(&dataset.StreamBatch{Batch: b, InputRow: func(i int) (int64, bool) {
			if n := c.numbers[first+i]; n != nil {
				return *n, true
			}
			return 0, false
		}})
	})
}
