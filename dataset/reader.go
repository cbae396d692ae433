package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Read decodes the rows from position from on, in order, and hands them to
// yield in batches of batchRows rows (the last may have fewer), whatever files
// and row groups they come from: batch k holds the rows from
// from+k*batchRows on. yield owns the batch and releases it, then or later; its
// error, and that of ctx, end the reading. A damaged file is an [*Error]; a bad
// value is not, see [Row].
func (s *Source) Read(ctx context.Context, from int64, batchRows int, yield func(*Batch) error) error {
	return s.files.read(ctx, from, batchRows, yield)
}

func (s *fileSet) read(ctx context.Context, from int64, batchRows int, yield func(*Batch) error) error {
	if from < 0 || batchRows <= 0 {
		return fmt.Errorf("reading %d rows from row %d on", batchRows, from)
	}
	r := newSetReader(s)
	defer r.close()
	pool := &batchPool{spec: s.spec}
	if err := r.skip(ctx, from, batchRows, pool); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := pool.get()
		b.pos = r.pos
		if err := r.fill(b, batchRows); err != nil {
			return err
		}
		if b.rows == 0 {
			return nil
		}
		if err := yield(b); err != nil {
			return err
		}
	}
}

// A setReader goes through the files of a set once.
type setReader struct {
	set     *fileSet
	present []bool // columns that some file has
	lists   []bool // list columns that some file has
	members [][]int

	pos      int64
	nextFile int
	file     *openFile // nil before the first and after the last
	fileRow  int64
	group    int // row group of file
	left     int64
	started  bool // the chunks of the row group have been started

	chunks    []chunkReader // by column
	skeletons []chunkReader // by list column, where none of its columns gives the shape
	shape     leafData
}

func newSetReader(s *fileSet) *setReader {
	r := &setReader{
		set: s, present: s.present, lists: s.lists,
		chunks: make([]chunkReader, len(s.spec.columns)), skeletons: make([]chunkReader, len(s.spec.groups)),
	}
	for g := range s.spec.groups {
		r.members = append(r.members, s.spec.members(g))
	}
	return r
}

func (r *setReader) close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// skip passes over n rows: whole files and row groups unread.
func (r *setReader) skip(ctx context.Context, n int64, batchRows int, pool *batchPool) error {
	for n > 0 && r.nextFile < len(r.set.files) && r.set.files[r.nextFile].Rows <= n {
		n -= r.set.files[r.nextFile].Rows
		r.pos += r.set.files[r.nextFile].Rows
		r.nextFile++
	}
	for n > 0 {
		if ok, err := r.advance(); !ok || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(n, r.left)
		if k == r.left && !r.started {
			r.passed(k)
		} else {
			b := pool.get()
			k = min(k, int64(batchRows))
			if err := r.fill(b, int(k)); err != nil {
				return err
			}
			b.Release()
		}
		n -= k
	}
	return nil
}

// passed counts k rows as read.
func (r *setReader) passed(k int64) {
	r.pos += k
	r.fileRow += k
	r.left -= k
}

// fill appends rows to b until it has the number asked for or there are no
// more. What a decoder panics with on damaged data becomes an error.
func (r *setReader) fill(b *Batch, rows int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.fail("", corrupt("%v", p))
		}
	}()
	for b.rows < rows {
		ok, err := r.advance()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		k := int(min(int64(rows-b.rows), r.left))
		if err := r.readRows(b, k); err != nil {
			return err
		}
		b.rows += k
		r.passed(int64(k))
	}
	b.finish()
	return nil
}

// advance moves to the next row group if the current one has no rows left; ok
// is false at the end of the last file.
func (r *setReader) advance() (ok bool, err error) {
	for r.left == 0 {
		if err := r.finishGroup(); err != nil {
			return false, err
		}
		if r.file != nil && r.group+1 < len(r.file.meta.RowGroups) {
			r.group++
			r.left = r.file.meta.RowGroups[r.group].NumRows
			continue
		}
		r.close()
		if r.nextFile == len(r.set.files) {
			return false, nil
		}
		if r.file, err = r.set.reopen(r.nextFile); err != nil {
			return false, err
		}
		r.nextFile++
		r.group, r.fileRow = -1, 0
	}
	return true, nil
}

// finishGroup checks that a row group that has been read holds no more values
// than its rows.
func (r *setReader) finishGroup() error {
	if !r.started {
		return nil
	}
	r.started = false
	for col := range r.chunks {
		if r.file.binding.leaves[col].leaf >= 0 && !r.chunks[col].done() {
			return r.fail(r.set.spec.path(col), corrupt("more values than rows"))
		}
	}
	return nil
}

// startGroup points the chunk readers at the current row group.
func (r *setReader) startGroup() {
	r.started = true
	columns := r.file.meta.RowGroups[r.group].Columns
	for col := range r.chunks {
		if leaf := &r.file.binding.leaves[col]; leaf.leaf >= 0 {
			r.chunks[col].start(r.file, leaf, &columns[leaf.leaf].MetaData)
		}
	}
	for g := range r.skeletons {
		if group := &r.file.binding.groups[g]; group.found && group.column < 0 {
			r.skeletons[g].start(r.file, &group.skeleton, &columns[group.skeleton.leaf].MetaData)
		}
	}
}

// fail names the place of an error in the data.
func (r *setReader) fail(column string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = corrupt("the file ends too early")
	}
	e := &Error{Row: r.fileRow, Column: column, Err: err}
	if r.file != nil {
		e.File = r.file.name
	}
	if errors.Is(err, ErrCorrupt) {
		e.Row = -1 // it is somewhere in the row group
		e.Hint = "write the file again; its data cannot be trusted"
	}
	return e
}

// readRows appends the next n rows of the row group to b.
func (r *setReader) readRows(b *Batch, n int) error {
	if !r.started {
		r.startGroup()
	}
	if len(b.parts) == 0 || r.fileRow == 0 {
		b.parts = append(b.parts, batchPart{r.file.name, b.rows, r.fileRow})
	}
	for col := range r.chunks {
		spec := &r.set.spec.columns[col]
		if spec.group >= 0 || !r.present[col] {
			continue
		}
		d := &b.leaves[col]
		if r.file.binding.leaves[col].leaf < 0 {
			d.pad(n, spec.kind)
		} else if err := r.chunks[col].takeEntries(n, nil, d, &b.arena); err != nil {
			return r.fail(r.set.spec.path(col), err)
		}
	}
	for g := range r.lists {
		if r.lists[g] {
			if err := r.readGroup(b, g, n); err != nil {
				return err
			}
		}
	}
	return nil
}
