package parquet

import (
	"hash/crc32"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/bloom/xxhash"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A text that is looked for in one column of many row groups is in one of them. A Bloom
// filter says of most others that it is not there, and costs one read of 32 bytes. Filters
// follow the pages of their row group, in the order of the columns.
//
// Source: Apache Parquet, Bloom Filter (split block Bloom filter, xxHash64).

// filterBits is how many bits a filter has for each value: of a text that a row group
// does not have, about one filter in a hundred says that it may.
const filterBits = 10

// filterBlock is the size of a block of a filter. The header is shorter, so the length of
// both says where the blocks begin.
const filterBlock = 32

// Filter says that row groups get a Bloom filter of column c, which is of strings.
func (t *Table) Filter(c int) {
	if t.columns[c].kind != String {
		t.wrongKind(c, String)
	}
	t.columns[c].filter = true
}

// filters writes the filters of a row group.
func (e *Encoder) filters(g *format.RowGroup, t *Table) error {
	for i := range g.Columns {
		c := &t.columns[t.schema.leaves[i].column]
		if !c.filter || len(c.text.entries) == 0 {
			continue
		}
		blocks := make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(len(c.text.entries)), filterBits))
		for _, s := range c.text.entries {
			blocks.Insert(textHash(s))
		}
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &format.BloomFilterHeader{
			NumBytes:    int32(len(blocks) * filterBlock),
			Algorithm:   format.BloomFilterAlgorithm{Value: new(format.SplitBlockAlgorithm)},
			Hash:        format.BloomFilterHash{Value: new(format.XxHash)},
			Compression: format.BloomFilterCompression{Value: new(format.BloomFilterUncompressed)},
		})
		if err != nil {
			return err
		}
		b = append(b, blocks.Bytes()...)
		m := &g.Columns[i].MetaData
		m.BloomFilterOffset, m.BloomFilterLength = e.off, int32(len(b))
		e.sum = crc32.Update(e.sum, crc32.IEEETable, b)
		e.write(b)
	}
	return e.err
}

func textHash(s string) uint64 { return xxhash.Sum64(unsafe.Slice(unsafe.StringData(s), len(s))) }

// filterBytes is how long the filters of a row group are.
func filterBytes(g *format.RowGroup) (n int64) {
	for i := range g.Columns {
		n += int64(g.Columns[i].MetaData.BloomFilterLength)
	}
	return n
}

// filterSum adds the filters of row group k to the checksum of its page headers.
func (f *ResultFile) filterSum(k int, sum uint32) (uint32, error) {
	for i := range f.leaves {
		m := &f.file.groups[k].Columns[i]
		b := make([]byte, m.BloomFilterLength)
		if _, err := f.file.file.ReadAt(b, m.BloomFilterOffset); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, crc32.IEEETable, b)
	}
	return sum, nil
}

// MayHoldText reports whether a row group can have value in a column of texts, by its
// filter: true where there is none, or no such column.
func (f *ResultFile) MayHoldText(k int, name, value string) bool {
	column, ok := f.index[name]
	if !ok || f.leaf[column] < 0 {
		return true
	}
	m := &f.file.groups[k].Columns[f.leaf[column]]
	header := int64(m.BloomFilterLength % filterBlock)
	size := int64(m.BloomFilterLength) - header
	if size == 0 {
		return true
	}
	may, err := bloom.CheckSplitBlock(io.NewSectionReader(f.file.file, m.BloomFilterOffset+header, size), size, textHash(value))
	return may || err != nil
}
