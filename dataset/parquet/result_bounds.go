package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// MayHoldInt reports whether a row group can have a value in a column of integers, by the
// bounds that the file has of it: true where there are none, or no such column.
func (f *ResultFile) MayHoldInt(k int, name string, value int64) bool {
	m, ok := f.statistics(k, name)
	if !ok {
		return true
	}
	switch least, most := m.MinValue, m.MaxValue; {
	case len(least) == 8 && len(most) == 8:
		return int64(binary.LittleEndian.Uint64(least)) <= value && value <= int64(binary.LittleEndian.Uint64(most))
	case len(least) == 4 && len(most) == 4:
		return int64(int32(binary.LittleEndian.Uint32(least))) <= value && value <= int64(int32(binary.LittleEndian.Uint32(most)))
	}
	return true
}

// statistics are those of a scalar column in a row group; ok is false if it has no bounds.
func (f *ResultFile) statistics(k int, name string) (s format.Statistics, ok bool) {
	column, ok := f.index[name]
	if !ok || f.leaves[f.leaf[column]].maxRep > 0 {
		return s, false
	}
	s = f.file.meta.RowGroups[k].Columns[f.leaf[column]].MetaData.Statistics
	return s, s.MinValue != nil && s.MaxValue != nil
}
