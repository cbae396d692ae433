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

	// source and answer are the readings that the provider documents, or that
	// fit what is known of it where it documents none.
	source, answer Reading

	program *program
}

// format is the format as a conversion knows it.
func (f exchangeFormat) format() Format {
	input := "JSON or JSON Lines files, or a directory of them"
	if f.program.has["fold"] {
		input = "JSON, JSON Lines or event stream files, or a directory of them"
	}
	return Format{
		Name: f.name, Summary: f.summary, Input: input, CodePoints: true,
		program: f.program, streams: true, options: exchangeOptions,
		convert: func(ctx context.Context, r *run) error { return convertExchanges(ctx, r, &f) },
	}
}

var exchangeExtensions = []string{".json", ".jsonl", ".ndjson", ".sse"}

// exchangeOptions are the options that every format of responses takes.
var exchangeOptions = []string{"request", "system"}

func convertExchanges(ctx context.Context, r *run, f *exchangeFormat) error {
	c := &exchangeReader{run: r, format: f, pdfs: pdfReader{ctx: ctx, report: &r.report}, text: jsonText{limits: r.Limits}}
	if _, err := f.program.codes["row"](); err != nil {
		return ibid.Usagef("%s", err.Error())
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
	flat   *jsonlReader // of rows of programs that give flat ones
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
	if c.format.program.flat {
		return c.readFlat(ctx, s)
	}
	c.proof = newExchangeProof(c.format.source, c.format.answer)
	var all []madeExchange // as long as they are not too many
	size, complete := 0, true
	err = c.eachRow(ctx, s, func(x *exchange, at position, bad *RecordError) error {
		if x != nil {
			c.proof.examine(x)
			x.forget()
			size += x.size()
		}
		if complete = complete && size <= heldExchanges; complete {
			all = append(all, madeExchange{x, at, bad})
		} else {
			all = nil
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
		if x == nil {
			c.report.LeftOut++
			return nil
		}
		return c.write(x, at)
	}
	if complete {
		for i, m := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			all[i] = madeExchange{}
			if err := convert(m.x, m.at, m.bad); err != nil {
				return err
			}
		}
		return nil
	}
	return c.eachRow(ctx, s, func(x *exchange, at position, bad *RecordError) error {
		if x != nil {
			again := newExchangeProof(c.format.source, c.format.answer) // what has been counted before
			again.examine(x)
		}
		return convert(x, at, bad)
	})
}

// heldExchanges is how many bytes of a file are converted without reading it twice: what its
// quotes say of the offsets is known at its end only.
const heldExchanges = 32 << 20

// A madeExchange is what came of a record: an exchange, or what is wrong with it.
type madeExchange struct {
	x   *exchange
	at  position
	bad *RecordError
}

// decoded completes what has been read of a record, or says what is wrong.
func (c *exchangeReader) decoded(x *exchange, id string) (*exchange, *RecordError) {
	if c.bad != nil && x.request == nil {
		return nil, c.bad
	}
	x.id = id
	x.system = cmp.Or(x.system, c.System, x.ownSystem, x.model, c.format.name)
	x.complete()
	return x, nil
}

// ask gives the exchange the request that it answers.
func (c *exchangeReader) ask(x *exchange, own *request) {
	for _, q := range []*request{own, c.beside, c.asked} {
		if q == nil {
			continue
		}
		for _, s := range slices.Concat(q.documents, q.results) {
			s.shared = q != own
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
	rec := foreignRecord{file: path, data: data, at: position{1, 1}}
	return c.askedIn(&rec, &t)
}
