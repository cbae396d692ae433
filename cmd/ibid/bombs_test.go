package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A bombLeaf is one column of a crafted Parquet file: its path, type and pages,
// whose headers and levels may claim anything.
type bombLeaf struct {
	path   string // dotted: "citations.doc" is a member of a list of structs
	typ    format.Type
	values int64 // as the footer says
	codec  format.CompressionCodec
	size   int64 // uncompressed, as the footer says
	pages  []byte
}

// bombPage is a page with its header. expands is how long the header says that it is
// when decompressed.
func bombPage(h format.PageHeader, expands int, body []byte) []byte {
	h.UncompressedPageSize, h.CompressedPageSize = int32(expands), int32(len(body))
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		panic(err)
	}
	return append(b, body...)
}

// dataPage is the header of a data page of version 1.
func dataPage(values int, encoding format.Encoding) format.PageHeader {
	return format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(values), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}
}

func dictionaryPage(values int) format.PageHeader {
	return format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(values)})}
}

// runs encodes levels, or codes of at most eight bits, as runs of (count, value).
func levelRuns(pairs ...int) (b []byte) {
	for i := 0; i < len(pairs); i += 2 {
		b = append(binary.AppendUvarint(b, uint64(pairs[i])<<1), byte(pairs[i+1]))
	}
	return b
}

// sized puts the length of a block before it.
func sized(block []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(block))), block...)
}

// listLevels are the levels of a member of a list that every row has n elements of, all
// with the definition level def.
func listLevels(rows, n, def int) []byte {
	var rep []int
	for range rows {
		rep = append(rep, 1, 0)
		if n > 1 {
			rep = append(rep, n-1, 1)
		}
	}
	return append(sized(levelRuns(rep...)), sized(levelRuns(rows*n, def))...)
}

// listLeaf is a member of such a list, without any value.
func listLeaf(path string, typ format.Type, rows, n, def int) bombLeaf {
	body := listLevels(rows, n, def)
	l := bombLeaf{path: path, typ: typ, values: int64(rows * n), pages: bombPage(dataPage(rows*n, format.Plain), len(body), body)}
	l.size = int64(len(l.pages))
	return l
}

// codedLeaf is a member of such a list, with values that are all the only one of a
// dictionary.
func codedLeaf(path string, typ format.Type, rows, n int, dictionary []byte) bombLeaf {
	body := append(append(listLevels(rows, n, 4), 1), levelRuns(rows*n, 0)...)
	l := bombLeaf{path: path, typ: typ, values: int64(rows * n)}
	l.pages = append(bombPage(dictionaryPage(1), len(dictionary), dictionary), bombPage(dataPage(rows*n, format.RLEDictionary), len(body), body)...)
	l.size = int64(len(l.pages))
	return l
}

// plainLeaf is a column without a list: the same text, or null, in every row.
func plainLeaf(path string, rows int, text string) bombLeaf {
	l := bombLeaf{path: path, typ: format.ByteArray, values: int64(rows)}
	dictionary := sized([]byte(text))
	body := append(sized(levelRuns(rows, 1)), append([]byte{1}, levelRuns(rows, 0)...)...)
	l.pages = append(bombPage(dictionaryPage(1), len(dictionary), dictionary), bombPage(dataPage(rows, format.RLEDictionary), len(body), body)...)
	l.size = int64(len(l.pages))
	return l
}

// idLeaf has another id in every row.
func idLeaf(rows int) bombLeaf {
	body := sized(levelRuns(rows, 1))
	for i := range rows {
		body = append(body, sized([]byte(fmt.Sprint(i)))...)
	}
	return bombLeaf{
		path: "id", typ: format.ByteArray, values: int64(rows), size: int64(len(body)),
		pages: bombPage(dataPage(rows, format.Plain), len(body), body),
	}
}

// packedLeaf is a plain column of one page that says that it expands to claim bytes.
func packedLeaf(path string, rows, claim int, codec format.CompressionCodec, body []byte) bombLeaf {
	return bombLeaf{
		path: path, typ: format.ByteArray, values: int64(rows), codec: codec, size: math.MaxInt32,
		pages: bombPage(dataPage(rows, format.Plain), claim, body),
	}
}

