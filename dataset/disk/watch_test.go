package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/dataset/disk"
)

// A watch notes what is done, and lets one operation fail.
type watch struct {
	begun, done []disk.Op
	fails       int // counted from 0, -1 for none
	bytes       int // of a write that fails, that are written before
}

var errFault = errors.New("the disk is on fire")

func (w *watch) Before(op disk.Op) (int, error) {
	if w.begun = append(w.begun, op); len(w.begun)-1 == w.fails {
		return w.bytes, errFault
	}
	return 0, nil
}

func (w *watch) Done(op disk.Op) { w.done = append(w.done, op) }

// names are operations as a reader says them, with paths below dir.
func names(ops []disk.Op, dir string) (out []string) {
	for _, op := range ops {
		out = append(out, strings.TrimSpace(string(op.Act)+" "+strings.TrimPrefix(strings.TrimPrefix(op.Path, dir), "/")))
	}
	return out
}

// work is what a run does with files: each kind of operation at least once.
func work(dir string) error {
	sub := filepath.Join(dir, "a")
	file := filepath.Join(sub, "f")
	if err := disk.MkdirAll(sub); err != nil {
		return err
	}
	f, err := disk.Open(file, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("hello"))
	for _, step := range []func() error{
		f.Sync,
		func() error { return f.Truncate(4) },
		func() error { _, err := f.ReadAt(make([]byte, 4), 0); return err },
	} {
		if err == nil {
			err = step()
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { _, err := disk.ReadFile(file); return err },
		func() error { _, err := disk.Stat(file); return err },
		func() error { _, err := disk.ReadDir(sub); return err },
		func() error { return disk.Link(file, file+"2") },
		func() error { return disk.Rename(file, file+"3") },
		func() error { return disk.RenameFolder(sub, filepath.Join(dir, "b")) },
		func() error { return disk.Remove(filepath.Join(dir, "b", "f2")) },
		func() error { return disk.RemoveAll(filepath.Join(dir, "b")) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// TestWatched: a watch sees every operation in its order and none that failed as done; an
// operation that it lets fail is not done, and says which it was.
func TestWatched(t *testing.T) {
	dir := t.TempDir()
	all := &watch{fails: -1}
	stop := disk.Watched(all)
	err := work(dir)
	stop()
	want := []string{
		"mkdir a", "create a/f", "write a/f", "sync a/f", "truncate a/f", "read a/f", "close a/f",
		"open a/f", "read a/f", "read a/f", "close a/f", "stat a/f", "list a", "link a/f", "rename a/f", "sync of a folder a",
		"rename a", "remove b/f2", "list b", "remove b/f3", "remove b",
	}
	if got := names(all.done, dir); err != nil || !slices.Equal(got, want) || len(all.begun) != len(all.done) {
		t.Fatalf("%v, %d begun, done:\n%q, want\n%q", err, len(all.begun), got, want)
	}
	for k, op := range all.begun {
		under := t.TempDir()
		one := &watch{fails: k}
		stop := disk.Watched(one)
		err := work(under)
		stop()
		path, ok := errors.AsType[*fs.PathError](err)
		if !errors.Is(err, errFault) || !ok || path.Op != string(op.Act) || path.Path != one.begun[k].Path {
			t.Errorf("%s fails: %v", want[k], err)
		}
		// What was done is what came before, and a file that is open is closed.
		if got := names(one.done, under); !slices.Equal(got[:k], want[:k]) || len(got) > k && (len(got) > k+1 || got[k] != "close a/f") {
			t.Errorf("%s fails, but %q was done", want[k], got)
		}
	}
	begun := len(all.begun)
	if err := work(dir); err != nil || len(all.begun) != begun {
		t.Errorf("without a watch: %v; one that was stopped has seen %d", err, len(all.begun)-begun)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestHalfWrite: a write that fails in the middle leaves what was written before.
func TestHalfWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	defer disk.Watched(&watch{fails: 1, bytes: 3})()
	f, err := disk.Open(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Write([]byte("hello")); n != 3 || !errors.Is(err, errFault) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "hel" {
		t.Errorf("%q, %v", text, err)
	}
	if f, err := disk.Nameless(""); err != nil {
		t.Error(err)
	} else if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadFrom: files are copied with what was asked for, under a watch and without one, and
// a limit says what is left of it.
func TestReadFrom(t *testing.T) {
	for _, under := range []bool{false, true} {
		if under {
			defer disk.Watched(&watch{fails: -1})()
		}
		dir := t.TempDir()
		from, err := disk.Open(filepath.Join(dir, "from"), os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		to, err := disk.Open(filepath.Join(dir, "to"), os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		if _, err := io.WriteString(from, "0123456789"); err != nil {
			t.Fatal(err)
		}
		if _, err := from.Seek(2, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		part := &io.LimitedReader{R: from, N: 3}
		if n, err := to.ReadFrom(part); n != 3 || part.N != 0 || err != nil {
			t.Errorf("a part: %d, left %d, %v", n, part.N, err)
		}
		if n, err := to.ReadFrom(from); n != 5 || err != nil {
			t.Errorf("the rest: %d, %v", n, err)
		}
		more := &io.LimitedReader{R: strings.NewReader("ab"), N: 9}
		if n, err := to.ReadFrom(more); n != 2 || more.N != 7 || err != nil {
			t.Errorf("of a text: %d, left %d, %v", n, more.N, err)
		}
		info, err := to.Stat()
		if text, e := disk.ReadFile(to.Name()); err != nil || e != nil || string(text) != "23456789ab" || info.Size() != int64(len(text)) {
			t.Errorf("%q, %v, %v", text, err, e)
		}
	}
}
