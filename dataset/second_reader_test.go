package dataset

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// codecs are those that parquet-go reads as they are meant to be: of LZ4_RAW it does not.
var codecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli}

// A secondRow has the kinds of lists that answers have.
type secondRow struct {
	ID        string           `parquet:"id,delta"`
	Query     string           `parquet:"query,dict"`
	Answer    *string          `parquet:"answer,optional"`
	Citations []secondCitation `parquet:"citations,optional,list"`
}

type secondCitation struct {
	Doc   *string `parquet:"doc,optional,dict"`
	Start *int64  `parquet:"start,optional"`
}

// FuzzSecondReader damages the pages of files, in each codec and both versions of pages,
// and compares with parquet-go's own reader: a file that both take has the same values.
// Its checksums are left out where it writes them wrongly, so damage reaches the decoders.
func FuzzSecondReader(f *testing.F) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		f.Skip("parquet-go takes slices of nothing, which ends the process where pointers are checked")
	}
	for i := range uint8(len(codecs)) {
		f.Add(uint64(i), i, uint16(0), byte(0))
		f.Add(uint64(i), i|0x80, uint16(200), byte(1))
	}
	f.Fuzz(func(t *testing.T, seed uint64, how uint8, at uint16, flip byte) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := make([]secondRow, 1+rng.IntN(60))
		for i := range rows {
			rows[i] = secondRow{ID: fmt.Sprintf("%06d", i), Query: fmt.Sprint(rng.IntN(3))}
			if rng.IntN(4) > 0 {
				rows[i].Answer = ptr(fmt.Sprint("answer ", rng.Uint32N(9)))
			}
			for range rng.IntN(4) {
				c := secondCitation{}
				if rng.IntN(3) > 0 {
					c = secondCitation{ptr(fmt.Sprint("d", rng.IntN(5))), ptr(rng.Int64N(1 << (1 + rng.IntN(40))))}
				}
				rows[i].Citations = append(rows[i].Citations, c)
			}
		}
		path := writeFile(t, rows, parquet.Compression(codecs[int(how&0x7f)%len(codecs)]), parquet.DataPageVersion(1+int(how>>7)),
			parquet.PageBufferSize(64+rng.IntN(400)), parquet.MaxRowsPerRowGroup(int64(10+rng.IntN(60))))
		data := readFile(t, path)
		footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		data[4+int(at)%(footer-4)] ^= flip
		path = filepath.Join(t.TempDir(), "damaged.parquet")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var got []secondRow
		var err error
		checkAllocated(t, len(data), 400, 16<<20, func() { got, err = readSecond(t, path) })
		if err != nil && flip == 0 {
			t.Fatalf("a file without damage: %v", err)
		}
		want, ok := slowSecond(path)
		if err != nil || !ok {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" && !cmp.Equal(rows, got) {
			// Damage that changes nothing for ibid may mislead parquet-go: it takes the
			// number of nulls in a page header for true, which some writers leave at 0.
			t.Errorf("(-parquet-go +ibid)\n%s", diff)
		}
	})
}

// readSecond reads rows as ibid does.
func readSecond(t *testing.T, path string) (rows []secondRow, err error) {
	answers, err := tryRead(t, path)
	for i := range answers {
		a := &answers[i]
		row := secondRow{ID: a.ID, Query: a.Query}
		if a.Err != nil {
			return nil, a.Err // parquet-go does not look at values
		}
		if !a.AnswerNull {
			row.Answer = &a.Answer
		}
		for k := range a.Citations {
			c := &a.Citations[k]
			var s secondCitation
			if !c.DocNull {
				s.Doc = &c.Doc
			}
			if c.Start.Known() {
				s.Start = &c.Start.Value
			}
			row.Citations = append(row.Citations, s)
		}
		rows = append(rows, row)
	}
	return rows, err
}

// slowSecond reads rows as parquet-go does, which may panic.
func slowSecond(path string) (rows []secondRow, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	rows, err := parquet.ReadFile[secondRow](path)
	for i := range rows {
		if len(rows[i].Citations) == 0 {
			rows[i].Citations = nil
		}
	}
	return rows, err == nil
}
