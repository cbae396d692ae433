package dataset

import (
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
	return s.files.read(ctx, from, batchRows, yield)
}

// ReadRows is Read for the rows at some positions, in ascending order without
// repetition: each is row i of a batch. They are found in one pass, which passes over row
// groups without any unread; rows that are near each other come in one batch. A batch is
// released behind its last row, unless yield returns an error.
func (s *Source) ReadRows(ctx context.Context, positions []int64, yield func(b *Batch, i int) error) error {
	r := newSetReader(&s.files)
	defer r.close()
	pool := newBatchPool(&s.files)
	together := int64(s.files.batchRows(nearbyRows))
	for k := 0; k < len(positions); {
		at := positions[k]
		if at < r.pos {
			return fmt.Errorf("reading row %d after row %d", at, r.pos-1)
		}
		if err := r.skip(ctx, at-r.pos, skippedRows, pool); err != nil {
			return err
		}
		b := pool.get()
		b.pos = r.pos
		end := k + 1 // of those in the batch
		for end < len(positions) && positions[end] > positions[end-1] && positions[end]-positions[end-1] <= nearRows && positions[end]-at < together {
			end++
		}
		if err := r.fill(b, int(positions[end-1]-at)+1); err != nil {
			return err
		}
		for ; k < end; k++ {
			i := int(positions[k] - at)
			if i >= b.rows {
				return fmt.Errorf("reading row %d of %d", positions[k], s.Rows())
			}
			if err := yield(b, i); err != nil {
				return err
			}
		}
		b.Release()
	}
	return nil
}

const (
	skippedRows = 1024 // decoded at once to pass over them
	nearRows    = 32   // rows up to which decoding them is less work than passing over them
	nearbyRows  = 256  // most rows of a batch of rows that are near each other
)

