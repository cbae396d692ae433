package cache_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"ibid"
	"ibid/judge/cache"
)

func TestReopen(t *testing.T) {
	// A name that a URI would take apart, in folders that are not there.
	path := filepath.Join(t.TempDir(), "a b", "c?d#e%20", "judge.sqlite")
	s := open(t, path)
	if s.Path() != path {
		t.Errorf("Path = %q, want %q", s.Path(), path)
	}
	attempt := cache.Attempt{
		Key: testKey(1), N: 2, HTTPStatus: 502, Class: "transient", Millis: 31, CostNanoUSD: 7, GenerationID: "gen-1",
		Error: "bad gateway", At: time.UnixMilli(1_772_000_000_123).UTC(), Run: "run-1",
	}
	for n := range 3 {
		if err := s.Put(t.Context(), testEntry(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Record(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// One file is all that is left.
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("files after Close = %v, %v, want one", left, err)
	}

	s = open(t, path)
	n := 0
	for e, err := range s.Entries(t.Context()) {
		if want := testEntry(n); err != nil || !reflect.DeepEqual(e, want) {
			t.Errorf("entry %d = %+v, %v, want %+v", n, e, err, want)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
	var attempts []cache.Attempt
	for a, err := range s.Attempts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		attempts = append(attempts, a)
	}
	if !reflect.DeepEqual(attempts, []cache.Attempt{attempt}) {
		t.Errorf("attempts = %+v, want %+v", attempts, attempt)
	}
}

func TestNewStoreIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	open(t, path)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want -rw-------", filepath.Base(name), info.Mode())
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		says []string
	}{
		{"text", func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("no database. ", 100))) }, []string{"is no judge cache: "}},
		{"another database", func(t *testing.T, path string) { execute(t, path, "CREATE TABLE t (x)") }, []string{"is no judge cache but another SQLite database"}},
		{"newer", func(t *testing.T, path string) {
			open(t, path).Close()
			execute(t, path, "PRAGMA user_version = 7")
		}, []string{"was written by a newer version", "its schema is 7, this version knows 5"}},
		{"older", func(t *testing.T, path string) {
			open(t, path).Close()
			execute(t, path, "PRAGMA user_version = 2")
		}, []string{"was written by an older version"}},
		{"damaged", func(t *testing.T, path string) {
			open(t, path).Close()
			data := read(t, path)
			for i := 100; i < 4096; i++ { // the page of the schema, not the header of the file
				data[i] = 0xff
			}
			write(t, path, data)
		}, []string{"is damaged: "}},
		{"cut short", func(t *testing.T, path string) {
			open(t, path).Close()
			write(t, path, read(t, path)[:5000])
		}, []string{"is damaged: "}},
		{"folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, []string{"cannot be opened for writing: "}},
		{"folder that is a file", func(t *testing.T, path string) {
			dir := filepath.Dir(path)
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			write(t, dir, nil)
		}, []string{"cannot be opened for writing: "}},
		{"folder without permission", func(t *testing.T, path string) { lockDown(t, filepath.Dir(path)) }, []string{"cannot be opened for writing: "}},
		{"store in a folder without permission", func(t *testing.T, path string) {
			open(t, path).Close()
			lockDown(t, filepath.Dir(path))
		}, []string{"cannot be opened for writing: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "judge.sqlite")
			tt.make(t, path)
			s, err := cache.Open(path)
			if err == nil {
				s.Close()
				t.Fatal("no error")
			}
			var file *ibid.Error
			if !errors.As(err, &file) || file.File != "judge cache "+path || file.Hint == "" {
				t.Fatalf("error = %v (%+v), want path and hint", err, file)
			}
			for _, want := range append(tt.says, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %q, want %q in it", err, want)
				}
			}
		})
	}
}

// TestOpenRefusesUntouched: what is not ours is left as it was.
func TestOpenRefusesUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theirs.sqlite")
	execute(t, path, "CREATE TABLE t (x)")
	before := read(t, path)
	if _, err := cache.Open(path); err == nil {
		t.Fatal("no error")
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file of another program was changed")
	}
}

