package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ibid/judge/judgetest"
)

// A service that repeats the key, cut, split or encoded, in its errors and in its answers
// gets it into nothing that a run writes or says.
func TestKeyIsRepeatedNowhere(t *testing.T) {
	rest := strings.TrimPrefix(fakeKey, "sk-or-v1-")
	// A secret of the environment that was never sent; its pieces are looked for below.
	const other = "9hT4bLw0XzQe7RkMv2Ns"
	t.Setenv("DEPLOY_TOKEN", other)
	forms := []string{
		other, other[:15],
		fakeKey, fakeKey[:len(fakeKey)-6], rest[4:], fakeKey[:20] + "\n   " + fakeKey[20:],
		hex.EncodeToString([]byte(fakeKey)), base64.StdEncoding.EncodeToString([]byte("Bearer " + fakeKey)),
		base64.URLEncoding.EncodeToString([]byte(rest)), url.QueryEscape(rest),
	}
	l := newLiveTest(t, 30, judgetest.ServerConfig{Seed: 3})
	target, err := url.Parse(l.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	var calls, answered atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		form := forms[n%len(forms)]
		if n%3 == 0 && r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader([]int{400, 422, 500}[n/3%3])
			fmt.Fprintf(w, `{"error":{"message":%q,"code":%d}}`, "key "+form+" is not allowed here", 400)
			return
		}
		q := r.Clone(r.Context())
		q.URL.Scheme, q.URL.Host, q.RequestURI, q.Host = target.Scheme, target.Host, "", target.Host
		q.Header.Del("Accept-Encoding")
		resp, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		escaped := strings.ReplaceAll(form, "\n", `\\n`)
		changed := bytes.ReplaceAll(body, []byte(`\"why\":\"`), []byte(`\"why\":\"`+escaped+` `))
		if !bytes.Equal(changed, body) {
			answered.Add(1)
		}
		resp.Header.Del("Content-Length")
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		w.Write(changed)
	}))
	defer proxy.Close()
	base := strings.Replace(l.server.URL(), target.Scheme+"://"+target.Host, proxy.URL, 1)
	stderr, code := l.run("keys", "--set", "judge.base_url="+base)
	said := []byte(stderr)
	if calls.Load() < 10 || answered.Load() == 0 {
		t.Fatalf("%d calls, %d answers with the key; exit %d\n%s", calls.Load(), answered.Load(), code, stderr)
	}
	for _, args := range [][]string{
		{"show", "runs/keys"},
		{"show", "runs/keys", "--errors"},
		{"report", "runs/keys", "-o", "page.html"},
		{"show", "runs/keys", "--csv", "verdicts"},
		{"show", "runs/keys", "--format", "csv", "--table", "verdicts"},
		{"show", "runs/keys", "--format", "csv", "--table", "calls"},
		{"show", "runs/keys", "--format", "csv", "--table", "rows"},
		{"show", "runs/keys", "--format", "csv", "--table", "claims"},
	} {
		stdout, stderr, _ := command(t, l.dir, args...)
		said = append(append(said, stdout...), stderr...)
	}
	written := map[string][]byte{"what was said": said}
	err = filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		written[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(said, []byte("[key]")) {
		t.Errorf("nothing says that a key was taken out:\n%.2000s", said)
	}
	for name, data := range written {
		for _, form := range []string{rest, hex.EncodeToString([]byte(rest)), base64.StdEncoding.EncodeToString([]byte(rest)), base64.StdEncoding.EncodeToString([]byte("Bearer " + fakeKey))} {
			for i := 0; i+24 <= len(form); i++ {
				if at := bytes.Index(data, []byte(form[i:i+24])); at >= 0 {
					t.Errorf("%s has a piece of the key: %q", name, data[max(at-40, 0):min(at+60, len(data))])
					break
				}
			}
		}
		for i := 0; i+12 <= len(other); i++ {
			if bytes.Contains(data, []byte(other[i:i+12])) {
				t.Errorf("%s has a piece of another secret of the environment", name)
				break
			}
		}
		for i := 0; i+12 <= len(rest); i++ {
			if at := bytes.Index(data, []byte(rest[i:i+12])); at >= 0 {
				t.Errorf("%s has a piece of the key: %q", name, data[max(at-40, 0):min(at+60, len(data))])
				break
			}
		}
	}
}
