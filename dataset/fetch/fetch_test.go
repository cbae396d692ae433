package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/text/encoding/japanese"

	"ibid"
	"ibid/dataset"
)

// options are those of most tests: the server is on loopback.
func options() Options {
	return Options{Agent: "ibid/test", Timeout: 5 * time.Second, MaxBytes: 1 << 20, Hosts: 4, AllowPrivate: true}
}

// A site counts what it is asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, handlers map[string]http.HandlerFunc) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		h, ok := handlers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// count is how often a path was asked for.
func (s *site) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.asked), func(p string) bool { return p != path }))
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	}
}

func leads(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusMovedPermanently) }
}

// fetchAll fetches names into a new archive and returns the records and the
// documents.
func fetchAll(t *testing.T, dir string, o Options, names ...string) (map[string]dataset.Fetched, map[string]ibid.Document, int) {
	t.Helper()
	a, err := OpenArchive(filepath.Join(dir, "archive"))
	check(t, err)
	defer a.Close()
	n, err := Fetch(t.Context(), a, names, o)
	check(t, err)
	path := filepath.Join(dir, "sources.parquet")
	w, err := dataset.NewDocumentWriter(path)
	check(t, err)
	check(t, WriteSources(t.Context(), a, names, w, func(Source) {}))
	check(t, w.Close())
	src, err := dataset.OpenDocuments(path, dataset.ReadOptions{})
	check(t, err)
	records, err := src.Fetched(t.Context())
	check(t, err)
	docs := make(map[string]ibid.Document)
	check(t, src.Read(t.Context(), func(d *ibid.Document) error {
		c := *d
		c.Doc, c.Title, c.Text, c.Pages = strings.Clone(d.Doc), strings.Clone(d.Title), strings.Clone(d.Text), slices.Clone(d.Pages)
		docs[c.Doc] = c
		return nil
	}))
	return records, docs, n
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFetch(t *testing.T) {
	pdf, err := os.ReadFile(filepath.Join("..", "documents", "testdata", "cairo.pdf"))
	check(t, err)
	japan, err := japanese.ShiftJIS.NewEncoder().String("灯台は百年前に建てられた。")
	check(t, err)
	s := newSite(t, map[string]http.HandlerFunc{
		"/robots.txt": says("text/plain", "User-agent: *\nDisallow: /private/\n\nUser-agent: ibid\nDisallow: /for-others\nDisallow: /search?q=\n"),
		"/page":       says("text/html; charset=utf-8", "<html><head><title>A page</title></head><body><p>The tower was lit in 1531.</p></body></html>"),
		"/latin":      says("text/html; charset=iso-8859-1", "<html><body><p>Stra\xdfe und Gr\xf6\xdfe.</p></body></html>"),
		"/japan":      says("text/html", `<html><head><meta charset="shift_jis"></head><body><p>`+japan+`</p></body></html>`),
		"/notes":      says("text/plain", "As it is.\n  Yes.\n"),
		"/paper":      says("application/octet-stream", string(pdf)),
		"/picture":    says("image/png", "x"),
		"/scan":       says("application/pdf", "%PDF-1.4 nothing"),
		"/old":        leads("/older"),
		"/older":      leads("/page"),
		"/circle":     leads("/circle"),
		"/away":       leads("ftp://example.org/x"),
		"/forbidden":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"/broken":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"/slow": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"/endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("endless "), 1<<10)); err != nil {
					return
				}
			}
		},
		"/large": func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "999999999") },
		"/bomb": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(make([]byte, 64<<20))
			z.Close()
		},
	})
	tests := []struct {
		path    string
		state   dataset.FetchState
		status  int
		problem string
		text    string // holds
		final   string
		live    bool
	}{
		{path: "/page", state: "ok", status: 200, text: "The tower was lit in 1531.", live: true},
		{path: "/page#part", state: "ok", status: 200, text: "The tower was lit in 1531.", live: true},
		{path: "/latin", state: "ok", status: 200, text: "Straße und Größe.", live: true},
		{path: "/japan", state: "ok", status: 200, text: "灯台は百年前に建てられた。", live: true},
		{path: "/notes", state: "ok", status: 200, text: "As it is.\n  Yes.\n", live: true},
		{path: "/old", state: "ok", status: 200, text: "The tower was lit in 1531.", final: "/page", live: true},
		{path: "/picture", state: "unreadable", status: 200, problem: "image/png has no text", live: true},
		{path: "/scan", state: "unreadable", status: 200, problem: "PDF", live: true},
		{path: "/gone", state: "dead", status: 404, problem: "HTTP 404"},
		{path: "/forbidden", state: "denied", status: 403, problem: "HTTP 403"},
		{path: "/for-others", state: "denied", problem: "robots.txt does not allow it"},
		{path: "/search?q=x", state: "denied", problem: "robots.txt does not allow it"},
		{path: "/private/x", state: "dead", status: 404, problem: "HTTP 404"}, // allowed to us, who have rules of our own
		{path: "/broken", state: "failed", status: 500, problem: "HTTP 500"},
		{path: "/slow", state: "failed", status: 200, problem: "not there after 5s", live: true},
		{path: "/endless", state: "failed", status: 200, problem: "over 1048576 bytes", live: true},
		{path: "/large", state: "failed", status: 200, problem: "over 1048576 bytes", live: true},
		{path: "/bomb", state: "failed", status: 200, problem: "over 1048576 bytes", live: true},
		{path: "/circle", state: "failed", status: 301, problem: "over 10 redirects"},
		{path: "/away", state: "refused", problem: `scheme "ftp" is neither http nor https`},
	}
	var names []string
	for _, tt := range tests {
		names = append(names, s.URL+tt.path)
	}
	names = append(names, s.URL+"/paper", "http://user:secret@127.0.0.1/", "http://no-such-host.invalid/x")
	dir := t.TempDir()
	records, docs, n := fetchAll(t, dir, options(), names...)
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			r, d := records[s.URL+tt.path], docs[s.URL+tt.path]
			if r.State != tt.state || r.Status != tt.status || !strings.Contains(r.Problem, tt.problem) || strings.TrimPrefix(r.Final, s.URL) != tt.final {
				t.Errorf("record %+v", r)
			}
			if !strings.Contains(d.Text, tt.text) || d.HasText != (tt.state == "ok") {
				t.Errorf("text %q (%t), want %q", d.Text, d.HasText, tt.text)
			}
			live, known := r.Live()
			if unknown := tt.state == "refused" || tt.state == "denied" && tt.status == 0; live != tt.live || known == unknown {
				t.Errorf("live %t, known %t", live, known)
			}
			if age := time.Since(r.Time); age < 0 || age > time.Minute {
				t.Errorf("fetched %v", r.Time)
			}
		})
	}
	if d := docs[s.URL+"/paper"]; len(d.Pages) != 2 || !strings.Contains(d.Pages[1], "Straße, Øresund, Łódź") {
		t.Errorf("pages %q", d.Pages)
	}
	if d := docs[s.URL+"/page"]; d.Title != "A page" || d.SourceType != "web" {
		t.Errorf("document %+v", d)
	}
	if r := records["http://user:secret@127.0.0.1/"]; r.State != "refused" {
		t.Errorf("a URL with a password: %+v", r)
	}
	if r := records["http://no-such-host.invalid/x"]; r.State != "dead" && r.State != "failed" { // as the resolver here has it
		t.Errorf("no such host: %+v", r)
	}
	if got := s.count("/robots.txt"); got != 1 {
		t.Errorf("robots.txt was asked for %d times", got)
	}
	for _, path := range []string{"/page", "/gone"} {
		if got := s.count(path); got > 2 || path == "/gone" && got != 1 {
			t.Errorf("%s was asked for %d times", path, got)
		}
	}
	if s.count("/for-others") != 0 {
		t.Error("what robots.txt forbids was asked for")
	}

	// Again: nothing is asked for, and the documents are the same bytes.
	before, err := os.ReadFile(filepath.Join(dir, "sources.parquet"))
	check(t, err)
	total := len(s.asked)
	_, _, again := fetchAll(t, dir, options(), names...)
	after, err := os.ReadFile(filepath.Join(dir, "sources.parquet"))
	check(t, err)
	if again != 0 || len(s.asked) != total {
		t.Errorf("%d pages asked for again", again)
	}
	if !bytes.Equal(before, after) {
		t.Error("the same archive gives other documents")
	}
	if n == 0 {
		t.Error("nothing was asked for")
	}
	o := options()
	o.Again = func(f *dataset.Fetched) bool { return f.State == dataset.FetchFailed && f.Status == 500 }
	if _, _, again = fetchAll(t, dir, o, names...); again != 1 || s.count("/broken") != 2 {
		t.Errorf("%d pages asked for again, /broken %d times, want only that one", again, s.count("/broken"))
	}
}

