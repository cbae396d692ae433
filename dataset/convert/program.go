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
	"unsafe"

	"github.com/itchyny/gojq"
)

// A program is a foreign format: functions in jq that map a record, or the events of a
// stream, to rows.
//
//	fits    first record or event → true if it is of the format
//	fold    list of events → one record; fails if the last event is missing
//	begins  event → true if it begins another response
//	row     record → one row or several
//	asked   request → {model, query, documents, results}
//
// Only row is needed. The comment at the top says more: its first line is what the format
// is; "offsets: source UNIT END; answer UNIT END" are the readings that the provider
// documents; "before: NAME…" names formats that this one wins against where both fit, and
// "last" says that it fits only if no other does; "flat" that its rows have the members of
// format jsonl, under any name that these have; "list" that the records of a file are the
// events of one. [filler] says what a row is.
type program struct {
	name, summary  string
	file           string // that it stands in, "" if it is built in
	source, answer Reading
	before         []string
	last           bool
	flat, list     bool

	text  string
	words map[string]bool // that stand in it
	has   map[string]bool // its functions

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
		all = append(all, p)
	}
	return all
}()

var (
	programWord     = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	programFunction = regexp.MustCompile(`(?m)^def ([a-z_0-9]+)`)
)

// newProgram reads a program but for its functions, which are compiled when they are used.
func newProgram(name, text string) (*program, error) {
	p := &program{name: name, text: text, words: map[string]bool{}, has: map[string]bool{}}
	for _, word := range programWord.FindAllString(text, -1) {
		p.words[word] = true
	}
	for _, m := range programFunction.FindAllStringSubmatch(text, -1) {
		p.has[m[1]] = true
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
		case about == "before":
			p.before = strings.Fields(value)
		case line == "last":
			p.last = true
		case line == "flat":
			p.flat = true
		case line == "list":
			p.list = true
		}
	}
	p.codes = map[string]func() (*gojq.Code, error){}
	for _, function := range []string{"fits", "fold", "begins", "row", "asked"} {
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
			p.source = readings[i]
		case "answer":
			p.answer = readings[i]
		default:
			return fmt.Errorf("offsets: want source or answer, got %s", quoted(words[0]))
		}
	}
	return nil
}

// format is the program as a conversion knows it.
func (p *program) format() Format {
	f := exchangeFormat{name: p.name, summary: p.summary, source: p.source, answer: p.answer, program: p}.format()
	switch {
	case p.flat:
		f.options, f.CodePoints = []string{"columns"}, false
	case !p.has["asked"]:
		f.options = []string{"system"}
	}
	return f
}

// compile compiles one function, and what of the prelude and the program it needs: most of
// the time of a compilation is spent on definitions that nobody uses.
func (p *program) compile(function string) (*gojq.Code, error) {
	q, err := gojq.Parse(prelude + "\n" + p.text + "\n" + function)
	if err != nil {
		return nil, p.broken(err)
	}
	byName := map[string][]int{}
	for i, def := range q.FuncDefs {
		byName[def.Name] = append(byName[def.Name], i)
	}
	used := make([]bool, len(q.FuncDefs))
	var use func(name string)
	use = func(name string) {
		for _, i := range byName[name] {
			if !used[i] {
				used[i] = true
				for _, word := range programWord.FindAllString(q.FuncDefs[i].String(), -1) {
					use(word)
				}
			}
		}
	}
	use(function)
	var defs []*gojq.FuncDef
	for i, def := range q.FuncDefs {
		if used[i] {
			defs = append(defs, def)
		}
	}
	q.FuncDefs = defs
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

// programTime is how long one record may take.
const programTime = 10 * time.Second

// run calls a function of the program with a value, and yield with each of its results until
// that returns false.
func (p *program) run(ctx context.Context, function string, rec *programRecord, in any, yield func(any) bool) error {
	code, err := p.codes[function]()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	for results := code.RunWithContext(ctx, in, rec); ; {
		v, ok := results.Next()
		if !ok {
			return nil
		}
		if err, isError := v.(error); isError {
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("takes over %v", programTime)
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

// A programRecord is what rows are made of: one record of a file, or the events of a stream.
type programRecord struct {
	pieces []recordPiece
}

// A recordPiece is one JSON text of a file.
type recordPiece struct {
	tree any
	data []byte
	at   position
}

// newPiece decodes a record of a file.
func newPiece(rec *foreignRecord, t *jsonText) (p recordPiece, bad *RecordError) {
	p = recordPiece{data: append([]byte(nil), rec.data...), at: rec.at}
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

// find returns the piece that holds an object or a list, and its path there.
func (r *programRecord) find(v any) (piece *recordPiece, path treePath, ok bool) {
	id := identity(v)
	if id == 0 {
		return nil, nil, false
	}
	for i := range r.pieces {
		eachInTree(r.pieces[i].tree, nil, func(at treePath, e any) bool {
			if ok = identity(e) == id; ok {
				piece, path = &r.pieces[i], slices.Clone(at)
			}
			return !ok
		})
		if ok {
			return piece, path, true
		}
	}
	return nil, nil, false
}

// raw is a value as compact JSON, as the record has it where it is one of its objects or lists.
func (r *programRecord) raw(v any) string {
	if piece, path, ok := r.find(v); ok {
		start, end := located(piece.data, path)
		return compact(piece.data[start:end])
	}
	return programJSON(v)
}

// mistake says what is wrong with the record, and where.
func (r *programRecord) mistake(p *program, file string, err error) RecordError {
	var placed *placedError
	if v, ok := err.(gojq.ValueError); ok {
		if m, ok := v.Value().(map[string]any); ok {
			placed, _ = m[badElement].(*placedError)
		}
	}
	if placed == nil {
		return r.unplaced(p, file, err)
	}
	piece, path, ok := r.find(placed.in)
	if !ok && identity(placed.in) == 0 {
		piece, path, ok = r.only(func(v any) bool { return v == placed.in })
	}
	if !ok {
		piece = &r.pieces[0]
	}
	if placed.at != nil {
		path = append(path, placed.at)
	}
	return piece.mistake(path, placed.msg, file)
}

// unplaced is a mistake of which jq says only the value: its place, if no other value of the
// record is like it, else that of the record.
func (r *programRecord) unplaced(p *program, file string, err error) RecordError {
	piece, path, ok := r.only(func(v any) bool {
		return strings.HasSuffix(err.Error(), ": "+gojq.TypeOf(v)+" ("+gojq.Preview(v)+")")
	})
	if !ok {
		piece, path = &r.pieces[0], nil
	}
	return piece.mistake(path, "format "+p.name+": "+shorten(err.Error(), 300), file)
}

// only returns where the only value of the record is for which is reports true.
func (r *programRecord) only(is func(any) bool) (piece *recordPiece, path treePath, ok bool) {
	count := 0
	for i := range r.pieces {
		eachInTree(r.pieces[i].tree, nil, func(here treePath, v any) bool {
			if is(v) {
				count++
				piece, path = &r.pieces[i], slices.Clone(here)
			}
			return count < 2
		})
	}
	return piece, path, count == 1
}

// mistake is an error at a path of the piece.
func (r *recordPiece) mistake(path treePath, msg, file string) RecordError {
	start, _ := located(r.data, path)
	if len(path) > 0 {
		msg = clipped(path.String()) + ": " + msg
	}
	return (&jsonError{start, msg}).in(r.data, r.at, file)
}
