package openrouter

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
)

// Limits on one batch, which is held in memory. OpenRouter takes 5,000 requests and 200 MB,
// OpenAI more.
const (
	maxBatchLines = 5_000
	maxBatchBytes = 32_000_000
)

// slowestTransfer is how many bytes of a batch go over the wire in a second at least, and
// resultBytes how many a result has: what a transfer is given beside the time of a call. A
// response may be longer by resultsMost.
const (
	slowestTransfer = 100_000
	resultBytes     = 8_000
	resultsMost     = 8
)

// chatEndpoint is what batches name the API of their requests.
const chatEndpoint = "/v1/chat/completions"

// batchMetadata is the member of a batch's metadata that holds its token.
const batchMetadata = "ibid"

// A batchService is the batch API of OpenRouter or OpenAI.
type batchService struct {
	judge *Judge
	base  string // of the paths of batches
}

// inline reports whether requests and results are members of a batch, as OpenRouter has
// them; at OpenAI they are files.
func (s *batchService) inline() bool { return s.judge.config.Kind == KindOpenRouter }

// A batchObject is what a service says of a batch.
type batchObject struct {
	ID      label
	Status  label
	Model   label
	Created amount                                    `json:"created_at"` // seconds since 1970; 0 if it does not say
	Counts  struct{ Total, Completed, Failed amount } `json:"request_counts"`
	Usage   *usage
	Error   *wireError
	Errors  struct {
		Data []struct{ Message label }
	}
	Results    json.RawMessage // inline
	OutputFile label           `json:"output_file_id"`
	ErrorFile  label           `json:"error_file_id"`
	Metadata   map[string]label
}

// ended reports whether nothing will change any more.
func (o *batchObject) ended() bool {
	return slices.Contains([]label{"completed", "expired", "failed", "cancelled", "canceled"}, o.Status)
}

// why is why a batch failed.
func (o *batchObject) why() string {
	switch {
	case len(o.Errors.Data) > 0:
		return string(o.Errors.Data[0].Message)
	case o.Error != nil && !o.Error.none:
		return o.Error.text()
	}
	return "no reason is given"
}

// A batchResult is what became of one line.
type batchResult struct {
	CustomID label `json:"custom_id"`
	Response *struct {
		Status amount `json:"status_code"`
		Body   json.RawMessage
	}
	Error *wireError
}

// key is the key of the question.
func (r *batchResult) key() (key cache.Key, ok bool) {
	n, err := hex.Decode(key[:], []byte(r.CustomID))
	return key, err == nil && n == len(key)
}

