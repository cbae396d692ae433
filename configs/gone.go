package configs

// gone says for each setting of the version before what to do instead. A run file
// that still has one is refused with that sentence.
var gone = map[string]string{
	"statistics.method":     "leave it out: there is one way to make an interval, from the documents that questions share",
	"statistics.resamples":  "leave it out: nothing is resampled, intervals are in closed form",
	"limits.memory":         "set limits: a number by which all limits are multiplied",
	"limits.row_spans":      "set limits: a number by which all limits are multiplied",
	"limits.row_pairs":      "set limits: a number by which all limits are multiplied",
	"limits.document_bytes": "set limits: a number by which all limits are multiplied",
	"limits.name_bytes":     "set limits: a number by which all limits are multiplied",
	"limits.rows_per_part":  "it is rows_per_part now",
	"results":               "leave it out: rows.parquet always has every column",
	"judge.lexical.weights": "leave it out: lexical scores by the share of words alone, which did better on claims that no weights were fitted to",
}

// refuseUnknown reports a key that names no setting.
func (l *loader) refuseUnknown(at place, name, hint string) {
	if instead, ok := gone[name]; ok {
		l.report(at, name, "this setting is gone", instead)
		return
	}
	l.report(at, name, "unknown key", hint)
}
