// Command build makes a site of the README and of all pages that it leads to:
//
//	go run ./docs/build -o docs/site
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

func main() {
	out := flag.String("o", "docs/site", "folder of the site")
	flag.Parse()
	if err := build(".", *out); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// link is a relative link or picture of a page that goldmark has written.
var link = regexp.MustCompile(`(href|src|srcset)="([^":#]+)(#[^"]*)?"`)

// build writes README.md as index.html, and all that can be reached from it: pages of
// Markdown as HTML, other files as they are.
func build(from, to string) error {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
	waiting := []string{"README.md"}
	seen := map[string]bool{"README.md": true}
	for len(waiting) > 0 {
		name := waiting[0]
		waiting = waiting[1:]
		text, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".md") {
			var body, whole bytes.Buffer
			if err := markdown.Convert(text, &body); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			linked := link.ReplaceAllStringFunc(body.String(), func(m string) string {
				part := link.FindStringSubmatch(m)
				target := path.Join(path.Dir(name), part[2])
				if !seen[target] {
					seen[target] = true
					waiting = append(waiting, target)
				}
				return part[1] + `="` + htmlName(part[2]) + part[3] + `"`
			})
			title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
			err := page.Execute(&whole, map[string]any{"Title": title, "Root": strings.Repeat("../", strings.Count(name, "/")), "Body": template.HTML(linked)})
			if err != nil {
				return err
			}
			name, text = htmlName(name), whole.Bytes()
		}
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// htmlName is where a page is in the site.
func htmlName(name string) string {
	base, ok := strings.CutSuffix(name, ".md")
	if !ok {
		return name
	}
	if path.Base(base) == "README" {
		return path.Join(path.Dir(base), "index.html")
	}
	return base + ".html"
}
