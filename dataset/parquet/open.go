// Package parquet reads Parquet files of any writer, and writes and joins the datasets and
// result files of ibid by parquet-go.
//
// [Open] reads footers, a pageReader pages. A [Cursor] yields the entries of one leaf; inputs
// (package dataset) and results ([ResultFile]) are read through it. An [Encoder] gives what a
// [Table] has in its columns to the library's writer; [Join] copies row groups as they are.
//
// # Hostile input
//
// The library's decoders see nothing that has not been checked. A guard stands between a footer
// and the Thrift decoder. A page is decompressed here, into exactly what its header claims, and its
// checksum is compared. The runs of levels and codes and the blocks of deltas are walked: they
// must be there, and hold no more than the page says. Codes are compared with the length of
// their dictionary. Texts are decoded here: where the library decodes DELTA_BYTE_ARRAY, lengths
// that add up to more than 2^31 are not seen. Errors name file, column and row group. A file without checksums may read as other values than were
// written. A result has checksums of all pages, and each of its columns one encoding, so that
// none does.
//
// parquet-go's own page reader is not used: it reads LZ4_RAW wrongly without an error
// (v0.32.0: all of 100,000 integers), sets memory aside for what a header claims (289 MB for
// a file of 59 kB) and panics on damaged pages. A result file that is joined to others was
// compared with its own checksum before.
package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"ibid"
	"ibid/dataset/disk"
	"ibid/dataset/objects"
)

// ErrCorrupt is in the chain of the error for a file that breaks the rules of
// Parquet. Some damage cannot be seen: a file without page checksums may read
// as other values than were written.
var ErrCorrupt = errors.New("corrupt Parquet file")

// ErrNotParquet is in the chain of the error for a file that does not begin as Parquet.
var ErrNotParquet = errors.New("not a Parquet file")

// ErrLarge is in the chain of the error for a page or column that is larger than is read, or
// says so. Such an error is [ErrCorrupt], too: nothing of the file is used.
var ErrLarge error = largeError{}

type largeError struct{}

func (largeError) Error() string        { return "too large" }
func (largeError) Is(target error) bool { return target == ErrCorrupt }

func large(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrLarge}, args...)...)
}

func corrupt(msg string, args ...any) error {
	return fmt.Errorf("%w: "+msg, append([]any{ErrCorrupt}, args...)...)
}

// recovered, where it is deferred, makes an error of a panic: what decoders do about damaged
// data.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = corrupt("%v", p)
	}
}

// FileError puts the name of a file into an error about it.
func FileError(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*ibid.Error); ok && e.File == "" {
		e.File = path
	}
	if e, ok := errors.AsType[*ibid.Error](err); ok && e.File != "" {
		return err
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err // the name comes first anyway
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = corrupt("the file ends too early")
	}
	return &ibid.Error{File: path, Err: err}
}

// A File is an open Parquet file of any writer. Its methods may be called
// concurrently, except Close.
type File struct {
	Path     string
	Size     int64 // bytes
	Modified time.Time
	Root     *Node             // the schema
	Metadata map[string]string // of a key that is there twice the last counts

	file   source
	footer footer
	end    int64  // of the pages, where the footer begins
	sum    string // of what is before, see fileKey
}

// A source is where the bytes of a file are.
type source interface {
	io.ReaderAt
	io.Closer
}

// A footer is what reading takes from a format.FileMetaData, in a tenth of the memory: a
// result of ten million rows has 35,000 chunks of columns.
type footer struct {
	Schema    thrift.Slice[format.SchemaElement] `thrift:"2,required"`
	NumRows   int64                              `thrift:"3,required"`
	RowGroups thrift.Slice[rowGroup]             `thrift:"4,required"`
	Metadata  thrift.Slice[format.KeyValue]      `thrift:"5"`
	CreatedBy string                             `thrift:"6"`
}

