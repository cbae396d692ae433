package parquet

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// TestRowLimit reads lists of random lengths from pages that end anywhere, with limits
// on a row and on all, and compares with what is left of the lists themselves.
func TestRowLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for range 40 {
		lengths := make([]int, 1+rng.IntN(20))
		for i := range lengths {
			lengths[i] = rng.IntN(6)
			if rng.IntN(8) == 0 {
				lengths[i] = rng.IntN(2 * windowValues)
			}
		}
		limit := RowLimit{Row: 1 + rng.IntN(windowValues), Total: 1 + rng.IntN(4*windowValues)}
		if rng.IntN(2) == 0 {
			limit = RowLimit{Row: 3, Total: 20}
		}
		testRowLimit(t, rng, lengths, limit)
	}
}

func testRowLimit(t *testing.T, rng *rand.Rand, lengths []int, limit RowLimit) {
	t.Helper()
	var rep, def, wantRep []byte
	var values, want []int64
	var cuts []Cut
	next := int64(0)
	for row, n := range lengths {
		before := len(want)
		level := byte(2)
		if n == 0 {
			level = 1 // an empty list
		}
		for i := range max(n, 1) {
			rep, def = append(rep, byte(min(i, 1))), append(def, level)
			v := int64(0)
			if n > 0 {
				next++
				v = next % 2
				values = append(values, v)
			}
			want, wantRep = append(want, v), append(wantRep, byte(min(i, 1)))
		}
		if entries := max(n, 1); entries > limit.Row || before+entries > limit.Total {
			want, wantRep = append(want[:before], 0), append(wantRep[:before], 0)
			cuts = append(cuts, Cut{Row: row, Entry: before, Entries: entries, Total: entries <= limit.Row})
		}
	}
	for _, coded := range []bool{false, true} {
		chunk := listPages(t, rng, rep, def, values, coded)
		c := ColumnReader{
			file: bytes.NewReader(chunk), leaf: Leaf{Kind: Integer, physical: format.Int64, Def: 2, Rep: 1}, bytesLeft: int64(len(chunk)), valuesLeft: int64(len(rep)),
			meta: &columnChunk{NumValues: int64(len(rep)), TotalUncompressedSize: int64(len(chunk)), TotalCompressedSize: int64(len(chunk))}, account: *plenty(),
		}
		var got Values
		var gotRep []byte
		entries, gotCuts, err := c.ReadRows(len(lengths), limit, &got, &gotRep, nil)
		if err != nil || entries != len(want) || !slices.Equal(got.Ints, want) || !bytes.Equal(gotRep, wantRep) || !slices.Equal(gotCuts, cuts) || !c.Done() {
			t.Fatalf("rows of %v, limit %+v, coded %t: %d entries, cuts %v, %v; want %d, %v", lengths, limit, coded, entries, gotCuts, err, len(want), cuts)
		}
	}
}

// listPages is a column of lists in pages that end anywhere, also within a row.
func listPages(t *testing.T, rng *rand.Rand, rep, def []byte, values []int64, coded bool) (chunk []byte) {
	t.Helper()
	levels := func(b []byte, highest int) []byte {
		e := rle.Encoding{BitWidth: int(levelWidth(highest))}
		out, err := e.EncodeLevels(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for first := true; len(rep) > 0; first = false {
		n := min(len(rep), 1+rng.IntN(3*windowValues))
		k := bytes.Count(def[:n], []byte{2})
		page := hostilePage{values: int32(n)}
		var body []byte
		if coded {
			codes := make([]int32, k)
			for i, v := range values[:k] {
				codes[i] = int32(v)
			}
			var err error
			if body, err = new(rle.DictionaryEncoding).EncodeInt32(nil, codes); err != nil {
				t.Fatal(err)
			}
			page.encoding = format.RLEDictionary
			if first {
				page.dictValues, page.dictUncompressed, page.dict = 2, 16, make([]byte, 16)
				page.dict[8] = 1
			}
		} else {
			body = make([]byte, 8*k)
			for i, v := range values[:k] {
				body[8*i] = byte(v)
			}
		}
		page.body = append(append(withLevels(levels(rep[:n], 1), nil), withLevels(levels(def[:n], 2), nil)...), body...)
		page.uncompressed = int32(len(page.body))
		chunk = append(chunk, page.chunk(t)...)
		rep, def, values = rep[n:], def[n:], values[k:]
	}
	return chunk
}
