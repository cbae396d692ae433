package harness

import (
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// maxUndefinedMaps bounds the reason patterns that an undefinedMaps keeps; a run
// has a handful, one per kind of row.
const maxUndefinedMaps = 256

// undefinedMaps writes the column undefined: metric -> reason. Rows of a run
// lack the same metrics for the same reasons, so each pattern is built once.
type undefinedMaps struct {
	refs         map[string]dataset.MapRef // by pattern: one byte per reason
	pattern      []byte
	names        []string
	keys, values []string
}

func (u *undefinedMaps) append(t *dataset.Table, reasons []metrics.Reason) {
	u.pattern = u.pattern[:0]
	for _, why := range reasons {
		u.pattern = append(u.pattern, byte(why))
	}
	if ref, ok := u.refs[string(u.pattern)]; ok {
		t.AppendMapRef(runs.RowUndefined, ref)
		return
	}
	u.build(reasons)
	if len(u.refs) == maxUndefinedMaps {
		t.AppendMap(runs.RowUndefined, u.keys, u.values)
		return
	}
	if u.refs == nil {
		u.refs = make(map[string]dataset.MapRef)
	}
	ref := t.DefineMap(runs.RowUndefined, u.keys, u.values)
	u.refs[string(u.pattern)] = ref
	t.AppendMapRef(runs.RowUndefined, ref)
}

func (u *undefinedMaps) build(reasons []metrics.Reason) {
	if u.names == nil {
		for _, d := range metrics.Definitions() {
			u.names = append(u.names, d.Name)
		}
	}
	u.keys, u.values = u.keys[:0], u.values[:0]
	for m, why := range reasons {
		if why != metrics.Defined {
			u.keys = append(u.keys, u.names[m])
			u.values = append(u.values, why.String())
		}
	}
}
