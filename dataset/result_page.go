package dataset

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/format"
)

// A pageDecoder turns the pages of one column chunk into values. It trusts
// nothing: a page has a checksum, but that does not make its content right.
type pageDecoder struct {
	leaf  *resultLeaf
	chunk *resultChunk
	out   *ColumnValues
}

// A pageHeader is what a page says of itself.
type pageHeader struct {
	typ       format.PageType
	raw, size int64 // bytes before and after compression
	crc       uint32
	values    int64
	encoding  format.Encoding
	hasCRC    bool
}

// A pageDictionary is a decoded dictionary page; only the slice of the leaf's
// type is used.
type pageDictionary struct {
	ints    []int64
	doubles []float64
	strings []string
	n       int
}

// decode decodes all pages of the chunk b.
func (d *pageDecoder) decode(b []byte) error {
	d.out.dict.n = 0
	left := d.chunk.values
	for len(b) > 0 {
		r := compactReader{b: b}
		h := readPageHeader(&r)
		if r.bad || h.size < 0 || h.size > int64(len(b)-r.at) {
			return corrupt("unreadable page header")
		}
		body := b[r.at : r.at+int(h.size)]
		b = b[r.at+int(h.size):]
		raw, err := d.unpack(&h, body)
		if err != nil {
			return err
		}
		if h.typ == format.DictionaryPage {
			if err := d.dictionary(raw, h.values); err != nil {
				return err
			}
			continue
		}
		if h.typ != format.DataPage || h.values < 0 || h.values > left {
			return corrupt("page of type %d with %d values", h.typ, h.values)
		}
		// A longer page than is written would make a lie of a few bytes cost
		// gigabytes of levels.
		if h.values > int64(max(pageValues, 8*len(raw))) {
			return corrupt("page of %d values in %d bytes", h.values, len(raw))
		}
		left -= h.values
		if err := d.page(raw, int(h.values), h.encoding); err != nil {
			return err
		}
	}
	if left != 0 {
		return corrupt("%d values are missing", left)
	}
	return nil
}