// answersWith is the leaves of a file of answers beside those given.
func answersWith(rows int, more ...bombLeaf) []bombLeaf {
	leaves := []bombLeaf{idLeaf(rows), plainLeaf("query", rows, "q"), plainLeaf("answer", rows, "a")}
	for _, l := range more {
		for i := range leaves {
			if leaves[i].path == l.path {
				leaves[i], l.path = l, ""
			}
		}
		if l.path != "" {
			leaves = append(leaves, l)
		}
	}
	return leaves
}

// bombFile is a Parquet file of one row group. The members of a list are optional, and
// so are its elements, the list and every plain column. edit may change the footer.
func bombFile(rows int, leaves []bombLeaf, edit func(*format.FileMetaData)) []byte {
	file := []byte("PAR1")
	meta := format.FileMetaData{Version: 2, NumRows: int64(rows), Schema: []format.SchemaElement{{Name: "schema"}}}
	group := format.RowGroup{NumRows: int64(rows)}
	optional := func(name string, children int32) format.SchemaElement {
		e := format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Optional)}
		if children > 0 {
			e.NumChildren = thrift.New(children)
		}
		return e
	}
	columns, list := int32(0), ""
	for i, l := range leaves {
		path := strings.Split(l.path, ".")
		leaf := optional(path[len(path)-1], 0)
		leaf.Type = thrift.New(l.typ)
		if len(path) > 1 {
			if path[0] != list {
				members := int32(0)
				for _, other := range leaves[i:] {
					if strings.HasPrefix(other.path, path[0]+".") {
						members++
					}
				}
				repeated := optional("list", 1)
				repeated.RepetitionType = thrift.New(format.Repeated)
				meta.Schema = append(meta.Schema, optional(path[0], 1), repeated, optional("element", members))
				columns++
			}
			list = path[0]
			if len(path) == 3 { // a list in a list
				repeated := optional("list", 1)
				repeated.RepetitionType = thrift.New(format.Repeated)
				leaf.Name = "element"
				meta.Schema = append(meta.Schema, optional(path[1], 1), repeated)
				path = []string{path[0], "list", "element", path[1], "list", "element"}
			} else {
				path = []string{path[0], "list", "element", path[1]}
			}
		} else {
			columns++
		}
		meta.Schema = append(meta.Schema, leaf)
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: l.typ, Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: path, Codec: l.codec, NumValues: l.values,
			TotalUncompressedSize: l.size, TotalCompressedSize: int64(len(l.pages)), DataPageOffset: int64(len(file)),
		}})
		file = append(file, l.pages...)
	}
	meta.Schema[0].NumChildren = thrift.New(columns)
	meta.RowGroups = []format.RowGroup{group}
	if edit != nil {
		edit(&meta)
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		panic(err)
	}
	file = append(file, footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, "PAR1"...)
}

