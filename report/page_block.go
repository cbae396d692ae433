package report

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A tableReader reads the rows of a run with their citations and claims, block by
// block: a block is a row group. A run can have far more rows than memory holds.
type tableReader struct {
	run       *RunData
	prefix    string
	rows      *parquet.ResultFile
	defined   []metrics.Definition // metrics that some row has
	citations *itemReader
	claims    *itemReader // nil without a judge

	reasons bool // why metrics have no value is read, too

	block results              // its memory is used again
	v     parquet.ColumnValues // of one column
	maps  parquet.ColumnValues
	parts blockParts
}

// blockParts is memory that a block's rows, citations and claims point into.
type blockParts struct {
	tags    []ibid.Tag
	reasons []string
	numbers []float64
	claims  []int32
}

var (
	citationColumns = []string{"row", "doc", "status", "label", "source_type", "exact_jaccard", "snapped_jaccard", "support", "claims"}
	claimColumns    = []string{"row", "outcome", "citations"}
)

// openTables opens the tables of a run and finds out which metrics it has.
func openTables(run *RunData, prefix string) (*tableReader, error) {
	b := &tableReader{run: run, prefix: prefix}
	err := b.open()
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *tableReader) open() (err error) {
	if b.rows, err = parquet.OpenResult(filepath.Join(b.run.Dir, runs.RowsFile)); err != nil {
		return err
	}
	b.citations, err = openItems(filepath.Join(b.run.Dir, runs.CitationsFile), citationColumns)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a summary of rows may have none
		return err
	}
	b.claims, err = openItems(filepath.Join(b.run.Dir, runs.ClaimsFile), claimColumns)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range metrics.Definitions() {
		some, err := b.hasValue(d.Name)
		if err != nil {
			return err
		}
		if some {
			b.defined = append(b.defined, d)
		}
	}
	return nil
}

func (b *tableReader) close() error {
	var err error
	if b.rows != nil {
		err = b.rows.Close()
	}
	for _, items := range []*itemReader{b.citations, b.claims} {
		if items != nil {
			err = errors.Join(err, items.file.Close())
		}
	}
	return err
}

// hasValue reports whether a column of numbers has a value in some row.
func (b *tableReader) hasValue(name string) (bool, error) {
	if !b.rows.Has(name) {
		return false, nil
	}
	for g := range b.rows.RowGroups() {
		if err := b.rows.ReadColumn(g, name, &b.v); err != nil {
			return false, err
		}
		if slices.Contains(b.v.Valid, true) {
			return true, nil
		}
	}
	return false, nil
}

// each calls f with every block, in order. A block is good until f returns.
func (b *tableReader) each(f func(block *results) error) error {
	b.citations.rewind()
	b.claims.rewind()
	for g := range b.rows.RowGroups() {
		if err := b.read(g); err != nil {
			return err
		}
		if err := f(&b.block); err != nil {
			return err
		}
	}
	return nil
}

// read makes the block of a row group.
func (b *tableReader) read(group int) error {
	r, n := &b.block, b.rows.GroupRows(group)
	r.run, r.prefix, r.judged = b.run, b.prefix, b.claims != nil
	columns := []struct {
		name string
		into *[]string
	}{
		{"id", &r.id},
		{"system", &r.system},
		{"provider", &r.provider},
		{"model", &r.model},
		{"error", &r.failed},
		{"fails_because", &r.because},
		{"truth_annotator", &r.annotator},
	}
	for _, c := range columns {
		*c.into = (*c.into)[:0]
		if !b.rows.Has(c.name) {
			*c.into = slices.Grow(*c.into, n)[:n]
			clear(*c.into)
			continue
		}
		if err := b.rows.ReadColumn(group, c.name, &b.v); err != nil {
			return err
		}
		*c.into = append(*c.into, b.v.Strings...)
	}
	for i := range r.system {
		r.system[i] = b.prefix + r.system[i]
	}
	for name, into := range map[string]*[]int64{"row": &r.row, "truth_spans": &r.truthSpans} {
		if err := b.rows.ReadColumn(group, name, &b.v); err != nil {
			return err
		}
		*into = append((*into)[:0], b.v.Ints...) // 0 where it is null
	}
	if err := b.readMaps(group, n); err != nil {
		return err
	}
	if r.metrics == nil {
		for _, d := range b.defined {
			r.metrics = append(r.metrics, metricColumn{def: d})
		}
	}
	for m := range r.metrics {
		c := &r.metrics[m]
		if err := b.rows.ReadColumn(group, c.def.Name, &b.v); err != nil {
			return err
		}
		c.values, c.valid = append(c.values[:0], b.v.Doubles...), append(c.valid[:0], b.v.Valid...)
	}
	return b.readItems()
}

