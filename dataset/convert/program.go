package convert

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unsafe"

	"github.com/itchyny/gojq"
)

// A program is a foreign format: functions in jq that map a record, or the events of a
// stream, to rows.
//
//	fits    first record or event → true if it is of the format
//	fold    list of events → one record; fails if the last event is missing
//	begins  event → true if it begins another response
//	goes_on [record or line of a table, the next] → true if both are pieces of one response
//	row     record → one row or several
//	asked   request → {model, query, documents, results}
//	survey  record → numbers by name, which are summed over the file before rows are made
//	settle  these sums → what surveyed is in row
//
// Only row is needed. The comment at the top says more. Its first line is what the format is.
// The others:
//
//	offsets: source UNIT END; answer UNIT END   readings that the provider documents
//	last        it fits only if no other format does
//	flat        its rows have the members of format jsonl, under any name that these have
//	list        the records of a file are the events of one
//	collection  its rows are items of a data set: they have ids, systems and documents of their
//	            own and no provider, and keep what they say they keep, not the whole record
//	systems     a record is divided by system: its rows count as one and are called by its number
//	table: COLUMN…  it reads CSV with these columns, too; fold gets the lines that go on with each other
//
// [filler] says what a row is.
type program struct {
	name, summary  string
	file           string          // path of the program, "" for a built-in format
	source, answer int             // indices of the documented readings
	says           map[string]bool // lines of the comment, such as flat
	table          []string        // columns
	folder         *folderFormat   // nil for a program of single files

	text  string
	words func() map[string]bool // that stand in it
	has   map[string]bool        // its functions

	codes map[string]func() (*gojq.Code, error) // compiled when first used
}

//go:embed formats/*.jq
var programFiles embed.FS

//go:embed prelude.jq
var prelude string

// programs are the built-in formats, by name.
var programs = func() []*program {
	entries, err := programFiles.ReadDir("formats")
	if err != nil {
		panic(err)
	}
	var all []*program
	for _, e := range entries {
		text, err := programFiles.ReadFile("formats/" + e.Name())
		if err != nil {
			panic(err)
		}
		name := strings.ReplaceAll(strings.TrimSuffix(e.Name(), ".jq"), "_", "-")
		p, err := newProgram(name, string(text))
		if err != nil {
			panic("convert: formats/" + e.Name() + ": " + err.Error())
		}
		p.folder = folderFormats[name]
		all = append(all, p)
	}
	return all
}()

// definitions are the functions of a program, each from behind its def: their lines begin so.
func definitions(text string) []string { return strings.Split("\n"+text, "\ndef ")[1:] }

// addWords adds the words of a program to a set, also as they are in Python.
func addWords(words map[string]bool, text string) map[string]bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		words[word], words[snakeCase(word)] = true, true
	}
	return words
}

// definedName is the name of a definition.
func definedName(def string) string { return strings.TrimSpace(def[:strings.IndexAny(def+":", ":(")]) }

// newProgram reads a program but for its functions, which are compiled when they are used.
func newProgram(name, text string) (*program, error) {
	p := &program{name: name, text: text, says: map[string]bool{}, has: map[string]bool{}}
	p.words = sync.OnceValue(func() map[string]bool { return addWords(map[string]bool{}, text) })
	for _, def := range definitions(text) {
		p.has[definedName(def)] = true
	}
	if !p.has["row"] {
		return nil, errors.New("there is no def row")
	}
	for i, line := range strings.Split(text, "\n") {
		line, isComment := strings.CutPrefix(line, "# ")
		if !isComment {
			break
		}
		about, value, _ := strings.Cut(line, ": ")
		switch {
		case i == 0:
			p.summary = line
		case about == "offsets":
			if err := p.offsets(value); err != nil {
				return nil, err
			}
		case about == "table":
			p.table = strings.Fields(value)
		default:
			p.says[line] = true
		}
	}
	p.codes = map[string]func() (*gojq.Code, error){}
	for _, function := range []string{"fits", "fold", "begins", "goes_on", "row", "asked", "survey", "settle"} {
		p.codes[function] = sync.OnceValues(func() (*gojq.Code, error) { return p.compile(function) })
	}
	return p, nil
}

