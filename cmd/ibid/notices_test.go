package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// isNotice matches the names of files that must go along with what is built of a module.
var isNotice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors|third_party)`)

// TestNotices: docs/NOTICES.md has the licences of every module that is in the binary of
// any system, and of no other.
func TestNotices(t *testing.T) {
	t.Parallel()
	modules := make(map[string]string)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules["the Go standard library"] = strings.TrimSpace(string(root))
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[module] = dir
			}
		}
	}
	if len(modules) < 20 {
		t.Fatalf("%d modules; the test must have missed some", len(modules))
	}
	got := notices(t, modules)
	path := filepath.Join("..", "..", "docs", "NOTICES.md")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the modules of the binary say: make notices", path)
	}
}

// notices writes the page: a text that several modules have stands there once.
func notices(t *testing.T, modules map[string]string) string {
	t.Helper()
	users := make(map[string][]string) // of each text
	var texts []string
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		var text strings.Builder
		for _, file := range noticeFiles(t, modules[module]) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s:\n\n%s\n\n", filepath.Base(file), strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")))
		}
		if text.Len() == 0 {
			t.Errorf("%s has no licence", module)
		}
		if _, had := users[text.String()]; !had {
			texts = append(texts, text.String())
		}
		users[text.String()] = append(users[text.String()], module)
	}
	var page strings.Builder
	page.WriteString("# Notices\n\nibid itself is under the licence of the file LICENSE. Its program is built from what follows, on these terms. `make notices` writes this page from the modules.\n")
	for _, text := range texts {
		// Four spaces keep it as it is, whatever is in it.
		indented := strings.TrimRight(regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(text, "    $1"), " \n")
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", strings.Join(users[text], ", "), regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(indented, ""))
	}
	return page.String()
}

// noticeFiles lists the files of a module that must go along with it.
func noticeFiles(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !isNotice.MatchString(e.Name()):
		case e.IsDir():
			within, err := filepath.Glob(filepath.Join(path, "*"))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, within...)
		default:
			files = append(files, path)
		}
	}
	return files
}