// call makes one request and returns the body of a success, in which about so many bytes are
// expected. What failed may have been acted upon if billed is set.
func (s *batchService) call(ctx context.Context, method, path, content string, body []byte, expected int64) (raw []byte, f *failure) {
	j := s.judge
	timeout := time.Duration((int64(len(body))+expected)/slowestTransfer) * time.Second
	if timeout += j.config.Timeout; j.config.Timeout == 0 {
		timeout += askingTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	resp, raw, err := j.wire.transfer(ctx, method, s.base+path, content, body, maxListing+resultsMost*expected)
	switch {
	case resp == nil:
		return nil, &failure{class: classTransient, err: j.plain(err), billed: !neverSent(err)}
	case resp.StatusCode/100 == 3:
		f := &failure{status: resp.StatusCode, err: fmt.Errorf("status %d: a redirect to %s", resp.StatusCode, resp.Header.Get("Location"))}
		j.stopping(f, judge.StopMoved)
		return nil, f
	case resp.StatusCode/100 != 2:
		return nil, s.refused(resp, raw)
	case err != nil:
		return nil, &failure{class: classTransient, status: resp.StatusCode, err: j.plain(err), billed: true}
	}
	return raw, nil
}

// refused is the failure of a response that is an error.
func (s *batchService) refused(resp *http.Response, raw []byte) *failure {
	j := s.judge
	var v envelope
	wire := &wireError{Message: quoted(http.StatusText(resp.StatusCode))}
	if v.read(raw) == nil && v.Error != nil && !v.Error.none {
		wire = v.Error
	}
	f := &failure{status: resp.StatusCode, err: j.plain(fmt.Errorf("status %d: %s", resp.StatusCode, excerpt(wire.text())))}
	f.delay, f.hinted = delayOf(resp.Header, wire, j.config.Now())
	switch s := f.status; {
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable && f.hinted:
		f.class = classFlow
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		j.stopping(f, judge.StopKey)
	case s == http.StatusPaymentRequired:
		j.stopping(f, judge.StopCredit)
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s >= 500 && s != http.StatusNotImplemented:
		f.class, f.billed = classTransient, true
	default:
		f.class, f.reason = classRow, judge.Rejected
	}
	return f
}

// read makes one request and reads the document that it brings.
func (s *batchService) read(ctx context.Context, method, path, content string, body []byte, expected int64, into any) *failure {
	raw, f := s.call(ctx, method, path, content, body, expected)
	if f != nil {
		return f
	}
	if err := lenient(json.Unmarshal(raw, into)); err != nil {
		return &failure{class: classTransient, status: http.StatusOK, err: err, billed: true}
	}
	return nil
}

// locate looks where the service has its batches. One that cannot list them is sent none:
// an answer that is lost could not be found again.
func (s *batchService) locate(ctx context.Context) (f *failure) {
	base := s.judge.config.BaseURL
	places := []string{base}
	if rest, ok := strings.CutSuffix(base, "/v1"); ok && s.inline() {
		places = append(places, rest+"/beta") // where they were at first
	}
	for _, s.base = range places {
		if _, f = s.page(ctx, "", 1); f == nil || f.class != classRow {
			return f
		}
	}
	return f
}

// A batchPage is a part of the listing.
type batchPage struct {
	Data    []batchObject
	HasMore bool `json:"has_more"`
}

// page is a part of the listing, newest first, that begins after a batch.
func (s *batchService) page(ctx context.Context, after string, limit int) (page batchPage, f *failure) {
	path := fmt.Sprintf("/batches?limit=%d", limit)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	if f = s.read(ctx, http.MethodGet, path, "", nil, 0, &page); f != nil {
		f.billed = false
	}
	return page, f
}

// state is a batch as it is now.
func (s *batchService) state(ctx context.Context, id string, questions int64) (o *batchObject, f *failure) {
	o = new(batchObject)
	f = s.read(ctx, http.MethodGet, "/batches/"+url.PathEscape(id), "", nil, questions*resultBytes, o)
	if f == nil && o.Status == "" {
		f = &failure{class: classTransient, err: fmt.Errorf("batch %s: a batch without a status", id)}
	}
	return o, f
}

// results are those of a batch that has ended; ok is false if they are not there yet. A line
// of no use must not lose the others.
func (s *batchService) results(ctx context.Context, o *batchObject, questions int64) (all []batchResult, ok bool, f *failure) {
	var lines []json.RawMessage
	if s.inline() {
		if o.Results != nil && json.Unmarshal(o.Results, &lines) != nil {
			return nil, false, &failure{class: classTransient, err: fmt.Errorf("batch %s: the results of the batch are no list", o.ID)}
		}
		ok = len(lines) > 0 || o.Counts.Completed == 0
	} else if ok = o.OutputFile != "" || o.Counts.Completed == 0; ok {
		for _, id := range []label{o.OutputFile, o.ErrorFile} {
			if id == "" {
				continue
			}
			raw, f := s.call(ctx, http.MethodGet, "/files/"+url.PathEscape(string(id))+"/content", "", nil, questions*resultBytes)
			if f != nil && (f.class != classRow || id == o.OutputFile) { // without the errors, their lines have no result
				return nil, false, f
			}
			for line := range bytes.Lines(raw) {
				lines = append(lines, line)
			}
		}
	}
	for _, line := range lines {
		var r batchResult
		if lenient(json.Unmarshal(line, &r)) == nil {
			all = append(all, r)
		}
	}
	return all, ok, nil
}

// line is a request as a line of a batch.
func (s *batchService) line(key cache.Key, body []byte) []byte {
	b := append([]byte(`{"custom_id":"`), key.String()...)
	if b = append(b, '"'); !s.inline() {
		b = append(b, `,"method":"POST","url":"`+chatEndpoint+`"`...)
	}
	return append(append(append(b, `,"body":`...), body...), '}')
}

// submit sends a batch off and returns what the service calls it.
func (s *batchService) submit(ctx context.Context, model string, lines [][]byte, token cache.Key) (id string, f *failure) {
	var body []byte
	if s.inline() {
		// The requests come last: services read them as they stream in.
		body = slices.Concat([]byte(`{"endpoint":"`+chatEndpoint+`","model":`), quoted(model), []byte(`,"requests":[`), bytes.Join(lines, []byte(",")), []byte("]}"))
	} else {
		file, f := s.upload(ctx, lines, token)
		if f != nil {
			f.billed = false // nothing is charged for a file
			return "", f
		}
		body = quoted(map[string]any{
			"input_file_id": file, "endpoint": chatEndpoint, "completion_window": "24h", "metadata": map[string]string{batchMetadata: token.String()},
		})
	}
	var o batchObject
	f = s.read(ctx, http.MethodPost, "/batches", "application/json", body, 0, &o)
	if f == nil && o.ID == "" {
		f = &failure{class: classTransient, err: errors.New("a batch without an id"), billed: true}
	}
	return string(o.ID), f
}

// upload brings the requests of a batch to the service's files, and returns the name of theirs.
func (s *batchService) upload(ctx context.Context, lines [][]byte, token cache.Key) (id label, f *failure) {
	var body bytes.Buffer // of which no write fails
	form := multipart.NewWriter(&body)
	_ = form.WriteField("purpose", "batch")
	file, _ := form.CreateFormFile("file", "ibid-"+token.String()[:12]+".jsonl")
	for _, line := range lines {
		_, _ = file.Write(append(line, '\n'))
	}
	_ = form.Close()
	var said batchObject
	f = s.read(ctx, http.MethodPost, "/files", form.FormDataContentType(), body.Bytes(), 0, &said)
	if f == nil && said.ID == "" {
		f = &failure{class: classTransient, err: errors.New("an uploaded file without an id")}
	}
	return said.ID, f
}