// zeros writes n zeros to what pack makes of a writer, and returns what that wrote.
func zeros(n int, pack func(w *bytes.Buffer) interface {
	Write([]byte) (int, error)
	Close() error
},
) []byte {
	var out bytes.Buffer
	w := pack(&out)
	block := make([]byte, 1<<20)
	for ; n > 0; n -= len(block) {
		if _, err := w.Write(block[:min(n, len(block))]); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

type writeCloser = interface {
	Write([]byte) (int, error)
	Close() error
}

// snappyZeros is a literal zero and copies of 64 bytes each.
func snappyZeros(n int) []byte {
	b := append(binary.AppendUvarint(nil, uint64(n)), 0, 0)
	for n--; n > 0; n -= min(n, 64) {
		b = append(b, byte(min(n, 64)-1)<<2|2, 1, 0)
	}
	return b
}

func gzipZeros(n int) []byte {
	return zeros(n, func(b *bytes.Buffer) writeCloser { w, _ := gzip.NewWriterLevel(b, 1); return w })
}

func zstdZeros(n int) []byte {
	return zeros(n, func(b *bytes.Buffer) writeCloser { w, _ := zstd.NewWriter(b); return w })
}

func brotliZeros(n int) []byte {
	return zeros(n, func(b *bytes.Buffer) writeCloser { return brotli.NewWriterLevel(b, 1) })
}

// A bomb is a file that needs far more memory than it has bytes, if it is believed.
type bomb struct {
	name  string
	make  func() []byte
	limit string // what the message says: the rows are over a limit, or "" if the file breaks the rules of Parquet or is too large
}

var bombs = []bomb{
	{"a billion null elements in one row", func() []byte {
		const n = 1 << 30
		return bombFile(1, answersWith(1, listLeaf("citations.doc", format.ByteArray, 1, n, 2)), nil)
	}, ""},
	{"a billion empty citations in one row", func() []byte {
		const n = 1 << 30
		return bombFile(1, answersWith(1, listLeaf("citations.doc", format.ByteArray, 1, n, 3)), nil)
	}, ""},
	{"four million citations in one row", func() []byte {
		const n = 4_000_000
		return bombFile(1, answersWith(1, codedLeaf("citations.doc", format.ByteArray, 1, n, sized([]byte("d")))), nil)
	}, "limits: "},
	{"eight million citations with all members", func() []byte {
		const n = 8_000_000
		return bombFile(1, answersWith(1,
			codedLeaf("citations.doc", format.ByteArray, 1, n, sized([]byte("d"))), codedLeaf("citations.start", format.Int64, 1, n, make([]byte, 8)),
			codedLeaf("citations.end", format.Int64, 1, n, append([]byte{1}, make([]byte, 7)...))), nil)
	}, ""},
	{"lists of which every column holds a billion", func() []byte {
		const n = 1 << 30
		var leaves []bombLeaf
		for _, list := range []string{"citations.doc", "citations.title", "truth.doc", "claims.text", "labels.kind", "messages.role", "documents.doc"} {
			leaves = append(leaves, listLeaf(list, format.ByteArray, 1, n, 3))
		}
		return bombFile(1, answersWith(1, leaves...), nil)
	}, ""},
	{"a billion empty pages in documents", func() []byte {
		const n = 1 << 30
		l := listLeaf("documents.pages.element", format.ByteArray, 1, n, 4)
		return bombFile(1, answersWith(1, listLeaf("documents.doc", format.ByteArray, 1, n, 3), l), nil)
	}, ""},
	{"levels shorter than the values", func() []byte {
		const n = math.MaxInt32
		body := append(sized(levelRuns(1, 0, n-1, 1)), sized(levelRuns(n-1, 3))...)
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: n, size: 1000, pages: bombPage(dataPage(n, format.Plain), len(body), body)}
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"codes of a billion values that a page does not have", func() []byte {
		const n = math.MaxInt32
		body := append(sized(levelRuns(1, 0, n-1, 1)), append(sized(levelRuns(n, 4)), append([]byte{1}, levelRuns(n-1, 0)...)...)...)
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: n, size: 1000}
		dictionary := sized([]byte("d"))
		l.pages = append(bombPage(dictionaryPage(1), len(dictionary), dictionary), bombPage(dataPage(n, format.RLEDictionary), len(body), body)...)
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"version 2 with lying lengths of levels", func() []byte {
		const n = math.MaxInt32
		body := append(levelRuns(1, 0, n-1, 1), levelRuns(n, 3)...)
		h := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: n, NumRows: 1, RepetitionLevelsByteLength: 7, DefinitionLevelsByteLength: 1, IsCompressed: thrift.New(false),
		})}
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: n, size: 1000, pages: bombPage(h, len(body), body)}
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"zstd that expands to 1 GB", func() []byte {
		const n = 1 << 30
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, n, format.Zstd, zstdZeros(n))), nil)
	}, ""},
	{"gzip that expands to 1 GB", func() []byte {
		const n = 1 << 30
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, n, format.Gzip, gzipZeros(n))), nil)
	}, ""},
	{"brotli that expands to 1 GB", func() []byte {
		const n = 1 << 30
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, n, format.Brotli, brotliZeros(n))), nil)
	}, ""},
	{"snappy that expands to 600 MB", func() []byte {
		const n = 600 << 20
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, n, format.Snappy, snappyZeros(n))), nil)
	}, ""},
	{"zstd that expands beyond its claim", func() []byte {
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, 1000, format.Zstd, zstdZeros(1<<30))), nil)
	}, ""},
	{"gzip that expands beyond its claim", func() []byte {
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, 1000, format.Gzip, gzipZeros(1<<30))), nil)
	}, ""},
	{"a dictionary that expands to 1 GB", func() []byte {
		const n = 1 << 30
		l := plainLeaf("answer", 1, "a")
		l.codec, l.size = format.Zstd, math.MaxInt32
		body := append(sized(levelRuns(1, 1)), append([]byte{1}, levelRuns(1, 0)...)...)
		l.pages = append(bombPage(dictionaryPage(1<<28), n, zstdZeros(n)), bombPage(dataPage(1, format.RLEDictionary), len(body), body)...)
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"a page that claims 2 GB of statistics", func() []byte {
		l := plainLeaf("answer", 1, "a")
		l.pages = append([]byte{0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18}, binary.AppendUvarint(nil, math.MaxInt32)...)
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"a footer of a million columns", func() []byte {
		return bombFile(1, answersWith(1), func(m *format.FileMetaData) {
			m.Schema[0].NumChildren = thrift.New(int32(math.MaxInt32))
			for range 1 << 20 {
				m.Schema = append(m.Schema, format.SchemaElement{})
			}
		})
	}, ""},
	{"a footer of a million row groups", func() []byte {
		return bombFile(1, answersWith(1), func(m *format.FileMetaData) {
			m.RowGroups = append(m.RowGroups, make([]format.RowGroup, 1<<20)...)
		})
	}, ""},
	{"more rows than a file can hold", func() []byte {
		const n = math.MaxInt32
		return bombFile(n, []bombLeaf{plainLeaf("id", n, "1"), plainLeaf("query", n, "q"), plainLeaf("answer", n, "a")}, nil)
	}, ""},
}

// deltas is n times 0 in the delta encoding, of which two bytes can stand for a million.
func deltas(n int) []byte {
	b := binary.AppendUvarint(binary.AppendUvarint(nil, 1<<20), 1)
	b = append(binary.AppendUvarint(b, uint64(n)), 0)
	return append(b, make([]byte, 2*((n+1<<20-2)>>20))...)
}

// prefixed is n texts of which each has the one before as its prefix, in the encoding that
// writes such prefixes as lengths. The first is given; the others are as long.
func prefixed(first string, n int) []byte {
	// Prefixes: 0, then the length once more each time, which is a difference of the length
	// and then of 0: one block in which only the first difference is not 0.
	b := binary.AppendUvarint([]byte{128, 1, 4}, uint64(n))
	b = append(b, 0)              // the first prefix
	b = append(b, 0, 32, 0, 0, 0) // least difference 0, 32 bits each in the first of four parts
	b = binary.LittleEndian.AppendUint32(b, uint32(len(first)))
	b = append(b, make([]byte, 124)...)
	for left := n - 1 - 128; left > 0; left -= 128 {
		b = append(b, 0, 0, 0, 0, 0)
	}
	// Suffixes: the length, then 0 each time.
	b = append(b, binary.AppendUvarint([]byte{128, 1, 4}, uint64(n))...)
	b = binary.AppendVarint(b, int64(len(first)))
	b = binary.AppendVarint(b, -int64(len(first)))
	b = append(b, 32, 32, 32, 32)
	rest := make([]byte, 512)
	for i := 1; i < 128; i++ {
		binary.LittleEndian.PutUint32(rest[4*i:], uint32(len(first)))
	}
	b = append(b, rest...)
	for left := n - 1 - 128; left > 0; left -= 128 {
		b = append(b, 0, 0, 0, 0, 0)
	}
	return append(b, first...)
}

// deepFooter is a file whose footer has, as an unknown field, so many structs in each other.
func deepFooter(depth int) []byte {
	footer := bytes.Repeat([]byte{0x1C}, depth)
	file := append([]byte("PAR1"), footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, "PAR1"...)
}

// rleFrames is many frames of Zstandard that each claim a window of 2 GB and hold a block
// of 128 KB of zeros.
func rleFrames(n int) []byte {
	const last, rle = 1, 1 << 1
	header := uint32(last | rle | 128<<10<<3)
	frame := []byte{0x28, 0xB5, 0x2F, 0xFD, 0, 21 << 3, byte(header), byte(header >> 8), byte(header >> 16), 0}
	return bytes.Repeat(frame, n)
}

// own are bombs that were made to find what the ones before do not.
var own = []bomb{
	{"repetition levels of which none begins a row", func() []byte {
		const n = 1 << 30
		body := append(sized(levelRuns(n, 1)), sized(levelRuns(n, 3))...)
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: n, size: 1000, pages: bombPage(dataPage(n, format.Plain), len(body), body)}
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"packed levels of 2^60 groups", func() []byte {
		const n = 1 << 30
		packed := append(binary.AppendUvarint(nil, 1<<61|1), make([]byte, 64)...)
		body := append(sized(packed), sized(packed)...)
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: n, size: 1000, pages: bombPage(dataPage(n, format.Plain), len(body), body)}
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"a dictionary of 100 million empty texts", func() []byte {
		const n = 100_000_000
		l := codedLeaf("citations.doc", format.ByteArray, 1, 10, nil)
		body := append(append(listLevels(1, 10, 4), 1), levelRuns(10, 0)...)
		l.codec, l.size = format.Zstd, math.MaxInt32
		l.pages = append(bombPage(dictionaryPage(n), 4*n, zstdZeros(4*n)), bombPage(dataPage(10, format.RLEDictionary), len(body), zstdOf(body))...)
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
	{"a dictionary of 90 million integers", func() []byte {
		const n = 90_000_000
		body := append(append(listLevels(1, 10, 4), 1), levelRuns(10, 0)...)
		l := bombLeaf{path: "citations.start", typ: format.Int64, values: 10, codec: format.Gzip, size: math.MaxInt32}
		l.pages = append(bombPage(dictionaryPage(n), 8*n, gzipZeros(8*n)), bombPage(dataPage(10, format.RLEDictionary), len(body), gzipOf("", body, 1))...)
		return bombFile(1, answersWith(1, codedLeaf("citations.doc", format.ByteArray, 1, 10, sized([]byte("d"))), l), nil)
	}, ""},
	{"a billion deltas in a few kilobytes", func() []byte {
		const n = 1 << 30
		body := append(listLevels(1, n, 4), deltas(n)...)
		l := bombLeaf{path: "citations.start", typ: format.Int64, values: n, size: int64(len(body)), pages: bombPage(dataPage(n, format.DeltaBinaryPacked), len(body), body)}
		return bombFile(1, answersWith(1, listLeaf("citations.doc", format.ByteArray, 1, n, 3), l), nil)
	}, ""},
	{"texts that are prefixes of each other: 10 GB", func() []byte {
		const n = 10_000
		body := append(sized(levelRuns(n, 1)), prefixed(strings.Repeat("a", 1<<20), n)...)
		l := bombLeaf{path: "answer", typ: format.ByteArray, values: n, size: int64(len(body)), pages: bombPage(dataPage(n, format.DeltaByteArray), len(body), body)}
		return bombFile(n, answersWith(n, l), nil)
	}, ""},
	{"integers in streams of bytes: 700 MB", func() []byte {
		const n = 90_000_000
		levels := listLevels(1, n, 4)
		l := bombLeaf{path: "citations.start", typ: format.Int64, values: n, codec: format.Zstd, size: math.MaxInt32}
		l.pages = bombPage(dataPage(n, format.ByteStreamSplit), len(levels)+8*n, append(zstdOf(levels), zstdZeros(8*n)...))
		return bombFile(1, answersWith(1, listLeaf("citations.doc", format.ByteArray, 1, n, 3), l), nil)
	}, ""},
	{"lists in lists: four million pages in a thousand documents", func() []byte {
		const n = 4 << 10
		body := append(sized(levelRuns(1, 0, n*1024-1, 2)), sized(levelRuns(n*1024, 6))...)
		l := bombLeaf{path: "documents.pages.element", typ: format.ByteArray, values: n * 1024, size: 1000}
		dictionary := sized([]byte("p"))
		body = append(append(body, 1), levelRuns(n*1024, 0)...)
		l.pages = append(bombPage(dictionaryPage(1), len(dictionary), dictionary), bombPage(dataPage(n*1024, format.RLEDictionary), len(body), body)...)
		return bombFile(1, answersWith(1, codedLeaf("documents.doc", format.ByteArray, 1, 1, sized([]byte("d"))), l), nil)
	}, "limits: "},
	{"a footer of ten million structs in each other", func() []byte { return deepFooter(10_000_000) }, ""},
	{"statistics that claim 2 GB", func() []byte {
		return bytes.Replace(bombFile(1, answersWith(1), func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Statistics = format.Statistics{MaxValue: []byte("STATISTICS")}
		}), []byte("\x0aSTATISTICS"), append(binary.AppendUvarint(nil, 1<<31), "STATIS"...), 1)
	}, ""},
	{"a schema of a hundred thousand groups in each other", func() []byte {
		return bombFile(1, answersWith(1), func(m *format.FileMetaData) {
			m.Schema[0].NumChildren = thrift.New(int32(4))
			for range 100_000 {
				m.Schema = append(m.Schema, format.SchemaElement{Name: "g", RepetitionType: thrift.New(format.Optional), NumChildren: thrift.New(int32(1))})
			}
		})
	}, ""},
	{"a million members of gzip", func() []byte {
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, 1000, format.Gzip, bytes.Repeat(gzipOf("", nil, 0), 1<<20))), nil)
	}, ""},
	{"brotli that expands to 700 MB of no text", func() []byte {
		const n = 700 << 20
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, n, format.Brotli, brotliZeros(n))), nil)
	}, ""},
	{"a hundred thousand frames of zstd", func() []byte {
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, 700<<20, format.Zstd, rleFrames(100_000))), nil)
	}, ""},
	{"snappy whose own length is 4 GB", func() []byte {
		body := append(binary.AppendUvarint(nil, math.MaxUint32), snappyZeros(100 << 20)[4:]...)
		return bombFile(1, answersWith(1, packedLeaf("answer", 1, 500<<20, format.Snappy, body)), nil)
	}, ""},
	{"version 2 with levels of less than no bytes", func() []byte {
		h := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: 1 << 30, NumRows: 1, RepetitionLevelsByteLength: math.MinInt32, DefinitionLevelsByteLength: math.MaxInt32, IsCompressed: thrift.New(true),
		})}
		l := bombLeaf{path: "citations.doc", typ: format.ByteArray, values: 1 << 30, size: 1000, codec: format.Zstd, pages: bombPage(h, math.MaxInt32, zstdZeros(1<<20))}
		return bombFile(1, answersWith(1, l), nil)
	}, ""},
}

