package harness_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge/judgetest"
)

// A fault is what becomes of one operation on the file system.
type fault string

const (
	faultFail  fault = "fail"  // it fails
	faultFull  fault = "full"  // the disk is full from then on
	faultShort fault = "short" // half of it is written
	faultSlow  fault = "slow"
	faultKill  fault = "kill"  // the process ends before it
	faultPower fault = "power" // the machine does, and loses what was not synced
)

var faults = []fault{faultFail, faultFull, faultShort, faultSlow, faultKill, faultPower}

var errDead = errors.New("the process is dead")

// A machine is a file system under root on which operation number at, from 0, meets a
// fault. It knows what a loss of power would leave: names as of the last sync of a folder
// and a part of what came after in its order, contents as of the last sync of each file.
type machine struct {
	root  string
	fault fault
	at    int
	dies  func() // is called when it dies

	mu      sync.Mutex
	count   int
	trace   []disk.Act
	met     *disk.Op // the operation that met the fault
	dead    bool
	live    map[string]*inode
	durable map[string]*inode
	pending []disk.Op // changes of names since the last sync of a folder
	nodes   []*inode  // of the pending operations
}

// An inode is a file or folder, whatever its name is.
type inode struct {
	folder bool
	synced []byte
}

func newMachine(root string, f fault, at int) *machine {
	return &machine{root: root, fault: f, at: at, live: make(map[string]*inode), durable: make(map[string]*inode)}
}

func (m *machine) Before(op disk.Op) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return 0, errDead
	}
	n := m.count
	m.count++
	m.trace = append(m.trace, op.Act)
	writes := slices.Contains([]disk.Act{disk.ActWrite, disk.ActCreate, disk.ActMkdir, disk.ActLink}, op.Act)
	switch {
	case m.fault == faultFull && n > m.at && writes && m.met != nil:
		return 0, syscall.ENOSPC
	case m.fault == faultFull && n >= m.at && writes:
		m.met = &op
		return 0, syscall.ENOSPC
	case n != m.at || m.fault == faultFull:
		return 0, nil
	}
	m.met = &op
	switch m.fault {
	case faultFail:
		return 0, syscall.EIO
	case faultShort:
		if op.Act == disk.ActWrite {
			return op.Bytes / 2, syscall.EIO
		}
		m.met = nil
	case faultSlow:
		m.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		m.mu.Lock()
	case faultKill, faultPower:
		m.dead = true
		m.dies()
		return 0, errDead
	}
	return 0, nil
}

func (m *machine) Done(op disk.Op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.HasPrefix(op.Path, m.root) {
		return
	}
	switch op.Act {
	case disk.ActSync:
		if node := m.live[op.Path]; node != nil {
			node.synced, _ = os.ReadFile(op.Path)
		}
	case disk.ActSyncDir:
		apply(m.durable, m.pending, m.nodes)
		m.pending, m.nodes = nil, nil
	case disk.ActCreate, disk.ActMkdir, disk.ActRename, disk.ActRemove, disk.ActLink:
		node := m.live[op.Path]
		if node == nil {
			node = &inode{folder: op.Act == disk.ActMkdir}
		} else if op.Act == disk.ActCreate {
			return // it was there
		}
		m.pending, m.nodes = append(m.pending, op), append(m.nodes, node)
		apply(m.live, m.pending[len(m.pending)-1:], m.nodes[len(m.nodes)-1:])
	}
}

// apply changes names as operations do.
func apply(names map[string]*inode, ops []disk.Op, nodes []*inode) {
	for i, op := range ops {
		switch op.Act {
		case disk.ActRename:
			for name, node := range maps.Clone(names) {
				if name == op.Path || strings.HasPrefix(name, op.Path+"/") {
					delete(names, name)
					names[op.To+strings.TrimPrefix(name, op.Path)] = node
				}
			}
		case disk.ActRemove:
			delete(names, op.Path)
		case disk.ActLink:
			names[op.To] = nodes[i]
		default:
			names[op.Path] = nodes[i]
		}
	}
}

