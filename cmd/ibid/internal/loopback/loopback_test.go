package loopback

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serve starts a server that says which path and body it was asked with.
func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- s.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			io.WriteString(w, r.URL.Path+" "+string(body))
		}))
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// TestGuard: who comes with the whole address from this machine's browser is answered,
// everybody else is refused.
func TestGuard(t *testing.T) {
	s := serve(t)
	own := "http://" + s.host()
	for _, c := range []struct {
		name, method, path, host, origin, site, body string
		status                                       int
	}{
		{name: "address bar", method: "GET", path: "/TOKEN/", site: "none", status: 200},
		{name: "own page", method: "GET", path: "/TOKEN/row/7", site: "same-origin", status: 200},
		{name: "own page sends", method: "POST", path: "/TOKEN/acts", origin: own, site: "same-origin", body: "act", status: 200},
		{name: "localhost", method: "GET", path: "/TOKEN/", host: "localhost:PORT", status: 200},
		{name: "no token", method: "GET", path: "/", status: 403},
		{name: "wrong token", method: "GET", path: "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", status: 403},
		{name: "token without slash", method: "GET", path: "/TOKEN", status: 403},
		{name: "token with more", method: "GET", path: "/TOKENx/", status: 403},
		{name: "a name that leads here", method: "GET", path: "/TOKEN/", host: "evil.example:PORT", status: 421},
		{name: "another port", method: "GET", path: "/TOKEN/", host: "127.0.0.1:1", status: 421},
		{name: "no port", method: "GET", path: "/TOKEN/", host: "127.0.0.1", status: 421},
		{name: "another site sends", method: "POST", path: "/TOKEN/acts", origin: "http://evil.example", status: 403},
		{name: "another site reads", method: "GET", path: "/TOKEN/", origin: "http://evil.example", status: 403},
		{name: "a sandbox", method: "POST", path: "/TOKEN/acts", origin: "null", status: 403},
		{name: "another port's page", method: "POST", path: "/TOKEN/acts", origin: "http://127.0.0.1:1", status: 403},
		{name: "other name of this host", method: "POST", path: "/TOKEN/acts", origin: "http://localhost:PORT", status: 403},
		{name: "sent without an origin", method: "POST", path: "/TOKEN/acts", status: 403},
		{name: "a link of another site", method: "GET", path: "/TOKEN/", site: "cross-site", status: 403},
		{name: "another port of this machine", method: "GET", path: "/TOKEN/", site: "same-site", status: 403},
		{name: "too long", method: "POST", path: "/TOKEN/acts", origin: own, body: strings.Repeat("x", MaxBody+1), status: 413},
	} {
		_, port, _ := net.SplitHostPort(s.host())
		fill := strings.NewReplacer("TOKEN", s.token, "PORT", port).Replace
		r, err := http.NewRequest(c.method, own+fill(c.path), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			r.Host = fill(c.host)
		}
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, fill(value))
			}
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, response.StatusCode, c.status, body)
		}
		if want := strings.TrimPrefix(c.path, "/TOKEN") + " " + c.body; c.status == http.StatusOK && string(body) != want {
			t.Errorf("%s: the handler saw %q, want %q", c.name, body, want)
		}
		if strings.Contains(string(body), s.token) {
			t.Errorf("%s: the token is told", c.name)
		}
		if got := response.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s: policy %q", c.name, got)
		}
	}
}

// TestListen: only this machine reaches the server, two of them do not share a port or a
// token, and requests under way are answered when it ends.
func TestListen(t *testing.T) {
	s := serve(t)
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") || len(s.token) < 20 {
		t.Errorf("address %s", s.URL())
	}
	_, err := Listen(s.listener.Addr().(*net.TCPAddr).Port)
	if err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("a port that is taken: %v", err)
	}
	if _, err := Listen(70000); err == nil {
		t.Error("port 70000 was opened")
	}
	if other := serve(t); other.token == s.token {
		t.Error("two servers have one token")
	}

	ends, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, done, answer := make(chan bool), make(chan error), make(chan string)
	go func() {
		done <- ends.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond)
			io.WriteString(w, "whole")
		}))
	}()
	go func() {
		response, err := http.Get(ends.URL())
		if err != nil {
			answer <- err.Error()
			return
		}
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-begun
	cancel()
	if got := <-answer; got != "whole" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
