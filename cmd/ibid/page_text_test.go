package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestPageText compares the visible text of pages with testdata/golden: the sample's
// run, and two nights of it side by side, for two numbers of workers. It guards the
// page while the code that makes it changes.
func TestPageText(t *testing.T) {
	t.Parallel()
	for _, workers := range []string{"1", "3"} {
		dir := t.TempDir()
		mustIbid(t, dir, "init", "-q")
		mustIbid(t, dir, "run", "ibid.yaml", "--id", "first", "--workers", workers, "-q")
		mustIbid(t, dir, "run", "ibid-2.yaml", "--id", "second", "--workers", workers, "-q")
		mustIbid(t, dir, "report", "runs/first", "-o", "sample.html", "-q")
		mustIbid(t, dir, "report", "runs/first", "runs/second", "-o", "nights.html", "-q")
		for _, page := range []string{"sample", "nights"} {
			goldenText(t, "page-"+page+".txt", pageText{}.read(t, filepath.Join(dir, page+".html")))
		}
	}
}

// TestPageTextExpertQA does the same with an annotated corpus. The golden file has none
// of the corpus's texts: no rows, nothing that the page marks as a text from outside, no
// addresses, no long lines.
func TestPageTextExpertQA(t *testing.T) {
	t.Parallel()
	corpus, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data", "expertqa", "rand_test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(corpus)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing", corpus)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustIbid(t, dir, "import", "expertqa", corpus, "-o", "answers.parquet", "--docs", "documents.parquet", "-q")
	mustIbid(t, dir, "run", "answers.parquet", "--documents", "documents.parquet", "--judge", "human", "--id", "expertqa", "--workers", "3", "-q")
	mustIbid(t, dir, "report", "runs/expertqa", "-o", "expertqa.html", "-q")
	got := pageText{withoutTexts: true}.read(t, filepath.Join(dir, "expertqa.html"))
	copied(t, got, string(data))
	goldenText(t, "page-expertqa.txt", got)
}

// goldenText is golden for a text of many lines: it names the first line that differs.
func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	section, g, w := "", strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := 0; ; i++ {
		if i < len(g) && i < len(w) && g[i] == w[i] {
			if strings.HasPrefix(g[i], "== ") {
				section = g[i]
			}
			continue
		}
		t.Errorf("%s is stale; if the change is meant, run go test ./cmd/ibid -run TestPageText -update\nfirst difference: line %d, section %q\ngot:\n%s\nwant:\n%s",
			path, i+1, section, strings.Join(g[min(i, len(g)):min(i+5, len(g))], "\n"), strings.Join(w[min(i, len(w)):min(i+5, len(w))], "\n"))
		return
	}
}

// copied fails the test if eight words in a row of a text occur in the data.
func copied(t *testing.T, text, data string) {
	t.Helper()
	const run = 8
	data = strings.Join(strings.Fields(data), " ")
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := 0; i+run <= len(words); i++ {
			if part := strings.Join(words[i:i+run], " "); strings.Contains(data, part) {
				t.Fatalf("the page's text has a text of the corpus, which may not be copied: %s", part)
			}
		}
	}
}

// A pageText is the visible text of a page: a line for each block, the cells of a table
// separated by tabs, "== ID" before each section. Elements that the script of the page
// shows are not in it; those for readers without a script are.
type pageText struct {
	withoutTexts bool // leave out the texts of rows and documents

	lines []string
	line  strings.Builder
}

// maxNumbersLine is the length in bytes above which a line holds a text.
const maxNumbersLine = 200

