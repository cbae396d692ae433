package parquet

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// longList is more entries than a list usually has.
const longList = 5000

// TestRowLimit reads lists of random lengths from pages that end anywhere, with a limit on
// their entries.
func TestRowLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 1))
	for range 40 {
		var rep, def []byte
		var values []int64
		rows := 1 + rng.IntN(20)
		for range rows {
			n := rng.IntN(6)
			if rng.IntN(8) == 0 {
				n = rng.IntN(2 * longList)
			}
			if n == 0 { // an empty list
				rep, def = append(rep, 0), append(def, 1)
			}
			for i := range n {
				rep, def, values = append(rep, byte(min(i, 1))), append(def, 2), append(values, int64(rng.IntN(2)))
			}
		}
		for _, most := range []int{len(rep), len(rep) - 1, rng.IntN(len(rep) + 1)} {
			c := listReader(listPages(t, rng, rep, def, values, rng.IntN(2) == 0), len(rep))
			var got Values
			var gotRep []byte
			entries, err := c.ReadRows(rows, most, &got, &gotRep, nil)
			if most < len(rep) {
				if !errors.Is(err, ErrManyEntries) || len(gotRep) > most {
					t.Fatalf("%d entries of at most %d, %v", len(gotRep), most, err)
				}
				continue
			}
			if err != nil || entries != len(rep) || !bytes.Equal(gotRep, rep) || !bytes.Equal(got.Levels, def) || !c.Done() {
				t.Fatalf("%d entries of %d, %v", entries, len(rep), err)
			}
		}
	}
}

// listReader reads n entries of a list of integers.
func listReader(chunk []byte, n int) *Cursor {
	return chunkCursor(chunk, Leaf{Kind: Integer, physical: format.Int64, Def: 2, Rep: 1}, format.Uncompressed, n, 1<<40)
}

// chunkCursor reads a chunk of n entries that lies in memory.
func chunkCursor(chunk []byte, leaf Leaf, codec format.CompressionCodec, n int, budget int64) *Cursor {
	return &Cursor{leaf: leaf, held: holder{budget: &budget}, pages: pageReader{
		file: bytes.NewReader(chunk), bytesLeft: int64(len(chunk)), valuesLeft: int64(n), meta: &columnChunk{Meta: chunkOfFile{Codec: codec, NumValues: int64(n)}},
	}}
}

// TestMembers reads two members of the same lists some rows at a time, from the same pages
// and from others.
func TestMembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for range 60 {
		lengths := make([]int, 2+rng.IntN(30))
		for i := range lengths {
			lengths[i] = 1 + rng.IntN(5)
			if rng.IntN(6) == 0 {
				lengths[i] = 1 + rng.IntN(longList)
			}
		}
		testMembers(t, rng, lengths)
	}
}

func testMembers(t *testing.T, rng *rand.Rand, lengths []int) {
	t.Helper()
	var rep, def []byte
	var values []int64
	for _, n := range lengths {
		for i := range n {
			rep, def, values = append(rep, byte(min(i, 1))), append(def, 2), append(values, int64(rng.IntN(100)))
		}
	}
	pages := listPages(t, rng, rep, def, values, false)
	for _, chunk := range [][]byte{pages, listPages(t, rng, rep, def, values, false)} {
		leader, c := listReader(pages, len(rep)), listReader(chunk, len(rep))
		for left := len(lengths); left > 0; {
			n := 1 + rng.IntN(left)
			left -= n
			var want, got Values
			var lists, others []byte
			entries, err := leader.ReadRows(n, math.MaxInt, &want, &lists, nil)
			if err == nil {
				_, err = c.ReadRows(n, entries, &got, &others, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(others, lists) || !slices.Equal(got.Ints, want.Ints) || !bytes.Equal(got.Levels, want.Levels) {
				t.Fatalf("rows of %v: two members differ", lengths)
			}
		}
		if !c.Done() {
			t.Fatal("entries are left")
		}
	}
}

// listPages is a column of lists in pages that end anywhere, also within a row.
func listPages(t *testing.T, rng *rand.Rand, rep, def []byte, values []int64, coded bool) (chunk []byte) {
	t.Helper()
	levels := func(b []byte, highest int) []byte {
		e := rle.Encoding{BitWidth: bits.Len(uint(highest))}
		out, err := e.EncodeLevels(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for first := true; len(rep) > 0; first = false {
		n := min(len(rep), 1+rng.IntN(3*longList))
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
