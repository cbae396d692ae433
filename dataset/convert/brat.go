package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// brat is the standoff format of the brat annotation tool (Stenetorp et al., EACL
// 2012): X.ann has the annotations of X.txt, one on each line.
//
// The annotators of a directory are its folders that have .ann files, by the name
// of the folder, and, if it has such files itself, one without a name. A text may
// lie beside the annotations, or in the directory for all of them; copies must be
// the same. An annotator without X.ann did not see X; an empty X.ann says that
// there was nothing to mark.
//
// Every X is a row: id is X, the document X.txt, query and answer are "", citations
// are null. Each text-bound annotation is truth, each piece of one that is in
// several pieces a span of its own, whatever its type. Lines of every kind stand
// under their ids in the tag source_reference, without the texts; relations, events,
// equivalences and normalizations are counted besides.
//
// Offsets count code points, zero-based, end exclusive, line ends as one character
// even where the file has two; the texts of the annotations prove or refute it.
var brat = Format{
	Name:       "brat",
	Summary:    "brat standoff: pairs of .txt and .ann files, annotators in folders",
	Input:      "a directory of .txt and .ann files",
	CodePoints: true,
	convert:    convertBrat,
}

// A bratReader converts one directory.
type bratReader struct {
	*run
	dir       string
	documents []*bratDocument
	proof     proof
	reading   int
}

func convertBrat(ctx context.Context, r *run) error {
	if len(r.paths) > 1 {
		return ibid.Usagef("format brat takes one directory").With("annotators are its folders")
	}
	c := &bratReader{run: r, dir: r.paths[0]}
	var err error
	if c.documents, err = c.findDocuments(); err != nil {
		return err
	}
	for _, d := range c.documents {
		if err := c.prove(ctx, d); err != nil {
			return err
		}
	}
	c.reading = c.settleFile(&c.proof, c.dir)
	for _, d := range c.documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.write(d); err != nil {
			return err
		}
	}
	return nil
}

// prove reads the annotations of a document and gathers what their texts say.
func (c *bratReader) prove(ctx context.Context, d *bratDocument) error {
	for i := range d.layers {
		if err := c.readLayer(ctx, d, &d.layers[i]); err != nil {
			return err
		}
	}
	text, err := c.load(d)
	if err != nil {
		d.fail(RecordError{File: d.path(), Reason: err.Error()})
	}
	if d.bad != nil {
		return nil
	}
	marks := d.marks()
	d.count = text.count(marks)
	c.proof.examineMarks(text.as(d.count).Text, marks)
	return nil
}

// load reads the text of a document, of which there may be copies.
func (c *bratReader) load(d *bratDocument) (bratText, error) {
	if len(d.texts) == 0 {
		return bratText{}, fmt.Errorf("there is no %s.txt", d.name)
	}
	var text bratText
	for i, path := range d.texts {
		data, err := c.readText(path)
		if err != nil {
			return bratText{}, err
		}
		data, marked := bytes.CutPrefix(data, utf8Mark)
		switch m := mark(data); {
		case m != "":
			return bratText{}, fmt.Errorf("%s: the file begins with %s", path, m)
		case !utf8.Valid(data):
			return bratText{}, errors.New(path + ": invalid UTF-8")
		case i > 0 && string(data) != text.text:
			return bratText{}, fmt.Errorf("%s is another text than %s", path, d.texts[0])
		}
		text = bratText{string(data), marked}
	}
	return text, nil
}

// write converts one document.
func (c *bratReader) write(d *bratDocument) error {
	c.report.Records++
	if d.bad != nil {
		c.fail(*d.bad)
		return nil
	}
	text, err := c.load(d)
	if err != nil {
		return err // it could be read a moment ago
	}
	row := ibid.Answer{File: c.dir, ID: strings.ToValidUTF8(d.name, "\ufffd"), System: "default", HasTruth: len(d.layers) > 0}
	counted := text.as(d.count)
	var kept extra
	for i := range d.layers {
		c.writeLayer(&row, &kept, d, &d.layers[i], counted)
	}
	row.Tags = kept.tags()
	if err := c.place(&row, &ibid.Document{Doc: d.doc(), Text: text.text, HasText: true}, true); err != nil {
		return err
	}
	return c.row(&row)
}

