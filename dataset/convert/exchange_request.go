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

// A request is what was asked: the query, the model and the documents that the
// answer can cite. Citations count documents and search results apart.
type request struct {
	query, model       string
	documents, results []*source
}

// requestSuffix is how the name of the request ends that lies beside a response
// X.response.json.
const requestSuffix = ".request.json"

// besideRequest is the path of the request beside a response, "" if there is
// none.
func besideRequest(path string) string {
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
	rec := foreignRecord{file: path, data: data, at: position{1, 1}}
	piece, bad := newPiece(&rec, &jsonText{limits: c.Limits})
	if bad != nil {
		return nil, bad, nil
	}
	from := &programRecord{pieces: []recordPiece{piece}, limits: c.Limits}
	if q, err = c.requestOf(context.Background(), piece.tree, from); err != nil {
		e := from.mistake(c.program, err, from.whole())
		return nil, &e, nil
	}
	return q, nil, nil
}

// ask gives the exchange the request that it answers.
func (c *exchangeReader) ask(x *exchange, own *request) {
	q := cmp.Or(own, c.beside, c.asked)
	if q == nil {
		return
	}
	x.request, x.row.Model, x.row.Query = q, q.model, cmp.Or(x.row.Query, q.query)
	x.sources = slices.Concat(q.documents, q.results)
	for _, s := range x.sources {
		if s.shared = q != own; s.problem != "" {
			x.warn(s.problem)
		}
	}
}

// A wrappedResponse is a response, and what its record has beside it: the request, and names and
// costs of the answer.
type wrappedResponse struct {
	response, request any
	row               ibid.Answer
}

// envelope takes responses and requests out of what holds them.
var envelope = func() *program {
	p, err := newProgram("response", "def row: unwrapped;\ndef asked: unwrapped_request;")
	if err != nil {
		panic(err)
	}
	return p
}()

// unwrapped takes a response out of an object that has it as a member.
func unwrapped(ctx context.Context, tree any, p *program) (w wrappedResponse, err error) {
	if !p.has["asked"] {
		return wrappedResponse{response: tree}, nil
	}
	out, err := envelope.first(ctx, "row", &programRecord{}, tree)
	if err != nil {
		return w, err
	}
	f := filler{}
	o := f.object(out, "response")
	w = wrappedResponse{response: o["response"], request: o["request"], row: ibid.Answer{ID: f.text(o, "id"), System: f.text(o, "system")}}
	f.took(&w.row, o)
	return w, f.err
}

// requestOf reads the request that a record holds beside its response; nil if it holds none.
func (c *exchangeReader) requestOf(ctx context.Context, asked any, from *programRecord) (*request, error) {
	if asked == nil {
		return nil, nil
	}
	body, err := envelope.first(ctx, "asked", &programRecord{}, asked)
	if err != nil || body == nil {
		return nil, err
	}
	q := &request{}
	out, err := c.program.first(ctx, "asked", from, body)
	if err != nil || out == nil {
		return q, err
	}
	f := filler{rec: from, x: &exchange{request: q}}
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
			c.readPDF(&s, f.text(d, "pdf"))
			*side.to = append(*side.to, &s)
		}
	}
	return q, f.err
}
