package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"ibid"
)

// What a file of this package says of itself in its metadata, beside the checksums that
// pages have by the format, so that no changed bit goes unseen. The digest of the footer
// is that of the file.
const (
	fileKey   = "ibid.file"   // the CRC-32 of all that is before the footer, in 8 hex digits
	footerKey = "ibid.footer" // the CRC-32 of the footer, in which these 8 digits are 0
	emptyKey  = "ibid.empty"  // numbers of the row groups without rows, which are not in the file

	noSum    = "00000000"
	sumBegin = "\x18\x08" // a text of 8 bytes follows its key in the compact protocol
)

// createdBy names this version of the writer. Spark wants "NAME version NUMBER".
const createdBy = "ibid version 4"

// An output passes on the bytes of a file. Its tail, which is what the writer adds after
// the pages, is held until it has its checksums.
type output struct {
	w    io.Writer
	buf  []byte
	sum  uint32 // of what was passed on
	tail bool
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	if o.buf = append(o.buf, b...); !o.tail && len(o.buf) >= flushBytes {
		return len(b), o.flush()
	}
	return len(b), nil
}

func (o *output) flush() error {
	o.sum = crc32.Update(o.sum, crc32.IEEETable, o.buf)
	_, err := o.w.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// seal puts the checksums into the footer, with which the buffer ends, and passes all on.
func (o *output) seal() error {
	end := len(o.buf) - 8
	footer := o.buf[end-int(binary.LittleEndian.Uint32(o.buf[end:])) : end]
	before := o.buf[:end-len(footer)]
	copy(sumIn(footer, fileKey), fmt.Sprintf("%08x", crc32.Update(o.sum, crc32.IEEETable, before)))
	copy(sumIn(footer, footerKey), fmt.Sprintf("%08x", crc32.ChecksumIEEE(footer)))
	return o.flush()
}

// sumIn is the checksum of that key in a footer, nil if there is none.
func sumIn(footer []byte, key string) []byte {
	at := bytes.LastIndex(footer, []byte(key+sumBegin))
	if at += len(key) + len(sumBegin); at < len(key)+len(sumBegin) || len(footer)-at < len(noSum) {
		return nil
	}
	return footer[at : at+len(noSum)]
}

// checkFooter compares a footer with the checksum in it, if it has one.
func checkFooter(footer []byte) (sealed bool, err error) {
	sum := sumIn(footer, footerKey)
	if sum == nil {
		return false, nil
	}
	said := string(sum)
	copy(sum, noSum)
	is := fmt.Sprintf("%08x", crc32.ChecksumIEEE(footer))
	if copy(sum, said); is != said {
		return true, corrupt("the footer's checksum does not match")
	}
	return true, nil
}

// own reports whether this package wrote the file.
func (f *File) own() bool { return f.footer.CreatedBy == createdBy }

// Verify reads the whole file and compares it with its checksum. Nothing is decoded.
func (f *ResultFile) Verify() error {
	sum := crc32.NewIEEE()
	_, err := io.Copy(sum, io.NewSectionReader(f.file, 0, f.end))
	if err == nil && f.sum != fmt.Sprintf("%08x", sum.Sum32()) {
		err = corrupt("the file's checksum does not match")
	}
	if err != nil {
		return hinted(&ibid.Error{File: f.Path, Err: err})
	}
	return nil
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
