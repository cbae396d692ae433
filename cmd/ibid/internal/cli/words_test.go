package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mostWords is how long a sentence may be that a person meets.
const mostWords = 25

// notRead are files whose texts are for programs and models: rules, prompts, SQL.
var notRead = []string{
	"judge/quoted.go", "judge/cache/", "judge/openrouter/template.go", "judge/prompts/", "metrics/claims/phrases.go", "metrics/presence/",
	"metrics/token/", "dataset/documents/", "benchmarks/",
}

var sentenceEnd = regexp.MustCompile(`[.;:!?]\)?(\s|$)|\n\n|\n {2,}`)

// TestSentences: no sentence in the program has more than 25 words, in messages, help,
// documentation of columns, settings and metrics, and the texts of pages. Colons and
// semicolons end one as full stops do.
func TestSentences(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	read := 0
	check := func(at, text string) {
		for _, s := range sentenceEnd.Split(text, -1) {
			read++
			if n := len(strings.Fields(s)); n > mostWords {
				t.Errorf("%s: a sentence of %d words: %s", at, n, strings.Join(strings.Fields(s), " "))
			}
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case name == "configs/gone.txt" || strings.HasPrefix(name, "cmd/ibid/internal/cli/") && strings.HasSuffix(name, ".txt"):
			text, err := os.ReadFile(path)
			if d.Name() == "gone.txt" { // a sentence a line
				text = bytes.ReplaceAll(text, []byte("\n"), []byte("\n\n"))
			}
			check(name, string(text))
			return err
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"),
			slices.ContainsFunc(notRead, func(p string) bool { return strings.HasPrefix(name, p) }):
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		tags := make(map[*ast.BasicLit]bool)
		ast.Inspect(f, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				tags[field.Tag] = true
				text, _ := strconv.Unquote(field.Tag.Value)
				for _, key := range []string{"doc", "null"} {
					check(name, reflect.StructTag(text).Get(key))
				}
			}
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && !tags[l] {
				if text, err := strconv.Unquote(l.Value); err == nil {
					check(name+":"+strconv.Itoa(files.Position(l.Pos()).Line), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 5000 {
		t.Errorf("only %d sentences were read", read)
	}
}

// TestNoGoTypes: what a flag takes is named in plain words.
func TestNoGoTypes(t *testing.T) {
	types := regexp.MustCompile(`(?m)^ +(-\w, )?--[\w-]+ (u?int\d*|float\d*|string|\w+Slice|\w+Array|duration|goroutine)\b|\bgoroutines?\b`)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if found := types.FindString(cmd.UsageString()); found != "" {
			t.Errorf("%s --help: %q", cmd.CommandPath(), found)
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(Root())
}
