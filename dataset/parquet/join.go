package parquet

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"ibid"
	"ibid/dataset/disk"
)

// A Part is one row group of a Parquet file made by [Encoder.EncodePart],
// [Join] or [Split]. A file of EncodePart or Split has the group 0 only.
type Part struct {
	Path  string
	Group int
}

// Join writes one Parquet file whose row group k is part k, copying the bytes
// of the columns without decoding them. Equal parts and metadata give equal
// bytes. Beside the footer it holds the footer of one source in memory.
//
// Parts of one file should follow each other, so that it is opened once. It is
// an error if a part is not such a file, has no such group or other columns
// than fields. After an error w holds part of a file.
func Join(w io.Writer, fields []Field, parts []Part, metadata map[string]string) error {
	var j joiner
	defer j.close()
	j.Begin(w)
	for _, p := range parts {
		if err := j.add(p, fields); err != nil {
			if e, ok := err.(*ibid.Error); ok {
				err = e.Err
			}
			return fmt.Errorf("%s: row group %d: %w", p.Path, p.Group, err)
		}
	}
	return j.end(schemaOf(fields), metadata)
}

// Split writes p as a file of its own: the bytes that EncodePart had written
// before [Join].
func Split(w io.Writer, p Part) error {
	src, err := OpenResult(p.Path)
	if err != nil {
		return err
	}
	fields := src.fields
	if err := src.Close(); err != nil {
		return err
	}
	return Join(w, fields, []Part{p}, nil)
}

// A joiner is the state of Join.
type joiner struct {
	Encoder
	src   *ResultFile       // of the last part
	whole []format.RowGroup // its row groups with all that the footer says of them
}

func (j *joiner) close() {
	if j.src != nil {
		j.src.Close() // opened for reading
	}
}

func (j *joiner) add(p Part, fields []Field) error {
	if j.src == nil || j.src.file.Path != p.Path {
		j.close()
		src, err := OpenResult(p.Path)
		if err != nil {
			j.src = nil
			return err
		}
		j.src = src
		if j.whole, err = src.file.wholeGroups(); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(j.src.fields, fields) {
		return errors.New("other columns than the result has")
	}
	if p.Group < 0 || p.Group >= j.src.RowGroups() {
		return fmt.Errorf("the file has %d row groups", j.src.RowGroups())
	}
	sum, err := j.src.pageSum(p.Group)
	if err != nil {
		return err
	}
	j.sums = append(j.sums, sum)
	g := j.whole[p.Group]
	start := j.src.file.groups[p.Group].Columns[0].start()
	shift := j.off - start
	g.FileOffset += shift
	g.Columns = slices.Clone(g.Columns)
	for i := range g.Columns {
		c := &g.Columns[i]
		c.FileOffset += shift
		c.MetaData.DataPageOffset += shift
		if c.MetaData.DictionaryPageOffset > 0 {
			c.MetaData.DictionaryPageOffset += shift
		}
		if c.MetaData.BloomFilterLength > 0 {
			c.MetaData.BloomFilterOffset += shift
		}
	}
	j.groups = append(j.groups, g)
	if j.flush(); j.err != nil {
		return j.err
	}
	size := g.TotalCompressedSize + filterBytes(&g)
	from := io.Reader(io.NewSectionReader(j.src.file.file, start, size))
	if file, ok := j.src.file.file.(*disk.File); ok { // from file to file this is done by the kernel
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
		from = file
	}
	n, err := io.CopyN(j.w, from, size)
	j.off += n
	return err
}
