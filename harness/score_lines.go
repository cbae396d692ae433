package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/convert"
)

// scoredRows is how many rows make a batch where the input has none.
func scoredRows(p *Plan) int {
	if p.live != nil {
		return maxLiveRows
	}
	return maxJudgedRows
}

// lines are rows of JSON Lines: so many of them at a time are imported, as ibid import does,
// into a temporary dataset.
type lines struct {
	plan   *Plan
	dir    string
	o      dataset.ReadOptions
	source *dataset.Source // of no rows: what all chunks have
	next   func() (*chunk, error, bool)

	batches func() (*dataset.StreamBatch, error, bool) // of the chunk at hand; nil between them
}

// A chunk is a dataset of some lines.
type chunk struct {
	writer  *dataset.Writer
	path    string
	n       int
	numbers []*int64      // the member row of each
	bad     map[int]error // lines that cannot be read
}

func (p *Plan) openLines(ctx context.Context, in io.Reader, o dataset.ReadOptions) (closingStream, error) {
	dir, err := os.MkdirTemp("", "ibid-score-")
	if err != nil {
		return nil, err
	}
	l := &lines{plan: p, dir: dir, o: o}
	l.o.Columns = nil // they are our own names once they are imported
	empty := &chunk{path: filepath.Join(dir, "empty.parquet")}
	if err = empty.open(); err == nil {
		err = empty.writer.Close()
	}
	if err == nil {
		l.source, err = dataset.Open(empty.path, l.o)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.next, _ = iter.Pull2(func(yield func(*chunk, error) bool) { l.read(ctx, in, o.Columns, yield) })
	return l, nil
}

func (c *chunk) open() (err error) {
	c.writer, err = dataset.NewWriter(c.path, "")
	return err
}

func (l *lines) Source() *dataset.Source { return l.source }
func (l *lines) Use(src *dataset.Source) { l.source = src }

func (l *lines) Close() error { return os.RemoveAll(l.dir) }

// read imports line by line. A line that cannot be read is a row without an id.
func (l *lines) read(ctx context.Context, in io.Reader, columns map[string]string, yield func(*chunk, error) bool) {
	s := &lineSink{lines: l, rows: scoredRows(l.plan), yield: yield}
	first := firstMark(l.plan.job.Config.Marks.First)
	report, err := convert.Convert(ctx, "jsonl", []string{"-"}, convert.Options{Limits: int(l.plan.job.Config.Limits), FirstMark: first, Stdin: in, StdinName: stdinName, Columns: columns, OnError: s.refuse}, s)
	if err == nil {
		err = s.err
	}
	if err == nil && s.chunk != nil {
		err = s.end()
	}
	if err == nil {
		err = CheckImport(&report, first, columns)
	}
	if ignoreEnough(err) != nil {
		yield(nil, err)
	}
}

// A lineSink makes chunks of imported rows.
type lineSink struct {
	lines *lines
	rows  int
	yield func(*chunk, error) bool
	chunk *chunk
	err   error // of refuse, which cannot return one
}

func (s *lineSink) refuse(e convert.RecordError) {
	if s.err == nil {
		if s.err = s.write(&ibid.Answer{IDNull: true, QueryNull: true, AnswerNull: true}, nil, e); errors.Is(s.err, errEnough) {
			s.err = nil
		}
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

func (s *lineSink) write(r *ibid.Answer, number *int64, bad error) error {
	if s.chunk == nil {
		s.chunk = &chunk{path: filepath.Join(s.lines.dir, "lines.parquet"), bad: make(map[int]error)}
		if err := s.chunk.open(); err != nil {
			return err
		}
	}
	c := s.chunk
	if err := c.writer.Write(r); err != nil {
		return err
	}
	if bad != nil {
		c.bad[c.n] = bad
	}
	c.numbers = append(c.numbers, number)
	if c.n++; c.n < s.rows {
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
	if !s.yield(c, nil) {
		return errEnough
	}
	return nil
}

// inputRow is the member row of a line, which the import keeps with all that it does not
// know; nil if there is none.
func inputRow(r *ibid.Answer) *int64 {
	kept, ok := r.Tag("source_reference")
	if !ok {
		return nil
	}
	var members struct {
		Row *int64 `json:"row"`
	}
	if json.Unmarshal([]byte(kept), &members) != nil {
		return nil
	}
	return members.Row
}

func (l *lines) Next(ctx context.Context) (*dataset.StreamBatch, error) {
	for {
		if l.batches == nil {
			c, err, ok := l.next()
			if err != nil || !ok {
				return nil, cmp.Or(err, io.EOF)
			}
			l.batches, _ = iter.Pull2(l.open(ctx, c))
		}
		if b, err, ok := l.batches(); ok {
			return b, err
		}
		l.batches = nil
	}
}

// open reads the rows of a chunk.
func (l *lines) open(ctx context.Context, c *chunk) iter.Seq2[*dataset.StreamBatch, error] {
	return func(yield func(*dataset.StreamBatch, error) bool) {
		source, err := dataset.Open(c.path, l.o)
		if err == nil {
			err = source.Like(l.source).Read(ctx, 0, c.n, func(b *dataset.Batch) error {
				first := int(b.Pos())
				for i := range b.Len() {
					if err := c.bad[first+i]; err != nil {
						b.Refuse(i, err)
					}
				}
				row := func(i int) (int64, bool) {
					if n := c.numbers[first+i]; n != nil {
						return *n, true
					}
					return 0, false
				}
				yield(&dataset.StreamBatch{Batch: b, InputRow: row}, nil)
				return nil
			})
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
