package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// Codes say of each entry of a column what is there. The order matters: from
// codeElement on, an element of the list exists.
const (
	codeNull    = iota // the list, or the plain value, is null
	codeEmpty          // the list has no element; a plain value is present
	codeNothing        // the element is null
	codeElement        // the element is there, its member (or the inner list) is null
	codeValue          // the member is there; the inner list is empty
	codeInnerNothing
	codeInnerValue

	codePlain = codeEmpty // a plain value that is present
)

// A boundLeaf is a column of ours tied to a leaf of one file.
type boundLeaf struct {
	parquet.Leaf          // its Column is -1 if the file has no such column
	null         bool     // it holds nothing but nulls
	code         [16]byte // by definition level
	same         bool     // each code is its level
	present      byte     // the code of an entry that has a value
}

// A boundGroup is a list column of ours tied to one file.
type boundGroup struct {
	found    bool
	skeleton boundLeaf // the leaf that gives the list its shape
	column   int       // the column that is that leaf, -1 if none of ours is
}

// A binding ties the columns of a schemaSpec to one file.
type binding struct {
	leaves  []boundLeaf
	groups  []boundGroup
	ignored []string // columns of the file that are none of ours
}

// A binder makes a binding.
type binder struct {
	*binding
	spec  *schemaSpec
	names foreignNames
	want  Want
	used  map[*parquet.Node]bool // that are a column of ours
}

// bind finds the columns in the file's schema, checks the types of all that it
// knows and keeps those that are wanted. Names are taken, in this order, from
// columns (foreign name to ours), from our own names, and from the
// specification's.
func bind(root *parquet.Node, spec *schemaSpec, columns map[string]string, want Want) (*binding, error) {
	names, err := spec.foreignNames(columns)
	if err != nil {
		return nil, err
	}
	b := &binder{&binding{leaves: make([]boundLeaf, len(spec.columns)), groups: make([]boundGroup, len(spec.groups))}, spec, names, want, make(map[*parquet.Node]bool)}
	for i := range b.leaves {
		b.leaves[i].Column = -1
	}
	for i := range spec.columns {
		if spec.columns[i].group < 0 {
			if err := b.bindPlain(root, i); err != nil {
				return nil, err
			}
		}
	}
	for g := range spec.groups {
		if err := b.bindGroup(root, g); err != nil {
			return nil, err
		}
	}
	b.drop()
	for _, n := range root.Children {
		shape, ok := n.List(func(string) bool { return false })
		switch {
		case !b.used[n]:
			b.ignored = append(b.ignored, n.Name)
		case ok:
			for _, member := range shape.Element.Children {
				if !b.used[member] {
					b.ignored = append(b.ignored, n.Name+"."+member.Name)
				}
			}
		}
	}
	return b.binding, nil
}

// drop forgets the columns that are not wanted or hold nothing but nulls.
func (b *binder) drop() {
	for i := range b.leaves {
		if b.spec.columns[i].want&b.want == 0 || b.leaves[i].null {
			b.leaves[i].Column = -1
		}
	}
}

func columnError(column, hint string, msg string, args ...any) *ibid.Error {
	return &ibid.Error{Column: column, Err: fmt.Errorf(msg, args...), Hint: hint}
}

// find looks for the column called path among the children of n under the
// names it can have there.
func (b *binder) find(n *parquet.Node, path, own string, aliases []string) (c *parquet.Node, err error) {
	foreign, mapped := b.names[path]
	candidates := append([]string{own}, aliases...)
	if mapped {
		candidates = []string{foreign[strings.LastIndexByte(foreign, '.')+1:]}
	}
	for _, name := range candidates {
		x, count := n.Child(name)
		switch {
		case mapped && x == nil:
			return nil, columnError(foreign, didYouMean(name, childNames(n)), "no such column, although it is mapped to %s", path)
		case count > 1 && c == nil:
			if mapped {
				path = foreign
			}
			return nil, columnError(path, "", "the file has %d columns of this name", count)
		case x != nil && (mapped || b.names.owner(path, name)): // one that is mapped to another of ours is not also this
			b.used[x] = true
			if c == nil {
				c = x
			}
		}
	}
	return c, nil
}

func (b *binder) bindPlain(root *parquet.Node, col int) error {
	s := &b.spec.columns[col]
	n, err := b.find(root, s.member, s.member, s.aliases)
	if err != nil {
		return err
	}
	if n == nil {
		if s.required {
			return columnError(s.member, missingHint(s.member, childNames(root)), "required column is missing")
		}
		return nil
	}
	return b.bindLeaf(s.member, col, n, n.Def)
}

func childNames(n *parquet.Node) []string {
	names := make([]string, len(n.Children))
	for i, c := range n.Children {
		names[i] = c.Name
	}
	return names
}

// bindLeaf ties a column to the leaf n, if it can be read as its kind. An entry has code k
// from the definition level from[k-1] on.
func (b *binder) bindLeaf(path string, col int, n *parquet.Node, from ...int) error {
	kind := b.spec.columns[col].kind
	leaf := boundLeaf{null: n.Kind == parquet.Nothing}
	ok := n.IsLeaf() && !(n.Repeated && len(from) < codeValue)
	if ok {
		as := storedAs(kind)
		if leaf.null {
			as = parquet.Nothing
		}
		leaf.Leaf, ok = n.As(as)
	}
	if !ok {
		return wrongType(path, n, nouns[kind])
	}
	if err := leaf.setCodes(path, from); err != nil {
		return err
	}
	b.leaves[col] = leaf
	return nil
}

