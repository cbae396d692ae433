package parquet

import (
	"encoding/binary"
	"slices"
)

// MayHoldInts reports whether a row group can have one of values, which ascend, in a column
// of integers, by the bounds that the file has of it: true where there are none, or no such
// column.
func (f *ResultFile) MayHoldInts(k int, name string, values []int64) bool {
	m, ok := f.statistics(k, name)
	if !ok {
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

// statistics are those of a scalar column in a row group; ok is false if it has no bounds.
func (f *ResultFile) statistics(k int, name string) (s statistics, ok bool) {
	column, ok := f.index[name]
	if !ok || f.leaf[column] < 0 || f.leaves[f.leaf[column]].maxRep > 0 {
		return s, false
	}
	s = f.file.groups[k].Columns[f.leaf[column]].Statistics
	return s, s.MinValue != nil && s.MaxValue != nil
}
