package disk_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ibid/dataset/disk"
)

func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	open := func() *disk.File {
		f, err := disk.Open(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := disk.TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := disk.TryLock(second); !errors.Is(err, disk.ErrHeld) {
		t.Errorf("a second lock: %v, want ErrHeld", err)
	}
	if _, err := io.WriteString(second, "written"); err != nil {
		t.Errorf("a lock keeps others from writing: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "written" {
		t.Errorf("a lock keeps others from reading: %q, %v", text, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := disk.TryLock(second); err != nil {
		t.Errorf("a lock outlives its file: %v", err)
	}
}

// TestRename: a file that is open takes the place of another, and can be removed.
func TestRename(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(to, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := disk.Open(from, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "new"); err != nil {
		t.Fatal(err)
	}
	if err := disk.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(to); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(to); err != nil {
		t.Errorf("an open file cannot be removed: %v", err)
	}
	f.Close() // some systems keep the name until then
	if _, err := disk.Open(to, os.O_WRONLY); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if err := disk.Rename(from, to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rename of nothing: %v", err)
	}
}

func TestNameless(t *testing.T) {
	dir := t.TempDir()
	f, err := disk.Nameless(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4)
	if _, err := f.WriteAt([]byte("text"), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(text, 1<<20); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
