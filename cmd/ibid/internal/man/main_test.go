package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ibid/cmd/ibid/internal/cli"
)

// Each command that help lists has a page with its flags and examples, and each shell its
// script.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{dir}, path...)...))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	pages := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page := read("man1", name+".1")
		if !strings.Contains(page, ".SH SYNOPSIS") {
			t.Errorf("%s.1 says nothing of how it is typed", name)
		}
		if cmd.Example != "" && !strings.Contains(page, ".SH EXAMPLE") {
			t.Errorf("%s.1 lacks its examples", name)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(cli.Root())
	if pages < 20 {
		t.Errorf("%d pages, want one for each command", pages)
	}
	for shell, name := range completions {
		if script := read("completion", name); !strings.Contains(script, "ibid") {
			t.Errorf("%s has an empty script", shell)
		}
	}
}
