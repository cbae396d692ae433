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
	lists bool // it has a list of batches
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
	Usage   usage
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

// call makes a request, reads the document that it brings into what is given, and returns it;
// about so many bytes are expected. It tries again what may go well later: after failures of
// the service for as long as calls would, after refusals for the number of requests for ten
// minutes. The error is that of ctx, a [*judge.StopError], or a *failure: one that is billed
// is of a submission that the service may have acted upon, others are refusals.
func (s *batchService) call(ctx context.Context, method, path, content string, body []byte, expected int64, into any) (raw []byte, err error) {
	j := s.judge
	began := time.Now()
	for tries := 0; ; tries++ {
		raw, f := s.try(ctx, method, path, content, body, expected)
		if f == nil && into != nil {
			if err := lenient(json.Unmarshal(raw, into)); err != nil {
				f = &failure{class: classTransient, status: http.StatusOK, err: err, billed: true}
			}
		}
		failing := time.Since(began)
		switch {
		case f == nil:
			return raw, nil
		case f.class == classRow, f.billed && method == http.MethodPost && path == batchesPath:
			return nil, f
		case f.class == classStop:
		case f.delay > refusedFor:
			f.err = fmt.Errorf("%w; it asks to wait %v", f.err, f.delay.Round(time.Second))
			j.stopping(f, judge.StopRate)
		case f.class == classFlow && failing > refusedFor, f.class != classFlow && j.config.MaxOutage > 0 && failing > j.config.MaxOutage:
			j.stopping(f, judge.StopService)
		}
		if f.class == classStop {
			return nil, j.stop(f.stop)
		}
		if err := sleep(ctx, max(min(j.config.Backoff<<min(tries, 10), backoffMax), f.delay)); err != nil {
			return nil, err
		}
	}
}

