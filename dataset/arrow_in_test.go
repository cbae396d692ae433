package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"ibid"
)

// As engines send texts and lists: Spark and pandas plain ones, Polars large ones or views,
// DuckDB views if asked, pandas categories as dictionaries.
var arrowVariants = map[string]struct {
	text func() arrow.DataType
	list func(arrow.DataType) arrow.DataType
}{
	"plain": {func() arrow.DataType { return arrow.BinaryTypes.String }, func(t arrow.DataType) arrow.DataType { return arrow.ListOf(t) }},
	"large": {func() arrow.DataType { return arrow.BinaryTypes.LargeString }, func(t arrow.DataType) arrow.DataType { return arrow.LargeListOf(t) }},
	"views": {func() arrow.DataType { return arrow.BinaryTypes.StringView }, func(t arrow.DataType) arrow.DataType { return arrow.ListOf(t) }},
	"dictionaries": {func() arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	}, func(t arrow.DataType) arrow.DataType { return arrow.ListOf(t) }},
}

// variant is a type with other texts and lists.
func variant(t arrow.DataType, text func() arrow.DataType, list func(arrow.DataType) arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StringType:
		return text()
	case *arrow.MapType:
		return arrow.MapOf(arrow.BinaryTypes.String, variant(t.ItemType(), text, list))
	case *arrow.ListType:
		return list(variant(t.Elem(), text, list))
	case *arrow.StructType:
		var fields []arrow.Field
		for _, f := range t.Fields() {
			f.Type = variant(f.Type, text, list)
			fields = append(fields, f)
		}
		return arrow.StructOf(fields...)
	}
	return t
}

// arrowBytes is a stream of n rows in batches that end at cuts, of which some may be empty.
func streamOf(t testing.TB, schema *arrow.Schema, n int, cuts []int, options ...ipc.Option) []byte {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		json, _ := arrowJSON(i)
		lines.WriteString(json + "\n")
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	if n > 0 {
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, jsonLines(lines.String()))
		if err != nil {
			t.Fatal(err)
		}
		from := 0
		for _, to := range append(cuts, n) {
			if err := w.Write(record.NewSlice(int64(from), int64(to))); err != nil {
				t.Fatal(err)
			}
			from = to
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readStream reads all rows of a stream, and how many each batch has.
func readStream(in io.Reader, o ReadOptions) (rows []ibid.Answer, sizes []int, err error) {
	s, err := OpenArrow(in, "input", o)
	if err != nil {
		return nil, nil, err
	}
	for {
		b, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows, sizes, nil
		}
		if err != nil {
			return rows, sizes, err
		}
		sizes = append(sizes, b.Len())
		for i := range b.Len() {
			var r ibid.Answer
			b.Row(i, &r)
			rows = append(rows, r)
		}
		// The batch is not released: the rows keep its texts.
		b.cost = 0
		b.pool.mu.Lock()
		b.pool.held = 0
		b.pool.mu.Unlock()
	}
}

// TestArrowStream: whatever types engines choose, and however they cut the rows, the rows are
// those of the JSON that the stream was made of.
func TestArrowStream(t *testing.T) {
	const n = 120
	want := make([]ibid.Answer, n)
	for i := range n {
		_, want[i] = arrowJSON(i)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, v := range arrowVariants {
		for codec, options := range map[string][]ipc.Option{"": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
			t.Run(name+codec, func(t *testing.T) {
				var fields []arrow.Field
				for _, f := range arrowSchema(arrow.PrimitiveTypes.Int32).Fields() {
					f.Type = variant(f.Type, v.text, v.list)
					fields = append(fields, f)
				}
				cuts := []int{0, 1, rng.IntN(n-1) + 1, n}
				slices.Sort(cuts)
				got, sizes, err := readStream(bytes.NewReader(streamOf(t, arrow.NewSchema(fields, nil), n, cuts, options...)), ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if len(sizes) != len(cuts)+1 || sizes[0] != 0 || sizes[len(sizes)-1] != 0 {
					t.Errorf("batches of %v rows, cut at %v", sizes, cuts)
				}
				if diff := diffRows(got, place(slices.Clone(want), "input")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A stream of a schema alone, with dictionaries or without, has no rows.
func TestArrowStreamOfNothing(t *testing.T) {
	for name, v := range arrowVariants {
		var fields []arrow.Field
		for _, f := range arrowSchema(arrow.PrimitiveTypes.Int32).Fields() {
			f.Type = variant(f.Type, v.text, v.list)
			fields = append(fields, f)
		}
		rows, sizes, err := readStream(bytes.NewReader(streamOf(t, arrow.NewSchema(fields, nil), 0, nil)), ReadOptions{})
		if len(rows)+len(sizes) != 0 || err != nil {
			t.Errorf("%s: %d rows, %v, %v", name, len(rows), sizes, err)
		}
	}
}

// TestArrowClaims: what a message claims is no reason to set memory aside above the limit.
func TestArrowClaims(t *testing.T) {
	good := streamOf(t, arrowSchema(arrow.PrimitiveTypes.Int32), 3, nil)
	schema := 8 + binary.LittleEndian.Uint32(good[4:])
	body := schema + 8
	// The length of the body is the only 64-bit field of a message; it is set to 2 GB.
	length := binary.LittleEndian.Uint32(good[schema+4:])
	real := bytes.Index(good[body:body+length], binary.LittleEndian.AppendUint64(nil, uint64(len(good))-uint64(body)-uint64(length)-8))
	if real < 0 {
		t.Fatal("no length of a body")
	}
	binary.LittleEndian.PutUint64(good[int(body)+real:], 2<<30)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readStream(bytes.NewReader(good), ReadOptions{})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "limits: ") {
		t.Errorf("rows of 2 GB: %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("%d MB set aside", used>>20)
	}
}

// TestCutArrowStreams cuts a stream at every byte: only behind one of its messages it ends as
// a stream does.
func TestCutArrowStreams(t *testing.T) {
	for name, options := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}} {
		good := streamOf(t, arrowSchema(arrow.PrimitiveTypes.Int32), 3, []int{1}, options...)
		whole := 0
		for at := range good {
			rows, _, err := readStream(bytes.NewReader(good[:at]), ReadOptions{})
			if err != nil {
				if e := (*ibid.Error)(nil); !errors.As(err, &e) {
					t.Errorf("%s cut at %d: %T: %v", name, at, err, err)
				}
				continue
			}
			if whole++; !slices.Contains([]int{0, 1, 3}, len(rows)) {
				t.Errorf("%s cut at %d: %d rows", name, at, len(rows))
			}
		}
		if whole != 3 {
			t.Errorf("%s: %d cuts are not found", name, whole)
		}
	}
}