// writeLayer adds what one annotator says of a document.
func (c *bratReader) writeLayer(row *ibid.Answer, kept *extra, d *bratDocument, l *bratLayer, text *countedText) {
	for i := range l.spans {
		s := &l.spans[i]
		t := ibid.Mark{Annotator: l.annotator, Doc: d.doc()}
		if t.Start, t.End, t.Unit = s.place(text.Text, c.reading); t.Unit == "" {
			t.Start.Value, t.End.Value = text.original(t.Start.Value), text.original(t.End.Value)
		}
		row.Truth = append(row.Truth, t)
		if v := s.verdict(c.reading); v != proved {
			c.warn(RecordError{File: l.path, Line: s.line, Reason: markReasons[v]})
		}
	}
	if len(l.spans) == 0 {
		row.Truth = append(row.Truth, ibid.Mark{Annotator: l.annotator, DocNull: true})
	}
	own := kept
	if l.annotator != "" {
		own = &extra{}
	}
	for _, line := range l.lines {
		own.addText(line.id, line.data)
		if line.label != "" {
			tally(c.report.SpanLabels, line.label)
		}
		if name := bratIgnored[line.id[0]]; name != "" {
			tally(c.report.Ignored, name)
		}
	}
	if own != kept && !own.empty() {
		kept.add(l.annotator, []byte(own.object()))
	}
}

// bratIgnored are the kinds of annotations that have no place in a row, by the
// letter that their ids begin with.
var bratIgnored = map[byte]string{'R': "relation", '*': "equivalence", 'E': "event", 'N': "normalization"}

// doc is the name of the document.
func (d *bratDocument) doc() string { return strings.ToValidUTF8(d.name, "\ufffd") + ".txt" }

// path is a file of the document, for errors.
func (d *bratDocument) path() string {
	if len(d.layers) > 0 {
		return d.layers[0].path
	}
	return d.texts[0]
}

// marks are those of all annotators.
func (d *bratDocument) marks() []*markedSpan {
	var all []*markedSpan
	for i := range d.layers {
		for k := range d.layers[i].spans {
			all = append(all, &d.layers[i].spans[k].markedSpan)
		}
	}
	return all
}

