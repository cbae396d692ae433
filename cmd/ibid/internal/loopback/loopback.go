// Package loopback serves pages to the browser of the person at this machine, and to
// nobody else: it listens on 127.0.0.1, every address begins with a secret word, and
// requests that name another host or come from another site are refused.
package loopback

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxBody is the most that a request may carry, in bytes; a handler that reads on
	// gets an error.
	MaxBody = 16 << 20

	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	grace  = 5 * time.Second // for requests under way when the server ends
)

// A Server has a port of its own and a token. Serve must be called once.
type Server struct {
	listener net.Listener
	token    string
}

// Listen opens the port on 127.0.0.1; 0 = one that is free. A port that is taken or
// that does not exist is an error.
func Listen(port int) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("port %d cannot be used: %w", port, err)
	}
	return &Server{listener: listener, token: rand.Text()}, nil
}

// Reopen listens at an address that URL of a server that has ended gave, so that pages that
// are open go on.
func Reopen(url string) (*Server, error) {
	var port int
	var token string
	if n, err := fmt.Sscanf(strings.TrimSuffix(url, "/"), "http://127.0.0.1:%d/%s", &port, &token); err != nil || n != 2 || port <= 0 || len(token) < 26 {
		return nil, fmt.Errorf("%q is no address of a page", url)
	}
	s, err := Listen(port)
	if err == nil {
		s.token = token
	}
	return s, err
}

// URL is the address to open, with its token; it ends with a slash.
func (s *Server) URL() string { return "http://" + s.host() + "/" + s.token + "/" }

func (s *Server) host() string { return s.listener.Addr().String() }

// Serve answers requests by pages until ctx ends, then waits a few seconds for those
// under way. Pages sees paths without the token: the address of URL is "/" to it. It
// sends the policy of a page that loads scripts, styles and data from this server alone;
// a page with a policy of its own (a `meta` element) is bound by both, and a handler may
// set another Content-Security-Policy. Serve returns nil when ctx ended it.
func (s *Server) Serve(ctx context.Context, pages http.Handler) error {
	server := &http.Server{
		Handler:           s.guard(pages),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if ended <- server.Shutdown(last); last.Err() != nil {
			server.Close()
		}
	})
	err := server.Serve(s.listener)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// guard refuses what does not come from a page of this server or from the address bar.
// A name that somebody points at 127.0.0.1 is another Host; a page of another site sends
// its Origin with every request that can change something.
func (s *Server) guard(pages http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(s.host())
	prefix := "/" + s.token + "/"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the address is a secret
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")

		changes := r.Method != http.MethodGet && r.Method != http.MethodHead
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		switch {
		case r.Host != "127.0.0.1:"+port && r.Host != "localhost:"+port:
			http.Error(w, "this server answers to 127.0.0.1 alone", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host, changes && origin == "", site == "cross-site" || site == "same-site":
			http.Error(w, "this server answers to its own pages alone", http.StatusForbidden)
		case len(r.URL.Path) < len(prefix) || subtle.ConstantTimeCompare([]byte(r.URL.Path[:len(prefix)]), []byte(prefix)) == 0:
			http.Error(w, "open the whole address that was printed, with its token", http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
			http.StripPrefix(strings.TrimSuffix(prefix, "/"), pages).ServeHTTP(w, r)
		}
	})
}
