package configs

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const gateHint = "a gate is [lo|hi|diff|p|micro](METRIC)[slice=value] OP NUMBER, such as lo(char_f1) >= 0.7"

var (
	gateFuncs = []string{string(Low), string(High), string(Difference), string(PValue), "micro"}
	gateOps   = []string{">=", "<=", "==", "!=", ">", "<"} // longer ones before their prefixes
)

// ParseGate reads one gate. Its error is an *Error whose Column counts code
// points of expr from 1.
func ParseGate(expr string) (Gate, error) {
	g, bad := parseGate(expr)
	if bad != nil {
		column := bad.offset + 1
		return Gate{}, &Error{Line: 1, Column: column, Source: "gate " + quoted(expr), Msg: bad.msg, Hint: bad.hint, Snippet: snippet(expr, 1, column)}
	}
	return g, nil
}

func gateItem(expr string) *fault {
	_, bad := parseGate(expr)
	return bad
}

func parseGate(expr string) (Gate, *fault) {
	if !utf8.ValidString(expr) {
		return Gate{}, &fault{msg: "not valid UTF-8"}
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
		p.bad = &fault{utf8.RuneCountInString(p.text[:pos]), msg, hint}
	}
}

func (p *gateParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

// take skips one expected token, after space.
func (p *gateParser) take(token string) bool {
	p.space()
	if p.bad != nil || !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *gateParser) expect(token string) {
	if p.bad == nil && !p.take(token) {
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
	for p.bad == nil && p.take("[") {
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
		if !p.take("(") {
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

func (p *gateParser) function(g *Gate, start int, word string) {
	switch {
	case word == "micro" && !g.Micro:
		g.Micro = true
	case word == "micro":
		p.fail(start, "micro is given twice", "")
	case g.Func != Estimate:
		p.fail(start, word+" cannot stand inside "+string(g.Func), "")
	case g.Micro:
		p.fail(start, word+" cannot stand inside micro", "write "+word+"(micro(METRIC))")
	case word == "macro":
		p.fail(start, "macro is not a function", "a bare metric is macro")
	default:
		for _, f := range gateFuncs {
			if f == word {
				g.Func = Func(f)
				return
			}
		}
		hint := gateHint
		if near, ok := nearest(word, gateFuncs); ok {
			hint = "did you mean " + near + "?"
		}
		p.fail(start, "unknown function "+word, hint)
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
		if p.take(op) {
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
