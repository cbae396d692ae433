package objects

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"
	"weak"

	"ibid/dataset/disk"
)

// An Object is an object as it was when it was opened first: if it changes, reading it is
// [ErrChanged]. What was read once is in a temporary file, so that it crosses the network
// once. It may be used concurrently.
type Object struct {
	Address  string
	Size     int64 // bytes
	Version  string
	Modified time.Time

	of   store
	info info

	mu        sync.Mutex
	chunks    []chunk // by their first byte; the last is the end of the object
	expected  bool
	stretches map[chunk]*stretch
	file      *disk.File // has the bytes of stretches where the object has them
}

// A chunk is a range of an object, half-open.
type chunk struct{ from, to int64 }

// A stretch is a range that is fetched at one time.
type stretch struct {
	once sync.Once
	err  error
}

const (
	tailSize    = 64 << 10 // most footers are shorter
	stretchSize = 4 << 20
	smallChunks = 32 << 10 // as many bytes as travel in the time of a request are fetched together
)

// open are the objects that are in use.
var open = struct {
	sync.Mutex
	objects map[string]weak.Pointer[Object]
}{objects: make(map[string]weak.Pointer[Object])}

// Open opens an object for reading. As long as the object of an address is in use, Open
// returns the same object, so that all readers see the same bytes. The error is an
// [*ibid.Error].
func Open(ctx context.Context, address string) (*Object, error) {
	open.Lock()
	o := open.objects[address].Value()
	open.Unlock()
	if o != nil {
		return o, nil
	}
	s, key, err := at(address)
	if err != nil {
		return nil, err
	}
	o = &Object{Address: address, of: s, stretches: make(map[chunk]*stretch)}
	err = again(ctx, address, 0, func(ctx context.Context) (err error) {
		o.info, err = s.head(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Size, o.Version, o.Modified = o.info.size, o.info.version(), o.info.modified
	o.chunks = []chunk{{max(0, o.Size-tailSize), o.Size}}
	open.Lock()
	defer open.Unlock()
	if first := open.objects[address].Value(); first != nil {
		return first, nil
	}
	open.objects[address] = weak.Make(o)
	return o, nil
}

// Close does nothing: other readers may use the object.
func (o *Object) Close() error { return nil }

// Expect says which ranges, half-open, are read from their beginning on, as columns are.
// Within them more is fetched than is asked for, up to 4 MiB, and beyond them only where a
// few small ones follow each other. The second call does nothing.
func (o *Object) Expect(ranges [][2]int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.expected {
		return
	}
	o.expected = true
	tail := o.chunks[0]
	var chunks []chunk
	for _, r := range ranges {
		if c := (chunk{max(0, r[0]), min(r[1], tail.from)}); c.from < c.to {
			chunks = append(chunks, c)
		}
	}
	slices.SortFunc(chunks, func(a, b chunk) int { return cmp.Compare(a.from, b.from) })
	o.chunks = nil
	for _, c := range chunks {
		k := len(o.chunks) - 1
		switch {
		case k >= 0 && c.from < o.chunks[k].to, // only in damaged files
			k >= 0 && c.from == o.chunks[k].to && c.to-o.chunks[k].from <= smallChunks:
			o.chunks[k].to = max(o.chunks[k].to, c.to)
		default:
			o.chunks = append(o.chunks, c)
		}
	}
	o.chunks = append(o.chunks, tail)
}

// ReadAt is as of [io.ReaderAt].
func (o *Object) ReadAt(p []byte, off int64) (n int, err error) {
	short := off+int64(len(p)) > o.Size
	if short {
		p = p[:max(0, o.Size-off)]
	}
	for len(p) > 0 && err == nil {
		var k int
		k, err = o.readSome(p, off)
		n, off, p = n+k, off+int64(k), p[k:]
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// readSome reads a beginning of p that lies in one stretch.
func (o *Object) readSome(p []byte, off int64) (int, error) {
	c, s, err := o.stretch(chunk{off, off + int64(len(p))})
	if err != nil {
		return 0, err
	}
	s.once.Do(func() {
		data := make([]byte, c.to-c.from)
		if s.err = o.fetch(data, c.from); s.err == nil {
			_, s.err = o.file.WriteAt(data, c.from)
		}
	})
	if s.err != nil {
		return 0, s.err
	}
	return o.file.ReadAt(p[:min(int64(len(p)), c.to-off)], off)
}

// stretch is the stretch that has the first byte of a range: part of a chunk, or outside of
// chunks the range itself up to the next chunk.
func (o *Object) stretch(c chunk) (chunk, *stretch, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k, in := slices.BinarySearchFunc(o.chunks, c.from, func(c chunk, off int64) int {
		switch {
		case c.to <= off:
			return -1
		case c.from > off:
			return 1
		}
		return 0
	})
	next := o.chunks[k] // the last chunk ends where the object does
	if in {
		c.from -= (c.from - next.from) % stretchSize
		c.to = min(c.from+stretchSize, next.to)
	} else {
		c.to = min(c.to, next.from)
	}
	if o.file == nil {
		var err error
		if o.file, err = disk.Nameless(""); err != nil {
			return c, nil, err
		}
	}
	if o.stretches[c] == nil {
		o.stretches[c] = new(stretch)
	}
	return c, o.stretches[c], nil
}

// fetch reads from the store. Where a connection is cut, it goes on from there.
func (o *Object) fetch(p []byte, off int64) error {
	done := 0
	return again(context.Background(), o.Address, int64(len(p)), func(ctx context.Context) error {
		if done == len(p) {
			return nil
		}
		body, err := o.of.get(ctx, o.info, off+int64(done), off+int64(len(p)))
		if err != nil {
			return err
		}
		defer body.Close()
		n, err := io.ReadFull(body, p[done:])
		done += n
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}
