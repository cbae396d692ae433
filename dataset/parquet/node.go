package parquet

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A Node is one node of a file's schema, with the levels that Parquet derives
// from the nodes above it.
type Node struct {
	Name     string
	Children []*Node
	Leaf     int // position among the leaves and so in each row group; -1 for a group

	Repeated bool
	Def, Rep int // definition and repetition level of a value that is present

	elem     *format.SchemaElement
	typeName string // of a [Shape]
}

// IsLeaf reports whether n holds values.
func (n *Node) IsLeaf() bool { return n.Leaf >= 0 }

// Child returns the first child of that name and how many there are.
func (n *Node) Child(name string) (c *Node, count int) {
	for _, x := range n.Children {
		if x.Name == name {
			if count++; c == nil {
				c = x
			}
		}
	}
	return c, count
}

// IsNull reports whether n is a leaf of the null type, which a writer chooses
// when it has seen nothing but nulls.
func (n *Node) IsNull() bool {
	_, null := n.elem.LogicalType.Value.(*format.NullType)
	return n.IsLeaf() && null
}

// schemaDepth bounds what is followed: eight levels of nesting are more than any column here
// has.
const schemaDepth = 64

// schemaTree builds the tree of a flattened schema. The root's own repetition
// is ignored: some writers call it required, some repeated.
func schemaTree(elems []format.SchemaElement) (*Node, error) {
	next, leaves := 0, 0
	var node func(parent *Node, depth int) *Node
	node = func(parent *Node, depth int) *Node {
		if next >= len(elems) || depth > schemaDepth {
			return nil
		}
		n := newNode(parent, &elems[next])
		next++
		if n.elem.Type.Valid {
			n.Leaf = leaves
			leaves++
			return n
		}
		for range n.elem.NumChildren.V {
			if node(n, depth+1) == nil {
				return nil
			}
		}
		return n
	}
	root := node(nil, 0)
	if root == nil || next != len(elems) {
		return nil, corrupt("the schema is no tree")
	}
	return root, nil
}

// newNode adds a node to a parent, nil for the root; it is a group until it gets a number as
// a leaf.
func newNode(parent *Node, elem *format.SchemaElement) *Node {
	n := &Node{Name: elem.Name, Leaf: -1, elem: elem}
	if parent == nil {
		return n
	}
	n.Def, n.Rep = parent.Def, parent.Rep
	switch elem.RepetitionType.V {
	case format.Optional:
		n.Def++
	case format.Repeated:
		n.Repeated = true
		n.Def++
		n.Rep++
	}
	parent.Children = append(parent.Children, n)
	return n
}

// A ListShape is the part of a schema that holds a list: the repeated node and
// the element below or at it.
type ListShape struct {
	Repeated *Node
	Element  *Node
}

// List finds the list at n in any of the layouts in use: the standard
// list.element, the names bag.array_element and list.item, two levels with a
// repeated group or value, a repeated field without a group around it, and
// MAP's key_value. members are the names that an element could have, to tell a
// struct of one member from a wrapper. ok is false if n is no list.
//
// Source: parquet-format, LogicalTypes.md, "Backward-compatibility rules".
func (n *Node) List(members func(name string) bool) (s ListShape, ok bool) {
	if n.Repeated {
		return ListShape{n, n}, true
	}
	if n.IsLeaf() || len(n.Children) != 1 || !n.Children[0].Repeated {
		return s, false
	}
	r := n.Children[0]
	wrapper := len(r.Children) == 1 && r.Name != "array" && r.Name != n.Name+"_tuple" &&
		!(r.Children[0].IsLeaf() && members(r.Children[0].Name))
	if wrapper {
		return ListShape{r, r.Children[0]}, true
	}
	return ListShape{r, r}, true
}

// TypeName names the type of n as a person would, for messages.
func (n *Node) TypeName() string {
	switch {
	case n.typeName != "":
		return n.typeName
	case n.Repeated:
		return "list"
	case !n.IsLeaf():
		if _, ok := n.elem.LogicalType.Value.(*format.MapType); ok || n.hasConverted(deprecated.Map) {
			return "map"
		}
		if len(n.Children) == 1 && n.Children[0].Repeated {
			return "list"
		}
		return "struct"
	case n.elem.LogicalType.Value != nil:
		if t, ok := n.elem.LogicalType.Value.(*format.IntType); ok && t.IsSigned {
			return fmt.Sprintf("INT%d", t.BitWidth)
		}
		return n.elem.LogicalType.String()
	case n.hasConverted(deprecated.UTF8):
		return "STRING"
	}
	return n.elem.Type.V.String()
}

func (n *Node) hasConverted(types ...deprecated.ConvertedType) bool {
	return n.elem.ConvertedType.Valid && slices.Contains(types, n.elem.ConvertedType.V)
}

// A ValueKind is what the values of a leaf are read as.
type ValueKind uint8

const (
	Nothing ValueKind = iota // only the levels are read
	Text
	Integer // int64; uint64 wraps around
	Float   // float64
	Flag    // int64, 0 or 1
)

// A Leaf is a leaf of a schema as it is to be read.
type Leaf struct {
	Column   int // position in each row group
	Kind     ValueKind
	Unsigned bool // of integers
	Def, Rep int  // levels of a value that is present
	physical format.Type
	written  encoding.Encoding // of its pages, nil for any
}

// As returns n, which is a leaf, for reading as kind. ok is false if its values
// are of another type: text is BYTE_ARRAY that is a string or says nothing,
// integers are INT32 and INT64 of any width, floats are DOUBLE, FLOAT and integers,
// flags are BOOLEAN.
func (n *Node) As(kind ValueKind) (leaf Leaf, ok bool) {
	leaf = Leaf{Column: n.Leaf, Kind: kind, Def: n.Def, Rep: n.Rep, physical: n.elem.Type.V}
	switch {
	case kind == Nothing:
		return leaf, true
	case leaf.physical == format.ByteArray:
		return leaf, kind == Text && n.isText()
	case leaf.physical == format.Int32 || leaf.physical == format.Int64:
		return leaf, (kind == Integer || kind == Float) && n.isInteger(&leaf.Unsigned)
	case leaf.physical == format.Boolean:
		return leaf, kind == Flag
	case leaf.physical == format.Float || leaf.physical == format.Double:
		return leaf, kind == Float
	}
	return leaf, false
}

func (n *Node) isText() bool {
	switch n.elem.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return true
	case nil:
		return !n.elem.ConvertedType.Valid || n.hasConverted(deprecated.UTF8, deprecated.Enum, deprecated.Json)
	}
	return false
}

func (n *Node) isInteger(unsigned *bool) bool {
	switch t := n.elem.LogicalType.Value.(type) {
	case *format.IntType:
		*unsigned = !t.IsSigned
		return true
	case nil:
		*unsigned = n.hasConverted(deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64)
		return *unsigned || !n.elem.ConvertedType.Valid || n.hasConverted(deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64)
	}
	return false
}
