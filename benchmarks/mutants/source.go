//go:build unix

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed switch.go.txt
var switchSource string

const switchFile = "mutants_switch.go"

// A source is a package whose files can be written with all mutants in them.
type source struct {
	Dir, ImportPath, Name string
	GoFiles               []string
	TestGoFiles           []string
	XTestGoFiles          []string
	Export                string
	DepOnly               bool
	Module                struct{ Dir string }

	files   []string // what is mutated, all if empty
	mutants []*mutant
	edits   map[string][]edit // by file
	text    map[string]string
	exports map[string]string // files of what it imports, by path
}

// load gives the packages that a pattern names, with the exports of what they import. A
// pattern that ends with names of files, as in ./judge/combine.go,judge.go or
// ./dataset/resolve*.go, is a package of which only those are mutated.
func load(pattern string) ([]*source, error) {
	var files []string
	if strings.HasSuffix(pattern, ".go") {
		var names string
		pattern, names = path.Split(pattern)
		files = strings.Split(names, ",")
	}
	args := []string{"list", "-export", "-deps", "-json=Dir,ImportPath,Name,GoFiles,TestGoFiles,XTestGoFiles,Export,DepOnly,Module", pattern, "cmp", "os", "strconv", "sync"} // what the switch imports
	out, err := output(exec.Command("go", args...))
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	var list []*source
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		s := &source{exports: exports, files: files}
		if err := dec.Decode(s); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		exports[s.ImportPath] = s.Export
		if !s.DepOnly && s.Module.Dir != "" {
			list = append(list, s)
		}
	}
}

func output(c *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// name is the package below the root of the module.
func (s *source) name() string {
	dir, err := filepath.Rel(s.Module.Dir, s.Dir)
	if err != nil {
		return s.ImportPath
	}
	return filepath.ToSlash(dir)
}

// label is name, with the files that are mutated where that is not all.
func (s *source) label() string {
	if len(s.files) == 0 {
		return s.name()
	}
	return s.name() + "/" + strings.Join(s.files, ",")
}

func (s *source) mutates(file string) bool {
	return len(s.files) == 0 || slices.ContainsFunc(s.files, func(glob string) bool {
		matches, _ := path.Match(glob, file)
		return matches
	})
}

func (s *source) check(fset *token.FileSet, files []*ast.File, info *types.Info, note func(types.Error)) (*types.Package, error) {
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(s.exports[path])
	})}
	if note != nil {
		conf.Error = func(err error) { note(err.(types.Error)) }
	}
	return conf.Check(s.ImportPath, fset, files, info)
}

// find finds all mutants that compile.
func (s *source) find() error {
	s.edits, s.text = make(map[string][]edit), make(map[string]string)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range s.GoFiles {
		text, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			return err
		}
		s.text[name] = string(text)
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}
	pkg, err := s.check(fset, files, info, nil)
	if err != nil {
		return err
	}
	next := 0
	for i, f := range files {
		file := s.GoFiles[i]
		if ast.IsGenerated(f) || !s.mutates(file) {
			continue
		}
		m := &mutator{fset: fset, info: info, pkg: pkg, file: f, name: path.Join(s.name(), file), src: s.text[file], next: &next}
		m.run()
		s.mutants = append(s.mutants, m.mutants...)
		s.edits[file] = m.edits
	}
	for {
		bad, err := s.refused()
		if err != nil {
			return err
		}
		if len(bad) == 0 {
			break
		}
		for _, m := range bad {
			m.bad = true
		}
	}
	s.mutants = slices.DeleteFunc(s.mutants, func(m *mutant) bool { return m.bad })
	times := make(map[string]int)
	for _, m := range s.mutants {
		key := m.key()
		times[key]++
		if n := times[key]; n > 1 {
			m.change += fmt.Sprintf(" #%d", n)
		}
	}
	return nil
}

// refused checks the mutated package and gives the mutants without which it may compile:
// the innermost around each error.
func (s *source) refused() ([]*mutant, error) {
	fset := token.NewFileSet()
	files := []*ast.File{}
	made := make(map[string][]placed)
	for _, name := range s.GoFiles {
		text, places := s.write(name)
		made[name] = places
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("%s: the mutated source: %w", s.ImportPath, err)
		}
		files = append(files, f)
	}
	f, err := parser.ParseFile(fset, switchFile, s.switches(), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var bad []*mutant
	_, err = s.check(fset, append(files, f), nil, func(e types.Error) {
		at := e.Fset.Position(e.Pos)
		var inner []placed
		for _, p := range made[at.Filename] {
			if p.lo <= at.Offset && at.Offset < p.hi {
				inner = append(inner, p)
			}
		}
		if len(inner) == 0 { // a return that is missed, at the end of its function
			for _, p := range made[at.Filename] {
				if p.mutants[0].line == at.Line {
					inner = append(inner, p)
				}
			}
		}
		least := slices.MinFunc(append(inner, placed{hi: 1 << 40}), func(a, b placed) int { return (a.hi - a.lo) - (b.hi - b.lo) })
		bad = append(bad, least.mutants...)
	})
	if err != nil && len(bad) == 0 {
		return nil, fmt.Errorf("%s: the mutated source: %w", s.ImportPath, err)
	}
	return bad, nil
}

func (s *source) switches() string { return strings.ReplaceAll(switchSource, "PACKAGE", s.Name) }

// placed is where mutants are in the mutated source.
type placed struct {
	lo, hi  int
	mutants []*mutant
}

// write gives a file with its mutants, lines as they were.
func (s *source) write(file string) (string, []placed) {
	type numbered struct {
		edit
		n int
	}
	var edits []numbered
	for n, e := range s.edits[file] {
		if slices.ContainsFunc(e.mutants, func(m *mutant) bool { return !m.bad }) {
			edits = append(edits, numbered{e, n})
		}
	}
	slices.SortStableFunc(edits, func(a, b numbered) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.opens != b.opens: // what ends here ends before anything begins
			if a.opens {
				return 1
			}
			return -1
		case a.other != b.other: // the outermost begins first and ends last
			return b.other - a.other
		case a.opens:
			return a.n - b.n
		}
		return b.n - a.n
	})
	var out strings.Builder
	src, at := s.text[file], 0
	var places []placed
	open := make(map[int]int) // number of the edit that begins -> its place
	for _, e := range edits {
		out.WriteString(src[at:e.at])
		if e.opens {
			open[e.n] = len(places)
			places = append(places, placed{lo: out.Len(), mutants: e.mutants})
		}
		out.WriteString(e.text)
		at = e.end
		if begun, is := open[e.n-1]; is && !e.opens && e.other > 0 {
			places[begun].hi = out.Len()
		}
	}
	out.WriteString(src[at:])
	return out.String(), places
}

// overlay writes the mutated package into dir and gives the file that go build -overlay takes.
func (s *source) overlay(dir string) (string, error) {
	replace := make(map[string]string)
	write := func(name, text string) error {
		file := filepath.Join(dir, name)
		replace[filepath.Join(s.Dir, name)] = file
		return os.WriteFile(file, []byte(text), 0o644)
	}
	for _, name := range s.GoFiles {
		text, _ := s.write(name)
		if err := write(name, text); err != nil {
			return "", err
		}
	}
	if err := write(switchFile, s.switches()); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o644)
}
