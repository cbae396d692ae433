package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// A chunkReader reads the entries of one leaf in one row group, page by page.
// An entry is a value or what stands for its absence: a null, an empty list.
// Its buffers serve one row group after the other.
type chunkReader struct {
	file io.ReaderAt
	leaf *boundLeaf
	meta *format.ColumnMetaData

	offset     int64 // in the file, of what follows the window
	bytesLeft  int64 // from offset to the end of the chunk
	valuesLeft int64 // entries in pages not yet loaded
	window     []byte
	at         int // of the window: the next page

	dictionary dictionary
	hasDict    bool

	page inputPage
}

// inputPage is one page with its levels decoded and its values in the form in
// which they are cheapest to take.
type inputPage struct {
	rep, code []byte
	next      int // entries taken

	coded  bool // values are in codes, of the dictionary
	codes  []int32
	raw    []byte // integers as in the page, if not nil; else they are in ints
	ints   []int64
	floats []float64
	plain  []byte // texts, each after its length
	ascii  bool   // no byte of plain is above 127
	value  int    // values taken; of plain, bytes

	buf, joined []byte // memory of plain
}

// start begins with a new chunk.
func (c *chunkReader) start(file io.ReaderAt, leaf *boundLeaf, meta *format.ColumnMetaData) {
	c.file, c.leaf, c.meta = file, leaf, meta
	c.offset, c.bytesLeft, c.valuesLeft = chunkStart(meta), meta.TotalCompressedSize, meta.NumValues
	c.window, c.at, c.hasDict = c.window[:0], 0, false
	c.page.rep, c.page.code, c.page.next = c.page.rep[:0], c.page.code[:0], 0
}

// done reports whether all entries have been taken.
func (c *chunkReader) done() bool { return c.valuesLeft == 0 && c.page.next == len(c.page.code) }

