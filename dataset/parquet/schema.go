package parquet

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A ValueKind is what the values of a leaf are read as.
type ValueKind uint8

const (
	Group      ValueKind = iota // no leaf
	Unreadable                  // nothing that a column of ours can be
	Nothing                     // nulls alone, which a writer chooses that has seen nothing else; of any leaf only the levels are read
	Text
	Integer // int64; uint64 wraps around
	Float   // float64
	Flag    // int64, 0 or 1
)

// A Node is one node of a schema, of a Parquet file or another that has the same layouts.
type Node struct {
	Name     string
	Type     string // as a person would name it; of lists and structs it may be ""
	Kind     ValueKind
	Unsigned bool // of integers
	Leaf     int  // position among the leaves and so in each row group
	Repeated bool
	Def, Rep int // definition and repetition level of a value that is present, see [Node.Add]
	Children []*Node

	physical format.Type
}

// Add adds a child, whose levels follow from those of n and whether it is optional or, else,
// repeated.
func (n *Node) Add(c Node, optional bool) *Node {
	c.Def, c.Rep = n.Def, n.Rep
	if optional || c.Repeated {
		c.Def++
	}
	if c.Repeated {
		c.Rep++
	}
	n.Children = append(n.Children, &c)
	return &c
}

// IsLeaf reports whether n holds values.
func (n *Node) IsLeaf() bool { return n.Kind != Group }

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

// TypeName names the type of n for messages.
func (n *Node) TypeName() string {
	switch {
	case n.Repeated:
		return "list"
	case n.Type != "":
		return n.Type
	case len(n.Children) == 1 && n.Children[0].Repeated:
		return "list"
	}
	return "struct"
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

// A Leaf is a leaf of a schema as it is to be read.
type Leaf struct {
	Column   int // position in each row group
	Kind     ValueKind
	Unsigned bool // of integers
	Def, Rep int  // levels of a value that is present
	physical format.Type
	written  encoding.Encoding // of its pages, nil for any
}

// As returns n, which is a leaf, for reading as kind. ok is false if its values are of another
// type; integers can be read as floats.
func (n *Node) As(kind ValueKind) (leaf Leaf, ok bool) {
	leaf = Leaf{Column: n.Leaf, Kind: kind, Unsigned: n.Unsigned, Def: n.Def, Rep: n.Rep, physical: n.physical}
	return leaf, kind == n.Kind || kind == Nothing || kind == Float && n.Kind == Integer
}

// schemaDepth bounds what is followed: eight levels of nesting are more than any column here
// has.
const schemaDepth = 64

// schemaTree builds the tree of a flattened schema. The root's own repetition
// is ignored: some writers call it required, some repeated.
func schemaTree(elems []format.SchemaElement) (*Node, error) {
	next, leaves := 0, 0
	var add func(to *Node, depth int) bool
	add = func(to *Node, depth int) bool {
		if next >= len(elems) || depth > schemaDepth {
			return false
		}
		e := &elems[next]
		next++
		n := to.Add(nodeOf(e), e.RepetitionType.V == format.Optional)
		if n.IsLeaf() {
			n.Leaf = leaves
			leaves++
			return true
		}
		for range e.NumChildren.V {
			if !add(n, depth+1) {
				return false
			}
		}
		return true
	}
	var top Node
	if len(elems) > 0 && !elems[0].Type.Valid {
		if elems[0].RepetitionType.V = format.Required; add(&top, 0) && next == len(elems) {
			return top.Children[0], nil
		}
	}
	return nil, corrupt("the schema is no tree")
}

// nodeOf is the node of a schema element: text is BYTE_ARRAY that is a string or says nothing,
// integers are INT32 and INT64 of any width.
func nodeOf(e *format.SchemaElement) Node {
	logical := e.LogicalType.Value
	converted := func(types ...deprecated.ConvertedType) bool {
		return e.ConvertedType.Valid && slices.Contains(types, e.ConvertedType.V)
	}
	is := func(types ...deprecated.ConvertedType) bool {
		return logical == nil && (!e.ConvertedType.Valid || converted(types...))
	}
	n := Node{Name: e.Name, Repeated: e.RepetitionType.V == format.Repeated, physical: e.Type.V}
	if !e.Type.Valid {
		if _, ok := logical.(*format.MapType); ok || converted(deprecated.Map) {
			n.Type = "map"
		}
		return n
	}
	integer, _ := logical.(*format.IntType)
	n.Unsigned = integer != nil && !integer.IsSigned ||
		logical == nil && converted(deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64)
	switch n.Type = e.Type.V.String(); {
	case integer != nil && integer.IsSigned:
		n.Type = fmt.Sprintf("INT%d", integer.BitWidth)
	case logical != nil:
		n.Type = e.LogicalType.String()
	case converted(deprecated.UTF8):
		n.Type = "STRING"
	}
	text := is(deprecated.UTF8, deprecated.Enum, deprecated.Json)
	switch logical.(type) {
	case *format.NullType:
		n.Kind = Nothing
		return n
	case *format.StringType, *format.EnumType, *format.JsonType:
		text = true
	}
	switch n.Kind = Unreadable; n.physical {
	case format.ByteArray:
		if text {
			n.Kind = Text
		}
	case format.Int32, format.Int64:
		if integer != nil || n.Unsigned || is(deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64) {
			n.Kind = Integer
		}
	case format.Boolean:
		n.Kind = Flag
	case format.Float, format.Double:
		n.Kind = Float
	}
	return n
}
