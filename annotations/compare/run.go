package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A Run is a finished run whose rows are at hand: 16 bytes a row and 8 a document of it say
// what each is, the names stay in the file. Columns of metrics are read when they are asked
// for, and one quantity at a time is kept.
type Run struct {
	Dir      string
	Manifest *runs.Manifest

	file       *runs.Frame
	questions  []uint64 // keys of the ids of rows
	systems    column   // of each row
	sides      column   // what rows are grouped by: systems, or models or providers
	components []string // of the overall score

	documents []uint64          // keys of the documents of rows, row after row
	ends      []int32           // of each row: where its documents end
	names     map[uint64]string // of documents; nil until one is asked for

	at       map[string][]int32                   // rows of each side, see rowsOf
	items    map[metrics.ItemKind][]metrics.Tally // see undecidable
	kind     string                               // see of
	left     *runs.LeftOut                        // what its systems left out; nil until a quantity is asked for
	last     *series                              // the quantity that was asked for last
	lastName string
}

// A column says of each row which of some names it has.
type column struct {
	names []string
	codes []int32 // of the names by row, -1 for none
	at    map[string]int32
}

// add appends a row, and returns the code of its name.
func (c *column) add(name string) int32 {
	code, ok := c.at[name]
	if !ok {
		if c.at == nil {
			c.at = make(map[string]int32)
		}
		name = strings.Clone(name)
		code = int32(len(c.names))
		c.at[name], c.names = code, append(c.names, name)
	}
	c.codes = append(c.codes, code)
	return code
}

func (c *column) name(row int32) string {
	if code := c.codes[row]; code >= 0 {
		return c.names[code]
	}
	return ""
}

