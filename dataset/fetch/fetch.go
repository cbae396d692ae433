// Package fetch gets the pages that answers cite, for those who want them: the one
// place of ibid that asks other people's servers for anything. A run never does.
//
// It asks for http and https only, and for public addresses only; it keeps to
// robots.txt and to a rate for each host, and to limits of time and size. Whatever
// comes back is kept in an [Archive] with its date and status, so that the same
// bytes are read again later.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/documents"
	"ibid/metrics/presence"
)

// Options of fetching. All but AllowPrivate must be set.
type Options struct {
	Agent    string        // who asks, as servers read it
	Delay    time.Duration // between requests to one host; a robots.txt may ask for more
	Timeout  time.Duration // of one request, its body included
	MaxBytes int64         // of one body
	Hosts    int           // asked at the same time

	// Again says whether a page that was asked for before is asked for again; nil for
	// none.
	Again func(*dataset.Fetched) bool

	// AllowPrivate allows addresses of this machine and its network. It is for tests.
	AllowPrivate bool

	Now      func() time.Time      // nil = time.Now
	Progress func(done, all int)   // called from one goroutine at a time; may be nil
	Done     func(dataset.Fetched) // a page was asked for; as Progress

	allowed  func(netip.Addr) error // of tests
	resolver *net.Resolver          // of tests
}

// Cited collects the URLs that answers cite.
type Cited struct {
	Names []string // as cited, in the order of the answers, each once
	seen  map[string]bool
}

// Add adds the URLs of an answer: its citations, its truth, and what its text and
// its assistant's messages name. Documents whose text the answer brings along are
// left out.
func (c *Cited) Add(a *ibid.Answer) {
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	brought := func(name string) bool {
		return slices.ContainsFunc(a.Documents, func(d ibid.Document) bool {
			return d.Doc == name && !d.Partial && !d.NameOnly()
		})
	}
	add := func(name string) {
		if isWeb(name) && !c.seen[name] && !brought(name) {
			name = strings.Clone(name)
			c.seen[name] = true
			c.Names = append(c.Names, name)
		}
	}
	for i := range a.Citations {
		add(a.Citations[i].Doc)
	}
	for i := range a.Truth {
		add(a.Truth[i].Doc)
	}
	inText := func(text string) {
		for _, r := range presence.References(text) {
			if r.Kind == presence.URL {
				add(r.Text)
			}
		}
	}
	inText(a.Answer)
	for i := range a.Messages {
		if a.Messages[i].Role == "assistant" {
			inText(a.Messages[i].Content)
		}
	}
}

func isWeb(name string) bool {
	for _, start := range []string{"http://", "https://", "www."} {
		if len(name) > len(start) && strings.EqualFold(name[:len(start)], start) {
			return true
		}
	}
	return false
}

// address is the URL that a name stands for, without its fragment.
func address(name string) (*url.URL, error) {
	if strings.EqualFold(name[:4], "www.") {
		name = "http://" + name
	}
	u, err := url.Parse(strings.TrimSpace(name))
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return nil, &refusal{err.Error()}
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return checkURL(u)
}

// addressOf is what the archive calls the page of a name.
func addressOf(name string) string {
	if u, err := address(name); err == nil {
		return u.String()
	}
	return name
}

// A fetcher is one call of [Fetch].
type fetcher struct {
	Options
	archive *Archive
	hosts   hosts

	mu   sync.Mutex      // of done, and while Done and Progress are called
	done map[string]bool // pages that this call has asked for, by URL
}

// Fetch asks for the pages of the names that are not in the archive, and keeps what
// comes back. It returns how many it asked for. What a page answers is no error;
// one is the context's, or the disk's, and what was fetched until then is kept.
func Fetch(ctx context.Context, archive *Archive, names []string, o Options) (int, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &fetcher{Options: o, archive: archive, done: make(map[string]bool)}
	f.hosts = hosts{client: newClient(&o), delay: o.Delay, known: make(map[string]*host)}
	defer f.hosts.client.http.CloseIdleConnections()

	// Pages of one host wait for each other; hosts do not.
	byHost := make(map[string][]*url.URL)
	var order []string
	wanted := make(map[string]bool)
	all := 0
	for _, name := range names {
		u, err := address(name)
		key := name
		if err == nil {
			key = u.String()
		}
		old, known := archive.Record(key)
		if wanted[key] || known && (o.Again == nil || !o.Again(&old)) {
			continue
		}
		wanted[key] = true
		if err != nil {
			record := dataset.Fetched{URL: key, State: dataset.FetchRefused, Problem: err.Error(), Time: f.now()}
			if err := archive.add(record, nil); err != nil {
				return 0, err
			}
			continue
		}
		all++
		if byHost[u.Host] == nil {
			order = append(order, u.Host)
		}
		byHost[u.Host] = append(byHost[u.Host], u)
	}
	asked := 0
	tell := func(r dataset.Fetched) {
		f.mu.Lock()
		defer f.mu.Unlock()
		asked++
		if o.Done != nil {
			o.Done(r)
		}
		if o.Progress != nil {
			o.Progress(asked, all)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Hosts))
	for _, host := range order {
		group.Go(func() error {
			for _, u := range byHost[host] {
				if f.isDone(u.String()) {
					continue
				}
				r, body := f.page(ctx, u)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := f.keep(r, body); err != nil {
					return err
				}
				tell(r)
			}
			return nil
		})
	}
	err := group.Wait()
	return asked, err
}