func zstdOf(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// What a process that refuses a file, or all its rows, may take.
const (
	refusedMemory = 300 << 20
	refusedTime   = 2 * time.Second
	validMemory   = 1<<30 + 128<<20 // the limit of memory, and what Go needs
)

// textMemory is what a command may take that refuses a text whose records are longer than
// 64 MiB: such a record has been in memory, and as text and as its
// fields.
const textMemory = 6 * 64 << 20

// A process is an ibid that has ended.
type process struct {
	stderr string
	code   int // -1 after a signal
	took   time.Duration
	cpu    time.Duration
	peak   int64 // bytes; 0 if it ended before anybody looked
}

// crashed reports whether the process ended in a way that no command ends in.
func (p *process) crashed() bool {
	return p.code < 0 || strings.Contains(p.stderr, "goroutine ") || strings.Contains(p.stderr, "panic: ")
}

// watched starts cmd and waits for it. It looks often at how much memory it has: what the
// kernel counts for a finished process begins with what its parent had.
func watched(t testing.TB, cmd *exec.Cmd) process {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr, cmd.Env = &errs, append(cmd.Environ(), "GOGC=")
	started := time.Now()
	switch err := cmd.Start(); {
	case errors.Is(err, context.Canceled):
		return process{code: -1} // killed before it began
	case err != nil:
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	status := filepath.Join("/proc", fmt.Sprint(cmd.Process.Pid), "status")
	var peak int64
	for {
		select {
		case err := <-ended:
			state := cmd.ProcessState
			return process{errs.String(), exitCode(err), time.Since(started), state.UserTime() + state.SystemTime(), peak}
		case <-time.After(5 * time.Millisecond):
			text, _ := os.ReadFile(status)
			if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
				var kb int64
				if _, err := fmt.Sscan(after, &kb); err == nil {
					peak = max(peak, kb<<10)
				}
			}
		}
	}
}

// measured runs ibid in dir. An endless one is killed.
func measured(t *testing.T, dir string, args ...string) process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	name := "ibid"
	if other := os.Getenv("IBID_MEASURED"); other != "" { // another version, to compare with
		name = other
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, environ(dir)
	return watched(t, cmd)
}

// TestBombs: files that claim or hold far more than their bytes are refused within little
// memory and time.
func TestBombs(t *testing.T) {
	if raced() {
		t.Skip("under the race detector memory says nothing")
	}
	for _, b := range slices.Concat(bombs, own) {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			data := b.make()
			if err := os.WriteFile(filepath.Join(dir, "answers.parquet"), data, 0o666); err != nil {
				t.Fatal(err)
			}
			p := measured(t, dir, "run", "answers.parquet", "--judge", "none", "-q", "--id", "b")
			t.Logf("%d bytes, exit code %d, %d MB, %.2f s: %.200s", len(data), p.code, p.peak>>20, p.took.Seconds(), strings.TrimSpace(p.stderr))
			if p.peak > refusedMemory || p.took > 10*refusedTime { // other tests run at the same time
				t.Errorf("%d MB, %v", p.peak>>20, p.took)
			}
			if p.code != 2 || p.crashed() || !strings.Contains(p.stderr, b.limit) {
				t.Errorf("exit code %d, want 2 and %q\n%s", p.code, b.limit, p.stderr)
			}
		})
	}
}

