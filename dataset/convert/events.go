package convert

import (
	"bytes"
	"context"
)

// eachEvent calls do with the data of every server-sent event of a file and where
// it begins. Names, ids, comments and the final [DONE] are passed over: the data
// says what it is. A line that is an object is an event by itself. bad says why an
// event could not be read.
//
// Source: WHATWG HTML, Server-sent events.
func (r *run) eachEvent(ctx context.Context, path string, do func(data []byte, at position, bad error) error) error {
	var data []byte
	var at position
	pending := false
	dispatch := func() error {
		if !pending {
			return nil
		}
		pending = false
		if bytes.Equal(data, []byte("[DONE]")) {
			return nil
		}
		return do(data, at, nil)
	}
	err := r.lines(ctx, path, func(line []byte, number int, bad error) error {
		if bad != nil {
			return do(nil, position{line: number}, bad)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, utf8Mark)
		}
		if len(line) == 0 {
			return dispatch()
		}
		if line[0] == '{' {
			if err := dispatch(); err != nil {
				return err
			}
			return do(line, position{number, 1}, nil)
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		if string(field) != "data" {
			return nil
		}
		column := len(field) + 2
		if len(value) > 0 && value[0] == ' ' {
			value, column = value[1:], column+1
		}
		if !pending {
			data, at, pending = data[:0], position{number, column}, true
		} else {
			data = append(data, '\n')
		}
		if len(data)+len(value) > r.MaxRecord {
			data, pending = data[:0], false
			return do(nil, position{line: number}, errTooLong)
		}
		data = append(data, value...)
		return nil
	})
	if err != nil {
		return err
	}
	return dispatch() // a last event without an empty line behind it
}
