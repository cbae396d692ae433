package harness_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoMeaningOfNilLists parses every file: no code compares a list or mapping of
// options or settings with nil. A list that is not given and an empty one mean the
// same, for a run file cannot tell them apart.
func TestNoMeaningOfNilLists(t *testing.T) {
	var files []*ast.File
	set := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") || name == "testdata" || hasModule(path)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lists := nilLists(files)
	if len(lists) < 10 {
		t.Errorf("%d lists and mappings in options and settings, want all", len(lists))
	}
	for _, f := range files {
		for _, at := range nilComparisons(f, lists) {
			t.Errorf("%s: a list of options is compared with nil; empty must mean the same", set.Position(at))
		}
	}
}

// TestNilListsAreFound checks the check.
func TestNilListsAreFound(t *testing.T) {
	const source = `package p
type Options struct { Phrases []string; Inner Inner; F func() }
type Inner struct { Names map[string]string; Next *Inner }
func f(o Options) bool { return o.Phrases == nil || nil != o.Inner.Names || o.F == nil || len(o.Phrases) == 0 }`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := nilComparisons(f, nilLists([]*ast.File{f})); len(got) != 2 {
		t.Errorf("%d comparisons, want 2", len(got))
	}
}

// nilLists are the names of the fields that are slices or maps, of types named Options
// or Settings and of the structs of the same package in them.
func nilLists(files []*ast.File) map[string]bool {
	type key struct{ pkg, name string }
	structs := map[key]*ast.StructType{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[key{f.Name.Name, spec.Name.Name}] = s
				}
			}
			return true
		})
	}
	lists, seen := map[string]bool{}, map[key]bool{}
	var add func(key)
	add = func(k key) {
		s, ok := structs[k]
		if !ok || seen[k] {
			return
		}
		seen[k] = true
		for _, field := range s.Fields.List {
			switch of := field.Type.(type) {
			case *ast.ArrayType, *ast.MapType:
				for _, name := range field.Names {
					lists[name.Name] = true
				}
			case *ast.Ident:
				add(key{k.pkg, of.Name})
			}
		}
	}
	for k := range structs {
		if strings.HasSuffix(k.name, "Options") || strings.HasSuffix(k.name, "Settings") {
			add(k)
		}
	}
	return lists
}

// nilComparisons are where a field of one of those names is compared with nil. Fields
// of other types that have the name count, too: they are better called otherwise.
func nilComparisons(f *ast.File, lists map[string]bool) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.EQL && b.Op != token.NEQ {
			return true
		}
		for _, sides := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			field, isField := sides[0].(*ast.SelectorExpr)
			null, isNil := sides[1].(*ast.Ident)
			if isField && isNil && null.Name == "nil" && lists[field.Sel.Name] {
				at = append(at, b.Pos())
			}
		}
		return true
	})
	return at
}
