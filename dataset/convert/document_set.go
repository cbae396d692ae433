package convert

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unsafe"

	"ibid"
	"ibid/dataset/disk"
	"ibid/metrics/token"
)

// A documentSet proves quotes of rows against documents that stand in lines of their
// own: before the rows, after them, or in another file. Quotes and documents are
// divided by the name of the document and wait in a spool until all files have been
// read. The documents of one part are then read one after the other, each once for
// heldQuotes of quotes, so that memory grows with neither.
type documentSet struct {
	spool     spool
	quotes    [setParts]stream
	documents [setParts]stream
	waiting   []waitingProof
	buffer    []byte
}

const (
	setParts   = 64
	heldQuotes = 16 << 20 // bytes of quotes in memory while they are proved
)

// A waitingProof is the proof of a file some of whose quotes wait.
type waitingProof struct {
	proof        *rowProof
	file, format string
}

// partOf is the part of a document, by its name.
func partOf(doc string) int { return int(maphash.String(rowSeed, doc) % setParts) }

// addDocument keeps what quotes are looked for in.
func (s *documentSet) addDocument(d *ibid.Document) error {
	if _, ok := textOf(d); !ok {
		return nil
	}
	b := appendText(s.buffer[:0], d.Doc)
	b = append(b, bit(d.HasText)|bit(d.HasPages)<<1|bit(d.HasBlocks)<<2)
	if d.HasPages {
		b = appendTexts(b, d.Pages)
	}
	if d.HasBlocks {
		b = appendTexts(b, d.Blocks)
	}
	// The text comes last: it may be long, and is not copied again.
	return s.write(&s.documents[partOf(d.Doc)], b, d.Text)
}

// addQuotes keeps the quotes of a row from one document. proof is their file's.
func (s *documentSet) addQuotes(proof int, doc string, quotes []rowQuote) error {
	b := appendText(s.buffer[:0], doc)
	b = binary.AppendUvarint(b, uint64(proof))
	b = binary.AppendUvarint(b, uint64(len(quotes)))
	for i := range quotes {
		q := &quotes[i].quote
		b = binary.AppendVarint(b, q.start)
		b = binary.AppendVarint(b, q.end)
		b = append(b, byte(q.unit))
		b = binary.AppendVarint(b, quotes[i].page)
		b = appendText(b, q.text)
	}
	return s.write(&s.quotes[partOf(doc)], b, "")
}

// write appends a record, which ends with a text, to a stream, its length before it.
func (s *documentSet) write(to *stream, record []byte, text string) error {
	s.buffer = record
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(record)+len(text)))
	return errors.Join(
		to.write(&s.spool, length[:n]),
		to.write(&s.spool, record),
		to.write(&s.spool, unsafe.Slice(unsafe.StringData(text), len(text))),
	)
}

// prove proves the quotes that waited, and settles the proofs of their files.
func (s *documentSet) prove(ctx context.Context, r *run) error {
	for part := range s.quotes {
		quotes := s.quotes[part].reader(&s.spool)
		for {
			held, err := s.holdQuotes(quotes)
			if err != nil {
				return err
			}
			if len(held) == 0 {
				break
			}
			if err := s.provePart(ctx, part, held); err != nil {
				return err
			}
		}
	}
	for _, w := range s.waiting {
		r.format = w.format
		r.settleFile(&w.proof.proof, w.file)
	}
	return nil
}

// holdQuotes reads records of quotes, by document, until there are enough in memory.
func (s *documentSet) holdQuotes(from *bufio.Reader) (held map[string][]*decoder, err error) {
	for size := 0; size < heldQuotes; {
		record, err := nextRecord(from, nil, nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if held == nil {
			held = map[string][]*decoder{}
		}
		d := &decoder{unsafe.String(&record[0], len(record))}
		name := d.text()
		held[name] = append(held[name], d)
		size += len(record) + 100 // and what the map has of it
	}
	return held, nil
}

// provePart proves quotes against the documents of their part. What is left has no
// document.
func (s *documentSet) provePart(ctx context.Context, part int, held map[string][]*decoder) error {
	documents := s.documents[part].reader(&s.spool)
	wanted := func(name []byte) bool { return held[string(name)] != nil }
	var buffer []byte
	for len(held) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := nextRecord(documents, buffer, wanted)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if record == nil {
			continue
		}
		buffer = record[:0]
		in := decoder{unsafe.String(&record[0], len(record))} // until the next one
		d := in.document()
		text, _ := textOf(&d)
		searched := newSearched(token.NewText(text))
		for _, q := range held[d.Doc] {
			w, quotes := s.quotesOf(q)
			w.proof.test(&d, searched, quotes)
		}
		delete(held, d.Doc)
	}
	for _, records := range held {
		for _, q := range records {
			w, quotes := s.quotesOf(q)
			w.proof.unproved += int64(len(quotes))
		}
	}
	return nil
}

