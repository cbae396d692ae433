package convert

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
)

// An exchangeFormat is how one provider writes its answers and citations. All of
// them are read the same way:
//
// A file holds one response, several, a list of them, JSON Lines, or the events
// of a stream; standard input is recognised by how it begins. A record is a
// response, or an object that has it as its member response (of batches: result)
// and may have id or custom_id, system, query, request, answer_cost_usd, answer_tokens
// and answer_latency_ms beside it; where these are not, the response is asked. The id of a
// row is the one beside the response, else the name of a file that holds nothing
// else, without .response and what follows, else the response's own, else the
// name of the file and the number of the record. The system is the one beside the
// response, else that of the options, else the model, else the provider. A second
// record of the same id and system is an error.
//
// Two passes are made: the first proves how the offsets of the file are to be
// read, the second writes.
type exchangeFormat struct {
	name, summary string
	fits          func(*object) bool // as in Format

	// source and answer are the readings that the provider documents, or that
	// fit what is known of it where it documents none.
	source, answer Reading

	// response reads one response. What it finds wrong it leaves with the text.
	response func(x *exchange, o *object)

	// request reads what was asked; nil if there is no such thing.
	request func(q *request, o *object)

	// stream begins to read a response given as events; nil if there are none.
	stream func() eventReader
}

// An eventReader reads the events of one response after the other.
type eventReader interface {
	// begins reports whether an event is the first of a response.
	begins(o *object) bool

	// event adds an event to the answer.
	event(x *exchange, o *object)

	// end is called after the last event and returns why the response is not
	// complete, "" if it is.
	end(x *exchange) string
}

// A lastEvent is what ends a response, and whether it has come.
type lastEvent struct {
	name string
	seen bool
}

func (e *lastEvent) end(*exchange) string {
	if !e.seen {
		return "truncated: the stream ends before " + e.name
	}
	return ""
}

func (f *exchangeFormat) readRequest(q *request, o *object) {
	if f.request != nil && o != nil {
		f.request(q, o)
	}
}

// format is the format as a conversion knows it.
func (f exchangeFormat) format() Format {
	input := "JSON or JSON Lines files, or a directory of them"
	if f.stream != nil {
		input = "JSON, JSON Lines or event stream files, or a directory of them"
	}
	return Format{
		Name: f.name, Summary: f.summary, Input: input, CodePoints: true,
		fits: f.fits, streams: true, options: exchangeOptions,
		convert: func(ctx context.Context, r *run) error { return convertExchanges(ctx, r, &f) },
	}
}

var exchangeExtensions = []string{".json", ".jsonl", ".ndjson", ".sse"}

// exchangeOptions are the options that every format of responses takes.
var exchangeOptions = []string{"request", "system"}

func convertExchanges(ctx context.Context, r *run, f *exchangeFormat) error {
	c := &exchangeReader{run: r, format: f, pdfs: pdfReader{ctx: ctx, report: &r.report}}
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
	return r.eachFile(ctx, exchangeExtensions, func(path string) error {
		if isRequest(path) {
			return nil
		}
		return c.read(ctx, path)
	})
}

// An exchangeReader reads files of one provider.
type exchangeReader struct {
	*run
	format *exchangeFormat
	asked  *request // by the options, nil if by none
	pdfs   pdfReader

	file   string
	beside *request     // of the file's name, nil if there is none
	bad    *RecordError // why that could not be read
	proof  exchangeProof
	text   jsonText
}

