package convert

import (
	"os"
	"path/filepath"
	"strings"
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
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), requestSuffix)
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
	q = &request{}
	if o := t.open(data); o != nil {
		c.format.readRequest(q, requestBody(o))
	}
	if t.err != nil {
		e := position{1, 1}.after(data[:min(t.err.offset, len(data))]).err(path, t.err.msg)
		return nil, &e, nil
	}
	return q, nil, nil
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

// addDocument adds a source that citations count among the documents.
func (q *request) addDocument(s source) { q.documents = append(q.documents, &s) }

// addResult adds a source that citations count among the search results.
func (q *request) addResult(s source) { q.results = append(q.results, &s) }
