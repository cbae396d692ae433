package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"ibid"
)

// What a file of this package says of itself in its metadata. Pages have checksums by
// the format; these cover the rest, so that no changed bit goes unseen. The digest of
// the footer is that of the file, since it covers the pages through their checksums.
const (
	pagesKey  = "ibid.pages"  // of each row group the CRC-32 of its page headers and filters, in 8 hex digits
	footerKey = "ibid.footer" // the CRC-32 of the footer, in which these 8 digits are 0
)

const noSum = "00000000"

// Versions of the writer, as created_by. Spark wants "NAME version NUMBER". Files of
// version 2 have no filters, those of version 1 have checksums of their pages only.
const (
	createdBy      = "ibid version 3"
	createdEarlier = "ibid version 2"
	createdBefore  = "ibid version 1"
	sumLength      = len(noSum)
	footerSumBegin = footerKey + "\x18\x08" // a text of 8 bytes follows in the compact protocol
)

// sealFooter puts the checksum of a footer into it.
func sealFooter(footer []byte) {
	at := bytes.LastIndex(footer, []byte(footerSumBegin+noSum)) + len(footerSumBegin)
	copy(footer[at:], fmt.Sprintf("%08x", crc32.ChecksumIEEE(footer)))
}

// checkFooter compares a footer with the checksum in it, if it has one.
func checkFooter(footer []byte) (sealed bool, err error) {
	at := bytes.LastIndex(footer, []byte(footerSumBegin))
	if at < 0 || len(footer) < at+len(footerSumBegin)+sumLength {
		return false, nil
	}
	at += len(footerSumBegin)
	said := string(footer[at : at+sumLength])
	sum := crc32.ChecksumIEEE(footer[:at])
	sum = crc32.Update(sum, crc32.IEEETable, []byte(noSum))
	sum = crc32.Update(sum, crc32.IEEETable, footer[at+sumLength:])
	if said != fmt.Sprintf("%08x", sum) {
		return true, corrupt("the footer's checksum does not match")
	}
	return true, nil
}

// own reports whether this package wrote the file with a checksum of every page.
func (f *File) own() bool {
	return f.meta.CreatedBy == createdBy || f.meta.CreatedBy == createdEarlier
}

// pageSum is the checksum of the page headers of row group k, as the file says it or, if
// it is of version 1, as they are.
func (f *ResultFile) pageSum(k int) (uint32, error) {
	if !f.file.own() {
		return f.verifyGroup(k)
	}
	said := f.file.Metadata(pagesKey)
	if len(said) < (k+1)*sumLength {
		return 0, corrupt("row group %d has no checksum", k)
	}
	sum, err := strconv.ParseUint(said[k*sumLength:(k+1)*sumLength], 16, 32)
	if err != nil {
		return 0, corrupt("row group %d has no checksum", k)
	}
	return uint32(sum), nil
}

// Verify reads the whole file and compares it with its checksums. Nothing is decoded.
func (f *ResultFile) Verify() error {
	for k := range f.RowGroups() {
		want, err := f.pageSum(k)
		if err == nil && f.file.own() {
			var sum uint32
			if sum, err = f.verifyGroup(k); err == nil && sum != want {
				err = corrupt("checksum of page headers does not match")
			}
		}
		if err != nil {
			return hinted(&ibid.Error{File: f.file.Path, Err: fmt.Errorf("row group %d: %w", k, err)})
		}
	}
	return nil
}

// verifyGroup compares the pages of row group k with their checksums and returns that of
// their headers.
func (f *ResultFile) verifyGroup(k int) (sum uint32, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
	}()
	var r pageReader
	var h format.PageHeader
	for i := range f.leaves {
		if err := r.start(f.file, k, i); err != nil {
			return 0, err
		}
		for r.strict = true; r.left() > 0; {
			if err := r.nextHeader(&h); err != nil {
				return 0, err
			}
			sum = crc32.Update(sum, crc32.IEEETable, r.header)
			if _, err := r.stored(&h); err != nil {
				return 0, err
			}
		}
	}
	return f.filterSum(k, sum)
}

// damagedHint is what to do about a damaged file of this package.
const damagedHint = "the file was damaged after it was written: restore it from a copy, or make it again, a run with ibid run … --fresh"

// hinted says in the error about a damaged file of this package what to do.
func hinted(err error) error {
	var e *ibid.Error
	if errors.Is(err, ErrCorrupt) && errors.As(err, &e) {
		e.Hint = damagedHint
	}
	return err
}

// pageSums are the checksums of row groups as the metadata has them.
func pageSums(sums []uint32) string {
	b := make([]byte, 0, len(sums)*sumLength)
	for _, sum := range sums {
		b = fmt.Appendf(b, "%08x", sum)
	}
	return string(b)
}

// isOwnKey reports whether a key of the metadata is one of this package.
func isOwnKey(key string) bool {
	return slices.Contains([]string{pagesKey, footerKey}, key)
}
