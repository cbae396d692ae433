package documents

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	readability "github.com/go-shiori/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mostElements bounds what is searched for the article of a page.
const mostElements = 200_000

// readHTML finds the article of a page. A page in which none is found is taken
// whole, without what is never part of one.
func readHTML(source string) (Text, error) {
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return Text{}, err
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = mostElements
	var t Text
	article, err := parser.ParseDocument(root, &url.URL{})
	if err == nil {
		t.Title = oneLine(article.Title)
		if article.Node != nil {
			t.Text = blockText(article.Node)
		}
	}
	if t.Text == "" {
		if root, err = html.Parse(strings.NewReader(source)); err != nil {
			return Text{}, err
		}
		t.Text = blockText(root)
	}
	if t.Text == "" {
		return t, ErrNoText
	}
	return t, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// blockText is the text of n: paragraphs with an empty line between them, items
// and rows on lines of their own, cells with a tab between them.
func blockText(n *html.Node) string {
	var w blockWriter
	w.node(n, false)
	return w.b.String()
}

// A blockWriter writes text, and white space before text only.
type blockWriter struct {
	b       strings.Builder
	pending string // white space that comes before the next text
}

// gap asks for white space before the next text. The stronger wins.
func (w *blockWriter) gap(s string) {
	if rank(s) > rank(w.pending) {
		w.pending = s
	}
}

func rank(gap string) int { return slices.Index([]string{"", " ", "\t", "\n", "\n\n"}, gap) }

func (w *blockWriter) text(s string, verbatim bool) {
	if verbatim {
		w.put(s)
		return
	}
	for {
		word := strings.TrimLeftFunc(s, unicode.IsSpace)
		if len(word) < len(s) {
			w.gap(" ")
		}
		if word == "" {
			return
		}
		end := strings.IndexFunc(word, unicode.IsSpace)
		if end < 0 {
			end = len(word)
		}
		w.put(word[:end])
		s = word[end:]
	}
}

func (w *blockWriter) put(s string) {
	if s == "" {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteString(w.pending)
	}
	w.pending = ""
	w.b.WriteString(s)
}

func (w *blockWriter) node(n *html.Node, verbatim bool) {
	if n.Type == html.TextNode {
		w.text(n.Data, verbatim)
		return
	}
	around := ""
	if n.Type == html.ElementNode {
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Svg, atom.Iframe, atom.Nav, atom.Select, atom.Button, atom.Textarea:
			return
		case atom.Br:
			w.gap("\n")
		case atom.Td, atom.Th:
			around = "\t"
		case atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Figcaption, atom.Caption, atom.Option:
			around = "\n"
		case atom.Pre:
			around, verbatim = "\n\n", true
		case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Blockquote, atom.Table, atom.Ul, atom.Ol, atom.Dl,
			atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Figure, atom.Address, atom.Form, atom.Details, atom.Summary:
			around = "\n\n"
		}
	}
	w.gap(around)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, verbatim)
	}
	w.gap(around)
}
