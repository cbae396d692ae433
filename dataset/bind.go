package dataset

import (
	"encoding/binary"
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
	jumps    []jump   // how code differs from the level
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
	leaves  []boundLeaf
	groups  []boundGroup
	ignored []string // columns of the file that are none of ours
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
	b.findIgnored(root, spec, names)
	return b, nil
}

// findIgnored lists the columns of the file that no column of ours can be.
func (b *binding) findIgnored(root *schemaNode, spec *schemaSpec, names foreignNames) {
	for _, n := range root.children {
		g := slices.IndexFunc(spec.groups, func(group string) bool { return names.of(group) == n.name() })
		if g < 0 {
			if !spec.knows(-1, "", n.name(), names) {
				b.ignored = append(b.ignored, n.name())
			}
			continue
		}
		shape, ok := n.list(func(string) bool { return false })
		if !ok {
			continue
		}
		for _, member := range shape.element.children {
			if !spec.knows(g, spec.groups[g]+".", member.name(), names) {
				b.ignored = append(b.ignored, n.name()+"."+member.name())
			}
		}
	}
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
			return nil, columnError(foreign, didYouMean(name, n.childNames()), "no such column, although it is mapped to %s", path)
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

// A jump says that from a definition level on, codes are further from their
// level, by so much, than before.
type jump struct{ from, by int }

// setCodes sets the code of each definition level.
func (l *boundLeaf) setCodes(code func(def int) byte, present byte) {
	l.present, l.jumps = present, nil
	before := -1
	for def := range l.def + 1 {
		l.code[def] = code(def)
		if by := int(l.code[def]) - before - 1; by != 0 {
			l.jumps = append(l.jumps, jump{def, by})
		}
		before = int(l.code[def])
	}
}

// translate turns definition levels, which do not exceed l.def, into codes,
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

func wrongType(path string, n *schemaNode, want string) error {
	return columnError(path, "", "%s instead of %s", n.typeName(), want)
}

var errUnknownColumn = errors.New("unknown column")
