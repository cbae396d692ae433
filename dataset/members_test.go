package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"ibid/dataset/parquet"
)

// TestMembersOfOtherLists: a file whose members of one list differ in length is refused.
func TestMembersOfOtherLists(t *testing.T) {
	type citation struct {
		Doc  string `parquet:"doc"`
		Page int32  `parquet:"page"`
	}
	type row struct {
		ID        string     `parquet:"id"`
		Query     string     `parquet:"query"`
		Answer    string     `parquet:"answer"`
		Citations []citation `parquet:"citations,list"`
	}
	for _, tt := range []struct {
		name string
		reps []int // of the pages; documents have 0, 1, 0, 1
		ok   bool
	}{
		{"the same", []int{0, 1, 0, 1}, true},
		{"as many", []int{0, 1, 1, 0}, false},
		{"fewer", []int{0, 1, 0}, false},
		{"more", []int{0, 1, 0, 1, 1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows.parquet")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w := pq.NewGenericWriter[row](f)
			columns := w.ColumnWriters()
			write := func(column int, reps []int, of func(i int) pq.Value, def int) {
				var values []pq.Value
				for i, rep := range reps {
					values = append(values, of(i).Level(rep, def, column))
				}
				if _, err := columns[column].WriteRowValues(values); err != nil {
					t.Fatal(err)
				}
			}
			text := func(i int) pq.Value { return pq.ByteArrayValue([]byte{byte('a' + i)}) }
			for column := range 3 {
				write(column, []int{0, 0}, text, 0)
			}
			write(3, []int{0, 1, 0, 1}, text, 1)
			write(4, tt.reps, func(i int) pq.Value { return pq.Int32Value(int32(i)) }, 1)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Read(context.Background(), 0, 10, func(b *Batch) error { return nil })
			if tt.ok != (err == nil) || err != nil && !errors.Is(err, parquet.ErrCorrupt) {
				t.Errorf("read: %v", err)
			}
		})
	}
}
