package doc

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A constant is markup of this file. Strings of users never become one: a test forbids
// the conversion.
type constant string

// An htmlWriter writes elements. Its put method escapes all that is not a constant.
type htmlWriter struct {
	out   *bufio.Writer
	notes notes
	id    string // of the section, for the anchors of notes
	top   bool   // the title of the section is that of the page
}

// WriteHTML writes blocks as HTML. Data is only in text and in attributes; links lead
// within the page, to http and https, and to relative files.
func WriteHTML(out io.Writer, blocks ...Block) error {
	w := &htmlWriter{out: bufio.NewWriter(out)}
	w.blocks(blocks, false)
	w.footnotes()
	return w.out.Flush()
}

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// put writes markup with a text in the place of each {}: the text of an element, or the value of
// an attribute within quotation marks.
func (w *htmlWriter) put(markup constant, texts ...string) {
	rest := string(markup)
	for _, text := range texts {
		before, after, _ := strings.Cut(rest, "{}")
		w.out.WriteString(before)
		htmlEscapes.WriteString(w.out, Clean(text))
		rest = after
	}
	w.out.WriteString(rest)
}

// place is a place on an axis, in percent.
func place(share float64) string {
	return strconv.FormatFloat(100*min(max(share, 0), 1), 'f', 2, 64) + "%"
}

