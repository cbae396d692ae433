package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestFilters: a filter holds every text of its row group and few others, also after
// groups were joined, and parquet-go reads it as we do.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	const groups, rows = 3, 5000
	fields := []Field{{Name: "id", Kind: String, Required: true}, {Name: "other", Kind: String}, {Name: "none", Kind: String}}
	name := func(g, i int) string { return fmt.Sprintf("q-%d", g+groups*i) }
	var parts []Part
	for g := range groups {
		table, err := NewTable(fields)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []int{0, 2} {
			table.Filter(c)
		}
		for i := range rows {
			table.AppendString(0, name(g, i))
			table.AppendString(1, "x")
			table.EndRow()
		}
		path := filepath.Join(dir, fmt.Sprint(g))
		if err := os.WriteFile(path, encodeTable(t, table), 0o666); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Part{Path: path})
	}
	path := filepath.Join(dir, "all")
	joinFile(t, path, fields, parts, nil)
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	peer, size := openPeer(t, path)
	pf, err := parquet.OpenFile(peer, size)
	if err != nil {
		t.Fatal(err)
	}
	for g := range groups {
		theirs := pf.RowGroups()[g].ColumnChunks()[0].BloomFilter()
		wrong := 0
		for of := range groups {
			for i := range rows {
				id := name(of, i)
				may := f.MayHoldText(g, "id", id)
				if of == g && !may {
					t.Fatalf("group %d has %s, and its filter says no", g, id)
				}
				if also, err := theirs.Check(parquet.ValueOf(id)); err != nil || also != may {
					t.Fatalf("group %d, %s: %v, parquet-go says %v, %v", g, id, may, also, err)
				}
				if of != g && may {
					wrong++
				}
			}
		}
		if wrong > (groups-1)*rows/25 {
			t.Errorf("group %d: the filter holds %d of %d texts that are not there", g, wrong, (groups-1)*rows)
		}
		if !f.MayHoldText(g, "other", "y") || !f.MayHoldText(g, "none", "y") || !f.MayHoldText(g, "nothing", "y") {
			t.Error("a column without a filter leaves something out")
		}
	}
}

func openPeer(t *testing.T, path string) (*os.File, int64) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return file, info.Size()
}
