package annotations

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
)

// TableColumns name the columns of a plain table of labels, one label a record.
type TableColumns struct {
	Item      string // what was labelled
	Annotator string // who; "" if the table does not say: every label is somebody else's
	Value     string // what they said; empty means that they said nothing
	Cluster   string // what the item belongs to; "" = every item is its own
}

// DefaultColumns are the names that a table has unless it is told otherwise.
// Annotator and cluster are used only if the table has them.
var DefaultColumns = TableColumns{Item: "item", Annotator: "annotator", Value: "value", Cluster: "cluster"}

// IsTable reports whether a path is a table of labels: a flat file with the columns of an
// item and a value, which rows of a dataset do not have.
func IsTable(path string) bool {
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".parquet" || !slices.Contains(dataset.FlatFormats, ext) {
		return false
	}
	t, err := dataset.ReadFlat(path, nil)
	return err != nil || slices.Contains(t.Columns, DefaultColumns.Value) || slices.Contains(t.Columns, DefaultColumns.Item)
}

// A Table is the labels of a plain table.
type Table struct {
	Items []Judged // in the order of the table
	Blank int64    // records without a value
}

// isBlank reports whether a cell has no value: it is empty, or what other programs
// write for a number that is missing.
func isBlank(value string) bool { return value == "" || strings.EqualFold(value, "nan") }

// ReadTable reads a table. Names that are "" are the default ones.
func ReadTable(path string, c TableColumns) (*Table, error) {
	needed := []string{cmp.Or(c.Item, DefaultColumns.Item), cmp.Or(c.Value, DefaultColumns.Value)}
	names := append(slices.Clip(needed), cmp.Or(c.Annotator, DefaultColumns.Annotator), cmp.Or(c.Cluster, DefaultColumns.Cluster))
	for _, name := range []string{c.Annotator, c.Cluster} {
		if name != "" {
			needed = append(needed, name)
		}
	}
	flat, err := dataset.ReadFlat(path, names)
	if err == nil {
		err = flat.Need(path, needed...)
	}
	if err != nil {
		return nil, err
	}
	t := new(Table)
	at := make(map[string]int)
	for _, r := range flat.Rows {
		item, value := r.Cells[0], r.Cells[1]
		if item == "" {
			return nil, &ibid.Error{File: path, Column: names[0], Err: fmt.Errorf("line %d: empty", r.Line)}
		}
		if isBlank(value) {
			t.Blank++
			continue
		}
		cluster := cmp.Or(r.Cells[3], item)
		k, ok := at[item]
		if !ok {
			k = len(t.Items)
			at[item] = k
			t.Items = append(t.Items, Judged{ID: item, Row: -1, Cluster: cluster})
		}
		t.Items[k].Ratings = append(t.Items[k].Ratings, Rating{Annotator: r.Cells[2], Value: value})
	}
	return t, nil
}
