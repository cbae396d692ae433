package convert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
)

var exchangeExtensions = []string{".json", ".jsonl", ".ndjson", ".sse"}

// exchangeOptions are the options that every format of responses takes.
var exchangeOptions = []string{"request", "system"}

// convertExchanges converts the files of a run with a program.
//
// A file holds one record, several, a list of them, JSON Lines, or the events of a stream;
// standard input is recognised by how it begins. A record of a provider is a response, or an
// object that has it as its member response (of batches: result) and may have id or custom_id,
// system, query, request, answer_cost_usd, answer_tokens and answer_latency_ms beside it; where
// these are not, the response is asked. The id of a row is the one beside the response, else
// the name of a file that holds nothing else, without .response and what follows, else the
// response's own, else the name of the file and the number of the record. The system is the one
// beside the response, else that of the options, else the model, else the provider. A second
// record of the same id and system is an error.
//
// Two passes are made: the first proves how the offsets of the file are to be read, the second
// writes.
func convertExchanges(ctx context.Context, r *run, p *program) error {
	c := &exchangeReader{run: r, program: p, text: jsonText{limits: r.Limits}}
	if _, err := p.codes["row"](); err != nil {
		return ibid.Usagef("%s", err.Error())
	}
	if p.says["systems"] && len(r.paths) > 1 {
		return ibid.Usagef("format %s takes one file", p.name).With("ids are numbers of records and would repeat between files")
	}
	if r.Request != "" {
		q, bad, err := c.loadRequest(r.Request)
		if err != nil {
			return ibid.Usagef("%s", err.Error())
		}
		if bad != nil {
			return ibid.Usagef("%s", bad.Error()).With("--request takes one request as JSON; requests of several responses go beside them, as the member request")
		}
		c.asked = q
	}
	extensions := exchangeExtensions
	if p.table != nil {
		extensions = autoExtensions
	}
	return r.eachFile(ctx, extensions, func(path string) error {
		if isRequest(path) {
			return nil
		}
		return c.read(ctx, path)
	})
}

// An exchangeReader reads files with one program.
type exchangeReader struct {
	*run
	program *program
	asked   *request // by the options, nil if by none
	pdfs    map[[sha256.Size]byte]pdfText

	file   string
	shape  shape
	beside *request     // of the file's name, nil if there is none
	bad    *RecordError // why that could not be read
	proof  exchangeProof
	text   jsonText
	flat   *jsonlReader // of rows of programs that give flat ones

	surveyed any // what the records of the file tell together
}

// A madeRow is what came of a row of a record: an exchange, a flat row, what is wrong with it, or
// nothing where it is left out on purpose.
type madeRow struct {
	x      *exchange
	flat   map[string]any
	record string // that a flat row alone comes of
	number int    // of a flat row in its record
	at     position
	bad    *RecordError
	counts bool // as a record
}

// read converts one file.
func (c *exchangeReader) read(ctx context.Context, path string) error {
	c.file, c.beside, c.bad = path, nil, nil
	if path == stdinPath {
		if err := c.spool(); err != nil {
			return err
		}
	}
	var err error
	if beside := besideRequest(path); beside != "" && c.asked == nil {
		if c.beside, c.bad, err = c.loadRequest(beside); err != nil {
			return err
		}
	}
	if columns, ok := c.csvHeader(path); ok && c.program.table != nil && (path != stdinPath || hasColumns(columns, c.program.table...)) {
		c.shape = tableShape
	} else if c.shape, err = c.shapeOf(path); err != nil {
		return err
	}
	if c.program.says["flat"] {
		flat := newJSONLReader(c.run, path)
		flat.record.columns = c.Columns
		c.flat = &flat
		return c.eachRow(ctx, c.convert)
	}
	if c.program.has["survey"] {
		if err := c.survey(ctx); err != nil {
			return err
		}
	}
	return c.convertRows(ctx, func(do func(madeRow) error) error { return c.eachRow(ctx, do) })
}

