package doc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

// everything has a string in every place of every block.
func everything(s string) []Block {
	table := Table{
		Caption: "t " + s, Class: "metrics",
		Columns: []Column{{Name: s}, {Name: "value", Number: true}, {Name: "drawn", Page: true}, {Name: "spare", Keep: 3}, {Name: "empty"}},
		Rows: [][]Cell{
			{{Text: Text{{Text: s, Link: s}}, Notes: []string{"about " + s}}, C("0.5"), {Strip: &Strip{At: 0.5, Marks: []float64{2}, Label: s}}, C(s), {}},
			{C("second"), {Text: Text{{Text: s, Tone: Bad}}, Step: 10}, {}, C("0"), {}},
		},
	}
	return []Block{Section{ID: "part", Title: s, Blocks: []Block{
		Para{Kind: Lead, Text: T(s)},
		Para{Kind: Item, Text: T(s)},
		Para{Kind: Item, Text: T(s)},
		Para{Kind: Note, Text: T(s)},
		Para{Kind: Small, Text: T(s)},
		Para{Text: T(s)},
		Heading{Text: T(s)},
		table,
		Facts{{Name: s, Text: T(s)}},
		Panels{{Title: s, Text: Text{{Text: s, Mark: Marked}, {Text: s, Mark: MarkedByAll}, {Text: s}}, Below: s}},
		Chart{Caption: s, Labels: []string{s, "b", "c"}, Low: "0", High: "1", Breaks: []int{2}, Series: []Series{
			{s, []*Strip{{At: 0.5, Label: s, Interval: true, High: 1}, nil, {At: 2, Label: s}}},
		}},
		Details{Summary: s, Open: true, Blocks: []Block{Para{Text: T("in " + s)}}},
		Details{Summary: "folded " + s, Blocks: []Block{Para{Text: T("hidden")}}},
	}}}
}

func TestText(t *testing.T) {
	const want = `careful
- a
- b

t careful
careful     value  spare
careful¹      0.5  careful
second    careful  0

more
in

folded, with -v

¹ about careful
`
	table := everything("careful")[0].(Section).Blocks[7]
	got := FormatText(TextOptions{},
		Section{Title: "careful", Blocks: []Block{
			Para{Kind: Item, Text: T("a")},
			Para{Kind: Item, Text: T("b")},
			table,
			Details{Summary: "more", Open: true, Blocks: []Block{Para{Text: T("in")}}},
			Details{Summary: "folded", Blocks: []Block{Para{Text: T("hidden")}}},
		}})
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if all := FormatText(TextOptions{All: true}, Details{Summary: "folded", Blocks: []Block{Para{Text: T("hidden")}}}); all != "folded\nhidden\n" {
		t.Errorf("all is %q", all)
	}
}

// TestLongFacts puts a text below its name where the names leave no room beside them.
func TestLongFacts(t *testing.T) {
	var facts Facts
	facts.Add("ibid show runs/a-long-name-of-a-run q-01/a-system-of-a-long-name", "# the worst: nothing cited")
	facts.Add("short", "# all")
	const want = "ibid show runs/a-long-name-of-a-run q-01/a-system-of-a-long-name\n  # the worst: nothing cited\nshort\n  # all\n"
	if got := FormatText(TextOptions{}, facts); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestColumnsLeave: the columns with the highest Keep leave together where there is no
// room, then the first is clipped. Codes of a style take no room.
func TestColumnsLeave(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "system"}, {Name: "a", Keep: 1}, {Name: "b", Keep: 2, Number: true}, {Name: "c", Keep: 2}},
		Rows:    [][]Cell{{C("漢字 system"), {Text: Text{{Text: "worse", Tone: Bad}}}, C("0.1"), C("0.22")}},
	}
	for width, want := range map[int]string{
		80: "\x1b[2msystem       a        b  c\x1b[0m\n漢字 system  \x1b[31mworse\x1b[0m  0.1  0.22\n",
		26: "\x1b[2msystem       a\x1b[0m\n漢字 system  \x1b[31mworse\x1b[0m\n",
		11: "\x1b[2msystem\x1b[0m\n漢字 system\n",
		9:  "\x1b[2msystem\x1b[0m\n漢字 sys…\n",
	} {
		if got := FormatText(TextOptions{Width: width, Style: Style{On: true}}, table); got != want {
			t.Errorf("%d columns: got\n%q, want\n%q", width, got, want)
		}
	}
}

