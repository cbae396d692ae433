package harness_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
)

// TestWordsAreSpeltOnce: a status, an outcome, a reason, a word for tampering and a
// kind of label is spelt where it is defined, in the root package, and nowhere else.
// Words that mean other things, too, are found by what they are compared with or
// assigned to.
func TestWordsAreSpeltOnce(t *testing.T) {
	var words []string
	for _, s := range ibid.Statuses() {
		words = append(words, s.String())
	}
	for _, o := range ibid.Outcomes() {
		words = append(words, o.String())
	}
	for r := ibid.NoTruth; r <= ibid.RowError; r++ {
		words = append(words, r.String())
	}
	words = append(words, ibid.Tamperings()...)
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.Contains(w, "_") })
	root, files := "..", 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			// The report has a catalogue of what people read for each of them.
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "report" || hasModule(path)) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Dir(path) == root:
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, said := range spelt(file, words) {
			t.Errorf("%s: %s is spelt again: use what package ibid has", set.Position(said.Pos()), said.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}

// spelt finds the words in a file, and kinds of labels where they are those of a field
// or variable called kind.
func spelt(file *ast.File, words []string) []*ast.BasicLit {
	var out []*ast.BasicLit
	find := func(in []string, x ast.Expr) {
		if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(in, text) {
				out = append(out, lit)
			}
		}
	}
	kinds := ibid.LabelKinds()
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			find(words, n)
		case *ast.KeyValueExpr:
			if named(n.Key, "kind") {
				find(kinds, n.Value)
			}
		case *ast.BinaryExpr:
			if named(n.X, "kind") {
				find(kinds, n.Y)
			}
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if named(x, "kind") && len(n.Rhs) == len(n.Lhs) {
					find(kinds, n.Rhs[i])
				}
			}
		case *ast.SwitchStmt:
			if !named(n.Tag, "kind") {
				return true
			}
			for _, s := range n.Body.List {
				for _, x := range s.(*ast.CaseClause).List {
					find(kinds, x)
				}
			}
		}
		return true
	})
	return out
}

// named reports whether an expression is a variable or a field of that name.
func named(x ast.Expr, name string) bool {
	if s, ok := x.(*ast.SelectorExpr); ok {
		x = s.Sel
	}
	id, ok := x.(*ast.Ident)
	return ok && strings.EqualFold(id.Name, name)
}

func TestSpelt(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
var a = map[string]int{"row_error": 1}
var b = label{Kind: "support"}
func f(kind string) {
	if x.Kind != "relevant" { x.Kind = "factual" }
	switch kind { case "needs_citation", "other": }
	column("support")
}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, lit := range spelt(file, []string{"row_error"}) {
		got = append(got, lit.Value)
	}
	if want := []string{`"row_error"`, `"support"`, `"relevant"`, `"factual"`, `"needs_citation"`}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
