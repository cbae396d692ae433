package openrouter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxResponse bounds the body of a response in bytes.
const maxResponse = 8 << 20

// An exchange is one call as it went over the wire: what to send goes in, what
// came back and what the client library loses of it comes out.
type exchange struct {
	body []byte // to send

	status   int // of HTTP; 0 if no response came
	header   http.Header
	raw      []byte // body of the response
	envelope envelope
	err      error // why there is no whole response
}

// exchangeKey finds the exchange of a call in its context.
type exchangeKey struct{}

// A doer stands between the client library and HTTP. It sends the body of the
// exchange in place of the library's, which would drop a temperature of zero
// and fields it does not know. It reads responses to their end, so that the
// connection can be used again, and takes nothing but one whole JSON document.
// An error within a response of status 200 becomes a response of the error's
// status, so that the library, too, sees an error.
type doer struct{ client *http.Client }

// Do sends one request.
func (d *doer) Do(q *http.Request) (*http.Response, error) {
	x, ok := q.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("a call without an exchange")
	}
	q.Body = io.NopCloser(bytes.NewReader(x.body))
	q.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	q.ContentLength = int64(len(x.body))
	resp, err := d.client.Do(q)
	if err != nil {
		x.err = err
		return nil, err
	}
	defer resp.Body.Close()
	x.status, x.header = resp.StatusCode, resp.Header
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	x.raw = raw
	switch {
	case err != nil:
		x.err = fmt.Errorf("reading the response: %w", err)
		return nil, x.err
	case len(raw) > maxResponse:
		x.err = fmt.Errorf("a response of more than %d bytes", maxResponse)
		return nil, x.err
	}
	if err := x.envelope.read(raw); err != nil && resp.StatusCode == http.StatusOK {
		x.err = err
		return nil, err
	}
	if e := x.envelope.failure(); e != nil && resp.StatusCode < http.StatusBadRequest {
		resp.StatusCode = e.status()
		resp.Status = fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
		// The library shall see the error whichever of its shapes it had.
		if raw, err = json.Marshal(map[string]any{"error": map[string]any{"message": e.text(), "code": resp.StatusCode}}); err != nil {
			return nil, err
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	resp.ContentLength = int64(len(raw))
	return resp, nil
}

// withExchange is ctx for one call.
func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}
