// Package parquet reads Parquet files of any writer, and writes and joins the datasets and
// result files of ibid by parquet-go.
//
// [Open] reads footers, a pageReader pages. A [Cursor] yields the entries of one leaf; inputs
// (package dataset) and results ([ResultFile]) are read through it. An [Encoder] gives what a
// [Table] has in its columns to the library's writer; [Join] copies row groups as they are.
//
// # Hostile input
//
// parquet-go sees nothing of a page that has not been checked. A page is decompressed here,
// into exactly what its header claims, its checksum is compared, and the runs of levels and
// codes, the blocks of deltas and the lengths of texts are walked: they must be there, and
// hold no more than the page says. A page has at most mostPageBytes and mostPageValues; the
// pages that are open at one time fit a [Budget]. The library's Thrift decoder makes lists
// as long as they claim to be, so every struct is walked before it is decoded. Errors name
// file, column and row group. A file without checksums may read as other values than were
// written. A result has checksums of all pages, and each of its columns one encoding, so that
// none does.
//
// parquet-go's own page reader is not used: it reads LZ4_RAW wrongly without an error
// (v0.32.0: all of 100,000 integers), sets memory aside for what a header claims (289 MB for
// a file of 59 kB) and panics on damaged pages. A result file that is joined to others was
// compared with its own checksum before.
package parquet

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"ibid"
	"ibid/dataset/disk"
	"ibid/dataset/objects"
)

// A source is where the bytes of a file are.
type source interface {
	io.ReaderAt
	io.Closer
}

// A File is an open Parquet file of any writer. Its methods may be called
// concurrently, except Close.
type File struct {
	Path     string
	Size     int64 // bytes
	Modified time.Time
	Root     *Node // the schema

	file   source
	footer footer
	end    int64 // of the pages, where the footer begins
}

// Open reads the footer of a file and checks what later reading relies on: row
// counts that add up, columns that lie within the file, value counts that fit the
// rows. The error is an [*ibid.Error] that names the file; [ErrCorrupt] is in the chain
// of one for a damaged file.
func Open(path string) (f *File, err error) {
	f = &File{Path: path}
	if err := f.openSource(); err != nil {
		return nil, FileError(path, err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
		if err != nil {
			f.file.Close()
			f, err = nil, FileError(path, err)
		}
	}()
	b, end, err := footerBytes(f.file, f.Size)
	if err != nil {
		return f, err
	}
	sealed, err := checkFooter(b)
	if err == nil {
		err = f.parseFooter(b)
	}
	if err == nil && f.own() && !sealed {
		err = corrupt("the footer has lost its checksum")
	}
	if err != nil {
		return f, err
	}
	f.end = end
	if o := f.Object(); o != nil {
		o.Expect(f.chunks())
	}
	f.Root, err = schemaTree(f.footer.Schema)
	return f, err
}

func (f *File) openSource() error {
	if objects.Is(f.Path) {
		o, err := objects.Open(context.Background(), f.Path)
		if err == nil {
			f.file, f.Size, f.Modified = object{o}, o.Size, o.Modified
		}
		return err
	}
	file, err := disk.Open(f.Path, os.O_RDONLY)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a directory")
	}
	if err != nil {
		file.Close() // opened for reading
		return err
	}
	f.file, f.Size, f.Modified = file, info.Size(), info.ModTime()
	return nil
}

// Object is the object that the file is, nil for a file of this machine.
func (f *File) Object() *objects.Object {
	o, _ := f.file.(object)
	return o.Object
}

// An object is a source whose errors go without its address: the name of the file comes
// first in them anyway.
type object struct{ *objects.Object }

func (o object) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(p, off)
	if e, ok := errors.AsType[*ibid.Error](err); ok {
		err = &ibid.Error{Err: e.Err, Hint: e.Hint}
	}
	return n, err
}

// chunks are the bytes of each column of each row group.
func (f *File) chunks() (ranges [][2]int64) {
	for i := range f.footer.RowGroups {
		for j := range f.footer.RowGroups[i].Columns {
			c := f.chunk(i, j)
			ranges = append(ranges, [2]int64{c.start(), c.start() + c.Meta.TotalCompressedSize})
		}
	}
	return ranges
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// chunk is a column of a row group.
func (f *File) chunk(group, column int) *columnChunk {
	return &f.footer.RowGroups[group].Columns[column]
}

// Rows is the number of rows.
func (f *File) Rows() int64 { return f.footer.NumRows }

// rowGroups is the number of row groups.
func (f *File) rowGroups() int { return len(f.footer.RowGroups) }

// groupRows is the number of rows of row group k, which may be 0.
func (f *File) groupRows(k int) int64 { return f.footer.RowGroups[k].NumRows }

// Starts are the rows where reading can begin without looking at others: the first of each
// row group.
func (f *File) Starts() (rows []int64) {
	at := int64(0)
	for k := range f.rowGroups() {
		if n := f.groupRows(k); n > 0 {
			rows = append(rows, at)
			at += n
		}
	}
	return rows
}

// Entries is the number of entries of a leaf in all row groups, as the footer says.
func (f *File) Entries(column int) (n int64) {
	for k := range f.rowGroups() {
		n += f.chunk(k, column).Meta.NumValues
	}
	return n
}

// Values is how many entries of a column have a value, as far as the statistics of the
// row groups count its nulls.
func (f *File) Values(column int) (n int64) {
	for k := range f.rowGroups() {
		m := &f.chunk(k, column).Meta
		n += max(0, m.NumValues-m.Statistics.NullCount)
	}
	return n
}

// CheckCodec returns an error if some row group has the leaf in a compression that
// cannot be read.
func (f *File) CheckCodec(column int) (err error) {
	for k := 0; k < f.rowGroups() && err == nil; k++ {
		err = checkCodec(f.chunk(k, column).Meta.Codec)
	}
	return err
}

// Unchecked is how many bytes a column has in pages without checksums, as far as the
// first page of each row group tells.
func (f *File) Unchecked(column int) (bytes int64, err error) {
	var r pageReader
	for k := 0; k < f.rowGroups() && !f.own(); k++ {
		m := &f.chunk(k, column).Meta
		if m.NumValues == 0 {
			continue
		}
		var h format.PageHeader
		if err := r.start(f, k, column); err != nil {
			return 0, err
		}
		if err := r.nextHeader(&h); err != nil {
			return 0, err
		}
		if h.CRC == 0 {
			bytes += m.TotalCompressedSize
		}
	}
	return bytes, nil
}

// Metadata returns the value of a key of the file metadata, "" if there is none.
// Of a key that is there twice the last counts.
func (f *File) Metadata(key string) (value string) {
	for i := range f.footer.Metadata {
		if kv := &f.footer.Metadata[i]; kv.Key == key {
			value = kv.Value
		}
	}
	return value
}

// FileError puts the name of a file into an error about it.
func FileError(path string, err error) error {
	if e, ok := err.(*ibid.Error); ok && e.File == "" {
		e.File = path
	}
	if e, ok := errors.AsType[*ibid.Error](err); ok && e.File != "" {
		return err
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err // the name comes first anyway
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = corrupt("the file ends too early")
	}
	return &ibid.Error{File: path, Err: err}
}
