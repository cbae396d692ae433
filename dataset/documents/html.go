package documents

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML finds the main text of a page. A page of which nothing is left is taken whole.
func readHTML(source string) (Text, error) {
	page, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return Text{}, err
	}
	m := &mainText{weights: make(map[*html.Node]weight)}
	m.all = m.weigh(page, false).plain()
	t := Text{Title: m.pageTitle()}
	w := blockWriter{leaveOut: m.beside}
	w.node(m.root(page), false, false)
	if t.Text = w.b.String(); t.Text == "" {
		t.Text = blockText(page)
	}
	if t.Text == "" {
		return t, ErrNoText
	}
	return t, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// blockText is the text of n.
func blockText(n *html.Node) string {
	w := blockWriter{leaveOut: func(n *html.Node, _ bool) bool { return unseen(n) }}
	w.node(n, false, false)
	return w.b.String()
}

// A blockWriter writes text, and white space before text only: paragraphs with an empty
// line between them, items and rows on lines of their own, cells with a tab between them.
type blockWriter struct {
	b        strings.Builder
	pending  string // white space that comes before the next text
	leaveOut func(n *html.Node, inside bool) bool
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

// node writes n. inside says that it is part of an article or a section.
func (w *blockWriter) node(n *html.Node, verbatim, inside bool) {
	if n.Type == html.TextNode {
		w.text(n.Data, verbatim)
		return
	}
	around := ""
	if n.Type == html.ElementNode {
		if w.leaveOut(n, inside) {
			return
		}
		switch n.DataAtom {
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
	inside = inside || n.DataAtom == atom.Article || n.DataAtom == atom.Section || n.DataAtom == atom.Main
	w.gap(around)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, verbatim, inside)
	}
	w.gap(around)
}