func (s *fileSet) read(ctx context.Context, from int64, batchRows int, yield func(*Batch) error) error {
	if from < 0 || batchRows <= 0 {
		return fmt.Errorf("reading %d rows from row %d on", batchRows, from)
	}
	batchRows = s.batchRows(batchRows)
	r := newSetReader(s)
	defer r.close()
	pool := newBatchPool(s)
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
		if err := pool.admit(ctx, b, b.spans*spanBytes+b.limits.Times(mostMemory)-b.room.Left()); err != nil {
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
	file     *openFile // nil before the first and after the last
	fileRow  int64
	group    int // row group of file
	left     int64
	started  bool // the chunks of the row group have been started
	budget   *parquet.Budget

	chunks    []parquet.Cursor // by column
	skeletons []parquet.Cursor // by list column, where none of its columns gives the shape
	shape     leafData
}

func newSetReader(s *fileSet) *setReader {
	r := &setReader{
		set: s, lists: make([]bool, len(s.lists)),
		chunks: make([]parquet.Cursor, len(s.spec.columns)), skeletons: make([]parquet.Cursor, len(s.spec.groups)),
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
func (r *setReader) skip(ctx context.Context, n int64, batchRows int, pool *batchPool) error {
	for n > 0 && r.left == 0 && (r.file == nil || r.group+1 == r.file.RowGroups()) && r.nextFile < len(r.set.files) && r.set.files[r.nextFile].Rows <= n {
		if err := r.finishGroup(); err != nil {
			return err
		}
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
		if r.file != nil && r.group+1 < r.file.RowGroups() {
			r.group++
			r.left = r.file.GroupRows(r.group)
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
		r.group, r.fileRow, r.budget = -1, 0, r.file.Budget(r.set.options.Limits.Times(mostMemory))
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
		if r.file.binding.leaves[col].Column >= 0 && !r.chunks[col].Done() {
			return r.fail(r.set.spec.path(col), corrupt("more values than rows"))
		}
	}
	return nil
}

// startGroup points the column readers at the current row group.
func (r *setReader) startGroup() error {
	r.started = true
	for col := range r.chunks {
		if leaf := &r.file.binding.leaves[col]; leaf.Column >= 0 {
			if err := r.chunks[col].Start(r.file.File, r.group, leaf.Leaf, r.budget); err != nil {
				return r.fail(r.set.spec.path(col), err)
			}
		}
	}
	for g := range r.skeletons {
		group := &r.file.binding.groups[g]
		if !group.found || group.column >= 0 {
			continue
		}
		if err := r.skeletons[g].Start(r.file.File, r.group, group.skeleton.Leaf, r.budget); err != nil {
			return r.fail(r.set.spec.groups[g], err)
		}
	}
	return nil
}

// fail names the place of an error in the data.
func (r *setReader) fail(column string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = corrupt("the file ends too early")
	}
	e := &ibid.Error{Row: ibid.Some(r.fileRow), Column: column, Err: err}
	if r.file != nil {
		e.File = r.file.Path
	}
	if errors.Is(err, parquet.ErrCorrupt) {
		e.Row = ibid.Integer{} // it is somewhere in the row group
		e.Err = fmt.Errorf("%w, in row group %d", err, r.group)
		e.Hint = "write the file again; its data cannot be trusted"
		if errors.Is(err, parquet.ErrLarge) {
			e.Hint = "write the file with smaller pages and row groups"
		}
	}
	return e
}

// readRows appends the next n rows of the row group to b.
func (r *setReader) readRows(b *Batch, n int) error {
	if !r.started {
		if err := r.startGroup(); err != nil {
			return err
		}
	}
	if len(b.parts) == 0 || r.fileRow == 0 {
		b.parts = append(b.parts, batchPart{r.file.Path, b.rows, r.fileRow})
	}
	for col := range r.chunks {
		spec := &r.set.spec.columns[col]
		if spec.group >= 0 || !r.set.present[col] {
			continue
		}
		d, leaf := &b.leaves[col], &r.file.binding.leaves[col]
		if text, ok := r.file.given[col]; ok {
			d.repeat(text, n)
			continue
		}
		if leaf.Column < 0 {
			d.pad(n)
			continue
		}
		before := len(d.Levels)
		if err := r.chunks[col].ReadEntries(n, nil, &d.Values, &b.arena); err != nil {
			return r.fail(r.set.spec.path(col), err)
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
	group, bound := &b.groups[g], &r.file.binding.groups[g]
	before := len(group.code)
	if err := r.readShape(b, g, n); err != nil {
		return r.fail(r.set.spec.groups[g], err)
	}
	group.start = appendZeros(group.start, group.rep[before:], before, n)
	b.cut(group.cuts, b.rows, r.set.spec.groups[g])
	b.spans += int64(len(group.code) - before - n)
	for _, col := range r.members[g] {
		if bound.found && bound.column == col {
			continue
		}
		if err := r.readMember(b, g, col, n, before); err != nil {
			return r.fail(r.set.spec.path(col), err)
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
	group, bound := &b.groups[g], &r.file.binding.groups[g]
	group.cuts = nil
	if !bound.found { // null lists
		group.rep, group.code = extend(group.rep, n), extend(group.code, n)
		return nil
	}
	chunk, d, leaf, kind := &r.skeletons[g], &r.shape, &bound.skeleton, textValue
	if bound.column >= 0 {
		chunk, d, kind = &r.chunks[bound.column], &b.leaves[bound.column], r.set.spec.columns[bound.column].kind
	} else {
		d.reset()
	}
	entries, cuts, err := chunk.ReadRows(n, b.rowLimit(n), &d.Values, &group.rep, &b.arena)
	if err != nil {
		return err
	}
	group.cuts = cuts
	d.interpret(leaf, kind, len(d.Levels)-entries)
	group.code = append(group.code, d.Levels[len(d.Levels)-entries:]...)
	return nil
}

// readMember appends one member of the entries of group g from before on.
func (r *setReader) readMember(b *Batch, g, col, n, before int) error {
	group, d := &b.groups[g], &b.leaves[col]
	spec := &r.set.spec.columns[col]
	codes, levels := group.code[before:], group.rep[before:]
	bound := r.file.binding.leaves[col].Column >= 0
	switch {
	case spec.nested && bound:
		return r.readNested(b, d, col, n, codes, levels)
	case spec.nested:
		for range codes {
			d.start = append(d.start, int32(len(d.Levels)))
		}
		return nil
	case !bound:
		d.pad(len(codes))
		return nil
	}
	if err := readCut(&r.chunks[col], group.cuts, levels, d, &b.arena); err != nil {
		return err
	}
	d.interpret(&r.file.binding.leaves[col], spec.kind, len(d.Levels)-len(codes))
	if !sameShape(codes, d.Levels[len(d.Levels)-len(codes):]) {
		return corrupt("the members of one list differ in what is null")
	}
	return nil
}

// readNested appends the lists within the entries of a list.
func (r *setReader) readNested(b *Batch, d *leafData, col, n int, codes, levels []byte) error {
	before, chunk := len(d.Levels), &r.chunks[col]
	spec := &r.set.spec.columns[col]
	var own []parquet.Cut // rows whose inner lists together are too long
	row := 0
	read := func(n int) error {
		first := len(d.Levels) - before
		_, cuts, err := chunk.ReadRows(n, b.rowLimit(n+len(codes)), &d.Values, &d.rep, &b.arena)
		b.cut(cuts, b.rows+row, r.set.spec.path(col))
		for _, c := range cuts {
			c.Entry += first
			own = append(own, c)
		}
		row += n
		return err
	}
	for _, c := range b.groups[spec.group].cuts {
		if err := read(c.Row - row); err != nil {
			return err
		}
		if _, err := chunk.SkipRow(&d.Values); err != nil {
			return err
		}
		d.rep = append(d.rep, 0)
		row++
	}
	if err := read(n - row); err != nil {
		return err
	}
	entries := len(d.Levels) - before
	b.spans += int64(entries - n)
	d.interpret(&r.file.binding.leaves[col], spec.kind, before)
	outer := 0
	for i, level := range d.rep[len(d.rep)-entries:] {
		if level > 1 {
			continue
		}
		if len(own) > 0 && own[0].Entry == i && outer < len(codes) {
			own = own[1:]
			for first := outer; outer < len(codes) && (outer == first || levels[outer] != 0); outer++ {
				d.start = append(d.start, int32(before+i))
			}
			continue
		}
		if outer == len(codes) || level != levels[outer] || min(d.Levels[before+i], codeElement) != min(codes[outer], codeElement) {
			return corrupt("the members of one list have different lengths")
		}
		d.start = append(d.start, int32(before+i))
		outer++
	}
	if outer != len(codes) {
		return corrupt("the members of one list have different lengths")
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