// offsets reads the documented readings: "source utf16 exclusive; answer byte exclusive".
func (p *program) offsets(text string) error {
	for _, part := range strings.Split(text, ";") {
		words := strings.Fields(part)
		if len(words) != 3 {
			return fmt.Errorf("offsets: want SIDE UNIT END, got %s", quoted(part))
		}
		i := slices.IndexFunc(readings[:], func(r Reading) bool { return r.String() == words[1]+"_"+words[2] })
		if i < 0 {
			return fmt.Errorf("offsets: unknown reading %s", quoted(part))
		}
		switch words[0] {
		case "source":
			p.source = i
		case "answer":
			p.answer = i
		default:
			return fmt.Errorf("offsets: want source or answer, got %s", quoted(words[0]))
		}
	}
	return nil
}

// format is the program as a conversion knows it.
func (p *program) format() Format {
	f := Format{
		Name: p.name, Summary: p.summary, Input: "JSON or JSON Lines files, or a directory of them", CodePoints: !p.says["flat"],
		program: p, streams: true, options: exchangeOptions,
		convert: func(ctx context.Context, r *run) error { return convertExchanges(ctx, r, p) },
	}
	switch {
	case p.folder != nil:
		f.Input, f.streams = p.folder.input, false
		f.convert = func(ctx context.Context, r *run) error { return convertFolder(ctx, r, p) }
	case p.says["systems"]:
		f.Input = "one JSON or JSON Lines file"
	case p.table != nil:
		f.Input = "CSV, JSON or JSON Lines files, or a directory of them"
		f.fitsTable = func(columns []string) bool { return hasColumns(columns, p.table...) }
	case p.has["fold"]:
		f.Input = "JSON, JSON Lines or event stream files, or a directory of them"
	}
	switch {
	case p.folder != nil:
		f.options = p.folder.options
	case p.says["flat"]:
		f.options = []string{"columns"}
	case p.says["systems"]:
		f.options = nil
	case !p.has["asked"]:
		f.options = []string{"system"}
	}
	return f
}

// compile compiles one function, and what of the prelude and the program it needs: most of
// the time of a compilation is spent on definitions that nobody uses.
func (p *program) compile(function string) (*gojq.Code, error) {
	head, _, _ := strings.Cut("\n"+p.text, "\ndef ")
	text, known := head+"\n"+function, prelude+"\n"+p.text
	if p.file != "" { // its definitions may stand anywhere
		text, known = p.text+"\n"+function, prelude
	}
	words := addWords(map[string]bool{}, text)
	for _, def := range slices.Backward(definitions(known)) { // one uses those before it
		if words[definedName(def)] {
			def, _, _ = strings.Cut(def, "\n#")
			addWords(words, def)
			text = "def " + def + "\n" + text
		}
	}
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, p.broken(err)
	}
	code, err := gojq.Compile(q, programFunctions()...)
	if err != nil {
		return nil, p.broken(err)
	}
	return code, nil
}

// broken says where an error of the program is: where the parser stopped, or the first line
// that has the name that the compiler does not know.
func (p *program) broken(err error) error {
	if p.file == "" {
		return fmt.Errorf("program %s: %w", p.name, err)
	}
	at := -1
	if _, alone := gojq.Parse(p.text); alone != nil {
		err = alone
	}
	if parse := (*gojq.ParseError)(nil); errors.As(err, &parse) {
		at = parse.Offset
	} else if m := unknownName.FindStringSubmatch(err.Error()); m != nil {
		at = regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1]) + `\b`).FindStringIndex(p.text + m[1])[0]
	}
	if at = min(at, len(p.text)); at < 0 {
		return fmt.Errorf("%s: %w", p.file, err)
	}
	return fmt.Errorf("%s:%d: %w", p.file, 1+strings.Count(p.text[:at], "\n"), err)
}

// unknownName finds a function in an error of the compiler.
var unknownName = regexp.MustCompile(`(\w+)(?:\(\w+\))?/\d`)

// programTime is how long a thousand pieces of one record may take, or one of the rows that it
// gives.
const programTime = 10 * time.Second