// TestNotesOfShownColumns: notes of columns that are not shown are not there, but those of the
// last column, which are of the row, unless the table says that they are not.
func TestNotesOfShownColumns(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "gate"}, {Name: "spare", Keep: 1}, {Name: "value"}},
		Rows:    [][]Cell{{C("char_f1"), {Text: T("long enough to leave"), Notes: []string{"hidden"}}, {Text: T("0.5"), Notes: []string{"seen"}}}},
	}
	const want = "gate     value\nchar_f1  0.5¹\n\n¹ seen\n"
	if got := FormatText(TextOptions{Width: 30}, table); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	table.Columns[2].Keep = 1
	for apart, want := range map[bool]string{false: "gate\nchar_f1¹\n\n¹ seen\n", true: "gate\nchar_f1\n"} {
		table.Apart = apart
		if got := FormatText(TextOptions{Width: 20}, table); got != want {
			t.Errorf("apart %v: got\n%s, want\n%s", apart, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := FormatMarkdown(everything("a|b @ada <b>#1")...)
	for _, want := range []string{
		"## a\\|b @<!-- -->ada &lt;b>#<!-- -->1\n", "- a\\|b", "| a\\|b @<!-- -->ada &lt;b>#<!-- -->1 | value |\n| --- | --: |\n", "| 0.5 |\n",
		"<details open><summary>a\\|b", "<details><summary>folded", "> a\\|b", "**a\\|b", "\n¹ about a",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	for _, gone := range []string{"drawn", "spare", "empty"} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is shown", gone)
		}
	}
}

// TestMarkdownLinks: links to other sites are links, those within a page are not, and neither their
// text nor their address is markup.
func TestMarkdownLinks(t *testing.T) {
	text := Text{{Text: "# see "}, {Text: "a](b", Link: "https://example.org/x_(1)#row=q 1"}, {Text: ", # "}, {Text: "here", Link: "#row=q"}}
	for _, kind := range []Kind{Plain, Item} {
		want := map[Kind]string{Plain: "", Item: "- "}[kind] + `\#<!-- --> see [a\](b](https://example.org/x_%281%29#row=q%201), #<!-- --> here` + "\n"
		if got := FormatMarkdown(Para{Kind: kind, Text: text}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSafeLinks: links lead within the page, to http and https, and to files beside it.
func TestSafeLinks(t *testing.T) {
	for link, want := range map[string]bool{
		"#row=a:b": true, "https://example.org/a:b": true, "http://example.org": true, "night.html": true, "a/b.html": true, "": true,
		"javascript:alert(1)": false, " javascript:x": false, "data:text/html,x": false, "//example.org": false, "/etc/passwd": false, `\\host\x`: false, "java\nscript.x": false, "JAVASCRIPT:x": false,
	} {
		if got := safe(link) == link; got != want {
			t.Errorf("%q is safe: %t", link, got)
		}
	}
}

// TestConstantMarkup: what the HTML is made of stands in the source. Only put writes, no string
// is turned into markup, and markup has a place for each text.
func TestConstantMarkup(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "html.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]bool{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "constant" {
					t.Errorf("%s turns a string into markup", f.Name)
				}
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "put" {
					if literal, ok := n.Args[0].(*ast.BasicLit); ok && strings.Count(literal.Value, "{}") != len(n.Args)-1 {
						t.Errorf("%s: %s has not a place for each of %d texts", f.Name, literal.Value, len(n.Args)-1)
					}
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "out" {
					writes[f.Name.Name] = true
				}
			}
			return true
		})
	}
	for name := range writes {
		if !slices.Contains([]string{"put", "WriteHTML", "WriteRows"}, name) {
			t.Errorf("%s writes past put", name)
		}
	}
	if !writes["put"] {
		t.Errorf("the writing functions are %v", writes)
	}
}

