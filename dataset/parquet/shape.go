package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A Shape is a column of a table that is in no Parquet file, such as one of Arrow: a leaf
// of a kind that is read as itself, or a list, map or struct of its Children.
type Shape struct {
	Name     string
	Type     string // for messages
	Kind     ShapeKind
	Children []Shape // of a list one, of a map key and value
}

// A ShapeKind is what a [Shape] holds.
type ShapeKind uint8

const (
	Unreadable ShapeKind = iota // nothing that a column of ours can be
	OnlyNulls
	OfText
	OfIntegers
	OfUnsigned
	OfFloats
	OfFlags
	ListShaped
	MapShaped
	StructShaped
)

// RootOf is the root of the schema that a Parquet file with these columns would have. All
// are optional, and so is what is inside them. Leaves are numbered in the order of a walk.
func RootOf(columns []Shape) *Node {
	root := &Node{Leaf: -1, elem: new(format.SchemaElement)}
	leaves := 0
	for i := range columns {
		columns[i].under(root, &leaves)
	}
	return root
}

// under adds the node of the shape to a parent.
func (s *Shape) under(parent *Node, leaves *int) {
	n := newNode(parent, s.Name, format.Optional)
	n.typeName = s.Type
	switch s.Kind {
	case ListShaped:
		element := s.Children[0]
		element.Name = "element"
		element.under(newNode(n, "list", format.Repeated), leaves)
		return
	case MapShaped:
		n.elem.LogicalType.Value = new(format.MapType)
		inner := newNode(n, "key_value", format.Repeated)
		for i, name := range []string{"key", "value"} {
			s.Children[i].Name = name
			s.Children[i].under(inner, leaves)
		}
		return
	case StructShaped:
		for i := range s.Children {
			s.Children[i].under(n, leaves)
		}
		return
	}
	n.Leaf = *leaves
	*leaves++
	typ := format.FixedLenByteArray
	switch s.Kind {
	case OnlyNulls:
		typ, n.elem.LogicalType.Value = format.Int32, new(format.NullType)
	case OfText:
		typ, n.elem.ConvertedType = format.ByteArray, thrift.New(deprecated.UTF8)
	case OfIntegers:
		typ = format.Int64
	case OfUnsigned:
		typ, n.elem.ConvertedType = format.Int64, thrift.New(deprecated.Uint64)
	case OfFloats:
		typ = format.Double
	case OfFlags:
		typ = format.Boolean
	}
	n.elem.Type = thrift.New(typ)
}

// newNode adds a group, or what becomes a leaf, to a parent.
func newNode(parent *Node, name string, rep format.FieldRepetitionType) *Node {
	n := &Node{Name: name, Leaf: -1, Def: parent.Def + 1, Rep: parent.Rep, elem: &format.SchemaElement{Name: name, RepetitionType: thrift.New(rep)}}
	if rep == format.Repeated {
		n.Repeated = true
		n.Rep++
	}
	parent.Children = append(parent.Children, n)
	return n
}