// spreadLeaf is a column without a list that is the same long text in every row.
func spreadLeaf(path string, rows, length int) bombLeaf {
	return plainLeaf(path, rows, strings.Repeat("The tower was lit in 1531. ", length/27))
}

// Files that break no rule and hold far more than their bytes. They are scored, or their
// rows are over a limit.
//
// The first three take seconds: make torture has them.
var validBombs = []struct {
	name string
	make func() []byte
}{
	{"two gigabytes of answers that are one text", func() []byte {
		return bombFile(2000, answersWith(2000, spreadLeaf("answer", 2000, 1<<20)), nil)
	}},
	{"a hundred megabytes in one answer", func() []byte {
		return bombFile(1, answersWith(1, spreadLeaf("answer", 1, 100<<20)), nil)
	}},
	{"a hundred thousand empty rows of long queries", func() []byte {
		return bombFile(100_000, answersWith(100_000, spreadLeaf("query", 100_000, 64<<10)), nil)
	}},
	{"200 MB in one answer, in zstd", func() []byte {
		const n = 200 << 20
		levels := sized(levelRuns(1, 1))
		l := packedLeaf("answer", 1, len(levels)+4+n, format.Zstd, nil)
		page := append(levels, binary.LittleEndian.AppendUint32(nil, n)...)
		l.pages = bombPage(dataPage(1, format.Plain), len(page)+n, append(zstdOf(page), zstdZeros(n)...))
		return bombFile(1, answersWith(1, l), nil)
	}},
	{"a million claims in one row", func() []byte {
		return bombFile(1, answersWith(1, codedLeaf("claims.text", format.ByteArray, 1, 1_000_000, sized([]byte("The tower was lit.")))), nil)
	}},
	{"five hundred documents of a megabyte in each of ten rows", func() []byte {
		text := sized([]byte(strings.Repeat("The tower was lit in 1531. ", 1<<20/27)))
		return bombFile(10, answersWith(10, codedLeaf("documents.doc", format.ByteArray, 10, 500, sized([]byte("d"))), codedLeaf("documents.text", format.ByteArray, 10, 500, text)), nil)
	}},
	{"version 2 whose values are 200 MB and whose levels say none", func() []byte {
		const n = 200 << 20
		def := levelRuns(1, 0)
		h := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: 1, NumNulls: 1, NumRows: 1, DefinitionLevelsByteLength: int32(len(def)), IsCompressed: thrift.New(true),
		})}
		l := bombLeaf{path: "answer", typ: format.ByteArray, values: 1, size: math.MaxInt32, codec: format.Zstd, pages: bombPage(h, n+len(def), append(def, zstdZeros(n)...))}
		return bombFile(1, answersWith(1, l), nil)
	}},
}

// TestValidBombs: files that hold far more than their bytes and break no rule stay within
// the limit of memory.
func TestValidBombs(t *testing.T) {
	if raced() || testing.Short() {
		t.Skip("-short, or the race detector, under which memory says nothing")
	}
	for _, b := range validBombs[3:] {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			data := b.make()
			if err := os.WriteFile(filepath.Join(dir, "answers.parquet"), data, 0o666); err != nil {
				t.Fatal(err)
			}
			p := measured(t, dir, "run", "answers.parquet", "--judge", "none", "-q", "--id", "b")
			t.Logf("%d bytes, exit code %d, %d MB, %.2f s: %.200s", len(data), p.code, p.peak>>20, p.took.Seconds(), strings.TrimSpace(p.stderr))
			if p.code != 0 && p.code != 4 || p.crashed() || p.peak > validMemory {
				t.Errorf("exit code %d, %d MB\n%s", p.code, p.peak>>20, p.stderr)
			}
		})
	}
}
