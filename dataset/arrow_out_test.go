package dataset

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"ibid/dataset/parquet"
)

// outFields are columns of every kind.
var outFields = []parquet.Field{
	{Name: "row", Kind: parquet.Int64},
	{Name: "id", Kind: parquet.String},
	{Name: "count", Kind: parquet.Int32},
	{Name: "big", Kind: parquet.Int64},
	{Name: "score", Kind: parquet.Double},
	{Name: "fails", Kind: parquet.Bool},
	{Name: "text", Kind: parquet.String},
	{Name: "claims", Kind: parquet.ListInt32},
	{Name: "reasons", Kind: parquet.ListString},
	{Name: "tags", Kind: parquet.MapString},
	{Name: "open", Kind: parquet.MapInt64},
	{Name: "bounds", Kind: parquet.MapDouble},
}

// outTable is a table of n rows, those from a batch whose first has the place 100, and what
// its cells are as JSON. Every third row of the batch has no number in the input, every fourth no id.
func outTable(t *testing.T, rng *rand.Rand, n int) (*parquet.Table, []map[string]any) {
	t.Helper()
	table := parquet.NewTable(outFields)
	texts := []string{"", "a", "ünï 🙂", strings.Repeat("long ", 40)}
	var want []map[string]any
	for i := range n {
		cells := map[string]any{"row": int64(1000 + i), "id": texts[i%len(texts)]}
		table.At(0).AppendInt(int64(100 + i))
		table.At(1).AppendString(texts[i%len(texts)])
		if i%3 == 0 {
			cells["row"] = nil
		}
		if i%4 == 0 {
			cells["id"] = nil
		}
		for c, f := range outFields[2:] {
			c += 2
			if rng.IntN(4) == 0 && f.Name != "big" { // a column without nulls is another way
				cells[f.Name] = nil
				continue
			}
			switch f.Kind {
			case parquet.Int32, parquet.Int64:
				v := rng.Int64N(1<<31) - 1<<30
				table.At(c).AppendInt(v)
				cells[f.Name] = v
			case parquet.Double:
				v := rng.NormFloat64()
				table.At(c).AppendDouble(v)
				cells[f.Name] = v
			case parquet.Bool:
				v := rng.IntN(2) == 0
				table.At(c).AppendBool(v)
				cells[f.Name] = v
			case parquet.String:
				v := texts[rng.IntN(len(texts))]
				table.At(c).AppendString(v)
				cells[f.Name] = v
			case parquet.ListInt32:
				list := []int32{}
				for range rng.IntN(4) {
					list = append(list, rng.Int32())
				}
				table.At(c).AppendInts(list)
				cells[f.Name] = list
			case parquet.ListString:
				list := []string{}
				for range rng.IntN(4) {
					list = append(list, texts[rng.IntN(len(texts))])
				}
				table.At(c).AppendStrings(list)
				cells[f.Name] = list
			case parquet.MapString:
				keys, values := []string{"k", "lang"}[:1+i%2], []string{texts[i%3], "de"}[:1+i%2]
				pairs := []map[string]string{}
				for k := range keys {
					pairs = append(pairs, map[string]string{"key": keys[k], "value": values[k]})
				}
				table.At(c).AppendMap(keys, values)
				cells[f.Name] = pairs
			case parquet.MapInt64, parquet.MapDouble:
				keys, pairs := []string{"a", "b", "c"}[:rng.IntN(4)], []map[string]any{}
				ints, doubles := []int64{}, []float64{}
				for _, key := range keys {
					n := rng.Int64N(100)
					if ints, doubles = append(ints, n), append(doubles, float64(n)/8); f.Kind == parquet.MapInt64 {
						pairs = append(pairs, map[string]any{"key": key, "value": n})
					} else {
						pairs = append(pairs, map[string]any{"key": key, "value": float64(n) / 8})
					}
				}
				if f.Kind == parquet.MapInt64 {
					table.At(c).AppendIntMap(keys, ints)
				} else {
					table.At(c).AppendDoubleMap(keys, doubles)
				}
				cells[f.Name] = pairs
			}
		}
		table.EndRow()
		want = append(want, cells)
	}
	return table, want
}

// asJSON is a value as JSON has it, so that the numbers of Go are one kind.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestArrowOut: tables of results come back from a stream of Arrow as they were, whatever is
// null, with the rows and ids of the input.
func TestArrowOut(t *testing.T) {
	form, err := NewArrowTable(outFields, map[string]string{"ibid.table": "rows"})
	if err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	w, err := form.Begin(&stream)
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 64, 150} {
		table, cells := outTable(t, rng, n)
		record, err := form.Record(table, &Origin{
			First: 100,
			Row:   func(i int) (int64, bool) { return int64(1000 + i), i%3 != 0 },
			NoID:  func(i int) bool { return i%4 == 0 },
		})
		if err != nil {
			t.Fatal(err)
		}
		table.Reset() // the record has memory of its own
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
		want = append(want, cells...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&stream)
	if err != nil {
		t.Fatal(err)
	}
	if at := r.Schema().Metadata().FindKey("ibid.table"); at < 0 || r.Schema().Metadata().Values()[at] != "rows" {
		t.Errorf("metadata %v", r.Schema().Metadata())
	}
	var got []map[string]any
	for r.Next() {
		rec := r.Record()
		for i := range int(rec.NumRows()) {
			cells := make(map[string]any)
			for c, f := range rec.Schema().Fields() {
				cells[f.Name] = rec.Column(c).GetOneForMarshal(i)
			}
			got = append(got, cells)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
		t.Error(diff)
	}
}

// TestSparkDDL: the schema of a table in the words of Spark, with every type.
func TestSparkDDL(t *testing.T) {
	form, err := NewArrowTable(append(slices.Clone(outFields), parquet.Field{Name: "a`b", Kind: parquet.String}), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "`row` BIGINT, `id` STRING, `count` INT, `big` BIGINT, `score` DOUBLE, `fails` BOOLEAN, `text` STRING, " +
		"`claims` ARRAY<INT>, `reasons` ARRAY<STRING>, `tags` MAP<STRING, STRING>, `open` MAP<STRING, BIGINT>, `bounds` MAP<STRING, DOUBLE>, `a``b` STRING"
	if got := form.SparkDDL(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
