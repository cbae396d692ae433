package objects

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	ibidFlag = flag.String("ibid", "", "the program under test; built from the tree around this module when empty")
	rowsFlag = flag.Int("rows", 20_000, "rows of the dataset that is read by ranges")
)

// Programs, and the datasets that tests share.
var program, serverProgram, scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	if scratch, err = os.MkdirTemp("", "ibid-objects-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	serverProgram, program = filepath.Join(scratch, "server"), filepath.Join(scratch, "ibid")
	if err := run(".", "go", "build", "-o", serverProgram, "./server"); err != nil {
		return 0, err
	}
	if *ibidFlag != "" {
		if program, err = filepath.Abs(*ibidFlag); err != nil {
			return 0, err
		}
	} else if err := run("../..", "go", "build", "-buildvcs=false", "-o", program, "./cmd/ibid"); err != nil {
		return 0, err
	}
	if err := writeAnswers(filepath.Join(scratch, "a.parquet"), *rowsFlag); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

type object = map[string]any

// writeAnswers writes a dataset of n answers, each with a document of about 1 kB. Answers
// repeat after 10,000, but for their ids.
func writeAnswers(path string, n int) error {
	file, err := os.Create(path + ".jsonl")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	lines := json.NewEncoder(out)
	for i := range n {
		k := i % 10_000
		rng := rand.New(rand.NewPCG(1, uint64(k)))
		doc, start := fmt.Sprintf("doc-%d", k), rng.IntN(500)
		at := start + rng.IntN(40)
		err := lines.Encode(object{
			"id": fmt.Sprintf("q-%09d", i), "system": "one", "query": "What is wet, and since when?",
			"answer":    fmt.Sprintf("Water is wet, says source %d [1]. It has been so for a long time, and stones are hard.", k%7),
			"citations": []object{{"doc": doc, "start": at, "end": at + 50}}, "truth": []object{{"doc": doc, "start": start, "end": start + 60}},
			"tags":      object{"lang": []string{"de", "en"}[k/100%2]},
			"documents": []object{{"doc": doc, "text": strings.Repeat(fmt.Sprintf("Water %d is wet, fire is hot, and stones are hard. ", k%7), 20)}},
		})
		if err != nil {
			return err
		}
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		return err
	}
	return run(".", program, "import", "jsonl", path+".jsonl", "-o", path, "-q")
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// A server is a process that serves S3 until the test ends or it is killed.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	file string
	url  string
}

func serve(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{t: t, file: filepath.Join(t.TempDir(), "objects.db")}
	s.start(append([]string{"-addr", "127.0.0.1:0"}, args...)...)
	t.Cleanup(s.kill)
	return s
}

func (s *server) start(args ...string) {
	s.t.Helper()
	s.cmd = exec.Command(serverProgram, append(args, "-file", s.file)...)
	s.cmd.Stderr = io.Discard
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatalf("the server did not start: %v", err)
	}
	s.url = strings.TrimSpace(line)
}

// kill ends the server as a loss of power would.
func (s *server) kill() {
	s.cmd.Process.Kill() // it may have ended
	s.cmd.Wait()
}

func (s *server) do(method, path string, body io.Reader) []byte {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if f, ok := body.(*os.File); ok {
		info, err := f.Stat()
		if err != nil {
			s.t.Fatal(err)
		}
		r.ContentLength = info.Size()
	}
	r.Header.Set("Authorization", "Credential=key/")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode > 299 {
		s.t.Fatalf("%s %s: %s, %v", method, path, reply.Status, err)
	}
	return text
}

func (s *server) put(path, file string) {
	s.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	s.do("PUT", path, f)
}

// counts are the requests and the bytes that were sent so far.
func (s *server) counts() (requests, bytes int64) {
	s.t.Helper()
	if _, err := fmt.Sscan(string(s.do("GET", "/-/counts", nil)), &requests, &bytes); err != nil {
		s.t.Fatal(err)
	}
	return requests, bytes
}

// command is the program with the keys of the server; later environment wins.
func (s *server) command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "IBID_") && !strings.HasPrefix(e, "AWS_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "AWS_ENDPOINT_URL="+s.url, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=very-secret", "AWS_EC2_METADATA_DISABLED=true", "HOME="+scratch)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// ibid runs the program and wants an exit code; it returns all that was said.
func (s *server) ibid(want int, dir string, env []string, args ...string) string {
	s.t.Helper()
	cmd := s.command(dir, env, args...)
	out, err := cmd.CombinedOutput()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		s.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		s.t.Fatalf("ibid %s: exit %d, want %d\n%s", strings.Join(args, " "), got, want, out)
	}
	if bytes.Contains(out, []byte("very-secret")) {
		s.t.Errorf("ibid %s: the secret is told:\n%s", strings.Join(args, " "), out)
	}
	return string(out)
}

