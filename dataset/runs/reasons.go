package runs

import (
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// Reasons are, of each row of the block, the reason why a metric has no value, ibid.Defined
// where it has one. The list is good until the next call.
func (b *Block) Reasons(metric string) []ibid.Reason {
	r, of := &b.reasons, b
	if b.whole != nil {
		of = b.whole
	}
	of.reasons.read(of)
	r.list = slices.Grow(r.list[:0], b.rows())[:b.rows()]
	clear(r.list)
	definitions := metrics.Definitions()
	m := slices.IndexFunc(definitions, func(d metrics.Definition) bool { return d.Name == metric })
	if m < 0 {
		return r.list
	}
	var known []bool // the counts that it follows from; nil if they always are
	if c, ok := metrics.Metric(m).Needs(); ok {
		known = b.Column(c.String()).Valid
	}
	for i, ok := range b.Column(metric).Valid {
		if ok {
			continue
		}
		name, p := metric, b.place(i)
		if i > 0 && r.list[i-1] != ibid.Defined && len(of.reasons.stored.Keys) == 0 && of.reasons.rows[p] == of.reasons.rows[b.place(i-1)] &&
			(known == nil || known[i] == known[i-1]) {
			r.list[i] = r.list[i-1]
			continue
		}
		if b.part != nil && b.part[i] && ofKinds[name] {
			name = KindKey(name, b.kind)
		}
		if r.list[i] = of.reasons.named(p, name); r.list[i] == ibid.Defined {
			r.list[i] = metrics.Metric(m).UsualReason(of.reasons.rows[p], known == nil || known[i])
		}
	}
	return r.list
}

// blockReasons are what the columns of reasons have in a block.
type blockReasons struct {
	of     int                  // number of the block, plus one
	stored parquet.ColumnValues // the column undefined of the file
	rows   []metrics.RowReasons
	list   []ibid.Reason // see Reasons
}

// named is the reason that a row names itself.
func (r *blockReasons) named(row int, metric string) ibid.Reason {
	v := &r.stored
	for k := v.Offsets[row]; k < v.Offsets[row+1]; k++ {
		if v.Keys[k] == metric {
			return ibid.ReasonOf(v.Strings[k])
		}
	}
	return ibid.Defined
}

// read reads the reasons of a block, once.
func (r *blockReasons) read(b *Block) {
	if r.of == b.Number+1 {
		return
	}
	r.of = b.Number + 1
	has := b.frame.file.Has("undefined")
	if has && b.err == nil {
		b.err = b.frame.file.ReadColumn(b.Number, "undefined", b.places, &r.stored)
	}
	if b.err != nil || !has && r.stored.Rows != b.rows() {
		r.stored.Null(b.rows())
	}
	judged := b.frame.file.Has("judge_null")
	r.rows = slices.Grow(r.rows[:0], b.rows())[:b.rows()]
	status, span, judge := b.Texts("status"), b.Texts("span_null"), b.Texts("judge_null")
	for i := range r.rows {
		if i > 0 && status[i] == status[i-1] && span[i] == span[i-1] && judge[i] == judge[i-1] {
			r.rows[i] = r.rows[i-1]
			continue
		}
		of := metrics.RowReasons{Span: ibid.ReasonOf(span[i]), Judge: ibid.ReasonOf(judge[i])}
		if status[i] == RowError {
			of.Row = ibid.RowError
		}
		if !judged {
			of.Judge = ibid.NoJudge
		}
		r.rows[i] = of
	}
}

// undefined makes the column undefined with all metrics that have no value.
func (b *Block) undefined(to *parquet.ColumnValues) {
	definitions := metrics.Definitions()
	reasons := make([][]ibid.Reason, len(definitions))
	for m := range definitions {
		reasons[m] = slices.Clone(b.Reasons(definitions[m].Name))
	}
	to.Null(b.rows())
	to.Kind, to.Strings, to.Keys = parquet.MapString, to.Strings[:0], to.Keys[:0]
	for i := range to.Valid {
		to.Valid[i] = true
		for m := range definitions {
			if why := reasons[m][i]; why != ibid.Defined {
				to.Keys, to.Strings = append(to.Keys, definitions[m].Name), append(to.Strings, why.String())
			}
		}
		stored := &b.reasons.stored
		for k := stored.Offsets[i]; k < stored.Offsets[i+1]; k++ {
			if strings.HasSuffix(stored.Keys[k], "]") { // see KindKey
				to.Keys, to.Strings = append(to.Keys, stored.Keys[k]), append(to.Strings, stored.Strings[k])
			}
		}
		to.Offsets[i+1] = int32(len(to.Keys))
	}
}
