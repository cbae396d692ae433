package dataset

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// accepts reports whether the leaf n can be read as k: strings from BYTE_ARRAY
// that is text or says nothing, integers from INT32 and INT64 of any width,
// doubles from DOUBLE, FLOAT and integers. unsigned is set for unsigned
// integers.
func (k valueKind) accepts(n *schemaNode, unsigned *bool) bool {
	switch n.elem.Type.V {
	case format.ByteArray:
		return k == textValue && n.isText()
	case format.Int32, format.Int64:
		return k != textValue && n.isInteger(unsigned)
	case format.Float, format.Double:
		return k == floatValue
	}
	return false
}

func (n *schemaNode) isText() bool {
	switch n.elem.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return true
	case nil:
	default:
		return false
	}
	if !n.elem.ConvertedType.Valid {
		return true
	}
	switch n.elem.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return true
	}
	return false
}

func (n *schemaNode) isInteger(unsigned *bool) bool {
	switch t := n.elem.LogicalType.Value.(type) {
	case *format.IntType:
		*unsigned = !t.IsSigned
		return true
	case nil:
	default:
		return false
	}
	if !n.elem.ConvertedType.Valid {
		return true
	}
	switch n.elem.ConvertedType.V {
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return true
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		*unsigned = true
		return true
	}
	return false
}
