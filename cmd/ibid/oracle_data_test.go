package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// The types of a dataset in Parquet, as `ibid help formats` has them.
type (
	// An oracleMark is a citation or a mark of truth, which leave other columns null.
	oracleMark struct {
		Annotator   *string `parquet:"annotator,optional"`
		Doc         *string `parquet:"doc,optional"`
		Page        *int32  `parquet:"page,optional"`
		Start       *int64  `parquet:"start,optional"`
		End         *int64  `parquet:"end,optional"`
		Unit        *string `parquet:"unit,optional"`
		CitedText   *string `parquet:"cited_text,optional"`
		AnswerStart *int64  `parquet:"answer_start,optional"`
		AnswerEnd   *int64  `parquet:"answer_end,optional"`
		ClaimID     *string `parquet:"claim_id,optional"`
	}
	oracleClaim struct {
		ClaimID string `parquet:"claim_id"`
		Text    string `parquet:"text"`
		Start   int64  `parquet:"start"`
		End     int64  `parquet:"end"`
	}
	oracleRow struct {
		ID        string        `parquet:"id"`
		System    string        `parquet:"system"`
		Query     string        `parquet:"query"`
		Answer    string        `parquet:"answer"`
		Citations []oracleMark  `parquet:"citations,optional,list"`
		Truth     []oracleMark  `parquet:"truth,optional,list"`
		Claims    []oracleClaim `parquet:"claims,optional,list"`

		verdicts []oracleVerdict // of a recorded judge
	}
	oracleDocument struct {
		Doc   string   `parquet:"doc"`
		Text  *string  `parquet:"text,optional"`
		Pages []string `parquet:"pages,optional,list"`

		tokens [][2]int64 // of the text
	}
)

// An oracleVerdict is a line of the file of a recorded judge. Each line has all members,
// since the program reads those alone that the first line has.
type oracleVerdict struct {
	ID            string   `json:"id"`
	System        string   `json:"system"`
	ClaimID       string   `json:"claim_id"`
	Evidence      string   `json:"evidence"`
	Support       *float64 `json:"support"`
	Contradicted  *bool    `json:"contradicted"`
	Relevant      *bool    `json:"relevant"`
	Factual       *bool    `json:"factual"`
	NeedsCitation *bool    `json:"needs_citation"`
}

// text is the text of the document and whether it is known.
func (d *oracleDocument) text() (string, bool) {
	if d == nil || d.Text == nil && d.Pages == nil {
		return "", false
	}
	return val(d.Text) + strings.Join(d.Pages, ""), true
}

// oracleWords are words in which each token by UAX #29 stands in brackets. What separates
// them has no letter or digit.
var oracleWords = strings.Fields(`[bridge] [don't] [3.14] [1,250] [well]-[known] [e.g] [東][京] [カメラ] [𝒜𝓁𝓅] [café] ` +
	"[cafe\u0301] [na\u00ADive]" + ` [über] [x_1] 😀 — [a] [7] [length] [метров] [of]`)

// An oracleMaker makes random data that looks for trouble.
type oracleMaker struct {
	*rand.Rand
	o    *oracle
	c    *oracleConfig
	docs []*oracleDocument
}

func (g *oracleMaker) often(p float64) bool { return g.Float64() < p }

func oneOf[T any](g *oracleMaker, of ...T) T { return of[g.IntN(len(of))] }

// optional is nil for a zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// prose adds text of so many words to a document and returns it.
func (g *oracleMaker) prose(d *oracleDocument, words int) string {
	before, _ := d.text()
	text, at := "", int64(len([]rune(before)))
	for range words {
		for _, r := range oneOf(g, oracleWords...) + oneOf(g, " ", " ", " ", ". ", " (", ") ") {
			switch r {
			case '[':
				d.tokens = append(d.tokens, [2]int64{at, 0})
			case ']':
				d.tokens[len(d.tokens)-1][1] = at
			default:
				text += string(r)
				at++
			}
		}
	}
	return text
}

// documents makes sources with a text, with pages, and with nothing known.
func (g *oracleMaker) documents() {
	for i := range 14 {
		d := &oracleDocument{Doc: oneOf(g, "d", "D", "kb/x", "é") + fmt.Sprint(i)}
		switch i % 7 {
		case 0, 1:
			d.Text = new(g.prose(d, 30+g.IntN(120)))
		case 2, 3, 4:
			for range 1 + g.IntN(5) {
				d.Pages = append(d.Pages, g.prose(d, 4+g.IntN(30)))
			}
		case 5:
			d.Doc = fmt.Sprint("silent", i)
		default:
			d.Text = new(g.prose(d, 1+g.IntN(5)))
		}
		g.docs = append(g.docs, d)
		g.o.docs[d.Doc] = d
	}
}

