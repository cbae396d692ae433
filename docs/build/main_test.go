package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBuild: every page of the site has a title, and every link of it leads somewhere.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	if err := build(filepath.Join("..", ".."), dir); err != nil {
		t.Fatal(err)
	}
	pages, links := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages++
		if strings.Contains(string(text), "<title> ·") || !strings.Contains(string(text), "<h1") {
			t.Errorf("%s has no title", path)
		}
		for _, m := range regexp.MustCompile(`(?:href|src|srcset)="([^":#]+)`).FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 15 || links < 200 {
		t.Errorf("%d pages, %d links", pages, links)
	}
}
