package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// A client asks servers. It follows no redirect by itself, keeps no cookies, uses
// no proxy, and checks every address when it connects, so that no name can lead it
// elsewhere than where it was allowed to go.
type client struct {
	http    http.Client
	agent   string
	timeout time.Duration
	most    int64
}

// A refusal is a page that is not asked for.
type refusal struct{ reason string }

func (e *refusal) Error() string { return e.reason }

func newClient(o *Options) *client {
	allowed := o.allowed
	if allowed == nil {
		allowed = checkPublic
	}
	if o.AllowPrivate {
		allowed = func(netip.Addr) error { return nil }
	}
	dialer := &net.Dialer{
		Timeout: o.Timeout, Resolver: o.resolver,
		// The address is the one that the connection goes to, after every lookup.
		Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err == nil {
				err = allowed(at.Addr())
			}
			if err != nil {
				return &refusal{err.Error()}
			}
			return nil
		},
	}
	return &client{
		http: http.Client{
			Transport: &http.Transport{
				DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
				MaxResponseHeaderBytes: 256 << 10, MaxIdleConns: 64, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		agent: o.Agent, timeout: o.Timeout, most: o.MaxBytes,
	}
}

// A response is what one request brought.
type response struct {
	status      int
	contentType string
	location    string        // of a redirect
	retryAfter  time.Duration // that the server asks for
	body        []byte
}

// errTooLarge is the error of a body that is over the limit.
type errTooLarge struct{ most int64 }

func (e errTooLarge) Error() string { return fmt.Sprintf("over %d bytes", e.most) }

// get asks for one page, within the limits of time and size. wanted says whether
// the body is to be read.
func (c *client) get(ctx context.Context, u *url.URL, most int64, wanted func(*response) bool) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &refusal{err.Error()}
	}
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5")
	r, err := c.http.Do(req)
	if err != nil {
		return nil, c.plain(ctx, err)
	}
	defer r.Body.Close()
	out := &response{status: r.StatusCode, contentType: r.Header.Get("Content-Type"), location: r.Header.Get("Location")}
	if s, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && s >= 0 {
		out.retryAfter = time.Duration(min(s, 3600)) * time.Second
	}
	if !wanted(out) {
		return out, nil
	}
	if r.ContentLength > most {
		return out, errTooLarge{most}
	}
	out.body, err = io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return out, c.plain(ctx, err)
	}
	if int64(len(out.body)) > most {
		out.body = nil
		return out, errTooLarge{most}
	}
	return out, nil
}

// plain is an error of the network without the request around it.
func (c *client) plain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("not there after %v", c.timeout)
	}
	var no *refusal
	if errors.As(err, &no) {
		return no
	}
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
