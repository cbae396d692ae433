package dataset

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// oldDictionary is PLAIN_DICTIONARY, which version 1 of the format wrote where
// PLAIN and RLE_DICTIONARY are written now.
const oldDictionary format.Encoding = 2

// A dictionary holds the values that the codes of a chunk stand for. Its texts
// outlive it: they share memory that is never used again.
type dictionary struct {
	size    int
	texts   []string
	invalid bool // some text is not UTF-8
	ints    []int64
	floats  []float64

	buf []byte // decompressed integers and doubles
}

// loadDictionary decodes a dictionary page.
func (c *chunkReader) loadDictionary(h *inputHeader, body []byte) error {
	if h.encoding != format.Plain && h.encoding != oldDictionary {
		return corrupt("dictionary in encoding %s", h.encoding)
	}
	d := &c.dictionary
	text := c.leaf.kind == textValue && !c.leaf.null
	if c.meta.Codec != format.Uncompressed {
		buf := d.buf
		if text {
			buf = nil
		}
		var err error
		if body, err = decompress(buf, body, c.meta.Codec, h.uncompressed); err != nil {
			return err
		}
		if !text {
			d.buf = body
		}
	} else if text {
		body = bytes.Clone(body)
	}
	c.hasDict, d.size = true, h.values
	switch {
	case c.leaf.null:
		return nil
	case text:
		return d.loadTexts(h.values, body)
	case c.leaf.kind == floatValue:
		// A count that the body cannot hold must not set memory aside.
		if h.values > len(body) {
			return corrupt("dictionary of %d values in %d bytes", h.values, len(body))
		}
		var err error
		d.floats, err = decodeFloats(d.floats, &d.ints, h.values, body, c.leaf, format.Plain)
		return err
	default:
		if h.values > len(body) {
			return corrupt("dictionary of %d values in %d bytes", h.values, len(body))
		}
		var err error
		d.ints, err = decodeInts(d.ints, h.values, body, c.leaf, format.Plain)
		return err
	}
}

func (d *dictionary) loadTexts(n int, body []byte) error {
	if n > len(body)/4 {
		return corrupt("dictionary of %d strings in %d bytes", n, len(body))
	}
	d.texts = slices.Grow(d.texts[:0], n)[:n]
	d.invalid = false
	for i := range d.texts {
		if len(body) < 4 {
			return corrupt("dictionary ends too early")
		}
		length := binary.LittleEndian.Uint32(body)
		body = body[4:]
		if uint64(length) > uint64(len(body)) {
			return corrupt("dictionary ends too early")
		}
		d.texts[i] = unsafe.String(unsafe.SliceData(body), int(length))
		d.invalid = d.invalid || !utf8.ValidString(d.texts[i])
		body = body[length:]
	}
	return nil
}
