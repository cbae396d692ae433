package runs

import (
	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// Reasons are, of each row of the block, the reason why a metric has no value; "" where it has
// one.
func (b *Block) Reasons(metric string) []string {
	out := make([]string, b.rows())
	b.reasons.read(b)
	named := b.reasons.named
	if !b.frame.file.Has("span_null") { // an earlier version named all
		for i := range out {
			out[i] = named(i, metric)
		}
		return out
	}
	d, ok := metrics.Lookup(metric)
	if !ok {
		return out
	}
	of := b.reasons.rows
	_, has := b.Numbers(metric)
	counts := map[string]string{"tokens": "overlap_tokens", "pages": "overlap_pages"}[d.Group]
	if metric == "offset_accuracy" {
		counts = "offsets_checked"
	}
	known := b.Column(counts).Valid
	for i := range out {
		if has[i] {
			continue
		}
		if out[i] = named(i, metric); out[i] == "" {
			out[i] = d.UsualReason(of[i], known[i]).String()
		}
	}
	return out
}

// blockReasons are what the columns of reasons have in a block.
type blockReasons struct {
	of     int                  // number of the block, plus one
	stored parquet.ColumnValues // the column undefined of the file
	rows   []metrics.RowReasons
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
	r.of = b.Number + 1
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
	all := metrics.Definitions()
	reasons := make([][]string, len(all))
	for m := range all {
		reasons[m] = b.Reasons(all[m].Name)
	}
	to.Null(n)
	to.Kind, to.Strings, to.Keys = parquet.MapString, to.Strings[:0], to.Keys[:0]
	for i := range n {
		to.Valid[i] = true
		for m := range all {
			if why := reasons[m][i]; why != "" {
				to.Keys, to.Strings = append(to.Keys, all[m].Name), append(to.Strings, why)
			}
		}
		to.Offsets[i+1] = int32(len(to.Keys))
	}
}
