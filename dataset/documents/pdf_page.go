package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// A page collects the text of one page in the order in which it is drawn, which
// nearly all writers make the order of reading.
type page struct {
	ctx      context.Context
	known    map[string]*font // of the document, by where they are
	pictures bool             // it shows one
	length   int              // of the content read so far, in bytes

	out  []byte
	last glyph // the one before; its size is 0 at the beginning
	gap  bool  // a space was drawn since then

	backward bool // letters were drawn that are written from right to left
}

// A glyph is where a glyph stands: along and across the direction of writing.
type glyph struct {
	angle, start, end, across, size float64
}

// Limits of the content of one page.
const (
	mostContent = 64 << 20 // bytes
	mostForms   = 12       // forms within forms
)

// matrix is a b c d e f of ISO 32000-1, 8.3.3.
type matrix [6]float64

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

var identity = matrix{1, 0, 0, 1, 0, 0}

// graphics is the part of the graphics state that places text.
type graphics struct {
	ctm                               matrix
	font                              *font
	size, charSpace, wordSpace, scale float64
	leading, rise                     float64
}

func (p *page) read(v pdf.Value) (string, error) {
	content := v.Key("Contents")
	if err := p.draw(content, inherited(v, "Resources"), graphics{ctm: identity, scale: 1}, 0); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(p.out)), nil
}

// inherited is an entry of a page or of the nodes above it.
func inherited(v pdf.Value, key string) pdf.Value {
	for range 64 {
		if x := v.Key(key); x.Kind() != pdf.Null {
			return x
		}
		v = v.Key("Parent")
	}
	return pdf.Value{}
}

// draw carries out a content stream, or several that are one.
func (p *page) draw(content, resources pdf.Value, g graphics, depth int) error {
	if depth > mostForms {
		return errors.New("forms within forms without end")
	}
	var streams []pdf.Value
	switch content.Kind() {
	case pdf.Stream:
		streams = []pdf.Value{content}
	case pdf.Array:
		for i := range content.Len() {
			streams = append(streams, content.Index(i))
		}
	}
	var data []byte
	for _, s := range streams {
		if s.Kind() != pdf.Stream {
			continue
		}
		part, err := io.ReadAll(io.LimitReader(s.Reader(), mostContent-int64(p.length)+1))
		if err != nil {
			return fmt.Errorf("damaged: %w", err)
		}
		if p.length += len(part); p.length > mostContent {
			return errors.New("too much to draw")
		}
		data = append(append(data, part...), '\n')
	}
	return p.operators(data, resources, g, depth)
}

func (p *page) operators(data []byte, resources pdf.Value, g graphics, depth int) error {
	s := scanner{data: data}
	var saved []graphics
	var args []token
	text, line := identity, identity
	number := func(i int) float64 { // of the operands, from the last one
		if i >= len(args) {
			return 0
		}
		return args[len(args)-1-i].number
	}
	move := func(x, y float64) {
		line = matrix{1, 0, 0, 1, x, y}.times(line)
		text = line
	}
	for count := 0; !s.ended(); count++ {
		if count%1024 == 0 && p.ctx.Err() != nil {
			return timeLimit(p.ctx)
		}
		t := s.next()
		if t.kind != tokenWord {
			if len(args) < 1<<16 {
				args = append(args, t)
			}
			continue
		}
		var err error
		switch t.text {
		case "q":
			if len(saved) < 1<<12 {
				saved = append(saved, g)
			}
		case "Q":
			if n := len(saved) - 1; n >= 0 {
				g, saved = saved[n], saved[:n]
			}
		case "cm":
			g.ctm = matrix{number(5), number(4), number(3), number(2), number(1), number(0)}.times(g.ctm)
		case "BT":
			text, line = identity, identity
		case "Tc":
			g.charSpace = number(0)
		case "Tw":
			g.wordSpace = number(0)
		case "Tz":
			g.scale = number(0) / 100
		case "TL":
			g.leading = number(0)
		case "Ts":
			g.rise = number(0)
		case "Tf":
			g.size = number(0)
			if len(args) >= 2 {
				g.font = p.font(resources.Key("Font").Key(args[len(args)-2].text))
			}
		case "Td":
			move(number(1), number(0))
		case "TD":
			g.leading = -number(0)
			move(number(1), number(0))
		case "Tm":
			line = matrix{number(5), number(4), number(3), number(2), number(1), number(0)}
			text = line
		case "T*":
			move(0, -g.leading)
		case "\"":
			g.wordSpace, g.charSpace = number(2), number(1)
			fallthrough
		case "'":
			move(0, -g.leading)
			err = p.show(&g, &text, args[max(0, len(args)-1):])
		case "Tj", "TJ":
			err = p.show(&g, &text, args)
		case "Do":
			if len(args) > 0 {
				err = p.object(resources, args[len(args)-1].text, g, depth)
			}
		case "BI":
			p.pictures = true
		case "ID":
			s.skipPicture()
		}
		if err != nil {
			return err
		}
		args = args[:0]
	}
	return nil
}