// FuzzForms gives a string to every place of every block. HTML has known elements, the
// text and no link that runs; Markdown makes no link, mention or element; text has lines of
// the width and no control character.
func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"plain", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "\x1b[31mred", "a\r\nb", "@ada #12 https://example.org www.example.org",
		"1. item", "```", "| a | b |", "\u202eevil", "漢字かな交じり文", "a&lt;b", "- [x] done", "<!-- x", "-->", "a@b.org", "[x](http://y.org)", "![x](y)", "\\", "~~~", "===", "\u200bx", "e\u0301", strings.Repeat("long ", 40),
	} {
		f.Add(s)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))
	f.Fuzz(func(t *testing.T, s string) {
		blocks := everything(s)
		var page strings.Builder
		if err := WriteHTML(&page, blocks...); err != nil {
			t.Fatal(err)
		}
		if got := checkElements(t, page.String(), true); !strings.Contains(got, strings.Join(strings.Fields(Clean(s)), "")) {
			t.Errorf("the HTML lacks %q: %q", s, got)
		}
		var rendered strings.Builder
		if err := md.Convert([]byte(FormatMarkdown(blocks...)), &rendered); err != nil {
			t.Fatal(err)
		}
		checkElements(t, rendered.String(), false)
		for line := range strings.Lines(FormatText(TextOptions{}, blocks...)) {
			line = strings.TrimSuffix(line, "\n")
			if Clean(line) != line {
				t.Errorf("control characters in %q", line)
			}
			if uniseg.StringWidth(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") && len(strings.Fields(s)) < 2 && uniseg.StringWidth(Clean(s)) < 30 {
				t.Errorf("%d columns: %q", uniseg.StringWidth(line), line)
			}
		}
	})
}

// known are the elements that a document may have, on a page and in Markdown.
var known = [2]string{
	" html head body h2 h3 p ul li blockquote table thead tbody tr th td strong details summary hr ",
	" html head body section h2 h3 p ul li table caption thead tbody tr th td details summary div span bdi a svg g text title line circle figure figcaption b blockquote mark dl dt dd ",
}

// checkElements parses HTML, looks for elements and links that should not be there, and
// returns the text without white space.
func checkElements(t *testing.T, text string, page bool) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	elements := known[0]
	if page {
		elements = known[1]
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data)
		case html.ElementNode:
			if !strings.Contains(elements, " "+n.Data+" ") {
				t.Errorf("element %s in %s", n.Data, text)
			}
			for _, a := range n.Attr {
				if a.Key == "href" && safe(a.Val) != a.Val || strings.HasPrefix(a.Key, "on") || page && a.Key == "style" || a.Key == "src" {
					t.Errorf("attribute %s=%q", a.Key, a.Val)
				}
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), "")
}

func TestStyle(t *testing.T) {
	if got, want := (Style{On: true}).Bold("x"), "\x1b[1mx\x1b[0m"; got != want {
		t.Errorf("Bold = %q, want %q", got, want)
	}
	on := Style{On: true}
	if got, want := on.Dim("x")+on.Red("x")+on.Green("x"), "\x1b[2mx\x1b[0m\x1b[31mx\x1b[0m\x1b[32mx\x1b[0m"; got != want {
		t.Errorf("Dim, Red and Green = %q, want %q", got, want)
	}
	if got := (Style{On: true}).Red(""); got != "" {
		t.Errorf("Red of nothing = %q, want nothing", got)
	}
	if got := (Style{}).Green("x"); got != "x" {
		t.Errorf("Green without colour = %q, want x", got)
	}
}
