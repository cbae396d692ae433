package parquet

import (
	"encoding/json"
	"slices"
)

// A Quotient says that the values of a column of doubles are not stored: each is the
// quotient of two sums of multiples of other numbers of its row, and null where one of
// these is null or the denominator is 0. The footer says so, and [ResultFile.ReadColumn]
// reads such a column as any other.
type Quotient struct {
	Num []Multiple `json:"num"`
	Den []Multiple `json:"den"`
}

// A Multiple is a number of a row, times a factor.
type Multiple struct {
	Column string  `json:"column"`
	Factor float64 `json:"factor"`
}

// derivedKey is the key of the file's metadata that says which columns are derived: a JSON
// array of them, with the positions that they have among all columns.
const derivedKey = "ibid.derived"

type derivedColumn struct {
	Name string `json:"name"`
	At   int    `json:"at"`
	Quotient
}

// derivedText describes the derived columns of a schema, "" if it has none.
func derivedText(fields []Field) string {
	var list []derivedColumn
	for i, f := range fields {
		if f.Of != nil {
			list = append(list, derivedColumn{f.Name, i, *f.Of})
		}
	}
	if list == nil {
		return ""
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // factors are constants of metrics
	}
	return string(text)
}

// insertDerived inserts what text describes into the fields that are stored.
func insertDerived(fields []Field, text string) ([]Field, error) {
	var list []derivedColumn
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, corrupt("%s: %v", derivedKey, err)
	}
	number := make(map[string]bool, len(fields))
	for _, f := range fields {
		number[f.Name] = slices.Contains([]ColumnKind{Int32, Int64, Double}, f.Kind)
	}
	for _, c := range list {
		if _, stored := number[c.Name]; stored || c.Name == "" || c.At < 0 || c.At > len(fields) {
			return nil, corrupt("%s: column %q at %d", derivedKey, c.Name, c.At)
		}
		for _, m := range slices.Concat(c.Num, c.Den) {
			if !number[m.Column] {
				return nil, corrupt("%s: column %q is of %q", derivedKey, c.Name, m.Column)
			}
		}
		fields = slices.Insert(fields, c.At, Field{Name: c.Name, Kind: Double, Of: &c.Quotient})
		number[c.Name] = false
	}
	return fields, nil
}

// LeavesOut reports whether a result file has a column that is not stored.
func (f *File) LeavesOut(name string) bool {
	for _, kv := range f.meta.KeyValueMetadata {
		var list []derivedColumn
		if kv.Key == derivedKey && json.Unmarshal([]byte(kv.Value), &list) == nil {
			return slices.ContainsFunc(list, func(c derivedColumn) bool { return c.Name == name })
		}
	}
	return false
}

// derive computes a derived column of row group k, as [ResultFile.ReadCells] reads others.
func (f *ResultFile) derive(k int, of *Quotient, at []int, v *ColumnValues) error {
	if v.part == nil {
		v.part = new(ColumnValues)
	}
	v.reset(Double)
	if v.Rows = len(at); at == nil {
		v.Rows = f.GroupRows(k)
	}
	v.Valid = slices.Grow(v.Valid, v.Rows)[:v.Rows]
	for i := range v.Valid {
		v.Valid[i] = true
	}
	v.Doubles, v.den = zeros(v.Doubles, v.Rows), zeros(v.den[:0], v.Rows)
	for _, side := range []struct {
		terms []Multiple
		to    []float64
	}{{of.Num, v.Doubles}, {of.Den, v.den}} {
		for _, m := range side.terms {
			if err := f.readColumn(k, f.index[m.Column], at, v.part); err != nil {
				return err
			}
			for i, ok := range v.part.Valid {
				switch {
				case !ok:
					v.Valid[i] = false
				case v.part.Kind == Double:
					side.to[i] += m.Factor * v.part.Doubles[i]
				default:
					side.to[i] += m.Factor * float64(v.part.Ints[i])
				}
			}
		}
	}
	for i, ok := range v.Valid {
		if v.Valid[i] = ok && v.den[i] != 0; v.Valid[i] {
			v.Doubles[i] /= v.den[i]
		} else {
			v.Doubles[i] = 0
		}
	}
	return nil
}