type rowGroup struct {
	Columns thrift.Slice[columnChunk] `thrift:"1,required"`
	NumRows int64                     `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string      `thrift:"1"`
	Meta     chunkOfFile `thrift:"3"`
}

type chunkOfFile struct {
	Type                 format.Type             `thrift:"1,required"`
	Codec                format.CompressionCodec `thrift:"4,required"`
	NumValues            int64                   `thrift:"5,required"`
	TotalCompressedSize  int64                   `thrift:"7,required"`
	DataPageOffset       int64                   `thrift:"9,required"`
	DictionaryPageOffset int64                   `thrift:"11"`
	Statistics           statistics              `thrift:"12"`
}

type statistics struct {
	NullCount int64  `thrift:"3"`
	MaxValue  []byte `thrift:"5"` // nil if not known
	MinValue  []byte `thrift:"6"`
}

// start is where the pages of a chunk begin. Some writers leave the offset of the dictionary
// out, or set it although there is none.
func (c *columnChunk) start() int64 {
	if m := &c.Meta; m.DictionaryPageOffset <= 0 || m.DictionaryPageOffset >= m.DataPageOffset {
		return m.DataPageOffset
	}
	return c.Meta.DictionaryPageOffset
}

// Open reads the footer of a file and checks what later reading relies on: row
// counts that add up, columns that lie within the file, value counts that fit the
// rows. The error is an [*ibid.Error] that names the file; [ErrCorrupt] is in the chain
// of one for a damaged file.
func Open(path string) (*File, error) {
	f := &File{Path: path}
	if err := f.openSource(); err != nil {
		return nil, FileError(path, err)
	}
	if err := f.read(); err != nil {
		f.file.Close() // opened for reading
		return nil, FileError(path, err)
	}
	return f, nil
}

// Footer reads the metadata of the Parquet file at path as its bytes. The error is as of
// [Open].
func Footer(path string) (b []byte, err error) {
	f := &File{Path: path}
	if err = f.openSource(); err == nil {
		defer f.Close()
		b, err = f.footerBytes()
	}
	return b, FileError(path, err)
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

// Object is the object that the file is, nil for a file of this machine.
func (f *File) Object() *objects.Object {
	o, _ := f.file.(object)
	return o.Object
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// read reads the footer and what follows from it.
func (f *File) read() (err error) {
	defer recovered(&err)
	b, err := f.footerBytes()
	if err != nil {
		return err
	}
	sealed, err := checkFooter(b)
	if err == nil {
		err = f.parseFooter(b)
	}
	switch {
	case err != nil:
		return err
	case f.own() && !sealed:
		return corrupt("the footer has lost its checksum")
	}
	if o := f.Object(); o != nil {
		var ranges [][2]int64
		for k := range f.footer.RowGroups {
			for i := range f.footer.RowGroups[k].Columns {
				c := f.chunk(k, i)
				ranges = append(ranges, [2]int64{c.start(), c.start() + c.Meta.TotalCompressedSize})
			}
		}
		o.Expect(ranges)
	}
	f.Root, err = schemaTree(f.footer.Schema)
	return err
}

// footerBytes reads the footer and says where the pages end.
func (f *File) footerBytes() ([]byte, error) {
	const magic, encryptedMagic, tail = "PAR1", "PARE", 8 // tail is the length of the footer, magic
	if f.Size == 0 {
		return nil, corrupt("0 bytes")
	}
	var first, last [tail]byte
	if _, err := f.file.ReadAt(first[:len(magic)], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if s := string(first[:len(magic)]); s != magic && s != encryptedMagic {
		return nil, ErrNotParquet
	}
	if f.Size < int64(len(magic))+tail {
		return nil, corrupt("%d bytes are too few", f.Size)
	}
	if _, err := f.file.ReadAt(last[:], f.Size-tail); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(last[:]))
	f.end = f.Size - tail - n
	switch end := string(last[4:]); {
	case end == encryptedMagic:
		return nil, errors.New("encrypted Parquet files are not supported")
	case end != magic:
		return nil, corrupt("the end of the file is missing")
	case f.end < int64(len(magic)):
		return nil, corrupt("footer of %d bytes in a file of %d", n, f.Size)
	case n > mostFooter:
		return nil, large("a footer of %d bytes; at most %d are read", n, mostFooter)
	}
	b := make([]byte, n)
	_, err := f.file.ReadAt(b, f.end)
	return b, err
}

// parseFooter decodes a footer and checks what later reading relies on.
func (f *File) parseFooter(b []byte) error {
	if _, ok := decodeStruct(b, &f.footer); !ok {
		return corrupt("unreadable footer")
	}
	var leaves []*format.SchemaElement
	for i := range f.footer.Schema {
		if e := &f.footer.Schema[i]; e.Type.Valid {
			leaves = append(leaves, e)
		}
	}
	var rows int64
	for i := range f.footer.RowGroups {
		g := &f.footer.RowGroups[i]
		if g.NumRows < 0 || g.NumRows > f.footer.NumRows-rows {
			return corrupt("row group %d has %d of %d rows", i, g.NumRows, f.footer.NumRows)
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
	if rows != f.footer.NumRows {
		return corrupt("row groups hold %d rows, the footer says %d", rows, f.footer.NumRows)
	}
	f.footer.ownTexts()
	f.Metadata = make(map[string]string, len(f.footer.Metadata))
	for _, kv := range f.footer.Metadata {
		f.Metadata[kv.Key] = kv.Value
	}
	if !f.own() {
		return nil
	}
	f.sum = f.Metadata[fileKey]
	err := f.addEmpty(f.Metadata[emptyKey], len(leaves))
	for _, key := range []string{fileKey, footerKey, emptyKey} {
		delete(f.Metadata, key)
	}
	return err
}

// ownTexts copies the texts of a decoded footer, which else keep all of its bytes in memory.
func (f *footer) ownTexts() {
	f.CreatedBy = strings.Clone(f.CreatedBy)
	for i := range f.Schema {
		f.Schema[i].Name = strings.Clone(f.Schema[i].Name)
	}
	for i := range f.Metadata {
		kv := &f.Metadata[i]
		kv.Key, kv.Value = strings.Clone(kv.Key), strings.Clone(kv.Value)
	}
	for i := range f.RowGroups {
		for j := range f.RowGroups[i].Columns {
			s := &f.RowGroups[i].Columns[j].Meta.Statistics
			s.MinValue, s.MaxValue = bytes.Clone(s.MinValue), bytes.Clone(s.MaxValue)
		}
	}
}

// check compares a chunk with the type of its column, the rows of its group and the size
// of the file.
func (c *columnChunk) check(t format.Type, rows, size int64) error {
	const magic = 4 // bytes
	start, m := c.start(), &c.Meta
	switch {
	case c.FilePath != "":
		return errors.New("data in another file is not supported")
	case m.Type != t:
		return corrupt("%s values in a column of %s", m.Type, t)
	case m.NumValues < rows:
		return corrupt("%d values in %d rows", m.NumValues, rows)
	case m.NumValues == 0:
		return nil
	case start < magic || m.TotalCompressedSize < 0 || start > size || m.TotalCompressedSize > size-start:
		return corrupt("data at [%d, %d+%d) of %d bytes", start, start, m.TotalCompressedSize, size)
	}
	return nil
}

// addEmpty puts the row groups without rows, which the writer leaves out, where they were.
func (f *File) addEmpty(list string, columns int) error {
	if list == "" {
		return nil
	}
	var all []rowGroup
	there := f.footer.RowGroups
	for text := range strings.SplitSeq(list, ",") {
		k, err := strconv.Atoi(text)
		before := k - len(all)
		if err != nil || before < 0 || before > len(there) {
			return corrupt("empty row groups %s", list)
		}
		all = append(append(all, there[:before]...), rowGroup{Columns: make([]columnChunk, columns)})
		there = there[before:]
	}
	f.footer.RowGroups = append(all, there...)
	return nil
}

// chunk is a column of a row group.
func (f *File) chunk(group, column int) *columnChunk {
	return &f.footer.RowGroups[group].Columns[column]
}

// Rows is the number of rows.
func (f *File) Rows() int64 { return f.footer.NumRows }

// RowGroups is the number of row groups.
func (f *File) RowGroups() int { return len(f.footer.RowGroups) }

// GroupRows is the number of rows of row group k, which may be 0.
func (f *File) GroupRows(k int) int { return int(f.footer.RowGroups[k].NumRows) }

// Starts are the rows where reading can begin without looking at others: the first of each
// row group.
func (f *File) Starts() (rows []int64) {
	at := int64(0)
	for k := range f.RowGroups() {
		if n := f.GroupRows(k); n > 0 {
			rows = append(rows, at)
			at += int64(n)
		}
	}
	return rows
}

// Entries is the number of entries of a leaf in all row groups, as the footer says.
func (f *File) Entries(column int) (n int64) {
	for k := range f.RowGroups() {
		n += f.chunk(k, column).Meta.NumValues
	}
	return n
}

// CheckCodec returns an error if some row group has the leaf in a compression that
// cannot be read.
func (f *File) CheckCodec(column int) (err error) {
	for k := 0; k < f.RowGroups() && err == nil; k++ {
		err = checkCodec(f.chunk(k, column).Meta.Codec)
	}
	return err
}

// Unchecked is how many bytes a column has in pages without checksums, as far as the
// first page of each row group tells.
func (f *File) Unchecked(column int) (bytes int64, err error) {
	var r pageReader
	for k := 0; k < f.RowGroups() && !f.own(); k++ {
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
