package dataset

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// maxIntDictionary bounds the dictionary of all integers between two.
const maxIntDictionary = 1 << 16

// smallIntDictionary is the size of a dictionary that is not worth a comparison
// with other encodings.
const smallIntDictionary = 256

// beginInts chooses between the three encodings of integers by what they take.
func (v *leafValues) beginInts() {
	ints := v.column.ints
	if len(ints) == 0 {
		return
	}
	lo, hi := v.column.bounds.least, v.column.bounds.most
	v.minInt, v.maxInt, v.hasBounds = lo, hi, true
	if v.leaf.typ == format.Boolean {
		return
	}
	size := 8
	if v.leaf.typ == format.Int32 {
		size = 4
	}
	least := len(ints) * size / 4 * 3
	span := uint64(hi) - uint64(lo)
	if span < 1<<(6*size) && (span >= smallIntDictionary || len(ints) < smallIntDictionary) { // else the differences may take nearly as much
		v.mode = deltaMode
		least = min(least, len(ints)*int(deltaWidth(ints))/8+len(ints)/20) // and what blocks say of themselves
	}
	if span >= maxIntDictionary {
		return
	}
	width := bitWidth(int(span + 1))
	if int(span+1)*size+len(ints)*int(width)/8 > least && lo != hi {
		return
	}
	v.mode, v.width, v.dictLen = offsetCodes, width, int(span+1)
	if lo == hi {
		v.mode = oneValue
	}
	for x := lo; x <= hi; x++ {
		if size == 4 {
			v.dict = binary.LittleEndian.AppendUint32(v.dict, uint32(x))
		} else {
			v.dict = binary.LittleEndian.AppendUint64(v.dict, uint64(x))
		}
	}
}

// deltaWidth is the most bits that a difference takes as [appendDelta] writes it.
func deltaWidth(ints []int64) uint {
	var least, most int64
	for i, x := range ints[1:] {
		d := x - ints[i]
		least, most = min(least, d), max(most, d)
	}
	return uint(bits.Len64(uint64(most - least)))
}
