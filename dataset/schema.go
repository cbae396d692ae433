package dataset

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A schemaNode is one node of a file's schema, with the levels that Parquet
// derives from the nodes above it.
type schemaNode struct {
	elem     *format.SchemaElement
	children []*schemaNode
	leaf     int // position among the leaves and so in each row group; -1 for a group

	optional, repeated bool
	def, rep           int // definition and repetition level of a value that is present
}

func (n *schemaNode) name() string { return n.elem.Name }

// isLeaf reports whether n holds values.
func (n *schemaNode) isLeaf() bool { return n.leaf >= 0 }

// child returns the child of that name and how many there are.
func (n *schemaNode) child(name string) (c *schemaNode, count int) {
	for _, x := range n.children {
		if x.name() == name {
			if count++; c == nil {
				c = x
			}
		}
	}
	return c, count
}

// isNull reports whether n is a leaf of the null type, which a writer chooses
// when it has seen nothing but nulls.
func (n *schemaNode) isNull() bool {
	_, null := n.elem.LogicalType.Value.(*format.NullType)
	return n.isLeaf() && null
}

// schemaDepth and schemaWidth bound what is followed: eight levels of nesting
// are more than any column here has.
const schemaDepth = 64

// schemaTree builds the tree of a flattened schema. The root's own repetition
// is ignored: some writers call it required, some repeated.
func schemaTree(elems []format.SchemaElement) (*schemaNode, error) {
	if len(elems) == 0 {
		return nil, corrupt("no schema")
	}
	b := schemaBuilder{elems: elems}
	root, err := b.node(nil, 0)
	if err != nil {
		return nil, err
	}
	if b.next != len(elems) {
		return nil, corrupt("schema has %d elements, its tree %d", len(elems), b.next)
	}
	return root, nil
}

type schemaBuilder struct {
	elems  []format.SchemaElement
	next   int
	leaves int
}

func (b *schemaBuilder) node(parent *schemaNode, depth int) (*schemaNode, error) {
	if b.next >= len(b.elems) || depth > schemaDepth {
		return nil, corrupt("schema is not a tree")
	}
	n := &schemaNode{elem: &b.elems[b.next], leaf: -1}
	b.next++
	if parent != nil {
		n.def, n.rep = parent.def, parent.rep
		switch n.elem.RepetitionType.V {
		case format.Optional:
			n.optional = true
			n.def++
		case format.Repeated:
			n.repeated = true
			n.def++
			n.rep++
		}
	}
	if n.elem.Type.Valid {
		n.leaf = b.leaves
		b.leaves++
		return n, nil
	}
	for range n.elem.NumChildren.V {
		c, err := b.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	return n, nil
}

// A listShape is the part of a schema that holds a list: the repeated node and
// the element below or at it.
type listShape struct {
	repeated *schemaNode
	element  *schemaNode
}

// list finds the list at n in any of the layouts in use: the standard
// list.element, the names bag.array_element and list.item, two levels with a
// repeated group or value, a repeated field without a group around it, and
// MAP's key_value. members are the names that an element could have, to tell a
// struct of one member from a wrapper. ok is false if n is no list.
//
// Source: parquet-format, LogicalTypes.md, "Backward-compatibility rules".
func (n *schemaNode) list(members func(name string) bool) (s listShape, ok bool) {
	if n.repeated {
		return listShape{n, n}, true
	}
	if n.isLeaf() || len(n.children) != 1 || !n.children[0].repeated {
		return s, false
	}
	r := n.children[0]
	wrapper := len(r.children) == 1 && r.name() != "array" && r.name() != n.name()+"_tuple" &&
		!(r.children[0].isLeaf() && members(r.children[0].name()))
	if wrapper {
		return listShape{r, r.children[0]}, true
	}
	return listShape{r, r}, true
}

// typeName names the type of n as a person would, for messages.
func (n *schemaNode) typeName() string {
	switch {
	case n.repeated:
		return "list"
	case !n.isLeaf():
		if _, ok := n.elem.LogicalType.Value.(*format.MapType); ok || n.hasConverted(deprecated.Map) {
			return "map"
		}
		if len(n.children) == 1 && n.children[0].repeated {
			return "list"
		}
		return "struct"
	case n.elem.LogicalType.Value != nil:
		return n.elem.LogicalType.String()
	case n.hasConverted(deprecated.UTF8):
		return "STRING"
	}
	return n.elem.Type.V.String()
}

func (n *schemaNode) hasConverted(t deprecated.ConvertedType) bool {
	return n.elem.ConvertedType.Valid && n.elem.ConvertedType.V == t
}
