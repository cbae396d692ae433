package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
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
	codeBad   = 0x80      // a level that cannot occur
)

// A boundLeaf is a column of ours tied to a leaf of one file.
type boundLeaf struct {
	leaf     int // position in each row group; -1 if the file has no such column
	null     bool
	physical format.Type
	unsigned bool
	kind     valueKind
	def, rep int      // highest levels
	code     [16]byte // by definition level
	same     bool     // code is the level itself
	present  byte     // the code of an entry that has a value
}

// A boundGroup is a list column of ours tied to one file.
type boundGroup struct {
	found    bool
	skeleton boundLeaf // the leaf that gives the list its shape
	column   int       // the column that is that leaf, -1 if none of ours is
}

// A binding ties the columns of a schemaSpec to one file.
type binding struct {
	leaves []boundLeaf
	groups []boundGroup
}

// bind finds the columns in the file's schema, checks the types of all that it
// knows and keeps those that are wanted. Names are taken, in this order, from
// columns (foreign name to ours), from our own names, and from the
// specification's.
func bind(root *schemaNode, spec *schemaSpec, columns map[string]string, want Want) (*binding, error) {
	names, err := spec.foreignNames(columns)
	if err != nil {
		return nil, err
	}
	b := &binding{leaves: make([]boundLeaf, len(spec.columns)), groups: make([]boundGroup, len(spec.groups))}
	for i := range b.leaves {
		b.leaves[i] = boundLeaf{leaf: -1, kind: spec.columns[i].kind}
	}
	for i := range spec.columns {
		if spec.columns[i].group < 0 {
			if err := b.bindPlain(root, spec, i, names); err != nil {
				return nil, err
			}
		}
	}
	for g := range spec.groups {
		if err := b.bindGroup(root, spec, g, names, want); err != nil {
			return nil, err
		}
	}
	b.drop(spec, want)
	return b, nil
}

// drop forgets the columns that are not wanted or hold nothing but nulls.
func (b *binding) drop(spec *schemaSpec, want Want) {
	for i := range b.leaves {
		if spec.columns[i].want&want == 0 || b.leaves[i].null {
			b.leaves[i].leaf = -1
		}
	}
}

func columnError(column, hint string, msg string, args ...any) *Error {
	return &Error{Row: -1, Column: column, Err: fmt.Errorf(msg, args...), Hint: hint}
}

// find looks for the column called path among the children of n under the
// names it can have there.
func (s *schemaSpec) find(n *schemaNode, path string, names foreignNames, own string, aliases []string) (*schemaNode, error) {
	if foreign, ok := names[path]; ok {
		name := foreign[strings.LastIndexByte(foreign, '.')+1:]
		c, count := n.child(name)
		switch {
		case c == nil:
			return nil, columnError(foreign, nearest(name, n.childNames()), "no such column, although it is mapped to %s", path)
		case count > 1:
			return nil, columnError(foreign, "", "the file has %d columns of this name", count)
		}
		return c, nil
	}
	for _, name := range append([]string{own}, aliases...) {
		c, count := n.child(name)
		if count > 1 {
			return nil, columnError(path, "", "the file has %d columns of this name", count)
		}
		// A column that is mapped to another of ours is not also this one.
		if c != nil && names.owner(path, name) {
			return c, nil
		}
	}
	return nil, nil
}

func (b *binding) bindPlain(root *schemaNode, spec *schemaSpec, col int, names foreignNames) error {
	s := &spec.columns[col]
	n, err := spec.find(root, s.member, names, s.member, s.aliases)
	if err != nil {
		return err
	}
	if n == nil {
		if s.required {
			return columnError(s.member, missingHint(s.member, root.childNames()), "required column is missing")
		}
		return nil
	}
	if n.repeated {
		return wrongType(s.member, n, s.kind.String())
	}
	leaf, err := bindLeaf(s.member, n, s.kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte {
		if def < n.def {
			return codeNull
		}
		return codePlain
	}, codePlain)
	b.leaves[col] = leaf
	return nil
}

func (b *binding) bindGroup(root *schemaNode, spec *schemaSpec, g int, names foreignNames, want Want) error {
	name := spec.groups[g]
	n, err := spec.find(root, name, names, name, nil)
	if err != nil || n == nil || n.isNull() {
		return err
	}
	members := spec.members(g)
	known := func(name string) bool {
		return slices.ContainsFunc(members, func(c int) bool { return spec.named(c, name) })
	}
	shape, ok := n.list(known)
	if !ok {
		hint := ""
		if name == "tags" && n.typeName() == "struct" {
			hint = "write tags as map<string,string>"
		}
		return columnError(name, hint, "%s instead of a list", n.typeName())
	}
	b.groups[g].found = slices.ContainsFunc(members, func(c int) bool { return spec.columns[c].want&want != 0 })
	if len(members) == 1 && spec.columns[members[0]].member == "" {
		return b.bindValues(spec, g, members[0], shape, want)
	}
	if shape.element.isNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	if shape.element.isLeaf() {
		return columnError(name, "", "list of %s instead of a list of structs", shape.element.typeName())
	}
	for _, col := range members {
		if err := b.bindMember(spec, col, shape, names); err != nil {
			return err
		}
	}
	return b.bindSkeleton(spec, g, shape, want)
}