// TestFetchRedirectedPage: one who cites both ends of a redirect has both, and the
// page is asked for once.
func TestFetchRedirectedPage(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/a": leads("/b"), "/b": says("text/plain", "here")})
	records, docs, _ := fetchAll(t, t.TempDir(), options(), s.URL+"/a", s.URL+"/b")
	if got := s.count("/b"); got != 1 {
		t.Errorf("/b was asked for %d times", got)
	}
	if len(docs) != 2 || docs[s.URL+"/a"].Text != "here" || docs[s.URL+"/b"].Text != "here" || records[s.URL+"/a"].Final != s.URL+"/b" {
		t.Errorf("documents %+v", docs)
	}
	// Cited by the first name alone, the second is there as well.
	if _, docs, _ = fetchAll(t, t.TempDir(), options(), s.URL+"/a"); len(docs) != 2 || docs[s.URL+"/b"].Text != "here" {
		t.Errorf("documents %+v", docs)
	}
}

// TestFetchBusyServer: one that asks for patience is asked once more.
func TestFetchBusyServer(t *testing.T) {
	var busy atomic.Int32
	s := newSite(t, map[string]http.HandlerFunc{"/x": func(w http.ResponseWriter, _ *http.Request) {
		if busy.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, "now")
	}})
	_, docs, _ := fetchAll(t, t.TempDir(), options(), s.URL+"/x")
	if docs[s.URL+"/x"].Text != "now" {
		t.Errorf("documents %+v", docs)
	}
}

