package dataset

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// tableSpec is the schemaSpec of a table of results: what its columns are read as.
func tableSpec(fields []parquet.Field) *schemaSpec {
	s := &schemaSpec{whole: true}
	for _, f := range fields {
		c := columnSpec{member: f.Name, group: -1, kind: f.Kind, want: WantDetails}
		if f.Name == "id" || f.Name == "system" {
			c.want = WantKeys
		}
		if f.Kind >= parquet.ListInt32 {
			c.group, c.member, c.kind = len(s.groups), "", parquet.String
			s.groups = append(s.groups, f.Name)
			if f.Kind.IsMap() {
				c.member = "key"
				s.columns = append(s.columns, c)
				c.member = "value"
			}
		}
		switch f.Kind {
		case parquet.Int32, parquet.ListInt32, parquet.MapInt64:
			c.kind = parquet.Int64
		case parquet.MapDouble:
			c.kind = parquet.Double
		}
		s.columns = append(s.columns, c)
	}
	return s
}

// OpenTable opens files with one table of results, as ibid or a program that took it over
// has written and partitioned it: all columns but row are there, in any order, or a text of
// one value is in the path, as in system=a/rows.parquet. The batches of the source have
// keys, see [Batch.Key], and are read with [Batch.AppendTo].
func OpenTable(names []string, fields []parquet.Field, limits Limits) (*Source, error) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f parquet.Field) bool { return f.Name == "row" })
	files, err := openNamed(names, tableSpec(fields), ReadOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	return &Source{*files}, nil
}

// AppendTo appends row i of a batch of [OpenTable] to the row that is open in t, a table of
// the same columns; its column row becomes row. The error says what the row has that no
// result can have. t is good as long as the batch.
func (b *Batch) AppendTo(t *parquet.Table, i int, row int64) error {
	if err := b.errs[int32(i)]; err != nil {
		return b.at(i, err)
	}
	col, group := 0, 0
	for c, f := range t.Fields() {
		if f.Name == "row" {
			t.At(c).AppendInt(row)
			continue
		}
		d := &b.leaves[col]
		values := d // of a map, whose keys d has
		lo, hi, has := i, i+1, d.is(i, codePlain)
		list := f.Kind >= parquet.ListInt32
		if list {
			lo, hi, has = b.groups[group].elements(i)
			group++
		}
		if col++; f.Kind.IsMap() {
			values = &b.leaves[col]
			col++
		}
		switch {
		case !has && f.Required:
			return b.at(i, &ibid.Error{Column: f.Name, Err: errors.New("null")})
		case !has:
			continue
		}
		for e := lo; e < hi; e++ {
			switch {
			case list && (!d.is(e, codeValue) || !values.is(e, codeValue)):
				return b.at(i, &ibid.Error{Column: f.Name, Err: errors.New("null in it")})
			case (f.Kind == parquet.Int32 || f.Kind == parquet.ListInt32) && !fitsInt32(d.Ints[e]):
				return b.at(i, &ibid.Error{Column: f.Name, Err: fmt.Errorf("%d does not fit", d.Ints[e])})
			}
		}
		var keys []string
		if f.Kind.IsMap() {
			keys = part(d.Texts, lo, hi)
		}
		t.At(c).AppendElements(keys, part(values.Texts, lo, hi), part(values.Ints, lo, hi), part(values.Floats, lo, hi))
	}
	t.EndRow()
	return nil
}

// at says of an error which file and row it is in.
func (b *Batch) at(i int, err error) error {
	file, row := b.Place(i)
	e := &ibid.Error{File: file, Row: ibid.Some(row), Err: err, Hint: "rows are those that ibid score and ibid run write"}
	if inner, ok := errors.AsType[*ibid.Error](err); ok {
		e.Column, e.Err = inner.Column, inner.Err
	}
	return e
}

// checkWhole checks that the file has all columns of spec, or that its path says what they
// are.
func (f *openFile) checkWhole(spec *schemaSpec, name string) error {
	missing := func(column string) error {
		hint := "all columns that ibid run and ibid score write are needed, of this version; folders called COLUMN=VALUE give texts"
		if answer, _ := f.Root.Child("answer"); answer != nil {
			hint = "it holds answers that are not scored: ibid run"
		}
		return columnError(column, hint, "column is missing")
	}
	for col := range spec.columns {
		c := &spec.columns[col]
		if n, _ := f.Root.Child(spec.path(col)); c.group >= 0 || n != nil {
			continue
		}
		text, null, ok := inPath(name, c.member)
		switch {
		case !ok || c.kind != parquet.String:
			return missing(c.member)
		case !null:
			if f.given == nil {
				f.given = make(map[int]string)
			}
			f.given[col] = text
		}
	}
	for _, group := range spec.groups {
		if n, _ := f.Root.Child(group); n == nil {
			return missing(group)
		}
	}
	return nil
}

// nullPartition stands in paths for null.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// inPath is the value that the path of a file gives a column: folders called column=value,
// as Hive, Spark and DuckDB write them.
func inPath(file, column string) (value string, null, ok bool) {
	for _, word := range strings.Split(filepath.ToSlash(filepath.Dir(file)), "/") {
		key, text, is := strings.Cut(word, "=")
		if !is || key != column {
			continue
		}
		if decoded, err := url.PathUnescape(text); err == nil {
			text = decoded
		}
		return text, text == nullPartition, true
	}
	return "", false, false
}