// safe is a link that can run nothing and leads to no other scheme; "" if it could.
func safe(link string) string {
	switch {
	case strings.HasPrefix(link, "#"), strings.HasPrefix(link, "https://"), strings.HasPrefix(link, "http://"):
		return link
	case strings.ContainsAny(link, `:\`), strings.HasPrefix(link, "/"), link != Clean(link):
		return ""
	}
	return link
}

// blocks writes blocks; the summary of Details is the visible caption of a table that is
// first in them.
func (w *htmlWriter) blocks(blocks []Block, folded bool) {
	for i, block := range blocks {
		switch b := block.(type) {
		case Section:
			w.section(&b)
		case Heading:
			var open, end constant = "<h3>", "</h3>"
			if w.top {
				open, end = "<h2>", "</h2>"
			}
			w.put(open)
			w.spans(b.Text)
			w.put(end)
		case Para:
			w.para(b, isItem(blocks, i-1), isItem(blocks, i+1))
		case Table:
			w.table(&b, folded && i == 0)
		case Facts:
			w.put(`<dl class="facts counts">`)
			for _, f := range b {
				if f.ID != "" {
					w.put(`<div id="{}"><dt>{}</dt><dd>`, f.ID, f.Name)
				} else {
					w.put("<div><dt>{}</dt><dd>", f.Name)
				}
				w.spans(f.Text)
				w.put("</dd></div>")
			}
			w.put("</dl>")
		case Panels:
			w.put(`<div class="compare">`)
			for _, p := range b {
				w.panel(&p)
			}
			w.put("</div>")
		case Chart:
			w.chart(&b)
		case Form:
			w.form(&b)
		case Details:
			w.put(`<details class="all"`)
			if b.Open {
				w.put(" open")
			}
			w.put("><summary>{}</summary>", b.Summary)
			w.blocks(b.Blocks, true)
			w.put("</details>")
		}
	}
}

func (w *htmlWriter) panel(p *Panel) {
	class := "passage"
	switch p.State.Tone {
	case Good, Warn, Bad:
		class += " " + string(p.State.Tone)
	}
	w.put(`<figure class="{}"><figcaption><b><bdi>{}</bdi></b> `, class, p.Title)
	if p.State.Text != "" {
		w.spans(Text{p.State, {Text: " "}})
	}
	w.put(`<span class="dim">{}</span></figcaption>`, p.Below)
	if len(p.Text) > 0 {
		w.put(`<blockquote dir="auto">`)
		w.spans(p.Text)
		w.put("</blockquote>")
	}
	for _, note := range p.Notes {
		w.put(`<p class="small">`)
		w.spans(note)
		w.put("</p>")
	}
	w.put("</figure>")
}

// form writes a form; one that the script answers is hidden until the script is there.
func (w *htmlWriter) form(f *Form) {
	w.put(`<form role="search" aria-label="{}"`, f.Fields[0].Label)
	if f.ID != "" {
		w.put(` id="{}"`, f.ID)
	}
	if f.Action != "" {
		w.put(` action="{}">`, f.Action)
	} else {
		w.put(" hidden>")
	}
	for i := range f.Fields {
		w.field(&f.Fields[i])
	}
	if f.Button != "" {
		w.put("<button>{}</button>", f.Button)
	}
	if f.Action == "" {
		w.put(`<output id="status"></output>`)
	}
	w.put("</form>")
}

func (w *htmlWriter) field(f *Field) {
	if len(f.Options) == 0 {
		w.put(`<label>{} <input type="search" name="{}" value="{}"></label>`, f.Label, f.Name, f.Value)
		return
	}
	w.put(`<label>{} <select name="{}">`, f.Label, f.Name)
	for _, o := range f.Options {
		w.put(`<option value="{}">{}</option>`, o.Value, o.Text)
	}
	w.put("</select></label>")
}

func isItem(blocks []Block, i int) bool {
	if i < 0 || i >= len(blocks) {
		return false
	}
	p, ok := blocks[i].(Para)
	return ok && p.Kind == Item
}

func (w *htmlWriter) section(s *Section) {
	var title constant = `><h2 id="{}" tabindex="-1">{}</h2>`
	if s.Top {
		title = `><h1 id="{}" tabindex="-1">{}</h1>`
	}
	w.put(`<section id="{}" aria-labelledby="{}"`, s.ID, "h-"+s.ID)
	w.put(title, "h-"+s.ID, s.Title)
	w.id, w.top = s.ID, s.Top
	w.blocks(s.Blocks, false)
	w.footnotes()
	w.put("</section>")
}

// footnotes writes the notes since the last ones.
func (w *htmlWriter) footnotes() {
	for k, note := range w.notes.texts {
		w.put(`<p class="small dim" id="{}">{}</p>`, w.anchor(k+1), Superscript(k+1)+" "+note)
	}
	w.notes = notes{}
}

func (w *htmlWriter) anchor(note int) string { return w.id + "-note-" + strconv.Itoa(note) }

// paraStarts are the beginnings of paragraphs.
var paraStarts = map[Kind]constant{Plain: "<p>", Lead: `<p class="verdict">`, Note: `<p class="notice">`, Small: `<p class="small dim">`}

func (w *htmlWriter) para(p Para, afterItem, beforeItem bool) {
	start := paraStarts[p.Kind]
	var end constant = "</p>"
	if p.Kind == Item {
		start, end = "<li>", "</li>"
		if !afterItem {
			start = `<ul class="says"><li>`
		}
		if !beforeItem {
			end = "</li></ul>"
		}
	}
	w.put(start)
	w.spans(p.Text)
	w.put(end)
}

// badges are the elements of tones.
var badges = map[Tone][2]constant{
	Good: {`<span class="badge good">`, "</span>"}, Warn: {`<span class="badge warn">`, "</span>"}, Bad: {`<span class="badge bad">`, "</span>"}, Dim: {`<span class="dim">`, "</span>"},
}

// marks are the elements of marks, with words for readers who do not see them.
var marks = map[Mark]constant{
	Marked:      `<mark class="t"><span class="sr">(marked: </span>{}<span class="sr">)</span></mark>`,
	MarkedByAll: `<mark class="t all"><span class="sr">(marked by all: </span>{}<span class="sr">)</span></mark>`,
	Cited:       `<mark class="p"><span class="sr">(cited: </span>{}<span class="sr">)</span></mark>`,
	True:        `<mark class="t"><span class="sr">(right: </span>{}<span class="sr">)</span></mark>`,
	CitedTrue:   `<mark class="p t"><span class="sr">(cited, right: </span>{}<span class="sr">)</span></mark>`,
	Gone:        `<del><span class="sr">(gone: </span>{}<span class="sr">)</span></del>`,
	Added:       `<ins><span class="sr">(new: </span>{}<span class="sr">)</span></ins>`,
}

func (w *htmlWriter) spans(text Text) {
	for _, s := range text {
		if mark, marked := marks[s.Mark]; marked {
			w.put(mark, s.Text)
			continue
		}
		link := safe(s.Link)
		if link != "" {
			w.put(`<a href="{}">`, link)
		}
		badge := badges[s.Tone]
		w.put(badge[0])
		w.put("<bdi>{}</bdi>", s.Text)
		w.put(badge[1])
		if link != "" {
			w.put("</a>")
		}
	}
}

func (w *htmlWriter) table(t *Table, captioned bool) {
	shown := t.columns(func(*Column) bool { return true })
	w.put(`<div class="scroll" tabindex="0" role="group" aria-label="{}"><table class="{}"><caption`, t.Caption+", table", t.Class)
	if captioned {
		w.put(` class="sr"`)
	}
	w.put(">{}</caption><thead><tr>", t.Caption)
	for _, c := range shown {
		if t.Columns[c].Name == "" { // a header has a name
			w.put("<td></td>")
			continue
		}
		w.put(`<th scope="col"`)
		w.columnClass(&t.Columns[c], 0)
		w.put(">{}</th>", t.Columns[c].Name)
	}
	w.put("</tr></thead><tbody>")
	rows := t.Rows
	if t.Fold > 0 {
		rows = rows[:min(len(rows), t.Fold)]
	}
	w.rows(t, shown, rows)
	w.put("</tbody></table></div>")
}

func (w *htmlWriter) rows(t *Table, shown []int, rows [][]Cell) {
	for _, row := range rows {
		w.put("<tr>")
		for k, c := range shown {
			var end constant = "</td>"
			if k == 0 {
				w.put(`<th scope="row"`)
				end = "</th>"
			} else {
				w.put("<td")
				w.columnClass(&t.Columns[c], row[c].Step)
			}
			if row[c].Find != "" {
				w.put(` data-f="{}"`, row[c].Find)
			}
			w.put(">")
			w.cell(&row[c])
			w.put(end)
		}
		w.put("</tr>")
	}
}

// WriteRows writes some of the rows of a table as HTML, for the script of a page.
func WriteRows(out io.Writer, t *Table, from, to int) error {
	w := &htmlWriter{out: bufio.NewWriter(out)}
	w.put("<table>")
	w.rows(t, t.columns(func(*Column) bool { return true }), t.Rows[from:to])
	w.put("</table>")
	return w.out.Flush()
}

func (w *htmlWriter) columnClass(c *Column, step int) {
	var classes []string
	if step > 0 {
		classes = append(classes, "heat"+strconv.Itoa(step-1))
	}
	if c.Number {
		classes = append(classes, "num")
	}
	if c.Page {
		classes = append(classes, "wide")
	}
	switch {
	case c.Keep >= 3:
		classes = append(classes, "opt3")
	case c.Keep >= 1:
		classes = append(classes, "opt")
	}
	if len(classes) > 0 {
		w.put(` class="{}"`, strings.Join(classes, " "))
	}
}

func (w *htmlWriter) cell(c *Cell) {
	w.spans(c.Text)
	if c.Strip != nil {
		w.strip(c.Strip)
	}
	if c.Bar != nil {
		w.bar(c.Bar)
	}
	for _, k := range w.notes.numbers(c.Notes) {
		w.put(`<a class="fn" href="{}" aria-label="{}">{}</a>`, "#"+w.anchor(k), "note "+strconv.Itoa(k), Superscript(k))
	}
}

// stripColours are the classes of colours of a strip.
var stripColours = map[Tone]string{Good: "strip c2", Bad: "strip c1", Dim: "strip c6"}

func (w *htmlWriter) strip(s *Strip) {
	w.put(`<svg class="{}" role="img" width="100%" height="22" focusable="false" aria-label="{}"><title>{}</title>`, cmp.Or(stripColours[s.Tone], "strip"), s.Label, s.Label)
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		w.put(`<line class="grid" y1="2" y2="20" x1="{}" x2="{}"/>`, place(at), place(at))
	}
	for _, at := range s.Marks {
		w.put(`<line class="zero" y1="0" y2="22" x1="{}" x2="{}"/>`, place(at), place(at))
	}
	if s.Interval {
		w.put(`<line class="ci" y1="11" y2="11" x1="{}" x2="{}"/>`, place(s.Low), place(s.High))
	}
	w.put(`<circle class="mark" cy="11" r="5" cx="{}"/></svg>`, place(s.At))
}

// barColours are the classes of colours of parts of a bar.
var barColours = map[Tone]string{Good: "c2", Warn: "c4", Bad: "c1", Dim: "c6"}

func (w *htmlWriter) bar(parts []Part) {
	var labels []string
	for _, p := range parts {
		labels = append(labels, p.Label)
	}
	w.put(`<svg class="strip" role="img" width="100%" height="14" focusable="false" aria-label="{}">`, strings.Join(labels, ", "))
	from := 0.0
	for _, p := range parts {
		w.put(`<g class="{}"><rect class="mark" y="1" height="12" x="{}" width="{}"><title>{}</title></rect></g>`, barColours[p.Tone], place(from), place(p.Share), p.Label)
		from += p.Share
	}
	w.put("</svg>")
}

// colour is the class of a line of a chart.
func colour(series int) string { return "c" + strconv.Itoa(series%8) }

// The measures of a chart in pixels; its width is that of the page.
const chartTop, chartTall = 8, 170

// chart draws a chart. Its places are in percent of its width, so that marks keep their size.
func (w *htmlWriter) chart(c *Chart) {
	w.put(`<figure class="chart"><figcaption>{}</figcaption><svg role="img" width="100%" height="190" focusable="false" aria-label="{}">`, c.Caption, c.Caption)
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		w.put(`<line class="grid" x1="0" x2="100%" y1="{}" y2="{}"/>`, height(at), height(at))
	}
	for _, b := range c.Breaks {
		at := place(c.x(b, 0) - 0.5/float64(len(c.Labels)))
		w.put(`<line class="break" y1="0" y2="190" x1="{}" x2="{}"/>`, at, at)
	}
	for k := range c.Series {
		w.put(`<g class="{}">`, colour(k))
		w.series(c, k)
		w.put("</g>")
	}
	w.put(`<text x="0" y="20">{}</text><text x="0" y="176">{}</text></svg>`, c.High, c.Low)
	w.put(`<p class="small dim ends"><span>{}</span><span>{}</span></p><ul class="small key">`, c.Labels[0], c.Labels[len(c.Labels)-1])
	for k, s := range c.Series {
		w.put(`<li><svg width="28" height="12" aria-hidden="true" focusable="false"><g class="{}"><line x1="0" x2="28" y1="6" y2="6"/></g></svg> <bdi>{}</bdi></li>`, colour(k), s.Name)
	}
	w.put("</ul></figure>")
}

// x is the place of a point of a series as a share of the width. Series stand side by side,
// so that their intervals are seen.
func (c *Chart) x(point, series int) float64 {
	aside := float64(series+1)/float64(len(c.Series)+1) - 0.5
	return 0.04 + 0.95*(float64(point)+0.5+0.4*aside)/float64(len(c.Labels))
}

// series draws the lines, intervals and points of series k.
func (w *htmlWriter) series(c *Chart, k int) {
	for i, p := range c.Series[k].Points {
		if p == nil {
			continue
		}
		x := place(c.x(i, k))
		if i > 0 && c.Series[k].Points[i-1] != nil && !slices.Contains(c.Breaks, i) {
			w.put(`<line x1="{}" y1="{}" x2="{}" y2="{}"/>`, place(c.x(i-1, k)), height(c.Series[k].Points[i-1].At), x, height(p.At))
		}
		if p.Interval {
			w.put(`<line class="ci" x1="{}" y1="{}" x2="{}" y2="{}"/>`, x, height(p.Low), x, height(p.High))
		}
		w.put(`<circle r="3.5" cx="{}" cy="{}"><title>{}</title></circle>`, x, height(p.At), p.Label)
	}
}

// height is a place on the upright axis of a chart, in pixels.
func height(share float64) string {
	return strconv.FormatFloat(chartTop+chartTall*(1-min(max(share, 0), 1)), 'f', 1, 64)
}