// setCodes sets the code of each definition level, see [binder.bindLeaf].
func (l *boundLeaf) setCodes(path string, from []int) error {
	if l.Def >= len(l.code) {
		return columnError(path, "", "%d levels of optional and repeated fields are too many", l.Def)
	}
	l.present, l.same = byte(len(from)), true
	for def := range l.Def + 1 {
		for _, level := range from {
			if def >= level {
				l.code[def]++
			}
		}
		l.same = l.same && int(l.code[def]) == def
	}
	return nil
}

// translate turns definition levels, which do not exceed l.Def, into codes.
func (l *boundLeaf) translate(levels []byte) {
	if l.same {
		return
	}
	for i, level := range levels {
		levels[i] = l.code[level]
	}
}

// absent is the code of an entry without a value where present is that of one with.
func (l *boundLeaf) absent() byte {
	switch l.present {
	case codePlain:
		return codeNull
	case codeValue:
		return codeElement
	}
	return codeInnerNothing
}

func wrongType(path string, n *parquet.Node, want string) error {
	return columnError(path, "", "%s instead of %s", n.TypeName(), want)
}

var errUnknownColumn = errors.New("unknown column")

// bindGroup binds the members of a list column.
func (b *binder) bindGroup(root *parquet.Node, g int) error {
	name, members := b.spec.groups[g], b.spec.members(g)
	n, err := b.find(root, name, name, nil)
	if err != nil || n == nil || n.Kind == parquet.Nothing {
		return err
	}
	known := func(name string) bool {
		return slices.ContainsFunc(members, func(c int) bool { return b.spec.columns[c].named(name) })
	}
	shape, ok := n.List(known)
	if !ok {
		hint := ""
		if name == "tags" && n.TypeName() == "struct" {
			hint = "write tags as map<string,string>"
		}
		return columnError(name, hint, "%s instead of a list", n.TypeName())
	}
	b.groups[g].found = slices.ContainsFunc(members, func(c int) bool { return b.spec.columns[c].want&b.want != 0 })
	from := []int{shape.Repeated.Def - 1, shape.Repeated.Def, shape.Element.Def}
	switch plain := len(members) == 1 && b.spec.columns[members[0]].member == ""; {
	case shape.Element.Kind == parquet.Nothing:
	case plain:
		err = b.bindLeaf(name, members[0], shape.Element, append(from, shape.Element.Def)...)
	case shape.Element.IsLeaf():
		err = columnError(name, "", "list of %s instead of a list of structs", shape.Element.TypeName())
	default:
		for _, col := range members {
			if err == nil {
				err = b.bindMember(col, shape.Element, from)
			}
		}
	}
	if err != nil {
		return err
	}
	return b.bindSkeleton(g, shape, from)
}

// bindMember binds column col to a member of the elements of a list. Code k begins at the
// definition level from[k-1].
func (b *binder) bindMember(col int, element *parquet.Node, from []int) error {
	s, path := &b.spec.columns[col], b.spec.path(col)
	n, err := b.find(element, path, s.member, s.aliases)
	switch {
	case err != nil:
		return err
	case n == nil && b.spec.rows && path == "tags.key":
		return columnError(path, "write tags as map<string,string>", "the map has no key")
	case n == nil:
		return nil
	case !s.nested() && n.Repeated:
		return wrongType(path, n, nouns[s.kind])
	case !s.nested():
		return b.bindLeaf(path, col, n, append(slices.Clip(from), n.Def)...)
	case n.Kind == parquet.Nothing:
		return nil
	}
	inner, ok := n.List(func(string) bool { return false })
	if !ok {
		return wrongType(path, n, "list of strings")
	}
	if inner.Element.Kind == parquet.Nothing {
		return columnError(path, "write the column as list<string>", "list without a type")
	}
	return b.bindLeaf(path, col, inner.Element, append(slices.Clip(from), inner.Repeated.Def-1, inner.Repeated.Def, inner.Element.Def)...)
}

// bindSkeleton chooses the leaf that gives the group its shape: one of ours if
// there is one, else any leaf of the element.
func (b *binder) bindSkeleton(g int, shape parquet.ListShape, from []int) error {
	b.drop()
	group := &b.groups[g]
	group.column = -1
	for _, col := range b.spec.members(g) {
		if leaf := &b.leaves[col]; leaf.Column >= 0 && !b.spec.columns[col].nested() {
			group.column, group.skeleton = col, *leaf
			return nil
		}
	}
	n := anyLeaf(shape.Element, shape.Repeated.Rep)
	if n == nil {
		return columnError(b.spec.groups[g], "", "the struct has no plain member")
	}
	group.skeleton.null = true
	group.skeleton.Leaf, _ = n.As(parquet.Nothing)
	return group.skeleton.setCodes(b.spec.groups[g], from)
}

// anyLeaf returns a leaf at or below n with that repetition level.
func anyLeaf(n *parquet.Node, rep int) *parquet.Node {
	if n.IsLeaf() {
		if n.Rep == rep {
			return n
		}
		return nil
	}
	for _, c := range n.Children {
		if leaf := anyLeaf(c, rep); leaf != nil {
			return leaf
		}
	}
	return nil
}