// TestFetchRate: pages of a host wait for each other, those of two hosts do not.
func TestFetchRate(t *testing.T) {
	var mu sync.Mutex
	var asked []string // hosts, in the order of their requests
	page := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Host)
		io.WriteString(w, r.URL.Path)
	}
	pages := map[string]http.HandlerFunc{"/1": page, "/2": page}
	a, b := newSite(t, pages), newSite(t, pages)
	o := options()
	o.Delay = 200 * time.Millisecond
	begin := time.Now()
	fetchAll(t, t.TempDir(), o, a.URL+"/1", a.URL+"/2", b.URL+"/1", b.URL+"/2")
	// Three requests each: robots.txt and two pages.
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("it took %v, want 0.4 s at least", took)
	}
	if len(asked) != 4 || asked[0] == asked[1] {
		t.Errorf("asked %q: one host waits for the other", asked)
	}
}

func TestFetchRobotsPause(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/robots.txt": says("text/plain", "User-agent: *\nCrawl-delay: 86400\n"), "/x": says("text/plain", "x"),
	})
	records, _, _ := fetchAll(t, t.TempDir(), options(), s.URL+"/x")
	if r := records[s.URL+"/x"]; r.State != dataset.FetchDenied || r.Problem != "robots.txt asks for 24h0m0s between pages" {
		t.Errorf("record %+v", r)
	}
}

// TestFetchRobotsUnknown: of a server that cannot say what it allows, nothing is
// asked for.
func TestFetchRobotsUnknown(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "/x": says("text/plain", "x"),
	})
	records, _, _ := fetchAll(t, t.TempDir(), options(), s.URL+"/x")
	if r := records[s.URL+"/x"]; r.State != dataset.FetchDenied || s.count("/x") != 0 {
		t.Errorf("record %+v", r)
	}
}

