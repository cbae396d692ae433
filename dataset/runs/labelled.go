package runs

import "ibid/metrics"

// LabelledFile is the file of a run that says what judged metrics come to in the
// rows that people judged. A run has it once its judge was measured by labels of
// its own dataset.
const LabelledFile = "labelled.parquet"

// A LabelledRow is a row that people judged.
type LabelledRow struct {
	Key
	Values map[string]float64 `col:"*"` // its metrics by name; one that the labels leave open is not there
}

// Labelled is the table of labelled.parquet.
func Labelled() *Table[LabelledRow] {
	var values []Column
	for _, d := range metrics.Definitions() {
		if d.Corrigible() {
			values = append(values, metricColumn(&d, "the labels leave it open"))
		}
	}
	return NewTable[LabelledRow](LabelledFile, "one row of the input that people judged, with its metrics as their labels give them", values...)
}