// isBrat reports whether a directory has files of brat.
func isBrat(dir string) bool {
	for _, pattern := range []string{"*.ann", "*/*.ann"} {
		if found, _ := fs.Glob(os.DirFS(dir), pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// A bratDocument is one text with what its annotators said.
type bratDocument struct {
	name   string   // of its files, without the ending
	texts  []string // its copies
	layers []bratLayer
	count  bratCount
	bad    *RecordError // why it cannot be converted
}

// fail keeps the first thing that is wrong with the document.
func (d *bratDocument) fail(e RecordError) {
	if d.bad == nil {
		d.bad = &e
	}
}

// A bratLayer is the file of one annotator.
type bratLayer struct {
	annotator string
	path      string
	spans     []bratSpan
	lines     []bratLine
}

// A bratSpan is one piece of a text-bound annotation.
type bratSpan struct {
	markedSpan
	line int
}

// findDocuments finds the documents of the directory and of its folders, by name.
func (c *bratReader) findDocuments() ([]*bratDocument, error) {
	info, err := os.Stat(c.dir)
	if err != nil {
		return nil, pathError(c.dir, err)
	}
	if !info.IsDir() {
		return nil, ibid.Usagef("%s: not a directory", c.dir).With("give the directory that holds the .txt and .ann files")
	}
	byName := map[string]*bratDocument{}
	folders, err := c.addFolder(byName, c.dir, "")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		deeper, err := c.addFolder(byName, filepath.Join(c.dir, folder), strings.ToValidUTF8(folder, "\ufffd"))
		if err != nil {
			return nil, err
		}
		for _, name := range deeper {
			if dir := filepath.Join(c.dir, folder, name); isBrat(dir) {
				c.warn(RecordError{File: dir, Reason: "not read: annotators are folders of the directory that is given, not of its folders"})
			}
		}
	}
	var all []*bratDocument
	annotated := false
	for _, d := range byName {
		all = append(all, d)
		annotated = annotated || len(d.layers) > 0
	}
	if !annotated {
		return nil, ibid.Usagef("%s: no .ann files here, nor in its folders", c.dir)
	}
	slices.SortFunc(all, func(a, b *bratDocument) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// addFolder adds the files of one folder, and returns the folders in it.
func (c *bratReader) addFolder(byName map[string]*bratDocument, dir, annotator string) (folders []string, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, pathError(dir, err)
	}
	document := func(name string) *bratDocument {
		if byName[name] == nil {
			byName[name] = &bratDocument{name: name}
		}
		return byName[name]
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(name, ".") {
			continue
		}
		if isDirectory(path) {
			folders = append(folders, name)
			continue
		}
		switch extension := filepath.Ext(name); extension {
		case ".txt":
			d := document(strings.TrimSuffix(name, extension))
			d.texts = append(d.texts, path)
		case ".ann":
			d := document(strings.TrimSuffix(name, extension))
			d.layers = append(d.layers, bratLayer{annotator: annotator, path: path})
		case ".a1", ".a2", ".co", ".rel": // of BioNLP, parts of what an .ann file has
			tally(c.report.Ignored, extension+" file")
		}
	}
	return folders, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readLayer reads a file of annotations. Any line that cannot be read spoils the
// document: with a part of its spans it would be scored wrongly.
func (c *bratReader) readLayer(ctx context.Context, d *bratDocument, l *bratLayer) error {
	ids := map[string]bool{}
	return c.lines(ctx, l.path, func(line []byte, number int, bad error) error {
		fail := func(column int, reason string) {
			d.fail(RecordError{File: l.path, Line: number, Column: column, Reason: reason})
		}
		if number == 1 {
			line = []byte(strings.TrimPrefix(string(line), string(utf8Mark)))
		}
		switch {
		case d.bad != nil:
			return nil
		case bad != nil:
			fail(0, bad.Error())
			return nil
		case mark(line) != "":
			fail(1, "the line begins with "+mark(line))
			return nil
		case !utf8.Valid(line):
			fail(0, "invalid UTF-8")
			return nil
		case strings.TrimSpace(string(line)) == "":
			return nil
		}
		parsed, spans, wrong := parseBratLine(string(line))
		switch {
		case wrong != nil:
			fail(position{1, 1}.after(line[:wrong.offset]).column, wrong.msg)
		case parsed.id != "*" && ids[parsed.id]:
			fail(1, "id "+quoted(parsed.id)+" is there twice")
		}
		ids[parsed.id] = true
		if parsed.id == "*" {
			parsed.id = indexed("*", len(l.lines))
		}
		l.lines = append(l.lines, parsed)
		for _, q := range spans {
			l.spans = append(l.spans, bratSpan{markedSpan: markedSpan{quote: q}, line: number})
		}
		return nil
	})
}

// A bratLine is one annotation, without the text of a text-bound one.
type bratLine struct {
	id    string
	data  string // what follows the id and a tab
	label string // the type of a text-bound annotation, else ""
}

// parseBratLine reads a line: an id, a tab, and what its first letter says. A
// text-bound annotation has a type, pairs of offsets, a tab and the text that stands
// there, from which each pair gets its part.
func parseBratLine(line string) (parsed bratLine, spans []quote, wrong *jsonError) {
	id, rest, ok := strings.Cut(line, "\t")
	switch {
	case !ok:
		return parsed, nil, &jsonError{0, "want an id, a tab and an annotation, got " + quoted(line)}
	case id == "*":
	case id == "" || !strings.Contains("TREAMN#", id[:1]):
		return parsed, nil, &jsonError{0, "unknown kind of annotation " + quoted(id)}
	case strings.TrimLeft(id[1:], "0123456789") == id[1:]:
		return parsed, nil, &jsonError{1, "want a number after the letter, got " + quoted(id)}
	}
	parsed = bratLine{id: id, data: rest}
	if id[0] != 'T' {
		return parsed, nil, nil
	}
	data, text, _ := strings.Cut(rest, "\t")
	parsed.data = data
	at := len(id) + 1
	label, offsets, ok := strings.Cut(data, " ")
	if !ok || label == "" {
		return parsed, nil, &jsonError{at, "want a type and offsets, got " + quoted(data)}
	}
	parsed.label = label
	at += len(label) + 1
	for pair := range strings.SplitSeq(offsets, ";") {
		from, to, _ := strings.Cut(pair, " ")
		start, wrongStart := strconv.ParseInt(from, 10, 64)
		end, wrongEnd := strconv.ParseInt(to, 10, 64)
		if wrongStart != nil || wrongEnd != nil {
			return parsed, nil, &jsonError{at, "want two offsets with a space between, got " + quoted(pair)}
		}
		spans = append(spans, quote{start: start, end: end})
		at += len(pair) + 1
	}
	for i, part := range cutText(text, spans) {
		spans[i].text = part
	}
	return parsed, spans, nil
}

// cutText divides the text of an annotation between its pieces: a space stands
// between them, or nothing in files of brat before 1.3. The lengths of the pieces
// count some unit in which they fit. If they fit in none, every piece has the whole
// text, which refutes it.
func cutText(text string, spans []quote) []string {
	parts := make([]string, len(spans))
	for i := range parts {
		parts[i] = text
	}
	if len(spans) < 2 {
		return parts
	}
	whole := token.NewText(text)
	for _, unit := range []token.Unit{token.CodePoint, token.UTF16, token.Byte} {
		for _, gap := range []int64{1, 0} {
			if cutBy(whole, unit, gap, spans, parts) {
				return parts
			}
		}
	}
	return parts
}

// cutBy cuts a text into parts as long as the spans, with gaps between, if that
// comes out even.
func cutBy(whole *token.Text, unit token.Unit, gap int64, spans []quote, parts []string) bool {
	at, size := int64(0), int64(whole.Units(unit))
	cuts := make([][2]int, len(spans))
	for i, s := range spans {
		if degenerateAnyhow(s.start, s.end) || s.end-s.start > size-at {
			return false
		}
		lo, first := whole.CodePoint(unit, int(at))
		hi, last := whole.CodePoint(unit, int(at+s.end-s.start))
		if !first || !last {
			return false
		}
		cuts[i] = [2]int{lo, hi}
		at += s.end - s.start
		if i < len(spans)-1 {
			if at += gap; at > size {
				return false
			}
		}
	}
	if at != size {
		return false
	}
	for i, c := range cuts {
		parts[i] = whole.Slice(c[0], c[1])
	}
	return true
}

// A bratText is the text of a document, as the file has it but for a byte order
// mark.
type bratText struct {
	text   string
	marked bool // the file begins with a byte order mark
}

// A bratCount says what offsets into a text count. The zero bratCount is every
// character of the text.
type bratCount struct {
	folded bool // a line end of two characters counts as one
	marked bool // a byte order mark counts, too
}

// count finds what the offsets of the marks count: what most of their quotes stand
// at, and where that does not tell, what brat itself counts.
func (t bratText) count(marks []*markedSpan) bratCount {
	folded := strings.Contains(t.text, "\r\n")
	if !folded && !t.marked {
		return bratCount{}
	}
	best, most := bratCount{folded, t.marked}, -1
	for _, c := range []bratCount{{folded, t.marked}, {folded, false}, {false, t.marked}, {false, false}} {
		if n := t.as(c).fits(marks); n > most {
			best, most = c, n
		}
	}
	return best
}

// A countedText is a text as offsets count it. Line ends are spaces, since the texts
// of annotations have no line ends.
type countedText struct {
	*token.Text
	pairs  []int64 // code points that stand for two of the document
	before int64   // code points that are not in the document
}

// as returns the text as offsets count it.
func (t bratText) as(c bratCount) *countedText {
	f := &countedText{}
	var b strings.Builder
	b.Grow(len(t.text) + len(utf8Mark))
	if c.marked {
		b.Write(utf8Mark)
		f.before = 1
	}
	n, skip := f.before, false
	for i, r := range t.text {
		switch {
		case skip:
			skip = false
			continue
		case c.folded && strings.HasPrefix(t.text[i:], "\r\n"):
			f.pairs = append(f.pairs, n)
			skip = true
			r = ' '
		case r == '\r' || r == '\n':
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	f.Text = token.NewText(b.String())
	return f
}

// original is the code point of the document at which code point cp of the counted
// text begins.
func (f *countedText) original(cp int64) int64 {
	pairs := sort.Search(len(f.pairs), func(i int) bool { return f.pairs[i] >= cp })
	return max(0, cp-f.before) + int64(pairs)
}

// fits says how well quotes stand at their offsets: the more of them one reading
// that counts from 0 reproduces the better, the documented one before others. One
// that counts from 1 would fit a byte order mark, too.
func (f *countedText) fits(marks []*markedSpan) int {
	var p proof
	scratch := make([]*markedSpan, len(marks))
	for i, m := range marks {
		scratch[i] = &markedSpan{quote: m.quote}
	}
	p.examineMarks(f.Text, scratch)
	var exact [len(readings)]int
	alike := 0
	for _, m := range scratch {
		for i := range readings {
			exact[i] += int(m.evidence.exact >> i & 1)
		}
		alike += int(m.evidence.alike >> p.documented & 1)
	}
	best := 0
	for i, r := range readings {
		if !r.OneBased {
			best = max(best, exact[i])
		}
	}
	score := 2 * best
	if exact[p.documented] == best {
		score++
	}
	return score*(len(marks)+1) + alike
}