// tables are the digests of the tables of a run.
func tables(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(names) < 4 {
		t.Fatalf("%s has the tables %q, %v", dir, names, err)
	}
	sums := make(map[string]string)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sums[filepath.Base(name)] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return sums
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if a, b := fmt.Sprint(tables(t, got)), fmt.Sprint(tables(t, want)); a != b {
		t.Errorf("%s is not as %s:\n%s\n%s", got, want, a, b)
	}
}

// here is a run over the file of the dataset.
func here(s *server, dir string) string {
	s.t.Helper()
	s.ibid(0, dir, nil, "run", filepath.Join(scratch, "a.parquet"), "--judge", "none", "--out", "here", "--id", "a", "-q")
	return filepath.Join(dir, "here", "a")
}

// TestRanges: a run over an object has the bytes of one over the file, and what it transfers
// is hardly more than the file has; the names of columns that nobody needs are never fetched.
func TestRanges(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	file := filepath.Join(scratch, "a.parquet")
	s.put("/data/in/a.parquet", file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	_, before := s.counts()
	s.ibid(0, dir, nil, "run", "s3://data/in/a.parquet", "--judge", "none", "--out", "far", "--id", "a", "-q")
	requests, after := s.counts()
	share := float64(after-before) / float64(info.Size())
	t.Logf("%d bytes of %d in %d requests: %.3f of the file", after-before, info.Size(), requests, share)
	if share > 1.1 && info.Size() > 1<<20 {
		t.Errorf("%.2f times the file was transferred", share)
	}
	want := here(s, dir)
	same(t, filepath.Join(dir, "far", "a"), want)
	for _, pattern := range []string{"s3://data/in", "s3://data/in/", "s3://data/in/*.parquet", s.url + "/open/a.parquet"} {
		if strings.HasPrefix(pattern, "http") {
			s.put("/open/a.parquet", file)
		}
		s.ibid(0, dir, nil, "run", pattern, "--judge", "none", "--out", "far", "--id", "b", "--fresh", "-q", "--limit", "100")
	}
}

// TestTables: truth and documents are read from objects, too.
func TestTables(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	answers := `{"id": "a", "system": "s", "query": "Does it rain?", "answer": "It rains.", "citations": [{"doc": "d", "start": 0, "end": 5}]}` + "\n"
	docs := `{"doc": "d", "text": "It rains today."}` + "\n"
	truth := `{"id": "a", "truth": [{"doc": "d", "start": 0, "end": 8}]}` + "\n"
	for name, text := range map[string]string{"answers.jsonl": answers, "docs.jsonl": docs, "truth.jsonl": truth} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s.ibid(0, dir, nil, "import", "auto", "answers.jsonl", "-o", "answers.parquet")
	s.ibid(0, dir, nil, "import", "auto", "docs.jsonl", "-o", "none.parquet", "--docs", "docs.parquet")
	for _, name := range []string{"answers.parquet", "docs.parquet", "truth.jsonl"} {
		s.put("/data/"+name, filepath.Join(dir, name))
	}
	s.ibid(0, dir, nil, "run", "answers.parquet", "--documents", "docs.parquet", "--truth", "truth.jsonl", "--judge", "lexical", "--out", "runs", "--id", "here", "-q")
	run := "dataset: s3://data/answers.parquet\ndocuments: s3://data/docs.parquet\ntruth: s3://data/truth.jsonl\njudge: {kind: lexical}\n"
	if err := os.Mkdir(filepath.Join(dir, "conf"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "conf", "run.yaml"), []byte(run), 0o666); err != nil {
		t.Fatal(err)
	}
	s.ibid(0, dir, nil, "run", filepath.Join("conf", "run.yaml"), "--out", "runs", "--id", "far", "-q")
	same(t, filepath.Join(dir, "runs", "far"), filepath.Join(dir, "runs", "here"))
	if said := s.ibid(0, dir, nil, "show", "runs/far", "a"); !strings.Contains(said, "It rains") || strings.Contains(said, "not the texts") {
		t.Errorf("the row is shown as %s", said)
	}
}

// TestCuts: cut connections and failing servers change nothing.
func TestCuts(t *testing.T) {
	s, dir := serve(t, "-cut", "3", "-fail", "5"), t.TempDir()
	s.retryPut("/data/a.parquet", filepath.Join(scratch, "a.parquet"))
	s.ibid(0, dir, nil, "run", "s3://data/a.parquet", "--judge", "none", "--out", "far", "--id", "a", "-q")
	same(t, filepath.Join(dir, "far", "a"), here(s, dir))
}

// retryPut is put where the server fails now and then: two requests do not fail in a row.
func (s *server) retryPut(path, file string) {
	s.t.Helper()
	for range 2 {
		data, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := http.NewRequest("PUT", s.url+path, bytes.NewReader(data))
		if err != nil {
			s.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Credential=key/")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode == 200 {
			return
		}
	}
	s.t.Fatal("the object was not written")
}

// TestRestart: the server is killed in the middle and started again.
func TestRestart(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	s.put("/data/a.parquet", filepath.Join(scratch, "a.parquet"))
	requests, _ := s.counts()
	cmd := s.command(dir, nil, "run", "s3://data/a.parquet", "--judge", "none", "--out", "far", "--id", "a", "-q")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for n := requests; n < requests+4; n, _ = s.counts() {
		time.Sleep(time.Millisecond)
	}
	s.kill()
	time.Sleep(300 * time.Millisecond)
	s.start("-addr", strings.TrimPrefix(s.url, "http://"))
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	same(t, filepath.Join(dir, "far", "a"), here(s, dir))
}

// TestChanged: an object that changes in the middle is an error and not a mixture. It names
// the object, and no row is blamed.
func TestChanged(t *testing.T) {
	for _, n := range []string{"2", "3", "5", "8"} {
		s, dir := serve(t, "-change", n), t.TempDir()
		s.put("/data/a.parquet", filepath.Join(scratch, "a.parquet"))
		said := s.ibid(2, dir, nil, "run", "s3://data/a.parquet", "--judge", "none", "--out", "far", "--id", "a", "-q")
		if !strings.Contains(said, "s3://data/a.parquet") || !strings.Contains(said, "has changed while it was being read") || !strings.Contains(said, "hint: ") {
			t.Errorf("after %s reads: %s", n, said)
		}
	}
}

// TestRefusals: what is wrong is said with the address, and what to do.
func TestRefusals(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	s.put("/data/in/a.parquet", filepath.Join(scratch, "a.parquet"))
	s.do("PUT", "/data/in/text.jsonl", strings.NewReader(`{"id": "a"}`+"\n"))
	for _, c := range []struct {
		address string
		env     []string
		exit    int
		want    string
	}{
		{"s3://data/in/b.parquet", nil, 2, "neither an object nor a folder"},
		{"s3://data/in/b*.parquet", nil, 2, "no object matches"},
		{"s3://other/in/a.parquet", nil, 2, "there is no such bucket"},
		{"s3://data/in/text.jsonl", nil, 2, "not Parquet"},
		{"s3://data/in/a.parquet", []string{"AWS_ACCESS_KEY_ID=wrong"}, 2, "the keys in the environment do not allow it"},
		{"s3://data/in/a.parquet", []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, 2, "there are no keys in the environment"},
		{"s3://data/in/a.parquet", []string{"AWS_ENDPOINT_URL=example"}, 2, "AWS_ENDPOINT_URL is no address of a server"},
		{"gs://data/in/a.parquet", nil, 2, "gs:// is not supported"},
		{s.url + "/data/in/a.parquet", nil, 2, "ibid sends no credentials to web servers"},
		{s.url + "/open/none.parquet", nil, 2, "file does not exist"},
		{"http://127.0.0.1:1/a.parquet", nil, 1, "connection refused"},
	} {
		said := s.ibid(c.exit, dir, c.env, "run", c.address, "--judge", "none", "--out", "far")
		if !strings.Contains(said, "ibid: "+c.address+": ") && !strings.Contains(c.want, "AWS_ENDPOINT") || !strings.Contains(said, c.want) {
			t.Errorf("%s: %s", c.address, said)
		}
		if entries, err := os.ReadDir(filepath.Join(dir, "far")); err == nil && len(entries) > 0 {
			t.Errorf("%s left %v", c.address, entries)
		}
	}
	s.ibid(0, dir, []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}, "run", filepath.Join(scratch, "a.parquet"), "--judge", "none", "--out", "here", "-q")
}
