//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A sentence of a comment says how something behaves. Its test fails when that is false,
// which the change makes it: "function: from -> to", or "" where no change of one place does.
type sentence struct{ file, text, test, change string }

// readBehaviour reads the rows of a table of sentences.
func readBehaviour(file string) ([]sentence, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []sentence
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		if len(cells) != 4 {
			return nil, fmt.Errorf("%s: want file, sentence, test and change: %s", file, line)
		}
		list = append(list, sentence{strings.Trim(cells[0], "| `"), cells[1], cells[2], strings.Trim(strings.TrimSuffix(cells[3], " |"), "`")})
	}
	return list, nil
}

// tryBehaviour makes each change of the list and runs the test of its sentence, which must
// fail, and pass without it.
func tryBehaviour(ctx context.Context, o options, w io.Writer) error {
	list, err := readBehaviour(o.behaviour)
	if err != nil {
		return err
	}
	byPackage := make(map[string][]sentence)
	var order []string
	for _, s := range list {
		dir := "./" + path.Dir(s.file)
		if s.change != "" {
			if byPackage[dir] == nil {
				order = append(order, dir)
			}
			byPackage[dir] = append(byPackage[dir], s)
		}
	}
	wrong, tried := 0, 0
	for _, dir := range order {
		n, err := tryPackage(ctx, o, dir, byPackage[dir], w)
		if err != nil {
			return err
		}
		wrong, tried = wrong+n, tried+len(byPackage[dir])
	}
	fmt.Fprintf(w, "%d of %d sentences have a test that fails when they are false; for %d no change is named\n", tried-wrong, tried, len(list)-tried)
	if wrong > 0 {
		return fmt.Errorf("%d tests do not notice", wrong)
	}
	return nil
}

// tryPackage tries the changes of one package and says how many tests do not notice theirs.
func tryPackage(ctx context.Context, o options, pattern string, list []sentence, w io.Writer) (wrong int, err error) {
	packages, err := load(pattern)
	if err != nil {
		return 0, err
	}
	s := packages[0]
	if err := s.find(); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "ibid-mutants-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	overlay, err := s.overlay(dir)
	if err != nil {
		return 0, err
	}
	t, err := compile(ctx, s, overlay, filepath.Join(dir, "package.test"), o)
	if err != nil {
		return 0, err
	}
	for _, x := range list {
		at := slices.IndexFunc(s.mutants, func(m *mutant) bool { return strings.HasSuffix(m.key(), ":"+x.change) })
		if at < 0 {
			fmt.Fprintf(w, "%s: %s\n\tthere is no change %s\n", x.file, x.text, x.change)
			wrong++
			continue
		}
		one := []*oneTest{{name: x.test}}
		passes, err := t.run(ctx, one, 5*time.Minute)
		if err != nil {
			return 0, err
		}
		fails := false
		if passes {
			passed, err := t.run(ctx, one, o.timeout+time.Minute, fmt.Sprintf("MUTANT=%d", s.mutants[at].id))
			if err != nil {
				return 0, err
			}
			fails = !passed
		}
		if !fails {
			wrong++
			fmt.Fprintf(w, "%s: %s\n\t%s does not notice %s\n", x.file, x.text, x.test, x.change)
		}
	}
	return wrong, nil
}
