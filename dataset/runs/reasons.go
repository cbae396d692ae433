package runs

import (
	"slices"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// Reasons are, of each row of the block, the reason why a metric has no value; "" where it has
// one.
func (b *Block) Reasons(metric string) []string {
	out := make([]string, b.rows())
	definitions := metrics.Definitions()
	m := slices.IndexFunc(definitions, func(d metrics.Definition) bool { return d.Name == metric })
	if m < 0 {
		return out
	}
	valid, known := b.validity(&definitions[m])
	for i := range out {
		out[i] = b.reasonAt(m, i, valid, known)
	}
	return out
}

// Undefined are the metrics of row i that have no value, each followed by its reason. The list
// is good until the next call.
func (b *Block) Undefined(i int) []string {
	definitions := metrics.Definitions()
	r := &b.reasons
	if r.read(b); len(r.valid) == 0 {
		for m := range definitions {
			valid, known := b.validity(&definitions[m])
			r.valid, r.known = append(r.valid, valid), append(r.known, known)
		}
	}
	r.list = r.list[:0]
	for m := range definitions {
		if why := b.reasonAt(m, i, r.valid[m], r.known[m]); why != "" {
			r.list = append(r.list, definitions[m].Name, why)
		}
	}
	return r.list
}

// validity says of each row whether it has a value of a metric, and whether the counts are
// known that it follows from, nil if they always are.
func (b *Block) validity(d *metrics.Definition) (valid, known []bool) {
	counts := countsOf[d.Group]
	if d.Name == "offset_accuracy" {
		counts = "offsets_checked"
	}
	if counts != "" {
		known = b.Column(counts).Valid
	}
	return b.Column(d.Name).Valid, known
}

// reasonAt is the reason why a metric of row i has no value.
func (b *Block) reasonAt(m, i int, valid, known []bool) string {
	r := &b.reasons
	r.read(b)
	switch all := b.frame.file.Has("span_null"); {
	case all && valid[i]:
		return ""
	case !all || r.stored.Offsets[i] < r.stored.Offsets[i+1]: // an earlier version named all
		if why := r.named(i, metrics.Metric(m).String()); why != "" || !all {
			return why
		}
	}
	return metrics.Metric(m).UsualReason(r.rows[i], known == nil || known[i]).String()
}

// countsOf are the counts of groups of metrics that not every run knows.
var countsOf = map[string]string{"tokens": "overlap_tokens", "pages": "overlap_pages"}

// blockReasons are what the columns of reasons have in a block.
type blockReasons struct {
	of     int                  // number of the block, plus one
	stored parquet.ColumnValues // the column undefined of the file
	rows   []metrics.RowReasons

	valid, known [][]bool // of each metric, see validity; empty until they are asked for
	list         []string // see Undefined
}

// named is the reason that a row names itself, "" if it names none.
func (r *blockReasons) named(row int, metric string) string {
	v := &r.stored
	for k := v.Offsets[row]; k < v.Offsets[row+1]; k++ {
		if v.Keys[k] == metric {
			return v.Strings[k]
		}
	}
	return ""
}

// read reads the reasons of a block, once.
func (r *blockReasons) read(b *Block) {
	if r.of == b.Number+1 {
		return
	}
	r.of, r.valid, r.known = b.Number+1, r.valid[:0], r.known[:0]
	has := b.frame.file.Has("undefined")
	if has && b.err == nil {
		b.err = b.frame.file.ReadCells(b.Number, "undefined", b.places, &r.stored)
	}
	if !has || b.err != nil {
		r.stored.Null(b.rows())
	}
	of := make([]metrics.RowReasons, b.rows())
	status, span, judge := b.Texts("status"), b.Texts("span_null"), b.Texts("judge_null")
	for i := range of {
		of[i] = metrics.RowReasons{Span: ibid.ReasonOf(span[i]), Judge: ibid.ReasonOf(judge[i])}
		if status[i] == RowError {
			of[i].Row = ibid.RowError
		}
		if !b.frame.file.Has("judge_null") {
			of[i].Judge = ibid.NoJudge
		}
	}
	r.rows = of
}

// undefined makes the column undefined with all metrics that have no value.
func (b *Block) undefined(to *parquet.ColumnValues) {
	n := b.rows()
	to.Null(n)
	to.Kind, to.Strings, to.Keys = parquet.MapString, to.Strings[:0], to.Keys[:0]
	for i := range n {
		to.Valid[i] = true
		for all := b.Undefined(i); len(all) > 0; all = all[2:] {
			to.Keys, to.Strings = append(to.Keys, all[0]), append(to.Strings, all[1])
		}
		to.Offsets[i+1] = int32(len(to.Keys))
	}
}