// readMaps reads the tags of the block's rows, and why metrics have no value.
func (b *tableReader) readMaps(group, n int) error {
	r, p := &b.block, &b.parts
	r.tags, r.undefined = slices.Grow(r.tags[:0], n)[:n], slices.Grow(r.undefined[:0], n)[:n]
	if err := b.rows.ReadColumn(group, "tags", &b.maps); err != nil {
		return err
	}
	p.tags = p.tags[:0]
	for e, key := range b.maps.Keys {
		p.tags = append(p.tags, ibid.Tag{Key: key, Value: b.maps.Strings[e]})
	}
	for i := range r.tags {
		r.tags[i] = p.tags[b.maps.Offsets[i]:b.maps.Offsets[i+1]]
	}
	if !b.reasons {
		return nil
	}
	if err := b.rows.ReadColumn(group, "undefined", &b.maps); err != nil {
		return err
	}
	p.reasons = p.reasons[:0]
	for e, key := range b.maps.Keys {
		p.reasons = append(p.reasons, key, b.maps.Strings[e])
	}
	for i := range r.undefined {
		r.undefined[i] = p.reasons[2*b.maps.Offsets[i] : 2*b.maps.Offsets[i+1]]
	}
	return nil
}

// readItems reads the citations and claims of the block's rows.
func (b *tableReader) readItems() error {
	r, p := &b.block, &b.parts
	r.citations, r.claims, r.findings = r.citations[:0], r.claims[:0], r.findings[:0]
	p.numbers, p.claims = p.numbers[:0], p.claims[:0]
	if len(r.row) == 0 {
		r.firstCite, r.firstClm = []int32{0}, []int32{0}
		return nil
	}
	end := r.row[len(r.row)-1] + 1
	// Memory that grows moves, but what is pointed to stays.
	number := func(v *parquet.ColumnValues, k int) *float64 {
		if !v.Valid[k] {
			return nil
		}
		p.numbers = append(p.numbers, v.Doubles[k])
		return &p.numbers[len(p.numbers)-1]
	}
	list := func(v *parquet.ColumnValues, k int) []int32 {
		from := len(p.claims)
		for _, n := range v.Ints[v.Offsets[k]:v.Offsets[k+1]] {
			p.claims = append(p.claims, int32(n))
		}
		return p.claims[from:len(p.claims):len(p.claims)]
	}
	err := b.citations.upTo(end, func(v []parquet.ColumnValues, k int) {
		r.citations = append(r.citations, citation{
			row: v[0].Ints[k], doc: v[1].Strings[k], status: v[2].Strings[k], label: v[3].Strings[k], sourceType: v[4].Strings[k],
			exact: number(&v[5], k), snapped: number(&v[6], k), support: number(&v[7], k), claims: list(&v[8], k),
		})
	})
	if err != nil {
		return err
	}
	if b.claims != nil {
		err = b.claims.upTo(end, func(v []parquet.ColumnValues, k int) {
			c := claim{v[0].Ints[k], v[1].Strings[k], list(&v[2], k)}
			r.claims = append(r.claims, c)
			r.findings = append(r.findings, metrics.ClaimFinding{Outcome: outcomeNamed[c.outcome], Cited: len(c.citations)})
		})
	}
	r.firstCite = firstOf(r.firstCite[:0], r.row, len(r.citations), func(i int) int64 { return r.citations[i].row })
	r.firstClm = firstOf(r.firstClm[:0], r.row, len(r.claims), func(i int) int64 { return r.claims[i].row })
	return err
}

// An itemReader reads columns of a table of what rows have, such as citations, in
// file order, which is that of the rows.
type itemReader struct {
	file    *parquet.ResultFile
	names   []string // of the columns; the first one is the row
	columns []parquet.ColumnValues
	group   int // row groups that were read
	at      int // next item of the last of them
}

func openItems(path string, columns []string) (*itemReader, error) {
	f, err := parquet.OpenResult(path)
	if err != nil {
		return nil, err
	}
	return &itemReader{file: f, names: columns, columns: make([]parquet.ColumnValues, len(columns))}, nil
}

// rewind goes back to the first item. A nil reader has none.
func (r *itemReader) rewind() {
	if r != nil {
		r.group, r.at, r.columns[0].Rows = 0, 0, 0
	}
}

