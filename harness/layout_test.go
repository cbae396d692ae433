package harness_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// mayImport pins which packages of this module a package may import, and which
// third-party modules enter at it. Packages form a line: values at the bottom,
// files in the middle, people at the top. Tests are free.
var mayImport = map[string]struct{ ours, theirs []string }{
	".":                {}, // everybody may import it
	"metrics/span":     {},
	"metrics/token":    {ours: []string{"metrics/span"}, theirs: []string{"github.com/clipperhouse/uax29/v2"}},
	"metrics/quote":    {ours: []string{"metrics/token"}, theirs: []string{"golang.org/x/text"}},
	"metrics/presence": {ours: []string{"metrics/claims"}},
	"metrics/claims":   {ours: []string{"metrics/token"}, theirs: []string{"github.com/yuin/goldmark"}},
	"metrics/dialect":  {ours: []string{"metrics/span"}},
	"metrics/stats":    {theirs: []string{"gonum.org/v1/gonum"}},
	"metrics":          {ours: []string{"metrics/span", "metrics/token", "metrics/presence", "metrics/dialect"}},
	"judge":            {ours: []string{"metrics/quote", "metrics/token"}, theirs: []string{"github.com/go-json-experiment/json", "golang.org/x/text"}},
	"judge/prompts":    {},
	"judge/openrouter": {
		ours:   []string{"dataset/disk", "judge", "judge/cache", "judge/openrouter", "judge/prompts", "metrics/token"},
		theirs: []string{"github.com/sashabaranov/go-openai", "golang.org/x/sync", "golang.org/x/time"},
	},
	"judge/cache":     {theirs: []string{"modernc.org/sqlite"}},
	"judge/judgetest": {theirs: []string{"golang.org/x/time"}}, // for tests alone: TestFakesAreForTests
	// The only room that knows object storage, its library included.
	"dataset/objects": {ours: []string{"dataset/disk"}, theirs: []string{"github.com/minio/minio-go/v7"}},
	"dataset/parquet": {ours: []string{"dataset/disk", "dataset/objects"}, theirs: []string{
		// its writer, schema, footer and page structs, and its encodings; pages are read here
		"github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli", "github.com/pierrec/lz4/v4",
	}},
	"dataset/disk":      {theirs: []string{"golang.org/x/sys"}},
	"dataset/documents": {theirs: []string{"github.com/ledongthuc/pdf", "golang.org/x/net/html", "golang.org/x/text"}},
	"dataset": {
		ours:   []string{"dataset/disk", "dataset/documents", "dataset/objects", "dataset/parquet", "metrics/span", "metrics/token", "metrics/quote"},
		theirs: []string{"github.com/apache/arrow/go/v17", "golang.org/x/text"},
	},
	"dataset/convert": {ours: []string{"dataset", "dataset/disk", "dataset/documents", "metrics/claims", "metrics/span", "metrics/token", "metrics/presence", "metrics/quote"}, theirs: []string{"github.com/go-json-experiment/json", "github.com/itchyny/gojq", "github.com/klauspost/compress"}},
	// The only room that asks other people's servers for pages. harness is not above it:
	// a run never fetches.
	"dataset/fetch": {
		ours:   []string{"dataset", "dataset/disk", "dataset/documents", "metrics/presence"},
		theirs: []string{"github.com/temoto/robotstxt", "golang.org/x/sync", "golang.org/x/time"},
	},
	"dataset/runs":        {ours: []string{"configs", "dataset", "dataset/convert", "dataset/disk", "dataset/parquet", "metrics", "metrics/stats"}},
	"annotations":         {ours: []string{"dataset", "dataset/runs", "metrics", "metrics/span", "metrics/stats"}},
	"annotations/round":   {ours: []string{"annotations", "dataset", "dataset/disk", "dataset/runs", "metrics", "metrics/claims", "metrics/span", "metrics/stats"}},
	"annotations/compare": {ours: []string{"configs", "dataset", "dataset/runs", "dataset/parquet", "metrics", "metrics/stats"}},
	"annotations/history": {ours: []string{"annotations/compare", "dataset", "dataset/disk", "dataset/runs", "metrics"}},
	"configs":             {theirs: []string{"github.com/goccy/go-yaml"}},
	"report/doc":          {theirs: []string{"github.com/rivo/uniseg"}},
	"report":              {ours: []string{"configs", "dataset", "dataset/runs", "dataset/parquet", "metrics", "metrics/quote", "metrics/presence", "metrics/span", "metrics/stats", "annotations", "annotations/compare", "annotations/history", "report/doc"}, theirs: []string{"github.com/klauspost/compress"}},
	"harness": {
		ours: []string{
			"configs", "dataset", "dataset/convert", "dataset/disk", "dataset/objects", "dataset/runs", "dataset/parquet", "metrics", "metrics/span", "metrics/token", "metrics/presence",
			"metrics/claims", "metrics/dialect", "metrics/quote", "metrics/stats", "judge", "judge/cache", "judge/openrouter", "annotations", "annotations/compare", "annotations/history",
		},
		theirs: []string{"golang.org/x/sync"},
	},
	"cmd/ibid": {ours: []string{"cmd/ibid/internal/cli"}},
	// Pages for the browser at this machine; its users bring what is shown.
	"cmd/ibid/internal/loopback": {},
	"cmd/ibid/internal/annotate": {ours: []string{"annotations", "annotations/round", "report", "report/doc"}, theirs: []string{"github.com/yuin/goldmark"}},
	"cmd/ibid/internal/term":     {theirs: []string{"golang.org/x/term"}},
	"cmd/ibid/internal/cli": {
		ours: []string{
			"annotations/round", "cmd/ibid/internal/annotate", "cmd/ibid/internal/loopback", "cmd/ibid/internal/term", "configs", "dataset", "dataset/convert", "dataset/disk", "dataset/fetch", "dataset/objects", "dataset/runs", "dataset/parquet", "metrics", "metrics/span", "metrics/token",
			"metrics/presence", "metrics/claims", "metrics/stats", "harness", "report", "report/doc", "annotations", "annotations/compare", "annotations/history", "judge", "judge/cache", "judge/openrouter", "judge/prompts",
		},
		theirs: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
	},
	"cmd/ibid/internal/man": {ours: []string{"cmd/ibid/internal/cli"}, theirs: []string{"github.com/spf13/cobra"}},
}