func readPageHeader(r *compactReader) pageHeader {
	var h pageHeader
	walkStruct(r, func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == compactI32:
			h.typ = format.PageType(r.varint())
		case id == 2 && typ == compactI32:
			h.raw = r.varint()
		case id == 3 && typ == compactI32:
			h.size = r.varint()
		case id == 4 && typ == compactI32:
			h.crc, h.hasCRC = uint32(r.varint()), true
		case (id == 5 || id == 7) && typ == compactStruct:
			walkStruct(r, func(id int16, typ byte) bool {
				switch {
				case id == 1 && typ == compactI32:
					h.values = r.varint()
				case id == 2 && typ == compactI32:
					h.encoding = format.Encoding(r.varint())
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	return h
}

// unpack checks and decompresses the body of a page.
func (d *pageDecoder) unpack(h *pageHeader, body []byte) ([]byte, error) {
	if !h.hasCRC || crc32.ChecksumIEEE(body) != h.crc {
		return nil, corrupt("wrong checksum of a page")
	}
	// Snappy cannot shrink by more than about 22: a page that says so lies, and
	// must not be believed when memory is allocated.
	n, err := s2.DecodedLen(body)
	if err != nil || int64(n) != h.raw || n > 64+32*len(body) {
		return nil, corrupt("page of %d bytes, %d after compression", h.raw, h.size)
	}
	d.out.raw = resize(d.out.raw, n)
	if _, err := s2.Decode(d.out.raw, body); err != nil {
		return nil, corrupt("page: %w", err)
	}
	return d.out.raw, nil
}

func (d *pageDecoder) dictionary(raw []byte, n int64) error {
	if n < 0 || n > int64(len(raw)) { // a value takes a byte at least
		return corrupt("dictionary of %d values in %d bytes", n, len(raw))
	}
	dict := &d.out.dict
	dict.n = int(n)
	var err error
	switch d.leaf.typ {
	case format.Double:
		dict.doubles, err = plainDoubles(dict.doubles[:0], raw, dict.n)
	case format.ByteArray:
		dict.strings, err = plainStrings(dict.strings[:0], raw, dict.n)
	default:
		dict.ints, err = plainInts(dict.ints[:0], raw, dict.n, d.leaf.typ)
	}
	return err
}

// page decodes one data page of n levels.
func (d *pageDecoder) page(raw []byte, n int, enc format.Encoding) error {
	if d.leaf.repeated {
		return d.listPage(raw, n, enc)
	}
	v := d.out
	at := len(v.Valid)
	if at+n > v.Rows {
		return corrupt("more than %d rows", v.Rows)
	}
	v.Valid = resizeKeep(v.Valid, at+n)
	valid, present := v.Valid[at:], n
	if d.leaf.maxDef == 0 {
		for i := range valid {
			valid[i] = true
		}
	} else {
		block, rest, err := levelBlock(raw)
		if err != nil {
			return err
		}
		if present, err = readPresence(valid, block); err != nil {
			return err
		}
		raw = rest
	}
	return d.values(raw, present, valid, enc)
}

// listPage is page for a repeated leaf.
func (d *pageDecoder) listPage(raw []byte, n int, enc format.Encoding) error {
	v, full := d.out, uint32(d.leaf.maxDef)
	var levels [2][]uint32
	for i, limit := range [2]uint32{1, full} {
		block, rest, err := levelBlock(raw)
		if err != nil {
			return err
		}
		v.levels[i] = resize(v.levels[i], n)
		levels[i] = v.levels[i]
		if err := readHybrid(levels[i], block, bitWidth(int(limit)+1), limit+1); err != nil {
			return err
		}
		raw = rest
	}
	present := 0
	for _, l := range levels[1] {
		if l == full {
			present++
		}
	}
	if err := d.addLists(levels[0], levels[1]); err != nil {
		return err
	}
	return d.values(raw, present, nil, enc)
}

// addLists extends Offsets and Valid by the lists of a page. A list does not
// cross pages.
func (d *pageDecoder) addLists(reps, defs []uint32) error {
	v, full := d.out, uint32(d.leaf.maxDef)
	at := v.Offsets[len(v.Offsets)-1]
	for i, rep := range reps {
		if rep == 0 {
			if len(v.Valid) == v.Rows {
				return corrupt("more than %d rows", v.Rows)
			}
			v.Valid = append(v.Valid, defs[i] > 0 || d.leaf.isRequired)
			v.Offsets = append(v.Offsets, at)
		} else if i == 0 || defs[i] != full || defs[i-1] != full {
			return corrupt("list without a beginning")
		}
		if defs[i] == full {
			if at == math.MaxInt32 {
				return corrupt("more than %d elements in a row group", math.MaxInt32)
			}
			at++
			v.Offsets[len(v.Offsets)-1] = at
		}
	}
	return nil
}

// values decodes the present values of a page into the output, with zeros where
// a scalar is not valid.
func (d *pageDecoder) values(raw []byte, present int, valid []bool, enc format.Encoding) error {
	var codes []uint32
	switch enc {
	case format.Plain, format.DeltaBinaryPacked:
	case format.RLEDictionary:
		if len(raw) == 0 || raw[0] > 32 {
			return corrupt("unreadable width of dictionary codes")
		}
		d.out.codes = resize(d.out.codes, present)
		codes = d.out.codes
		if err := readHybrid(codes, raw[1:], uint(raw[0]), uint32(d.out.dict.n)); err != nil {
			return err
		}
	default:
		return corrupt("encoding %v", enc)
	}
	v := d.out
	var err error
	switch d.leaf.typ {
	case format.Double:
		v.Doubles, err = addValues(v.Doubles, codes, v.dict.doubles, valid, present, func(dst []float64) ([]float64, error) {
			return plainDoubles(dst, raw, present)
		}, enc)
	case format.ByteArray:
		v.Strings, err = addValues(v.Strings, codes, v.dict.strings, valid, present, func(dst []string) ([]string, error) {
			return plainStrings(dst, raw, present)
		}, enc)
	default:
		v.Ints, err = addValues(v.Ints, codes, v.dict.ints, valid, present, func(dst []int64) ([]int64, error) {
			if enc == format.DeltaBinaryPacked {
				return deltaInts(dst, raw, present)
			}
			return plainInts(dst, raw, present, d.leaf.typ)
		}, enc)
	}
	return err
}

// levelBlock splits a block of levels off a page.
func levelBlock(raw []byte) (block, rest []byte, err error) {
	if len(raw) < 4 || uint64(binary.LittleEndian.Uint32(raw)) > uint64(len(raw)-4) {
		return nil, nil, corrupt("unreadable levels")
	}
	end := 4 + int(binary.LittleEndian.Uint32(raw))
	return raw[4:end], raw[end:], nil
}