// upTo calls take with the columns and the place of each further item of the rows
// before end.
func (r *itemReader) upTo(end int64, take func(columns []parquet.ColumnValues, k int)) error {
	for r != nil {
		for ; r.at < r.columns[0].Rows; r.at++ {
			if r.columns[0].Ints[r.at] >= end {
				return nil
			}
			take(r.columns, r.at)
		}
		if r.group == r.file.RowGroups() {
			return nil
		}
		for i, name := range r.names {
			if err := r.file.ReadColumn(r.group, name, &r.columns[i]); err != nil {
				return err
			}
		}
		r.group, r.at = r.group+1, 0
	}
	return nil
}

// load reads the rows that keep chooses, all if it is nil; there are about n.
func (b *tableReader) load(n int, keep func(row int64, id, system string) bool) (*results, error) {
	r := &results{run: b.run, prefix: b.prefix, judged: b.claims != nil, firstCite: []int32{0}, firstClm: []int32{0}}
	for _, d := range b.defined {
		r.metrics = append(r.metrics, metricColumn{def: d, values: make([]float64, 0, n), valid: make([]bool, 0, n)})
	}
	for _, texts := range []*[]string{&r.id, &r.system, &r.provider, &r.model, &r.failed, &r.because, &r.annotator} {
		*texts = make([]string, 0, n)
	}
	same := make(sameText)
	b.reasons = true
	err := b.each(func(block *results) error {
		for i := range block.row {
			if keep == nil || keep(block.row[i], block.id[i], block.system[i][len(b.prefix):]) {
				r.take(block, i, same)
			}
		}
		return nil
	})
	b.reasons = false
	return r, err
}

// sameText holds texts that rows share, each once: a text that is kept as it was
// read would keep all others of its part of the file.
type sameText map[string]string

func (m sameText) of(s string) string {
	if s == "" {
		return ""
	}
	own, ok := m[s]
	if !ok {
		own = strings.Clone(s)
		m[own] = own
	}
	return own
}

// take adds row i of a block.
func (r *results) take(block *results, i int, same sameText) {
	r.id, r.failed = append(r.id, strings.Clone(block.id[i])), append(r.failed, strings.Clone(block.failed[i]))
	r.system, r.because = append(r.system, same.of(block.system[i])), append(r.because, same.of(block.because[i]))
	r.provider, r.model = append(r.provider, same.of(block.provider[i])), append(r.model, same.of(block.model[i]))
	r.annotator = append(r.annotator, same.of(block.annotator[i]))
	r.row, r.truthSpans = append(r.row, block.row[i]), append(r.truthSpans, block.truthSpans[i])
	r.tags = append(r.tags, likeBefore(r.tags, block.tags[i], func(t *ibid.Tag) { t.Key, t.Value = same.of(t.Key), same.of(t.Value) }))
	r.undefined = append(r.undefined, likeBefore(r.undefined, block.undefined[i], func(s *string) { *s = same.of(*s) }))
	for m := range r.metrics {
		c, from := &r.metrics[m], &block.metrics[m]
		c.values, c.valid = append(c.values, from.values[i]), append(c.valid, from.valid[i])
	}
	for _, c := range block.citationsOf(i) {
		for _, s := range []*string{&c.doc, &c.status, &c.label, &c.sourceType} {
			*s = same.of(*s)
		}
		for _, v := range []**float64{&c.exact, &c.snapped, &c.support} {
			if *v != nil {
				*v = new(**v)
			}
		}
		c.claims = slices.Clone(c.claims)
		r.citations = append(r.citations, c)
	}
	for _, c := range block.claimsOf(i) {
		c.outcome, c.citations = same.of(c.outcome), slices.Clone(c.citations)
		r.claims = append(r.claims, c)
	}
	r.findings = append(r.findings, block.findingsOf(i)...)
	r.firstCite, r.firstClm = append(r.firstCite, int32(len(r.citations))), append(r.firstClm, int32(len(r.claims)))
}

// likeBefore is the list of one of the last rows if that is equal, as it is in most
// rows, or a copy of which own makes each element's texts its own.
func likeBefore[E comparable](rows [][]E, list []E, own func(e *E)) []E {
	for k := len(rows) - 1; k >= max(0, len(rows)-4); k-- {
		if slices.Equal(rows[k], list) {
			return rows[k]
		}
	}
	out := slices.Clone(list)
	for k := range out {
		own(&out[k])
	}
	return out
}
