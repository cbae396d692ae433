//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ibid/dataset/runs"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
)

// A chore is a command that writes, in a copy of a folder that has all it needs.
type chore struct {
	name string
	args []string
	// moving names files whose bytes differ from one undisturbed run to the next by more
	// than the torture can tell; it is filled by two of them.
	moving map[string]bool
	again  int  // the exit code where all is done already
	quick  bool // part of make test
	code   int
	want   map[string][]byte // the folder afterwards
	ops    int               // what the kernel told of changes in the folder
	took   time.Duration
}

// chores are all commands that write files, each with what it writes most of.
func chores(service string) []*chore {
	model := []string{
		"--judge", "openrouter", "--model", "fake/judge", "--cache", "judge.sqlite", "--set", "judge.base_url=" + service, "--set", "judge.concurrency=8",
	}
	return []*chore{
		{name: "run", args: []string{"run", "ibid.yaml", "--id", "x", "-q", "-o", "out.txt", "--set", "rows_per_part=16"}},
		{name: "run that imports", args: []string{"run", "lines.jsonl", "--judge", "none", "--id", "x", "-q", "-o", "out.txt"}},
		{name: "run that asks a model", args: append([]string{"run", "towers.parquet", "--id", "x", "-q", "-o", "out.txt"}, model...)},
		{name: "rescore", args: []string{"rescore", "runs/one", "--id", "x", "-q", "-o", "out.txt", "--set", "thresholds.supported=0.4"}},
		{name: "calibrate", args: []string{"calibrate", "runs/one", "-q", "-o", "out.txt"}},
		{name: "import", quick: true, args: []string{"import", "jsonl", "lines.jsonl", "-q", "-o", "a.parquet", "--docs", "d.parquet", "--import-report", "r.json"}},
		{name: "report", args: []string{"report", "runs/one", "runs/two", "-q", "-o", "page.html"}},
		{name: "sample", again: 2, quick: true, args: []string{"sample", "answers.parquet", "--documents", "documents.parquet", "-q", "-o", "blind"}},
		{name: "compare", args: []string{"compare", "runs/one", "runs/two", "-q", "-o", "out.txt"}},
		{name: "show", args: []string{"show", "runs/one", "--table", "rows", "--format", "csv", "-o", "rows.csv"}},
		{name: "agree", args: []string{"agree", "answers.parquet", "-q", "-o", "out.txt"}},
		{name: "gate", args: []string{"gate", "runs/one", "-q", "--gate", "char_f1 >= 0.1", "--junit", "gates.xml", "-o", "out.txt"}},
		{name: "history", args: []string{"history", "runs", "-q", "--json", "-o", "h.json"}},
		{name: "init", args: []string{"init", "demo", "--force", "-q"}},
		{name: "cache prune", args: []string{"cache", "prune", "--cache", "kept.sqlite", "--older-than", "10d", "-q"}},
		{name: "fetch", args: []string{"fetch", "cites.jsonl", "-o", "sources.parquet", "--allow-private", "--delay", "0s", "-q"}},
	}
}