func lockDown(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamagedLater: damage that a store gets once it is open, or that leaves its
// structure whole, is noticed by whoever reads it.
func TestDamagedLater(t *testing.T) {
	for name, statement := range map[string]string{
		"one letter of a verdict":  `UPDATE entry SET verdict = replace(verdict, 'full', 'fall')`,
		"one letter of a response": `UPDATE entry SET raw = replace(raw, 'gen', 'gem')`,
		"a cost":                   "UPDATE entry SET cost_nano_usd = cost_nano_usd + 1",
		"a model":                  "UPDATE entry SET model_resolved = 'another'",
		"a time":                   "UPDATE entry SET created = created + 1",
		"texts that moved":         "UPDATE entry SET provider = provider || substr(generation_id, 1, 1), generation_id = substr(generation_id, 2)",
		"a text for a number":      "UPDATE entry SET attempts = 'two'",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "judge.sqlite")
			s := open(t, path)
			put(t, s, testEntry(1))
			execute(t, path, statement)
			e, err := s.Get(t.Context(), testKey(1))
			if e != nil || err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Get = %v, %v, want an error that names the file", e, err)
			}
			if name != "a text for a number" && !strings.Contains(err.Error(), "is damaged: not what was stored") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// TestBusy: a write waits while another process has the file, and as long as its
// context lasts.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	s := open(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, testEntry(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put beside a writer = %v, want %v", err, context.DeadlineExceeded)
	}
	if e, err := s.Get(t.Context(), testKey(1)); e != nil || err != nil {
		t.Errorf("Get beside a writer = %v, %v, want nothing at once", e, err)
	}
	waiting := make(chan error)
	go func() { waiting <- s.Put(t.Context(), testEntry(2)) }()
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("Put after the other writer: %v", err)
	}
	if e, err := s.Get(t.Context(), testKey(2)); e == nil || err != nil {
		t.Errorf("Get = %v, %v, want the entry", e, err)
	}
}

// TestCloseDoesNotWait: a process that still reads keeps nobody from closing.
func TestCloseDoesNotWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	other, s := open(t, path), open(t, path)
	for n := range 3 {
		put(t, other, testEntry(n))
	}
	for _, err := range other.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, testEntry(3))
		start := time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("Close took %v beside a reader", took)
		}
		break
	}
}

// TestFormBefore opens a store two forms older: its answers are there.
func TestFormBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.sqlite")
	e := &cache.Entry{Key: cache.Key{1}, Status: cache.StatusOK, Verdict: []byte("{}"), Raw: []byte("raw"), Created: time.UnixMilli(5).UTC(), Sent: "sent"}
	s := open(t, path)
	put(t, s, e)
	s.Close()
	execute(t, path, `ALTER TABLE entry DROP COLUMN sum; ALTER TABLE entry ADD COLUMN crc32c INTEGER NOT NULL DEFAULT 7; ALTER TABLE entry ADD COLUMN schema TEXT NOT NULL DEFAULT '';
		ALTER TABLE entry ADD COLUMN finish_reason TEXT NOT NULL DEFAULT ''; ALTER TABLE batch ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
		ALTER TABLE batch ADD COLUMN cost_nano_usd INTEGER NOT NULL DEFAULT 0; DROP TABLE learnt; PRAGMA user_version = 3`)
	for n := range 2 { // it is brought up once
		s = open(t, path)
		if got, err := s.Get(t.Context(), e.Key); err != nil || got == nil || string(got.Raw) != "raw" || got.Sent != "sent" {
			t.Errorf("%+v, %v", got, err)
		}
		put(t, s, testEntry(n))
		if err := s.AddBatch(t.Context(), &cache.Batch{Token: testKey(n)}, nil); err != nil {
			t.Error(err)
		}
		want := cache.Learnt{Endpoint: "there", Model: "m", Name: "context", Value: 4096, At: time.UnixMilli(int64(7 + n)).UTC()}
		if err := s.Learn(t.Context(), want); err != nil {
			t.Error(err)
		}
		for since, count := range map[int64]int{0: 1, 9: 0} {
			if all, err := s.Learnt(t.Context(), "there", time.UnixMilli(since)); err != nil || len(all) != count || count > 0 && all[0] != want {
				t.Errorf("since %d: %+v, %v", since, all, err)
			}
		}
		s.Close()
	}
}