// An oraclePlace is where something points, half-open and in code points.
type oraclePlace struct {
	doc        *oracleDocument
	page       int32 // 0: none
	start, end int64
	absent     bool // start and end are null
	unit       string
	quote      *string
}

// place makes a place in a document, often near another one.
func (g *oracleMaker) place(d *oracleDocument, near []oraclePlace) oraclePlace {
	p := oraclePlace{doc: d}
	if d.Pages != nil && (g.c.fromPage || g.often(.4)) {
		p.page = int32(1 + g.IntN(len(d.Pages)) + g.IntN(25)/24*len(d.Pages)) // one in 25 is no page
	}
	p.start = g.Int64N(max(int64(len(g.o.key(d, p.page))), 30))
	p.end = p.start + 1 + g.Int64N(50)
	if len(near) > 0 && g.often(.65) {
		if n := oneOf(g, near...); !n.absent && n.unit == "" && n.start >= 0 {
			p, p.quote = n, nil
			t, size, far := g.c.tolerance, n.end-n.start, 1+g.Int64N(20)
			near := [2]int64{oneOf(g, 0, 0, 1, -1, -3, 7, t, -t, t+1, -20), oneOf(g, 0, 0, 1, -1, 4, -6, t, -t, -t-1, 30)}
			// The same, touching, inside, or nearly the same.
			d := oneOf(g, [2]int64{}, [2]int64{size, far}, [2]int64{-far, -size}, [2]int64{size / 4, -size / 4}, near, near, near, near)
			if n.start+d[0] >= 0 && n.start+d[0] < n.end+d[1] {
				p.start, p.end = n.start+d[0], n.end+d[1]
			}
		}
	}
	size := int64(len(g.o.key(p.doc, p.page)))
	if p.end > size && p.start < size && g.often(.8) {
		p.end = size
	}
	if g.c.unit != "" && p.end > size { // offsets beyond a text have no code points to convert
		p.start, p.end = 0, max(1, min(size, 9))
	}
	kind, limit := g.IntN(70), int64(oracleLimit)
	switch plain := g.c.unit == ""; {
	case kind < 3: // empty, inverted, negative
		p.start, p.end = []int64{p.end, p.end, -5}[kind], []int64{p.end, p.start + 1, p.end}[kind]
	case kind == 3 && plain:
		p.start, p.end = limit-30, limit-g.Int64N(9)
	case kind == 5:
		p.absent = true
	case kind == 6 && plain:
		p.end = p.start + g.c.longest + 1 + g.Int64N(50)
	case kind == 7 && !g.c.fromPage:
		p.page, p.unit, p.absent = 0, "document", true
	}
	p.end = min(p.end, limit) // beyond it the definitions and the program differ
	return p
}

