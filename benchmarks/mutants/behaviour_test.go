//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBehaviour: the sentences of behaviour.md stand in the comments of their files, and their
// tests in the packages.
func TestBehaviour(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := readBehaviour("behaviour.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		file, sentence, test := s.file, s.text, s.test
		path := filepath.Join(root, filepath.FromSlash(file))
		source, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		var comments strings.Builder
		for line := range strings.Lines(string(source)) {
			if _, comment, is := strings.Cut(line, "//"); is {
				comments.WriteString(" " + comment)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(comments.String()), " "), sentence) {
			t.Errorf("%s does not say: %s", file, sentence)
		}
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, path := range tests {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+test+"(")
		}
		if !found {
			t.Errorf("%s has no %s", filepath.Dir(file), test)
		}
	}
	if len(list) < 50 {
		t.Errorf("%d sentences", len(list))
	}
}
