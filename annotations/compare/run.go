package compare

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Run is a finished run whose rows are at hand. Columns of metrics are read when
// they are asked for.
type Run struct {
	Dir      string
	Manifest *runs.Manifest

	file       *parquet.ResultFile
	ids        []string
	systems    []string
	sides      []string                       // what rows are grouped by: systems, or models or providers; "" for none
	clusters   []string                       // what rows share, as names that no two kinds of cluster have in common
	components []string                       // of the overall score
	labelled   map[rowName]map[string]float64 // see people
	kept       map[string]numbers             // columns that many sides need, nil if there are few
}

// numbers are the values of a column, 0 where has is false. They are not changed.
type numbers struct {
	values []float64
	has    []bool
}

// keptNumbers is how many numbers of a run are kept at most.
const keptNumbers = 8 << 20

// Open opens the finished run in dir. The caller closes it.
func Open(dir string) (*Run, error) {
	m, err := runs.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if !m.Complete() {
		return nil, fmt.Errorf("%s is unfinished", dir)
	}
	f, err := parquet.OpenResult(filepath.Join(dir, runs.RowsFile))
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Manifest: m, file: f}
	if err := r.readKeys(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the run's file.
func (r *Run) Close() error { return r.file.Close() }

// readKeys reads what names rows.
func (r *Run) readKeys() error {
	var id, system, cluster, components parquet.ColumnValues
	columns := map[string]*parquet.ColumnValues{"id": &id, "system": &system, "cluster": &cluster, "overall_components": &components}
	for g := range r.file.RowGroups() {
		for name, into := range columns {
			if err := r.file.ReadColumn(g, name, into); err != nil {
				return err
			}
		}
		r.ids = append(r.ids, id.Strings...)
		r.systems = append(r.systems, system.Strings...)
		r.sides = append(r.sides, system.Strings...)
		for i := range r.file.GroupRows(g) {
			// A row without a cluster is its question's; the two kinds of names must not
			// meet.
			name := "id " + id.Strings[i]
			if cluster.Valid[i] {
				name = "cluster " + cluster.Strings[i]
			}
			r.clusters = append(r.clusters, name)
			if len(r.components) == 0 && components.Strings[i] != "" {
				r.components = strings.Split(components.Strings[i], ",")
			}
		}
	}
	return nil
}

// groupBy makes the sides of the run its values of a column: "system", "model" or
// "provider".
func (r *Run) groupBy(by string) error {
	if by == "system" {
		return nil
	}
	values, err := runs.ReadSlices(r.Dir, r.file, by)
	if err != nil {
		return err
	}
	seen := make(map[question]string, len(values))
	for i, of := range values {
		r.sides[i] = ""
		if len(of) == 0 {
			continue
		}
		r.sides[i] = of[0]
		answer := question{r.ids[i], of[0]}
		if other, twice := seen[answer]; twice {
			return &UsageError{
				Err: fmt.Errorf("%s %s answered question %s twice, as %s and as %s", by, of[0], r.ids[i], other, r.systems[i]),
				Tip: "compare them --by system",
			}
		}
		seen[answer] = r.systems[i]
	}
	return nil
}

// Systems lists the systems of the run, or what it is grouped by, sorted.
func (r *Run) Systems() []string {
	var all []string
	seen := make(map[string]bool)
	for _, s := range r.sides {
		if s != "" && !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}

// slices are the keys that the run is sliced by.
func (r *Run) slices() []string {
	return slices.DeleteFunc(slices.Clone(r.Manifest.Effective().Slices), func(key string) bool { return key == "system" })
}

// checkSlice refuses a slice by a tag that no row of the run has.
func (r *Run) checkSlice(key string) error {
	if runs.IsColumnSlice(key) {
		return nil
	}
	values, err := runs.ReadSlices(r.Dir, r.file, key)
	if err != nil || slices.ContainsFunc(values, func(of []string) bool { return len(of) > 0 }) {
		return err
	}
	names := make(map[string]bool)
	for _, column := range runs.ColumnSlices() {
		names[column] = true
	}
	var tags parquet.ColumnValues
	for g := range r.file.RowGroups() {
		if !r.file.Has("tags") {
			break
		}
		if err := r.file.ReadColumn(g, "tags", &tags); err != nil {
			return err
		}
		for _, tag := range tags.Keys {
			names[tag] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	u := &UsageError{Err: fmt.Errorf("no row of %s has the tag %s", r.Manifest.ID, key), Tip: "slices can be by " + strings.Join(all, ", ")}
	if near := ibid.Nearest(key, all); near != "" {
		u.Tip = "did you mean " + near + "?"
	}
	return u
}

// A series is one quantity over the rows of a run, in file order.
type series struct {
	has   []bool
	value []float64 // of the row
	num   []float64 // what the micro value is pooled from; nil of a macro quantity
	den   []float64
}

// series reads a quantity.
func (r *Run) series(q Quantity) (*series, error) {
	s := &series{}
	var err error
	if s.value, s.has, err = r.numbers(q.Metric.Name); err != nil || !q.Micro {
		return s, err
	}
	s.num, s.den = make([]float64, len(s.value)), make([]float64, len(s.value))
	for _, t := range q.Metric.Num {
		if err := r.addTerm(s.num, t.Column, t.Factor); err != nil {
			return nil, err
		}
	}
	for _, t := range q.Metric.Den {
		if err := r.addTerm(s.den, t.Column, t.Factor); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// known says how far a row counts as one where the metric is defined: less than 1 where
// some of its items have no known text.
func (r *Run) known(d *metrics.Definition) (func(row int) float64, error) {
	missing := d.NoText()
	if len(missing) == 0 {
		return func(int) float64 { return 1 }, nil
	}
	scorable, noText := make([]float64, len(r.ids)), make([]float64, len(r.ids))
	for _, x := range []struct {
		into  []float64
		terms []metrics.Term
	}{{scorable, d.Scorable}, {noText, missing}} {
		for _, t := range x.terms {
			if err := r.addTerm(x.into, t.Column, t.Factor); err != nil {
				return nil, err
			}
		}
	}
	return func(row int) float64 { return metrics.Known(scorable[row], noText[row]) }, nil
}

// addTerm adds a multiple of a column, of which a null adds nothing.
func (r *Run) addTerm(sum []float64, column string, factor float64) error {
	values, has, err := r.numbers(column)
	for i := range values {
		if has[i] {
			sum[i] += factor * values[i]
		}
	}
	return err
}

// numbers reads a column of numbers. A run of an earlier version may lack a column: then
// it has no value in any row.
func (r *Run) numbers(column string) (values []float64, has []bool, err error) {
	if kept, ok := r.kept[column]; ok {
		return kept.values, kept.has, nil
	}
	if values, has, err = r.readNumbers(column); err == nil && r.kept != nil && (len(r.kept)+1)*len(values) <= keptNumbers {
		r.kept[column] = numbers{values, has}
	}
	return values, has, err
}

func (r *Run) readNumbers(column string) (values []float64, has []bool, err error) {
	if !r.file.Has(column) {
		return make([]float64, len(r.ids)), make([]bool, len(r.ids)), nil
	}
	var v parquet.ColumnValues
	for g := range r.file.RowGroups() {
		if err := r.file.ReadColumn(g, column, &v); err != nil {
			return nil, nil, err
		}
		for i, ok := range v.Valid {
			x := 0.0
			switch {
			case !ok:
			case v.Kind == parquet.Double:
				x = v.Doubles[i]
			default:
				x = float64(v.Ints[i])
			}
			values, has = append(values, x), append(has, ok)
		}
	}
	return values, has, nil
}
