package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lines reads the lines of a text of any length, holding one at a time.
type Lines struct {
	Number int  // of the line returned last, from 1
	Stream bool // the text may never end

	r    *bufio.Reader
	most int // longest line, in bytes without its end
	line []byte
}

// ErrLongRecord is the error of a record of a text that is longer than one may be.
var ErrLongRecord = errors.New("record too long")

// ErrEndless is the error of a line of a stream that is far longer than a record may be: what
// follows it was not read.
var ErrEndless = errors.New("line without an end")

// endless is how much longer than a record may be a line of a stream is read.
const endless = 16 << 20

// NewLines returns the lines of r. most is the longest that is held, in bytes.
func NewLines(r io.Reader, most int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 1<<16), most: most}
}

// Next returns the next line without its "\n" or "\r\n", valid until the next call. The last
// line need not have an end. The error is io.EOF after the last line, [ErrLongRecord] of a line
// that was passed over, and otherwise the stream's.
func (l *Lines) Next() ([]byte, error) {
	l.line = l.line[:0]
	for length := 0; ; {
		part, err := l.r.ReadSlice('\n')
		length += len(part)
		switch {
		case err == io.EOF && length > 0 || err == bufio.ErrBufferFull:
		case err != nil:
			return nil, err
		}
		if l.Stream && length > l.most+endless {
			return nil, fmt.Errorf("%w: over %d bytes", ErrEndless, l.most)
		}
		if length <= l.most+len("\r\n") {
			l.line = append(l.line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		l.Number++
		line, ended := bytes.CutSuffix(l.line, []byte{'\n'})
		if ended {
			line = bytes.TrimSuffix(line, []byte{'\r'})
		}
		if length > l.most+len("\r\n") || len(line) > l.most {
			return nil, fmt.Errorf("%w: over %d bytes", ErrLongRecord, l.most)
		}
		return line, nil
	}
}
