package convert

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"
)

// FuzzBinaryEvents reads any bytes behind a right prelude: lines come out, and the end is reached.
func FuzzBinaryEvents(f *testing.F) {
	f.Add(uint32(16), uint32(0), []byte{})
	f.Add(uint32(0), uint32(0), []byte("{}"))
	f.Add(uint32(40), uint32(20), []byte("\x0b:event-type\x07\x00\x05chunk{\"bytes\":\"e30=\"}"))
	f.Add(uint32(1<<31), uint32(1<<30), []byte("\x00"))
	f.Fuzz(func(t *testing.T, length, headers uint32, rest []byte) {
		data := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, length), headers)
		data = append(binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data)), rest...)
		if n := int(length) - messageEnd; messagePrelude <= n && n+messageEnd <= len(data) {
			binary.BigEndian.PutUint32(data[n:], crc32.ChecksumIEEE(data[:n]))
		}
		out, err := io.ReadAll(&binaryEvents{in: bytes.NewReader(data), most: 1 << 20})
		if err != nil || len(out) > 0 && out[len(out)-1] != '\n' {
			t.Errorf("%q, %v", out, err)
		}
	})
}
