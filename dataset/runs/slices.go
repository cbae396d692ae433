package runs

import (
	"errors"
	"io/fs"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
)

// SourceTypeSlice is the slice key whose values are not of the answer but of its
// citations: an answer is in the slice of every kind of source that one of its
// citations has, and in none if no citation says its kind. Such slices overlap,
// and a metric of an answer counts whole in each: it says how answers that cite
// this kind do, not how their citations of this kind do.
const SourceTypeSlice = "source_type"

// Other keys of slices that are no tags.
const (
	systemSlice   = "system"
	providerSlice = "provider"
	modelSlice    = "model"
)

// ColumnSlices lists the slice keys that are no tags but columns.
func ColumnSlices() []string {
	return []string{modelSlice, providerSlice, SourceTypeSlice, systemSlice}
}

// IsColumnSlice reports whether a slice key is no tag but a column: such a key is never
// a slip, whatever the rows have.
func IsColumnSlice(key string) bool { return slices.Contains(ColumnSlices(), key) }

// AppendSlices appends the values that an answer of the input has for a slice
// key: source_type, provider, model, system or a tag. An answer without any is in no
// slice of that key.
func AppendSlices(dst []string, a *ibid.Answer, key string) []string {
	switch key {
	case SourceTypeSlice:
		return AppendSourceTypes(dst, a)
	case providerSlice:
		return appendNamed(dst, a.Provider)
	case modelSlice:
		return appendNamed(dst, a.Model)
	case systemSlice:
		return appendNamed(dst, a.System)
	}
	if value, ok := a.Tag(key); ok {
		dst = append(dst, value)
	}
	return dst
}

func appendNamed(dst []string, name string) []string {
	if name == "" {
		return dst
	}
	return append(dst, name)
}

// AppendSourceTypes appends the distinct kinds of source of an answer's
// citations, sorted.
func AppendSourceTypes(dst []string, a *ibid.Answer) []string {
	first := len(dst)
	for i := range a.Citations {
		if kind := a.Citations[i].SourceType; kind != "" && !slices.Contains(dst[first:], kind) {
			dst = append(dst, kind)
		}
	}
	slices.Sort(dst[first:])
	return dst
}

// A SliceColumn is the column of rows.parquet that says what values answers have
// for a slice key.
type SliceColumn struct {
	key    string
	name   string
	values parquet.ColumnValues
}

// NewSliceColumn returns the column for a slice key.
func NewSliceColumn(key string) *SliceColumn {
	c := &SliceColumn{key: key, name: "tags"}
	switch key {
	case SourceTypeSlice:
		c.name = "source_types"
	case providerSlice, modelSlice, systemSlice:
		c.name = key
	}
	return c
}

// Read reads one row group. A file of an earlier version may lack the column;
// its answers have no value.
func (c *SliceColumn) Read(f *parquet.ResultFile, group int) error {
	if !f.Has(c.name) {
		c.values = parquet.ColumnValues{Valid: make([]bool, f.GroupRows(group))}
		return nil
	}
	return f.ReadColumn(group, c.name, &c.values)
}

// Append appends the values of row i of the group, as [AppendSlices] does.
func (c *SliceColumn) Append(dst []string, i int) []string {
	v := &c.values
	switch {
	case !v.Valid[i]:
		return dst
	case c.name == "source_types":
		return append(dst, v.Strings[v.Offsets[i]:v.Offsets[i+1]]...)
	case c.name != "tags":
		return appendNamed(dst, v.Strings[i])
	}
	for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
		if v.Keys[k] == c.key {
			return append(dst, v.Strings[k])
		}
	}
	return dst
}

// ReadSlices reads the values of all rows of a finished run for a slice key, in
// file order; f is the rows.parquet of the run in dir. A run that was not sliced
// by source_type leaves the kinds of source to its citations.
func ReadSlices(dir string, f *parquet.ResultFile, key string) ([][]string, error) {
	column := NewSliceColumn(key)
	var rows parquet.ColumnValues
	out := make([][]string, 0, f.Rows())
	at := make(map[int64]int)
	found := false
	for g := range f.RowGroups() {
		if err := column.Read(f, g); err != nil {
			return nil, err
		}
		if key == SourceTypeSlice && f.Has("row") {
			if err := f.ReadColumn(g, "row", &rows); err != nil {
				return nil, err
			}
		}
		for i := range f.GroupRows(g) {
			if i < len(rows.Ints) {
				at[rows.Ints[i]] = len(out)
			}
			values := column.Append(nil, i)
			found = found || len(values) > 0
			out = append(out, values)
		}
	}
	if key != SourceTypeSlice || found {
		return out, nil
	}
	err := Citations.Scan(dir, []string{"row", "source_type"}, func(_ int64, c *Citation) error {
		k, ok := at[c.Row]
		if ok && c.SourceType != "" && !slices.Contains(out[k], c.SourceType) {
			out[k] = append(out[k], c.SourceType)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}