// survey sums what the records of the file tell the program. What is wrong with one is said when
// it is read.
func (c *exchangeReader) survey(ctx context.Context) error {
	sums := map[string]any{}
	err := c.eachRecord(ctx, c.file, c.shape, func(rec *foreignRecord) error {
		piece, bad := newPiece(rec, &c.text)
		if bad != nil {
			return nil
		}
		told, _ := c.program.first(ctx, "survey", c.recordOf(rec.number, piece), piece.tree)
		numbers, _ := told.(map[string]any)
		for name, v := range numbers {
			sum, _ := sums[name].(int)
			n, _ := v.(int)
			sums[name] = sum + n
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	c.surveyed, err = c.program.first(ctx, "settle", &programRecord{}, sums)
	return err
}

// convertRows converts what each calls its argument with.
func (c *exchangeReader) convertRows(ctx context.Context, each func(func(madeRow) error) error) error {
	c.proof = newExchangeProof(c.program)
	var all []madeRow // as long as they are not too many
	size, complete := 0, true
	err := each(func(m madeRow) error {
		if m.x != nil {
			c.proof.examine(m.x)
			m.x.forget()
			size += m.x.size()
		}
		if complete = complete && size <= heldExchanges; complete {
			all = append(all, m)
		} else {
			all = nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.proof.settle(&c.report, c.file, c.program.name)
	if !complete {
		return each(func(m madeRow) error {
			if m.x != nil {
				again := newExchangeProof(c.program) // what has been counted before
				again.examine(m.x)
			}
			return c.convert(m)
		})
	}
	for i, m := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		all[i] = madeRow{}
		if err := c.convert(m); err != nil {
			return err
		}
	}
	return nil
}

// heldExchanges is how many bytes of a file are converted without reading it twice: what its
// quotes say of the offsets is known at its end only.
const heldExchanges = 32 << 20

// convert writes a row, or counts it as failed or left out.
func (c *exchangeReader) convert(m madeRow) error {
	if m.counts {
		c.report.Records++
	}
	switch {
	case m.bad != nil:
		c.fail(*m.bad)
	case m.flat != nil:
		return c.writeFlat(&m)
	case m.x == nil:
		c.report.LeftOut++
	default:
		return c.write(m.x, m.at)
	}
	return nil
}

// recordOf is the record that pieces of the file make.
func (c *exchangeReader) recordOf(number int, pieces ...recordPiece) *programRecord {
	return &programRecord{pieces: pieces, number: number, stem: c.stem(), limits: c.Limits, surveyed: c.surveyed}
}

// rows calls do with every row of a record; only says that there is no other record.
func (c *exchangeReader) rows(ctx context.Context, from *programRecord, only bool, do func(madeRow) error) error {
	p, whole := c.program, from.whole()
	mistaken := func(err error) madeRow {
		bad := from.mistake(p, err, whole)
		return madeRow{at: whole.position(), bad: &bad, counts: true}
	}
	if c.bad != nil {
		return do(madeRow{at: whole.position(), bad: c.bad, counts: true})
	}
	w, err := unwrapped(ctx, from.tree, p)
	if err != nil {
		return do(mistaken(err))
	}
	q, err := c.requestOf(ctx, w.request, from)
	if err != nil {
		return do(mistaken(err))
	}
	var all []madeRow
	err = p.run(ctx, "row", from, w.response, func(row any) bool {
		if p.says["flat"] {
			m := madeRow{at: whole.position(), number: len(all) + 1}
			if flat, isObject := row.(map[string]any); isObject || row == nil {
				m.flat = flat
			} else {
				why := fmt.Sprintf("format %s: row %d: want an object, got %s", p.name, m.number, kindOfTree(row))
				bad := m.at.err(c.file, why)
				m.bad = &bad
			}
			all = append(all, m)
			return true
		}
		f := filler{p: p, rec: from, response: w.response, first: c.firstMark()}
		f.x = &exchange{row: w.row, unasked: map[string]int{}}
		c.ask(f.x, q)
		m := c.made(&f, row)
		if m.x != nil && len(all) == 0 {
			m.x.unknown = f.unknownMembers()
		}
		all = append(all, m)
		return true
	})
	if err == nil && len(all) == 0 {
		err = errors.New("the program gives no row")
	}
	if err != nil {
		all = append(all, mistaken(err))
	}
	for i, m := range all {
		m.counts = i == 0 || !p.says["systems"]
		number := from.number
		if !p.says["systems"] {
			number += i
		}
		if m.flat != nil && !hasID(m.flat) {
			m.flat["id"] = c.nameOf(&exchange{}, number, only && len(all) == 1)
		}
		if m.flat != nil && len(all) == 1 {
			f := filler{rec: from}
			m.record = f.record()
		}
		if m.x != nil {
			m.x.row.ID = c.nameOf(m.x, number, only && len(all) == 1)
			m.x.row.System = cmp.Or(m.x.row.System, c.System, m.x.ownSystem, m.x.row.Model)
			if m.x.row.System == "" && p.says["collection"] {
				m.x.row.System = "default"
			} else if m.x.row.System == "" {
				m.x.row.System = p.name
			}
			m.x.again = !m.counts
		}
		if err := do(m); err != nil {
			return err
		}
	}
	return nil
}

// made is what comes of a row that the program gives.
func (c *exchangeReader) made(f *filler, row any) madeRow {
	if row == nil {
		return madeRow{}
	}
	part := f.rec.whole()
	o, _ := row.(map[string]any)
	if path, ok := o["$path"].([]any); ok {
		if p := f.rec.part(o["$in"], path); p != nil {
			part = *p
		}
	}
	m := madeRow{at: part.position()}
	if reason, bad := o[badElement]; bad {
		e := f.rec.mistake(f.p, badReason(reason), part)
		m.bad = &e
	} else if err := f.fill(row); err != nil {
		e := part.mistake(nil, fmt.Sprintf("format %s gives no row: %v", f.p.name, err))
		m.bad = &e
	} else {
		for _, reason := range f.x.bad {
			e := f.rec.mistake(f.p, badReason(reason), part)
			e.Reason = annotationLeftOut + e.Reason
			f.x.lost = append(f.x.lost, e)
		}
		m.x = f.x
	}
	return m
}

// annotationLeftOut begins the warnings of annotations that could not be read.
const annotationLeftOut = "annotation left out: "

// badReason is the error of an annotation or a row that is left out.
func badReason(reason any) error {
	if e, ok := reason.(*placedError); ok {
		return e
	}
	return fmt.Errorf("%v", reason)
}

// stem is the name of the file without .response and what follows, else without its ending.
func (c *exchangeReader) stem() string {
	stem := unpackedName(filepath.Base(c.file))
	if before, _, found := strings.Cut(stem, ".response."); found {
		return before
	} else if c.file == stdinPath {
		return "stdin"
	}
	return strings.TrimSuffix(stem, filepath.Ext(stem))
}

// nameOf is the id of a row: number is that of its record.
func (c *exchangeReader) nameOf(x *exchange, number int, only bool) string {
	switch {
	case x.row.ID != "": // beside the response
		return x.row.ID
	case c.program.says["collection"] && x.responseID == "":
		return fmt.Sprint(number)
	case only && c.file != stdinPath && !c.program.says["collection"]:
		return c.stem()
	case x.responseID != "":
		return x.responseID
	}
	return fmt.Sprintf("%s:%d", c.stem(), number)
}

// hasID reports whether a flat row has an id, under our name or another.
func hasID(row map[string]any) bool {
	return slices.ContainsFunc(append([]string{"id"}, otherNames[0].theirs...), func(name string) bool {
		id, _ := label(row[name])
		return id != nil && id != ""
	})
}

// writeFlat does with a flat row what format jsonl does with its own. One without an id is called
// by its file. The record stays with a row that it gives alone.
func (c *exchangeReader) writeFlat(m *madeRow) error {
	rec := &c.flat.record
	if e := rec.decode([]byte(programJSON(m.flat))); e != nil {
		c.fail(m.at.err(c.file, fmt.Sprintf("format %s: row %d: %s", c.program.name, m.number, e.msg)))
		return nil
	}
	rec.row.QueryNull, rec.row.SourceRecord = false, m.record
	c.flat.tallyNames()
	return c.flat.row(&rec.row, rec.named, rec.others, m.at)
}