// TestFetchPrivate: without the flag for tests, a server on loopback gets no
// connection, however it is named, nor one that a public page redirects to.
func TestFetchPrivate(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/": says("text/plain", "secret")})
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	var connections atomic.Int32
	s.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	o := options()
	o.AllowPrivate = false
	names := []string{
		s.URL + "/", "http://localhost" + port + "/", "http://[::1]" + port + "/", "http://[::ffff:127.0.0.1]" + port + "/", "http://2130706433" + port + "/", "http://127.1" + port + "/",
		"http://169.254.169.254/latest/meta-data/", "http://0.0.0.0" + port + "/",
	}
	records, docs, _ := fetchAll(t, t.TempDir(), o, names...)
	for _, name := range names {
		r := records[name]
		if r.State == dataset.FetchOK || docs[name].HasText || r.Status != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		if strings.Contains(name, "127.0.0.1") && r.State != dataset.FetchRefused {
			t.Errorf("%s: %+v, want refused", name, r)
		}
	}
	if connections.Load() != 0 || len(s.asked) != 0 {
		t.Errorf("%d connections, asked for %q", connections.Load(), s.asked)
	}
}

// public lets 127.0.0.2 stand for a public address: all of 127/8 is on loopback.
func public(a netip.Addr) error {
	if a == netip.MustParseAddr("127.0.0.2") {
		return nil
	}
	return checkPublic(a)
}

// TestFetchRedirectToPrivate: a public page leads to a private one.
func TestFetchRedirectToPrivate(t *testing.T) {
	inside := newSite(t, map[string]http.HandlerFunc{"/": says("text/plain", "secret")})
	outside := listenOn(t, "127.0.0.2:0", leads(inside.URL+"/"))
	o := options()
	o.AllowPrivate, o.allowed = false, public
	records, _, _ := fetchAll(t, t.TempDir(), o, outside+"/x")
	if r := records[outside+"/x"]; r.State != dataset.FetchRefused || r.Problem != "127.0.0.1 is no public address" {
		t.Errorf("record %+v", r)
	}
	if len(inside.asked) != 0 {
		t.Errorf("asked for %q", inside.asked)
	}
}

// TestFetchRebinding: a name has a public address when it is looked up first, and a
// private one later.
func TestFetchRebinding(t *testing.T) {
	var asked atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		io.WriteString(w, "secret")
	}
	outside := listenOn(t, "127.0.0.2:0", handler)
	port := outside[strings.LastIndexByte(outside, ':'):]
	listenOn(t, "127.0.0.1"+port, handler) // the same port, inside
	var lookups atomic.Int32
	o := options()
	o.AllowPrivate, o.allowed = false, public
	o.resolver = nameServer(t, func() [4]byte {
		if lookups.Add(1) <= 2 { // for robots.txt, and for the first page
			return [4]byte{127, 0, 0, 2}
		}
		return [4]byte{127, 0, 0, 1}
	})
	base := "http://rebinding.test" + port
	records, _, _ := fetchAll(t, t.TempDir(), o, base+"/1", base+"/2")
	if r := records[base+"/1"]; r.State != dataset.FetchOK {
		t.Errorf("the first page: %+v", r)
	}
	if r := records[base+"/2"]; r.State != dataset.FetchRefused || r.Problem != "127.0.0.1 is no public address" {
		t.Errorf("the second page: %+v", r)
	}
	if asked.Load() != 1 {
		t.Errorf("%d pages were given", asked.Load())
	}
}

