package parquet

import (
	"encoding/binary"
	"slices"
)

// MayHoldInts reports whether a row group can have one of values, which ascend, in a column
// of integers, by the bounds that the file has of it: true where there are none, or no such
// column.
func (f *ResultFile) MayHoldInts(k int, name string, values []int64) bool {
	m := f.scalar(k, name)
	if m == nil {
		return true
	}
	var least, most int64
	switch {
	case len(m.MinValue) == 8 && len(m.MaxValue) == 8:
		least, most = int64(binary.LittleEndian.Uint64(m.MinValue)), int64(binary.LittleEndian.Uint64(m.MaxValue))
	case len(m.MinValue) == 4 && len(m.MaxValue) == 4:
		least, most = int64(int32(binary.LittleEndian.Uint32(m.MinValue))), int64(int32(binary.LittleEndian.Uint32(m.MaxValue)))
	default:
		return true
	}
	next, _ := slices.BinarySearch(values, least)
	return next < len(values) && values[next] <= most
}

// MayHoldText is MayHoldInts for a column of texts.
func (f *ResultFile) MayHoldText(k int, name, value string) bool {
	m := f.scalar(k, name)
	return m == nil || m.MinValue == nil || m.MaxValue == nil || string(m.MinValue) <= value && value <= string(m.MaxValue)
}

// scalar is a column that is no list in a row group, nil if there is none.
func (f *ResultFile) scalar(k int, name string) *columnChunk {
	column, ok := f.index[name]
	if !ok || f.leaves[column][0].Rep > 0 {
		return nil
	}
	return &f.file.groups[k].Columns[f.leaves[column][0].Column]
}