// TestImportDirection parses the import clauses of every file. It does not ask
// the go command, whose answer the test cache would keep.
func TestImportDirection(t *testing.T) {
	root := ".."
	seen := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root {
			if strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "runs" && filepath.Dir(path) == root || hasModule(path) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg = filepath.ToSlash(pkg)
		seen[pkg] = true
		checkImports(t, path, pkg)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"metrics/span", "metrics", "dataset", "harness", "cmd/ibid/internal/cli"} {
		if !seen[must] {
			t.Errorf("no file of package %s was found", must)
		}
	}
}

// TestFakesAreForTests parses the import clauses of every file, in other modules of the repository,
// too: only tests import the fake services.
func TestFakesAreForTests(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if spec.Path.Value != strconv.Quote(module()+"/judge/judgetest") {
				continue
			}
			if seen++; !strings.HasSuffix(path, "_test.go") {
				t.Errorf("%s imports the fake services and is no test", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("%d files import the fake services", seen)
	}
}

// everywhere are the names of package syscall that every system has which ibid is built for.
var everywhere = []string{"ENOTDIR", "RawConn", "SIGTERM"}

// TestSystems: what only some systems have is behind a build constraint, so that ibid
// builds for the others. Looking is faster than building for each.
func TestSystems(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || hasModule(path) && path != "..") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, goos := range []string{"windows", "darwin"} {
			system := build.Default
			system.GOOS = goos
			if matches, err := system.MatchFile(filepath.Dir(path), d.Name()); err != nil || !matches {
				return err
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		seen++
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "syscall" && !slices.Contains(everywhere, s.Sel.Name) {
				t.Errorf("%s: syscall.%s is not on every system", path, s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d files were looked at", seen)
	}
}

// module is the path of the module, which make home changes.
var module = sync.OnceValue(func() string {
	text, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		panic(err)
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(string(text), "module "), "\n")
	return path
})

func hasModule(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return len(found) > 0
}

func checkImports(t *testing.T, path, pkg string) {
	t.Helper()
	allowed, ok := mayImport[pkg]
	if !ok {
		t.Errorf("%s: package %s is not in the import table", path, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		ours, isOurs := strings.CutPrefix(imported, module()+"/")
		first, _, _ := strings.Cut(imported, "/")
		switch {
		case imported == module(): // everybody may
		case isOurs:
			if !slices.Contains(allowed.ours, ours) {
				t.Errorf("%s: package %s must not import %s", path, pkg, ours)
			}
		case strings.Contains(first, "."):
			within := func(theirs string) bool { return imported == theirs || strings.HasPrefix(imported, theirs+"/") }
			if !slices.ContainsFunc(allowed.theirs, within) {
				t.Errorf("%s: package %s must not import %s", path, pkg, imported)
			}
		}
	}
}
