package convert

import (
	"context"
	"errors"
	"fmt"

	"ibid"
)

// eachRow calls do with every row that the program makes of the file: with its exchange, with
// what is wrong with its record, or with neither where the row is left out on purpose.
func (c *exchangeReader) eachRow(ctx context.Context, s shape, do func(x *exchange, at position, bad *RecordError) error) error {
	if s == eventShape || c.format.program.list {
		return c.eachFolded(ctx, s, do)
	}
	return c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		piece, bad := newPiece(rec, &c.text)
		if bad != nil {
			return do(nil, rec.at, bad)
		}
		from := &programRecord{pieces: []recordPiece{piece}}
		return c.rows(ctx, from, piece.tree, rowsOf{number: rec.number, only: rec.only}, do)
	})
}

// rowsOf is what the rows of a record have in common.
type rowsOf struct {
	number int  // of the record in its file, from 1
	only   bool // there is no other record
}

// rows calls do with every row of a record.
func (c *exchangeReader) rows(ctx context.Context, from *programRecord, tree any, of rowsOf, do func(x *exchange, at position, bad *RecordError) error) error {
	p, at := c.format.program, from.pieces[0].at
	mistaken := func(err error) error {
		bad := from.mistake(p, c.file, err)
		return do(nil, at, &bad)
	}
	if c.bad != nil {
		return do(nil, at, c.bad)
	}
	if c.flat != nil {
		return c.flatRows(ctx, from, tree, of, do)
	}
	w, err := unwrapped(tree, p)
	if err != nil {
		return mistaken(err)
	}
	q, err := c.requestOf(ctx, w.request, from)
	if err != nil {
		return mistaken(err)
	}
	var all []madeExchange
	err = p.run(ctx, "row", from, w.response, func(row any) bool {
		if row == nil {
			all = append(all, madeExchange{})
			return true
		}
		x := &exchange{givenID: w.id, system: w.system, query: w.query, cost: w.cost, tokens: w.tokens, latency: w.latency}
		c.ask(x, q)
		f := filler{p: p, rec: from, response: w.response, x: x}
		if err := f.fill(row); err != nil {
			bad := from.pieces[0].mistake(nil, fmt.Sprintf("format %s gives no row: %v", p.name, err), c.file)
			x = nil
			all = append(all, madeExchange{bad: &bad})
		} else {
			for _, reason := range x.bad {
				e := from.mistake(p, c.file, badReason(reason))
				e.Reason = annotationLeftOut + e.Reason
				x.lost = append(x.lost, e)
			}
			all = append(all, madeExchange{x: x})
		}
		return true
	})
	for i, m := range all {
		if m.x != nil {
			m.x, m.bad = c.decoded(m.x, c.nameOf(m.x, of.number+i, of.only && len(all) == 1))
		}
		if err := do(m.x, at, m.bad); err != nil {
			return err
		}
	}
	if err == nil && len(all) == 0 {
		err = errors.New("the program gives no row")
	}
	if err != nil {
		return mistaken(err)
	}
	return nil
}

// readFlat converts a file of which the program makes flat rows.
func (c *exchangeReader) readFlat(ctx context.Context, s shape) error {
	flat := newJSONLReader(c.run, c.file)
	flat.record.columns = c.Columns
	c.flat = &flat
	defer func() { c.flat = nil }()
	err := c.eachRow(ctx, s, func(_ *exchange, _ position, bad *RecordError) error {
		c.report.Records++
		if bad != nil {
			c.fail(*bad)
		}
		return nil
	})
	flat.settle()
	return err
}

// flatRows does with the rows of a record what format jsonl does with its own. One without an
// id is called by its file. The record stays with a row that it gives alone.
func (c *exchangeReader) flatRows(ctx context.Context, from *programRecord, tree any, of rowsOf, do func(x *exchange, at position, bad *RecordError) error) error {
	p, at := c.format.program, from.pieces[0].at
	var all []any
	ended := p.run(ctx, "row", from, tree, func(row any) bool {
		all = append(all, row)
		return true
	})
	if ended == nil && len(all) == 0 {
		ended = errors.New("the program gives no row")
	}
	rec := &c.flat.record
	for i, row := range all {
		if row == nil {
			c.report.LeftOut++
			continue
		}
		if o, ok := row.(map[string]any); ok && (o["id"] == nil || o["id"] == "") {
			o["id"] = c.nameOf(&exchange{}, of.number+i, of.only && len(all) == 1)
		}
		if e := rec.decode([]byte(programJSON(row))); e != nil {
			bad := at.err(c.file, fmt.Sprintf("format %s: row %d: %s", p.name, i+1, e.msg))
			if err := do(nil, at, &bad); err != nil {
				return err
			}
			continue
		}
		rec.row.QueryNull = false
		if len(all) == 1 {
			f := filler{rec: from}
			rec.row.SourceRecord = f.record()
		}
		c.flat.tallyNames()
		if err := c.flat.row(&rec.row, at); err != nil {
			return err
		}
		c.report.Records++
	}
	if ended == nil {
		return nil
	}
	bad := from.mistake(p, c.file, ended)
	return do(nil, at, &bad)
}

// annotationLeftOut begins the warnings of annotations that could not be read.
const annotationLeftOut = "annotation left out: "

// badReason is the error of an annotation that is left out.
func badReason(reason any) error {
	if e, ok := reason.(*placedError); ok {
		return e
	}
	return fmt.Errorf("%v", reason)
}

// A wrappedResponse is a response, and the request, names and costs of its record.
type wrappedResponse struct {
	response, request any
	id, system, query string
	cost, tokens      ibid.Number
	latency           ibid.Number
}

