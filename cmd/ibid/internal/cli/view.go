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

	"github.com/spf13/cobra"

	"ibid"
	"ibid/cmd/ibid/internal/loopback"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/report"
	"ibid/report/doc"
)

func (a *app) viewCommand() *cobra.Command {
	port := 0
	cmd := &cobra.Command{
		Use:   "view [DIR]",
		Short: "the pages of a folder of runs, served to the browser at this machine",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := configs.FromValues(nil).Out
			if len(args) > 0 {
				dir = args[0]
			}
			return a.view(cmd.Context(), dir, port)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port on 127.0.0.1; 0 is a free one")
	return cmd
}

func (a *app) view(ctx context.Context, dir string, port int) error {
	if exists(filepath.Join(dir, runs.ManifestFile)) {
		return ibid.Usagef("%s is a run, not a folder of runs", dir).With("ibid view " + quote(filepath.Dir(filepath.Clean(dir))))
	}
	if _, _, err := a.listRuns(dir); err != nil {
		return err
	}
	server, err := loopback.Listen(port)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err, Hint: "--port 0 takes a free one"}
	}
	fmt.Fprintf(a.Stdout, "open %s\n", server.URL())
	silent := *a // what a run lacks its pages say; here it would be said again with each request
	silent.Stderr = io.Discard
	v := &viewer{a: &silent, dir: dir}
	return server.Serve(ctx, v.handler())
}

// A viewer answers requests for the pages of a folder of runs.
type viewer struct {
	a       *app
	dir     string
	working sync.Mutex // one answer is made at a time: memory does not grow with requests
}

func (v *viewer) handler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, answer func(w io.Writer, r *http.Request) error) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			v.working.Lock()
			defer v.working.Unlock()
			var page bytes.Buffer
			if err := answer(&page, r); err != nil {
				status := http.StatusInternalServerError
				if errors.Is(err, ibid.ErrUsage) {
					status = http.StatusNotFound
				}
				http.Error(w, "ibid: "+report.CleanLine(err.Error()), status)
				return
			}
			w.Header().Set("Content-Security-Policy", doc.Policy())
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			page.WriteTo(w) // a browser that went away is nobody's problem
		})
	}
	get("/{$}", v.index)
	get("/compare", v.compare)
	get("/run/{run}/{$}", v.run)
	get("/run/{run}/rows", v.rows)
	return mux
}

func (v *viewer) options() report.SiteOptions {
	return report.SiteOptions{Version: v.a.Version, Served: true}
}

func (v *viewer) index(w io.Writer, _ *http.Request) error {
	list, _, err := v.a.listRuns(v.dir)
	if err != nil {
		return err
	}
	return list.WriteIndex(w, v.options())
}

// find is the run of a name in the folder. Only names of finished runs are looked up, so a
// name leads nowhere else.
func (v *viewer) find(name string) (runs.Listed, error) {
	listed, _, err := runs.ListReadable(v.dir)
	if err != nil {
		return runs.Listed{}, err
	}
	k := slices.IndexFunc(listed, func(l runs.Listed) bool { return filepath.Base(l.Dir) == name })
	if k < 0 {
		return runs.Listed{}, ibid.Usagef("there is no run %s", name)
	}
	return listed[k], nil
}

func (v *viewer) run(w io.Writer, r *http.Request) error {
	l, err := v.find(r.PathValue("run"))
	if err != nil {
		return err
	}
	links := []doc.Link{{To: "../../", Text: "All runs"}, {To: "rows", Text: "All answers"}}
	return v.page(r.Context(), w, links, l.Dir)
}

// compare shows two runs side by side. The older one is the base.
func (v *viewer) compare(w io.Writer, r *http.Request) error {
	names := r.URL.Query()["run"]
	if len(names) != 2 {
		return ibid.Usagef("%d runs are chosen: go back and choose two", len(names))
	}
	var found []runs.Listed
	for _, name := range names {
		l, err := v.find(name)
		if err != nil {
			return err
		}
		found = append(found, l)
	}
	slices.SortStableFunc(found, func(x, y runs.Listed) int { return x.Manifest.Timings.Started.Compare(y.Manifest.Timings.Started) })
	return v.page(r.Context(), w, []doc.Link{{To: "./", Text: "All runs"}}, found[0].Dir, found[1].Dir)
}

// page writes the page of runs with links: the one that lies in the run, or one that is
// made now.
func (v *viewer) page(ctx context.Context, w io.Writer, links []doc.Link, dirs ...string) error {
	if len(dirs) == 1 {
		if made, err := ownPage(dirs[0]); err == nil && doc.AddLinks(w, made, links...) == nil {
			return nil
		}
	}
	data, err := v.a.dataOf(ctx, nil, dirs...)
	if err != nil {
		return err
	}
	return v.a.renderPage(ctx, w, reportFlags{links: links}, data...)
}

// mostOwnPage is how large the page in a run may be: somebody else may have put it there.
const mostOwnPage = 64 << 20

// ownPage reads the page in a run directory. One that is older than the manifest is an error.
func ownPage(dir string) ([]byte, error) {
	page, err := os.Stat(filepath.Join(dir, reportFile))
	if err != nil {
		return nil, err
	}
	manifest, err := os.Stat(filepath.Join(dir, runs.ManifestFile))
	if err != nil {
		return nil, err
	}
	if page.ModTime().Before(manifest.ModTime()) || page.Size() > mostOwnPage || !page.Mode().IsRegular() {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(filepath.Join(dir, reportFile))
}

func (v *viewer) rows(w io.Writer, r *http.Request) error {
	l, err := v.find(r.PathValue("run"))
	if err != nil {
		return err
	}
	d, err := v.a.runData(r.Context(), l.Dir, nil)
	if err != nil {
		return err
	}
	o := report.PageOptions{Version: v.a.Version, Links: []doc.Link{{To: "../../", Text: "All runs"}, {To: "./", Text: "Page of the run"}}}
	return report.WriteAnswers(r.Context(), w, o, r.URL.Query().Get("q"), *d)
}

// writeSite writes the pages of the finished runs of a folder as files: index.html, and a
// folder for each run.
func (a *app) writeSite(ctx context.Context, dir, to string, f reportFlags) error {
	list, listed, err := a.listRuns(dir)
	if err != nil {
		return err
	}
	if len(listed) == 0 {
		return ibid.Usagef("%s holds no finished run", dir)
	}
	for _, l := range listed {
		d, err := a.runData(ctx, l.Dir, f.set)
		if err != nil {
			return err
		}
		path := filepath.Join(to, filepath.Base(l.Dir), "index.html")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		f.links = []doc.Link{{To: "../index.html", Text: "All runs"}}
		if err := a.writePage(ctx, path, f, *d); err != nil {
			return err
		}
	}
	path := filepath.Join(to, "index.html")
	err = dataset.WriteFile(path, func(w io.Writer) error { return list.WriteIndex(w, report.SiteOptions{Version: a.Version}) })
	if err == nil && !a.quiet {
		a.hint("look at it: " + path)
	}
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
