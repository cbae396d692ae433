package compare

import (
	"io"

	"ibid/dataset/runs"
)

// A Line is one difference with what it is of: a row of the table of a result.
type Line struct {
	Metric    string `col:"metric" doc:"name of the metric"`
	Agg       string `col:"agg" doc:"macro: mean of the rows' values; micro: quotient of sums over rows"`
	System    string `col:"system" doc:"system of both sides; empty if they differ in it"`
	Slice     string `col:"slice" doc:"key=value of the rows; empty for all rows"`
	Deciding  bool   `col:"deciding" doc:"the metric decides: its intervals hold together with those of its family"`
	Questions int64  `col:"questions" doc:"questions that every side has a value for"`
	Difference
	Level  float64 `col:"level" range:"(0, 1)" doc:"confidence level of intervals; 1 less it is the alpha of tests"`
	Family int64   `col:"family" doc:"differences whose intervals hold together; 0 of a metric that does not decide"`
}

// Lines is the table of a result, in CSV and Parquet.
var Lines = runs.NewTable[Line]("ibid compare", "one metric of a run or system less that of the base")

// Lines are all differences of a result.
func (r *Result) Lines() []Line {
	var all []Line
	for _, m := range r.Metrics {
		for _, d := range m.Differences {
			all = append(all, Line{m.Metric, m.Agg, m.System, m.Slice, m.Deciding, m.Questions, d, r.Level, int64(m.Family)})
		}
	}
	return all
}

// WriteParquet writes one row for each difference.
func (r *Result) WriteParquet(w io.Writer) error { return Lines.Encode(w, r.Lines()) }