// listenOn starts a server at an address and returns its URL.
func listenOn(t *testing.T, address string, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no second address on loopback: %v", err) // not on every system
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// nameServer starts a DNS server that gives the address of every name.
func nameServer(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			q := m.Questions[0]
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: address()},
				}}
			}
			if out, err := m.Pack(); err == nil {
				conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestCheckPublic(t *testing.T) {
	for _, s := range []string{
		"127.0.0.1", "127.255.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "192.0.0.192", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255",
		"198.18.0.1", "203.0.113.7", "::", "::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fc00::1", "ff02::1", "64:ff9b::7f00:1", "2002:a00:1::", "2001:db8::1", "::7f00:1",
	} {
		if checkPublic(netip.MustParseAddr(s)) == nil {
			t.Errorf("%s is taken for a public address", s)
		}
	}
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "100.128.0.1"} {
		if err := checkPublic(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestFetchInterrupted: what was fetched until then is kept.
func TestFetchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSite(t, map[string]http.HandlerFunc{
		"/1": says("text/plain", "one"),
		"/2": func(http.ResponseWriter, *http.Request) { cancel() },
	})
	dir := t.TempDir()
	a, err := OpenArchive(dir)
	check(t, err)
	if _, err = Fetch(ctx, a, []string{s.URL + "/1", s.URL + "/2"}, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := OpenArchive(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("a second process: error %v, want %v", err, ErrInUse)
	}
	check(t, a.Close())
	// A line that was being written when the process was killed.
	f, err := os.OpenFile(filepath.Join(dir, "fetched.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteString(`{"url":"http://`)
	check(t, err)
	check(t, f.Close())
	a, err = OpenArchive(dir)
	check(t, err)
	defer a.Close()
	if _, ok := a.Record(s.URL + "/1"); !ok {
		t.Error("the first page is not kept")
	}
	if _, ok := a.Record(s.URL + "/2"); ok {
		t.Error("the second page is kept")
	}
	n, err := Fetch(t.Context(), a, []string{s.URL + "/1", s.URL + "/2"}, options())
	check(t, err)
	if n != 1 || s.count("/1") != 1 {
		t.Errorf("%d pages asked for, /1 %d times", n, s.count("/1"))
	}
}

// TestArchiveDamaged: bytes that are no longer what came are not used.
func TestArchiveDamaged(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/1": says("text/plain", "one")})
	dir := t.TempDir()
	records, _, _ := fetchAll(t, dir, options(), s.URL+"/1")
	digest := records[s.URL+"/1"].SHA256
	path := filepath.Join(dir, "archive", "objects", digest[:2], digest)
	got, err := os.ReadFile(path)
	check(t, err)
	if string(got) != "one" {
		t.Errorf("the archive has %q", got)
	}
	check(t, os.WriteFile(path, []byte("two"), 0o666))
	a, err := OpenArchive(filepath.Join(dir, "archive"))
	check(t, err)
	defer a.Close()
	w, err := dataset.NewDocumentWriter(filepath.Join(dir, "again.parquet"))
	check(t, err)
	defer w.Abort()
	if err := WriteSources(t.Context(), a, []string{s.URL + "/1"}, w, func(Source) {}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
}

func TestCited(t *testing.T) {
	var c Cited
	c.Add(&ibid.Answer{
		Answer:    "See https://a.org/x, www.b.org/y. And doi:10.1000/182, [c.pdf:1:2-3].",
		Citations: []ibid.Citation{{Doc: "HTTP://c.org"}, {Doc: "kb/d"}, {Doc: "https://e.org"}, {Doc: "https://a.org/x"}},
		Truth:     []ibid.Mark{{Doc: "http://f.org/"}},
		Messages:  []ibid.Message{{Role: "user", Content: "http://no.org"}, {Role: "assistant", Content: "http://yes.org"}},
		Documents: []ibid.Document{{Doc: "https://e.org", Text: "known", HasText: true}},
	})
	want := []string{"HTTP://c.org", "https://a.org/x", "http://f.org/", "www.b.org/y", "http://yes.org"}
	if !slices.Equal(c.Names, want) {
		t.Errorf("names %q, want %q", c.Names, want)
	}
	for name, want := range map[string]string{"www.b.org/y": "http://www.b.org/y", "HTTP://C.org#x": "http://c.org/", "http://a.org/?q=1#:~:text=x": "http://a.org/?q=1"} {
		if got := addressOf(name); got != want {
			t.Errorf("address of %s is %s, want %s", name, got, want)
		}
	}
}

func ExampleFetch() {
	server := httptest.NewServer(says("text/plain", "Kept."))
	defer server.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	archive, err := OpenArchive(dir)
	if err != nil {
		panic(err)
	}
	defer archive.Close()
	o := Options{Agent: "example/1", Timeout: time.Second, MaxBytes: 1 << 20, Hosts: 1, AllowPrivate: true}
	for range 2 {
		asked, err := Fetch(context.Background(), archive, []string{server.URL + "/a"}, o)
		fmt.Println(asked, err)
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
}
