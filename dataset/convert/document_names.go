package convert

import (
	"crypto/sha256"
	"strconv"
)

// documentNames gives every distinct content of a source a document of its own:
// the first one met under a name keeps the name, the next ones are called
// NAME#2, NAME#3 and so on, numbers that another source already goes by left
// out. To be known without a text is a content too. The names depend on nothing
// but the order of the input.
//
// It holds a digest for each document, not the text.
type documentNames struct {
	known map[content]string
	taken map[string]bool
	last  map[string]int // the highest number given out for a name

	called map[[sha256.Size]byte]string // texts without a name of their own
}

// common returns the name that a text without one of its own has been given before, else the name.
func (n *documentNames) common(text, name string) string {
	digest := sha256.Sum256([]byte(text))
	if called, known := n.called[digest]; known {
		return called
	}
	if n.called == nil {
		n.called = map[[sha256.Size]byte]string{}
	}
	n.called[digest] = name
	return name
}

// A content is what one source was met with.
type content struct {
	source  string
	missing bool // it is cited, and nothing is known of it
	hasText bool
	digest  [sha256.Size]byte
}

// of returns the name of the document for a source met with a text or without
// one. first is true the first time.
func (n *documentNames) of(source, text string, hasText bool) (name string, first bool) {
	c := content{source: source, hasText: hasText}
	if hasText {
		c.digest = sha256.Sum256([]byte(text))
	}
	return n.nameOf(c)
}

// missing returns a name that no document has, for a source that is cited and does not exist.
func (n *documentNames) missing(source string) string {
	name, _ := n.nameOf(content{source: source, missing: true})
	return name
}

func (n *documentNames) nameOf(c content) (name string, first bool) {
	source := c.source
	if name, ok := n.known[c]; ok {
		return name, false
	}
	if n.known == nil {
		n.known, n.taken, n.last = map[content]string{}, map[string]bool{}, map[string]int{}
	}
	number := n.last[source]
	for name = ""; name == "" || n.taken[name]; {
		if number++; number == 1 {
			name = source
		} else {
			name = source + "#" + strconv.Itoa(number)
		}
	}
	n.last[source] = number
	n.known[c] = name
	n.taken[name] = true
	return name, true
}
