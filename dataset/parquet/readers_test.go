package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v17/parquet"
	arrowcompress "github.com/apache/arrow/go/v17/parquet/compress"
	arrowfile "github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ibid"
)

// A mixedRow has every type and encoding that parquet-go writes.
type mixedRow struct {
	Text     string           `parquet:"text,plain"`
	Lengths  string           `parquet:"lengths,delta"`
	Coded    *string          `parquet:"coded,optional,dict"`
	Delta    int64            `parquet:"delta,delta"`
	Narrow   int32            `parquet:"narrow,delta"`
	Unsigned uint32           `parquet:"unsigned"`
	Numbers  int64            `parquet:"numbers,dict"`
	Double   float64          `parquet:"double"`
	Float    *float32         `parquet:"float,optional"`
	Flag     *bool            `parquet:"flag,optional"`
	Null     *int64           `parquet:"null,optional"`
	List     []mixedSpan      `parquet:"list,optional,list"`
	Map      map[int64]string `parquet:"map"`
}

type mixedSpan struct {
	Doc   *string  `parquet:"doc,optional,dict"`
	Start int64    `parquet:"start,delta"`
	Texts []string `parquet:"texts,optional,list"`
}

// A splitRow is what Arrow does not read: streams of bytes.
type splitRow struct {
	Double float64 `parquet:"double,split"`
	Float  float32 `parquet:"float,split"`
	Narrow int32   `parquet:"narrow,split"`
	Wide   int64   `parquet:"wide,split"`
}

func mixedRows(seed uint64, n int) []mixedRow {
	rng := rand.New(rand.NewPCG(seed, 1))
	text := func() string { return fmt.Sprint("Zoë ", rng.IntN(50))[:4+rng.IntN(2)] }
	rows := make([]mixedRow, n)
	for i := range rows {
		r := &rows[i]
		*r = mixedRow{Text: fmt.Sprintf("row %06d", i), Lengths: text(), Delta: rng.Int64() >> rng.IntN(64), Narrow: rng.Int32(), Unsigned: rng.Uint32(), Numbers: rng.Int64N(5), Double: rng.NormFloat64()}
		if rng.IntN(3) > 0 {
			s, y, z := text(), rng.Float32(), rng.IntN(2) > 0
			r.Coded, r.Float, r.Flag = &s, &y, &z
		}
		for range rng.IntN(4) {
			s := mixedSpan{Start: rng.Int64N(1000)}
			for range rng.IntN(3) {
				doc := text()
				s.Doc, s.Texts = &doc, append(s.Texts, text())
			}
			r.List = append(r.List, s)
		}
		r.Map = map[int64]string{rng.Int64N(9): text()}
	}
	return rows
}

// A foreignFile is a file of some writer. plain has the same values in a form that
// parquet-go reads: of LZ4_RAW it does not read what it writes.
type foreignFile struct {
	name        string
	data, plain []byte
}

