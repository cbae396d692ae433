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
	root := newNode(nil, new(format.SchemaElement))
	leaves := 0
	for i := range columns {
		columns[i].under(root, &leaves)
	}
	return root
}

// leafShapes are the schema elements of leaves.
var leafShapes = map[ShapeKind]format.SchemaElement{
	Unreadable: {Type: thrift.New(format.FixedLenByteArray)},
	OnlyNulls:  {Type: thrift.New(format.Int32), LogicalType: format.LogicalType{Value: new(format.NullType)}},
	OfText:     {Type: thrift.New(format.ByteArray), ConvertedType: thrift.New(deprecated.UTF8)},
	OfIntegers: {Type: thrift.New(format.Int64)},
	OfUnsigned: {Type: thrift.New(format.Int64), ConvertedType: thrift.New(deprecated.Uint64)},
	OfFloats:   {Type: thrift.New(format.Double)},
	OfFlags:    {Type: thrift.New(format.Boolean)},
}

// under adds the node of the shape to a parent.
func (s *Shape) under(parent *Node, leaves *int) {
	elem, leaf := leafShapes[s.Kind]
	elem.Name, elem.RepetitionType = s.Name, thrift.New(format.Optional)
	if s.Kind == MapShaped {
		elem.LogicalType.Value = new(format.MapType)
	}
	n := newNode(parent, &elem)
	if n.typeName = s.Type; leaf {
		n.Leaf = *leaves
		*leaves++
		return
	}
	names := []string{"element"}
	if s.Kind == MapShaped {
		names = []string{"key", "value"}
	}
	if s.Kind != StructShaped {
		n = newNode(n, &format.SchemaElement{Name: "list", RepetitionType: thrift.New(format.Repeated)})
	}
	for i := range s.Children {
		if s.Kind != StructShaped {
			s.Children[i].Name = names[i]
		}
		s.Children[i].under(n, leaves)
	}
}
