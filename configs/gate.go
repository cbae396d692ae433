package configs

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

// A Func says which value of a metric a gate looks at.
type Func string

const (
	Estimate Func = ""    // the estimate itself
	Low      Func = "lo"  // lower end of its interval
	High     Func = "hi"  // upper end of its interval
	Total    Func = "sum" // of a count, over rows

	// AgreedOn is the agreement of annotators, where Metric says what about: truth, or a kind of label.
	AgreedOn Func = "agreement"
)

// A SliceFilter narrows a gate to rows whose Key (a tag, system, provider or
// source_type) has the given Value.
type SliceFilter struct {
	Key, Value string
}

// A Gate is a condition on one value of a finished run, such as
//
//	lo(micro(char_f1))[lang=de] >= 0.6
//	hi(diff(char_f1)) >= 0
//
// Without Micro the value is the macro one; without Slices it is over all rows of all
// systems.
type Gate struct {
	Func   Func
	Diff   bool // the value is that of the run less that of its baseline
	Micro  bool
	Metric string // as written; the parser does not know which metrics exist
	Slices []SliceFilter
	Op     string // >=, <=, >, <, == or !=
	Number float64

	at      place
	snippet string
}

// Group is the system and the slice KEY=VALUE that the gate looks at, "" for all: the
// first of them if it names several.
func (g Gate) Group() (system, slice string, several bool) {
	for _, s := range g.Slices {
		switch {
		case s.Key == "system" && system == "":
			system = s.Value
		case s.Key != "system" && slice == "":
			slice = s.Key + "=" + s.Value
		default:
			several = true
		}
	}
	return system, slice, several
}

