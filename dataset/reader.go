package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
)

// Read decodes the rows from position from on, in order, and hands them to
// yield in batches of batchRows rows (the last may have fewer; [Source.BatchRows] says
// where all have), whatever files
// and row groups they come from: batch k holds the rows from
// from+k*batchRows on. yield owns the batch and releases it, then or later; its
// error, and that of ctx, end the reading. A damaged file is an [*ibid.Error]; a bad
// value is not, see [Row].
func (s *Source) Read(ctx context.Context, from int64, batchRows int, yield func(*Batch) error) error {
	return s.fileSet.read(ctx, from, batchRows, yield)
}

// ReadRows is Read for the rows at some positions, in ascending order without
// repetition: each is row i of a batch. They are found in one pass, which passes over row
// groups without any unread. A batch is released behind its row, unless yield returns an
// error.
func (s *Source) ReadRows(ctx context.Context, positions []int64, yield func(b *Batch, i int) error) error {
	r := newSetReader(&s.fileSet)
	defer r.close()
	pool := newBatchPool(&s.fileSet)
	for _, at := range positions {
		if at < r.pos {
			return fmt.Errorf("reading row %d after row %d", at, r.pos-1)
		}
		if err := r.skip(at - r.pos); err != nil {
			return err
		}
		b, err := r.batch(ctx, pool, 1)
		if err != nil {
			return err
		}
		if b.rows == 0 {
			return fmt.Errorf("reading row %d of %d", at, s.Rows())
		}
		if err := yield(b, 0); err != nil {
			return err
		}
		b.Release()
	}
	return nil
}

func (s *fileSet) read(ctx context.Context, from int64, batchRows int, yield func(*Batch) error) error {
	if from < 0 || batchRows <= 0 {
		return fmt.Errorf("reading %d rows from row %d on", batchRows, from)
	}
	batchRows = s.batchRows(batchRows)
	r := newSetReader(s)
	defer r.close()
	pool := newBatchPool(s)
	if err := r.skip(from); err != nil {
		return err
	}
	for {
		b, err := r.batch(ctx, pool, batchRows)
		if err != nil || b.rows == 0 {
			return err
		}
		if err := pool.admit(ctx, b, b.spans*spanBytes+b.limits.Times(mostMemory)-b.room); err != nil {
			return err
		}
		if err := yield(b); err != nil {
			return err
		}
	}
}

// A setReader goes through the files of a set once.
type setReader struct {
	set     *fileSet
	lists   []bool  // list columns that some file has, and of which something is wanted
	members [][]int // of these, the columns that some file has and that are wanted

	pos      int64
	nextFile int
	file     *openFile // nil before the first and after the last, and of a stream
	name     string    // of the file or stream
	row      int64     // of it, the next
	left     int64     // rows of file
	binding  *binding
	given    map[int]string // see [openFile]
	leaves   []readLeaf

	columns []rowReader      // of each leaf, see [readLeaf]
	chunks  []parquet.Cursor // that columns are, unless of a stream
	shape   leafData
	rep     []byte // of a member of a list
}

// A rowReader reads the entries of one leaf, see [parquet.Cursor.ReadRows].
type rowReader interface {
	ReadRows(n, most int, dst *parquet.Values, rep *[]byte, a *parquet.Arena) (entries int, err error)
}