func (f *fetcher) now() time.Time { return f.Now().UTC().Truncate(time.Second) }

// keep records a page under its own name, and under the one that it redirected to.
func (f *fetcher) keep(r dataset.Fetched, body []byte) error {
	f.mu.Lock()
	f.done[r.URL] = true
	f.mu.Unlock()
	if err := f.archive.add(r, body); err != nil || r.Final == "" || body == nil {
		return err
	}
	r.URL, r.Final = r.Final, ""
	return f.keep(r, body)
}

func (f *fetcher) isDone(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done[url]
}

// have returns what the archive has of a page that need not be asked for.
func (f *fetcher) have(url string) (r dataset.Fetched, ok bool) {
	r, ok = f.archive.Record(url)
	return r, ok && r.State == dataset.FetchOK && (f.isDone(url) || f.Again == nil || !f.Again(&r))
}

// page asks for one page and for those that it redirects to.
func (f *fetcher) page(ctx context.Context, u *url.URL) (r dataset.Fetched, body []byte) {
	r = dataset.Fetched{URL: u.String(), Time: f.now()}
	at := u
	for hop := 0; ; hop++ {
		if hop > mostRedirects {
			r.State, r.Problem = dataset.FetchFailed, fmt.Sprintf("over %d redirects", mostRedirects)
			return r, nil
		}
		reason, err := f.hosts.allows(ctx, at)
		if err != nil {
			return failed(r, err), nil
		}
		if reason != "" {
			r.State, r.Status, r.Problem = dataset.FetchDenied, 0, reason
			return r, nil
		}
		got, err := f.patient(ctx, at)
		if got != nil {
			r.Status, r.ContentType = got.status, got.contentType
		}
		if err != nil {
			return failed(r, err), nil
		}
		next, redirects, err := got.redirect(at)
		if err != nil {
			r.Status = 0
			return failed(r, err), nil
		}
		if redirects {
			if at, r.Final = next, next.String(); r.Final == r.URL {
				r.Final = ""
			}
			if known, ok := f.have(next.String()); ok && r.Final != "" {
				known.URL, known.Final = r.URL, r.Final
				return known, nil
			}
			continue
		}
		return answered(r, got), got.body
	}
}

// How long a server that is busy may ask us to wait, and how long we do if it does
// not say.
const (
	longestWait = 30 * time.Second
	usualWait   = 2 * time.Second
)

// patient asks once more if the server is busy.
func (f *fetcher) patient(ctx context.Context, u *url.URL) (*response, error) {
	for try := 0; ; try++ {
		r, err := f.hosts.ask(ctx, u, f.MaxBytes, func(r *response) bool { return isGood(r.status) && mayBeRead(r.contentType) })
		busy := r != nil && (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable)
		if err != nil || !busy || try > 0 || r.retryAfter > longestWait {
			return r, err
		}
		select {
		case <-time.After(max(r.retryAfter, usualWait)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func isGood(status int) bool { return status >= 200 && status < 300 }

// mayBeRead says by the media type whether a body can have text: whatever it is
// called, unless it is called something else than text.
func mayBeRead(contentType string) bool {
	return documents.KindOf(contentType, []byte("any text")) != documents.Unreadable
}

// answered says what a response without a redirect means.
func answered(r dataset.Fetched, got *response) dataset.Fetched {
	switch {
	case isGood(got.status) && got.body == nil:
		r.State, r.Problem = dataset.FetchUnreadable, fmt.Sprintf("%s has no text", got.contentType)
	case isGood(got.status):
		r.State = dataset.FetchOK
	case got.status == http.StatusNotFound || got.status == http.StatusGone:
		r.State, r.Problem = dataset.FetchDead, fmt.Sprintf("HTTP %d", got.status)
	case got.status >= 400 && got.status < 500 && got.status != http.StatusTooManyRequests && got.status != http.StatusRequestTimeout:
		r.State, r.Problem = dataset.FetchDenied, fmt.Sprintf("HTTP %d", got.status)
	default:
		r.State, r.Problem = dataset.FetchFailed, fmt.Sprintf("HTTP %d", got.status)
	}
	return r
}

// failed says what an error without an answer means.
func failed(r dataset.Fetched, err error) dataset.Fetched {
	var no *refusal
	var dns *net.DNSError
	switch r.State, r.Problem = dataset.FetchFailed, err.Error(); {
	case errors.As(err, &no):
		r.State = dataset.FetchRefused
	case errors.As(err, &dns) && dns.IsNotFound:
		r.State, r.Problem = dataset.FetchDead, "no such host"
	}
	return r
}
