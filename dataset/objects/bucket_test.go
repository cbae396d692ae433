package objects_test

import (
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid"
	"ibid/dataset/objects"
)

// A bucket is as much of a server for S3 as objects ask for: one bucket, called data, with
// conditions of writes, and places that nobody may read.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	faults  int // requests that are answered with 503 before any other
}

func etagOf(data []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(data)) }

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fail := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	data, there := b.objects[key]
	switch {
	case b.faults > 0:
		b.faults--
		fail(http.StatusServiceUnavailable, "SlowDown")
	case name != "data":
		fail(http.StatusNotFound, "NoSuchBucket")
	case strings.HasPrefix(key, "closed/"):
		fail(http.StatusForbidden, "AccessDenied")
	case key == "" && r.Method == http.MethodHead:
	case key == "":
		b.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodPut:
		if r.Header.Get("If-None-Match") == "*" && there || r.Header.Get("If-Match") != "" && (!there || strings.Trim(r.Header.Get("If-Match"), `"`) != strings.Trim(etagOf(data), `"`)) {
			fail(http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		b.objects[key] = body
		w.Header().Set("ETag", etagOf(body))
	case r.Method == http.MethodDelete:
		delete(b.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		fail(http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", etagOf(data))
		http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), bytes.NewReader(data))
	}
}

func (b *bucket) list(w http.ResponseWriter, prefix string) {
	type content struct {
		Key, ETag, LastModified string
		Size                    int
	}
	var found struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Name     string
		Contents []content
	}
	found.Name = "data"
	for key, data := range b.objects {
		if strings.HasPrefix(key, prefix) {
			found.Contents = append(found.Contents, content{key, etagOf(data), "2026-01-02T03:04:05.000Z", len(data)})
		}
	}
	slices.SortFunc(found.Contents, func(a, b content) int { return strings.Compare(a.Key, b.Key) })
	w.Header().Set("Content-Type", "application/xml")
	xml.NewEncoder(w).Encode(found)
}

// at is what is at a key, "" if nothing is.
func (b *bucket) at(key string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.objects[key])
}

// keys are those of all objects.
func (b *bucket) keys() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.objects))
}

// overwrite has another process write an object.
func (b *bucket) overwrite(key, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects[key] = []byte(text)
}

// put puts objects of these texts there, and nothing else. The next requests fail.
func (b *bucket) put(texts map[string]string, faults int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects, b.faults = make(map[string][]byte), faults
	for key, text := range texts {
		b.objects[key] = []byte(text)
	}
}

// theBucket is the one that the environment of all tests names: it is read once.
var theBucket = &bucket{}

func TestMain(m *testing.M) {
	server := httptest.NewServer(theBucket)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_ENDPOINT_URL_S3": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_REGION": "",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	server.Close()
	os.Exit(code)
}

// TestFind: a name is an object, the Parquet in a folder, or what a glob matches.
func TestFind(t *testing.T) {
	theBucket.put(map[string]string{"in/b.parquet": "b", "in/a.parquet": "a", "in/_c.parquet": "c", "in/d.txt": "d", "in/deep/e.parquet": "e", "f.parquet": "f"}, 0)
	for pattern, want := range map[string]string{
		"s3://data/in/a.parquet": "s3://data/in/a.parquet",
		"s3://data/in":           "s3://data/in/a.parquet s3://data/in/b.parquet",
		"s3://data/in/":          "s3://data/in/a.parquet s3://data/in/b.parquet",
		"s3://data":              "s3://data/f.parquet",
		"s3://data/in/*":         "s3://data/in/a.parquet s3://data/in/b.parquet s3://data/in/d.txt",
		"s3://data/*/[b-d]*":     "s3://data/in/b.parquet s3://data/in/d.txt",
		"https://example.org/a":  "https://example.org/a",
	} {
		got, err := objects.Find(t.Context(), pattern)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %s", pattern, got, err, want)
		}
	}
}

// TestRefusals: what is wrong is said of the address, with what to do, and is no trouble of
// the network.
func TestRefusals(t *testing.T) {
	theBucket.put(map[string]string{"a.parquet": "a", "closed/a": "a"}, 0)
	for pattern, want := range map[string][2]string{
		"s3://":                  {"s3://: names no bucket", "an address is s3://BUCKET/KEY"},
		"s3:///key":              {"s3://: names no bucket", "an address is s3://BUCKET/KEY"},
		"gs://data/a":            {"gs://data/a: gs:// is not supported", "use s3:// or https://"},
		"s3://data/none":         {"s3://data/none: neither an object nor a folder", "is the name right?"},
		"s3://data/none*":        {"s3://data/none*: no object matches", ""},
		"s3://nowhere/a.parquet": {"s3://nowhere/a.parquet: there is no such bucket", "AWS_REGION"},
		"s3://data/closed/a":     {"s3://data/closed/a: access denied (403", "there are no keys in the environment"},
	} {
		_, err := objects.Find(t.Context(), pattern)
		hint, _ := ibid.Advice(err)
		if err == nil || !strings.HasPrefix(err.Error(), want[0]) || !strings.Contains(hint, want[1]) || objects.Trouble(err) {
			t.Errorf("%s: %v (%s)", pattern, err, hint)
		}
	}
	if _, err := objects.Open(t.Context(), "s3://data/gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that is not there: %v", err)
	}
	if !objects.Slip("s3:/b/k") || !objects.Slip("S3://b/k") || objects.Slip("s3://b/k") || objects.Slip("a.parquet") {
		t.Error("what is a slip of an address")
	}
}

