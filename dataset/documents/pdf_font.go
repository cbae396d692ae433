package documents

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/encoding/charmap"
)

// A font says what the codes of a string mean and how wide they are.
type font struct {
	codes     codeLengths        // how strings are cut into codes
	unicode   map[uint32]string  // of the font's own map, by code; nil without one
	table     [256]rune          // of codes of one byte that the map leaves out; 0 = not known
	widths    map[uint32]float64 // in thousandths of the size
	otherwise float64            // width of what is not in widths
	bad       error              // nothing in this font can be read
}

// codeLengths says how many bytes a code has, by its first byte; 0 means as many
// as most.
type codeLengths struct {
	byFirst [256]uint8
	usual   int
}

func (c *codeLengths) of(s string) int {
	n := int(c.byFirst[s[0]])
	if n == 0 {
		n = c.usual
	}
	return min(n, len(s))
}

// newFont reads a font dictionary.
func newFont(v pdf.Value) *font {
	f := &font{widths: make(map[uint32]float64), otherwise: 500}
	f.codes.usual = 1
	composite := v.Key("Subtype").Name() == "Type0"
	if composite {
		f.codes.usual = 2
	}
	if m := v.Key("ToUnicode"); m.Kind() == pdf.Stream {
		if err := f.readMap(m); err != nil {
			f.bad = err
			return f
		}
	}
	if composite {
		f.compositeWidths(v.Key("DescendantFonts").Index(0))
		if f.unicode == nil {
			f.bad = fmt.Errorf("font %s does not say which characters its glyphs are", v.Key("BaseFont").Name())
		}
		return f
	}
	f.codes = codeLengths{usual: 1} // whatever the map says
	f.simpleWidths(v)
	if err := f.readEncoding(v); f.unicode == nil {
		f.bad = err
	}
	return f
}

// simpleWidths are those of a font of one byte a code.
func (f *font) simpleWidths(v pdf.Value) {
	scale := 1.0
	if v.Key("Subtype").Name() == "Type3" { // in a space of its own
		scale = v.Key("FontMatrix").Index(0).Float64() * 1000
	}
	if w := v.Key("FontDescriptor").Key("MissingWidth"); w.Kind() == pdf.Integer {
		f.otherwise = w.Float64()
	}
	first, widths := v.Key("FirstChar").Int64(), v.Key("Widths")
	for i := range min(widths.Len(), 256) {
		f.widths[uint32(first)+uint32(i)] = widths.Index(i).Float64() * scale
	}
}

