package documents

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mainText finds what a page is about. It goes over the page twice, and by three rules:
//
//  1. The text is that of the one <main> (or role="main"), else of the one <article>, if it
//     has a quarter of the page's text outside of links; else that of the page.
//  2. Left out are navigation, forms, asides, what is hidden, headers and footers of the
//     page, and blocks of which the role, a class or the id says that they are beside the
//     matter.
//  3. Left out are blocks that are mostly links: menus, lists of other articles.
//
// By rules 2 and 3 a node with more than half of the page's text outside of links stays.
type mainText struct {
	weights         map[*html.Node]weight
	all             int // letters of the page outside of links
	mains, articles []*html.Node
	title, heading  *html.Node // the first <title> and <h1>
}

// A weight is how much text a node has: letters and digits, and those of them in links.
type weight struct{ letters, linked, links int }

func (w weight) plain() int { return w.letters - w.linked }

const (
	mostlyLinked = 0.6 // share of a block's letters in links
	shortBlock   = 40  // letters of a block that is left out for one link
)

// besideWords are words in the role, a class or the id of what is beside the matter.
var besideWords = regexp.MustCompile(`(?i)(^|[\s_-])(nav|navbar|navigation|menu|breadcrumbs?|sidebar|cookies?|consent|newsletter|share|sharing|social|related|promo|advert|ads?|banner|pager|pagination|toc|footer|skip|editsection|headerlink|feedback|contentinfo|complementary)($|[\s_-])`)

// weigh weighs n and what is in it. linked says that it is in a link.
func (m *mainText) weigh(n *html.Node, linked bool) (w weight) {
	switch {
	case n.Type == html.TextNode:
		for _, r := range n.Data {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				w.letters++
			}
		}
		if linked {
			w.linked = w.letters
		}
		return w
	case n.DataAtom == atom.Title && m.title == nil:
		m.title = n
		return w
	case n.DataAtom != atom.Head && unseen(n):
		return w
	case n.DataAtom == atom.A:
		linked = true
		w.links++
	case n.DataAtom == atom.Main || attribute(n, "role") == "main":
		m.mains = append(m.mains, n)
	case n.DataAtom == atom.Article:
		m.articles = append(m.articles, n)
	case n.DataAtom == atom.H1 && m.heading == nil:
		m.heading = n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		v := m.weigh(c, linked)
		w = weight{w.letters + v.letters, w.linked + v.linked, w.links + v.links}
	}
	m.weights[n] = w
	return w
}

// unseen reports whether a browser shows nothing of n, or nothing to read.
func unseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Svg, atom.Iframe, atom.Select, atom.Button, atom.Textarea:
		return true
	case atom.Html, atom.Body: // scripts show it
		return false
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" || a.Key == "style" && strings.Contains(strings.ReplaceAll(a.Val, " ", ""), "display:none") {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// root is the node that has the text, see rule 1.
func (m *mainText) root(page *html.Node) *html.Node {
	for _, found := range [][]*html.Node{m.mains, m.articles} {
		if len(found) == 1 && 4*m.weights[found[0]].plain() >= m.all {
			return found[0]
		}
	}
	return page
}

// beside reports whether n is left out, see rules 2 and 3. inside says that n is part of an
// article or a section, which have headers of their own.
func (m *mainText) beside(n *html.Node, inside bool) bool {
	w := m.weights[n]
	if unseen(n) || 2*w.plain() > m.all {
		return unseen(n)
	}
	menu := w.links > 0 && float64(w.linked) > mostlyLinked*float64(w.letters)
	switch n.DataAtom {
	case atom.Nav, atom.Form, atom.Aside, atom.Footer:
		return true
	case atom.Header:
		return !inside
	case atom.P, atom.Div, atom.Section, atom.Ul, atom.Ol:
		menu = menu && (w.links > 1 || w.letters < shortBlock)
	case atom.Td: // of tables that are the layout of a page
		menu = menu && w.links > 2
	case atom.A, atom.Span:
		menu = false
	default:
		return false
	}
	return menu || besideWords.MatchString(attribute(n, "role")+" "+attribute(n, "class")+" "+attribute(n, "id"))
}

// pageTitle is the first heading if the title has it, else the title: many add the site.
func (m *mainText) pageTitle() (title string) {
	if m.title != nil {
		title = oneLine(blockText(m.title))
	}
	if m.heading == nil {
		return title
	}
	if h := oneLine(blockText(m.heading)); utf8.RuneCountInString(h) > 3 && strings.Contains(title, h) {
		return h
	}
	return title
}
