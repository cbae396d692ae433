package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ErrCorrupt is in the chain of the error for a file that breaks the rules of
// Parquet. Some damage cannot be seen: a file without page checksums may read
// as other values than were written.
var ErrCorrupt = errors.New("corrupt Parquet file")

func corrupt(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrCorrupt}, args...)...)
}

const parquetMagic, encryptedMagic = "PAR1", "PARE"

// readFooter reads the metadata of a Parquet file of the given size. It checks
// what later reading relies on: row counts that add up, column chunks that lie
// within the file, value counts that fit the rows.
func readFooter(r io.ReaderAt, size int64) (*format.FileMetaData, error) {
	const tail = 8 // length of the footer, magic
	if size < int64(len(parquetMagic))+tail {
		return nil, corrupt("%d bytes are too few", size)
	}
	var head [4]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if string(head[:]) != parquetMagic && string(head[:]) != encryptedMagic {
		return nil, errors.New("not a Parquet file")
	}
	var end [tail]byte
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return nil, err
	}
	switch string(end[4:]) {
	case parquetMagic:
	case encryptedMagic:
		return nil, errors.New("encrypted Parquet files are not supported")
	default:
		return nil, corrupt("the end of the file is missing")
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if n > size-int64(len(parquetMagic))-tail {
		return nil, corrupt("footer of %d bytes in a file of %d", n, size)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-tail-n); err != nil {
		return nil, err
	}
	return parseFooter(b, size)
}

func parseFooter(b []byte, size int64) (*format.FileMetaData, error) {
	n, ok := compactLength(b)
	if !ok {
		return nil, corrupt("unreadable footer")
	}
	meta := new(format.FileMetaData)
	protocol := new(thrift.CompactProtocol)
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(meta); err != nil {
		return nil, corrupt("footer: %w", err)
	}
	return meta, checkFooter(meta, size)
}

func checkFooter(meta *format.FileMetaData, size int64) error {
	var leaves []format.Type
	for i := range meta.Schema {
		if e := &meta.Schema[i]; e.Type.Valid {
			leaves = append(leaves, e.Type.V)
		}
	}
	var rows int64
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > meta.NumRows-rows {
			return corrupt("row group %d has %d of %d rows", i, g.NumRows, meta.NumRows)
		}
		rows += g.NumRows
		if len(g.Columns) != len(leaves) {
			return corrupt("row group %d has %d columns, the schema %d", i, len(g.Columns), len(leaves))
		}
		for j := range g.Columns {
			if err := checkChunk(&g.Columns[j], leaves[j], g.NumRows, size); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, strings.Join(g.Columns[j].MetaData.PathInSchema, "."), err)
			}
		}
	}
	if rows != meta.NumRows {
		return corrupt("row groups hold %d rows, the footer says %d", rows, meta.NumRows)
	}
	return nil
}

func checkChunk(c *format.ColumnChunk, t format.Type, rows, size int64) error {
	m := &c.MetaData
	start := chunkStart(m)
	switch {
	case c.FilePath != "":
		return errors.New("data in another file is not supported")
	case m.Type != t:
		return corrupt("%s values in a column of %s", m.Type, t)
	case m.NumValues < rows:
		return corrupt("%d values in %d rows", m.NumValues, rows)
	case m.NumValues == 0:
		return nil
	case start < int64(len(parquetMagic)) || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start:
		return corrupt("data at [%d, %d+%d) of %d bytes", start, start, m.TotalCompressedSize, size)
	}
	return nil
}

// chunkStart is where the pages of a chunk begin. Some writers leave the offset
// of the dictionary out, or set it although there is none.
func chunkStart(m *format.ColumnMetaData) int64 {
	if 0 < m.DictionaryPageOffset && m.DictionaryPageOffset < m.DataPageOffset {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}
