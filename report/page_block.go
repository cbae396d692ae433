package report

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
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
	rows      *runs.Frame
	defined   []metrics.Definition // metrics that some row has
	citations *itemReader
	claims    *itemReader // nil without a judge

	block results // its memory is used again
	parts blockParts
}

// blockParts is memory that a block's rows, citations and claims point into.
type blockParts struct {
	tags    []ibid.Tag
	numbers []float64
	claims  []int32
}

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
	if b.rows, err = runs.OpenRows(b.run.Dir); err != nil {
		return err
	}
	b.citations, err = openItems(filepath.Join(b.run.Dir, runs.CitationsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a summary of rows may have none
		return err
	}
	b.claims, err = openItems(filepath.Join(b.run.Dir, runs.ClaimsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := metrics.Definitions()
	some := make([]bool, len(all))
	err = b.rows.Each(func(block *runs.Block) error {
		for m := range all {
			if !some[m] {
				some[m] = slices.Contains(block.Column(all[m].Name).Valid, true)
			}
		}
		return nil
	})
	for m, d := range all {
		if some[m] {
			b.defined = append(b.defined, d)
		}
	}
	return err
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

// each calls f with every block, in order. A block is good until f returns.
func (b *tableReader) each(f func(block *results) error) error {
	b.citations.rewind()
	b.claims.rewind()
	return b.rows.Each(func(block *runs.Block) error {
		if err := b.read(block); err != nil {
			return err
		}
		return f(&b.block)
	})
}

// read makes the block of a block of rows.
func (b *tableReader) read(in *runs.Block) error {
	r := &b.block
	r.in, r.run, r.prefix, r.judged = in, b.run, b.prefix, b.claims != nil
	r.id, r.provider, r.model = in.Texts("id"), in.Texts("provider"), in.Texts("model")
	r.failed, r.because, r.annotator = in.Texts("error"), in.Texts("fails_because"), in.Texts("truth_annotator")
	r.system = append(r.system[:0], in.Texts("system")...)
	for i := range r.system {
		r.system[i] = b.prefix + r.system[i]
	}
	r.row, r.truthSpans = in.Column("row").Ints, in.Column("truth_spans").Ints // 0 where it is null
	b.readTags(in)
	if r.metrics == nil {
		for _, d := range b.defined {
			r.metrics = append(r.metrics, metricColumn{def: d})
		}
	}
	for m := range r.metrics {
		c := &r.metrics[m]
		c.values, c.valid = in.Numbers(c.def.Name)
	}
	if in.Err() != nil {
		return in.Err()
	}
	return b.readItems()
}

// readTags reads the tags of the block's rows.
func (b *tableReader) readTags(in *runs.Block) {
	r, p, n := &b.block, &b.parts, in.Len()
	r.tags = slices.Grow(r.tags[:0], n)[:n]
	maps := in.Column("tags")
	p.tags = p.tags[:0]
	for e, key := range maps.Keys {
		p.tags = append(p.tags, ibid.Tag{Key: key, Value: maps.Strings[e]})
	}
	for i := range r.tags {
		r.tags[i] = p.tags[maps.Offsets[i]:maps.Offsets[i+1]]
	}
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
	err := b.citations.upTo(end, func(in *runs.Block, from, to int) {
		row, doc, status, label, kind := in.Column("row").Ints, in.Texts("doc"), in.Texts("status"), in.Texts("label"), in.Texts("source_type")
		exact, snapped, support, claims := in.Column("exact_jaccard"), in.Column("snapped_jaccard"), in.Column("support"), in.Column("claims")
		for k := from; k < to && in.Err() == nil; k++ {
			r.citations = append(r.citations, citation{
				row: row[k], doc: doc[k], status: status[k], label: label[k], sourceType: kind[k],
				exact: number(exact, k), snapped: number(snapped, k), support: number(support, k), claims: list(claims, k),
			})
		}
	})
	if err != nil {
		return err
	}
	err = b.claims.upTo(end, func(in *runs.Block, from, to int) {
		row, outcome, citations := in.Column("row").Ints, in.Texts("outcome"), in.Column("citations")
		for k := from; k < to && in.Err() == nil; k++ {
			c := claim{row[k], outcome[k], list(citations, k)}
			r.claims = append(r.claims, c)
			r.findings = append(r.findings, metrics.ClaimFinding{Outcome: outcomeNamed[c.outcome], Cited: len(c.citations)})
		}
	})
	r.firstCite = firstOf(r.firstCite[:0], r.row, len(r.citations), func(i int) int64 { return r.citations[i].row })
	r.firstClm = firstOf(r.firstClm[:0], r.row, len(r.claims), func(i int) int64 { return r.claims[i].row })
	return err
}

// An itemReader reads a table of what rows have, such as citations, in file order, which is
// that of the rows.
type itemReader struct {
	file *runs.Frame
	in   *runs.Block // nil at the end
	at   int         // next item of the block
}

func openItems(path string) (*itemReader, error) {
	f, err := runs.OpenFrame(path)
	if err != nil {
		return nil, err
	}
	return &itemReader{file: f}, nil
}

// rewind goes back to the first item. A nil reader has none.
func (r *itemReader) rewind() {
	if r != nil {
		r.load(0)
	}
}

func (r *itemReader) load(k int) {
	if r.in, r.at = nil, 0; k < r.file.Blocks() {
		r.in = r.file.Block(k)
	}
}

// upTo calls take with the further items of the rows before end: places [from, to) of a
// block.
func (r *itemReader) upTo(end int64, take func(in *runs.Block, from, to int)) error {
	for r != nil && r.in != nil {
		n := sort.Search(r.in.Len()-r.at, func(k int) bool { return r.in.Column("row").Ints[r.at+k] >= end })
		take(r.in, r.at, r.at+n)
		if r.at += n; r.in.Err() != nil || r.at < r.in.Len() {
			return r.in.Err()
		}
		r.load(r.in.Number + 1)
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
	return r, b.each(func(block *results) error {
		for i := range block.row {
			if keep == nil || keep(block.row[i], block.id[i], block.system[i][len(b.prefix):]) {
				r.take(block, i, same)
			}
		}
		return nil
	})
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
	r.undefined = append(r.undefined, likeBefore(r.undefined, block.in.Undefined(i), func(s *string) { *s = same.of(*s) }))
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