// compositeWidths are lists of "first [widths…]" and "first last width".
func (f *font) compositeWidths(v pdf.Value) {
	f.otherwise = 1000
	if w := v.Key("DW"); w.Kind() == pdf.Integer || w.Kind() == pdf.Real {
		f.otherwise = w.Float64()
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len(); {
		first, second := uint32(list.Index(i).Int64()), list.Index(i+1)
		if second.Kind() == pdf.Array {
			for j := range min(second.Len(), 1<<16) {
				f.widths[first+uint32(j)] = second.Index(j).Float64()
			}
			i += 2
			continue
		}
		last, width := uint32(second.Int64()), list.Index(i+2).Float64()
		for code := first; code <= min(last, 1<<16); code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// mostMap is the longest character map that is read, in bytes.
const mostMap = 8 << 20

// readMap reads the map from codes to characters.
//
// Source: ISO 32000-1, 9.10.3; Adobe Technical Note 5014.
func (f *font) readMap(v pdf.Value) error {
	data, err := io.ReadAll(io.LimitReader(v.Reader(), mostMap))
	if err != nil {
		return err
	}
	f.unicode = make(map[uint32]string)
	s := scanner{data: data}
	var args []token
	for !s.ended() {
		t := s.next()
		if t.kind != tokenWord {
			args = append(args, t)
			continue
		}
		switch t.text {
		case "endcodespacerange":
			for i := 0; i+1 < len(args); i += 2 {
				lo, hi := args[i].text, args[i+1].text
				if lo == "" || len(lo) != len(hi) || len(lo) > 4 {
					continue
				}
				for c := int(lo[0]); c <= int(hi[0]); c++ {
					f.codes.byFirst[c] = uint8(len(lo))
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.unicode[codeOf(args[i].text)] = fromUTF16(args[i+1].text)
			}
		case "endbfrange":
			f.addRanges(args)
		}
		args = args[:0]
	}
	return nil
}

// addRanges adds "first last character" and "first last [characters…]".
func (f *font) addRanges(args []token) {
	for i := 0; i+2 < len(args); {
		lo, hi := args[i].text, args[i+1].text
		if lo == "" || len(lo) != len(hi) || len(lo) > 4 {
			return
		}
		from, to := codeOf(lo), codeOf(hi)
		if to < from || to-from > 1<<16 {
			return
		}
		if args[i+2].kind == tokenOpen {
			i += 3
			for code := from; i < len(args) && args[i].kind != tokenClose; i++ {
				f.unicode[code] = fromUTF16(args[i].text)
				code++
			}
			i++
			continue
		}
		first := []rune(fromUTF16(args[i+2].text))
		if len(first) > 0 {
			for code := from; ; code++ {
				f.unicode[code] = string(first)
				first[len(first)-1]++
				if code == to {
					break
				}
			}
		}
		i += 3
	}
}

func fromUTF16(s string) string {
	var u []uint16
	for i := 0; i+1 < len(s); i += 2 {
		u = append(u, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		return string(rune(s[0])) // some writers give one byte
	}
	return string(utf16.Decode(u))
}

func codeOf(s string) uint32 {
	var code uint32
	for i := range len(s) {
		code = code<<8 | uint32(s[i])
	}
	return code
}

// symbolic is the flag of a font descriptor for an alphabet of its own.
const symbolic = 1 << 2

// madeUp recognises names of glyphs that say nothing about characters.
var madeUp = regexp.MustCompile(`^(?:g|G|c|C|cid|CID|glyph|gid|index|a|x)_?[0-9]+$`)

// readEncoding fills the table of a font without a map of its own.
func (f *font) readEncoding(v pdf.Value) error {
	encoding := v.Key("Encoding")
	base, differences := encoding.Name(), pdf.Value{}
	if encoding.Kind() == pdf.Dict {
		base, differences = encoding.Key("BaseEncoding").Name(), encoding.Key("Differences")
	}
	own := v.Key("FontDescriptor").Key("Flags").Int64()&symbolic != 0
	switch {
	case base == "WinAnsiEncoding":
		f.useCharmap(charmap.Windows1252)
	case base == "MacRomanEncoding":
		f.useCharmap(charmap.Macintosh)
	case own && (base == "" || differences.Kind() == pdf.Null):
		// Only the differences tell, if there are any.
	default:
		f.useStandard()
	}
	if own && base == "" && differences.Kind() != pdf.Array {
		return fmt.Errorf("font %s does not say which characters its glyphs are", v.Key("BaseFont").Name())
	}
	names := pdf.Font{V: v}
	code := 0
	for i := range differences.Len() {
		switch d := differences.Index(i); d.Kind() {
		case pdf.Integer:
			code = int(d.Int64())
		case pdf.Name:
			if code >= 0 && code < 256 {
				f.table[code] = glyphRune(&names, byte(code), d.Name())
			}
			code++
		}
	}
	return nil
}

// glyphRune is the character that a glyph is named for, 0 if the name says none.
func glyphRune(names *pdf.Font, code byte, name string) rune {
	name, _, _ = strings.Cut(name, ".") // a variant, such as a.sc
	for _, prefix := range []string{"uni", "u"} {
		if hex, ok := strings.CutPrefix(name, prefix); ok && len(hex) >= 4 {
			if r, err := strconv.ParseUint(hex, 16, 32); err == nil && utf8.ValidRune(rune(r)) {
				return rune(r)
			}
		}
	}
	if madeUp.MatchString(name) {
		return 0
	}
	// The library gives the code back for a name that it does not know; of the names
	// that come here, those are few.
	r, _ := utf8.DecodeRuneInString(names.Encoder().Decode(string([]byte{code})))
	return r
}

func (f *font) useCharmap(m *charmap.Charmap) {
	for code := range 256 {
		f.table[code] = m.DecodeByte(byte(code))
	}
}

// useStandard is Adobe's StandardEncoding, of which few letters lie above ASCII.
func (f *font) useStandard() {
	for code := ' '; code <= '~'; code++ {
		f.table[code] = code
	}
	f.table['\''], f.table['`'] = '’', '‘'
	for i, r := range standardHigh {
		f.table[0xa1+i] = r
	}
}

// standardHigh are the characters from 0xA1 on; 0 where there is none.
var standardHigh = [...]rune{
	'¡', '¢', '£', '⁄', '¥', 'ƒ', '§', '¤', '\'', '“', '«', '‹', '›', 'ﬁ', 'ﬂ',
	0, '–', '†', '‡', '·', 0, '¶', '•', '‚', '„', '”', '»', '…', '‰', 0, '¿',
}

var errNoCharacter = errors.New("a glyph does not say which character it is")

// decode calls show with the characters, the code and the width of each glyph of
// a string.
func (f *font) decode(s string, show func(text string, width float64, oneByte, space bool)) error {
	if f.bad != nil && s != "" {
		return f.bad
	}
	for s != "" {
		n := f.codes.of(s)
		code := s[:n]
		s = s[n:]
		text, known := f.unicode[codeOf(code)]
		if !known && n == 1 && f.table[code[0]] != 0 {
			text, known = string(f.table[code[0]]), true
		}
		width, ok := f.widths[codeOf(code)]
		if !ok {
			width = f.otherwise
		}
		if !known || strings.ContainsRune(text, utf8.RuneError) {
			if width == 0 {
				continue // nothing to see
			}
			return errNoCharacter
		}
		show(text, width/1000, n == 1, code == " ")
	}
	return nil
}
