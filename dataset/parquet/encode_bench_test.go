package parquet

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// benchRows makes the table of rows that a run without a judge has: a third of
// the columns null, counts small, ratios partly all different and partly few.
// It returns a function that appends row i.
func benchRows(tb testing.TB) (*Table, func(i int)) {
	fields := []Field{
		{Name: "id", Kind: String, Required: true},
		{Name: "system", Kind: String, Required: true},
		{Name: "row", Kind: Int64, Required: true},
		{Name: "status", Kind: String, Required: true},
		{Name: "error", Kind: String},
		{Name: "truth_annotator", Kind: String},
		{Name: "provider", Kind: String},
		{Name: "model", Kind: String},
		{Name: "tags", Kind: MapString},
		{Name: "undefined", Kind: MapString},
	}
	const counts, doubles = 48, 57
	first := len(fields)
	for i := range counts {
		fields = append(fields, Field{Name: fmt.Sprint("count_", i), Kind: Int64})
	}
	for i := range doubles {
		fields = append(fields, Field{Name: fmt.Sprint("metric_", i), Kind: Double})
	}
	t, err := NewTable(fields)
	if err != nil {
		tb.Fatal(err)
	}
	var keys, values []string
	for i := 30; i < doubles; i++ {
		keys, values = append(keys, fmt.Sprint("metric_", i)), append(values, "no_judge")
	}
	undefined := t.DefineMap(9, keys, values)
	rng := rand.New(rand.NewPCG(1, 2))
	ints, known := make([]int64, counts), make([]bool, counts)
	xs, defined := make([]float64, doubles), make([]bool, doubles)
	for i := range counts {
		known[i] = i < 33
	}
	for i := range doubles {
		defined[i] = i < 30
	}
	knownInts, knownDoubles := t.RowMask(first, known), t.RowMask(first+counts, defined)
	topics := [][]string{{"law"}, {"medicine"}, {"news"}}
	return t, func(i int) {
		t.AppendString(0, fmt.Sprintf("q%08d", i))
		t.AppendString(1, "default")
		t.AppendInt(2, int64(i))
		t.AppendString(3, "ok")
		t.AppendNull(4)
		t.AppendString(5, "a")
		t.AppendMap(8, []string{"topic"}, topics[i%3])
		t.AppendMapRef(9, undefined)
		r := rng.Uint64()
		for c := range 33 {
			ints[c] = int64(r>>(c%48)) & (1<<(c%10) - 1)
		}
		for c := range 30 {
			switch {
			case c%3 == 0:
				xs[c] = float64(r>>11) / (1 << 53) * float64(c+1)
			case c%3 == 1:
				xs[c] = float64(r >> c & 1)
			default:
				xs[c] = float64(r>>c&15) / float64(r>>(c+4)&3+1)
			}
		}
		t.AppendIntRow(knownInts, ints)
		t.AppendDoubleRow(knownDoubles, xs)
		t.EndRow()
	}
}

// benchCitations makes the table of citations of a run without documents.
func benchCitations(tb testing.TB) (*Table, func(i int)) {
	fields := []Field{
		{Name: "id", Kind: String, Required: true},
		{Name: "system", Kind: String, Required: true},
		{Name: "row", Kind: Int64, Required: true},
		{Name: "citation", Kind: Int32, Required: true},
		{Name: "doc", Kind: String},
		{Name: "page", Kind: Int32},
		{Name: "start", Kind: Int64},
		{Name: "end", Kind: Int64},
		{Name: "status", Kind: String, Required: true},
		{Name: "best_truth", Kind: Int32},
		{Name: "exact_jaccard", Kind: Double},
		{Name: "tolerance_jaccard", Kind: Double},
		{Name: "snapped_jaccard", Kind: Double},
		{Name: "claims", Kind: ListInt32},
	}
	for _, name := range []string{"citation_id", "unit", "label", "precheck", "reason", "quote", "cited_text", "source_type"} {
		fields = append(fields, Field{Name: name, Kind: String})
	}
	for _, name := range []string{"answer_start", "answer_end", "repaired_start", "repaired_end", "quote_start", "quote_end"} {
		fields = append(fields, Field{Name: name, Kind: Int64})
	}
	fields = append(fields, Field{Name: "support", Kind: Double}, Field{Name: "relevant", Kind: Bool}, Field{Name: "necessary", Kind: Bool})
	t, err := NewTable(fields)
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	return t, func(i int) {
		start := int64(rng.IntN(100_000))
		t.AppendString(0, fmt.Sprintf("q%08d", i/3))
		t.AppendString(1, "default")
		t.AppendInt(2, int64(i/3))
		t.AppendInt(3, int64(i%3))
		t.AppendString(4, fmt.Sprintf("doc-%06d", rng.IntN(20_000)))
		t.AppendNull(5)
		t.AppendInt(6, start)
		t.AppendInt(7, start+int64(rng.IntN(400)))
		t.AppendString(8, "ok")
		t.AppendInt(9, int64(rng.IntN(4))-1)
		j := rng.Float64()
		t.AppendDouble(10, j)
		t.AppendDouble(11, min(1, 2*j))
		t.AppendDouble(12, min(1, 2*j))
		t.EndRow()
	}
}

func benchEncode(b *testing.B, t *Table, add func(int), n int) {
	var appending time.Duration
	var e Encoder
	parts := 0
	b.ReportAllocs()
	for b.Loop() {
		t.Reset()
		start := time.Now()
		for i := range n {
			add(i)
		}
		appending += time.Since(start)
		if err := e.EncodePart(io.Discard, t); err != nil {
			b.Fatal(err)
		}
		parts++
	}
	rows := float64(parts * n)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
	b.ReportMetric(float64(appending.Nanoseconds())/rows, "ns/row-append")
	b.ReportMetric(float64((b.Elapsed()-appending).Nanoseconds())/rows/float64(len(t.Fields())), "ns/value-encode")
	b.ReportMetric(float64(e.off)/float64(n), "bytes/row")
}

func BenchmarkEncodePart(b *testing.B) {
	b.Run("table=rows", func(b *testing.B) {
		t, add := benchRows(b)
		benchEncode(b, t, add, 1<<15)
	})
	b.Run("table=citations", func(b *testing.B) {
		t, add := benchCitations(b)
		benchEncode(b, t, add, 1<<16)
	})
}

func BenchmarkReadColumn(b *testing.B) {
	t, add := benchRows(b)
	for i := range 1 << 15 {
		add(i)
	}
	f, err := OpenResult(writeResult(b, "rows.parquet", encodeTable(b, t)))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var v ColumnValues
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, field := range f.Fields() {
			if err := f.ReadColumn(0, field.Name, &v); err != nil {
				b.Fatal(err)
			}
			n += v.Rows
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/value")
}

func BenchmarkJoin(b *testing.B) {
	t, add := benchRows(b)
	for i := range 1 << 15 {
		add(i)
	}
	path := writeResult(b, "part.parquet", encodeTable(b, t))
	parts := make([]Part, 30)
	for i := range parts {
		parts[i] = Part{Path: path}
	}
	out := filepath.Join(b.TempDir(), "all.parquet")
	b.ReportAllocs()
	for b.Loop() {
		f, err := os.Create(out)
		if err != nil {
			b.Fatal(err)
		}
		if err := Join(f, t.Fields(), parts, nil); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(parts)<<15), "ns/row")
}
