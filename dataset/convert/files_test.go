package convert

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestSpool reads a long standard input twice, through a file that is gone
// afterwards.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var b strings.Builder
	for i := 0; b.Len() < 3*1<<20; i++ {
		fmt.Fprintf(&b, `{"custom_id":"q%d","response":{"object":"chat.completion","choices":[{"message":{"content":"ä %s"}}]}}`+"\n", i, strings.Repeat("x", 1000))
	}
	_, report := importText(t, "openai", b.String(), Options{})
	if want := int64(strings.Count(b.String(), "\n")); report.Rows != want || report.Failed != 0 {
		t.Errorf("%d rows, want %d; report %+v", report.Rows, want, report)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestShapes: what a file holds shows in its name or in how it begins.
func TestShapes(t *testing.T) {
	const one = `{"object":"chat.completion","choices":[{"message":{"content":"x"}}]}`
	pretty := "{\n \"object\": \"chat.completion\",\n \"choices\": [{\"message\": {\"content\": \"x\"}}]\n}"
	for name, tt := range map[string]struct {
		text string
		rows int64
	}{
		"one.json":     {one, 1},
		"pretty.json":  {pretty, 1},
		"blank.json":   {"\n\n  " + one + "\n", 1},
		"list.json":    {"[" + one + ",\n" + one + "]", 2},
		"several.json": {pretty + "\n" + pretty, 2},
		"lines.jsonl":  {one + "\n" + one + "\n", 2},
		"lines":        {one + "\n" + one + "\n", 2},
		"pretty":       {pretty, 1},
		"list":         {"[" + one + ",\n" + one + "]", 2},
		"events.sse":   {"data: {\"type\":\"response.created\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n", 1},
		"events":       {"event: x\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\ndata: [DONE]\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			m, report := importPath(t, "openai", path, Options{})
			if report.Rows != tt.rows || report.Failed != 0 {
				t.Errorf("%d rows, want %d; report %+v", len(m.rows), tt.rows, report)
			}
		})
	}
}

// A compressed file whose last line is too long ends as one that is not compressed does.
func TestZstdLongLastLine(t *testing.T) {
	long := append([]byte(`{"id":"1","query":"q","answer":"a"}`+"\n"), bytes.Repeat([]byte("x"), 1<<20)...)
	path := filepath.Join(t.TempDir(), "a.jsonl.zst")
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err == nil {
		_, err = w.Write(long)
	}
	if err := errors.Join(err, w.Close(), os.WriteFile(path, packed.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	var m memory
	report, err := Convert(t.Context(), "jsonl", []string{path}, Options{MaxRecord: 1000}, &m)
	if err != nil || report.Rows != 1 || report.Failed != 1 {
		t.Errorf("%d rows, %d failed, %v; want 1, 1, nil", report.Rows, report.Failed, err)
	}
}

// TestInDirectory: files at any depth, but hidden ones and those of runs of ours.
func TestInDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b/c/deep.jsonl": "{}", "a.json": "{}", "b/readme.txt": "", ".hidden/x.json": "{}", "b/.x.json": "{}", "manifest.json": "[]",
		"b/runs/1/manifest.json": `{"schema":"ibid.manifest/v1"}`, "b/runs/1/import/import.json": "{}",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := inDirectory(dir, []string{".json", ".jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i], _ = filepath.Rel(dir, found[i])
	}
	if got, want := strings.Join(found, " "), "a.json b/c/deep.jsonl manifest.json"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	read, err := Inputs([]string{dir})
	if err != nil || len(read) != 4 { // and the file with another extension
		t.Errorf("%v, %v", read, err)
	}
}
