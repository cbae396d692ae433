package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"ibid"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
)

// An index of documents is a file with their texts one after the other, behind them what is
// known of each, and behind that its length and checksum. Many processes read their texts
// from it, and the system keeps one copy of them in memory. A text that is read whole, as for
// a judge, is compared with its checksum; one of which only a stretch is read is not.
const (
	indexMagic = "IBIDDOC1" // at both ends
	indexTail  = 8 + 4 + len(indexMagic)
)

// An indexedDocument is a document of an index.
type indexedDocument struct {
	Name, File          string
	Row                 int64
	TextAt, PagesAt     int64
	TextLen, PagesLen   int
	Sum                 uint32
	Length              int32
	HasText, Apart      bool
	HasPages, HasBlocks bool
	Pages, Blocks       [][2]int32
}

func pairsOf(s []stretch) [][2]int32 {
	out := make([][2]int32, len(s))
	for i := range s {
		out[i] = [2]int32{s[i].start, s[i].end}
	}
	return out
}

func stretchesOf(s [][2]int32) []stretch {
	if len(s) == 0 {
		return nil
	}
	out := make([]stretch, len(s))
	for i := range s {
		out[i] = stretch{s[i][0], s[i][1]}
	}
	return out
}

// WriteIndex writes the documents as a file for [OpenIndex].
func (d *Documents) WriteIndex(path string) error {
	names := make([]string, len(d.docs))
	for name, n := range d.numbers {
		names[n] = name
	}
	return WriteFile(path, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		at := int64(0)
		put := func(s string) (from int64) {
			from = at
			n, _ := out.WriteString(s) // Flush has the error
			at += int64(n)
			return from
		}
		put(indexMagic)
		list := make([]indexedDocument, len(d.docs))
		for i := range d.docs {
			doc := &d.docs[i]
			t, err := d.load(doc)
			if err != nil {
				return err
			}
			list[i] = indexedDocument{
				Name: names[i], File: doc.file, Row: doc.row, TextAt: put(t.text), PagesAt: put(t.pages), TextLen: doc.textLen, PagesLen: doc.pagesLen, Sum: t.sum(),
				Length: doc.length, HasText: doc.hasText, Apart: doc.apart, HasPages: doc.hasPages, HasBlocks: doc.hasBlocks, Pages: pairsOf(doc.pages), Blocks: pairsOf(doc.blocks),
			}
		}
		var known bytes.Buffer
		if err := gob.NewEncoder(&known).Encode(list); err != nil {
			return err
		}
		tail := binary.LittleEndian.AppendUint64(nil, uint64(known.Len()))
		tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(known.Bytes(), castagnoli))
		put(known.String())
		put(string(tail) + indexMagic)
		return out.Flush()
	})
}

var errDamagedIndex = errors.New("a damaged index of documents")

// sum is the checksum of a document in an index.
func (t *texts) sum() uint32 {
	return crc32.Update(crc32.Checksum([]byte(t.text), castagnoli), castagnoli, []byte(t.pages))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// IsIndex reports whether a file begins as an index of documents.
func IsIndex(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(indexMagic))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == indexMagic
}

// OpenIndex opens the documents of an index: their names and bounds are in memory, their
// texts are read from the file. Damage of what is in memory is an [*ibid.Error].
func OpenIndex(path string) (*Documents, error) {
	f, err := disk.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	d, err := readIndex(f)
	if err != nil {
		f.Close()
		return nil, &ibid.Error{File: path, Err: err, Hint: "make it again: ibid documents index DOCUMENTS -o FILE"}
	}
	return d, nil
}

func readIndex(f *disk.File) (*Documents, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	end := info.Size() - int64(indexTail)
	tail := make([]byte, indexTail)
	if end < int64(len(indexMagic)) {
		return nil, errDamagedIndex
	}
	if _, err := f.ReadAt(tail, end); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(tail)
	if string(tail[12:]) != indexMagic || length > uint64(end)-uint64(len(indexMagic)) {
		return nil, errDamagedIndex
	}
	texts := end - int64(length)
	known := make([]byte, length)
	if _, err := f.ReadAt(known, texts); err != nil {
		return nil, err
	}
	if crc32.Checksum(known, castagnoli) != binary.LittleEndian.Uint32(tail[8:]) {
		return nil, errDamagedIndex
	}
	var list []indexedDocument
	if err := gob.NewDecoder(bytes.NewReader(known)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamagedIndex, err)
	}
	d := &Documents{numbers: make(map[string]int32, len(list)), docs: make([]document, len(list)), texts: blob{file: f, size: texts}, indexed: true}
	for i := range list {
		x := &list[i]
		d.numbers[x.Name] = int32(i)
		d.docs[i] = document{
			layout: layout{hasText: x.HasText, length: x.Length, hasPages: x.HasPages, apart: x.Apart, pages: stretchesOf(x.Pages), hasBlocks: x.HasBlocks, blocks: stretchesOf(x.Blocks)},
			file:   x.File, row: x.Row, textAt: x.TextAt, pagesAt: x.PagesAt, textLen: x.TextLen, pagesLen: x.PagesLen, sum: x.Sum,
		}
	}
	return d, nil
}

// Names are the names of the documents for [Source.Normalize], see [DocumentSource.Names].
func (d *Documents) Names() (*DocumentNames, error) {
	n := &DocumentNames{own: make(map[string]string)}
	for name := range d.numbers {
		if err := n.add(name); err != nil {
			return nil, err
		}
	}
	return n, nil
}
