package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/cmd/ibid/internal/term"
	"ibid/dataset"
	"ibid/report"
	"ibid/report/doc"
)

// write gives the output of a command to -o: standard output; a file, which
// appears whole or not at all; or a device or pipe, which is written to as it is,
// since a file in its place would take it away from everybody.
//
// CSV is made safe for spreadsheets unless --csv raw.
func (a *app) write(f func(w io.Writer) error) error {
	if render := f; a.format == "csv" && a.csv != "raw" {
		f = func(w io.Writer) error {
			s := report.NewSpreadsheet(w)
			return errors.Join(render(s), s.Close())
		}
	}
	if a.output == "-" {
		return f(a.Stdout)
	}
	return writeOutput(a.output, f)
}

func (a *app) show(v report.View) error {
	return a.write(func(w io.Writer) error {
		return report.Write(w, v, a.format, report.TextOptions{All: a.detail, Style: a.style()})
	})
}

func writeOutput(path string, f func(w io.Writer) error) error {
	target, special := outputTarget(path)
	if !special {
		return dataset.WriteFile(target, f)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f(w), w.Close())
}

// outputTarget follows symbolic links, so that a file is replaced and not a link
// to it. Special is true for what is there and is neither file nor folder.
func outputTarget(path string) (target string, special bool) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return path, true
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved, false
	}
	return path, false
}

// datasetTarget is outputTarget for Parquet, which is written to files only.
func datasetTarget(path string) (string, error) {
	target, special := outputTarget(path)
	if special {
		return "", &ibid.Error{Usage: true, Err: &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}, Hint: fmt.Sprintf("a dataset is a file, such as %s.parquet", filepath.Base(path))}
	}
	return target, nil
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// exists reports whether a file or directory is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// say prints a message for people on standard error. What is in it cannot pose as a command
// of a workflow, which has a line of its own.
func (a *app) say(format string, args ...any) {
	text := report.Clean(fmt.Sprintf(format, args...))
	fmt.Fprintf(a.Stderr, "ibid: %s\n", strings.ReplaceAll(text, "\n::", "\n ::"))
}

func (a *app) hint(text string) {
	if text != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", report.Clean(text))
	}
}

// warn prints a warning unless --quiet.
func (a *app) warn(format string, args ...any) {
	if !a.quiet {
		a.say("warning: "+format, args...)
	}
}

func (a *app) style() doc.Style {
	return doc.Style{On: a.output == "-" && term.Colour(a.colour, a.Stdout, a.Getenv)}
}