// run calls a function of the program with a value, and yield with each of its results until
// that returns false.
func (p *program) run(ctx context.Context, function string, rec *programRecord, in any, yield func(any) bool) error {
	code, err := p.codes[function]()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := programTime * time.Duration(1+len(rec.pieces)/1000)
	clock := time.AfterFunc(limit, func() { cancel(fmt.Errorf("takes over %v", limit)) })
	defer clock.Stop()
	for results := code.RunWithContext(ctx, in, rec, rec.number, rec.stem, rec.surveyed); ; clock.Reset(limit) {
		v, ok := results.Next()
		if !ok {
			return nil
		}
		if err, isError := v.(error); isError {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
		if !yield(v) {
			return nil
		}
	}
}

// first is the first result of a function, nil if there is none.
func (p *program) first(ctx context.Context, function string, rec *programRecord, in any) (out any, err error) {
	err = p.run(ctx, function, rec, in, func(v any) bool {
		out = v
		return false
	})
	return out, err
}

// is reports whether a function of the program says true of a value: an error is no.
func (p *program) is(ctx context.Context, function string, in any) bool {
	v, err := p.first(ctx, function, &programRecord{}, in)
	return err == nil && v == true
}

// fits reports whether a record, or the response that it wraps, is of the format.
func (p *program) fits(ctx context.Context, record any) bool {
	w, err := unwrapped(ctx, record, p)
	return err == nil && p.is(ctx, "fits", w.response)
}

// A programRecord is what rows are made of: one record of a file, the events of a stream, or
// the lines of a group in a table.
type programRecord struct {
	pieces []recordPiece
	tree   any                    // what the pieces make; nil until they are folded
	bad    *RecordError           // why it cannot be read
	places map[uintptr]recordPart // objects and lists of all pieces; nil until one is sought
	number int                    // of the record in its file, from 1
	stem   string                 // the name of the file without its ending
	limits int                    // by which the limit of elements is multiplied; 0 is 1

	surveyed any // what the records of the file tell together
}

// fail keeps the first thing that is wrong with the record.
func (r *programRecord) fail(e RecordError) {
	if r.bad == nil {
		r.bad = &e
	}
}

// A recordPiece is one JSON text of a file, or one line of a table.
type recordPiece struct {
	file string
	tree any
	data []byte
	at   position // without a column for a line of a table

	last   int // where the position asked for last begins
	lastAt position
}

// newPiece decodes a record of a file.
func newPiece(rec *foreignRecord, t *jsonText) (p recordPiece, bad *RecordError) {
	p = recordPiece{file: rec.file, data: append([]byte(nil), rec.data...), at: rec.at}
	if rec.reason != "" {
		e := rec.at.err(rec.file, rec.reason)
		return p, &e
	}
	if t.err = t.checkAll(p.data); t.err != nil {
		return p, rec.mistake(t)
	}
	text := unsafe.String(unsafe.SliceData(p.data), len(p.data)) // nobody writes to it any more
	p.tree = t.tree(text, skipSpace(p.data, 0))
	return p, rec.mistake(t)
}

// A recordPart is a value of a record: the record itself, or something in it.
type recordPart struct {
	piece *recordPiece
	tree  any
	start int // where it begins in the piece
}

// whole is the record as a part.
func (r *programRecord) whole() recordPart {
	p := &r.pieces[0]
	return recordPart{piece: p, tree: p.tree, start: skipSpace(p.data, 0)}
}

// position is where the part begins in the file.
func (p *recordPart) position() position { return p.piece.position(p.start) }

// part is what stands at a path of an object or a list of the record, nil if that is not the
// record's.
func (r *programRecord) part(in any, path []any) *recordPart {
	p, ok := r.find(in)
	if !ok {
		return nil
	}
	for _, step := range path {
		switch of := p.tree.(type) {
		case map[string]any:
			name, _ := step.(string)
			p.tree = of[name]
		case []any:
			i, _ := step.(int)
			if i < 0 || i >= len(of) {
				return nil
			}
			p.tree = of[i]
		default:
			return nil
		}
		if known, ok := r.find(p.tree); ok {
			p = known
		} else {
			p.start, _ = stepTo(p.piece.data, p.start, step)
		}
	}
	return &p
}

// find returns where an object or a list of the record is.
func (r *programRecord) find(v any) (p recordPart, ok bool) {
	id := identity(v)
	if id == 0 {
		return p, false
	}
	if r.places == nil {
		r.places = map[uintptr]recordPart{}
		for i := range r.pieces {
			p := &r.pieces[i]
			eachPlaced(p.data, skipSpace(p.data, 0), p.tree, func(start int, v any) bool {
				if id := identity(v); id != 0 {
					r.places[id] = recordPart{p, v, start}
				}
				return true
			})
		}
	}
	p, ok = r.places[id]
	return p, ok
}

// raw is a value as compact JSON, as the record has it where it is one of its objects or lists.
func (r *programRecord) raw(v any) string {
	if p, ok := r.find(v); ok {
		return compact(p.piece.data[p.start:valueEnd(p.piece.data, p.start)])
	}
	return programJSON(v)
}

// mistake says what is wrong with a part of the record, and where.
func (r *programRecord) mistake(p *program, err error, of recordPart) RecordError {
	var placed *placedError
	if v, ok := err.(gojq.ValueError); ok {
		if m, ok := v.Value().(map[string]any); ok {
			placed, _ = m[badElement].(*placedError)
		}
	}
	if placed == nil {
		return r.unplaced(p, err, of)
	}
	at, ok := r.find(placed.in)
	if !ok && identity(placed.in) == 0 {
		at = r.only(of, func(v any) bool { return isSame(v, placed.in) })
	} else if !ok {
		at = of
	}
	return at.mistake(placed.at, placed.msg)
}

// isSame reports whether a value equals another that has no identity.
func isSame(v, other any) bool {
	switch {
	case kindOfTree(v) != kindOfTree(other):
		return false
	case kindOfTree(v) == aList:
		return identity(v) == 0
	}
	return v == other
}

// unplaced is a mistake of which jq says only the value: its place, if no other value of the
// part is like it, else that of the part.
func (r *programRecord) unplaced(p *program, err error, of recordPart) RecordError {
	at := r.only(of, func(v any) bool {
		return strings.HasSuffix(err.Error(), ": "+gojq.TypeOf(v)+" ("+gojq.Preview(v)+")")
	})
	return at.mistake(nil, "format "+p.name+": "+shorten(err.Error(), 300))
}

// only returns the only value of a part, or of all pieces if it is the whole record, for which is
// reports true; the part if there are several or none.
func (r *programRecord) only(of recordPart, is func(any) bool) recordPart {
	found, count := of, 0
	look := func(in *recordPiece, start int, tree any) {
		eachPlaced(in.data, start, tree, func(start int, v any) bool {
			if is(v) {
				count++
				found = recordPart{in, v, start}
			}
			return count < 2
		})
	}
	if of.start > skipSpace(of.piece.data, 0) {
		look(of.piece, of.start, of.tree)
	} else {
		for i := range r.pieces {
			p := &r.pieces[i]
			look(p, skipSpace(p.data, 0), p.tree)
		}
	}
	if count != 1 {
		return of
	}
	return found
}

// mistake is an error at the part, or at a member or an element of it unless step is nil.
func (p *recordPart) mistake(step any, msg string) RecordError {
	data, start := p.piece.data, p.start
	path := pathTo(data, start)
	if i, isIndex := step.(int); isIndex {
		path = indexed(path, i)
	} else if step != nil {
		path = memberPath(path, fmt.Sprint(step))
	}
	if path != "" {
		msg = clipped(path) + ": " + msg
	}
	start, _ = stepTo(data, start, step)
	return p.piece.position(start).err(p.piece.file, msg)
}

// position is where a byte of the piece is in the file. Positions are mostly asked for in the
// order of the file.
func (r *recordPiece) position(start int) position {
	if r.at.column == 0 {
		return r.at
	}
	if r.last == 0 || start < r.last {
		r.last, r.lastAt = 0, r.at
	}
	r.lastAt, r.last = r.lastAt.after(r.data[r.last:start]), start
	return r.lastAt
}
