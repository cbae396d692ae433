package parquet

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type nestedInner struct {
	Double *float64 `parquet:"double,optional"`
	Texts  []string `parquet:"texts,optional,list"`
}

type nestedElement struct {
	Int   *int64            `parquet:"int,optional"`
	Text  string            `parquet:"text"`
	Inner []nestedInner     `parquet:"inner,optional,list"`
	Map   map[string]string `parquet:"map,optional"`
}

type nestedRow struct {
	ID       int64           `parquet:"id"`
	Optional []nestedElement `parquet:"optional,optional,list"`
	Required []nestedInner   `parquet:"required,list"`
}

var nestedFields = func() []Field {
	inner := []Field{{Name: "double", Kind: Double}, {Name: "texts", Kind: ListString}}
	return []Field{
		{Name: "id", Kind: Int64, Required: true},
		{Name: "optional", Kind: ListStruct, Fields: []Field{
			{Name: "int", Kind: Int64}, {Name: "text", Kind: String, Required: true}, {Name: "inner", Kind: ListStruct, Fields: inner}, {Name: "map", Kind: MapString},
		}},
		{Name: "required", Kind: ListStruct, Required: true, Fields: inner},
	}
}()

func (r *nestedRow) append(t *Table) {
	inners := func(t *Table, c int, list []nestedInner) {
		t.At(c).AppendStructs(len(list))
		for _, x := range list {
			if x.Double != nil {
				t.At(c).Structs.At(0).AppendDouble(*x.Double)
			}
			if x.Texts != nil {
				t.At(c).Structs.At(1).AppendStrings(x.Texts)
			}
			t.At(c).Structs.EndRow()
		}
	}
	t.At(0).AppendInt(r.ID)
	inners(t, 2, r.Required)
	if r.Optional != nil {
		t.At(1).AppendStructs(len(r.Optional))
		at := t.At(1).Structs
		for _, x := range r.Optional {
			if x.Int != nil {
				at.At(0).AppendInt(*x.Int)
			}
			at.At(1).AppendString(x.Text)
			if x.Inner != nil {
				inners(at, 2, x.Inner)
			}
			if x.Map != nil {
				var keys, values []string
				for k, v := range x.Map {
					keys, values = append(keys, k), append(values, v)
				}
				at.At(3).AppendMap(keys, values)
			}
			at.EndRow()
		}
	}
	t.EndRow()
}

// TestNestedReadByParquetGo writes lists within lists in two row groups of several
// pages and reads them with another reader.
func TestNestedReadByParquetGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	text := func() string { return string(bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, rng.IntN(200))) }
	inners := func() []nestedInner {
		list := make([]nestedInner, rng.IntN(4))
		for i := range list {
			if x := rng.Float64(); x < 0.5 {
				list[i].Double = &x
			}
			for range rng.IntN(3) {
				list[i].Texts = append(list[i].Texts, text())
			}
		}
		return list
	}
	var want []nestedRow
	var file bytes.Buffer
	var e Encoder
	table := NewTable(nestedFields)
	e.Begin(&file, nestedFields)
	for range 2 {
		table.Reset()
		for range 10_000 {
			r := nestedRow{ID: int64(len(want)), Required: inners()}
			if n := rng.IntN(6) - 1; n >= 0 {
				r.Optional = make([]nestedElement, n)
			}
			for i := range r.Optional {
				x := &r.Optional[i]
				x.Text = text()
				if v := rng.Int64N(100) - 50; v < 0 {
					x.Int = &v
				}
				if rng.IntN(3) > 0 {
					x.Inner = inners()
				}
				if rng.IntN(3) > 0 {
					x.Map = map[string]string{text(): "x", "k": text()}
				}
			}
			r.append(table)
			want = append(want, r)
		}
		if err := e.Group(table); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.End(nil); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[nestedRow](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d rows of %d: %v", len(got), len(want), err)
	}
	for i := range got {
		if !reflect.DeepEqual(plain(got[i]), plain(want[i])) {
			t.Fatalf("row %d: %+v, want %+v", i, plain(got[i]), plain(want[i]))
		}
	}
	meta, err := wholeFooter(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for g := range meta.RowGroups {
		for i := range meta.RowGroups[g].Columns {
			if n, want := meta.RowGroups[g].Columns[i].MetaData.NumValues, meta.RowGroups[g].NumRows; n < want {
				t.Errorf("group %d, column %d: %d values in %d rows", g, i, n, want)
			}
		}
	}
}

// plain makes null and empty lists alike, as that reader does.
func plain(r nestedRow) nestedRow {
	inners := func(list []nestedInner) (out []nestedInner) {
		for _, x := range list {
			x.Texts = append([]string(nil), x.Texts...)
			out = append(out, x)
		}
		return out
	}
	r.Required = inners(r.Required)
	var out []nestedElement
	for _, x := range r.Optional {
		x.Inner = inners(x.Inner)
		if len(x.Map) == 0 {
			x.Map = nil
		}
		out = append(out, x)
	}
	r.Optional = out
	return r
}

func TestNestedMustBeComplete(t *testing.T) {
	table := NewTable(nestedFields)
	table.At(0).AppendInt(1)
	table.At(2).AppendStructs(2)
	table.At(2).Structs.EndRow()
	table.EndRow()
	defer func() {
		if recover() == nil {
			t.Error("a list with fewer structs than it says was written")
		}
	}()
	new(Encoder).Group(table)
}