// leave makes in another folder what the next process finds.
func (m *machine) leave(t *testing.T, to string, rng *rand.Rand) {
	t.Helper()
	if m.fault != faultPower || m.met == nil {
		if err := os.CopyFS(to, os.DirFS(m.root)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return
	}
	n := rng.IntN(len(m.pending) + 1)
	apply(m.durable, m.pending[:n], m.nodes[:n])
	current := make(map[*inode][]byte)
	for name, node := range m.live {
		current[node], _ = os.ReadFile(name)
	}
	for _, name := range slices.Sorted(maps.Keys(m.durable)) {
		node, path := m.durable[name], to+strings.TrimPrefix(name, m.root)
		if node.folder {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data := node.synced
		if now := current[node]; len(now) > len(data) && !bytes.Equal(now, data) {
			switch rng.IntN(3) {
			case 0: // a part of what came after
				data = now[:len(data)+rng.IntN(len(now)-len(data)+1)]
			case 1: // its length alone
				data = append(slices.Clone(data), make([]byte, len(now)-len(data))...)
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A simulation is a small judged run of three parts, again and again.
type simulation struct {
	path     string
	settings []string
	want     map[string]string // the files of an undisturbed run
}

const simulatedKey = "sk-or-v1-simulated"

// simulatedCalls is how many calls are under way at once.
const simulatedCalls = 3

// A service is a model as one process after the other asks it. A process that is dead asks
// nothing more: what it sent before is paid for, and nobody hears the answer.
type service struct {
	judge *judgetest.Server
	http  *httptest.Server
	dead  atomic.Bool
}

func newService(t *testing.T) *service {
	s := &service{judge: judgetest.NewServer(judgetest.ServerConfig{Key: simulatedKey, NoNetwork: true, Latency: judgetest.Constant(2 * time.Millisecond)})}
	to, err := url.Parse(s.judge.URL())
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		Transport: s.judge.Client().Transport, ErrorLog: log.New(io.Discard, "", 0),
	}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.dead.Load() {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.close)
	return s
}

// close waits for what is under way: then nothing is missing in the log of the judge.
func (s *service) close() {
	s.http.Close()
	s.judge.Close()
}

// whole counts the questions that were answered in whole.
func (s *service) whole() (n int) {
	for _, x := range s.judge.Log() {
		if x.Whole {
			n++
		}
	}
	return n
}

// answersIn counts the answers that a store has, 0 where there is none.
func answersIn(t *testing.T, cache string) (n int) {
	t.Helper()
	if _, err := os.Stat(cache); errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	db, err := sql.Open("sqlite", cache)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'").Scan(&n)
	if err == nil && n > 0 { // else it was opened and nothing more
		err = db.QueryRow("SELECT count(*) FROM entry").Scan(&n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// copyAnswers makes a store of what is committed in another one, later: when the turns at
// questions that a dead process has not given back have run out.
func copyAnswers(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, one := range []struct{ file, do string }{
		{from, "VACUUM INTO '" + strings.ReplaceAll(to, "'", "''") + "'"}, {to, "UPDATE lease SET until = 1"},
	} {
		db, err := sql.Open("sqlite", one.file+"?_pragma=busy_timeout(10000)")
		if err != nil {
			return err
		}
		_, err = db.Exec(one.do)
		if err = errors.Join(err, db.Close()); err != nil && !strings.Contains(err.Error(), "no such table") {
			return err
		}
	}
	return nil
}

// run runs with its files in out and its answers in cache, and says how it ended.
func (s *simulation) run(ctx context.Context, t *testing.T, out, cache string, service *service) (*harness.Outcome, error) {
	t.Helper()
	config, err := configs.Load(configs.Options{Set: append([]string{
		"dataset=" + s.path, "out=" + out, "judge.kind=openrouter", "judge.model=fake/judge", fmt.Sprint("judge.concurrency=", simulatedCalls),
		"judge.base_url=" + service.http.URL + "/api/v1", "judge.cache=" + cache, "rows_per_part=4", "statistics.cluster=auto",
	}, s.settings...)})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: s.path, ID: "run", APIKey: simulatedKey, Workers: 1, Import: harness.ImportForRun}).Plan(ctx)
	if err != nil {
		return nil, err
	}
	outcome, err := plan.Run(ctx)
	return outcome, errors.Join(err, plan.Close())
}

// filesOf are the files of a run, without what a run that was interrupted has otherwise:
// times, and what was counted of calls.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case e.IsDir():
		case slices.Contains([]string{runs.ManifestFile, harness.LogFile, "calls.parquet"}, name):
			out[name] = ""
		default:
			out[name] = readFile(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// changes reports whether an operation changes anything: before others, to end is to end
// before the next one that does.
func changes(a disk.Act) bool {
	return !slices.Contains([]disk.Act{disk.ActOpen, disk.ActRead, disk.ActStat, disk.ActList, disk.ActClose}, a)
}

// try lets one operation meet a fault, goes on after it, and checks that nothing shows. It
// returns the operations, the one that met the fault, nil if none did, and how many answers
// the process was paid for and could not keep.
func (s *simulation) try(t *testing.T, f fault, at int) (trace []disk.Act, met *disk.Op, lost int) {
	t.Helper()
	bug := func(format string, args ...any) {
		t.Helper()
		op := "no operation"
		if met != nil {
			op = fmt.Sprintf("%s of %s", met.Act, filepath.Base(met.Path))
		}
		t.Errorf("IBID_FAULT=%s:%d -run %s (%s): %s", f, at, t.Name(), op, fmt.Sprintf(format, args...))
	}
	dir, err := os.MkdirTemp("", "simulation-") // there are thousands
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	cache, kept := filepath.Join(dir, "answers.sqlite"), filepath.Join(dir, "kept.sqlite")
	service := newService(t)
	m := newMachine(first, f, at)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	m.dies = func() {
		defer end() // a dead process waits for nothing
		service.dead.Store(true)
		if err := copyAnswers(cache, kept); err != nil {
			t.Error(err)
		}
	}
	stop := disk.Watched(m)
	out, err := s.run(ctx, t, first, cache, service)
	stop()
	met = m.met
	switch {
	case err == nil && !maps.Equal(filesOf(t, out.Dir), s.want):
		bug("it ended well, with other results: %s", different(filesOf(t, out.Dir), s.want))
	case err != nil && met == nil:
		bug("it failed by itself: %v", err)
	case err != nil && f == faultSlow:
		bug("it failed: %v", err)
	case err != nil && !m.dead && !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC):
		bug("the cause is lost: %v", err)
	case err != nil && (f == faultFail || f == faultShort) && !strings.Contains(err.Error(), filepath.Base(met.Path)):
		bug("the file is not named: %v", err)
	}
	service.http.CloseClientConnections()
	if m.dead {
		cache = kept
		service.dead.Store(false)
	}
	lost = service.whole() - answersIn(t, cache)
	switch {
	case !m.dead && lost != 0:
		bug("%d answers were paid and not kept", lost)
	case lost < 0 || lost > simulatedCalls:
		bug("%d answers were lost of %d calls under way", lost, simulatedCalls)
	}
	m.leave(t, second, rand.New(rand.NewPCG(uint64(at), uint64(len(f)))))
	left, _ := runs.ReadManifestIfAny(filepath.Join(second, "run"))
	if left != nil && left.Complete() && !maps.Equal(filesOf(t, filepath.Join(second, "run")), s.want) {
		if onlyLeftovers(filesOf(t, filepath.Join(second, "run")), s.want) == "" {
			bug("it says that it is complete, and is not: %s", different(filesOf(t, filepath.Join(second, "run")), s.want))
		}
	}
	if err := errors.Join(os.RemoveAll(first), os.Rename(second, first)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	out, err = s.run(t.Context(), t, first, cache, service) // the next process, in the same place
	if err != nil {
		bug("it does not go on: %v", err)
		return m.trace, met, lost
	}
	if got := filesOf(t, out.Dir); !maps.Equal(got, s.want) {
		bug("it went on to other results: %s", different(got, s.want))
	}
	if out.Manifest.Status != runs.StatusComplete {
		bug("it went on and is %s", out.Manifest.Status)
	}
	service.close()
	if twice := service.judge.Counts().Twice; twice != lost {
		bug("%d answers were lost, and %d paid twice", lost, twice)
	}
	return m.trace, met, lost
}

// different names the files that differ.
func different(got, want map[string]string) string {
	var names []string
	for name := range want {
		if _, there := got[name]; !there {
			names = append(names, name+" is missing")
		} else if got[name] != want[name] {
			names = append(names, name)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			names = append(names, name+" is there")
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// onlyLeftovers names a file that is beside all that are wanted, "" if something else
// differs, too.
func onlyLeftovers(got, want map[string]string) (name string) {
	for n := range got {
		if _, there := want[n]; !there {
			name = n
		}
	}
	for n, text := range want {
		if got[n] != text {
			return ""
		}
	}
	return name
}

// TestSimulation lets every operation of a small judged run, over a dataset and over lines
// that it imports first, meet each fault: the n-th fails, is short, is slow, finds the disk
// full, is the last of the process or of the machine. The error says so and names the file,
// what is there is never taken for more than it is, and the next process goes on to the same
// bytes. It pays a second time for the answers that were on their way when the process died,
// of which there are as many as calls may be under way, and for no other. Some of each fault
// are tried each time, all with IBID_FAULT=all, the second of four parts of all with
// IBID_FAULT=1/4, and one with IBID_FAULT=kill:17, as a failure says.
func TestSimulation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files are no files to copy there")
	}
	t.Run("Dataset", func(t *testing.T) { (&simulation{path: writeRows(t, judgedRows(12))}).sweep(t) })
	t.Run("Import", func(t *testing.T) { (&simulation{path: writeLines(t, judgedRows(12))}).sweep(t) })
}

// writeLines writes rows as JSON Lines, which a run imports first.
func writeLines(t *testing.T, rows []*ibid.Answer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	var text []byte
	for _, r := range rows {
		text = fmt.Appendf(text, `{"id":%q,"query":%q,"answer":%q,"citations":[`, r.ID, r.Query, r.Answer)
		for i, c := range r.Citations {
			text = fmt.Appendf(text, `%s{"doc":%q,"start":%d,"end":%d}`, ","[:min(i, 1)], c.Doc, c.Start.Value, c.End.Value)
		}
		text = fmt.Appendf(text, "],\"documents\":[{\"doc\":%q,\"text\":%q}]}\n", r.Documents[0].Doc, r.Documents[0].Text)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// sweep tries the faults that IBID_FAULT asks for.
func (s *simulation) sweep(t *testing.T) {
	out, err := s.run(t.Context(), t, t.TempDir(), filepath.Join(t.TempDir(), "answers.sqlite"), newService(t))
	if err != nil {
		t.Fatal(err)
	}
	s.want = filesOf(t, out.Dir)
	if len(s.want) < 7 {
		t.Fatalf("only %v", slices.Sorted(maps.Keys(s.want)))
	}
	if kind, number, ok := strings.Cut(os.Getenv("IBID_FAULT"), ":"); ok {
		at, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		if n, met, lost := s.try(t, fault(kind), at); met == nil {
			t.Errorf("%d operations, and none met it", len(n))
		} else {
			t.Logf("%d operations, %s of %s, %d answers lost", len(n), met.Act, met.Path, lost)
		}
		return
	}
	trace, _, _ := s.try(t, faultSlow, 0)
	if len(trace) < 200 {
		t.Fatalf("%d operations", len(trace))
	}
	type trial struct {
		fault fault
		at    int
	}
	var all []trial
	changing := 0
	for at, act := range trace {
		if all = append(all, trial{faultFail, at}); !changes(act) {
			continue
		}
		changing++
		for _, f := range faults[1:] {
			if f != faultShort || act == disk.ActWrite {
				all = append(all, trial{f, at})
			}
		}
	}
	tried, since, hit, paidTwice := all, time.Now(), make(map[disk.Act]int), make([]int, simulatedCalls+1)
	if from, step, some := strings.Cut(os.Getenv("IBID_FAULT"), "/"); some { // a part of all, for one of several processes
		var k, of int
		if _, err := fmt.Sscan(from, &k); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(step, &of); err != nil {
			t.Fatal(err)
		}
		tried = nil
		for i := k; i < len(all); i += of {
			tried = append(tried, all[i])
		}
	} else if os.Getenv("IBID_FAULT") != "all" {
		rng, few := rand.New(rand.NewPCG(1, uint64(len(all)))), 4*len(faults)
		if testing.Short() {
			few = len(faults)
		}
		tried = nil
		by := make(map[fault][]trial)
		for _, one := range all {
			by[one.fault] = append(by[one.fault], one)
		}
		for i := range few {
			of := by[faults[i%len(faults)]]
			tried = append(tried, of[rng.IntN(len(of))])
		}
	}
	for _, one := range tried {
		_, met, lost := s.try(t, one.fault, one.at)
		if met != nil {
			hit[met.Act]++
		}
		if lost >= 0 && lost <= simulatedCalls {
			paidTwice[lost]++
		}
	}
	t.Logf("%d operations, %d of them changes: %d of %d faults in %v, met by %v", len(trace), changing, len(tried), len(all), time.Since(since).Round(time.Millisecond), hit)
	t.Logf("trials with 0, 1, … answers lost in the calls under way: %v", paidTwice)
}
