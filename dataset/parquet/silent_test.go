package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// A memorySource is a file in memory.
type memorySource struct{ *bytes.Reader }

func (memorySource) Close() error { return nil }

// TestNoSilentChange sets every byte of the pages and page headers of three result files to
// every other value: each is an error or changes no value. The rest of a file has checksums.
func TestNoSilentChange(t *testing.T) {
	for i, fields := range [][]Field{
		everyKind(),
		{{Name: "list", Kind: ListString, Few: true}, {Name: "map", Kind: MapString}, {Name: "numbers", Kind: ListInt32}},
		{{Name: "id", Kind: String, Required: true}, {Name: "few", Kind: String, Few: true}, {Name: "row", Kind: Int64, Required: true}, {Name: "x", Kind: Double}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want := randomResult(rand.New(rand.NewPCG(1, uint64(i))), fields, 1+2*i, 3, 2)
			path := writeResult(t, "a.parquet", encodeTable(t, want.table(t)))
			f, err := OpenResult(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f.file = memorySource{bytes.NewReader(data)}
			refused, same := 0, 0
			var v ColumnValues
			for c, field := range f.Fields() {
				for _, leaf := range f.leaves[c] {
					chunk := f.chunk(0, leaf.Column)
					for at := chunk.start(); at < chunk.start()+chunk.Meta.TotalCompressedSize; at++ {
						original := data[at]
						for change := range 255 {
							data[at] = original + byte(change) + 1
							if err := f.ReadColumn(0, field.Name, nil, &v); err != nil {
								refused++
								continue
							}
							same++
							for k := range want.rows {
								if v.Rows != len(want.rows) || !sameCell(v.Cell(k), want.rows[k][c]) {
									t.Fatalf("%s: byte %d of the column is %d instead of %d: other values without an error", field.Name, at-chunk.start(), data[at], original)
								}
							}
						}
						data[at] = original
					}
				}
			}
			if refused < 10*same {
				t.Errorf("%d changes are refused, %d change nothing", refused, same)
			}
			t.Logf("%d changes are refused, %d change nothing", refused, same)
		})
	}
}