// foreignFiles are files of parquet-go and of Arrow in each codec and both versions of pages.
func foreignFiles(tb testing.TB, rows []mixedRow) (files []foreignFile) {
	tb.Helper()
	write := func(version int, codec compress.Codec) []byte {
		var out bytes.Buffer
		w := parquet.NewGenericWriter[mixedRow](&out, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(400), parquet.MaxRowsPerRowGroup(int64(len(rows)*2/3)))
		_, err := w.Write(rows)
		if err = errors.Join(err, w.Close()); err != nil {
			tb.Fatal(err)
		}
		return out.Bytes()
	}
	arrows := make(map[string][]byte) // of version 1: version 2 has pages that parquet-go refuses
	for version := 1; version <= 2; version++ {
		plain := write(version, &parquet.Uncompressed)
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw} {
			files = append(files, foreignFile{fmt.Sprintf("parquet-go, %s, version %d", codec, version), write(version, codec), plain})
		}
		encoded := func(text, number arrowparquet.Encoding) []arrowparquet.WriterProperty {
			p := []arrowparquet.WriterProperty{arrowparquet.WithDictionaryDefault(false), arrowparquet.WithEncoding(arrowparquet.Encodings.Plain)}
			for name, e := range map[string]arrowparquet.Encoding{"text": text, "lengths": text, "coded": text, "delta": number, "narrow": number, "numbers": number} {
				p = append(p, arrowparquet.WithEncodingFor(name, e))
			}
			return p
		}
		for name, options := range map[string][]arrowparquet.WriterProperty{
			"dictionaries": {arrowparquet.WithCompression(arrowcompress.Codecs.Zstd)},
			"plain":        {arrowparquet.WithDictionaryDefault(false), arrowparquet.WithCompression(arrowcompress.Codecs.Uncompressed)},
			"lengths":      encoded(arrowparquet.Encodings.DeltaLengthByteArray, arrowparquet.Encodings.DeltaBinaryPacked),
			"prefixes":     encoded(arrowparquet.Encodings.DeltaByteArray, arrowparquet.Encodings.DeltaBinaryPacked),
		} {
			v := arrowparquet.DataPageV1
			if version == 2 {
				v = arrowparquet.DataPageV2
			}
			data := arrowCopy(tb, plain, append(options, arrowparquet.WithDataPageVersion(v), arrowparquet.WithDataPageSize(400), arrowparquet.WithBatchSize(32))...)
			if version == 1 {
				arrows[name] = data
			}
			files = append(files, foreignFile{fmt.Sprintf("Arrow, %s, version %d", name, version), data, arrows[name]})
		}
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[splitRow](&out)
	for i := range rows {
		if _, err := w.Write([]splitRow{{rows[i].Double, float32(rows[i].Double), rows[i].Narrow, rows[i].Delta}}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	files = append(files, foreignFile{"parquet-go, streams", out.Bytes(), out.Bytes()})
	slices.SortFunc(files, func(a, b foreignFile) int { return strings.Compare(a.name, b.name) })
	return files
}

// arrowCopy writes the rows of a file again with Arrow.
func arrowCopy(tb testing.TB, data []byte, options ...arrowparquet.WriterProperty) []byte {
	tb.Helper()
	r, err := arrowfile.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		tb.Fatal(err)
	}
	table, err := fr.ReadTable(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	defer table.Release()
	var out bytes.Buffer
	if err := pqarrow.WriteTable(table, &out, 100, arrowparquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// leaves are the leaves of a schema in file order.
func (n *Node) leaves() (out []*Node) {
	if n.IsLeaf() {
		return []*Node{n}
	}
	for _, c := range n.Children {
		out = append(out, c.leaves()...)
	}
	return out
}

// readAllLeaves reads every value of a file by cursors, leaf by leaf, with its levels.
func readAllLeaves(path string) (out [][]string, err error) {
	defer func() {
		if p := recover(); p != nil { // as readers of datasets and results do
			err = FileError(path, corrupt("%v", p))
		}
	}()
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	budget := int64(MostMemory)
	var c Cursor
	var a Arena
	for _, n := range f.Root.leaves() {
		leaf, _ := n.As(Nothing)
		for _, k := range []ValueKind{Text, Float, Integer, Flag} {
			if l, ok := n.As(k); ok {
				leaf = l
			}
		}
		var column []string
		for g := range f.RowGroups() {
			var v Values
			a.Reset()
			rep := make([]byte, 0, 16)
			c.Start(f, g, g+1, leaf, &budget)
			rows := f.GroupRows(g)
			if leaf.Rep > 0 {
				_, err = c.ReadRows(rows, math.MaxInt, &v, &rep, &a)
			} else if _, err = c.ReadRows(rows, rows, &v, nil, &a); err == nil {
				rep = zeros(rep, rows)
			}
			if err == nil && !c.Done() {
				err = corrupt("more values than rows")
			}
			if err != nil {
				return nil, FileError(path, err)
			}
			for i, level := range v.Levels {
				text := ""
				if int(level) == leaf.Def {
					switch leaf.Kind {
					case Text:
						text = v.Texts[i]
					case Float:
						text = fmt.Sprint(v.Floats[i])
					case Integer, Flag:
						text = fmt.Sprint(v.Ints[i])
					}
				}
				column = append(column, fmt.Sprintf("%d %d %s", rep[i], level, text))
			}
		}
		out = append(out, column)
	}
	return out, nil
}

// libraryLeaves is readAllLeaves by parquet-go's own reader.
func libraryLeaves(t *testing.T, data []byte) [][]string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]string, len(f.RowGroups()[0].ColumnChunks()))
	for _, g := range f.RowGroups() {
		for i, chunk := range g.ColumnChunks() {
			pages := chunk.Pages()
			for {
				p, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				values := make([]parquet.Value, p.NumValues())
				if n, err := p.Values().ReadValues(values); n < len(values) {
					t.Fatal(err)
				}
				for _, v := range values {
					text := ""
					switch {
					case v.IsNull():
					case v.Kind() == parquet.Boolean:
						text = map[bool]string{false: "0", true: "1"}[v.Boolean()]
					case v.Kind() == parquet.Float:
						text = fmt.Sprint(float64(v.Float()))
					case f.Schema().Columns()[i][0] == "unsigned":
						text = fmt.Sprint(v.Uint32())
					default:
						text = v.String()
					}
					out[i] = append(out[i], fmt.Sprintf("%d %d %s", v.RepetitionLevel(), v.DefinitionLevel(), text))
				}
			}
			pages.Close()
		}
	}
	return out
}

// duckFiles are files of DuckDB in each codec and both versions of its encodings, all of the
// same rows: testdata/rows.sql says how they were made.
func duckFiles(tb testing.TB) (files []foreignFile) {
	tb.Helper()
	paths, err := filepath.Glob("testdata/duckdb-*.parquet")
	if err != nil || len(paths) != 12 {
		tb.Fatalf("%d files of DuckDB: %v", len(paths), err)
	}
	plain, err := os.ReadFile("testdata/duckdb-uncompressed-v1.parquet")
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, foreignFile{filepath.Base(path), data, plain})
	}
	return files
}

