package openrouter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ibid/dataset/disk"
	"ibid/judge"
	"ibid/judge/cache"
)

// Limits of services on one batch. OpenRouter takes 5,000 requests, OpenAI 50,000, both
// 200 MB.
const (
	maxLinesOpenRouter = 5_000
	maxLinesOpenAI     = 50_000
	maxBatchBytes      = 200_000_000
)

// slowestTransfer is how many bytes of a batch go over the wire in a second at least, and
// resultBytes how many a result has: what a transfer is given beside the time of a call.
const (
	slowestTransfer = 100_000
	resultBytes     = 8_000
)

// chatEndpoint is what batches name the API of their requests.
const chatEndpoint = "/v1/chat/completions"

// batchMetadata is the member of a batch's metadata that holds its token.
const batchMetadata = "ibid"

// A batchClient speaks the batch API of OpenRouter or OpenAI.
type batchClient struct {
	judge *Judge
	base  string // of the paths of batches
}

func (c *batchClient) inline() bool { return c.judge.config.Kind == KindOpenRouter }

// mostLines is how many requests a batch may have.
func (c *Config) mostLines() int {
	most := maxLinesOpenAI
	if c.Kind == KindOpenRouter {
		most = maxLinesOpenRouter
	}
	if c.batchLines > 0 {
		most = min(most, c.batchLines)
	}
	return most
}

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
	OutputFile label `json:"output_file_id"`
	ErrorFile  label `json:"error_file_id"`
	Metadata   map[string]label

	listed int // results that came with it
}

