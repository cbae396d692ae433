package parquet

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go/format"
)

// libraryFooter is what the library makes of what reading takes from a footer.
func libraryFooter(b []byte) (*footer, bool) {
	meta := new(format.FileMetaData)
	if _, ok := decodeStruct(b, meta); !ok {
		return nil, false
	}
	f := &footer{Schema: meta.Schema, NumRows: meta.NumRows, Metadata: meta.KeyValueMetadata, CreatedBy: meta.CreatedBy}
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		own := rowGroup{NumRows: g.NumRows, Columns: []columnChunk{}}
		for j := range g.Columns {
			m := &g.Columns[j].MetaData
			own.Columns = append(own.Columns, columnChunk{g.Columns[j].FilePath, chunkOfFile{
				m.Type, m.Codec, m.NumValues, m.TotalCompressedSize, m.DataPageOffset, m.DictionaryPageOffset,
				statistics{m.Statistics.NullCount, m.Statistics.MaxValue, m.Statistics.MinValue},
			}})
		}
		f.RowGroups = append(f.RowGroups, own)
	}
	return f, true
}

// footerOf is the footer of a file, and where it begins.
func footerOf(data []byte) (b []byte, end int64, err error) {
	f := &File{Size: int64(len(data)), file: memorySource{bytes.NewReader(data)}}
	b, err = f.footerBytes()
	return b, f.end, err
}

// wholeFooter is what the library makes of the footer of a file.
func wholeFooter(file []byte) (*format.FileMetaData, error) {
	b, _, err := footerOf(file)
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
		b, _, err := footerOf(data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// TestFooter: what is read of a footer is what the library makes of it, byte for byte; and
// where bytes are changed, whatever both can read is the same.
func TestFooter(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, b := range sampleFooters(t) {
		sameFooter(t, b)
		for range 3000 {
			changed := bytes.Clone(b)
			changed[random.IntN(len(changed))] ^= 1 << random.IntN(8)
			sameFooter(t, changed)
		}
		for n := range b {
			if _, ok := decodeStruct(b[:n], new(footer)); ok {
				t.Fatalf("the first %d of %d bytes are a footer", n, len(b))
			}
		}
	}
}

// sameFooter decodes a footer, and compares what the library makes of it if both can.
func sameFooter(t *testing.T, b []byte) {
	t.Helper()
	got := new(footer)
	_, ok := decodeStruct(b, got)
	want, known := libraryFooter(b)
	if known && !ok {
		t.Fatalf("%x: the library alone can read it", b)
	}
	if ok && known && !reflect.DeepEqual(want, got) {
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%x\n-library +ours\n%s", b, d)
		}
	}
}

func FuzzFooter(f *testing.F) {
	for _, b := range sampleFooters(f) {
		f.Add(b)
	}
	f.Fuzz(sameFooter)
}