// quotesOf reads what follows the document in a record of quotes.
func (s *documentSet) quotesOf(d *decoder) (*waitingProof, []rowQuote) {
	of := &s.waiting[d.uvarint()]
	quotes := make([]rowQuote, d.uvarint())
	for i := range quotes {
		q := &quotes[i].quote
		q.start, q.end = d.varint(), d.varint()
		q.unit = fixedUnit(d.byte())
		quotes[i].page = d.varint()
		q.text = d.text()
	}
	return of, quotes
}

func bit(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// A decoder reads a record of the set, which it was written to in this process.
type decoder struct{ rest string }

func (d *decoder) uvarint() uint64 {
	var n uint64
	for shift := 0; ; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) byte() byte {
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) text() string {
	n := d.uvarint()
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) texts() []string {
	list := make([]string, d.uvarint())
	for i := range list {
		list[i] = d.text()
	}
	return list
}

func (d *decoder) document() (out ibid.Document) {
	out.Doc = d.text()
	has := d.byte()
	if out.HasPages = has&2 != 0; out.HasPages {
		out.Pages = d.texts()
	}
	if out.HasBlocks = has&4 != 0; out.HasBlocks {
		out.Blocks = d.texts()
	}
	out.Text, out.HasText = d.rest, has&1 != 0
	return out
}

// nextRecord reads a record into buffer or, if that is too small, into a larger one.
// One whose first text is not wanted is passed over, and nil; a nil wanted wants all.
func nextRecord(from *bufio.Reader, buffer []byte, wanted func(name []byte) bool) ([]byte, error) {
	length, err := binary.ReadUvarint(from)
	if err != nil {
		return nil, err
	}
	if wanted != nil {
		start, err := from.Peek(int(min(length, setBuffer)))
		if err != nil {
			return nil, err
		}
		if n, size := binary.Uvarint(start); size > 0 && n <= uint64(len(start)-size) && !wanted(start[size:size+int(n)]) {
			_, err := from.Discard(int(length))
			return nil, err
		}
	}
	record := slices.Grow(buffer, int(length))[:length]
	_, err = io.ReadFull(from, record)
	return record, err
}

// A spool is a temporary file without a name.
type spool struct {
	file *disk.File // nil while it is empty
	size int64
}

// Write appends to the file.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil {
		f, err := disk.Nameless("")
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	n, err := s.file.WriteAt(p, s.size)
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("temporary file: %w", err)
	}
	return n, nil
}

// reader reads what has been written so far.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

func (s *spool) close() {
	if s.file != nil {
		s.file.Close() // nobody needs its content any more
	}
}

// setBuffer is how much of a stream is in memory.
const setBuffer = 32 << 10

// A stream is bytes one after the other, in blocks of a spool that it shares with
// others. A short one is in memory only.
type stream struct {
	blocks []int64 // where each begins in the spool; all are setBuffer long
	tail   []byte
}

func (s *stream) write(to *spool, p []byte) error {
	for len(p) > 0 {
		n := min(len(p), setBuffer-len(s.tail))
		s.tail = append(s.tail, p[:n]...)
		p = p[n:]
		if len(s.tail) < setBuffer {
			return nil
		}
		s.blocks = append(s.blocks, to.size)
		if _, err := to.Write(s.tail); err != nil {
			return err
		}
		s.tail = s.tail[:0]
	}
	return nil
}

func (s *stream) reader(from *spool) *bufio.Reader {
	return bufio.NewReaderSize(io.MultiReader(&blockReader{from, s.blocks, 0}, strings.NewReader(string(s.tail))), setBuffer)
}

// A blockReader reads blocks of a spool.
type blockReader struct {
	spool  *spool
	blocks []int64
	read   int // of the first of blocks
}

func (b *blockReader) Read(p []byte) (int, error) {
	if len(b.blocks) == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), setBuffer-b.read)]
	n, err := b.spool.file.ReadAt(p, b.blocks[0]+int64(b.read))
	if b.read += n; b.read == setBuffer {
		b.blocks, b.read = b.blocks[1:], 0
	}
	return n, err
}