func newSetReader(s *fileSet) *setReader {
	leaves := len(s.spec.columns) + len(s.spec.groups)
	r := &setReader{set: s, lists: make([]bool, len(s.lists)), chunks: make([]parquet.Cursor, leaves), columns: make([]rowReader, leaves)}
	for i := range r.chunks {
		r.columns[i] = &r.chunks[i]
	}
	for g := range s.spec.groups {
		wanted := slices.DeleteFunc(s.spec.members(g), func(col int) bool { return s.spec.columns[col].want&s.options.Want == 0 })
		r.lists[g] = s.lists[g] && len(wanted) > 0
		r.members = append(r.members, slices.DeleteFunc(wanted, func(col int) bool { return !s.present[col] }))
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
func (r *setReader) skip(n int64) error {
	for n > 0 {
		if r.left == 0 && r.nextFile < len(r.set.files) && r.set.files[r.nextFile].Rows <= n {
			n -= r.set.files[r.nextFile].Rows
			r.pos += r.set.files[r.nextFile].Rows
			r.nextFile++
			continue
		}
		if ok, err := r.advance(); !ok || err != nil {
			return err
		}
		k := min(n, r.left)
		for _, leaf := range r.leaves {
			if err := r.fail(leaf.path, &r.chunks[leaf.at], r.chunks[leaf.at].SkipRows(int(k))); err != nil {
				return err
			}
		}
		n -= k
		r.passed(k)
	}
	return nil
}

// passed counts k rows as read.
func (r *setReader) passed(k int64) {
	r.pos += k
	r.row += k
	r.left -= k
}

// batch reads up to rows rows; none at the end.
func (r *setReader) batch(ctx context.Context, pool *batchPool, rows int) (*Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := pool.get()
	b.pos = r.pos
	for b.rows < rows {
		ok, err := r.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		k := int(min(int64(rows-b.rows), r.left))
		if err := r.readRows(b, k); err != nil {
			return nil, err
		}
		b.rows += k
		r.passed(int64(k))
	}
	b.finish()
	return b, nil
}

// advance moves to the next file if the current one has no rows left; ok is false at the
// end of the last.
func (r *setReader) advance() (ok bool, err error) {
	for r.left == 0 {
		r.close()
		if r.nextFile == len(r.set.files) {
			return false, nil
		}
		if r.file, err = r.set.reopen(r.nextFile); err != nil {
			return false, err
		}
		r.nextFile++
		r.name, r.row, r.left, r.binding, r.given = r.file.Path, 0, r.file.Rows(), r.file.binding, r.file.given
		budget := r.set.options.Limits.Times(mostMemory)
		r.leaves = r.file.leaves(r.set.spec)
		for _, leaf := range r.leaves {
			r.chunks[leaf.at].Start(r.file.File, 0, r.file.RowGroups(), leaf.Leaf, &budget)
		}
	}
	return true, nil
}

// fail names the place of an error in the data; c has read it, unless nil.
func (r *setReader) fail(column string, c *parquet.Cursor, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = corrupt("the file ends too early")
	case errors.Is(err, parquet.ErrManyEntries):
		err = r.set.options.Limits.errManySpans()
	}
	e := &ibid.Error{Column: column, Err: err, Usage: errors.Is(err, ibid.ErrUsage)}
	if u, ok := errors.AsType[*ibid.Error](err); ok {
		e.Err, e.Hint = u.Err, u.Hint
	}
	if r.file != nil {
		e.File, e.Row = r.name, ibid.Some(r.row)
	}
	if errors.Is(err, parquet.ErrCorrupt) {
		e.Row = ibid.Integer{} // it is somewhere in the row group
		if r.file != nil {
			e.Err = fmt.Errorf("%w, in row group %d", err, c.Group())
		}
		e.Hint = "write the file again; its data cannot be trusted"
		if errors.Is(err, parquet.ErrLarge) {
			e.Hint = "write the file with smaller pages and row groups"
		}
	}
	return e
}

// readRows appends the next n rows of the file to b.
func (r *setReader) readRows(b *Batch, n int) error {
	if len(b.parts) == 0 || r.row == 0 {
		b.parts = append(b.parts, batchPart{r.name, b.rows, r.row})
	}
	for col := range r.set.spec.columns {
		spec := &r.set.spec.columns[col]
		if spec.group >= 0 || !r.set.present[col] {
			continue
		}
		d, leaf := &b.leaves[col], &r.binding.leaves[col]
		if text, ok := r.given[col]; ok {
			d.repeat(text, n)
			continue
		}
		if leaf.Column < 0 {
			d.pad(n)
			continue
		}
		before := len(d.Levels)
		if _, err := r.columns[col].ReadRows(n, n, &d.Values, nil, &b.arena); err != nil {
			return r.fail(r.set.spec.path(col), &r.chunks[col], err)
		}
		d.interpret(leaf, spec.kind, before)
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

// readGroup appends n rows of list column g to b: the shape first, then each
// member, which must have the same shape.
func (r *setReader) readGroup(b *Batch, g, n int) error {
	group, bound := &b.groups[g], &r.binding.groups[g]
	before := len(group.code)
	if err := r.readShape(b, g, n); err != nil {
		return err
	}
	group.start = appendZeros(group.start, group.rep[before:], before, n)
	b.spans += int64(len(group.code) - before - n)
	for _, col := range r.members[g] {
		if bound.found && bound.column == col {
			continue
		}
		if err := r.readMember(b, g, col, n, before); err != nil {
			return r.fail(r.set.spec.path(col), &r.chunks[col], err)
		}
	}
	return nil
}

// appendZeros appends to dst first plus the index of each of the n zeros of
// levels. Lists are of all lengths, so a branch would be mispredicted.
func appendZeros(dst []int32, levels []byte, first, n int) []int32 {
	old := len(dst)
	dst = slices.Grow(dst, n+1)[:old+n+1] // each index is written before it is known to count
	k := old
	for i, level := range levels {
		dst[k] = int32(first + i)
		k += int((level - 1) >> 7)
	}
	return dst[:k]
}

// readShape appends the entries of n rows to group g of b.
func (r *setReader) readShape(b *Batch, g, n int) error {
	group, bound := &b.groups[g], &r.binding.groups[g]
	if !bound.found { // null lists
		group.rep, group.code = extend(group.rep, n), extend(group.code, n)
		return nil
	}
	at, d, leaf, kind := len(r.set.spec.columns)+g, &r.shape, &bound.skeleton, parquet.String
	if bound.column >= 0 {
		at, d, kind = bound.column, &b.leaves[bound.column], r.set.spec.columns[bound.column].kind
	} else {
		d.reset()
	}
	entries, err := r.columns[at].ReadRows(n, b.entriesLeft(n), &d.Values, &group.rep, &b.arena)
	if err != nil {
		return r.fail(r.set.spec.groups[g], &r.chunks[at], err)
	}
	d.interpret(leaf, kind, len(d.Levels)-entries)
	group.code = append(group.code, d.Levels[len(d.Levels)-entries:]...)
	return nil
}

// readMember appends one member of the entries of group g from before on, with the lists within
// them if it is nested.
func (r *setReader) readMember(b *Batch, g, col, n, before int) error {
	group, d, leaf, spec := &b.groups[g], &b.leaves[col], &r.binding.leaves[col], &r.set.spec.columns[col]
	codes, levels, first := group.code[before:], group.rep[before:], len(d.Levels)
	most := len(codes)
	switch {
	case leaf.Column < 0 && spec.nested():
		d.start = append(d.start, slices.Repeat([]int32{int32(first)}, len(codes))...)
		return nil
	case leaf.Column < 0:
		d.pad(len(codes))
		return nil
	case spec.nested():
		most = b.entriesLeft(n + len(codes))
	}
	lengths := func() error { return corrupt("the members of one list have different lengths") }
	r.rep = r.rep[:0]
	entries, err := r.columns[col].ReadRows(n, most, &d.Values, &r.rep, &b.arena)
	switch {
	case errors.Is(err, parquet.ErrManyEntries) && !spec.nested():
		return lengths()
	case err != nil:
		return err
	}
	d.interpret(leaf, spec.kind, first)
	switch {
	case spec.nested():
	case !bytes.Equal(r.rep, levels):
		return lengths()
	case !sameShape(codes, d.Levels[first:]):
		return corrupt("the members of one list differ in what is null")
	default:
		return nil
	}
	b.spans += int64(entries - n)
	outer := 0
	for i, level := range r.rep {
		if level > 1 {
			continue
		}
		if outer == len(codes) || level != levels[outer] || min(d.Levels[first+i], codeElement) != min(codes[outer], codeElement) {
			return lengths()
		}
		d.start = append(d.start, int32(first+i))
		outer++
	}
	if outer != len(codes) {
		return lengths()
	}
	return nil
}

// sameShape reports whether two members say the same of the elements they
// belong to: codes up to codeElement are equal, and codeValue, the highest here,
// counts as codeElement.
func sameShape(a, b []byte) bool {
	const ones = 0x0101010101010101
	for len(a) >= 8 && len(b) >= 8 {
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		if x-x>>2&ones != y-y>>2&ones {
			return false
		}
		a, b = a[8:], b[8:]
	}
	for i := range a {
		if min(a[i], codeElement) != min(b[i], codeElement) {
			return false
		}
	}
	return true
}
