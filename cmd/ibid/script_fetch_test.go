package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptSite starts a web site and writes its address into each FILE, in place of the
// word SITE; the environment has it as SITE, too. What it is asked for goes to
// asked.txt.
func scriptSite(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "site FILE...")
	pdf, err := os.ReadFile(filepath.Join("..", "..", "dataset", "documents", "testdata", "chromium.pdf"))
	ts.Check(err)
	log := ts.MkAbs("asked.txt")
	ts.Check(os.WriteFile(log, nil, 0o666))
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(f, r.URL.Path+"\n")
			f.Close()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		switch r.URL.Path {
		case "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /closed\n")
		case "/tower":
			io.WriteString(w, "<html><head><title>Tower</title></head><body><nav><a href='/'>Home</a></nav><p>The tower was lit in 1531.</p></body></html>")
		case "/old":
			http.Redirect(w, r, "/tower", http.StatusFound)
		case "/lamp.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			w.Write(pdf)
		case "/latin":
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			io.WriteString(w, "<p>Stra\xdfe</p>")
		case "/v1/embeddings":
			embed(w, r)
		case "/moody":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.URL)
	for _, name := range args {
		path := ts.MkAbs(name)
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(ts.ReadFile(path), "SITE", server.URL)), 0o666))
	}
}

// embed answers as an endpoint of embeddings whose model "m" knows two subjects:
// where more is to be found, and everything else.
func embed(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "m" {
		http.Error(w, "no such model", http.StatusBadRequest)
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var out struct {
		Data []vector `json:"data"`
	}
	for i, text := range in.Input {
		v := []float64{0, 1}
		if strings.Contains(text, "resources") || strings.Contains(text, "references") || strings.Contains(text, "Worth a look") {
			v = []float64{1, 0}
		}
		out.Data = append(out.Data, vector{i, v})
	}
	json.NewEncoder(w).Encode(out)
}

// scriptAsked wants the site to have been asked for PATH so many times; the PATH
// "all" stands for everything.
func scriptAsked(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "asked N PATH")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	for path := range strings.Lines(ts.ReadFile("asked.txt")) {
		if args[1] == "all" || strings.TrimSpace(path) == args[1] {
			got++
		}
	}
	if got != want {
		ts.Fatalf("asked for %s %d times, want %d", args[1], got, want)
	}
}
