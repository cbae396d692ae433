package objects

import (
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
// [ErrChanged]. What was read once is kept, so that it crosses the network once: the ends
// of the file in memory, columns in a temporary file. It may be used concurrently.
type Object struct {
	Address  string
	Size     int64 // bytes
	Version  string
	Modified time.Time

	of   store
	info info

	mu        sync.Mutex
	chunks    []chunk
	stretches map[int64]*stretch // of chunks, by their first byte
	kept      map[[2]int64][]byte
	tail      []byte // the end of the object
	file      *disk.File
}

// A chunk is a range of an object in which reading on is of use.
type chunk struct{ from, to int64 }

// A stretch is a part of a chunk that is fetched at one time.
type stretch struct {
	once sync.Once
	err  error
}

const (
	tailSize    = 64 << 10 // most footers are shorter
	stretchSize = 4 << 20
	smallChunks = 32 << 10 // as many bytes as travel in the time of a request are fetched together
	mostKept    = 64 << 20
)

// open are the objects that somebody still has.
var open = struct {
	sync.Mutex
	objects map[string]weak.Pointer[Object]
}{objects: make(map[string]weak.Pointer[Object])}

// Open opens an object for reading. As long as anybody has the object of an address, it is
// the same object, so that all see the same bytes. The error is an [*ibid.Error].
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
	o = &Object{Address: address, of: s, stretches: make(map[int64]*stretch), kept: make(map[[2]int64][]byte)}
	err = again(ctx, address, 0, func(ctx context.Context) (err error) {
		o.info, err = s.head(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Size, o.Version, o.Modified = o.info.size, o.info.version(), o.info.modified
	o.tail = make([]byte, min(o.Size, tailSize))
	if err := o.fetch(ctx, o.tail, o.Size-int64(len(o.tail))); err != nil {
		return nil, err
	}
	open.Lock()
	defer open.Unlock()
	if first := open.objects[address].Value(); first != nil {
		return first, nil
	}
	open.objects[address] = weak.Make(o)
	return o, nil
}

// Close does nothing: others may have the object.
func (o *Object) Close() error { return nil }

// Expect says which ranges, half-open, are read from their beginning on, as columns are.
// Within them more is fetched than is asked for, up to 4 MiB, and beyond them only where a
// few small ones follow each other. The second call does nothing.
func (o *Object) Expect(ranges [][2]int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.chunks != nil {
		return
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			o.chunks = append(o.chunks, chunk{r[0], r[1]})
		}
	}
	slices.SortFunc(o.chunks, func(a, b chunk) int { return int(min(1, max(-1, a.from-b.from))) })
	var together []chunk
	for _, c := range o.chunks {
		k := len(together) - 1
		switch {
		case k >= 0 && c.from < together[k].to, // only in damaged files
			k >= 0 && c.from == together[k].to && c.to-together[k].from <= smallChunks:
			together[k].to = max(together[k].to, c.to)
		default:
			together = append(together, c)
		}
	}
	o.chunks = together
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

// readSome reads a beginning of p that lies in one stretch, or in none.
func (o *Object) readSome(p []byte, off int64) (int, error) {
	if at := o.Size - int64(len(o.tail)); off >= at {
		return copy(p, o.tail[off-at:]), nil
	}
	o.mu.Lock()
	k, in := slices.BinarySearchFunc(o.chunks, off, func(c chunk, off int64) int {
		switch {
		case c.to <= off:
			return -1
		case c.from > off:
			return 1
		}
		return 0
	})
	if !in {
		if k < len(o.chunks) {
			p = p[:min(int64(len(p)), o.chunks[k].from-off)]
		}
		o.mu.Unlock()
		return o.readOutside(p, off)
	}
	c := o.chunks[k]
	from := c.from + (off-c.from)/stretchSize*stretchSize
	to := min(from+stretchSize, c.to)
	s := o.stretches[from]
	if s == nil {
		s = new(stretch)
		o.stretches[from] = s
	}
	if o.file == nil {
		var err error
		if o.file, err = disk.Nameless(""); err != nil {
			o.mu.Unlock()
			return 0, err
		}
	}
	o.mu.Unlock()
	s.once.Do(func() {
		data := make([]byte, to-from)
		if s.err = o.fetch(context.Background(), data, from); s.err == nil {
			_, s.err = o.file.WriteAt(data, from)
		}
	})
	if s.err != nil {
		return 0, s.err
	}
	return o.file.ReadAt(p[:min(int64(len(p)), to-off)], off)
}

// readOutside reads what is in no chunk, such as long footers.
func (o *Object) readOutside(p []byte, off int64) (int, error) {
	key := [2]int64{off, int64(len(p))}
	o.mu.Lock()
	data, ok := o.kept[key]
	o.mu.Unlock()
	if !ok {
		data = make([]byte, len(p))
		if err := o.fetch(context.Background(), data, off); err != nil {
			return 0, err
		}
		if len(data) <= mostKept {
			o.mu.Lock()
			o.kept[key] = data
			o.mu.Unlock()
		}
	}
	return copy(p, data), nil
}

// fetch reads from the store. Where a connection is cut, it goes on from there.
func (o *Object) fetch(ctx context.Context, p []byte, off int64) error {
	done := 0
	return again(ctx, o.Address, int64(len(p)), func(ctx context.Context) error {
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
