package parquet

import (
	"hash/maphash"
	"slices"
)

// A MapRef names a map that [Table.DefineMap] stored, for one column of one
// table.
type MapRef int32

// mapSets is a sequence of maps in which equal maps are kept once.
type mapSets struct {
	rows    []int32            // per map that is not null: i for sets[i], ^i for defined[i]
	sets    []mapSet           // of this part
	byHash  map[uint64][]int32 // indices of sets
	defined []mapSet           // made by DefineMap; they outlive a reset
}

// A mapSet is one map as given: keys[i] has values[i].
type mapSet struct{ keys, values []string }

func newMapSet(keys, values []string) mapSet {
	s := mapSet{make([]string, len(keys)), make([]string, len(values))}
	for i := range keys {
		s.keys[i], s.values[i] = validText(keys[i]), validText(values[i])
	}
	return s
}

func (m *mapSets) reset() {
	m.rows = m.rows[:0]
	clear(m.sets)
	m.sets = m.sets[:0]
	clear(m.byHash)
}

// set returns the map of one element of rows.
func (m *mapSets) set(row int32) *mapSet {
	if row < 0 {
		return &m.defined[^row]
	}
	return &m.sets[row]
}

// find returns the index of the part's set that equals keys and values, adding
// it if need be.
func (m *mapSets) find(keys, values []string) int32 {
	h := hashMap(keys, values)
	for _, i := range m.byHash[h] {
		if slices.Equal(m.sets[i].keys, keys) && slices.Equal(m.sets[i].values, values) {
			return i
		}
	}
	i := int32(len(m.sets))
	m.sets = append(m.sets, newMapSet(keys, values))
	if m.byHash == nil {
		m.byHash = make(map[uint64][]int32)
	}
	m.byHash[h] = append(m.byHash[h], i)
	return i
}

// textSeed differs between processes. No result depends on it: hashes only find
// what was seen before.
var textSeed = maphash.MakeSeed()

func hashMap(keys, values []string) uint64 {
	h := uint64(len(keys))
	for i := range keys {
		h = h*0x9E3779B97F4A7C15 ^ maphash.String(textSeed, keys[i])
		h = h*0x9E3779B97F4A7C15 ^ maphash.String(textSeed, values[i])
	}
	return h
}

// AppendMap appends the map from keys[i] to values[i] to a MapString column.
// Entries are written in the order given; a key must not be given twice. Both
// slices must be equally long, and empty slices are the empty map. Strings are
// treated as by AppendString.
func (t *Table) AppendMap(c int, keys, values []string) {
	if len(keys) != len(values) {
		panic("parquet: map with keys and values of different number")
	}
	m := &t.column(c, MapString).maps
	m.rows = append(m.rows, m.find(keys, values))
}

// DefineMap stores a map that many rows of the MapString column c share, so
// that [Table.AppendMapRef] appends it without looking at its entries. It is
// kept for the life of the table, over every Reset: callers bound how many
// they define.
func (t *Table) DefineMap(c int, keys, values []string) MapRef {
	if t.columns[c].kind != MapString {
		panic("parquet: DefineMap on result column " + t.fields[c].Name + ", which is not a map")
	}
	if len(keys) != len(values) {
		panic("parquet: map with keys and values of different number")
	}
	m := &t.columns[c].maps
	m.defined = append(m.defined, newMapSet(keys, values))
	return MapRef(len(m.defined) - 1)
}

// AppendMapRef appends a map that DefineMap stored for column c. It panics if
// there is none of that name.
func (t *Table) AppendMapRef(c int, ref MapRef) {
	m := &t.column(c, MapString).maps
	if ref < 0 || int(ref) >= len(m.defined) {
		panic("parquet: undefined MapRef for result column " + t.fields[c].Name)
	}
	m.rows = append(m.rows, ^int32(ref))
}
