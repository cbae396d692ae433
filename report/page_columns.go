package report

import (
	"ibid"
	"ibid/dataset/parquet"
)

// A columnReader takes over entry k of a column as item i of a table.
type columnReader func(i int, v *parquet.ColumnValues, k int)

// readTable reads columns of a result file; those that it does not have are
// left out. size is told the number of rows first.
func readTable(path string, columns map[string]columnReader, size func(rows int)) error {
	f, err := parquet.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size(int(f.Rows()))
	var v parquet.ColumnValues
	first := 0
	for g := range f.RowGroups() {
		for name, read := range columns {
			if !f.Has(name) {
				continue
			}
			if err := f.ReadColumn(g, name, &v); err != nil {
				return err
			}
			for k := range v.Rows {
				read(first+k, &v, k)
			}
		}
		first += f.GroupRows(g)
	}
	return nil
}

func texts(field func(i int) *string) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) { *field(i) = v.Strings[k] }
}

func ints(field func(i int) *ibid.Integer) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) {
		*field(i) = ibid.SomeIf(v.Ints[k], v.Valid[k])
	}
}

func doubles(field func(i int) *ibid.Number) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) {
		*field(i) = ibid.SomeIf(v.Doubles[k], v.Valid[k])
	}
}

func lists(field func(i int) *[]int64) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) {
		if lo, hi := v.Offsets[k], v.Offsets[k+1]; lo < hi {
			*field(i) = append([]int64(nil), v.Ints[lo:hi]...)
		}
	}
}

// numbers is doubles for a column that may hold integers, too.
func numbers(field func(i int) *ibid.Number) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) {
		f := ibid.SomeIf(0.0, v.Valid[k])
		if len(v.Doubles) > 0 {
			f.Value = v.Doubles[k]
		} else {
			f.Value = float64(v.Ints[k])
		}
		*field(i) = f
	}
}