// read returns the text of a page, with fixed words for what differs from run to run.
func (p pageText) read(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	root, err := html.ParseWithOptions(f, html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	p.walk(root, false)
	p.flush()
	text := strings.ReplaceAll(strings.Join(p.lines, "\n"), filepath.Dir(path), "FOLDER")
	for _, c := range pageVarying {
		text = c.pattern.ReplaceAllString(text, c.with)
	}
	return text + "\n"
}

// pageVarying are the times, digests, sizes of files and versions of a page. How many
// settings have their default changes with every setting, and is one of them.
var pageVarying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( UTC)?`), "TIME"},
	{regexp.MustCompile(`(?m)(^|· )([0-9]+h)?([0-9]+m)?[0-9.]+(ms|µs|s)( ·|$)`), "${1}DURATION${5}"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA256"},
	{regexp.MustCompile(`(?m)^(version of go\n).*$`), "${1}VERSION"},
	{regexp.MustCompile(`(?m)^(version of ibid\n).*$`), "${1}VERSION"},
	{regexp.MustCompile(`Made by ibid .*?\. This`), "Made by ibid VERSION. This"},
	{regexp.MustCompile(`(?m)^((dataset|documents)\t\S+\t[0-9,]+\t)[0-9,]+`), "${1}BYTES"},
	{regexp.MustCompile(`\([0-9]+ others are\)`), "(N others are)"},
}

// pageBlocks are the elements that begin a line of the text.
var pageBlocks = map[atom.Atom]bool{
	atom.Header: true, atom.Main: true, atom.Footer: true, atom.Nav: true, atom.Section: true, atom.Div: true, atom.P: true, atom.Br: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.Ul: true, atom.Ol: true, atom.Li: true, atom.Dl: true, atom.Dt: true, atom.Dd: true,
	atom.Table: true, atom.Caption: true, atom.Tr: true, atom.Details: true, atom.Summary: true, atom.Figure: true, atom.Figcaption: true,
	atom.Blockquote: true, atom.Pre: true, atom.Noscript: true,
}

// pageInvisible are the elements without visible text. SVG has title and desc, too.
var pageInvisible = map[string]bool{"head": true, "script": true, "style": true, "template": true, "title": true, "desc": true}

// walk adds the text of a node. Inside a cell, a block begins no line.
func (p *pageText) walk(n *html.Node, inCell bool) {
	if n.Type == html.TextNode {
		p.line.WriteString(strings.ReplaceAll(n.Data, "\t", " "))
		return
	}
	block := pageBlocks[n.DataAtom]
	isCell := n.DataAtom == atom.Td || n.DataAtom == atom.Th
	if n.Type == html.ElementNode {
		id, _ := attribute(n, "id")
		if _, hidden := attribute(n, "hidden"); hidden || pageInvisible[n.Data] || p.withoutTexts && n.DataAtom == atom.Section && id == "rows" {
			return
		}
		after := n.PrevSibling != nil && n.PrevSibling.Type == html.ElementNode
		switch {
		case block && !inCell:
			p.flush()
		case isCell && after:
			p.line.WriteByte('\t')
		case block || after:
			p.line.WriteByte(' ')
		}
		if n.DataAtom == atom.Section && id != "" {
			p.lines = append(p.lines, "", "== "+id)
		}
		if p.withoutTexts && isText(n) {
			p.line.WriteString("(text)")
			return
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.walk(c, inCell || isCell)
	}
	if block && inCell {
		p.line.WriteByte(' ')
	} else if block {
		p.flush()
	}
}

// flush ends a line. White space counts as it does in HTML.
func (p *pageText) flush() {
	cells := strings.Split(p.line.String(), "\t")
	p.line.Reset()
	for i, cell := range cells {
		cells[i] = strings.Join(strings.Fields(cell), " ")
	}
	text := strings.Join(cells, "\t")
	if p.withoutTexts {
		text = pageAddress.ReplaceAllString(text, "(address)")
		if len(text) > maxNumbersLine {
			text = "(long line)"
		}
	}
	if strings.Trim(text, "\t") != "" {
		p.lines = append(p.lines, text)
	}
}

var pageAddress = regexp.MustCompile(`https?://\S+`)

// isText reports whether an element holds a text of the data: one whose direction is
// that of its language, a quotation, or more than a name set apart.
func isText(n *html.Node) bool {
	if _, ok := attribute(n, "dir"); ok || n.DataAtom == atom.Blockquote {
		return true
	}
	return n.DataAtom == atom.Bdi && n.FirstChild != nil && strings.ContainsAny(n.FirstChild.Data, " /")
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
