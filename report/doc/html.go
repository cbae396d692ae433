package doc

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A constant is markup of this file. Strings of users never become one: a test forbids
// the conversion.
type constant string

// An htmlWriter writes elements. Its raw method writes constants alone; text, attr and
// number escape or check what they write.
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

func (w *htmlWriter) raw(markup constant) { w.out.WriteString(string(markup)) }

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

func (w *htmlWriter) text(text string) { htmlEscapes.WriteString(w.out, clean(text)) }

// attr writes an attribute; name is a space, the name and =.
func (w *htmlWriter) attr(name constant, value string) {
	w.raw(name)
	w.raw(`"`)
	w.text(value)
	w.raw(`"`)
}

// place writes an attribute that is a place on an axis, in percent.
func (w *htmlWriter) place(name constant, share float64) {
	w.attr(name, strconv.FormatFloat(100*min(max(share, 0), 1), 'f', 2, 64)+"%")
}

// safe is a link that can run nothing and leads to no other scheme; "" if it could.
func safe(link string) string {
	switch {
	case strings.HasPrefix(link, "#"), strings.HasPrefix(link, "https://"), strings.HasPrefix(link, "http://"):
		return link
	case strings.ContainsAny(link, `:\`), strings.HasPrefix(link, "/"), link != clean(link):
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
			w.raw(open)
			w.spans(b.Text)
			w.raw(end)
		case Para:
			w.para(b, isItem(blocks, i-1), isItem(blocks, i+1))
		case Table:
			w.table(&b, folded && i == 0)
		case Facts:
			w.raw(`<dl class="facts counts">`)
			for _, f := range b {
				w.raw("<div")
				if f.ID != "" {
					w.attr(" id=", f.ID)
				}
				w.raw("><dt>")
				w.text(f.Name)
				w.raw("</dt><dd>")
				w.spans(f.Text)
				w.raw("</dd></div>")
			}
			w.raw("</dl>")
		case Panels:
			w.raw(`<div class="compare">`)
			for _, p := range b {
				w.panel(&p)
			}
			w.raw("</div>")
		case Chart:
			w.chart(&b)
		case Form:
			w.form(&b)
		case Details:
			w.raw(`<details class="all"`)
			if b.Open {
				w.raw(" open")
			}
			w.raw("><summary>")
			w.text(b.Summary)
			w.raw("</summary>")
			w.blocks(b.Blocks, true)
			w.raw("</details>")
		}
	}
}

// panelStarts are the elements of panels, by how good they are.
var panelStarts = map[Tone]constant{Good: `<figure class="passage good">`, Warn: `<figure class="passage warn">`, Bad: `<figure class="passage bad">`}

func (w *htmlWriter) panel(p *Panel) {
	if start, ok := panelStarts[p.State.Tone]; ok {
		w.raw(start)
	} else {
		w.raw(`<figure class="passage">`)
	}
	w.raw("<figcaption><b><bdi>")
	w.text(p.Title)
	w.raw("</bdi></b> ")
	if p.State.Text != "" {
		w.spans(Text{p.State, {Text: " "}})
	}
	w.raw(`<span class="dim">`)
	w.text(p.Below)
	w.raw("</span></figcaption>")
	if len(p.Text) > 0 {
		w.raw(`<blockquote dir="auto">`)
		w.spans(p.Text)
		w.raw("</blockquote>")
	}
	for _, note := range p.Notes {
		w.raw(`<p class="small">`)
		w.spans(note)
		w.raw("</p>")
	}
	w.raw("</figure>")
}

// form writes a form; one that the script answers is hidden until the script is there.
func (w *htmlWriter) form(f *Form) {
	w.raw(`<form role="search"`)
	w.attr(" aria-label=", f.Fields[0].Label)
	if f.ID != "" {
		w.attr(" id=", f.ID)
	}
	if f.Action != "" {
		w.attr(" action=", f.Action)
	} else {
		w.raw(" hidden")
	}
	w.raw(">")
	for i := range f.Fields {
		w.field(&f.Fields[i])
	}
	if f.Button != "" {
		w.raw("<button>")
		w.text(f.Button)
		w.raw("</button>")
	}
	if f.Action == "" {
		w.raw(`<output id="status"></output>`)
	}
	w.raw("</form>")
}

func (w *htmlWriter) field(f *Field) {
	w.raw("<label>")
	w.text(f.Label)
	if len(f.Options) == 0 {
		w.raw(` <input type="search"`)
		w.attr(" name=", f.Name)
		w.attr(" value=", f.Value)
		w.raw("></label>")
		return
	}
	w.raw(" <select")
	w.attr(" name=", f.Name)
	w.raw(">")
	for _, o := range f.Options {
		w.raw("<option")
		w.attr(" value=", o.Value)
		if o.Value == f.Value {
			w.raw(" selected")
		}
		w.raw(">")
		w.text(o.Text)
		w.raw("</option>")
	}
	w.raw("</select></label>")
}

func isItem(blocks []Block, i int) bool {
	if i < 0 || i >= len(blocks) {
		return false
	}
	p, ok := blocks[i].(Para)
	return ok && p.Kind == Item
}

func (w *htmlWriter) section(s *Section) {
	w.raw("<section")
	w.attr(" id=", s.ID)
	w.attr(" aria-labelledby=", "h-"+s.ID)
	var open, end constant = "><h2", "</h2>"
	if s.Top {
		open, end = "><h1", "</h1>"
	}
	w.raw(open)
	w.attr(" id=", "h-"+s.ID)
	w.raw(` tabindex="-1">`)
	w.text(s.Title)
	w.raw(end)
	w.id, w.top = s.ID, s.Top
	w.blocks(s.Blocks, false)
	w.footnotes()
	w.raw("</section>")
}

// footnotes writes the notes since the last ones.
func (w *htmlWriter) footnotes() {
	for k, note := range w.notes.texts {
		w.raw(`<p class="small dim"`)
		w.attr(" id=", w.anchor(k+1))
		w.raw(">")
		w.text(Superscript(k+1) + " " + note)
		w.raw("</p>")
	}
	w.notes = notes{}
}

func (w *htmlWriter) anchor(note int) string { return w.id + "-note-" + strconv.Itoa(note) }

func (w *htmlWriter) para(p Para, afterItem, beforeItem bool) {
	switch p.Kind {
	case Item:
		if !afterItem {
			w.raw(`<ul class="says">`)
		}
		w.raw("<li>")
		w.spans(p.Text)
		w.raw("</li>")
		if !beforeItem {
			w.raw("</ul>")
		}
		return
	case Lead:
		w.raw(`<p class="verdict">`)
	case Note:
		w.raw(`<p class="notice">`)
	case Small:
		w.raw(`<p class="small dim">`)
	default:
		w.raw("<p>")
	}
	w.spans(p.Text)
	w.raw("</p>")
}

// badges are the classes of tones.
var badges = map[Tone]constant{
	Good: `<span class="badge good">`, Warn: `<span class="badge warn">`, Bad: `<span class="badge bad">`, Dim: `<span class="dim">`,
}

// markStarts and markEnds are the elements of marks, with words for readers who do not see them.
var (
	markStarts = map[Mark]constant{
		Marked: `<mark class="t"><span class="sr">(marked: </span>`, MarkedByAll: `<mark class="t all"><span class="sr">(marked by all: </span>`,
		Cited: `<mark class="p"><span class="sr">(cited: </span>`, True: `<mark class="t"><span class="sr">(right: </span>`, CitedTrue: `<mark class="p t"><span class="sr">(cited, right: </span>`,
		Gone: `<del><span class="sr">(gone: </span>`, Added: `<ins><span class="sr">(new: </span>`,
	}
	markEnds = map[Mark]constant{Gone: `<span class="sr">)</span></del>`, Added: `<span class="sr">)</span></ins>`}
)

func (w *htmlWriter) spans(text Text) {
	for _, s := range text {
		if start, marked := markStarts[s.Mark]; marked {
			w.raw(start)
			w.text(s.Text)
			if end, ok := markEnds[s.Mark]; ok {
				w.raw(end)
			} else {
				w.raw(`<span class="sr">)</span></mark>`)
			}
			continue
		}
		link := safe(s.Link)
		if link != "" {
			w.raw("<a")
			w.attr(" href=", link)
			w.raw(">")
		}
		open, toned := badges[s.Tone]
		if toned {
			w.raw(open)
		}
		w.raw("<bdi>")
		w.text(s.Text)
		w.raw("</bdi>")
		if toned {
			w.raw("</span>")
		}
		if link != "" {
			w.raw("</a>")
		}
	}
}

func (w *htmlWriter) table(t *Table, captioned bool) {
	shown := t.columns(func(*Column) bool { return true })
	w.raw(`<div class="scroll" tabindex="0" role="group"`)
	w.attr(" aria-label=", t.Caption+", table")
	w.raw("><table")
	w.attr(" class=", t.Class)
	w.raw("><caption")
	if captioned {
		w.raw(` class="sr"`)
	}
	w.raw(">")
	w.text(t.Caption)
	w.raw("</caption><thead><tr>")
	for _, c := range shown {
		if t.Columns[c].Name == "" { // a header has a name
			w.raw("<td></td>")
			continue
		}
		w.raw(`<th scope="col"`)
		w.columnClass(&t.Columns[c], 0)
		w.raw(">")
		w.text(t.Columns[c].Name)
		w.raw("</th>")
	}
	w.raw("</tr></thead><tbody>")
	rows := t.Rows
	if t.Fold > 0 {
		rows = rows[:min(len(rows), t.Fold)]
	}
	w.rows(t, shown, rows)
	w.raw("</tbody></table></div>")
}

func (w *htmlWriter) rows(t *Table, shown []int, rows [][]Cell) {
	for _, row := range rows {
		w.raw("<tr>")
		for k, c := range shown {
			if k == 0 {
				w.raw(`<th scope="row"`)
			} else {
				w.raw("<td")
				w.columnClass(&t.Columns[c], row[c].Step)
			}
			if row[c].Find != "" {
				w.attr(" data-f=", row[c].Find)
			}
			w.raw(">")
			w.cell(&row[c])
			if k == 0 {
				w.raw("</th>")
			} else {
				w.raw("</td>")
			}
		}
		w.raw("</tr>")
	}
}

// WriteRows writes some of the rows of a table as HTML, for the script of a page.
func WriteRows(out io.Writer, t *Table, from, to int) error {
	w := &htmlWriter{out: bufio.NewWriter(out)}
	w.raw("<table>")
	w.rows(t, t.columns(func(*Column) bool { return true }), t.Rows[from:to])
	w.raw("</table>")
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
		w.attr(" class=", strings.Join(classes, " "))
	}
}

func (w *htmlWriter) cell(c *Cell) {
	w.spans(c.Text)
	if c.Strip != nil {
		w.strip(c.Strip)
	}
	for _, k := range w.notes.numbers(c.Notes) {
		w.raw(`<a class="fn"`)
		w.attr(" href=", "#"+w.anchor(k))
		w.attr(" aria-label=", "note "+strconv.Itoa(k))
		w.raw(">")
		w.text(Superscript(k))
		w.raw("</a>")
	}
}

// stripColours are the classes of colours of a strip.
var stripColours = map[Tone]constant{Good: ` class="strip c2"`, Bad: ` class="strip c1"`, Dim: ` class="strip c6"`}

func (w *htmlWriter) strip(s *Strip) {
	w.raw("<svg")
	if class, ok := stripColours[s.Tone]; ok {
		w.raw(class)
	} else {
		w.raw(` class="strip"`)
	}
	w.raw(` role="img" width="100%" height="22" focusable="false"`)
	w.attr(" aria-label=", s.Label)
	w.raw("><title>")
	w.text(s.Label)
	w.raw("</title>")
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		w.upright(`<line class="grid" y1="2" y2="20"`, at)
	}
	for _, at := range s.Marks {
		w.upright(`<line class="zero" y1="0" y2="22"`, at)
	}
	if s.Interval {
		w.raw(`<line class="ci" y1="11" y2="11"`)
		w.place(" x1=", s.Low)
		w.place(" x2=", s.High)
		w.raw("/>")
	}
	w.raw(`<circle class="mark" cy="11" r="5"`)
	w.place(" cx=", s.At)
	w.raw("/></svg>")
}

func (w *htmlWriter) upright(line constant, at float64) {
	w.raw(line)
	w.place(" x1=", at)
	w.place(" x2=", at)
	w.raw("/>")
}

// colours are the classes of the lines of a chart.
var colours = []constant{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"}

// The measures of a chart in pixels; its width is that of the page.
const chartTop, chartTall = 8, 170

// chart draws a chart. Its places are in percent of its width, so that marks keep their size.
func (w *htmlWriter) chart(c *Chart) {
	w.raw(`<figure class="chart"><figcaption>`)
	w.text(c.Caption)
	w.raw(`</figcaption><svg role="img" width="100%" height="190" focusable="false"`)
	w.attr(" aria-label=", c.Caption)
	w.raw(">")
	for _, at := range []float64{0, 0.25, 0.5, 0.75, 1} {
		w.raw(`<line class="grid" x1="0" x2="100%"`)
		w.height(" y1=", at)
		w.height(" y2=", at)
		w.raw("/>")
	}
	for _, b := range c.Breaks {
		w.upright(`<line class="break" y1="0" y2="190"`, c.x(b, 0)-0.5/float64(len(c.Labels)))
	}
	for k := range c.Series {
		w.raw(`<g class="`)
		w.raw(colours[k%len(colours)])
		w.raw(`">`)
		w.series(c, k)
		w.raw("</g>")
	}
	w.raw(`<text x="0" y="20">`)
	w.text(c.High)
	w.raw(`</text><text x="0" y="176">`)
	w.text(c.Low)
	w.raw(`</text></svg><p class="small dim ends"><span>`)
	w.text(c.Labels[0])
	w.raw("</span><span>")
	w.text(c.Labels[len(c.Labels)-1])
	w.raw(`</span></p><ul class="small key">`)
	for k, s := range c.Series {
		w.raw(`<li><svg width="28" height="12" aria-hidden="true" focusable="false"><g class="`)
		w.raw(colours[k%len(colours)])
		w.raw(`"><line x1="0" x2="28" y1="6" y2="6"/></g></svg> <bdi>`)
		w.text(s.Name)
		w.raw("</bdi></li>")
	}
	w.raw("</ul></figure>")
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
		if i > 0 && c.Series[k].Points[i-1] != nil && !slices.Contains(c.Breaks, i) {
			w.raw("<line")
			w.place(" x1=", c.x(i-1, k))
			w.height(" y1=", c.Series[k].Points[i-1].At)
			w.place(" x2=", c.x(i, k))
			w.height(" y2=", p.At)
			w.raw("/>")
		}
		if p.Interval {
			w.raw(`<line class="ci"`)
			w.place(" x1=", c.x(i, k))
			w.height(" y1=", p.Low)
			w.place(" x2=", c.x(i, k))
			w.height(" y2=", p.High)
			w.raw("/>")
		}
		w.raw(`<circle r="3.5"`)
		w.place(" cx=", c.x(i, k))
		w.height(" cy=", p.At)
		w.raw("><title>")
		w.text(p.Label)
		w.raw("</title></circle>")
	}
}

// height writes an attribute that is a place on the upright axis of a chart, in pixels.
func (w *htmlWriter) height(name constant, share float64) {
	w.attr(name, strconv.FormatFloat(chartTop+chartTall*(1-min(max(share, 0), 1)), 'f', 1, 64))
}