// TestServerFails: a server that fails now and then is asked again; an object is read as it is.
func TestServerFails(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	theBucket.put(map[string]string{"a": text}, 2)
	o, err := objects.Open(t.Context(), "s3://data/a")
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 25)
	if n, err := o.ReadAt(part, 5); err != nil || n != 25 || string(part) != text[5:30] || o.Size != int64(len(text)) || o.Version == "" {
		t.Errorf("%d, %v, %s of %d bytes, version %q", n, err, part, o.Size, o.Version)
	}
}

// TestMirror: a run directory is kept in a bucket as it grows, a second process is kept out,
// and what is there is fetched by who goes on.
func TestMirror(t *testing.T) {
	theBucket.put(map[string]string{"runs/a/parts/0.rows": "old", "other": "x"}, 0)
	dir := filepath.Join(t.TempDir(), "a")
	waiting := func(string) { t.Error("nobody else has the lease") }
	m, err := objects.Take(t.Context(), "s3://data/runs/a", dir, waiting, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "parts", "0.rows")); err != nil || string(text) != "old" {
		t.Errorf("what was there: %q, %v", text, err)
	}
	if theBucket.at("runs/a/.lease") == "" {
		t.Error("there is no lease")
	}
	file("parts/1.rows", "one")
	file("manifest.json", "{}")
	file("lock", "")
	file(".hidden", "")
	if err := m.Push(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"other", "runs/a/.lease", "runs/a/manifest.json", "runs/a/parts/0.rows", "runs/a/parts/1.rows"}
	if got := theBucket.keys(); !slices.Equal(got, want) || theBucket.at("runs/a/parts/1.rows") != "one" || theBucket.at("runs/a/manifest.json") != "{}" {
		t.Errorf("pushed: %q", got)
	}
	file("manifest.json", `{"status": "complete"}`)
	if err := os.RemoveAll(filepath.Join(dir, "parts")); err != nil {
		t.Fatal(err)
	}
	if err := m.Push(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := theBucket.keys(); !slices.Equal(got, want[:3]) || theBucket.at("runs/a/manifest.json") != `{"status": "complete"}` {
		t.Errorf("pushed again: %q", got)
	}
	file("manifest.json", `{}`)
	theBucket.overwrite("runs/a/manifest.json", "of another process")
	if err := m.Push(t.Context()); !errors.Is(err, objects.ErrExists) {
		t.Errorf("somebody else wrote the manifest: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(theBucket.keys(), "runs/a/.lease") {
		t.Error("the lease was not given back")
	}

	copied := filepath.Join(t.TempDir(), "copy")
	if err := objects.Fetch(t.Context(), "s3://data/runs/a", copied); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(copied, "manifest.json")); err != nil || string(text) != "of another process" {
		t.Errorf("fetched: %q, %v", text, err)
	}
	page := filepath.Join(copied, "manifest.json")
	if err := objects.Send(t.Context(), page, "s3://data/pages/a.html"); err != nil || theBucket.at("pages/a.html") != "of another process" {
		t.Errorf("sent: %v", err)
	}
	for _, address := range []string{"s3://data/runs/none", "https://example.org/runs"} {
		err := objects.Fetch(t.Context(), address, copied)
		if hint, _ := ibid.Advice(err); err == nil || hint == "" {
			t.Errorf("%s: %v, hint %q", address, err, hint)
		}
	}
	for _, address := range []string{"s3://data", "https://example.org/runs"} {
		if _, err := objects.Take(t.Context(), address, dir, waiting, nil); err == nil || !strings.Contains(err.Error(), "runs cannot be written there") {
			t.Errorf("a run at %s: %v", address, err)
		}
	}
}

// TestLeaseIsHeld: who holds the lease keeps others out, and they are told who it is.
func TestLeaseIsHeld(t *testing.T) {
	theBucket.put(nil, 0)
	m, err := objects.Take(t.Context(), "s3://data/runs/b", t.TempDir(), nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	told := ""
	_, err = objects.Take(t.Context(), "s3://data/runs/b", t.TempDir(), func(who string) { told = who }, nil)
	if err == nil || !strings.Contains(err.Error(), "another ibid is working on this run: process ") || !strings.HasPrefix(told, fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Errorf("%v; told of %q", err, told)
	}
}
