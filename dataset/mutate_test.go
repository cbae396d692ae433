package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pqt "github.com/apache/arrow/go/v17/parquet"
	arrowcompress "github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/parquet-go/parquet-go"

	"ibid"
)

// checkedFile is a file whose pages have checksums.
func checkedFile(tb testing.TB) []byte {
	rows := randomRows(11, 200)
	stored := make([]storedRow, len(rows))
	for i := range rows {
		stored[i], _ = storeRow(&rows[i])
	}
	path := writeFile(tb, stored, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(80))
	return readFile(tb, path)
}

// uncheckedFile is a file without checksums, as many writers leave it.
func uncheckedFile(tb testing.TB) []byte {
	var lines strings.Builder
	for i := range 200 {
		json, _ := arrowJSON(i)
		lines.WriteString(json + "\n")
	}
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrowSchema(arrow.PrimitiveTypes.Int32), jsonLines(lines.String()))
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "a.parquet")
	writeArrow(tb, path, record, pqt.NewWriterProperties(pqt.WithCompression(arrowcompress.Codecs.Snappy),
		pqt.WithDataPageSize(400), pqt.WithBatchSize(32), pqt.WithMaxRowGroupLength(80), pqt.WithDictionaryPageSizeLimit(300)))
	return readFile(tb, path)
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// tryRead reads a file that may be damaged and returns its rows or the error,
// which must be an *ibid.Error that names the file.
func tryRead(tb testing.TB, path string) (rows []ibid.Answer, err error) {
	tb.Helper()
	s, err := Open(path, ReadOptions{})
	if err == nil {
		err = s.Read(tb.Context(), 0, 100, func(b *Batch) error {
			for i := range b.Len() {
				var r ibid.Answer
				b.Row(i, &r)
				rows = append(rows, r)
			}
			return nil
		})
	}
	if err != nil {
		var e *ibid.Error
		if !errors.As(err, &e) || e.File != path || !strings.HasPrefix(err.Error(), path+": ") {
			tb.Errorf("error %v (%T) does not name the file", err, err)
		}
		return nil, err
	}
	return rows, nil
}

// A damaged file is an error or reads as something, but never takes the process
// down or makes it set memory aside that the file cannot fill. With checksums,
// damage to pages is always found.
func TestDamagedFiles(t *testing.T) {
	const mutations, allocationLimit = 300, 48 << 20
	for _, file := range []struct {
		name    string
		data    []byte
		checked bool
	}{{"zstd with checksums", checkedFile(t), true}, {"snappy without", uncheckedFile(t), false}} {
		t.Run(file.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "damaged.parquet")
			if err := os.WriteFile(path, file.data, 0o644); err != nil {
				t.Fatal(err)
			}
			want, err := tryRead(t, path)
			if err != nil {
				t.Fatal(err)
			}
			footer := len(file.data) - 8 - int(binary.LittleEndian.Uint32(file.data[len(file.data)-8:]))
			rng := rand.New(rand.NewPCG(1, 2))
			counts := map[string]int{}
			for i := range mutations {
				data, at, what := mutate(rng, file.data, footer)
				if err := os.WriteFile(path, data, 0o644); err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := tryRead(t, path)
				runtime.ReadMemStats(&after)
				if used := after.TotalAlloc - before.TotalAlloc; used > allocationLimit {
					t.Errorf("mutation %d (%s): %d MB allocated for a file of %d kB", i, what, used>>20, len(data)>>10)
				}
				switch {
				case err != nil:
					counts["error"]++
				case diffRows(got, want) == "":
					counts["same"]++
				default:
					counts["different"]++
					if file.checked && at < footer {
						t.Errorf("mutation %d (%s) was not noticed: %s", i, what, diffRows(got, want))
					}
				}
			}
			t.Logf("%d mutations: %v", mutations, counts)
			if counts["error"] < mutations/3 {
				t.Errorf("%v: the mutations do not damage enough", counts)
			}
		})
	}
}

// mutate damages a copy of data in one of several ways and says where it begins.
func mutate(rng *rand.Rand, data []byte, footer int) (mutated []byte, at int, what string) {
	mutated = bytes.Clone(data)
	at = rng.IntN(len(data))
	if rng.IntN(3) == 0 {
		at = footer + rng.IntN(len(data)-footer)
	}
	switch rng.IntN(6) {
	case 0:
		mutated[at] ^= 1 << rng.IntN(8)
		what = "bit"
	case 1, 2:
		mutated[at] = byte(rng.IntN(256))
		what = "byte"
	case 3:
		for i := at; i < min(at+8, len(mutated)); i++ {
			mutated[i] = 0xFF
		}
		what = "ones"
	case 4:
		n := min(1+rng.IntN(20), len(mutated)-at)
		mutated = append(mutated[:at], mutated[at+n:]...)
		what = "cut out"
	default:
		mutated = mutated[:at]
		what = "truncated"
	}
	return mutated, at, fmt.Sprintf("%s at %d of %d", what, at, len(data))
}

func FuzzRead(f *testing.F) {
	f.Add(checkedFile(f))
	f.Add(uncheckedFile(f))
	f.Add([]byte("PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.parquet")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		rows, err := tryRead(t, path)
		if err != nil {
			return
		}
		again, err := tryRead(t, path)
		if err != nil || diffRows(again, rows) != "" {
			t.Errorf("second reading differs: %v %s", err, diffRows(again, rows))
		}
	})
}
