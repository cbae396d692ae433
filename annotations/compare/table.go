package compare

import (
	"io"

	"ibid/dataset/runs"
)

// A Line is one difference with what it is of: a row of the table of a result.
type Line struct {
	Base   string `col:"base" doc:"the base: a run or a system"`
	New    string `col:"new" doc:"what is compared with it"`
	System string `col:"system" doc:"system of both sides; empty if they differ in it or all are pooled"`
	Difference
}

// Lines is the table of a result, in CSV and Parquet.
var Lines = runs.NewTable[Line]("ibid compare", "one metric of a run or system less that of the base")

// Lines are all differences of a result.
func (r *Result) Lines() []Line {
	var all []Line
	for _, p := range r.Pairs {
		for _, d := range p.Differences {
			d.Paired, d.Level = p.Paired, r.Level
			all = append(all, Line{r.Sides[p.Base].Name, r.Sides[p.New].Name, p.System, d})
		}
	}
	return all
}

// WriteParquet writes one row for each difference.
func (r *Result) WriteParquet(w io.Writer) error { return Lines.Encode(w, r.Lines()) }
