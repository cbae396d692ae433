package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ibid"
)

// web is a store of what web servers hand out; keys are addresses.
type web struct{}

// A statusError is the status of a reply that is no success.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("status %d", int(s)) }

func (web) do(ctx context.Context, method, address string, set func(http.Header)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, errors.New("is no address")
	}
	r.Header.Set("Accept-Encoding", "identity") // offsets are those of the file
	set(r.Header)
	return http.DefaultClient.Do(r)
}

func infoOfReply(address string, r *http.Response, size int64) info {
	i := info{key: address, size: size, etag: strings.ReplaceAll(r.Header.Get("ETag"), `"`, "")}
	i.modified, _ = http.ParseTime(r.Header.Get("Last-Modified")) // the zero time if it does not say
	return i
}

func (w web) head(ctx context.Context, address string) (info, error) {
	r, err := w.do(ctx, http.MethodHead, address, func(http.Header) {})
	if err != nil {
		return info{}, err
	}
	r.Body.Close() // it has none
	if r.StatusCode != http.StatusOK {
		return info{}, statusError(r.StatusCode)
	}
	i := infoOfReply(address, r, r.ContentLength)
	if i.size < 0 || i.version() == "" {
		return info{}, &ibid.Error{File: address, Err: errors.New("the server says neither size nor version of the file"), Hint: "download it and give the file"}
	}
	return i, nil
}

func (w web) get(ctx context.Context, of info, from, to int64) (io.ReadCloser, error) {
	r, err := w.do(ctx, http.MethodGet, of.key, func(h http.Header) {
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to-1))
		if of.etag != "" && !strings.HasPrefix(of.etag, "W/") {
			h.Set("If-Match", `"`+of.etag+`"`)
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.StatusCode == http.StatusPartialContent:
		var first, last, size int64
		n, _ := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size)
		if n == 3 && first == from && last == to-1 && size == of.size && infoOfReply(of.key, r, size).version() == of.version() {
			return r.Body, nil
		}
		err = ErrChanged
	case r.StatusCode == http.StatusOK:
		err = &ibid.Error{File: of.key, Err: errors.New("the server hands out whole files alone"), Hint: "download it and give the file"}
	case r.StatusCode == http.StatusPreconditionFailed, r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		err = ErrChanged
	default:
		err = statusError(r.StatusCode)
	}
	r.Body.Close() // nothing of it is used
	return nil, err
}

func (web) list(context.Context, string) ([]info, error) { return nil, errors.ErrUnsupported }
