package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/parquet"
)

// A Batch is a run of consecutive rows, decoded column by column. It may be
// handed to another goroutine; whoever has it last calls Release.
type Batch struct {
	pos    int64 // position of the first row over all files
	rows   int
	spec   *schemaSpec
	parts  []batchPart
	leaves []leafData  // by column
	groups []groupData // by list column
	errs   map[int32]error
	arena  parquet.Arena

	joined joined
	names  *DocumentNames
	want   Want
	limits Limits
	spans  int64 // elements of lists
	room   int64 // bytes that texts may still take
	cost   int64 // see batchPool.held
	pool   *batchPool
}

// A batchPart is the rows of one file.
type batchPart struct {
	file    string
	first   int   // row of the batch
	fileRow int64 // row of the file that it is
}

// leafData is what a batch holds of one column. Its Levels have become codes.
type leafData struct {
	parquet.Values
	start []int32 // of a list within a list: its first entry, by entry of the outer list; one more at the end
	some  bool    // there may be a value
	bad   []refusedValue
}

// A refusedValue is a value that the file holds and ibid cannot use. Its entry has
// become null.
type refusedValue struct {
	entry int32
	what  string
}

func (d *leafData) reset() {
	d.Reset()
	d.start, d.bad = d.start[:0], d.bad[:0]
}

// pad appends n nulls.
func (d *leafData) pad(n int) {
	d.Levels = extend(d.Levels, n)
	if !d.Short { // a list of plain texts
		d.Texts = extend(d.Texts, n)
	}
}

// repeat appends a text to a plain column n times.
func (d *leafData) repeat(text string, n int) {
	d.Texts = extend(d.Texts, len(d.Levels)-len(d.Texts))
	for range n {
		d.Levels, d.Texts = append(d.Levels, codePlain), append(d.Texts, text)
	}
}

// extend appends n zeros.
func extend[T any](s []T, n int) []T {
	old := len(s)
	s = slices.Grow(s, n)[:old+n]
	clear(s[old:])
	return s
}

// interpret turns the definition levels of the entries from before on into codes, and
// values that ibid cannot use into nulls.
func (d *leafData) interpret(leaf *boundLeaf, kind parquet.ColumnKind, before int) {
	leaf.translate(d.Levels[before:])
	for len(d.Over) > 0 && int(d.Over[len(d.Over)-1]) >= before {
		at := d.Over[len(d.Over)-1]
		d.Over = d.Over[:len(d.Over)-1]
		d.Levels[at] = leaf.absent()
		d.bad = append(d.bad, refusedValue{at, "limits: it does not fit beside the others of its part"})
	}
	if leaf.null {
		return
	}
	refuse := func(what string, bad func(i int) bool) {
		for i := before; i < len(d.Levels); i++ {
			if d.Levels[i] == leaf.present && bad(i) {
				d.bad = append(d.bad, refusedValue{int32(i), what})
				d.Levels[i] = leaf.absent()
			}
		}
	}
	switch kind {
	case parquet.String, parquet.ListString:
		if d.NotUTF8 {
			refuse("text is not UTF-8", func(i int) bool {
				if utf8.ValidString(d.Texts[i]) {
					return false
				}
				d.Texts[i] = ""
				return true
			})
		}
	case parquet.Double:
		for i := before; i < len(d.Floats); i++ {
			if math.IsNaN(d.Floats[i]) { // how data frames write a missing number
				d.Floats[i] = 0
				d.Levels[i] = leaf.absent()
			}
		}
		refuse("infinite number", func(i int) bool { return math.IsInf(d.Floats[i], 0) })
	default:
		if leaf.Unsigned {
			refuse("integer out of range", func(i int) bool { return d.Ints[i] < 0 })
		}
		if kind != parquet.Int32 {
			return
		}
		var high int64
		for i := before; i < len(d.Ints); i++ {
			high |= d.Ints[i] ^ d.Ints[i]>>63
		}
		if high > math.MaxInt32 {
			refuse("page number out of range", func(i int) bool { return !fitsInt32(d.Ints[i]) })
		}
	}
}

// groupData is the shape of one list column.
type groupData struct {
	rep, code []byte
	start     []int32 // first entry of each row; one more at the end
}

