package parquet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/format"
)

// libraryGroups is what the library makes of the row groups of a footer.
func libraryGroups(b []byte) ([]rowGroup, bool) {
	meta := new(format.FileMetaData)
	if _, ok := decodeStruct(b, meta); !ok {
		return nil, false
	}
	var groups []rowGroup
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		own := rowGroup{NumRows: g.NumRows, Columns: []columnChunk{}}
		for j := range g.Columns {
			m := &g.Columns[j].MetaData
			own.Columns = append(own.Columns, columnChunk{
				Type: m.Type, Codec: m.Codec, Elsewhere: g.Columns[j].FilePath != "", NumValues: m.NumValues, NullCount: m.Statistics.NullCount,
				TotalCompressedSize: m.TotalCompressedSize, DataPageOffset: m.DataPageOffset, DictionaryPageOffset: m.DictionaryPageOffset,
				MinValue: m.Statistics.MinValue, MaxValue: m.Statistics.MaxValue,
			})
		}
		groups = append(groups, own)
	}
	return groups, true
}

// wholeFooter is what the library makes of the footer of a file.
func wholeFooter(file []byte) (*format.FileMetaData, error) {
	b, _, err := footerBytes(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	meta := new(format.FileMetaData)
	if _, ok := decodeStruct(b, meta); !ok {
		return nil, corrupt("unreadable footer")
	}
	return meta, nil
}

// sampleFooters are the footers of files of several writers.
func sampleFooters(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	files := [][]byte{encodeTable(t, randomResult(rand.New(rand.NewPCG(1, 1)), everyKind(), 50, 5, 3).table(t))}
	if t, ok := t.(*testing.T); ok {
		files = append(files, arrowFile(t, true), arrowFile(t, false))
	}
	for _, data := range files {
		b, _, err := footerBytes(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// TestFooter: row groups are what the library makes of them, byte for byte; and where
// bytes are changed, whatever both can read is the same.
func TestFooter(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, footer := range sampleFooters(t) {
		meta, groups, ok := decodeFooter(footer)
		want, _ := libraryGroups(footer)
		if !ok || len(meta.RowGroups) > 0 || len(groups) == 0 {
			t.Fatalf("decodeFooter: %v, %d row groups and %d", ok, len(meta.RowGroups), len(groups))
		}
		if d := cmp.Diff(want, groups); d != "" {
			t.Fatalf("-library +ours\n%s", d)
		}
		for range 3000 {
			changed := bytes.Clone(footer)
			changed[random.IntN(len(changed))] ^= 1 << random.IntN(8)
			sameFooter(t, changed)
		}
		for n := range footer {
			if _, _, ok := decodeFooter(footer[:n]); ok {
				t.Fatalf("the first %d of %d bytes are a footer", n, len(footer))
			}
		}
	}
}

// sameFooter decodes a footer, and compares what the library makes of it if both can.
func sameFooter(t *testing.T, footer []byte) {
	t.Helper()
	_, groups, ok := decodeFooter(footer)
	want, known := libraryGroups(footer)
	if ok && known {
		if d := cmp.Diff(want, groups); d != "" {
			t.Fatalf("%x\n-library +ours\n%s", footer, d)
		}
	}
}

func FuzzFooter(f *testing.F) {
	for _, footer := range sampleFooters(f) {
		f.Add(footer)
	}
	f.Fuzz(sameFooter)
}
