package dataset

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ibid"
)

// benchmarkFile writes n rows with three citations and three spans of truth on
// average, as the speed goals assume.
func benchmarkFile(tb testing.TB, n int, codec compress.Codec) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	path := filepath.Join(tb.TempDir(), "rows.parquet")
	rows := make([]storedRow, n)
	offset := func() *int64 { return ptr(rng.Int64N(20000)) }
	for i := range rows {
		rows[i] = storedRow{
			ID: ptr(fmt.Sprintf("question-%08d", i)), Query: ptr("q"), Answer: ptr("a"), System: ptr("baseline"),
			Citations: make([]storedCitation, 1+rng.IntN(5)), Truth: make([]storedTruth, 1+rng.IntN(5)),
		}
		for k := range rows[i].Citations {
			rows[i].Citations[k] = storedCitation{
				Doc: ptr(fmt.Sprintf("document-%05d", rng.IntN(10000))), Page: ptr(rng.Int32N(40)), Start: offset(), End: offset(),
			}
		}
		for k := range rows[i].Truth {
			rows[i].Truth[k] = storedTruth{
				Annotator: ptr("a"), Doc: ptr(fmt.Sprintf("document-%05d", rng.IntN(10000))), Page: ptr(rng.Int32N(40)), Start: offset(), End: offset(),
			}
		}
	}
	err := parquet.WriteFile(path, rows, parquet.Compression(codec), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain))
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkRead reads keys and spans, three and three a row, and fills every
// row.
func BenchmarkRead(b *testing.B) {
	const rows = 200_000
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Zstd} {
		b.Run("codec="+codec.String(), func(b *testing.B) {
			s := open(b, benchmarkFile(b, rows, codec), ReadOptions{Want: WantKeys | WantSpans})
			var r ibid.Answer
			b.ReportAllocs()
			for b.Loop() {
				err := s.Read(b.Context(), 0, 8192, func(batch *Batch) error {
					for i := range batch.Len() {
						batch.Row(i, &r)
					}
					batch.Release()
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

// BenchmarkDecode is BenchmarkRead without filling rows.
func BenchmarkDecode(b *testing.B) {
	const rows = 200_000
	s := open(b, benchmarkFile(b, rows, &parquet.Zstd), ReadOptions{Want: WantKeys | WantSpans})
	b.ReportAllocs()
	for b.Loop() {
		err := s.Read(b.Context(), 0, 8192, func(batch *Batch) error {
			batch.Release()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkWrite writes rows as BenchmarkRead reads them.
func BenchmarkWrite(b *testing.B) {
	const rows = 200_000
	all := readRows(b, open(b, benchmarkFile(b, rows, &parquet.Snappy), ReadOptions{}), 8192)
	b.ReportAllocs()
	for b.Loop() {
		writeRows(b, all)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