// some reports whether some list is not null.
func (g *groupData) some() bool { return bytes.Count(g.code, []byte{codeNull}) < len(g.code) }

// Len is the number of rows.
func (b *Batch) Len() int { return b.rows }

// HasLabels reports whether some row has a list of labels in its own file. Labels must be
// wanted.
func (b *Batch) HasLabels() bool { return b.groups[groupLabels].some() }

// HasTruth reports whether some row has a list of truth spans in its own file. Spans must
// be wanted.
func (b *Batch) HasTruth() bool { return b.groups[groupTruth].some() }

// HasDocuments reports whether some row lists a document. Documents must be wanted.
func (b *Batch) HasDocuments() bool {
	code := b.groups[groupDocuments].code
	return len(code) > 0 && slices.Max(code) > codeEmpty
}

// Citations is at least the number of citations of all rows, and at most that and the
// number of rows.
func (b *Batch) Citations() int { return len(b.groups[groupCitations].code) }

// Pos is the position of the first row in the input, over all its files.
func (b *Batch) Pos() int64 { return b.pos }

// Release gives the batch back for reuse. Rows filled from it, their strings
// included, must not be used any more. The batch must not be released twice.
func (b *Batch) Release() { b.pool.put(b) }

func (b *Batch) reset() {
	b.rows, b.parts, b.errs = 0, b.parts[:0], nil
	b.spans, b.cost = 0, 0
	b.room = b.limits.Times(mostMemory)
	for i := range b.leaves {
		b.leaves[i].reset()
	}
	for i := range b.groups {
		g := &b.groups[i]
		g.rep, g.code, g.start = g.rep[:0], g.code[:0], g.start[:0]
	}
	b.arena.Reset()
}

// Place says which file row i is in, and which of its rows it is.
func (b *Batch) Place(i int) (file string, row int64) {
	k := len(b.parts) - 1
	for b.parts[k].first > i {
		k--
	}
	part := &b.parts[k]
	return part.file, part.fileRow + int64(i-part.first)
}

// elements returns the entries of row i and whether its list is known; lo = hi
// if it has no element.
func (g *groupData) elements(i int) (lo, hi int, has bool) {
	if len(g.start) == 0 {
		return 0, 0, false
	}
	lo, hi = int(g.start[i]), int(g.start[i+1])
	switch g.code[lo] {
	case codeNull:
		return lo, lo, false
	case codeEmpty:
		return lo, lo, true
	}
	return lo, hi, true
}

// is reports whether entry e has a code.
func (d *leafData) is(e int, code byte) bool { return e < len(d.Levels) && d.Levels[e] == code }

// textAt is the text of entry e, "" for null or for no such column.
func (d *leafData) textAt(e int) string {
	if e >= len(d.Texts) {
		return ""
	}
	return d.Texts[e]
}

// part is the values of entries lo to hi, as far as there are any.
func part[T any](values []T, lo, hi int) []T {
	return values[min(lo, len(values)):min(hi, len(values))]
}

// inner returns the texts of the list within entry e, and whether it is known.
func (d *leafData) inner(e int) ([]string, bool) {
	if len(d.start) == 0 {
		return nil, false
	}
	lo, hi := int(d.start[e]), int(d.start[e+1])
	switch {
	case lo == hi || d.Levels[lo] <= codeElement:
		return nil, false
	case d.Levels[lo] == codeValue:
		return nil, true
	}
	return d.Texts[lo:hi:hi], true
}