// object draws a form, or notes a picture.
func (p *page) object(resources pdf.Value, name string, g graphics, depth int) error {
	x := resources.Key("XObject").Key(name)
	switch x.Key("Subtype").Name() {
	case "Image":
		p.pictures = true
	case "Form":
		if m := x.Key("Matrix"); m.Len() == 6 {
			var own matrix
			for i := range own {
				own[i] = m.Index(i).Float64()
			}
			g.ctm = own.times(g.ctm)
		}
		inner := x.Key("Resources")
		if inner.Kind() == pdf.Null {
			inner = resources
		}
		return p.draw(x, inner, g, depth+1)
	}
	return nil
}

// font returns the font of a dictionary, reading it once in a document.
func (p *page) font(v pdf.Value) *font {
	if v.Kind() != pdf.Dict {
		return nil
	}
	key := v.String() // references in it are not followed, so it is short and tells fonts apart
	f, ok := p.known[key]
	if !ok {
		f = newFont(v)
		p.known[key] = f
	}
	return f
}

// show writes strings, between which numbers move the place.
func (p *page) show(g *graphics, text *matrix, args []token) error {
	for _, a := range args {
		switch a.kind {
		case tokenNumber:
			*text = matrix{1, 0, 0, 1, -a.number / 1000 * g.size * g.scale, 0}.times(*text)
		case tokenString:
			if a.text == "" {
				continue
			}
			if g.font == nil {
				return errors.New("text without a font")
			}
			err := g.font.decode(a.text, func(s string, width float64, oneByte, space bool) {
				m := matrix{g.size * g.scale, 0, 0, g.size, 0, g.rise}.times(*text).times(g.ctm)
				p.put(s, m, width)
				advance := width*g.size + g.charSpace
				if oneByte && space {
					advance += g.wordSpace
				}
				*text = matrix{1, 0, 0, 1, advance * g.scale, 0}.times(*text)
			})
			if err != nil {
				return err
			}
			if p.backward {
				return errors.New("text that is written from right to left")
			}
		}
	}
	return nil
}

// put adds the characters of a glyph: behind a line break if it stands on another
// line than the one before, behind a space if there is room for one.
func (p *page) put(s string, m matrix, width float64) {
	along := math.Hypot(m[0], m[1])
	size := math.Hypot(m[2], m[3])
	if along == 0 || size == 0 || math.IsNaN(along+size+m[4]+m[5]) || math.IsInf(along+size+m[4]+m[5], 0) {
		return
	}
	cos, sin := m[0]/along, m[1]/along
	at := glyph{angle: math.Atan2(sin, cos), start: m[4]*cos + m[5]*sin, across: m[5]*cos - m[4]*sin, size: size}
	at.end = at.start + width*along
	if strings.TrimFunc(s, unicode.IsSpace) == "" {
		// Drawn spaces count where they are drawn: some writers end lines with them.
		p.gap = true
		if p.last.size > 0 && p.sameLine(&at) {
			p.last.end = max(p.last.end, at.end)
		}
		return
	}
	switch {
	case p.last.size == 0:
	case !p.sameLine(&at):
		p.newLine(s, &at)
	case p.gap || at.start-p.last.end > 0.17*min(at.size, p.last.size):
		p.out = append(p.out, ' ')
	}
	p.gap, p.last = false, at
	p.out = append(p.out, unfold(s)...)
	p.backward = p.backward || rightToLeft(s)
}

// sameLine reports whether at goes on where the last glyph ended, or farther
// right.
func (p *page) sameLine(at *glyph) bool {
	size := max(at.size, p.last.size)
	return math.Abs(at.angle-p.last.angle) < 0.02 && math.Abs(at.across-p.last.across) < 0.5*size && at.start > p.last.end-0.7*size
}

// newLine ends a line before next. A hyphen there that divides a word is dropped
// with the end, as pdftotext does.
func (p *page) newLine(next string, at *glyph) {
	if whole, divided := bytes.CutSuffix(p.out, []byte("\u00ad")); divided {
		p.out = whole
		return
	}
	if whole, divided := bytes.CutSuffix(p.out, []byte("-")); divided {
		before, _ := utf8.DecodeLastRune(whole)
		after, _ := utf8.DecodeRuneInString(next)
		if unicode.IsLetter(before) && unicode.IsLower(after) {
			p.out = whole
			return
		}
	}
	p.out = append(p.out, '\n')
	if down := p.last.across - at.across; down > 2*max(at.size, p.last.size) || down < 0 {
		p.out = append(p.out, '\n')
	}
}

// unfold writes ligatures as the letters that they are.
func unfold(s string) string {
	if len(s) != 3 || s < "\ufb00" || s > "\ufb06" {
		return s
	}
	return [...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[s[2]-'\x80']
}

func rightToLeft(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	}) >= 0
}
