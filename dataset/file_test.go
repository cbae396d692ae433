package dataset

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var errDiskFull = errors.New("disk full")

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.parquet")
	check := func(when, want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: file holds %q, %v; want %q", when, got, err, want)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %d files in the directory, %v; want 1", when, len(entries), err)
		}
	}
	write := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			if _, err := io.WriteString(w, s); err != nil {
				return err
			}
			return err
		}
	}
	if err := WriteFile(path, write("one", nil)); err != nil {
		t.Fatal(err)
	}
	check("new file", "one")
	if err := WriteFile(path, write("two", nil)); err != nil {
		t.Fatal(err)
	}
	check("replaced file", "two")
	if err := WriteFile(path, write("three", errDiskFull)); !errors.Is(err, errDiskFull) {
		t.Errorf("WriteFile of a failing function: %v", err)
	}
	check("failed write", "two")
}

func TestWriteFileIsInvisibleUntilDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("while writing, Stat: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteFileErrors(t *testing.T) {
	dir := t.TempDir()
	ok := func(io.Writer) error { return nil }
	if err := WriteFile(filepath.Join(dir, "missing", "f"), ok); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	target := filepath.Join(dir, "d")
	if err := os.MkdirAll(filepath.Join(target, "inside"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(target, ok); err == nil {
		t.Error("a directory was replaced")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v; want the directory only", len(entries), err)
	}
}
