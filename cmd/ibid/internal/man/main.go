// Command man writes a manual page for each command of ibid, and the scripts that complete
// them in a shell:
//
//	go run ./cmd/ibid/internal/man -o docs/man
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"

	"ibid/cmd/ibid/internal/cli"
)

func main() {
	out := flag.String("o", "docs/man", "folder of the pages")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// completions are the files that shells look for.
var completions = map[string]string{"bash": "ibid", "zsh": "_ibid", "fish": "ibid.fish", "powershell": "ibid.ps1"}

// write writes the pages into dir/man1 and the scripts into dir/completion. They are the
// same for the same program.
func write(dir string) error {
	pages, scripts := filepath.Join(dir, "man1"), filepath.Join(dir, "completion")
	for _, path := range []string{pages, scripts} {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
	}
	header := &doc.GenManHeader{Title: "IBID", Section: "1", Source: "ibid", Manual: "ibid", Date: new(time.Time)}
	if err := doc.GenManTree(cli.Root(), header, pages); err != nil {
		return err
	}
	for shell, name := range completions {
		var script bytes.Buffer
		if code := cli.Main(context.Background(), cli.Process{Args: []string{"completion", shell}, Stdout: &script, Stderr: os.Stderr}); code != cli.ExitOK {
			return fmt.Errorf("completion %s: exit code %d", shell, code)
		}
		if err := os.WriteFile(filepath.Join(scripts, name), script.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}
