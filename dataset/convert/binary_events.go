package convert

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// binaryEvents reads the messages of application/vnd.amazon.eventstream, in which Amazon Bedrock
// streams, as JSON Lines: each message as an object of one member, its event type, as the SDKs give
// it. A message of InvokeModelWithResponseStream is what the model's own provider streams. What is
// damaged ends the stream with an event that says so; one that is cut short ends where it is cut.
//
// A message has its length, that of its headers, a checksum of both, headers, a payload, and a
// checksum of all before (CRC-32).
type binaryEvents struct {
	in   io.Reader
	most int // bytes of a message

	line  bytes.Buffer // of the last message, what of it has not been read
	count int          // of messages
}

const (
	messagePrelude = 12 // bytes before the headers
	messageEnd     = 4  // bytes behind the payload
)

func (b *binaryEvents) Read(p []byte) (int, error) {
	for b.line.Len() == 0 {
		if b.in == nil {
			return 0, io.EOF
		}
		b.count++
		kind, payload, err := b.message()
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			b.in = nil
			continue
		case err != nil:
			b.in, kind, payload = nil, "damagedException", jsonString(fmt.Sprintf("message %d: %v", b.count, err))
		}
		var chunk struct{ Bytes []byte }
		if kind == "chunk" && json.Unmarshal(payload, &chunk) == nil && chunk.Bytes != nil {
			b.line.Write(chunk.Bytes)
		} else {
			fmt.Fprintf(&b.line, "{%s:%s}", jsonString(kind), payload)
		}
		b.line.WriteByte('\n')
	}
	return b.line.Read(p)
}

// message reads the next message: its event type, or the type of its exception, and its payload.
func (b *binaryEvents) message() (kind string, payload []byte, err error) {
	var prelude [messagePrelude]byte
	if _, err := io.ReadFull(b.in, prelude[:]); err != nil {
		return "", nil, err
	}
	length, headers := int(binary.BigEndian.Uint32(prelude[:])), int(binary.BigEndian.Uint32(prelude[4:]))
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return "", nil, errChecksum
	case length > b.most:
		return "", nil, fmt.Errorf("over %d bytes (--limits)", b.most)
	case headers > length-messagePrelude-messageEnd:
		return "", nil, errHeaders
	}
	rest := make([]byte, length-messagePrelude)
	if _, err := io.ReadFull(b.in, rest); err != nil {
		return "", nil, io.ErrUnexpectedEOF
	}
	end := len(rest) - messageEnd
	sum := crc32.Update(crc32.ChecksumIEEE(prelude[:]), crc32.IEEETable, rest[:end])
	if sum != binary.BigEndian.Uint32(rest[end:]) {
		return "", nil, errChecksum
	}
	kind, err = messageKind(rest[:headers])
	return kind, rest[headers:end], err
}

var (
	errChecksum = errors.New("the checksum is wrong")
	errHeaders  = errors.New("the headers are wrong")
)

// headerBytes is how long values of headers are, by their type; a type that is not here has its
// length before it.
var headerBytes = map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// messageKind is the header :event-type of a message, or :exception-type with Exception at the end.
func messageKind(headers []byte) (kind string, err error) {
	for len(headers) > 0 {
		name := int(headers[0])
		if len(headers) < name+2 {
			return "", errHeaders
		}
		of, kindOfValue, value := string(headers[1:name+1]), headers[name+1], headers[name+2:]
		length, fixed := headerBytes[kindOfValue]
		if !fixed {
			if len(value) < 2 {
				return "", errHeaders
			}
			length, value = int(binary.BigEndian.Uint16(value)), value[2:]
		}
		if len(value) < length {
			return "", errHeaders
		}
		switch text := string(value[:length]); of {
		case ":event-type":
			kind = text
		case ":exception-type", ":error-code":
			kind = strings.TrimSuffix(text, "Exception") + "Exception"
		}
		headers = value[length:]
	}
	return kind, nil
}