// need makes at least n bytes available from c.at on; it is an error if the
// chunk has fewer.
func (c *chunkReader) need(n int) error {
	have := len(c.window) - c.at
	if have >= n {
		return nil
	}
	if int64(n-have) > c.bytesLeft {
		return corrupt("a page goes past the end of its column")
	}
	size := max(n, 64<<10)
	if cap(c.window) < size+pagePadding {
		w := make([]byte, have, size+pagePadding)
		copy(w, c.window[c.at:])
		c.window = w
	} else {
		c.window = c.window[:copy(c.window[:have], c.window[c.at:])]
	}
	c.at = 0
	more := int(min(int64(size-have), c.bytesLeft))
	k, err := c.file.ReadAt(c.window[have:have+more], c.offset)
	if k < more {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	c.window = c.window[:have+more]
	c.offset += int64(more)
	c.bytesLeft -= int64(more)
	return nil
}

// header reads the next page header. Its length is not known before.
func (c *chunkReader) header() (inputHeader, error) {
	const limit = 16 << 20
	for n := 512; ; n *= 4 {
		left := int64(len(c.window)-c.at) + c.bytesLeft
		n = int(min(int64(n), left))
		if err := c.need(n); err != nil {
			return inputHeader{}, err
		}
		h, length, ok := parseInputHeader(c.window[c.at:])
		if ok {
			c.at += length
			return h, h.check(c.meta, int64(len(c.window)-c.at)+c.bytesLeft, c.valuesLeft)
		}
		if int64(n) == left || n > limit {
			return inputHeader{}, corrupt("unreadable page header")
		}
	}
}

// load loads the next page that has entries.
func (c *chunkReader) load() error {
	for {
		h, err := c.header()
		if err != nil {
			return err
		}
		if err := c.need(h.compressed); err != nil {
			return err
		}
		body := c.window[c.at : c.at+h.compressed]
		c.at += h.compressed
		switch h.kind {
		case format.DictionaryPage, format.DataPage, format.DataPageV2:
		default: // an index page
			continue
		}
		if err := h.checksum(body); err != nil {
			return err
		}
		if h.kind == format.DictionaryPage {
			if c.hasDict {
				return corrupt("second dictionary in a column")
			}
			if err := c.loadDictionary(&h, body); err != nil {
				return err
			}
			continue
		}
		if h.values == 0 {
			continue
		}
		c.valuesLeft -= int64(h.values)
		return c.loadData(&h, body)
	}
}

// loadData decodes the levels and values of a data page.
func (c *chunkReader) loadData(h *inputHeader, body []byte) (err error) {
	p := &c.page
	p.rep = resizeLevels(p.rep, h.values, c.leaf.rep > 0)
	p.code = resizeLevels(p.code, h.values, true)
	p.next, p.value = 0, 0
	if h.kind == format.DataPageV2 {
		body, err = c.levelsV2(h, body)
	} else {
		body, err = c.levelsV1(h, body)
	}
	if err != nil {
		return err
	}
	n, err := c.translate()
	if err != nil || c.leaf.null || n == 0 {
		return err
	}
	return c.loadValues(h.encoding, n, body)
}

func (c *chunkReader) levelsV1(h *inputHeader, body []byte) ([]byte, error) {
	var err error
	if c.meta.Codec != format.Uncompressed {
		if body, err = decompress(c.page.buf, body, c.meta.Codec, h.uncompressed); err != nil {
			return nil, err
		}
		c.page.buf = body
	}
	if c.leaf.rep > 0 {
		if body, err = levelsV1(c.page.rep, body, c.leaf.rep, h.repEncoding); err != nil {
			return nil, err
		}
	}
	if c.leaf.def > 0 {
		return levelsV1(c.page.code, body, c.leaf.def, h.defEncoding)
	}
	return body, nil
}

// levelsV1 decodes levels that follow their length and returns the rest.
func levelsV1(dst, body []byte, highest int, encoding format.Encoding) ([]byte, error) {
	if encoding != format.RLE {
		return nil, corrupt("encoding %s of levels", encoding)
	}
	if len(body) < 4 {
		return nil, corrupt("page ends too early")
	}
	n := binary.LittleEndian.Uint32(body)
	body = body[4:]
	if uint64(n) > uint64(len(body)) {
		return nil, corrupt("page ends too early")
	}
	return body[n:], decodeLevels(dst, body[:n], highest)
}

func (c *chunkReader) levelsV2(h *inputHeader, body []byte) ([]byte, error) {
	if c.leaf.rep > 0 {
		if err := decodeLevels(c.page.rep, body[:h.repBytes], c.leaf.rep); err != nil {
			return nil, err
		}
	}
	body = body[h.repBytes:]
	if c.leaf.def > 0 {
		if err := decodeLevels(c.page.code, body[:h.defBytes], c.leaf.def); err != nil {
			return nil, err
		}
	}
	body = body[h.defBytes:]
	if h.stored || c.meta.Codec == format.Uncompressed {
		return body, nil
	}
	body, err := decompress(c.page.buf, body, c.meta.Codec, h.uncompressed-h.repBytes-h.defBytes)
	if err == nil {
		c.page.buf = body
	}
	return body, err
}

// translate turns definition levels into codes and counts the values.
func (c *chunkReader) translate() (int, error) {
	p := &c.page
	if c.leaf.def == 0 {
		fill(p.code, c.leaf.present)
		return len(p.code), nil
	}
	c.leaf.translate(p.code)
	return bytes.Count(p.code, []byte{c.leaf.present}), nil
}

// loadValues decodes the n values of a page.
func (c *chunkReader) loadValues(encoding format.Encoding, n int, body []byte) (err error) {
	p := &c.page
	p.coded = encoding == format.RLEDictionary || encoding == oldDictionary
	if p.coded {
		if !c.hasDict {
			return corrupt("dictionary codes without a dictionary")
		}
		p.codes = slices.Grow(p.codes[:0], n)[:n]
		return decodeCodes(p.codes, body, c.dictionary.size)
	}
	switch c.leaf.kind {
	case textValue:
		p.plain, err = plainTexts(p.joined, n, body, encoding)
		if encoding != format.Plain && err == nil {
			p.joined = p.plain
		}
		p.ascii = isASCII(p.plain)
	case floatValue:
		p.floats, err = decodeFloats(p.floats, &p.ints, n, body, c.leaf, encoding)
	default:
		if p.raw = nil; encoding == format.Plain {
			if p.raw = body; len(body)/c.leaf.width() < n {
				return corrupt("page ends too early")
			}
			return nil
		}
		p.ints, err = decodeInts(p.ints, n, body, c.leaf, encoding)
	}
	return err
}

// resizeLevels returns b with length n if wanted, else with length 0.
func resizeLevels(b []byte, n int, wanted bool) []byte {
	if !wanted {
		return b[:0]
	}
	return slices.Grow(b[:0], n)[:n]
}

// isASCII reports whether no byte of b is above 127.
func isASCII(b []byte) bool {
	for len(b) >= 32 {
		x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if x&0x8080808080808080 != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
