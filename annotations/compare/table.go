package compare

import (
	"io"

	"ibid/dataset"
)

// A Line is one difference with what it is of: the flat form of a result.
type Line struct {
	Base, New, System string
	Paired            bool
	Difference
}

// Lines are all differences of a result.
func (r *Result) Lines() []Line {
	var all []Line
	for _, p := range r.Pairs {
		for _, d := range p.Differences {
			all = append(all, Line{r.Sides[p.Base].Name, r.Sides[p.New].Name, p.System, p.Paired, d})
		}
	}
	return all
}

// tableFields are the columns of a result in Parquet.
var tableFields = []dataset.Field{
	{Name: "base", Kind: dataset.String, Required: true},
	{Name: "new", Kind: dataset.String, Required: true},
	{Name: "system", Kind: dataset.String, Required: true},
	{Name: "slice", Kind: dataset.String, Required: true},
	{Name: "metric", Kind: dataset.String, Required: true},
	{Name: "agg", Kind: dataset.String, Required: true},
	{Name: "headline", Kind: dataset.Bool, Required: true},
	{Name: "paired", Kind: dataset.Bool, Required: true},
	{Name: "outcome", Kind: dataset.String, Required: true},
	{Name: "n", Kind: dataset.Int64, Required: true},
	{Name: "undefined", Kind: dataset.Int64, Required: true},
	{Name: "clusters", Kind: dataset.Int64, Required: true},
	{Name: "higher", Kind: dataset.Int64, Required: true},
	{Name: "lower", Kind: dataset.Int64, Required: true},
	{Name: "same", Kind: dataset.Int64, Required: true},
	{Name: "base_estimate", Kind: dataset.Double},
	{Name: "new_estimate", Kind: dataset.Double},
	{Name: "diff", Kind: dataset.Double},
	{Name: "ci_low", Kind: dataset.Double},
	{Name: "ci_high", Kind: dataset.Double},
	{Name: "se", Kind: dataset.Double},
	{Name: "p", Kind: dataset.Double},
	{Name: "p_adjusted", Kind: dataset.Double},
	{Name: "mde", Kind: dataset.Double},
	{Name: "level", Kind: dataset.Double, Required: true},
	{Name: "method", Kind: dataset.String},
	{Name: "test", Kind: dataset.String},
	{Name: "adjustment", Kind: dataset.String},
	{Name: "reason", Kind: dataset.String},
	{Name: "warnings", Kind: dataset.ListString, Required: true},
	{Name: "corrected_base", Kind: dataset.Double}, // this and what follows: see Corrected
	{Name: "corrected_new", Kind: dataset.Double},
	{Name: "corrected_diff", Kind: dataset.Double},
	{Name: "corrected_low", Kind: dataset.Double},
	{Name: "corrected_high", Kind: dataset.Double},
	{Name: "labelled", Kind: dataset.Int64},
	{Name: "corrected_method", Kind: dataset.String},
}

// WriteParquet writes one row for each difference.
func (r *Result) WriteParquet(w io.Writer) error {
	t, err := dataset.NewTable(tableFields)
	if err != nil {
		return err
	}
	for _, line := range r.Lines() {
		line.append(t, r.Level)
	}
	var e dataset.Encoder
	return e.EncodePart(w, t)
}

// append adds the line in the order of tableFields.
func (l *Line) append(t *dataset.Table, level float64) {
	column := 0
	next := func() int { column++; return column - 1 }
	for _, s := range []string{l.Base, l.New, l.System, l.Slice, l.Metric, l.Agg} {
		t.AppendString(next(), s)
	}
	t.AppendBool(next(), l.Headline)
	t.AppendBool(next(), l.Paired)
	t.AppendString(next(), string(l.Outcome))
	for _, n := range []int64{l.N, l.Undefined, l.Clusters, l.Higher, l.Lower, l.Same} {
		t.AppendInt(next(), n)
	}
	for _, v := range []*float64{l.Difference.Base, l.Difference.New, l.Diff, l.Low, l.High, l.SE, l.P, l.Adjusted, l.MDE, &level} {
		if v == nil {
			t.AppendNull(next())
		} else {
			t.AppendDouble(next(), *v)
		}
	}
	for _, s := range []string{l.Method, l.Test, l.Adjustment, l.Reason} {
		if s == "" {
			t.AppendNull(next())
		} else {
			t.AppendString(next(), s)
		}
	}
	t.AppendStrings(next(), l.Warnings)
	l.Corrected.append(t, next)
	t.EndRow()
}

// append adds the last columns of a line.
func (c *Corrected) append(t *dataset.Table, next func() int) {
	if c == nil {
		for range 7 {
			t.AppendNull(next())
		}
		return
	}
	for _, v := range []*float64{c.Base, c.New, &c.Diff, &c.Low, &c.High} {
		if v == nil {
			t.AppendNull(next())
		} else {
			t.AppendDouble(next(), *v)
		}
	}
	t.AppendInt(next(), c.Labelled)
	t.AppendString(next(), c.Method)
}
