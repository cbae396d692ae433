package objects_test

import (
	"bytes"
	"crypto/md5"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid"
	"ibid/dataset/objects"
)

// A bucket is as much of a server for S3 as objects ask for: one bucket, called data, with
// keys to which access is denied.
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
