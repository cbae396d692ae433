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
// written.
//
// parquet-go's own page reader is not used: it reads LZ4_RAW wrongly without an error
// (v0.32.0: all of 100,000 integers), sets memory aside for what a header claims (289 MB for
// a file of 59 kB) and panics on damaged pages. A result file that is joined to others was
// compared with its own checksum before.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"ibid"
	"ibid/dataset/disk"
	"ibid/dataset/objects"
)

const magic, encryptedMagic = "PAR1", "PARE"

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
	meta   *format.FileMetaData // without row groups
	groups []rowGroup
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
	if f.end, err = f.readFooter(); err != nil {
		return f, err
	}
	if o := f.Object(); o != nil {
		o.Expect(f.chunks())
	}
	f.Root, err = schemaTree(f.meta.Schema)
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
	for i := range f.groups {
		for j := range f.groups[i].Columns {
			c := &f.groups[i].Columns[j]
			ranges = append(ranges, [2]int64{c.start(), c.start() + c.TotalCompressedSize})
		}
	}
	return ranges
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Rows is the number of rows.
func (f *File) Rows() int64 { return f.meta.NumRows }

// RowGroups is the number of row groups.
func (f *File) RowGroups() int { return len(f.groups) }

// GroupRows is the number of rows of row group k, which may be 0.
func (f *File) GroupRows(k int) int64 { return f.groups[k].NumRows }

// Entries is the number of entries of a leaf in all row groups, as the footer says.
func (f *File) Entries(column int) (n int64) {
	for i := range f.groups {
		n += f.groups[i].Columns[column].NumValues
	}
	return n
}

// Values is how many entries of a column have a value, as far as the statistics of the
// row groups count its nulls.
func (f *File) Values(column int) (n int64) {
	for i := range f.groups {
		m := &f.groups[i].Columns[column]
		n += max(0, m.NumValues-m.NullCount)
	}
	return n
}

// CheckCodec returns an error if some row group has the leaf in a compression that
// cannot be read.
func (f *File) CheckCodec(column int) error {
	for i := range f.groups {
		if err := checkCodec(f.groups[i].Columns[column].Codec); err != nil {
			return err
		}
	}
	return nil
}

// Unchecked is how many bytes a column has in pages without checksums, as far as the
// first page of each row group tells.
func (f *File) Unchecked(column int) (bytes int64, err error) {
	if f.own() {
		return 0, nil
	}
	var r pageReader
	var h format.PageHeader
	for k := range f.groups {
		m := &f.groups[k].Columns[column]
		if m.NumValues == 0 {
			continue
		}
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
	for i := range f.meta.KeyValueMetadata {
		if kv := &f.meta.KeyValueMetadata[i]; kv.Key == key {
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

// Footer reads the metadata of the Parquet file at path as its bytes. The error is as of
// [Open].
func Footer(path string) ([]byte, error) {
	f, err := disk.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, FileError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, FileError(path, err)
	}
	b, _, err := footerBytes(f, info.Size())
	if err != nil {
		return nil, FileError(path, err)
	}
	return b, nil
}

// readFooter reads the metadata of the file and says where its pages end.
func (f *File) readFooter() (end int64, err error) {
	b, end, err := footerBytes(f.file, f.Size)
	if err != nil {
		return 0, err
	}
	sealed, err := checkFooter(b)
	if err != nil {
		return 0, err
	}
	if err = f.parseFooter(b); err == nil && f.own() && !sealed {
		err = corrupt("the footer has lost its checksum")
	}
	return end, err
}

func footerBytes(r io.ReaderAt, size int64) (b []byte, end int64, err error) {
	const tail = 8 // length of the footer, magic
	if size == 0 {
		return nil, 0, corrupt("0 bytes")
	}
	var first [len(magic)]byte
	if _, err := r.ReadAt(first[:], 0); err != nil && err != io.EOF {
		return nil, 0, err
	}
	if string(first[:]) != magic && string(first[:]) != encryptedMagic {
		return nil, 0, ErrNotParquet
	}
	if size < int64(len(magic))+tail {
		return nil, 0, corrupt("%d bytes are too few", size)
	}
	var last [tail]byte
	if _, err := r.ReadAt(last[:], size-tail); err != nil {
		return nil, 0, err
	}
	switch string(last[4:]) {
	case magic:
	case encryptedMagic:
		return nil, 0, errors.New("encrypted Parquet files are not supported")
	default:
		return nil, 0, corrupt("the end of the file is missing")
	}
	n := int64(binary.LittleEndian.Uint32(last[:4]))
	end = size - tail - n
	if end < int64(len(magic)) {
		return nil, 0, corrupt("footer of %d bytes in a file of %d", n, size)
	}
	b = make([]byte, n)
	if _, err := r.ReadAt(b, end); err != nil {
		return nil, 0, err
	}
	return b, end, nil
}

func (f *File) parseFooter(b []byte) error {
	var ok bool
	if f.meta, f.groups, ok = decodeFooter(b); !ok {
		return corrupt("unreadable footer")
	}
	var leaves []*format.SchemaElement
	for i := range f.meta.Schema {
		if e := &f.meta.Schema[i]; e.Type.Valid {
			leaves = append(leaves, e)
		}
	}
	var rows int64
	for i := range f.groups {
		g := &f.groups[i]
		if g.NumRows < 0 || g.NumRows > f.meta.NumRows-rows {
			return corrupt("row group %d has %d of %d rows", i, g.NumRows, f.meta.NumRows)
		}
		rows += g.NumRows
		if len(g.Columns) != len(leaves) {
			return corrupt("row group %d has %d columns, the schema %d", i, len(g.Columns), len(leaves))
		}
		for j := range g.Columns {
			if err := g.Columns[j].check(leaves[j].Type.V, g.NumRows, f.Size); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, leaves[j].Name, err)
			}
		}
	}
	if rows != f.meta.NumRows {
		return corrupt("row groups hold %d rows, the footer says %d", rows, f.meta.NumRows)
	}
	if f.own() {
		return f.addEmpty(len(leaves))
	}
	return nil
}

// check compares a chunk with the type of its column, the rows of its group and the size
// of the file.
func (c *columnChunk) check(t format.Type, rows, size int64) error {
	start := c.start()
	switch {
	case c.Elsewhere:
		return errors.New("data in another file is not supported")
	case c.Type != t:
		return corrupt("%s values in a column of %s", c.Type, t)
	case c.NumValues < rows:
		return corrupt("%d values in %d rows", c.NumValues, rows)
	case c.NumValues == 0:
		return nil
	case start < int64(len(magic)) || c.TotalCompressedSize < 0 || start > size || c.TotalCompressedSize > size-start:
		return corrupt("data at [%d, %d+%d) of %d bytes", start, start, c.TotalCompressedSize, size)
	}
	return nil
}

// start is where the pages of a chunk begin. Some writers leave the offset of the
// dictionary out, or set it although there is none.
func (c *columnChunk) start() int64 {
	if 0 < c.DictionaryPageOffset && c.DictionaryPageOffset < c.DataPageOffset {
		return c.DictionaryPageOffset
	}
	return c.DataPageOffset
}