// ended reports whether nothing will change any more.
func (o *batchObject) ended() bool {
	switch o.Status {
	case "completed", "expired", "failed", "cancelled", "canceled":
		return true
	}
	return false
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

// call makes one request, of length bytes, for about as many as are expected. take reads
// the body of a success. What failed may have been acted upon if billed is set.
func (c *batchClient) call(ctx context.Context, method, address, content string, body io.Reader, length, expected int64, take func(io.Reader) error) *failure {
	j := c.judge
	timeout := time.Duration((length+expected)/slowestTransfer) * time.Second
	if timeout += j.config.Timeout; j.config.Timeout == 0 {
		timeout += askingTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return &failure{class: classTransient, err: err}
	}
	q.ContentLength = length
	if content != "" {
		q.Header.Set("Content-Type", content)
	}
	j.sign(q)
	resp, err := j.http.Do(q)
	if err != nil {
		return &failure{class: classTransient, err: j.plain(err), billed: !neverSent(err)}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 3:
		f := &failure{status: resp.StatusCode, err: fmt.Errorf("status %d: a redirect to %s", resp.StatusCode, resp.Header.Get("Location"))}
		j.stopping(f, judge.StopMoved)
		return f
	case resp.StatusCode/100 != 2:
		return c.refused(resp)
	}
	if err := take(resp.Body); err != nil {
		return &failure{class: classTransient, status: resp.StatusCode, err: j.plain(err), billed: true}
	}
	return nil
}

// refused is the failure of a response that is an error.
func (c *batchClient) refused(resp *http.Response) *failure {
	j := c.judge
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
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

// find looks where the service has its batches. One that cannot list them is sent none:
// an answer that is lost could not be found again.
func (c *batchClient) find(ctx context.Context) *failure {
	base := c.judge.config.BaseURL
	places := []string{base}
	if rest, ok := strings.CutSuffix(base, "/v1"); ok && c.inline() {
		places = append(places, rest+"/beta") // where they were at first
	}
	var last *failure
	for _, place := range places {
		c.base = place
		if _, last = c.page(ctx, "", 1); last == nil || last.class != classRow {
			return last
		}
	}
	return last
}

// page is a part of the listing, newest first, that begins after a batch.
func (c *batchClient) page(ctx context.Context, after string, limit int) (page struct {
	Data    []batchObject
	HasMore bool `json:"has_more"`
}, f *failure,
) {
	address := fmt.Sprintf("%s/batches?limit=%d", c.base, limit)
	if after != "" {
		address += "&after=" + url.QueryEscape(after)
	}
	f = c.call(ctx, http.MethodGet, address, "", nil, 0, 0, func(r io.Reader) error {
		return decodeInto(r, &page)
	})
	return page, f
}

// get is a batch as it is now. Its results, if they come with it, are in the file, one a line.
func (c *batchClient) get(ctx context.Context, id string, questions int64, results *disk.File) (o *batchObject, f *failure) {
	f = c.call(ctx, http.MethodGet, c.base+"/batches/"+url.PathEscape(id), "", nil, 0, questions*resultBytes, func(r io.Reader) (err error) {
		if o, err = readBatch(r, results); err == nil && o.Status == "" {
			err = errors.New("a batch without a status")
		}
		if err != nil {
			err = fmt.Errorf("batch %s: %w", id, err)
		}
		return err
	})
	return o, f
}

// empty empties a file.
func empty(file *disk.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// readBatch reads a batch, and puts the results that come with it into a file, one a line.
func readBatch(r io.Reader, results *disk.File) (*batchObject, error) {
	var said struct {
		batchObject
		Results json.RawMessage
	}
	if err := lenient(json.NewDecoder(r).Decode(&said)); err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if said.Results != nil && json.Unmarshal(said.Results, &list) != nil {
		return nil, errors.New("the results of the batch are no list")
	}
	said.listed = len(list)
	if err := empty(results); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(results, 1<<16)
	var line bytes.Buffer
	for _, raw := range list {
		line.Reset()
		if err := json.Compact(&line, raw); err != nil {
			return nil, err
		}
		w.Write(append(line.Bytes(), '\n'))
	}
	return &said.batchObject, w.Flush()
}

// results brings the results of a batch that has ended into the file, one a line. ok is false
// if they are not there yet.
func (c *batchClient) results(ctx context.Context, o *batchObject, questions int64, file *disk.File) (ok bool, f *failure) {
	if c.inline() {
		return o.listed > 0 || o.Counts.Completed == 0, nil
	}
	if o.OutputFile == "" && o.Counts.Completed > 0 {
		return false, nil
	}
	if err := empty(file); err != nil {
		return false, &failure{class: classTransient, err: err}
	}
	for _, id := range []label{o.OutputFile, o.ErrorFile} {
		if id == "" {
			continue
		}
		f = c.call(ctx, http.MethodGet, c.base+"/files/"+url.PathEscape(string(id))+"/content", "", nil, 0, questions*resultBytes, func(r io.Reader) error {
			if _, err := io.Copy(file, r); err != nil {
				return err
			}
			_, err := io.WriteString(file, "\n")
			return err
		})
		if f != nil && (f.class != classRow || id == o.OutputFile) { // without the errors, their lines have no result
			return false, f
		}
	}
	return true, nil
}

// scanLines reads results, one a line. A line of no use must not lose the others.
func scanLines(file *disk.File, line func(*batchResult) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(file, 1<<16)
	for {
		raw, err := r.ReadBytes('\n')
		var result batchResult
		if len(bytes.TrimSpace(raw)) > 0 && lenient(json.Unmarshal(raw, &result)) == nil {
			if err := line(&result); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// appendRequest appends a request as a line of a batch.
func (c *batchClient) appendRequest(b []byte, key cache.Key, body []byte, first bool) []byte {
	if c.inline() && !first {
		b = append(b, ',')
	}
	b = append(append(append(b, `{"custom_id":"`...), key.String()...), '"')
	if !c.inline() {
		b = append(b, `,"method":"POST","url":"`+chatEndpoint+`"`...)
	}
	return append(append(append(b, `,"body":`...), body...), "}\n"...)
}

// upload brings the requests of a batch where nothing is charged for them yet, and
// returns the name of the file; "" where requests go inline.
func (c *batchClient) upload(ctx context.Context, requests *disk.File, size int64, token cache.Key) (name string, f *failure) {
	if c.inline() {
		return "", nil
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if err := form.WriteField("purpose", "batch"); err != nil {
		return "", &failure{class: classTransient, err: err}
	}
	if _, err := form.CreateFormFile("file", "ibid-"+token.String()[:12]+".jsonl"); err != nil {
		return "", &failure{class: classTransient, err: err}
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	length := int64(head.Len()) + size + int64(len(tail))
	var said struct{ ID label }
	f = c.call(ctx, http.MethodPost, c.base+"/files", form.FormDataContentType(), io.MultiReader(&head, io.LimitReader(requests, size), strings.NewReader(tail)), length, 0,
		func(r io.Reader) error { return decodeInto(r, &said) })
	if f == nil && said.ID == "" {
		f = &failure{class: classTransient, err: errors.New("an uploaded file without an id")}
	}
	return string(said.ID), f
}

// submit sends a batch off.
func (c *batchClient) submit(ctx context.Context, model string, requests *disk.File, size int64, uploaded string, token cache.Key) (o *batchObject, f *failure) {
	o = &batchObject{}
	var body io.Reader
	var length int64
	if c.inline() {
		head := `{"endpoint":"` + chatEndpoint + `","model":` + string(quoted(model)) + `,"requests":[`
		const tail = "]}"
		body = io.MultiReader(strings.NewReader(head), io.LimitReader(requests, size), strings.NewReader(tail))
		length = int64(len(head)+len(tail)) + size
	} else {
		text := `{"input_file_id":` + string(quoted(uploaded)) + `,"endpoint":"` + chatEndpoint + `","completion_window":"24h","metadata":{"` +
			batchMetadata + `":"` + token.String() + `"}}`
		body, length = strings.NewReader(text), int64(len(text))
	}
	f = c.call(ctx, http.MethodPost, c.base+"/batches", "application/json", body, length, 0, func(r io.Reader) error { return decodeInto(r, o) })
	if f == nil && o.ID == "" {
		f = &failure{class: classTransient, err: errors.New("a batch without an id"), billed: true}
	}
	return o, f
}

// decodeInto reads one JSON document of moderate size.
func decodeInto(r io.Reader, v any) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxListing))
	if err != nil {
		return err
	}
	return lenient(json.Unmarshal(raw, v))
}
