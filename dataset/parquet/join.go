package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	j := joiner{w: w, fields: fields, leaves: resultLeaves(fields)}
	defer j.close()
	if err := j.write([]byte(magic)); err != nil {
		return err
	}
	for _, p := range parts {
		if err := j.add(p); err != nil {
			if e, ok := err.(*Error); ok {
				err = e.Err
			}
			return fmt.Errorf("%s: row group %d: %w", p.Path, p.Group, err)
		}
	}
	var meta compactWriter
	footer := appendFooter(&meta, nil, fields, len(j.leaves), j.rows, j.groups.b, len(parts), metadata)
	if len(footer) > math.MaxUint32 {
		return fmt.Errorf("%d row groups are too many for one file", len(parts))
	}
	return j.write(footer)
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
	w      io.Writer
	fields []Field
	leaves []resultLeaf
	off    int64
	rows   int64
	groups compactWriter // descriptions of the row groups so far
	src    *ResultFile   // of the last part
}

func (j *joiner) write(b []byte) error {
	n, err := j.w.Write(b)
	j.off += int64(n)
	return err
}

func (j *joiner) close() {
	if j.src != nil {
		j.src.Close() // opened for reading
	}
}

func (j *joiner) add(p Part) error {
	if j.src == nil || j.src.file.Path != p.Path {
		j.close()
		src, err := OpenResult(p.Path)
		if err != nil {
			j.src = nil
			return err
		}
		j.src = src
	}
	if !slices.Equal(j.src.fields, j.fields) {
		return errors.New("other columns than the result has")
	}
	if p.Group < 0 || p.Group >= j.src.RowGroups() {
		return fmt.Errorf("the file has %d row groups", j.src.RowGroups())
	}
	g := groupOf(&j.src.file.meta.RowGroups[p.Group])
	appendGroup(&j.groups, j.leaves, g, j.off-g.start())
	j.rows += g.rows
	// From file to file this is done by the kernel.
	if _, err := j.src.file.file.Seek(g.start(), io.SeekStart); err != nil {
		return err
	}
	n, err := io.CopyN(j.w, j.src.file.file, g.size())
	j.off += n
	return err
}
