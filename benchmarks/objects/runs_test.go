package objects

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keys are those of all objects that begin so.
func (s *server) keys(prefix string) (keys []string) {
	s.t.Helper()
	var list struct {
		Contents []struct{ Key string }
	}
	if err := xml.Unmarshal(s.do("GET", "/data/?list-type=2&prefix="+prefix, nil), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, o := range list.Contents {
		keys = append(keys, o.Key)
	}
	return keys
}

// fetched is a copy of the tables of a run that is at the server.
func (s *server) fetched(prefix string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	for _, key := range s.keys(prefix) {
		name := strings.TrimPrefix(key, prefix)
		if !strings.Contains(name, "/") {
			if err := os.WriteFile(filepath.Join(dir, name), s.do("GET", "/data/"+key, nil), 0o666); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return dir
}

// TestRunDirectory: a run at the server has the bytes of one here, nothing else is left, and
// every command that reads runs reads it.
func TestRunDirectory(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	file := filepath.Join(scratch, "a.parquet")
	want := here(s, dir)
	said := s.ibid(0, dir, nil, "run", file, "--judge", "none", "--out", "s3://data/runs", "--id", "a", "--report", "page.html")
	if !strings.Contains(said, "ibid show s3://data/runs/a ") || strings.Contains(said, os.TempDir()) {
		t.Errorf("the run is called otherwise: %s", said)
	}
	same(t, s.fetched("runs/a/"), want)
	for _, key := range s.keys("runs/a/") {
		if strings.Contains(key, ".lease") || strings.Contains(key, "parts/") || strings.Contains(key, ".tmp") {
			t.Errorf("%s is left", key)
		}
	}
	if said := s.ibid(0, dir, nil, "run", file, "--judge", "none", "--out", "s3://data/runs", "--id", "a", "--report", "page.html"); !strings.Contains(said, "s3://data/runs/a is complete already") {
		t.Errorf("run again: %s", said)
	}
	s.ibid(0, dir, nil, "show", "s3://data/runs/a", "--all")
	s.ibid(0, dir, nil, "compare", want, "s3://data/runs/a/")
	s.ibid(0, dir, nil, "gate", "s3://data/runs/a", "--gate", "char_f1 >= 0.1")
	s.ibid(3, dir, nil, "gate", "s3://data/runs/a", "--gate", "char_f1 >= 0.99")
	s.ibid(0, dir, nil, "report", "s3://data/runs/a", "-o", "s3://data/runs/a/report.html")
	if page := s.do("GET", "/data/runs/a/report.html", nil); !bytes.Contains(page, []byte("<!doctype html>")) && !bytes.Contains(page, []byte("<!DOCTYPE html>")) {
		t.Errorf("the page begins with %.100s", page)
	}
	if said := s.ibid(2, dir, nil, "show", "s3://data/runs/b"); !strings.Contains(said, "there is nothing there") {
		t.Errorf("no run: %s", said)
	}
	if said := s.ibid(2, dir, []string{"AWS_ACCESS_KEY_ID=wrong"}, "run", file, "--judge", "none", "--out", "s3://data/runs", "--id", "b"); !strings.Contains(said, "s3://data/runs/b") || !strings.Contains(said, "access denied") {
		t.Errorf("without access: %s", said)
	}
	if said := s.ibid(2, dir, nil, "run", file, "--judge", "none", "--out", s.url+"/open/runs"); !strings.Contains(said, "runs cannot be written there") {
		t.Errorf("to a web server: %s", said)
	}
}

// TestShards: shards at the server make the run of one process; the missing one is named.
func TestShards(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	s.put("/data/a.parquet", filepath.Join(scratch, "a.parquet"))
	for _, shard := range []string{"1/3", "3/3"} {
		s.ibid(0, dir, nil, "run", "s3://data/a.parquet", "--judge", "none", "--out", "s3://data/shards", "--shard", shard)
	}
	if said := s.ibid(4, dir, nil, "merge", "s3://data/shards", "-o", "s3://data/runs/m"); !strings.Contains(said, "--array=2") {
		t.Errorf("a shard is missing: %s", said)
	}
	s.ibid(0, dir, nil, "run", "s3://data/a.parquet", "--judge", "none", "--out", "s3://data/shards", "--shard", "2/3")
	s.ibid(0, dir, nil, "merge", "s3://data/shards", "-o", "s3://data/runs/m")
	same(t, s.fetched("runs/m/"), here(s, dir))
}

// TestKilled: a run that is killed with SIGKILL at any point goes on elsewhere, with the same
// bytes and without what was stored; meanwhile a second process waits, and one that the
// holder still works for is refused.
func TestKilled(t *testing.T) {
	s, dir := serve(t), t.TempDir()
	file := filepath.Join(dir, "long.parquet") // the second process looks while it is evaluated
	if err := run("../..", "go", "run", "./benchmarks/pipe", "-rows", "60000", "-documents", "-parquet", file); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", file, "--judge", "lexical", "--out", "s3://data/runs", "--id", "a", "--workers", "1", "--set", "performance.batch_size=100"}
	first := s.command(dir, nil, args...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	parts := func() (n int) {
		for _, key := range s.keys("runs/a/parts/") {
			if strings.HasSuffix(key, ".rows") {
				n++
			}
		}
		return n
	}
	for parts() < 2 {
		if len(s.keys("runs/a/summary.parquet")) > 0 {
			t.Fatal("the run ended before it was killed")
		}
		time.Sleep(5 * time.Millisecond)
	}
	second := s.command(dir, nil, args...)
	out, _ := second.CombinedOutput()
	if code := second.ProcessState.ExitCode(); code == 0 || !bytes.Contains(out, []byte("another ibid is working on this run")) {
		t.Errorf("a second process: exit %d, %s", code, out)
	}
	first.Process.Kill() // it may have ended
	first.Wait()
	stored := parts()
	said := s.ibid(0, t.TempDir(), nil, args...)
	t.Logf("%d parts were stored", stored)
	if !strings.Contains(said, "waiting for 20 s") {
		t.Errorf("nobody waited: %s", said)
	}
	s.ibid(0, dir, nil, "run", file, "--judge", "lexical", "--out", "here", "--id", "a", "--set", "performance.batch_size=100", "-q")
	same(t, s.fetched("runs/a/"), filepath.Join(dir, "here", "a"))
}
