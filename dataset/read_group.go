package dataset

import (
	"encoding/binary"
	"slices"
)

// readGroup appends n rows of list column g to b: the shape first, then each
// member, which must have the same shape.
func (r *setReader) readGroup(b *Batch, g, n int) error {
	group, bound := &b.groups[g], &r.file.binding.groups[g]
	before := len(group.code)
	if err := r.readShape(b, g, n); err != nil {
		return r.fail(r.set.spec.groups[g], err)
	}
	group.start = appendZeros(group.start, group.rep[before:], before, n)
	for _, col := range r.members[g] {
		if !r.present[col] || bound.found && bound.column == col {
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
	if !bound.found { // null lists
		group.rep, group.code = extend(group.rep, n), extend(group.code, n)
		return nil
	}
	chunk, d := &r.skeletons[g], &r.shape
	if bound.column >= 0 {
		chunk, d = &r.chunks[bound.column], &b.leaves[bound.column]
	} else {
		d.reset()
	}
	entries, err := chunk.takeRows(n, d, &group.rep, &b.arena)
	if err != nil {
		return err
	}
	group.code = append(group.code, d.code[len(d.code)-entries:]...)
	return nil
}

// readMember appends one member of the entries of group g from before on.
func (r *setReader) readMember(b *Batch, g, col, n, before int) error {
	group, d := &b.groups[g], &b.leaves[col]
	spec := &r.set.spec.columns[col]
	codes, levels := group.code[before:], group.rep[before:]
	bound := r.file.binding.leaves[col].leaf >= 0
	switch {
	case spec.nested && bound:
		return r.readNested(d, col, n, codes, levels, &b.arena)
	case spec.nested:
		for range codes {
			d.start = append(d.start, int32(len(d.code)))
		}
		return nil
	case !bound:
		d.pad(len(codes), spec.kind)
		return nil
	}
	if err := r.chunks[col].takeEntries(len(codes), levels, d, &b.arena); err != nil {
		return err
	}
	if !sameShape(codes, d.code[len(d.code)-len(codes):]) {
		return corrupt("the members of one list differ in what is null")
	}
	return nil
}

// readNested appends the lists within the entries of a list.
func (r *setReader) readNested(d *leafData, col, n int, codes, levels []byte, a *arena) error {
	before := len(d.code)
	entries, err := r.chunks[col].takeRows(n, d, &d.rep, a)
	if err != nil {
		return err
	}
	outer := 0
	for i, level := range d.rep[len(d.rep)-entries:] {
		if level > 1 {
			continue
		}
		if outer == len(codes) || level != levels[outer] || min(d.code[before+i], codeElement) != min(codes[outer], codeElement) {
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
