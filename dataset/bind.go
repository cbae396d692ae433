package dataset

import (
	"encoding/binary"
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
	jumps        []jump   // how code differs from the level
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

// bind finds the columns in the file's schema, checks the types of all that it
// knows and keeps those that are wanted. Names are taken, in this order, from
// columns (foreign name to ours), from our own names, and from the
// specification's.
func bind(root *parquet.Node, spec *schemaSpec, columns map[string]string, want Want) (*binding, error) {
	names, err := spec.foreignNames(columns)
	if err != nil {
		return nil, err
	}
	b := &binding{leaves: make([]boundLeaf, len(spec.columns)), groups: make([]boundGroup, len(spec.groups))}
	for i := range b.leaves {
		b.leaves[i].Column = -1
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
	b.findIgnored(root, spec, names)
	return b, nil
}

// findIgnored lists the columns of the file that no column of ours can be.
func (b *binding) findIgnored(root *parquet.Node, spec *schemaSpec, names foreignNames) {
	for _, n := range root.Children {
		g := slices.IndexFunc(spec.groups, func(group string) bool { return names.of(group) == n.Name })
		if g < 0 {
			if !spec.knows(-1, "", n.Name, names) {
				b.ignored = append(b.ignored, n.Name)
			}
			continue
		}
		shape, ok := n.List(func(string) bool { return false })
		if !ok {
			continue
		}
		for _, member := range shape.Element.Children {
			if !spec.knows(g, spec.groups[g]+".", member.Name, names) {
				b.ignored = append(b.ignored, n.Name+"."+member.Name)
			}
		}
	}
}

// drop forgets the columns that are not wanted or hold nothing but nulls.
func (b *binding) drop(spec *schemaSpec, want Want) {
	for i := range b.leaves {
		if spec.columns[i].want&want == 0 || b.leaves[i].null {
			b.leaves[i].Column = -1
		}
	}
}

func columnError(column, hint string, msg string, args ...any) *ibid.Error {
	return &ibid.Error{Column: column, Err: fmt.Errorf(msg, args...), Hint: hint}
}

// find looks for the column called path among the children of n under the
// names it can have there.
func (s *schemaSpec) find(n *parquet.Node, path string, names foreignNames, own string, aliases []string) (*parquet.Node, error) {
	if foreign, ok := names[path]; ok {
		name := foreign[strings.LastIndexByte(foreign, '.')+1:]
		c, count := n.Child(name)
		switch {
		case c == nil:
			return nil, columnError(foreign, didYouMean(name, childNames(n)), "no such column, although it is mapped to %s", path)
		case count > 1:
			return nil, columnError(foreign, "", "the file has %d columns of this name", count)
		}
		return c, nil
	}
	for _, name := range append([]string{own}, aliases...) {
		c, count := n.Child(name)
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

func (b *binding) bindPlain(root *parquet.Node, spec *schemaSpec, col int, names foreignNames) error {
	s := &spec.columns[col]
	n, err := spec.find(root, s.member, names, s.member, s.aliases)
	if err != nil {
		return err
	}
	if n == nil {
		if s.required {
			return columnError(s.member, missingHint(s.member, childNames(root)), "required column is missing")
		}
		return nil
	}
	if n.Repeated {
		return wrongType(s.member, n, s.kind.String())
	}
	leaf, err := bindLeaf(s.member, n, s.kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte {
		if def < n.Def {
			return codeNull
		}
		return codePlain
	}, codePlain)
	b.leaves[col] = leaf
	return nil
}

func childNames(n *parquet.Node) []string {
	names := make([]string, len(n.Children))
	for i, c := range n.Children {
		names[i] = c.Name
	}
	return names
}

// bindLeaf checks that the leaf n can be read as kind.
func bindLeaf(path string, n *parquet.Node, kind valueKind) (boundLeaf, error) {
	leaf := boundLeaf{null: n.IsNull()}
	ok := n.IsLeaf()
	if ok {
		as := kind.stored()
		if leaf.null {
			as = parquet.Nothing
		}
		leaf.Leaf, ok = n.As(as)
	}
	if !ok {
		return leaf, wrongType(path, n, kind.String())
	}
	if n.Def >= len(leaf.code) {
		return leaf, columnError(path, "", "%d levels of optional and repeated fields are too many", n.Def)
	}
	return leaf, nil
}

// A jump says that from a definition level on, codes are further from their
// level, by so much, than before.
type jump struct{ from, by int }

// setCodes sets the code of each definition level.
func (l *boundLeaf) setCodes(code func(def int) byte, present byte) {
	l.present, l.jumps = present, nil
	before := -1
	for def := range l.Def + 1 {
		l.code[def] = code(def)
		if by := int(l.code[def]) - before - 1; by != 0 {
			l.jumps = append(l.jumps, jump{def, by})
		}
		before = int(l.code[def])
	}
}

// translate turns definition levels, which do not exceed l.Def, into codes,
// eight at a time.
func (l *boundLeaf) translate(levels []byte) {
	if len(l.jumps) == 0 {
		return
	}
	const ones = 0x0101010101010101
	for ; len(levels) >= 8; levels = levels[8:] {
		x := binary.LittleEndian.Uint64(levels)
		y := x
		for _, j := range l.jumps {
			// The top bit of each byte says whether its level is at least
			// j.from. Up to here a byte is the code of an earlier level
			// plus the distance to it, so that nothing carries over.
			reached := (x + uint64(0x80-j.from)*ones) >> 7 & ones
			y += reached * uint64(j.by) // modulo 2^64 if negative
		}
		binary.LittleEndian.PutUint64(levels, y)
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
func (b *binding) bindGroup(root *parquet.Node, spec *schemaSpec, g int, names foreignNames, want Want) error {
	name := spec.groups[g]
	n, err := spec.find(root, name, names, name, nil)
	if err != nil || n == nil || n.IsNull() {
		return err
	}
	members := spec.members(g)
	known := func(name string) bool {
		return slices.ContainsFunc(members, func(c int) bool { return spec.named(c, name) })
	}
	shape, ok := n.List(known)
	if !ok {
		hint := ""
		if name == "tags" && n.TypeName() == "struct" {
			hint = "write tags as map<string,string>"
		}
		return columnError(name, hint, "%s instead of a list", n.TypeName())
	}
	b.groups[g].found = slices.ContainsFunc(members, func(c int) bool { return spec.columns[c].want&want != 0 })
	if len(members) == 1 && spec.columns[members[0]].member == "" {
		return b.bindValues(spec, g, members[0], shape, want)
	}
	if shape.Element.IsNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	if shape.Element.IsLeaf() {
		return columnError(name, "", "list of %s instead of a list of structs", shape.Element.TypeName())
	}
	for _, col := range members {
		if err := b.bindMember(spec, col, shape, names); err != nil {
			return err
		}
	}
	return b.bindSkeleton(spec, g, shape, want)
}

// bindValues binds a list of plain values.
func (b *binding) bindValues(spec *schemaSpec, g, col int, shape parquet.ListShape, want Want) error {
	if shape.Element.IsNull() {
		return b.bindSkeleton(spec, g, shape, want)
	}
	leaf, err := bindLeaf(spec.path(col), shape.Element, spec.columns[col].kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte { return shapeCode(shape, def) }, codeValue)
	b.leaves[col] = leaf
	return b.bindSkeleton(spec, g, shape, want)
}

func (b *binding) bindMember(spec *schemaSpec, col int, shape parquet.ListShape, names foreignNames) error {
	s, path := &spec.columns[col], spec.path(col)
	n, err := spec.find(shape.Element, path, names, s.member, s.aliases)
	if err != nil || n == nil {
		if err == nil && spec.rows && path == "tags.key" {
			return columnError(path, "write tags as map<string,string>", "the map has no key")
		}
		return err
	}
	if !s.nested {
		if n.Repeated {
			return wrongType(path, n, s.kind.String())
		}
		leaf, err := bindLeaf(path, n, s.kind)
		if err != nil {
			return err
		}
		leaf.setCodes(func(def int) byte {
			if c := shapeCode(shape, def); c < codeElement {
				return c
			}
			if def < n.Def {
				return codeElement
			}
			return codeValue
		}, codeValue)
		b.leaves[col] = leaf
		return nil
	}
	if n.IsNull() {
		return nil
	}
	inner, ok := n.List(func(string) bool { return false })
	if !ok {
		return wrongType(path, n, "list of strings")
	}
	if inner.Element.IsNull() {
		return columnError(path, "write the column as list<string>", "list without a type")
	}
	leaf, err := bindLeaf(path, inner.Element, s.kind)
	if err != nil {
		return err
	}
	leaf.setCodes(func(def int) byte {
		if c := shapeCode(shape, def); c < codeElement {
			return c
		}
		switch {
		case def < inner.Repeated.Def-1:
			return codeElement
		case def < inner.Repeated.Def:
			return codeValue
		case def < inner.Element.Def:
			return codeInnerNothing
		}
		return codeInnerValue
	}, codeInnerValue)
	b.leaves[col] = leaf
	return nil
}

// shapeCode is the code of a definition level as far as the list itself goes.
func shapeCode(s parquet.ListShape, def int) byte {
	switch {
	case def < s.Repeated.Def-1:
		return codeNull
	case def < s.Repeated.Def:
		return codeEmpty
	case def < s.Element.Def:
		return codeNothing
	case s.Element.IsLeaf():
		return codeValue
	}
	return codeElement
}

// bindSkeleton chooses the leaf that gives the group its shape: one of ours if
// there is one, else any leaf of the element.
func (b *binding) bindSkeleton(spec *schemaSpec, g int, shape parquet.ListShape, want Want) error {
	b.drop(spec, want)
	group := &b.groups[g]
	group.column = -1
	for _, col := range spec.members(g) {
		if leaf := &b.leaves[col]; leaf.Column >= 0 && !spec.columns[col].nested {
			group.column, group.skeleton = col, *leaf
			return nil
		}
	}
	n := anyLeaf(shape.Element, shape.Repeated.Rep)
	if n == nil {
		return columnError(spec.groups[g], "", "the struct has no plain member")
	}
	group.skeleton.null = true
	group.skeleton.Leaf, _ = n.As(parquet.Nothing)
	group.skeleton.setCodes(func(def int) byte { return shapeCode(shape, def) }, codeInnerValue)
	return nil
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
