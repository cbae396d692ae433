package dataset

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"ibid"
)

// NormalName is what spellings of a document's name have in common: it has no ./, no URL
// scheme, no fragment and no slash at its end, percent-encoding is resolved, and letters
// are lower case.
func NormalName(name string) string {
	s, _, _ := strings.Cut(name, "#")
	if scheme, rest, ok := strings.Cut(s, "://"); ok && isScheme(scheme) {
		s = rest
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		s = decoded
	}
	for strings.HasPrefix(s, "./") {
		s = s[2:]
	}
	for strings.Contains(s, "/./") {
		s = strings.ReplaceAll(s, "/./", "/")
	}
	s = strings.ToLower(strings.TrimRight(s, "/"))
	if s == "" { // nothing but signs: every such name stands for itself
		return name
	}
	return s
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

// DocumentNames are the names of documents by their [NormalName], for
// [Source.Normalize].
type DocumentNames struct{ own map[string]string }

// NamesOf are the names that each yields, which may come more than once. Two that have one normal
// name are an error.
func NamesOf(each func(yield func(name string) error) error) (*DocumentNames, error) {
	n := &DocumentNames{own: make(map[string]string)}
	return n, each(n.add)
}

func (n *DocumentNames) add(name string) error {
	normal := NormalName(name)
	if other, taken := n.own[normal]; taken && other != name {
		return fmt.Errorf("documents %q and %q have one name under doc_names: normalized", other, name)
	}
	n.own[strings.Clone(normal)] = strings.Clone(name)
	return nil
}

// EachName calls yield with the name of every document; texts are not read. The name is
// valid until yield returns.
func (s *DocumentSource) EachName(ctx context.Context, yield func(name string) error) error {
	if s.folder {
		for i := range s.fileSet.files {
			if err := yield(s.fileSet.files[i].Doc); err != nil {
				return err
			}
		}
		return nil
	}
	only := s.fileSet
	only.options.Want = WantKeys
	return only.eachDocument(ctx, 1024, func(d *ibid.Document) error { return yield(d.Doc) })
}

// Normalize returns the source with one name for all spellings of a document's name in a
// row: that of the row's own document, else of one of names. Where neither has one, it is
// the [NormalName], behind https:// if it is that of a page of the web.
func (s *Source) Normalize(names *DocumentNames) *Source {
	other := *s
	other.fileSet.names = names
	return &other
}

// apply gives the documents of a row one name each.
func (n *DocumentNames) apply(r *ibid.Answer) {
	inRow := make(map[string]string)
	for i := range r.Documents {
		inRow[NormalName(r.Documents[i].Doc)] = r.Documents[i].Doc
	}
	name := func(given string) string {
		normal := NormalName(given)
		if own, ok := inRow[normal]; ok {
			return own
		}
		own, ok := n.own[normal]
		if !ok {
			if own = normal; strings.HasPrefix(strings.ToLower(given), "http") && strings.Contains(given, "://") {
				own = "https://" + normal // which documents that are not complete may lack
			}
		}
		inRow[normal] = own
		return own
	}
	for i := range r.Documents {
		r.Documents[i].Doc = name(r.Documents[i].Doc)
	}
	for i := range r.Truth {
		if m := &r.Truth[i]; !m.DocNull {
			m.Doc = name(m.Doc)
		}
	}
	for i := range r.Citations {
		if c := &r.Citations[i]; !c.DocNull {
			c.Doc = name(c.Doc)
		}
	}
}