// TestSecondReader: values and levels are those that parquet-go's own reader finds.
func TestSecondReader(t *testing.T) {
	files := duckFiles(t)
	for _, n := range []int{1, 150, 2000} {
		files = append(files, foreignFiles(t, mixedRows(uint64(n), n))...)
	}
	for _, file := range files {
		got, err := readAllLeaves(writeResult(t, "a.parquet", file.data))
		if err != nil {
			t.Errorf("%s: %v", file.name, err)
		} else if want := libraryLeaves(t, file.plain); !reflect.DeepEqual(want, got) {
			t.Errorf("%s: -parquet-go +ours\n%.2000s", file.name, cmp.Diff(want, got))
		}
	}
}

// mutationsKey is the environment variable that says how many damaged files TestMutations
// reads.
const mutationsKey = "IBID_MUTATIONS"

// TestMutations reads damaged copies of files of each writer, in turn. None ends the process,
// takes long or much memory; errors name the file; and of our own files, which have checksums,
// none reads as other values.
func TestMutations(t *testing.T) {
	count := 1000
	if s := os.Getenv(mutationsKey); s != "" {
		if _, err := fmt.Sscan(s, &count); err != nil {
			t.Fatal(err)
		}
	}
	const mostAllocated, longest = 64 << 20, 30 * time.Second
	own := randomResult(rand.New(rand.NewPCG(4, 4)), everyKind(), 60, 20, 3)
	files := slices.Concat(
		foreignFiles(t, mixedRows(7, 60)), duckFiles(t),
		[]foreignFile{{name: "ours", data: encodeTable(t, own.table(t))}, {name: "ours, one row", data: encodeTable(t, (&resultRows{own.fields, own.rows[:1]}).table(t))}},
	)
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	read := func(file *foreignFile, data []byte) (values any, err error) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if file.plain == nil {
			return tryResult(path)
		}
		return readAllLeaves(path)
	}
	whole := make([]any, len(files))
	for i := range files {
		var err error
		if whole[i], err = read(&files[i], files[i].data); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var refused, same, other int
	var most uint64
	var slowest time.Duration
	for i := range count {
		file := &files[i%len(files)]
		data := damaged(rng, file.data)
		before, began := allocatedBytes(), time.Now()
		values, err := read(file, data)
		took, used := time.Since(began), allocatedBytes()-before
		most, slowest = max(most, used), max(slowest, took)
		if used > mostAllocated || took > longest {
			t.Errorf("%s, copy %d: %d MB allocated in %v", file.name, i, used>>20, took)
		}
		var e *ibid.Error
		switch {
		case err != nil && (!errors.As(err, &e) || e.File != path):
			t.Fatalf("%s, copy %d: %v does not name the file", file.name, i, err)
		case err != nil:
			refused++
		case reflect.DeepEqual(values, whole[i%len(files)]):
			same++
		default:
			if other++; file.plain == nil {
				t.Errorf("%s, copy %d: other values without an error", file.name, i)
			}
		}
	}
	t.Logf("%d damaged copies of %d files: %d refused, %d read the same, %d read otherwise; at most %d kB allocated, %v each", count, len(files), refused, same, other, most>>10, slowest)
	if refused < count/4 {
		t.Errorf("%d of %d copies are refused", refused, count)
	}
}

// allocatedBytes is how much memory has been taken since the process began.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// damaged is a copy of data with some bytes changed, left out or cut off, mostly before the
// footer.
func damaged(rng *rand.Rand, data []byte) []byte {
	b := bytes.Clone(data)
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(b))
		switch rng.IntN(8) {
		case 0, 1, 2:
			b[at] ^= 1 << rng.IntN(8)
		case 3, 4:
			b[at] = byte(rng.Uint32())
		case 5:
			for i := at; i < min(at+8, len(b)); i++ {
				b[i] = 0xFF
			}
		case 6:
			b = slices.Delete(b, at, min(at+1+rng.IntN(20), len(b)))
		default:
			if rng.IntN(10) == 0 {
				return b[:at]
			}
			b[at]++
		}
		if len(b) == 0 {
			break
		}
	}
	return b
}
