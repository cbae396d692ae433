package dataset

import (
	"fmt"
	"slices"
)

// A source is the document that a place names, of the row itself or of the run;
// layout is nil if there is none.
type source struct {
	layout *layout
	inline *opened // of the row
	number int32   // of the run's documents, if inline is nil
}

// find sets s, which must be the zero source, to the document of that name; the
// row's own win.
func (r *Resolver) find(name string, s *source) {
	if len(r.inline.docs) > 0 {
		if o := r.inline.find(name); o != nil {
			s.layout, s.inline = o.layout, o
			return
		}
	}
	if r.view != nil {
		if n, ok := r.view.docs.numbers[name]; ok {
			s.layout, s.number = &r.view.docs.docs[n].layout, n
		}
	}
}

// missing reports whether the documents are known and s is none of them.
func (s *source) missing(r *Resolver) bool {
	return s.layout == nil && (r.view != nil || r.row.HasDocuments)
}

// region returns the text of a key of s. ok is false if it is not at hand.
func (r *Resolver) region(s *source, page int32) (reg *region, ok bool) {
	if s.layout == nil {
		return nil, false
	}
	if s.inline != nil {
		return s.inline.key(page)
	}
	if _, ok := s.layout.key(page); !ok {
		return nil, false
	}
	o, err := r.view.open(s.number)
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil, false
	}
	return o.key(page)
}

// grew tells the view that the regions of s take n more bytes.
func (r *Resolver) grew(s *source, n int64) {
	if n > 0 && s.layout != nil && s.inline == nil {
		r.view.grew(s.number, n)
	}
}

// inline are the documents of one row. They are laid out when first asked for:
// many rows carry more documents than their answers cite.
type inline struct {
	docs   []Document
	opened []*opened // by index in docs; nil until asked for
	byName map[string]int32
}

// maxKeptNames is the size up to which the map of names is kept for the next
// row: clearing a map costs what it once held, and one huge row must not slow
// down all that follow.
const maxKeptNames = 256

// reset takes the documents of the next row. Two of one name must be equal; the
// error is that of document bad, the first that is not.
func (n *inline) reset(docs []Document) (bad int, err *badValue) {
	if len(docs) == 0 && len(n.docs) == 0 {
		return 0, nil
	}
	n.docs = docs
	n.opened = slices.Grow(n.opened[:0], len(docs))[:len(docs)]
	clear(n.opened)
	if len(n.byName) > maxKeptNames {
		n.byName = nil
	}
	clear(n.byName)
	if len(docs) > 0 && n.byName == nil {
		n.byName = make(map[string]int32)
	}
	for i := range docs {
		first, taken := n.byName[docs[i].Doc]
		if !taken {
			n.byName[docs[i].Doc] = int32(i)
		} else if err == nil && !sameDocument(&docs[first], &docs[i]) {
			bad, err = i, &badValue{"doc", fmt.Sprintf("%q differs from element %d of the same name", docs[i].Doc, first)}
		}
	}
	return bad, err
}

func sameDocument(a, b *Document) bool {
	return a.HasText == b.HasText && a.Text == b.Text &&
		a.HasPages == b.HasPages && slices.Equal(a.Pages, b.Pages) &&
		a.HasBlocks == b.HasBlocks && slices.Equal(a.Blocks, b.Blocks)
}

// find returns the document of that name, nil if there is none.
func (n *inline) find(name string) *opened {
	i, ok := n.byName[name]
	if !ok {
		return nil
	}
	if n.opened[i] == nil {
		lay, t, _ := layOut(&n.docs[i])
		n.opened[i] = newOpened(&lay, t)
	}
	return n.opened[i]
}
