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
	have, err := dataset.FlatColumns(path)
	return err != nil || slices.Contains(have, DefaultColumns.Value) || slices.Contains(have, DefaultColumns.Item)
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
	have, err := dataset.FlatColumns(path)
	if err != nil {
		return nil, err
	}
	optional := func(name, byDefault string) string {
		if name == "" && slices.Contains(have, byDefault) {
			return byDefault
		}
		return name
	}
	c.Item, c.Value = cmp.Or(c.Item, DefaultColumns.Item), cmp.Or(c.Value, DefaultColumns.Value)
	c.Annotator, c.Cluster = optional(c.Annotator, DefaultColumns.Annotator), optional(c.Cluster, DefaultColumns.Cluster)
	names := []string{c.Item, c.Value}
	for _, name := range []string{c.Annotator, c.Cluster} {
		if name != "" {
			names = append(names, name)
		}
	}
	rows, err := dataset.ReadFlat(path, names)
	if err != nil {
		return nil, err
	}
	t := new(Table)
	at := make(map[string]int)
	for _, r := range rows {
		item, value := r.Cells[0], r.Cells[1]
		if item == "" {
			return nil, &ibid.Error{File: path, Column: c.Item, Err: fmt.Errorf("line %d: empty", r.Line)}
		}
		if isBlank(value) {
			t.Blank++
			continue
		}
		cells := r.Cells[2:]
		rating := Rating{Value: value}
		cluster := item
		if c.Annotator != "" {
			rating.Annotator, cells = cells[0], cells[1:]
		}
		if c.Cluster != "" {
			cluster = cmp.Or(cells[0], item)
		}
		k, ok := at[item]
		if !ok {
			k = len(t.Items)
			at[item] = k
			t.Items = append(t.Items, Judged{ID: item, Row: -1, Cluster: cluster})
		}
		t.Items[k].Ratings = append(t.Items[k].Ratings, rating)
	}
	return t, nil
}