// unwrapped takes a response out of an object that has it as a member: a line of a batch, or
// one that a user made.
func unwrapped(tree any, p *program) (w wrappedResponse, err error) {
	o, ok := tree.(map[string]any)
	w.response = tree
	if !ok || !p.has["asked"] {
		return w, nil
	}
	switch response, isBatch := o["response"].(map[string]any); {
	case isBatch:
		w.response = response
		if body, ok := response["body"].(map[string]any); ok {
			w.response = body
		}
	default:
		result, ok := o["result"].(map[string]any)
		if !ok {
			return w, nil
		}
		if kind, ok := result["type"].(string); ok && kind != "succeeded" {
			return w, &placedError{o, "result", "the request of the batch has not succeeded: " + quoted(kind)}
		}
		message, ok := result["message"].(map[string]any)
		if !ok {
			return w, nil
		}
		w.response = message
	}
	text := func(name, helper string) (s string) {
		switch v := memberOf(o, name, false, memberHelpers[helper]).(type) {
		case string:
			return v
		case error:
			err = v
		}
		return ""
	}
	if w.id = text("id", "id"); w.id == "" {
		w.id = text("custom_id", "id")
	}
	w.system, w.query = text("system", "str"), text("query", "str")
	w.request, _ = o["request"].(map[string]any)
	f := filler{}
	w.cost, w.latency = f.number(o, "answer_cost_usd"), f.number(o, "answer_latency_ms")
	w.tokens = f.number(o, "answer_tokens")
	if err == nil {
		err = f.err
	}
	return w, err
}

// requestOf reads the request that a record holds beside its response; nil if it holds none.
func (c *exchangeReader) requestOf(ctx context.Context, asked any, from *programRecord) (*request, error) {
	body, ok := asked.(map[string]any)
	if !ok {
		return nil, nil
	}
	for _, name := range []string{"params", "body"} { // in files of batches it is a member
		if inner, ok := body[name].(map[string]any); ok && body["custom_id"] != nil {
			body = inner
			break
		}
	}
	q := &request{pdfs: &c.pdfs}
	out, err := c.format.program.first(ctx, "asked", from, body)
	if err != nil || out == nil {
		return q, err
	}
	f := filler{x: &exchange{request: q}}
	o := f.object(out, "asked")
	q.model, q.query = f.text(o, "model"), f.text(o, "query")
	for _, side := range []struct {
		name string
		to   *[]*source
	}{{"documents", &q.documents}, {"results", &q.results}} {
		for i, v := range f.list(o, side.name) {
			d := f.object(v, side.name)
			s := f.document(d)
			if s.Doc == "" {
				s.Doc = fmt.Sprintf("document %d", i)
			}
			q.readPDF(&s, f.text(d, "pdf"))
			*side.to = append(*side.to, &s)
		}
	}
	return q, f.err
}

// askedIn is the request that a file holds.
func (c *exchangeReader) askedIn(rec *foreignRecord, t *jsonText) (q *request, bad *RecordError, err error) {
	piece, bad := newPiece(rec, t)
	if bad != nil {
		return nil, bad, nil
	}
	from := &programRecord{pieces: []recordPiece{piece}}
	if q, err = c.requestOf(context.Background(), piece.tree, from); err != nil {
		e := from.mistake(c.format.program, rec.file, err)
		return nil, &e, nil
	}
	return q, nil, nil
}

// eachFolded does what [exchangeReader.eachRow] does with the responses of a file of events.
func (c *exchangeReader) eachFolded(ctx context.Context, s shape, do func(x *exchange, at position, bad *RecordError) error) error {
	p := c.format.program
	if !p.has["fold"] {
		e := RecordError{File: c.file, Reason: fmt.Sprintf("format %s has no event streams: save the response as JSON", p.name)}
		return do(nil, position{}, &e)
	}
	var (
		from   *programRecord // the response that is being read
		bad    *RecordError
		number int
	)
	finish := func(only bool) error {
		if from == nil && bad == nil {
			return nil
		}
		number++
		at := position{}
		if from != nil && len(from.pieces) > 0 {
			at = from.pieces[0].at
		}
		rec, wrong := from, bad
		from, bad = nil, nil
		if wrong != nil {
			return do(nil, at, wrong)
		}
		events := make([]any, len(rec.pieces))
		for i := range rec.pieces {
			events[i] = rec.pieces[i].tree
		}
		whole, err := p.first(ctx, "fold", rec, events)
		if err != nil {
			e := rec.mistake(p, c.file, err)
			return do(nil, at, &e)
		}
		return c.rows(ctx, rec, whole, rowsOf{number, only}, do)
	}
	event := func(rec *foreignRecord) error {
		piece, wrong := newPiece(rec, &c.text)
		if wrong == nil && p.has["begins"] && p.is(ctx, "begins", piece.tree) {
			if err := finish(false); err != nil {
				return err
			}
		}
		if bad != nil {
			return nil // the rest of a response that cannot be read
		}
		if from == nil {
			from = &programRecord{}
		}
		from.pieces = append(from.pieces, piece)
		bad = wrong
		return nil
	}
	var err error
	if s == eventShape {
		err = c.eachEvent(ctx, c.file, event)
	} else {
		err = c.eachRecord(ctx, c.file, s, event)
	}
	if err != nil {
		return err
	}
	if from == nil && bad == nil && number == 0 {
		e := RecordError{File: c.file, Reason: "no event here"}
		return do(nil, position{}, &e)
	}
	return finish(number == 0)
}
