package convert

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errTooLong is a line longer than the reader holds.
var errTooLong = errors.New("line too long")

// A lineReader reads the lines of a stream of any length, holding one at a
// time.
type lineReader struct {
	r    *bufio.Reader
	most int    // longest line held, in bytes without its end
	line int    // number of the last line returned, from 1
	long []byte // a line that does not fit in r's buffer
}

// lineBuffers are used again from file to file: there may be many small ones.
var lineBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 1<<18) }}

// newLineReader returns a reader of r, which must be closed.
func newLineReader(r io.Reader, most int) *lineReader {
	buffer := lineBuffers.Get().(*bufio.Reader)
	buffer.Reset(r)
	return &lineReader{r: buffer, most: most}
}

// close gives the buffer back. No line may be used any more.
func (l *lineReader) close() {
	l.r.Reset(nil)
	lineBuffers.Put(l.r)
}

// next returns the next line without its "\n" or "\r\n", valid until the next
// call. The last line need not have an end. The error is io.EOF after the last
// line, errTooLong for a line that was skipped, and otherwise the stream's.
func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	length, tooLong := 0, false
	for {
		part, err := l.r.ReadSlice('\n')
		length += len(part)
		ended := err == nil
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return nil, err
		}
		if err == io.EOF && length == 0 {
			return nil, io.EOF
		}
		// Two bytes more than the longest line: its end may be "\r\n".
		if tooLong = tooLong || length > l.most+2; tooLong {
			l.long = l.long[:0]
		} else if err == bufio.ErrBufferFull || len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		l.line++
		if tooLong {
			return nil, fmt.Errorf("%w: over %d bytes", errTooLong, l.most)
		}
		if part = trimEnd(part, ended); len(part) > l.most {
			return nil, fmt.Errorf("%w: over %d bytes", errTooLong, l.most)
		}
		return part, nil
	}
}

// trimEnd drops the end of a line that has one.
func trimEnd(line []byte, ended bool) []byte {
	if !ended {
		return line
	}
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// eachLine calls record with every line of a file, which is one record, and its
// number. A line that is too long is reported and left out.
func (r *run) eachLine(ctx context.Context, path string, record func(line []byte, number int) error) error {
	return r.lines(ctx, path, func(line []byte, number int, bad error) error {
		r.report.Records++
		if bad != nil {
			r.fail(RecordError{File: path, Line: number, Reason: bad.Error()})
			return nil
		}
		return record(line, number)
	})
}

// lines calls do with every line of a file and its number. bad says why a line
// could not be read, and then there is none.
func (r *run) lines(ctx context.Context, path string, do func(line []byte, number int, bad error) error) error {
	in, err := r.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := newLineReader(in, r.MaxRecord)
	defer lines.close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return pathError(path, err)
		}
		if err := do(line, lines.line, err); err != nil {
			return err
		}
	}
}
