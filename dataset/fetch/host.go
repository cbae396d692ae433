package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/time/rate"
)

// hosts are the servers that were asked so far.
type hosts struct {
	client *client
	delay  time.Duration

	mu    sync.Mutex
	known map[string]*host
}

// A host is one server: scheme, name and port. It is asked for one page at a time,
// at most one in so much time.
type host struct {
	limiter *rate.Limiter

	mu    sync.Mutex // of what follows
	rules *robotstxt.RobotsData
	err   error // why there are none
	read  bool
}

const (
	robotsName    = "ibid" // as robots.txt calls us
	mostRobots    = 512 << 10
	longestPause  = time.Minute // that a robots.txt may ask for between pages
	mostRedirects = 10
)

func (h *hosts) of(u *url.URL) *host {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := u.Scheme + "://" + u.Host
	one := h.known[key]
	if one == nil {
		one = &host{limiter: rate.NewLimiter(every(h.delay), 1)}
		h.known[key] = one
	}
	return one
}

func every(d time.Duration) rate.Limit {
	if d <= 0 {
		return rate.Inf
	}
	return rate.Every(d)
}

// ask waits until the host of u may be asked and asks it.
func (h *hosts) ask(ctx context.Context, u *url.URL, most int64, wanted func(*response) bool) (*response, error) {
	if err := h.of(u).limiter.Wait(ctx); err != nil {
		return nil, err
	}
	return h.client.get(ctx, u, most, wanted)
}

// allows reports whether the robots.txt of the host lets us have u. Without one
// everything is allowed; if the server cannot say, nothing is.
//
// Source: RFC 9309.
func (h *hosts) allows(ctx context.Context, u *url.URL) (reason string, err error) {
	one := h.of(u)
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.read {
		rules, err := h.robots(ctx, u)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		one.rules, one.err, one.read = rules, err, true
	}
	if one.err != nil {
		return "", one.err
	}
	group := one.rules.FindGroup(robotsName)
	if group.CrawlDelay > longestPause {
		return fmt.Sprintf("robots.txt asks for %v between pages", group.CrawlDelay), nil
	}
	if group.CrawlDelay > h.delay {
		one.limiter.SetLimit(every(group.CrawlDelay))
	}
	if !one.rules.TestAgent(u.RequestURI(), robotsName) {
		return "robots.txt does not allow it", nil
	}
	return "", nil
}

// robots reads the rules of the host of u.
func (h *hosts) robots(ctx context.Context, u *url.URL) (*robotstxt.RobotsData, error) {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	for range 5 {
		r, err := h.ask(ctx, at, mostRobots, func(r *response) bool { return r.status == http.StatusOK })
		if _, large := err.(errTooLarge); large {
			return nil, fmt.Errorf("robots.txt: %w", err)
		}
		if err != nil {
			return nil, err
		}
		next, redirects, err := r.redirect(at)
		if err != nil {
			return nil, fmt.Errorf("robots.txt: %w", err)
		}
		if !redirects {
			if r.status >= 300 && r.status < 400 {
				r.status = http.StatusNotFound
			}
			rules, err := robotstxt.FromStatusAndBytes(r.status, r.body)
			if err != nil {
				return nil, fmt.Errorf("robots.txt: %w", err)
			}
			return rules, nil
		}
		at = next
	}
	return robotstxt.FromStatusAndBytes(http.StatusNotFound, nil)
}

// redirect is where a response to a request for u leads.
func (r *response) redirect(u *url.URL) (to *url.URL, redirects bool, err error) {
	switch r.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, false, nil
	}
	if r.location == "" {
		return nil, false, nil
	}
	to, err = u.Parse(r.location)
	if err != nil {
		return nil, false, &refusal{fmt.Sprintf("redirected to %q, which is no URL", r.location)}
	}
	to, err = checkURL(to)
	return to, err == nil, err
}

// checkURL returns u without its fragment. It refuses what is not a page of the
// web.
func checkURL(u *url.URL) (*url.URL, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, &refusal{fmt.Sprintf("scheme %q is neither http nor https", u.Scheme)}
	case u.Hostname() == "":
		return nil, &refusal{"it names no host"}
	case u.User != nil:
		return nil, &refusal{"it holds a user name"}
	}
	clean := *u
	clean.Fragment, clean.RawFragment = "", ""
	if clean.Path == "" {
		clean.Path = "/"
	}
	return &clean, nil
}
