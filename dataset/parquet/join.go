package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"ibid"
)

// A Part is one row group of a Parquet file made by [Encoder.EncodePart], which has the group 0
// only, or [Join].
type Part struct {
	Path  string
	Group int
}

// Join writes one Parquet file whose row group k is part k, copying the bytes
// of the columns without decoding them. Equal parts and metadata give equal bytes.
//
// Parts of one file should follow each other, so that it is opened once. It is
// an error if a part is not such a file, was damaged, has no such group or other
// columns than fields. After an error w holds part of a file.
func Join(w io.Writer, fields []Field, parts []Part, metadata map[string]string) error {
	var j joiner
	defer func() {
		if j.src != nil {
			j.src.Close() // opened for reading
		}
	}()
	j.Begin(w, fields)
	for _, p := range parts {
		err := j.add(p)
		if e, ok := err.(*ibid.Error); ok {
			err = e.Err
		}
		if err != nil {
			return fmt.Errorf("%s: row group %d: %w", p.Path, p.Group, err)
		}
	}
	return j.End(metadata)
}

// A joiner is the state of Join.
type joiner struct {
	Encoder
	src    *ResultFile        // of the last part
	groups []parquet.RowGroup // of src; nil of one without rows
}

// open makes the file at path the source. It is compared with its checksum before the library
// reads it: what was damaged must not get a new one.
func (j *joiner) open(path string) error {
	if j.src != nil {
		j.src.Close() // opened for reading
	}
	var err error
	if j.src, err = OpenResult(path); err != nil {
		return err
	}
	if err := j.src.Verify(); err != nil {
		return err
	}
	f, err := parquet.OpenFile(j.src.file, j.src.Size, parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	there := slices.DeleteFunc(f.RowGroups(), func(g parquet.RowGroup) bool { return g.NumRows() == 0 })
	j.groups = make([]parquet.RowGroup, j.src.RowGroups())
	for k := range j.groups {
		if j.src.GroupRows(k) > 0 {
			j.groups[k], there = there[0], there[1:]
		}
	}
	return nil
}

// add copies a part.
func (j *joiner) add(p Part) (err error) {
	defer recovered(&err)
	if j.src == nil || j.src.Path != p.Path {
		if err := j.open(p.Path); err != nil {
			return err
		}
	}
	if !slices.EqualFunc(j.src.fields, j.fields, func(a, b Field) bool {
		return a.Name == b.Name && a.Kind == b.Kind && a.Required == b.Required
	}) {
		return errors.New("other columns than the result has")
	}
	if p.Group < 0 || p.Group >= len(j.groups) {
		return fmt.Errorf("the file has %d row groups", len(j.groups))
	}
	if j.nextGroup(j.src.GroupRows(p.Group)); j.groups[p.Group] != nil {
		_, err = j.writer.WriteRowGroup(j.groups[p.Group])
	}
	return err
}
