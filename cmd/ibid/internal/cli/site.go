package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ibid"
	"ibid/cmd/ibid/internal/loopback"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/report"
	"ibid/report/doc"
)

// A site is the pages of the finished runs of a folder: index.html, and a folder for each run.
// It is written as files, or served.
type site struct {
	*app
	dir string
	set []string // of how citations are shown
}

// isFolderOfRuns reports whether a path is a folder that is no run.
func isFolderOfRuns(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !exists(filepath.Join(path, runs.ManifestFile))
}

// writeSite writes the site of a folder into the folder that -o names.
func (a *app) writeSite(ctx context.Context, dir string, set []string) error {
	if a.output == "-" {
		return ibid.Usagef("the pages of a folder of runs need a folder").With("name it: -o site/, or ibid report " + report.ShellWord(dir) + " --serve")
	}
	list, err := a.indexOf(dir)
	if err != nil {
		return err
	}
	if list.Runs == 0 {
		return ibid.Usagef("%s holds no finished run", dir)
	}
	s := &site{app: a, dir: dir, set: set}
	for _, l := range list.All() {
		path := filepath.Join(a.output, l.Name(), indexFile)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := dataset.WriteFile(path, func(w io.Writer) error { return s.run(ctx, w, l.Dir, false) }); err != nil {
			return err
		}
	}
	path := filepath.Join(a.output, indexFile)
	err = dataset.WriteFile(path, func(w io.Writer) error { return list.WriteIndex(w, a.Version) })
	if err == nil && !a.quiet {
		a.hint("look at it: " + path)
	}
	return err
}

const indexFile = "index.html"

// allRuns leads from the pages of a run to the list.
var allRuns = doc.Link{To: "../" + indexFile, Text: "All runs"}

// run writes the page of a run.
func (s *site) run(ctx context.Context, w io.Writer, dir string, served bool) error {
	d, err := s.runData(ctx, dir, s.set)
	if err != nil {
		return err
	}
	links := []doc.Link{allRuns}
	if served {
		links = append(links, doc.Link{To: "rows", Text: "All answers"})
	}
	return s.renderPage(ctx, w, report.PageOptions{Links: links}, nil, *d)
}

// serve serves the site of a folder, by default that of runs, until ctx ends.
func (a *app) serve(ctx context.Context, f *reportFlags, args []string) error {
	dir := configs.FromValues(nil).Out
	if len(args) > 0 {
		dir = args[0]
	}
	switch {
	case len(args) > 1:
		return ibid.Usagef("--serve is for one folder of runs")
	case a.output != "-":
		return ibid.Usagef("--serve writes nothing: leave out -o")
	case exists(filepath.Join(dir, runs.ManifestFile)):
		return ibid.Usagef("%s is a run, not a folder of runs", dir).With("ibid report --serve " + report.ShellWord(filepath.Dir(filepath.Clean(dir))))
	}
	if _, err := a.indexOf(dir); err != nil {
		return err
	}
	server, err := loopback.Listen(f.port)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err, Hint: "--port 0 takes a free one"}
	}
	fmt.Fprintf(a.Stdout, "open %s\n", server.URL())
	silent := *a // what a run lacks its pages say; here it would be said again with each request
	silent.Stderr = io.Discard
	s := &site{app: &silent, dir: dir, set: f.set}
	return server.Serve(ctx, s.handler())
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	var working sync.Mutex // one answer is made at a time: memory does not grow with requests
	get := func(path string, answer func(w io.Writer, r *http.Request) error) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			working.Lock()
			defer working.Unlock()
			var page bytes.Buffer
			if err := answer(&page, r); err != nil {
				status := http.StatusInternalServerError
				if errors.Is(err, ibid.ErrUsage) {
					status = http.StatusNotFound
				}
				http.Error(w, "ibid: "+doc.Clean(err.Error()), status)
				return
			}
			w.Header().Set("Content-Security-Policy", doc.Policy())
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			page.WriteTo(w) // fails only if the browser has closed the connection
		})
	}
	index := func(w io.Writer, _ *http.Request) error {
		list, err := s.indexOf(s.dir)
		if err != nil {
			return err
		}
		return list.WriteIndex(w, s.Version)
	}
	get("/{$}", index)
	get("/"+indexFile, index)
	get("/{run}/"+indexFile, func(w io.Writer, r *http.Request) error {
		dir, err := s.find(r.PathValue("run"))
		if err != nil {
			return err
		}
		return s.run(r.Context(), w, dir, true)
	})
	get("/{run}/rows", s.rows)
	return mux
}

// find is the directory of the run of a name. Only names of finished runs are looked up, so a
// name leads nowhere else.
func (s *site) find(name string) (string, error) {
	listed, _, err := runs.List(s.dir)
	if err != nil {
		return "", err
	}
	k := slices.IndexFunc(listed, func(l runs.Listed) bool { return filepath.Base(l.Dir) == name })
	if k < 0 {
		return "", ibid.Usagef("there is no run %s", name)
	}
	return listed[k].Dir, nil
}

// rows writes the answers of a run that a search finds.
func (s *site) rows(w io.Writer, r *http.Request) error {
	dir, err := s.find(r.PathValue("run"))
	if err != nil {
		return err
	}
	d, err := s.runData(r.Context(), dir, s.set)
	if err != nil {
		return err
	}
	o := report.PageOptions{Version: s.Version, Links: []doc.Link{allRuns, {To: indexFile, Text: "Page of the run"}}}
	return report.WriteAnswers(r.Context(), w, o, r.URL.Query().Get("q"), *d)
}