// read converts one file.
func (c *exchangeReader) read(ctx context.Context, path string) error {
	c.file, c.beside, c.bad = path, nil, nil
	if path == stdinPath {
		if err := c.spool(); err != nil {
			return err
		}
	}
	if beside := besideRequest(path); beside != "" && c.asked == nil {
		var err error
		if c.beside, c.bad, err = c.loadRequest(beside); err != nil {
			return err
		}
	}
	s, err := c.shapeOf(path)
	if err != nil {
		return err
	}
	c.proof = newExchangeProof(c.format.source, c.format.answer)
	var last *exchange // the only one, if there is but one
	found, lastAt := 0, position{}
	err = c.eachExchange(ctx, s, func(x *exchange, at position, bad *RecordError) error {
		if found++; bad == nil {
			c.proof.examine(x)
		}
		if last, lastAt = x, at; found > 1 {
			last = nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.proof.settle(&c.report, path, c.format.name)
	convert := func(x *exchange, at position, bad *RecordError) error {
		c.report.Records++
		if bad != nil {
			c.fail(*bad)
			return nil
		}
		return c.write(x, at)
	}
	if last != nil {
		return convert(last, lastAt, nil)
	}
	return c.eachExchange(ctx, s, func(x *exchange, at position, bad *RecordError) error {
		if bad == nil {
			again := newExchangeProof(c.format.source, c.format.answer) // what has been counted before
			again.examine(x)
		}
		return convert(x, at, bad)
	})
}

// eachExchange calls do with every record of the file: with its exchange, or with
// what is wrong with it.
func (c *exchangeReader) eachExchange(ctx context.Context, s shape, do func(x *exchange, at position, bad *RecordError) error) error {
	if s == eventShape {
		return c.eachStream(ctx, do)
	}
	return c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		x := &exchange{}
		o, bad := rec.open(&c.text)
		if bad == nil {
			c.wrapped(x, o)
			bad = rec.mistake(&c.text)
		}
		if bad != nil {
			return do(nil, rec.at, bad)
		}
		x, bad = c.decoded(x, c.nameOf(x, rec.number, rec.only))
		return do(x, rec.at, bad)
	})
}

// decoded completes what has been read of a record, or says what is wrong.
func (c *exchangeReader) decoded(x *exchange, id string) (*exchange, *RecordError) {
	if c.bad != nil && x.request == nil {
		return nil, c.bad
	}
	if id != x.responseID && x.responseID != "" {
		x.keep("id", jsonString(x.responseID))
	}
	x.id = id
	x.system = cmp.Or(x.system, c.System, x.model, c.format.name)
	x.complete()
	return x, nil
}

// ask gives the exchange the request that it answers.
func (c *exchangeReader) ask(x *exchange, own *request) {
	for _, q := range []*request{own, c.beside, c.asked} {
		if q == nil {
			continue
		}
		x.request = q
		if x.query == "" {
			x.query = q.query
		}
		x.model = q.model
		break
	}
	if x.request != nil {
		x.sources = append(append(x.sources, x.request.documents...), x.request.results...)
		for _, d := range x.request.documents {
			if d.problem != "" {
				x.warnings = append(x.warnings, d.problem)
			}
		}
	}
}

// wrapped reads a response and what may stand beside it.
func (c *exchangeReader) wrapped(x *exchange, o *object) {
	response := responseIn(o)
	if response == nil {
		c.ask(x, nil)
		c.format.response(x, o)
		x.took.account(o)
		return
	}
	x.givenID = o.first("id", "custom_id").label()
	x.system = o.get("system").string()
	x.query = o.get("query").string()
	var own *request
	if asked := o.get("request").object(); asked != nil && c.format.request != nil {
		own = &request{pdfs: &c.pdfs}
		c.format.readRequest(own, requestBody(asked))
	}
	c.ask(x, own)
	c.format.response(x, response)
	x.took.account(response)
	if cost := o.get("answer_cost_usd").float(); cost.Known() {
		x.took.cost = cost
	}
	if tokens := o.get("answer_tokens").integer(); tokens.Known() {
		x.took.total = ibid.Some(float64(tokens.Value))
	}
	if latency := o.get("answer_latency_ms").float(); latency.Known() {
		x.took.latency = latency
	}
	x.rest(o)
}

// responseIn is the response that an object wraps, nil if it is one itself.
func responseIn(o *object) *object {
	if o.isObject("response") {
		response := o.get("response").object()
		if response.isObject("body") {
			return response.get("body").object()
		}
		return response
	}
	if o.isObject("result") {
		result := o.get("result").object()
		if kind := result.peek("type"); kind != "" && kind != "succeeded" {
			result.fail("the request of the batch has not succeeded: %s", quoted(kind))
			return result
		}
		if result.isObject("message") {
			return result.get("message").object()
		}
	}
	return nil
}

// nameOf is the id of a row.
func (c *exchangeReader) nameOf(x *exchange, number int, only bool) string {
	stem := unpackedName(filepath.Base(c.file))
	if before, _, found := strings.Cut(stem, ".response."); found {
		stem = before
	} else {
		stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	}
	if c.file == stdinPath {
		stem = "stdin"
	}
	switch {
	case x.givenID != "":
		return x.givenID
	case only && c.file != stdinPath:
		return stem
	case x.responseID != "":
		return x.responseID
	}
	return fmt.Sprintf("%s:%d", stem, number)
}

// eachStream calls do with every response of a file of events.
func (c *exchangeReader) eachStream(ctx context.Context, do func(x *exchange, at position, bad *RecordError) error) error {
	if c.format.stream == nil {
		e := RecordError{File: c.file, Reason: fmt.Sprintf("format %s has no event streams: save the response as JSON", c.format.name)}
		return do(nil, position{}, &e)
	}
	var (
		x      *exchange
		reader eventReader
		begun  position
		bad    *RecordError
		number int
		last   position
	)
	finish := func(only bool) error {
		if x == nil && bad == nil {
			return nil
		}
		number++
		if bad == nil {
			if reason := reader.end(x); reason != "" {
				e := last.err(c.file, reason)
				bad = &e
			}
		}
		out, wrong := x, bad
		x, bad = nil, nil
		if wrong != nil {
			return do(nil, begun, wrong)
		}
		out, wrong = c.decoded(out, c.nameOf(out, number, only))
		return do(out, begun, wrong)
	}
	begin := func(at position) {
		x, reader, begun = &exchange{}, c.format.stream(), at
		c.ask(x, nil)
	}
	err := c.eachEvent(ctx, c.file, func(rec *foreignRecord) error {
		last = rec.at
		o, wrong := rec.open(&c.text)
		if o != nil && c.format.stream().begins(o) {
			if err := finish(false); err != nil {
				return err
			}
			begin(rec.at)
		}
		if bad != nil {
			return nil // the rest of a response that cannot be read
		}
		if x == nil {
			begin(rec.at)
		}
		if o != nil {
			reader.event(x, o)
			for _, account := range []*object{o, o.inside("message"), o.inside("response"), o.inside("delta"), o.inside("interaction")} {
				x.took.account(account)
			}
		}
		if bad = wrong; bad == nil {
			bad = rec.mistake(&c.text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if x == nil && bad == nil && number == 0 {
		e := RecordError{File: c.file, Reason: "no event here"}
		return do(nil, position{}, &e)
	}
	return finish(number == 0)
}

// A request is what was asked: the query, the model and the documents that the
// answer can cite. Citations count documents and search results apart.
type request struct {
	query, model       string
	documents, results []*source
	pdfs               *pdfReader
}

// requestSuffix is how the name of the request ends that lies beside a response
// X.response.json.
const requestSuffix = ".request.json"

// besideRequest is the path of the request beside a response, "" if there is
// none.
func besideRequest(path string) string {
	if path == stdinPath {
		return ""
	}
	stem, _, found := strings.Cut(filepath.Base(path), ".response.")
	if !found {
		return ""
	}
	beside := filepath.Join(filepath.Dir(path), stem+requestSuffix)
	if _, err := os.Stat(beside); err != nil {
		return ""
	}
	return beside
}

// isRequest reports whether a file is the request of another: it is read with its
// response, even if both are given.
func isRequest(path string) bool {
	return strings.HasSuffix(unpackedName(path), requestSuffix)
}

// loadRequest reads a file that holds one request. bad says what is wrong with
// it.
func (c *exchangeReader) loadRequest(path string) (q *request, bad *RecordError, err error) {
	data, reason, err := c.whole(path)
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		return nil, &RecordError{File: path, Reason: reason}, nil
	}
	var t jsonText
	q = &request{pdfs: &c.pdfs}
	rec := foreignRecord{file: path, data: data, at: position{1, 1}}
	o, bad := rec.open(&t)
	if bad == nil {
		c.format.readRequest(q, requestBody(o))
		bad = rec.mistake(&t)
	}
	return q, bad, nil
}

// requestBody is the request itself: in files of batches it is a member.
func requestBody(o *object) *object {
	for _, name := range []string{"params", "body"} {
		if o.has("custom_id") && o.has(name) {
			return o.get(name).mustObject()
		}
	}
	return o
}

// ask takes the query from what was put in: a string, or the last message of one of
// the roles that says anything in the member content.
func (q *request) ask(input value, content string, roles ...string) {
	if input.kind() == aString {
		q.query = input.string()
		return
	}
	for _, message := range input.objects() {
		if slices.Contains(roles, message.get("role").string()) {
			q.query = cmp.Or(messageText(message.get(content)), q.query)
		}
	}
}

// addDocument adds a source that citations count among the documents.
func (q *request) addDocument(s source) { q.documents = append(q.documents, &s) }

// addResult adds a search result, which citations count among those.
func (q *request) addResult(o *object) {
	d := ibid.Document{Doc: o.get("source").string(), Title: o.get("title").string(), SourceType: "search_result"}
	d.Blocks, d.HasBlocks = textBlocks(o.get("content")), true
	q.results = append(q.results, &source{Document: d})
}
