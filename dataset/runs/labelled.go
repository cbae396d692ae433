package runs

import (
	"io"
	"path/filepath"

	"ibid/dataset"
	"ibid/metrics"
)

// LabelledFile is the file of a run that says what judged metrics come to in the
// rows that people judged. A run has it once its judge was measured by labels of
// its own dataset.
const LabelledFile = "labelled.parquet"

// A LabelledRow is a row that people judged: its metrics by name, as their labels
// give them. A metric that the labels leave open is not there.
type LabelledRow struct {
	ID, System string
	Row        int64 // position in the input
	Values     map[string]float64
}

// labelledFields are the columns of labelled.parquet, the metrics last.
func labelledFields() []dataset.Field {
	fields := []dataset.Field{
		{Name: "id", Kind: dataset.String, Required: true},
		{Name: "system", Kind: dataset.String, Required: true},
		{Name: "row", Kind: dataset.Int64, Required: true},
	}
	for _, d := range metrics.Definitions() {
		if d.Corrigible() {
			fields = append(fields, dataset.Field{Name: d.Name, Kind: dataset.Double})
		}
	}
	return fields
}

// WriteLabelled writes rows, in the order given, as labelled.parquet.
func WriteLabelled(dir string, rows []LabelledRow) error {
	fields := labelledFields()
	t, err := dataset.NewTable(fields)
	if err != nil {
		return err
	}
	for _, r := range rows {
		t.AppendString(0, r.ID)
		t.AppendString(1, r.System)
		t.AppendInt(2, r.Row)
		for c := 3; c < len(fields); c++ {
			if v, ok := r.Values[fields[c].Name]; ok {
				t.AppendDouble(c, v)
			} else {
				t.AppendNull(c)
			}
		}
		t.EndRow()
	}
	return dataset.WriteFile(filepath.Join(dir, LabelledFile), func(w io.Writer) error {
		var e dataset.Encoder
		return e.EncodePart(w, t)
	})
}

// ReadLabelled reads the labelled rows of the run in dir, in file order; none if
// it has no such file.
func ReadLabelled(dir string) ([]LabelledRow, error) {
	return readRecords(filepath.Join(dir, LabelledFile), nil, (*LabelledRow).set)
}

func (r *LabelledRow) set(name string, cell dataset.Cell) {
	switch {
	case name == "id":
		r.ID = cell.Text
	case name == "system":
		r.System = cell.Text
	case name == "row":
		r.Row = cell.Int
	case cell.Null:
	default:
		if r.Values == nil {
			r.Values = make(map[string]float64)
		}
		r.Values[name] = cell.Double
	}
}