// quoted gives a place the text that it says it quotes: that of the place or a part of it,
// that of another place, or something that stands nowhere.
func (g *oracleMaker) quoted(p *oraclePlace) {
	text := g.o.key(p.doc, p.page)
	size := int64(len(text))
	from, to := p.start, p.end
	switch kind := g.IntN(5); {
	case p.unit != "" || size < 40 || !g.often(.3):
		return
	case kind == 4:
		p.quote = new("nothing like it stands there")
		return
	case kind == 3:
		from = g.Int64N(size - 30)
		to = from + 30
	case kind == 2:
		from, to = from+1, to-1
	}
	if p.absent || from < 0 || from >= to || to > size {
		return
	}
	// What stands at the ends of a quotation beside letters and digits is of no account.
	p.quote = optional(strings.TrimFunc(string(text[from:to]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// mark writes a place as a dataset has it, in the unit of the configuration.
func (g *oracleMaker) mark(p oraclePlace) oracleMark {
	m := oracleMark{Doc: &p.doc.Doc, Page: optional(p.page), Unit: optional(p.unit), CitedText: p.quote}
	if p.absent {
		return m
	}
	a, b, text := p.start, p.end, g.o.key(p.doc, p.page)
	if p.unit == "" && min(a, b) >= 0 && max(a, b) <= int64(len(text)) {
		a, b = g.c.units(text[:a]), g.c.units(text[:b])
	}
	if g.c.inclusive {
		b--
	}
	m.Start, m.End = &a, &b
	if g.often(.003) {
		m.End = nil // an error of the row
	}
	return m
}

// units is the length of a text in the unit of the configuration.
func (c *oracleConfig) units(text []rune) int64 {
	switch c.unit {
	case "byte":
		return int64(len(string(text)))
	case "utf16":
		return int64(len(utf16.Encode(text)))
	}
	return int64(len(text))
}

// row makes an answer. The answers of a question by several systems follow each other.
func (g *oracleMaker) row(i int) *oracleRow {
	r := &oracleRow{ID: fmt.Sprint("q", i/3), System: []string{"a", "b", "c"}[i%3], Query: "how long"}
	r.Answer = oneOf(g, "The bridge is long.", "Es 𝒜 ist lang. Und breit.", "")
	if g.c.judged {
		r.Answer, r.Claims = "", []oracleClaim{}
		for k := range g.IntN(5) {
			text, at := fmt.Sprintf("Claim %d says %s.", k, strings.Repeat("long ", g.IntN(4))), int64(len(r.Answer))
			r.Claims = append(r.Claims, oracleClaim{fmt.Sprint("c", k), text, at, at + int64(len(text))})
			r.Answer += text + " "
		}
	}
	docs := []*oracleDocument{oneOf(g, g.docs...), oneOf(g, g.docs...), oneOf(g, g.docs...)}
	var near []oraclePlace
	if !g.c.noTruth && !g.often(.08) {
		r.Truth = []oracleMark{}
		for range g.IntN(6) {
			p := g.place(oneOf(g, docs...), near)
			if g.often(.3) && p.end-p.start <= g.c.longest { // of longer ones the program reads no quote
				g.quoted(&p)
			}
			p.absent = p.unit != "" && p.absent
			m := g.mark(p)
			if g.often(.07) { // who looked and marked nothing
				m = oracleMark{}
			} else if len(near) == 0 || near[0].doc == p.doc {
				near = append(near, p)
			}
			m.Annotator = optional(oneOf(g, "", "ada", "ada", "bob", "cem"))
			r.Truth = append(r.Truth, m)
			if g.often(.15) {
				r.Truth = append(r.Truth, m)
			}
		}
	}
	if !g.often(.05) {
		r.Citations = []oracleMark{}
		for range g.IntN(7) {
			p := g.place(oneOf(g, docs...), near)
			g.quoted(&p)
			c := g.mark(p)
			if g.often(.06) {
				c.Doc = new(oneOf(g, "invented", p.doc.Doc+"x", "https://nowhere.example/a"))
			}
			if len(r.Claims) > 0 {
				k := oneOf(g, r.Claims...)
				c.ClaimID = oneOf(g, &k.ClaimID, nil)
				if c.ClaimID == nil && g.often(.5) {
					c.AnswerStart, c.AnswerEnd = &k.Start, &k.End
				}
			}
			r.Citations = append(append(r.Citations, c), map[bool][]oracleMark{true: {c}}[g.often(.15)]...)
		}
		g.judge(r)
	}
	return r
}

// judge gives a row what a recorded judge says: of each claim with each of its citations,
// with all of them, with other texts, and of the claim alone. Of identical citations it says
// the same, or nothing of some.
func (g *oracleMaker) judge(r *oracleRow) {
	supports := []float64{0, 0, .2, .5, .7, .75, .8, 1, 1}
	places := g.o.places(r)
	for k, claim := range r.Claims {
		line := func(evidence string, change func(v *oracleVerdict)) {
			v := oracleVerdict{ID: r.ID, System: r.System, ClaimID: claim.ClaimID, Evidence: evidence}
			change(&v)
			r.verdicts = append(r.verdicts, v)
		}
		scores, links, cited, silent := map[string]float64{}, 0, 0, false
		for i := range r.Citations {
			if !slices.Contains(oracleLinks(r, i), k) {
				continue
			}
			links++
			if !oracleValid(places[i]) {
				continue // what is not valid is not judged
			}
			same := fmt.Sprint(places[i], oracleLinks(r, i))
			if _, ok := scores[same]; !ok {
				scores[same] = oneOf(g, supports...) - map[bool]float64{true: 2}[g.often(.07)]
			}
			if v := scores[same]; v < 0 {
				silent = true
			} else {
				if links < 3 || !g.often(.15) { // it was said of another one, perhaps
					cited++
					line(fmt.Sprint("citation:", i), func(w *oracleVerdict) { w.Support, w.Relevant = &v, new(int(10*v)%2 == 0) })
				}
			}
		}
		if g.often(.3) {
			line("claim", func(v *oracleVerdict) { v.Factual, v.NeedsCitation = new(g.often(.8)), new(g.often(.8)) })
		}
		// Of a claim without a line on all of its citations the best of them counts, if all
		// are known. The program takes those that are not valid for not known, and reads
		// lines on claims that cite nothing.
		joint := oneOf(g, supports...)
		contradicted := joint == 0 && g.often(.5)
		if cited == 0 && !silent {
			joint, contradicted = 0, false
		}
		if links > 0 && (cited < links && !silent || g.often(.8)) {
			line("joint", func(v *oracleVerdict) { v.Support, v.Contradicted = &joint, &contradicted })
		}
		if k == 0 || g.often(.8) { // a row without any line has no verdict
			line("elsewhere", func(v *oracleVerdict) { v.Support = new(oneOf(g, 0, 0, .5, 1)) })
		}
	}
}
