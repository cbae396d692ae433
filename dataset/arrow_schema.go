package dataset

import (
	"encoding/json"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// arrowField is a field as the JSON of Arrow's integration tests has it.
type arrowField struct {
	Name     string         `json:"name"`
	Nullable bool           `json:"nullable"`
	Type     map[string]any `json:"type"`
	Children []arrowField   `json:"children"`
}

// JSON is the schema in the JSON of Arrow's integration tests.
//
// Source: Arrow, docs/source/format/Integration.rst.
func (t *ArrowTable) JSON() ([]byte, error) {
	var fields []arrowField
	for _, f := range t.schema.Fields() {
		fields = append(fields, fieldJSON(f))
	}
	return json.MarshalIndent(map[string]any{"schema": map[string]any{"fields": fields}}, "", "  ")
}

func fieldJSON(f arrow.Field) arrowField {
	out := arrowField{Name: f.Name, Nullable: f.Nullable, Children: []arrowField{}}
	name := func(n string) map[string]any { return map[string]any{"name": n} }
	switch t := f.Type.(type) {
	case *arrow.Int32Type, *arrow.Int64Type:
		out.Type = map[string]any{"name": "int", "isSigned": true, "bitWidth": t.(arrow.FixedWidthDataType).BitWidth()}
	case *arrow.Float64Type:
		out.Type = map[string]any{"name": "floatingpoint", "precision": "DOUBLE"}
	case *arrow.BooleanType:
		out.Type = name("bool")
	case *arrow.StringType:
		out.Type = name("utf8")
	case *arrow.MapType:
		out.Type = map[string]any{"name": "map", "keysSorted": t.KeysSorted}
		entries := arrowField{Name: "entries", Type: name("struct"), Children: []arrowField{fieldJSON(t.KeyField()), fieldJSON(t.ItemField())}}
		out.Children = []arrowField{entries}
	case *arrow.ListType:
		out.Type = name("list")
		out.Children = []arrowField{fieldJSON(t.ElemField())}
	default:
		panic("dataset: no JSON for " + t.String())
	}
	return out
}

// SparkDDL is the schema as Spark's mapInArrow and from_ddl take it.
func (t *ArrowTable) SparkDDL() string {
	var columns []string
	for _, f := range t.schema.Fields() {
		columns = append(columns, "`"+strings.ReplaceAll(f.Name, "`", "``")+"` "+sparkType(f.Type))
	}
	return strings.Join(columns, ", ")
}

func sparkType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Int32Type:
		return "INT"
	case *arrow.Int64Type:
		return "BIGINT"
	case *arrow.Float64Type:
		return "DOUBLE"
	case *arrow.BooleanType:
		return "BOOLEAN"
	case *arrow.StringType:
		return "STRING"
	case *arrow.MapType:
		return "MAP<" + sparkType(t.KeyType()) + ", " + sparkType(t.ItemType()) + ">"
	case *arrow.ListType:
		return "ARRAY<" + sparkType(t.Elem()) + ">"
	}
	panic("dataset: no type of Spark for " + t.String())
}
