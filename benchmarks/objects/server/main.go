// Server serves S3 from a file, and does what networks and people do to it: with -cut N every
// N-th reply with bytes of an object ends in its middle, with -fail N every N-th request gets
// status 503, with -change N the object of the N-th ranged GET is another one from then on.
// Requests that are not signed with the key "key" get status 403, but for those
// of the bucket "open". GET /-/counts tells how many requests there were and how many bytes
// they got; it is the line that the server prints when it is ready, too.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3bolt"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	file := flag.String("file", "objects.db", "the file of all objects")
	cut := flag.Int64("cut", 0, "end every N-th reply to a ranged GET in its middle")
	change := flag.Int64("change", 0, "with the N-th ranged GET, append a byte to the object")
	fail := flag.Int64("fail", 0, "answer every N-th request with status 503")
	flag.Parse()
	backend, err := s3bolt.NewFile(*file)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"data", "open"} {
		if ok, err := backend.BucketExists(name); err == nil && !ok {
			err = backend.CreateBucket(name)
		} else if err != nil {
			log.Fatal(err)
		}
	}
	s := &server{s3: gofakes3.New(backend).Server(), backend: backend, cut: *cut, fail: *fail, change: *change}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("http://" + l.Addr().String())
	log.Fatal(http.Serve(l, s))
}

type server struct {
	s3                    http.Handler
	backend               gofakes3.Backend
	cut, fail, change     int64
	requests, gets, bytes atomic.Int64
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/-/counts" {
		fmt.Fprintln(w, s.requests.Load(), s.bytes.Load())
		return
	}
	n := s.requests.Add(1)
	if s.fail > 0 && n%s.fail == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !strings.Contains(r.Header.Get("Authorization"), "Credential=key/") && !strings.HasPrefix(r.URL.Path, "/open/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	out := &counted{ResponseWriter: w, of: s, left: -1}
	if r.Method == http.MethodGet && r.Header.Get("Range") != "" {
		k := s.gets.Add(1)
		if s.cut > 0 && k%s.cut == 0 {
			out.left = 1000
		}
		if k == s.change {
			if err := s.append(r.URL.Path); err != nil {
				log.Fatal(err)
			}
		}
	}
	s.s3.ServeHTTP(out, r)
}

// append makes the object of a path one byte longer.
func (s *server) append(path string) error {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	o, err := s.backend.GetObject(bucket, key, nil)
	if err != nil {
		return err
	}
	defer o.Contents.Close()
	_, err = s.backend.PutObject(bucket, key, make(map[string]string), io.MultiReader(o.Contents, strings.NewReader("x")), o.Size+1, nil)
	return err
}

// counted counts the bytes of a reply, and ends it after some if left is not negative.
type counted struct {
	http.ResponseWriter
	of   *server
	left int
}

func (c *counted) Write(p []byte) (int, error) {
	if c.left >= 0 {
		if len(p) > c.left {
			c.ResponseWriter.Write(p[:c.left])
			c.of.bytes.Add(int64(c.left))
			panic(http.ErrAbortHandler)
		}
		c.left -= len(p)
	}
	n, err := c.ResponseWriter.Write(p)
	c.of.bytes.Add(int64(n))
	return n, err
}
