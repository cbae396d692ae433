package runs

import (
	"slices"

	"ibid/dataset/parquet"
	"ibid/metrics"
)

// Suffixes of the keys in the column bounds: the least and the greatest value that a metric of
// a row can have, where something of it has no verdict.
const (
	LowSuffix  = "_low"
	HighSuffix = "_high"
)

// Columns of maps, whose keys a [Frame] reads like columns.
const (
	openColumn     = "open"
	boundsColumn   = "bounds"
	dialectsColumn = "dialects"
)

// keyed are the columns of maps by the keys that they can have.
var keyed = func() map[string]string {
	of := make(map[string]string)
	for column, keys := range keysOf {
		for _, key := range keys {
			of[key] = column
		}
	}
	return of
}()

// keysOf are the keys of columns of maps, in the order in which rows have them.
var keysOf = func() map[string][]string {
	keys := make(map[string][]string)
	for o := range metrics.NumOpen {
		keys[openColumn] = append(keys[openColumn], metrics.Open(o).String())
	}
	for _, m := range BoundedMetrics() {
		keys[boundsColumn] = append(keys[boundsColumn], m.String()+LowSuffix, m.String()+HighSuffix)
	}
	for _, m := range DialectMetrics() {
		keys[dialectsColumn] = append(keys[dialectsColumn], m.String())
	}
	return keys
}()

// keySQL are the expressions for the value of a key in a row.
var keySQL = map[string]string{openColumn: "coalesce(open['KEY'], 0)", boundsColumn: "bounds['KEY']", dialectsColumn: "dialects['KEY']"}

// BoundedMetrics are the metrics that can have bounds in a row.
func BoundedMetrics() []metrics.Metric { return metricsThat((*metrics.Definition).HasBounds) }

// DialectMetrics are the metrics that stand in the column dialects.
func DialectMetrics() []metrics.Metric { return metricsThat(isDialect) }

func metricsThat(are func(d *metrics.Definition) bool) (all []metrics.Metric) {
	for m, d := range metrics.Definitions() {
		if are(&d) {
			all = append(all, metrics.Metric(m))
		}
	}
	return all
}

func isDialect(d *metrics.Definition) bool { return d.Group == "dialects" }

// readKey makes a column of the values that one key has in a column of maps: of open 0, of
// others null where a map does not have it.
func (b *Block) readKey(column, key string, to *parquet.ColumnValues) {
	maps := b.Column(column)
	to.Null(b.rows())
	if to.Kind = parquet.Double; column == openColumn {
		to.Kind = parquet.Int64
		copy(to.Valid, maps.Valid)
	}
	if maps.Offsets[b.rows()] == 0 {
		return
	}
	for i := range to.Valid {
		lo, hi := maps.Offsets[i], maps.Offsets[i+1]
		k := slices.Index(maps.Keys[lo:hi], key)
		if k < 0 {
			continue
		}
		if to.Valid[i] = true; to.Kind == parquet.Int64 {
			to.Ints[i] = maps.Ints[lo+int32(k)]
		} else {
			to.Doubles[i] = maps.Doubles[lo+int32(k)]
		}
	}
}

// Tallies are, of each row, how many items of a kind there are, by what became of them.
func (b *Block) Tallies(of metrics.Items) []metrics.Tally {
	out := make([]metrics.Tally, b.rows())
	counts, known := b.Numbers(of.Count.String())
	var open [metrics.NumOpen][]float64
	for _, o := range of.Open() {
		open[o], _ = b.Numbers(o.String())
	}
	for i := range out {
		out[i] = of.Tally(counts[i], known[i], func(o metrics.Open) float64 { return open[o][i] })
	}
	return out
}