// finish closes the offsets and finds the rows with bad values.
func (b *Batch) finish() {
	for g := range b.groups {
		if group := &b.groups[g]; len(group.start) > 0 {
			group.start = append(group.start, int32(len(group.code)))
		}
	}
	for col := range b.leaves {
		if d := &b.leaves[col]; len(d.start) > 0 {
			d.start = append(d.start, int32(len(d.Levels)))
		}
	}
	for col := range b.leaves {
		d, there := &b.leaves[col], byte(codeValue)
		switch c := &b.spec.columns[col]; {
		case c.group < 0:
			there = codePlain
		case c.nested():
			d.some = len(d.Levels) > 0
			continue
		}
		d.some = bytes.IndexByte(d.Levels, there) >= 0
	}
	b.cutLists()
	b.cutTexts()
	for g := range b.groups {
		b.findNull(b.spec.groups[g], g, nil, b.groups[g].code, codeNothing, "null instead of an element")
	}
	for col := range b.leaves {
		spec, d := &b.spec.columns[col], &b.leaves[col]
		for _, bad := range d.bad {
			b.setError(b.spec.path(col), spec.group, d.start, bad.entry, bad.what)
		}
		if spec.nested() {
			b.findNull(b.spec.path(col), spec.group, d.start, d.Levels, codeInnerNothing, "null instead of a text")
		}
	}
	if b.spec.rows && len(b.leaves[tagKey].Levels) > 0 {
		b.findNull("tags.key", groupTags, nil, b.leaves[tagKey].Levels, codeElement, "null instead of a key")
	}
}

// findNull records every entry that has a code it must not have.
func (b *Batch) findNull(path string, group int, outer []int32, codes []byte, code byte, what string) {
	for at := 0; ; at++ {
		k := bytes.IndexByte(codes[at:], code)
		if k < 0 {
			return
		}
		at += k
		b.setError(path, group, outer, int32(at), what)
	}
}

// setError records a bad value, the first of its row. outer holds the first
// entry of each element of the outer list if the column is a list within one.
func (b *Batch) setError(path string, group int, outer []int32, entry int32, what string) {
	row, where := entry, ""
	if group >= 0 {
		element := entry
		if outer != nil {
			element = lastAtMost(outer[:len(outer)-1], entry)
		}
		starts := b.groups[group].start
		row = lastAtMost(starts[:len(starts)-1], element)
		where = fmt.Sprintf("element %d: ", element-starts[row])
	}
	b.setRowError(row, path, errors.New(where+what))
}

// setRowError records what is wrong with a row, the first of its kind.
func (b *Batch) setRowError(row int32, path string, err error) {
	if b.errs == nil {
		b.errs = make(map[int32]error)
	}
	if b.errs[row] == nil {
		b.errs[row] = &ibid.Error{Column: path, Err: err}
	}
}

// lastAtMost returns the last index whose start is at most x; an element of the
// outer list without inner entries shares its start with the next.
func lastAtMost(starts []int32, x int32) int32 {
	after, _ := slices.BinarySearch(starts, x+1)
	return int32(after) - 1
}

// A batchPool keeps released batches, and few of those that are not if they are large.
// It is safe for concurrent use.
type batchPool struct {
	mu    sync.Mutex
	free  []*Batch
	set   *fileSet
	held  int64         // about what the batches on their way take, and what is made of them
	freed chan struct{} // has an item if held has become less
}

func newBatchPool(s *fileSet) *batchPool {
	return &batchPool{set: s, freed: make(chan struct{}, 1)}
}

func (p *batchPool) get() *Batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	spec := p.set.spec
	b := &Batch{
		spec: spec, pool: p, joined: p.set.joined, names: p.set.names, want: p.set.options.Want, limits: p.set.options.Limits,
		leaves: make([]leafData, len(spec.columns)), groups: make([]groupData, len(spec.groups)),
	}
	for col := range b.leaves {
		b.leaves[col].Short, b.leaves[col].Room = spec.columns[col].short(), &b.room
	}
	b.reset()
	return b
}

func (p *batchPool) put(b *Batch) {
	cost := b.cost
	b.reset()
	p.mu.Lock()
	p.free = append(p.free, b)
	p.held -= cost
	p.mu.Unlock()
	if cost > 0 {
		select {
		case p.freed <- struct{}{}:
		default:
		}
	}
}

// admit waits until b, which takes about so many bytes, fits beside the batches that have
// not been released, or there is none.
func (p *batchPool) admit(ctx context.Context, b *Batch, cost int64) error {
	for {
		p.mu.Lock()
		fits := p.held == 0 || p.held+cost <= b.limits.Times(mostMemory)/4*3
		if fits {
			b.cost = cost
			p.held += cost
		}
		p.mu.Unlock()
		if fits {
			return nil
		}
		select {
		case <-p.freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