// Open opens the finished run in dir. The caller closes it.
func Open(dir string) (*Run, error) {
	m, err := runs.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if !m.Complete() {
		return nil, fmt.Errorf("%s is unfinished", dir)
	}
	f, err := runs.OpenRows(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Manifest: m, file: f, components: m.Components}
	if f.Len() > math.MaxInt32 {
		err = errors.New("more rows than can be compared")
	} else if err = r.readKeys(); err == nil {
		err = r.readDocuments()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the run's file.
func (r *Run) Close() error { return r.file.Close() }

// idPrefix tells keys of questions from those of other names.
const idPrefix = "id "

// readKeys reads what names rows.
func (r *Run) readKeys() error {
	r.questions = make([]uint64, 0, r.file.Len())
	r.systems.codes = make([]int32, 0, r.file.Len())
	err := r.file.Each(func(b *runs.Block) error {
		id, system := b.Texts("id"), b.Texts("system")
		for i := range b.Len() {
			r.questions = append(r.questions, stats.Key(idPrefix, id[i]))
			r.systems.add(system[i])
		}
		return nil
	})
	r.sides = r.systems
	return err
}

// readDocuments reads which documents rows touch.
func (r *Run) readDocuments() error {
	r.ends = make([]int32, 0, r.file.Len())
	return runs.EachDocuments(context.Background(), r.file, r.Manifest.Effective().Statistics.Cluster, func(names []string) {
		for _, name := range names {
			r.documents = append(r.documents, stats.Key(name))
		}
		r.ends = append(r.ends, int32(len(r.documents)))
	})
}

// touched are the keys of the documents of a row.
func (r *Run) touched(row int32) []uint64 {
	begin := int32(0)
	if row > 0 {
		begin = r.ends[row-1]
	}
	return r.documents[begin:r.ends[row]]
}

// nameOf is the name of a document that a row touches.
func (r *Run) nameOf(key uint64) (name string) {
	if r.names == nil {
		r.names = make(map[uint64]string)
		_ = runs.EachDocuments(context.Background(), r.file, r.Manifest.Effective().Statistics.Cluster, func(names []string) { // has been read before
			for _, name := range names {
				if key := stats.Key(name); r.names[key] == "" {
					r.names[key] = strings.Clone(name)
				}
			}
		})
	}
	return r.names[key]
}

// answer is the key of a row among those of all systems.
func (r *Run) answer(row int32) uint64 { return answerKey(r.questions[row], r.systems.name(row)) }

func answerKey(question uint64, system string) uint64 {
	return question ^ bits.RotateLeft64(stats.Key(system), 32)
}

// eachID calls yield with the ids of rows, which are in file order.
func (r *Run) eachID(rows []int32, yield func(row int32, id string)) error {
	return r.file.Each(func(b *runs.Block) error {
		for end := b.First + int64(b.Len()); len(rows) > 0 && int64(rows[0]) < end; rows = rows[1:] {
			yield(rows[0], b.Texts("id")[int64(rows[0])-b.First])
		}
		return nil
	})
}

// groupBy makes the sides of the run its values of a column: "system", "model" or
// "provider".
func (r *Run) groupBy(by string) error {
	if by == "system" {
		return nil
	}
	sides := column{codes: make([]int32, 0, len(r.questions))}
	without := func(end int) {
		for len(sides.codes) < end {
			sides.codes = append(sides.codes, -1)
		}
	}
	seen := make(map[uint64]int32, len(r.questions))
	twice := [2]int32{-1, -1}
	err := runs.ScanSlices(r.Dir, r.file, by, func(row int, value string) {
		without(row)
		sides.add(value)
		answer := answerKey(r.questions[row], value)
		if other, ok := seen[answer]; ok && twice[0] < 0 {
			twice = [2]int32{other, int32(row)}
		}
		seen[answer] = int32(row)
	})
	if err != nil {
		return err
	}
	without(len(r.questions))
	r.sides, r.at = sides, nil
	if twice[0] < 0 {
		return nil
	}
	id := ""
	if err := r.eachID(twice[1:], func(_ int32, s string) { id = s }); err != nil {
		return err
	}
	by += " " + sides.name(twice[1])
	return &ibid.Error{
		Usage: true, Err: fmt.Errorf("%s answered question %s twice, as %s and as %s", by, id, r.systems.name(twice[0]), r.systems.name(twice[1])),
		Hint: "compare them --by system",
	}
}

// Systems lists the systems of the run, or what it is grouped by, sorted.
func (r *Run) Systems() []string {
	all := slices.DeleteFunc(slices.Clone(r.sides.names), func(name string) bool { return name == "" })
	slices.Sort(all)
	return all
}

// rowsOf are the rows of a side, in file order.
func (r *Run) rowsOf(name string) []int32 {
	if r.at == nil {
		count := make([]int, len(r.sides.names))
		for _, code := range r.sides.codes {
			if code >= 0 {
				count[code]++
			}
		}
		r.at = make(map[string][]int32, len(count))
		all := make([][]int32, len(count))
		for code, n := range count {
			all[code] = make([]int32, 0, n)
		}
		for row, code := range r.sides.codes {
			if code >= 0 {
				all[code] = append(all[code], int32(row))
			}
		}
		for code, rows := range all {
			r.at[r.sides.names[code]] = rows
		}
	}
	return r.at[name]
}

// slices are the keys that the run is sliced by.
func (r *Run) slices() []string {
	return slices.DeleteFunc(slices.Clone(r.Manifest.Effective().Slices), func(key string) bool { return key == "system" })
}

// slicesBy are the rows by their values of a key, in file order.
func (r *Run) slicesBy(key string) (map[string][]int32, error) {
	var values column
	var rows [][]int32 // of each value
	err := runs.ScanSlices(r.Dir, r.file, key, func(row int, value string) {
		code := values.add(value)
		if int(code) == len(rows) {
			rows = append(rows, nil)
		}
		rows[code] = append(rows[code], int32(row))
	})
	all := make(map[string][]int32, len(rows))
	for code, name := range values.names {
		slices.Sort(rows[code]) // citations may have another order
		all[name] = rows[code]
	}
	return all, err
}

// checkSlice refuses a slice by a tag that no row of the run has.
func (r *Run) checkSlice(key string) error {
	if runs.IsColumnSlice(key) {
		return nil
	}
	any := false
	err := runs.ScanSlices(r.Dir, r.file, key, func(int, string) { any = true })
	if err != nil || any {
		return err
	}
	names := make(map[string]bool)
	for _, column := range runs.ColumnSlices() {
		names[column] = true
	}
	err = r.file.Each(func(b *runs.Block) error {
		for _, tag := range b.Column("tags").Keys {
			names[tag] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	all := slices.Sorted(maps.Keys(names))
	u := &ibid.Error{Usage: true, Err: fmt.Errorf("no row of %s has the tag %s", r.Manifest.ID, key), Hint: "slices can be by " + strings.Join(all, ", ")}
	if near := ibid.Nearest(key, all); near != "" {
		u.Hint = "did you mean " + near + "?"
	}
	return u
}

// A series is one quantity over the rows of a run, in file order.
type series struct {
	has   []bool
	value []float64 // of the row
	left  []bool    // it has the worst value because something is left out; shorter, or nil, where none has
	num   []float64 // what the micro value is pooled from; nil of a macro quantity
	den   []float64

	bounds *bounds // see [Run.boundsOf]
}

// bounds are the least and greatest values of rows where some items are open.
type bounds struct {
	low, high []float64
	known     []bool
}

// boundsOf reads the bounds of the quantity whose series was read last. Rows without bounds have
// their value for both.
func (r *Run) boundsOf(q Quantity, values *series) (b *bounds, err error) {
	if values.bounds != nil {
		return values.bounds, nil
	}
	b = &bounds{}
	if b.low, _, err = r.numbers(q.Metric.Name + runs.LowSuffix); err != nil {
		return nil, err
	}
	if b.high, b.known, err = r.numbers(q.Metric.Name + runs.HighSuffix); err != nil {
		return nil, err
	}
	if slices.Contains(b.known, true) {
		for row, has := range b.known {
			if !has || values.lacks(int32(row)) {
				b.low[row], b.high[row], b.known[row] = values.value[row], values.value[row], values.has[row]
			}
		}
	} else {
		b.low, b.high, b.known = values.value, values.value, nil
	}
	values.bounds = b
	return b, nil
}

// ofKind reports whether a slice KEY=VALUE counts citations of one kind alone in a metric.
func ofKind(slice string, d *metrics.Definition) bool { return runs.IsKind(slice) && d.OfCitations() }

// of is the run as a slice KEY=VALUE counts a metric in the rows that it has.
func (r *Run) of(slice string, d *metrics.Definition) *Run {
	if !ofKind(slice, d) {
		return r
	}
	out := *r
	out.kind, out.items, out.last = slice, nil, nil
	return &out
}

// each calls do with the blocks of rows, as the run counts them.
func (r *Run) each(do func(b *runs.Block) error) error {
	return r.file.Each(func(b *runs.Block) error {
		if r.kind != "" {
			b = b.Of(r.kind, nil)
		}
		return do(b)
	})
}

// series reads a quantity, which is not to be changed.
func (r *Run) series(q Quantity) (*series, error) {
	if r.last != nil && r.lastName == q.String() {
		return r.last, nil
	}
	r.last = nil // so that its memory can be used for this one
	s := &series{}
	var err error
	if r.left == nil {
		if r.left, err = r.file.LeftOut(); err != nil {
			return nil, err
		}
	}
	err = r.each(func(b *runs.Block) error {
		value, has, left := r.left.Numbers(b, &q.Metric)
		s.value, s.has = append(s.value, value...), append(s.has, has...)
		if left != nil {
			s.left = append(s.left, make([]bool, len(s.value)-len(value)-len(s.left))...) // of earlier blocks
			s.left = append(s.left, left...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.Micro {
		if s.num, err = r.terms(q.Metric.Num); err == nil {
			s.den, err = r.terms(q.Metric.Den)
		}
	}
	if err == nil {
		r.last, r.lastName = s, q.String()
	}
	return s, err
}

// terms is the sum of multiples of columns by row, of which a null adds nothing.
func (r *Run) terms(all []metrics.Term) ([]float64, error) {
	sum := make([]float64, 0, len(r.questions))
	return sum[:len(r.questions)], r.each(func(b *runs.Block) error {
		sum = append(sum, b.Sum(nil, all)...)
		return nil
	})
}

// known says how far a row counts as one where the metric is defined: less than 1 where
// some of its items have no known text.
func (r *Run) known(d *metrics.Definition) (func(row int32) float64, error) {
	if len(d.Items) == 0 {
		return func(int32) float64 { return 1 }, nil
	}
	known := make([]metrics.Tally, len(r.questions))
	err := r.file.Each(func(b *runs.Block) error {
		for _, of := range d.Items {
			for i, t := range b.Tallies(of) {
				known[int(b.First)+i].Add(t)
			}
		}
		return b.Err()
	})
	return func(row int32) float64 { return known[row].Known() }, err
}

// undecidable reports whether too many of a metric's items are undecided in some rows.
func (r *Run) undecidable(d *metrics.Definition, rows []int32) (bool, error) {
	coverage := r.Manifest.Effective().MinCoverage
	for _, of := range d.Items {
		items, read := r.items[of.Kind]
		if !read { // nil stays where nothing is undecided
			err := r.each(func(b *runs.Block) error {
				items = append(items, b.Tallies(of)...)
				return b.Err()
			})
			if err != nil {
				return false, err
			}
			if !slices.ContainsFunc(items, func(t metrics.Tally) bool { return t.Undecided > 0 }) {
				items = nil
			}
			if r.items == nil {
				r.items = make(map[metrics.ItemKind][]metrics.Tally)
			}
			r.items[of.Kind] = items
		}
		var all metrics.Tally
		for _, row := range rows {
			if items != nil {
				all.Add(items[row])
			}
		}
		if all.Undecided > 0 && all.Undecidable(coverage) {
			return true, nil
		}
	}
	return false, nil
}

// excused says of each row whether it lacks a metric for a reason that says nothing of
// the side.
func (r *Run) excused(metric string) ([]bool, error) {
	all := make([]bool, len(r.questions))
	return all, r.file.Each(func(b *runs.Block) error {
		for i, why := range b.Reasons(metric) {
			all[int(b.First)+i] = metrics.Excuses(why)
		}
		return nil
	})
}

// numbers reads a column. A run of an earlier version may lack it: then no row has a value.
func (r *Run) numbers(column string) (values []float64, has []bool, err error) {
	err = r.each(func(b *runs.Block) error {
		v, known := b.Numbers(column)
		values, has = append(values, v...), append(has, known...)
		return nil
	})
	return values, has, err
}
