package objects_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ibid/dataset/objects"
)

// A site hands out one file, and cuts every third reply.
type site struct {
	mu       sync.Mutex
	data     []byte
	etag     string
	requests int
	sent     atomic.Int64
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	n, data, etag := s.requests, s.data, s.etag
	s.mu.Unlock()
	w.Header().Set("ETag", etag)
	out := &cutWriter{w, s, 1 << 30}
	if r.Method == http.MethodGet && n%3 == 0 {
		out.left = 700
	}
	http.ServeContent(out, r, "", time.Time{}, bytes.NewReader(data))
}

type cutWriter struct {
	http.ResponseWriter
	of   *site
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	c.of.sent.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

func newSite(t *testing.T, etag string) (*site, string) {
	data := make([]byte, 9<<20)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	s := &site{data: data, etag: etag}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL + "/a"
}

// TestReadAt: every range reads as it is, by many at one time, although connections are cut;
// what was expected crosses the network once, and what lies between is not fetched.
func TestReadAt(t *testing.T) {
	s, address := newSite(t, `"one"`)
	o, err := objects.Open(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(s.data))
	o.Expect([][2]int64{{100, 5 << 20}, {7 << 20, 8 << 20}, {7<<20 - 1000, 7 << 20}})
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(k), 1))
			for range 200 {
				from, length := random.Int64N(5<<20-300000), 1+random.Int64N(200000)
				p := make([]byte, length)
				if _, err := o.ReadAt(p, from+100); err != nil || !bytes.Equal(p, s.data[from+100:from+100+length]) {
					t.Errorf("[%d, +%d): %v", from+100, length, err)
				}
			}
		})
	}
	group.Wait()
	if n := s.sent.Load(); n > 5<<20+64<<10 {
		t.Errorf("%d bytes were sent for 5 MiB and the end", n)
	}
	for _, r := range [][2]int64{{0, 4}, {0, 200}, {size - 8, size}, {size - 70000, size}, {7<<20 - 2000, 7<<20 + 5}, {5<<20 - 10, 7<<20 + 10}} {
		p := make([]byte, r[1]-r[0])
		if n, err := o.ReadAt(p, r[0]); err != nil || n != len(p) || !bytes.Equal(p, s.data[r[0]:r[1]]) {
			t.Errorf("[%d, %d): %d, %v", r[0], r[1], n, err)
		}
	}
	p := make([]byte, 20)
	if n, err := o.ReadAt(p, size-5); n != 5 || err != io.EOF || !bytes.Equal(p[:5], s.data[size-5:]) {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
}

// TestChanged: an object is the one that was opened, or an error, whatever kind of ETag it has.
func TestChanged(t *testing.T) {
	for _, etag := range []string{`"one"`, `W/"one"`} {
		s, address := newSite(t, etag)
		o, err := objects.Open(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		s.etag = `"two"`
		s.mu.Unlock()
		if _, err := o.ReadAt(make([]byte, 10), 10); !errors.Is(err, objects.ErrChanged) || objects.Trouble(err) {
			t.Errorf("%s: %v", etag, err)
		}
		again, err := objects.Open(context.Background(), address)
		if err != nil || again != o {
			t.Errorf("%s: opened again it is another one, %v", etag, err)
		}
	}
}

func TestIs(t *testing.T) {
	for name, want := range map[string]bool{"s3://b/k": true, "https://a/b": true, "a.parquet": false, "C://x": false, "s3:/b": false, "ftp://a": false} {
		if got := objects.Is(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