// String is the gate in its normal form, which ParseGate reads back.
func (g Gate) String() string {
	var b strings.Builder
	metric := g.Metric
	if g.Micro {
		metric = "micro(" + metric + ")"
	}
	if g.Diff {
		metric = difference + "(" + metric + ")"
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

const gateHint = "a gate is [lo|hi|sum|diff|micro](METRIC)[slice=value] OP NUMBER, such as lo(char_f1) >= 0.7 or hi(diff(char_f1)) >= 0; or agreement(truth|KIND) OP NUMBER"

// Functions of gates that are no [Func]: they go inside lo and hi.
const (
	difference = "diff"
	pooled     = "micro"
)

var (
	gateFuncs = []string{string(Low), string(High), string(Total), difference, string(AgreedOn), pooled}
	gateOps   = []string{">=", "<=", "==", "!=", ">", "<"} // longer ones before their prefixes
)

// ParseGate reads one gate. Its error is an *Error whose Column counts code
// points of expr from 1.
func ParseGate(expr string) (Gate, error) {
	g, bad := parseGate(expr)
	if bad != nil {
		return Gate{}, &Error{Line: 1, Column: bad.column, Source: "gate " + quoted(expr), Msg: bad.msg, Hint: bad.hint, Snippet: snippet(expr, 1, bad.column)}
	}
	return g, nil
}

// parseGate reads one gate. The column of a fault is in it, from 1.
func parseGate(expr string) (Gate, *fault) {
	if !utf8.ValidString(expr) {
		return Gate{}, &fault{1, 1, "not valid UTF-8", ""}
	}
	p := &gateParser{text: expr}
	g := p.gate()
	return g, p.bad
}

// A gateParser is a cursor over one expression. After the first fault all its
// methods do nothing.
type gateParser struct {
	text string
	pos  int // in bytes
	bad  *fault
}

func (p *gateParser) fail(pos int, msg, hint string) {
	if p.bad == nil {
		p.bad = &fault{1, utf8.RuneCountInString(p.text[:pos]) + 1, msg, hint}
	}
}

func (p *gateParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

// skip moves past space and then past a token, and reports whether it was there.
func (p *gateParser) skip(token string) bool {
	p.space()
	if p.bad != nil || !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *gateParser) expect(token string) {
	if p.bad == nil && !p.skip(token) {
		p.fail(p.pos, "want "+token+", got "+p.rest(), gateHint)
	}
}

// rest describes what stands at the cursor.
func (p *gateParser) rest() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	word := strings.Fields(p.text[p.pos:] + " .")[0]
	return strconv.Quote(word)
}

func (p *gateParser) gate() Gate {
	var g Gate
	p.value(&g)
	for p.bad == nil && p.skip("[") {
		if g.Func == AgreedOn {
			p.fail(p.pos, "agreement is of all systems and slices", "")
		}
		p.slice(&g)
	}
	p.operator(&g)
	p.number(&g)
	p.space()
	if p.bad == nil && p.pos < len(p.text) {
		p.fail(p.pos, "unexpected "+p.rest()+" after the number", gateHint)
	}
	return g
}

// value reads the metric with the functions around it.
func (p *gateParser) value(g *Gate) {
	open := 0
	for {
		start, word := p.word()
		if p.bad != nil {
			return
		}
		if !p.skip("(") {
			g.Metric = word
			break
		}
		open++
		p.function(g, start, word)
	}
	for range open {
		p.expect(")")
	}
}

// function reads a function, of which others may be around it: lo and hi, then diff, then micro.
func (p *gateParser) function(g *Gate, start int, word string) {
	around := string(g.Func)
	switch {
	case g.Micro:
		around = pooled
	case g.Diff:
		around = difference
	}
	alone := g.Func == AgreedOn || g.Func == Total
	switch {
	case word == "given":
		p.fail(start, "given() is gone", "a place counts where its quote stands; offset_accuracy says how many quotes were moved")
	case word == "p":
		_, metric := p.word()
		p.fail(start, "p() is gone: it also failed on an improvement", "hi(diff("+metric+")) >= 0 fails on a significant fall, lo(diff("+metric+")) <= 0 on a significant rise")
	case word == "macro":
		p.fail(start, "macro is not a function", "a bare metric is macro")
	case !slices.Contains(gateFuncs, word):
		hint := gateHint
		if near := ibid.Nearest(word, gateFuncs); near != "" {
			hint = "did you mean " + near + "?"
		}
		p.fail(start, "unknown function "+word, hint)
	case word == pooled && !g.Micro && !alone:
		g.Micro = true
	case word == difference && !g.Diff && !g.Micro && !alone:
		g.Diff = true
	case around == "":
		g.Func = Func(word)
	case g.Func == AgreedOn:
		p.fail(start, word+" does not go inside agreement", "write agreement(truth), or agreement of a kind of label, such as agreement(support)")
	case (g.Diff || g.Micro) && (word == string(Low) || word == string(High) || word == difference && around == pooled):
		p.fail(start, word+" does not go inside "+around, "write "+word+"("+around+"(METRIC))")
	case around == word:
		p.fail(start, word+" is given twice", "")
	default:
		p.fail(start, word+" does not go inside "+around, "")
	}
}

// word reads a name: letters, digits and underscores, no digit first.
func (p *gateParser) word() (start int, word string) {
	p.space()
	start = p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (p.pos == start || c < '0' || c > '9') {
			break
		}
		p.pos++
	}
	if p.pos == start {
		p.fail(start, "want a metric, got "+p.rest(), gateHint)
	}
	return start, p.text[start:p.pos]
}

// slice reads KEY=VALUE] after its opening bracket.
func (p *gateParser) slice(g *Gate) {
	p.space()
	start := p.pos
	s := SliceFilter{Key: p.sliceText("=")}
	p.expect("=")
	s.Value = p.sliceText("]")
	p.expect("]")
	if p.bad != nil {
		return
	}
	if s.Key == "" {
		p.fail(start, "want a slice name before =", "")
	}
	for _, other := range g.Slices {
		if other.Key == s.Key {
			p.fail(start, "slice "+s.Key+" is given twice", "")
		}
	}
	g.Slices = append(g.Slices, s)
}

// sliceText reads a quoted text, or everything up to end without the space
// around it.
func (p *gateParser) sliceText(end string) string {
	p.space()
	if p.bad != nil {
		return ""
	}
	if strings.HasPrefix(p.text[p.pos:], `"`) {
		return p.quotedText()
	}
	n := strings.Index(p.text[p.pos:], end)
	if n < 0 {
		p.fail(p.pos, "want "+end+" before the end", gateHint)
		return ""
	}
	text := p.text[p.pos : p.pos+n]
	if i := strings.IndexAny(text, `[]="\`); i >= 0 {
		p.fail(p.pos+i, "unexpected "+text[i:i+1]+" in a slice", "quote the value")
		return ""
	}
	p.pos += n
	return strings.TrimSpace(text)
}

func (p *gateParser) quotedText() string {
	text, err := strconv.QuotedPrefix(p.text[p.pos:])
	if err != nil {
		p.fail(p.pos, "quotes that do not end, or a bad escape in them", "")
		return ""
	}
	p.pos += len(text)
	s, err := strconv.Unquote(text)
	if err != nil || !utf8.ValidString(s) {
		p.fail(p.pos-len(text), "not a text", "")
	}
	return s
}

func (p *gateParser) operator(g *Gate) {
	p.space()
	if p.bad != nil {
		return
	}
	for _, op := range gateOps {
		if p.skip(op) {
			g.Op = op
			return
		}
	}
	hint := gateHint
	if strings.HasPrefix(p.text[p.pos:], "=") {
		hint = "did you mean =="
		if strings.HasPrefix(p.text[p.pos:], "=>") {
			hint = "did you mean >="
		} else if strings.HasPrefix(p.text[p.pos:], "=<") {
			hint = "did you mean <="
		}
		hint += "?"
	}
	p.fail(p.pos, "want one of >=, <=, >, <, ==, !=, got "+p.rest(), hint)
}

func (p *gateParser) number(g *Gate) {
	p.space()
	if p.bad != nil {
		return
	}
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] != ' ' && p.text[p.pos] != '\t' {
		p.pos++
	}
	text := p.text[start:p.pos]
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && numberText.MatchString(text) {
		g.Number = x + 0
		return
	}
	p.pos = start
	hint := gateHint
	if number, ok := strings.CutSuffix(text, "%"); ok && numberText.MatchString(number) {
		hint = "write a fraction, such as 0.7 for 70%"
	}
	p.fail(start, "want a number, got "+p.rest(), hint)
}

// addGates parses the gates, whose grammar is already checked, and adds those
// that quality_thresholds and the command line ask for.
func (l *loader) addGates(c *Config, flags []string) {
	setting := c.values[byName["gates"]]
	for i, expr := range c.Settings.Gates {
		at := setting.at
		if at.file != "" && i < len(setting.node.items) {
			at.line, at.column = setting.node.items[i].line, setting.node.items[i].column
		}
		l.addGate(c, expr, at)
	}
	for _, t := range []struct{ key, metric, op string }{
		{"quality_thresholds.span_accuracy", "span_accuracy_score", ">="},
		{"quality_thresholds.citation_validity", "citation_correctness", ">="},
		{"quality_thresholds.answer_consistency", "answer_consistency_score", ">="},
		{"quality_thresholds.hallucination_tolerance", "hallucination_rate", "<="},
	} {
		a := c.values[byName[t.key]]
		if x, ok := a.value.(float64); ok {
			c.gates = append(c.gates, Gate{Metric: t.metric, Op: t.op, Number: x, at: a.at, snippet: a.at.snippet(l.lines)})
		}
	}
	for _, expr := range flags {
		l.addGate(c, expr, place{source: "--gate"})
	}
}

func (l *loader) addGate(c *Config, expr string, at place) {
	g, bad := parseGate(expr)
	if bad != nil {
		l.report(at, "", bad.msg, bad.hint)
		if at.file == "" {
			l.errs[len(l.errs)-1].Column = bad.column
			l.errs[len(l.errs)-1].Snippet = snippet(expr, 1, bad.column)
		}
		return
	}
	g.at, g.snippet = at, at.snippet(l.lines)
	c.gates = append(c.gates, g)
}
