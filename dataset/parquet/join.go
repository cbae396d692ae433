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

// Split makes files of their own of row groups of the result file at path: the bytes that
// EncodePart had written before [Join]. save is called for each and calls write with where
// the file goes. The footer of path is read once for all of them.
func Split(path string, groups []int, save func(group int, write func(io.Writer) error) error) error {
	var j joiner
	defer j.close()
	if err := j.open(path); err != nil {
		return err
	}
	fields := j.src.fields
	s := schemaOf(fields)
	for _, k := range groups {
		err := save(k, func(w io.Writer) error {
			j.Begin(w)
			if err := j.add(Part{path, k}, fields); err != nil {
				return fmt.Errorf("%s: row group %d: %w", path, k, err)
			}
			return j.end(s, nil)
		})
		if err != nil {
			return err
		}
	}
	return nil
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

// open makes the file at path the source, unless it is already.
func (j *joiner) open(path string) error {
	if j.src != nil && j.src.file.Path == path {
		return nil
	}
	j.close()
	src, err := OpenResult(path)
	if err != nil {
		j.src = nil
		return err
	}
	j.src = src
	j.whole, err = src.file.wholeGroups()
	return err
}

func (j *joiner) add(p Part, fields []Field) error {
	if err := j.open(p.Path); err != nil {
		return err
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