// bindValues binds a list of plain values.
func (b *binding) bindValues(spec *schemaSpec, g, col int, shape listShape, want Want) error {
	if shape.element.isNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	leaf, err := bindLeaf(spec.path(col), shape.element, spec.columns[col].kind)
	if err != nil {
		return err
	}
	leaf.setCodes(shape.code, codeValue)
	b.leaves[col] = leaf
	return b.bindSkeleton(spec, g, shape, want)
}

func (b *binding) bindMember(spec *schemaSpec, col int, shape listShape, names foreignNames) error {
	s, path := &spec.columns[col], spec.path(col)
	n, err := spec.find(shape.element, path, names, s.member, s.aliases)
	if err != nil || n == nil {
		if err == nil && col == tagKey && spec == &rowSpec {
			return columnError(path, "write tags as map<string,string>", "the map has no key")
		}
		return err
	}
	if !s.nested {
		if n.repeated {
			return wrongType(path, n, s.kind.String())
		}
		leaf, err := bindLeaf(path, n, s.kind)
		if err != nil {
			return err
		}
		leaf.setCodes(func(def int) byte {
			if c := shape.code(def); c < codeElement {
				return c
			}
			if def < n.def {
				return codeElement
			}
			return codeValue
		}, codeValue)
		b.leaves[col] = leaf
		return nil
	}
	if n.isNull() {
		return nil
	}
	inner, ok := n.list(func(string) bool { return false })
	if !ok {
		return wrongType(path, n, "list of strings")
	}
	if inner.element.isNull() {
		return columnError(path, "write the column as list<string>", "list without a type")
	}
	leaf, err := bindLeaf(path, inner.element, s.kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte {
		if c := shape.code(def); c < codeElement {
			return c
		}
		switch {
		case def < inner.repeated.def-1:
			return codeElement
		case def < inner.repeated.def:
			return codeValue
		case def < inner.element.def:
			return codeInnerNothing
		}
		return codeInnerValue
	}, codeInnerValue)
	b.leaves[col] = leaf
	return nil
}

// code is the code of a definition level as far as the list itself goes.
func (s listShape) code(def int) byte {
	switch {
	case def < s.repeated.def-1:
		return codeNull
	case def < s.repeated.def:
		return codeEmpty
	case def < s.element.def:
		return codeNothing
	case s.element.isLeaf():
		return codeValue
	}
	return codeElement
}

// bindSkeleton chooses the leaf that gives the group its shape: one of ours if
// there is one, else any leaf of the element.
func (b *binding) bindSkeleton(spec *schemaSpec, g int, shape listShape, want Want) error {
	b.drop(spec, want)
	group := &b.groups[g]
	group.column = -1
	for _, col := range spec.members(g) {
		if leaf := &b.leaves[col]; leaf.leaf >= 0 && !spec.columns[col].nested {
			group.column, group.skeleton = col, *leaf
			return nil
		}
	}
	n := shape.element.anyLeaf(shape.repeated.rep)
	if n == nil {
		return columnError(spec.groups[g], "", "the struct has no plain member")
	}
	group.skeleton = boundLeaf{leaf: n.leaf, null: true, physical: n.elem.Type.V, def: n.def, rep: n.rep}
	group.skeleton.setCodes(shape.code, codeInnerValue)
	return nil
}

// anyLeaf returns a leaf at or below n with that repetition level.
func (n *schemaNode) anyLeaf(rep int) *schemaNode {
	if n.isLeaf() {
		if n.rep == rep {
			return n
		}
		return nil
	}
	for _, c := range n.children {
		if leaf := c.anyLeaf(rep); leaf != nil {
			return leaf
		}
	}
	return nil
}

func (n *schemaNode) childNames() []string {
	names := make([]string, len(n.children))
	for i, c := range n.children {
		names[i] = c.name()
	}
	return names
}

// bindLeaf checks that the leaf n can be read as kind.
func bindLeaf(path string, n *schemaNode, kind valueKind) (boundLeaf, error) {
	leaf := boundLeaf{leaf: n.leaf, null: n.isNull(), physical: n.elem.Type.V, kind: kind, def: n.def, rep: n.rep}
	if !n.isLeaf() || !leaf.null && !kind.accepts(n, &leaf.unsigned) {
		return leaf, wrongType(path, n, kind.String())
	}
	if n.def >= len(leaf.code) {
		return leaf, columnError(path, "", "%d levels of optional and repeated fields are too many", n.def)
	}
	return leaf, nil
}

func (l *boundLeaf) setCodes(code func(def int) byte, present byte) {
	l.present, l.same = present, true
	for def := range l.code {
		l.code[def] = codeBad
		if def <= l.def {
			l.code[def] = code(def)
			l.same = l.same && l.code[def] == byte(def)
		}
	}
}

func wrongType(path string, n *schemaNode, want string) error {
	return columnError(path, "", "%s instead of %s", n.typeName(), want)
}

var errUnknownColumn = errors.New("unknown column")
