package configs

import "strings"

// A Func says which value of a metric a gate looks at.
type Func string

const (
	Estimate   Func = ""     // the estimate itself
	Low        Func = "lo"   // lower end of its interval
	High       Func = "hi"   // upper end of its interval
	Difference Func = "diff" // new run minus baseline
	PValue     Func = "p"    // two-sided p of that difference
)

// NeedsBaseline reports whether the value compares two runs.
func (f Func) NeedsBaseline() bool { return f == Difference || f == PValue }

// A SliceFilter narrows a gate to rows whose Key (a tag, system, provider or
// source_type) has the given Value.
type SliceFilter struct {
	Key, Value string
}

// A Gate is a condition on one value of a finished run, such as
//
//	lo(micro(char_f1))[lang=de] >= 0.6
//
// Without Micro the value is the macro one; without Slices it is over all rows
// of all systems.
type Gate struct {
	Func   Func
	Micro  bool
	Metric string // as written; the parser does not know which metrics exist
	Slices []SliceFilter
	Op     string // >=, <=, >, <, == or !=
	Number float64

	// Source is where the gate was written, as in [Value]; "" from ParseGate.
	Source string

	at      place
	snippet string
}

// String is the gate in its normal form, which ParseGate reads back.
func (g Gate) String() string {
	var b strings.Builder
	metric := g.Metric
	if g.Micro {
		metric = "micro(" + metric + ")"
	}
	if g.Func != Estimate {
		metric = string(g.Func) + "(" + metric + ")"
	}
	b.WriteString(metric)
	for _, s := range g.Slices {
		b.WriteString("[" + sliceText(s.Key) + "=" + sliceText(s.Value) + "]")
	}
	b.WriteString(" " + g.Op + " " + flowNumber(g.Number))
	return b.String()
}

// Met reports whether x meets the gate.
func (g Gate) Met(x float64) bool {
	switch g.Op {
	case ">=":
		return x >= g.Number
	case "<=":
		return x <= g.Number
	case ">":
		return x > g.Number
	case "<":
		return x < g.Number
	case "==":
		return x == g.Number
	case "!=":
		return x != g.Number
	}
	panic("configs: gate with operator " + g.Op)
}

// Refuse is an error at the place where the gate was written, for what only
// the caller can know: that no metric has this name, for example.
func (g Gate) Refuse(msg, hint string) *Error {
	e := g.at.refuse("", "gate "+g.String()+": "+msg, hint)
	e.Snippet = g.snippet
	return e
}

// Place is the file and line where the gate was written, from 1; "" and 0 if it was
// not in a file.
func (g Gate) Place() (file string, line int) { return g.at.file, g.at.line }

// sliceText quotes what the parser would read as something else.
func sliceText(s string) string {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\"\\[]=") || quoted(s) != `"`+s+`"` {
		return quoted(s)
	}
	return s
}