// choreFolder makes the folder that chores begin with.
func choreFolder(t *testing.T, site string) string {
	t.Helper()
	dir := t.TempDir()
	mustIbid(t, dir, "init", "-q")
	for _, id := range []string{"one", "two"} {
		file := map[string]string{"one": "ibid.yaml", "two": "ibid-2.yaml"}[id]
		mustIbid(t, dir, "run", file, "--judge", "lexical", "--id", id, "-q", "--set", "gates=[]", "-o", "out.txt")
	}
	if err := os.Remove(filepath.Join(dir, "out.txt")); err != nil {
		t.Fatal(err)
	}
	var lines, cites strings.Builder
	for i := range 400 {
		fmt.Fprintf(&lines, `{"id":"%d","query":"Where?","answer":"The %d bridge.","citations":[{"doc":"d%d","start":4,"end":10,"cited_text":"bridge"}],"truth":[{"doc":"d%d","start":4,"end":10}]}`+"\n", i, i, i%7, i%7)
	}
	for i := range 7 {
		fmt.Fprintf(&lines, `{"doc":"d%d","text":"The bridge of number %d."}`+"\n", i, i)
	}
	for i := range 8 {
		fmt.Fprintf(&cites, `{"id":"%d","query":"q","answer":"a","citations":[{"doc":"%s/%d"}]}`+"\n", i, site, i)
	}
	for name, text := range map[string]string{"lines.jsonl": lines.String(), "cites.jsonl": cites.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeTowers(filepath.Join(dir, "towers.parquet"), 12); err != nil {
		t.Fatal(err)
	}
	store, err := cache.Open(filepath.Join(dir, "kept.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		e := cachedAnswer(i)
		e.Created = time.Now().AddDate(0, 0, -i).Add(-time.Hour)
		if err := store.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A workshop is where chores are done again and again.
type workshop struct {
	*testing.T
	from string // the folder that each begins with
	dir  string // always the same path: some files have it inside
	// mounted is nil if dir is a file system of its own, in memory.
	mounted error
}

// begin makes the folder anew.
func (w *workshop) begin() {
	w.Helper()
	entries, err := os.ReadDir(w.dir)
	for _, e := range entries {
		if err == nil {
			err = os.RemoveAll(filepath.Join(w.dir, e.Name()))
		}
	}
	if err == nil {
		err = os.CopyFS(w.dir, os.DirFS(w.from))
	}
	if err != nil {
		w.Fatal(err)
	}
}

// command is that of a chore.
func (w *workshop) command(c *chore) *exec.Cmd { return w.line(c, "ibid") }

// killable is that command, and what kills it.
func (w *workshop) killable(c *chore) (*exec.Cmd, func()) {
	ctx, kill := context.WithCancel(w.Context())
	cmd := w.command(c)
	killed := exec.CommandContext(ctx, cmd.Args[0], cmd.Args[1:]...)
	killed.Env, killed.Dir = cmd.Env, w.dir
	return killed, kill
}

// line is the command behind others, such as a shell that limits it.
func (w *workshop) line(c *chore, before ...string) *exec.Cmd {
	args := append(before, c.args...)
	cmd := exec.CommandContext(w.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "OPENROUTER_API_KEY="+fakeKey)
	return cmd
}

// files reads the folder. A store of answers is what is in it: two with the same answers
// have other bytes, and what is beside it while it is open belongs to it.
func (w *workshop) files() map[string][]byte {
	w.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(w.dir, path)
		switch {
		case err != nil || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm"):
		case strings.HasSuffix(name, ".sqlite"):
			all[name] = w.stored(path)
		default:
			all[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// state is a digest of the names and the bytes of all files, those beside a store too.
func (w *workshop) state() (sum [sha256.Size]byte) {
	w.Helper()
	h := sha256.New()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var data []byte
		if d.Type().IsRegular() {
			data, err = os.ReadFile(path)
		}
		fmt.Fprintf(h, "%q %d\n%s", path, len(data), data)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	h.Sum(sum[:0])
	return sum
}

// stored reads all that is in a copy of a store.
func (w *workshop) stored(path string) (text []byte) {
	w.Helper()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		w.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "s.sqlite"+suffix), data, 0o600)
		}
		if err != nil && suffix == "" {
			w.Fatal(err)
		}
	}
	store, err := cache.Open(filepath.Join(dir, "s.sqlite"))
	if err != nil {
		return fmt.Appendf(nil, "not to be opened: %v", err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", store.Path())
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"entry", "attempt"} {
		text = append(text, allRows(db, table)...)
	}
	return text
}

// allRows reads all that a table has, in the order of its first column.
func allRows(db *sql.DB, table string) (text []byte) {
	rows, err := db.Query("SELECT * FROM " + table + " ORDER BY 1")
	if err != nil {
		return fmt.Appendln(nil, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for err == nil && rows.Next() {
		err = rows.Scan(to...)
		text = fmt.Appendf(text, "%v %v\n", values, err)
	}
	return fmt.Appendln(text, err, rows.Err())
}

// learn does a chore twice and keeps what it leaves.
func (w *workshop) learn(c *chore) {
	w.Helper()
	o := &ordeal{what: "undisturbed: " + c.name}
	c.moving = make(map[string]bool)
	for i := range 2 {
		if i > 0 {
			time.Sleep(time.Duration(part(0, 1100)) * time.Millisecond) // files that have the second in them are to differ
		}
		w.begin()
		watch := watchFolder(w.T, w.dir, 0, nil)
		p := o.tortured(w.T, w.dir, w.command(c))
		c.ops, c.took = watch.end(), p.took
		got := w.files()
		if i == 0 {
			c.code, c.want = p.code, got
			if p.code == 2 || p.code == 1 {
				w.Fatalf("%s: exit code %d\n%s", c.name, p.code, p.stderr)
			}
			continue
		}
		if p.code != c.code || !sameNames(got, c.want) {
			w.Fatalf("%s: twice the same, it ends with %d and %d, and leaves %q and %q", c.name, c.code, p.code, names(c.want), names(got))
		}
		for name := range got {
			c.moving[name] = !bytes.Equal(got[name], c.want[name])
		}
	}
}

func names(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

func sameNames(a, b map[string][]byte) bool { return slices.Equal(names(a), names(b)) }

// whole wants each file under a final name to be as it was or as it is to be: no half of
// one is there, and nothing that was there is gone.
func (w *workshop) whole(o *ordeal, c *chore, how string, before map[string][]byte) {
	w.Helper()
	now := w.files()
	for name, want := range c.want {
		got, there := now[name]
		old, had := before[name]
		switch {
		case !there && had:
			o.fault(w.T, &o.lost, "%s, %s: %s is gone", c.name, how, name)
		case !there:
		case c.moving[name]:
			if strings.HasSuffix(name, ".json") && !json.Valid(got) || strings.HasSuffix(name, ".html") && !bytes.HasSuffix(bytes.TrimSpace(got), []byte("</html>")) {
				o.fault(w.T, &o.wrong, "%s, %s: half a %s", c.name, how, name)
			}
		case filepath.Base(name) == runs.ManifestFile && w.manifest(name): // one that leaves out files that are being changed
		case !bytes.Equal(got, want) && (!had || !bytes.Equal(got, old)):
			o.fault(w.T, &o.wrong, "%s, %s: %s has %d bytes; they are to be %d, and were %d", c.name, how, name, len(got), len(want), len(old))
		}
	}
}

// manifest reports whether a manifest is one, by its own digest.
func (w *workshop) manifest(name string) bool {
	_, err := runs.ReadManifest(filepath.Join(w.dir, filepath.Dir(name)))
	return err == nil
}

// ends does the chore once more, undisturbed: it ends as it would have, with the same
// files, and nothing else is left.
func (w *workshop) ends(o *ordeal, c *chore, how string) {
	w.Helper()
	p := o.tortured(w.T, w.dir, w.command(c))
	o.tried-- // of the same try
	if p.code == c.again && sameBytes(w.files(), c) {
		return
	}
	if p.code != c.code {
		o.fault(w.T, &o.lost, "%s, %s: done again it ends with %d, not %d:\n%.500s", c.name, how, p.code, c.code, p.stderr)
		return
	}
	got := w.files()
	if !sameNames(got, c.want) {
		o.fault(w.T, &o.wrong, "%s, %s: done again it leaves %q, not %q", c.name, how, names(got), names(c.want))
	}
	for name, want := range c.want {
		if !c.moving[name] && !bytes.Equal(got[name], want) {
			o.fault(w.T, &o.lost, "%s, %s: done again %s differs", c.name, how, name)
		}
	}
}

// tortureCommands disturbs every command that writes.
func tortureCommands(t *testing.T) []*ordeal {
	var pages atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		pages.Add(1)
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		fmt.Fprintf(rw, "<html><head><title>Page %s</title></head><body><p>%s</p></body></html>", r.URL.Path, strings.Repeat("The tower was lit in 1531. ", 20))
	}))
	defer site.Close()
	service := judgetest.NewServer(judgetest.ServerConfig{Key: fakeKey})
	defer service.Close()
	from := choreFolder(t, site.URL)
	all := chores(service.URL())
	out := make([]*ordeal, len(all))
	faults := newFaults()
	t.Run("each", func(t *testing.T) { // two at one time, as a rule
		for i, c := range all {
			if !*torture && !c.quick {
				continue
			}
			t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				w := &workshop{T: t, from: from, dir: filepath.Join(t.TempDir(), "work")}
				if err := os.Mkdir(w.dir, 0o777); err != nil {
					t.Fatal(err)
				}
				w.mount()
				w.learn(c)
				out[i] = w.kills(c)
				faults.try(w, c)
			})
		}
	})
	out = slices.DeleteFunc(out, func(o *ordeal) bool { return o == nil })
	return append(out, faults.table()...)
}

// kills ends a command with SIGKILL: half of the time behind each change in the folder
// that the kernel tells of, the other half at any moment.
func (w *workshop) kills(c *chore) *ordeal {
	o := &ordeal{what: "killed: " + c.name}
	rng := rand.New(rand.NewPCG(20, uint64(len(c.name))))
	n, killed, seen := part(2, *kills), 0, make(map[[sha256.Size]byte]bool)
	w.begin()
	before := w.files()
	for i := range n {
		w.begin()
		cmd, kill := w.killable(c)
		how, at := "", 0
		var timer *time.Timer
		if i%2 == 0 {
			at = 1 + i/2*max(c.ops, 1)/((n+1)/2)
			how = fmt.Sprintf("killed at change %d of %d", at, c.ops)
		}
		watch := watchFolder(w.T, w.dir, at, kill)
		if i%2 == 1 {
			moment := time.Duration(rng.Float64() * float64(c.took))
			how = fmt.Sprintf("killed after %v", moment)
			timer = time.AfterFunc(moment, kill)
		}
		ended := watched(w.T, cmd)
		kill()
		watch.end()
		if timer != nil {
			timer.Stop()
		}
		o.took(ended.took, ended.peak)
		if ended.code < 0 {
			killed++
		} else if ended.crashed() {
			o.fault(w.T, &o.crashed, "%s: %s", how, ended.stderr)
		}
		w.whole(o, c, how, before)
		if state := w.state(); !seen[state] { // from the same bytes the command goes on in the same way
			seen[state] = true
			w.ends(o, c, how)
		}
	}
	o.note = fmt.Sprintf("%d were still at work, %d folders to go on from", killed, len(seen))
	return o
}