// try makes one request. What is sent may be paid for: an interrupt waits for the service's
// word.
func (s *batchService) try(ctx context.Context, method, path, content string, body []byte, expected int64) (raw []byte, f *failure) {
	j := s.judge
	timeout := time.Duration((int64(len(body))+expected)/slowestTransfer) * time.Second
	if timeout += j.config.Timeout; j.config.Timeout == 0 {
		timeout += askingTimeout
	}
	if method == http.MethodPost {
		wire, done := underWay(ctx)
		defer done()
		ctx = wire
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	x := &exchange{body: body, path: j.wire.at.url(path, "")}
	if err := j.wire.transfer(ctx, method, x.path, content, x, maxListing+resultsMost*expected); err == nil && x.status/100 != 2 {
		_ = x.envelope.read(x.raw) // what is no JSON says no more than its status
	}
	f = j.classify(x, j.works())
	if f == nil {
		return x.raw, nil
	}
	switch x.status {
	case http.StatusForbidden:
		j.stopping(f, judge.StopKey)
	case http.StatusConflict:
		f.class = classTransient
	case http.StatusNotFound, http.StatusNotImplemented:
		f.class, f.reason = classRow, judge.Rejected
	}
	f.billed = f.billed || f.class == classTransient && x.status > 0
	return nil, f
}

// works reports whether the service has answered for any of the models.
func (j *Judge) works() bool { return slices.ContainsFunc(j.members, (*member).works) }

const batchesPath = "/batches"

// refused reports whether an error is of a request that the service does not take.
func refused(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && !f.billed
}

// check looks whether the service lists its batches, once. One that cannot list them is sent
// none: an answer that is lost could not be found again.
func (s *batchService) check(ctx context.Context) (err error) {
	if s.lists {
		return nil
	}
	_, _, err = s.page(ctx, "", 1)
	if s.lists = err == nil; !refused(err) {
		return err
	}
	return s.judge.stop(&judge.StopError{Reason: judge.StopBatches, Err: err, Hint: "leave judge.batch out, such as with --set judge.batch=false"})
}

// page is a part of the listing, newest first, that begins after a batch; more says that others
// follow.
func (s *batchService) page(ctx context.Context, after string, limit int) (all []batchObject, more bool, err error) {
	var page struct {
		Data    []batchObject
		HasMore bool `json:"has_more"`
	}
	path := fmt.Sprintf("%s?limit=%d", batchesPath, limit)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	_, err = s.call(ctx, http.MethodGet, path, "", nil, 0, &page)
	return page.Data, page.HasMore, err
}

// state is a batch as it is now, with its results once it has ended; ok is false if they are not
// there yet.
func (s *batchService) state(ctx context.Context, id string, questions int64) (o *batchObject, all []batchResult, ok bool, err error) {
	o = new(batchObject)
	_, err = s.call(ctx, http.MethodGet, batchesPath+"/"+url.PathEscape(id), "", nil, questions*resultBytes, o)
	if err == nil && o.Status == "" {
		err = unusable("a batch without a status")
	}
	if err == nil && o.ended() {
		all, ok, err = s.results(ctx, o, questions)
	}
	return o, all, ok, err
}

// results are those of a batch that has ended; ok is false if they are not there yet. A line
// of no use must not lose the others.
func (s *batchService) results(ctx context.Context, o *batchObject, questions int64) (all []batchResult, ok bool, err error) {
	var lines []json.RawMessage
	if s.inline() {
		if o.Results != nil && json.Unmarshal(o.Results, &lines) != nil {
			return nil, false, unusable("the results of the batch are no list")
		}
		ok = len(lines) > 0 || o.Counts.Completed == 0
	} else if ok = o.OutputFile != "" || o.Counts.Completed == 0; ok {
		for _, id := range []label{o.OutputFile, o.ErrorFile} {
			if id == "" {
				continue
			}
			raw, err := s.call(ctx, http.MethodGet, "/files/"+url.PathEscape(string(id))+"/content", "", nil, questions*resultBytes, nil)
			if err != nil && (id == o.OutputFile || !refused(err)) { // without the errors, their lines have no result
				return nil, false, err
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

// unusable is the error of a response that says nothing.
func unusable(what string) error { return &failure{class: classRow, err: errors.New(what)} }

// line is a request as a line of a batch.
func (s *batchService) line(key cache.Key, body []byte) []byte {
	b := append([]byte(`{"custom_id":"`), key.String()...)
	if b = append(b, '"'); !s.inline() {
		b = append(b, `,"method":"POST","url":"`+chatEndpoint+`"`...)
	}
	return append(append(append(b, `,"body":`...), body...), '}')
}

// submit sends a batch off and returns what the service calls it.
func (s *batchService) submit(ctx context.Context, model string, lines [][]byte, token cache.Key) (id string, err error) {
	var o batchObject
	var body []byte
	if s.inline() {
		// The requests come last: services read them as they stream in.
		body = slices.Concat([]byte(`{"endpoint":"`+chatEndpoint+`","model":`), quoted(model), []byte(`,"requests":[`), bytes.Join(lines, []byte(",")), []byte("]}"))
	} else {
		var file bytes.Buffer // of which no write fails
		form := multipart.NewWriter(&file)
		_ = form.WriteField("purpose", "batch")
		content, _ := form.CreateFormFile("file", "ibid-"+token.String()[:12]+".jsonl")
		for _, line := range lines {
			_, _ = content.Write(append(line, '\n'))
		}
		_ = form.Close()
		if _, err := s.call(ctx, http.MethodPost, "/files", form.FormDataContentType(), file.Bytes(), 0, &o); err != nil {
			return "", err
		}
		body = quoted(map[string]any{
			"input_file_id": o.ID, "endpoint": chatEndpoint, "completion_window": "24h", "metadata": map[string]string{batchMetadata: token.String()},
		})
		o.ID = ""
	}
	_, err = s.call(ctx, http.MethodPost, batchesPath, "application/json", body, 0, &o)
	if err == nil && o.ID == "" {
		err = &failure{class: classTransient, err: errors.New("a batch without an id"), billed: true}
	}
	return string(o.ID), err
}
