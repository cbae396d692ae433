package objects

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ibid"
)

// A Mirror is a folder of this machine in which a process works on a run directory that is
// at a store. Push brings there what is new, so that a run that is killed goes on from there
// on any machine. A lease keeps a second process out.
type Mirror struct {
	Address string
	Dir     string

	of     store
	prefix string
	pushes sync.Mutex
	known  map[string]pushed // what is at the store, by path below Dir

	lease  lease
	ended  chan struct{} // the lease is not kept any more
	ending context.CancelFunc
}

// pushed is a file as the store has it.
type pushed struct {
	size     int64
	modified time.Time
	etag     string
}

// The lease is an object in the run directory that its holder writes again every refresh. One
// that nobody has written for patient is of a process that died. A holder that could not write
// it for half of that works no longer. Clocks of different machines are not compared.
const (
	leaseName = ".lease"
	refresh   = 3 * time.Second
	patient   = 20 * time.Second
)

type lease struct {
	mu      sync.Mutex
	etag    string
	written time.Time // when the last write began that was done
	lost    error
}

// A holder is what a lease says of the process that has it.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Turn  int64     `json:"turn"` // of writing, so that each has another ETag
}

// Take takes the lease of a run directory at a store and fetches what is there into dir,
// which it makes. It waits where the holder may have died. lost is called if the lease is lost.
func Take(ctx context.Context, address, dir string, waiting func(holder string), lost func(error)) (*Mirror, error) {
	m := &Mirror{Address: address, Dir: dir, known: make(map[string]pushed), ended: make(chan struct{})}
	var key string
	var err error
	if m.of, key, err = at(address); err != nil {
		return nil, err
	}
	if _, ok := m.of.(web); ok || key == "" {
		return nil, &ibid.Error{File: address, Err: errors.New("runs cannot be written there"), Hint: "name a folder in a bucket, such as s3://BUCKET/runs"}
	}
	m.prefix = strings.TrimSuffix(key, "/") + "/"
	if err := m.take(ctx, waiting); err != nil {
		return nil, err
	}
	keeping, end := context.WithCancel(context.WithoutCancel(ctx))
	m.ending = end
	go m.keep(keeping, lost)
	if m.known, err = fetchFolder(ctx, m.of, address, m.prefix, dir); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// take writes the lease, if nobody has it.
func (m *Mirror) take(ctx context.Context, waiting func(string)) error {
	seen, since := "", time.Now()
	for {
		err := m.write(ctx, condition{absent: seen == "", etag: seen})
		if !errors.Is(err, ErrExists) {
			return err
		}
		found, err := m.held(ctx)
		if err != nil {
			return err
		}
		if found.etag == "" {
			seen, since = "", time.Now()
			continue
		}
		who := m.holder(ctx, found)
		switch {
		case seen == "":
			seen, since = found.etag, time.Now()
			waiting(who)
		case seen != found.etag:
			return &ibid.Error{File: m.Address, Err: fmt.Errorf("another ibid is working on this run: %s", who)}
		}
		for time.Since(since) < patient {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
			if found, err = m.held(ctx); err != nil {
				return err
			}
			if found.etag != seen {
				break
			}
		}
		if found.etag == "" {
			seen = ""
		}
	}
}

// held is the lease as it is at the store; the zero info if it was given back.
func (m *Mirror) held(ctx context.Context) (found info, err error) {
	err = again(ctx, m.Address, 0, func(ctx context.Context) (err error) {
		if found, err = m.of.head(ctx, m.prefix+leaseName); statusOf(err) == 404 {
			found, err = info{}, nil
		}
		return err
	})
	return found, err
}

func (m *Mirror) holder(ctx context.Context, of info) string {
	var h holder
	text := make([]byte, min(of.size, 4096))
	o := Object{Address: m.Address, of: m.of, info: of}
	if o.fetch(ctx, text, 0) != nil || json.Unmarshal(text, &h) != nil {
		return "it does not say which"
	}
	return fmt.Sprintf("process %d on %q since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
}

// write writes the lease once more.
func (m *Mirror) write(ctx context.Context, c condition) error {
	host, _ := os.Hostname() // "" if nobody knows
	began := time.Now()
	text, err := json.Marshal(holder{os.Getpid(), host, began.UTC().Truncate(time.Second), began.UnixNano()})
	if err != nil {
		return err
	}
	etag, err := m.put(ctx, leaseName, bytes.NewReader(text), int64(len(text)), c)
	if err == nil {
		m.lease.mu.Lock()
		m.lease.etag, m.lease.written = etag, began
		m.lease.mu.Unlock()
	}
	return err
}

// keep writes the lease until the mirror is closed.
func (m *Mirror) keep(ctx context.Context, lost func(error)) {
	defer close(m.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(refresh):
		}
		m.lease.mu.Lock()
		etag, written := m.lease.etag, m.lease.written
		m.lease.mu.Unlock()
		limited, cancel := context.WithDeadline(ctx, written.Add(patient/2))
		err := m.write(limited, condition{etag: etag})
		cancel()
		if err == nil || ctx.Err() != nil {
			continue
		}
		err = &ibid.Error{File: m.Address, Err: fmt.Errorf("the lease of the run is lost: %w", err), Hint: "what was done is saved; the same command goes on"}
		m.lease.mu.Lock()
		m.lease.lost = err
		m.lease.mu.Unlock()
		lost(err)
		return
	}
}

// put writes an object of the folder. A condition that does not hold is ErrExists, unless a
// reply was lost: then what is there is what was to be written.
func (m *Mirror) put(ctx context.Context, name string, data io.ReadSeeker, size int64, c condition) (etag string, err error) {
	err = again(ctx, Join(m.Address, name), size, func(ctx context.Context) (err error) {
		etag, err = m.of.put(ctx, m.prefix+name, data, size, c)
		return err
	})
	if e, ok := errors.AsType[*ibid.Error](err); !ok || !errors.Is(e, ErrExists) || size > 1<<20 {
		return etag, err
	}
	found, headErr := m.of.head(ctx, m.prefix+name)
	if headErr != nil || found.size != size {
		return "", err
	}
	there, want := make([]byte, size), make([]byte, size)
	o := Object{Address: m.Address, of: m.of, info: found}
	if _, e := data.Seek(0, io.SeekStart); e != nil || o.fetch(ctx, there, 0) != nil {
		return "", err
	}
	if _, e := io.ReadFull(data, want); e != nil || !bytes.Equal(there, want) {
		return "", err
	}
	return found.etag, nil
}

// Ranks say in which order files are sent: what says that others are done comes after them.
const (
	rankOther = iota
	rankRows  // the last file of a part
	rankManifest
	rankShard
)

func rankOf(name string) int {
	switch base := path.Base(name); {
	case base == "shard.json":
		return rankShard
	case base == "manifest.json":
		return rankManifest
	case strings.HasSuffix(base, ".rows"):
		return rankRows
	}
	return rankOther
}

// Push sends what is new in the folder, in an order in which a run can be taken up wherever
// it is cut, and then removes what is gone. Files may be made meanwhile.
func (m *Mirror) Push(ctx context.Context) error {
	m.pushes.Lock()
	defer m.pushes.Unlock()
	// What says that others are done was there before they are looked for.
	marks, err := filesIn(m.Dir)
	if err != nil {
		return err
	}
	files, err := filesIn(m.Dir)
	if err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		_, before := marks[name]
		return rankOf(name) > rankOther && !before
	})
	for rank := rankOther; rank <= rankShard; rank++ {
		group, limited := errgroup.WithContext(ctx)
		group.SetLimit(4)
		var mu sync.Mutex // of known
		for _, name := range names {
			mu.Lock()
			have, ok := m.known[name]
			mu.Unlock()
			if rankOf(name) != rank || ok && have.size == files[name].size && have.modified.Equal(files[name].modified) {
				continue
			}
			group.Go(func() error {
				now, err := m.send(limited, name, have.etag)
				if err == nil {
					mu.Lock()
					m.known[name] = now
					mu.Unlock()
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	for name := range m.known {
		if _, ok := files[name]; ok {
			continue
		}
		err := again(ctx, Join(m.Address, name), 0, func(ctx context.Context) error { return m.of.remove(ctx, m.prefix+name) })
		if err != nil {
			return err
		}
		delete(m.known, name)
	}
	return nil
}

// send sends one file. What decides about a run takes the place of what this process knows of,
// and of nothing else.
func (m *Mirror) send(ctx context.Context, name, etag string) (pushed, error) {
	m.lease.mu.Lock()
	lost := m.lease.lost
	if lost == nil && time.Since(m.lease.written) > patient/2 {
		lost = &ibid.Error{File: m.Address, Err: errors.New("the lease of the run is lost"), Hint: "what was done is saved; the same command goes on"}
	}
	m.lease.mu.Unlock()
	if lost != nil {
		return pushed{}, lost
	}
	f, err := os.Open(filepath.Join(m.Dir, filepath.FromSlash(name)))
	if err != nil {
		return pushed{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return pushed{}, err
	}
	var c condition
	if rankOf(name) >= rankManifest {
		c = condition{absent: etag == "", etag: etag}
	}
	size := info.Size() // of a log that grows, as much as there is now
	etag, err = m.put(ctx, name, io.NewSectionReader(f, 0, size), size, c)
	return pushed{size, info.ModTime(), etag}, err
}

// Close gives the lease back. It does not push.
func (m *Mirror) Close() error {
	m.ending()
	<-m.ended
	m.lease.mu.Lock()
	defer m.lease.mu.Unlock()
	if m.lease.lost != nil {
		return nil
	}
	m.lease.lost = errors.New("the mirror is closed")
	return again(context.Background(), m.Address, 0, func(ctx context.Context) error { return m.of.remove(ctx, m.prefix+leaseName) })
}

// filesIn are the files below a folder, by path with slashes. Temporary files and locks are
// none.
func filesIn(dir string) (map[string]pushed, error) {
	files := make(map[string]pushed)
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed or renamed meanwhile
		}
		if err != nil {
			return err
		}
		name := d.Name()
		if at != dir && strings.HasPrefix(name, ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || name == "lock" {
			return nil
		}
		below, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			files[filepath.ToSlash(below)] = pushed{size: info.Size(), modified: info.ModTime()}
		}
		return err
	})
	return files, err
}

// Send makes an object of a file.
func Send(ctx context.Context, file, address string) error {
	s, key, err := at(address)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return again(ctx, address, info.Size(), func(ctx context.Context) error {
		_, err := s.put(ctx, key, f, info.Size(), condition{})
		return err
	})
}

// Fetch fetches the objects of a folder into a folder of this machine, which it makes.
func Fetch(ctx context.Context, address, dir string) error {
	s, key, err := at(address)
	if err != nil {
		return err
	}
	if _, ok := s.(web); ok {
		return &ibid.Error{File: address, Err: errors.New("web servers list no folders"), Hint: "download the run directory"}
	}
	known, err := fetchFolder(ctx, s, address, strings.TrimSuffix(key, "/")+"/", dir)
	if err == nil && len(known) == 0 {
		err = &ibid.Error{File: address, Err: errors.New("there is nothing there"), Hint: "is the name right? A run is s3://BUCKET/RUNS/ID"}
	}
	return err
}

func fetchFolder(ctx context.Context, s store, address, prefix, dir string) (map[string]pushed, error) {
	found, err := list(ctx, s, address, prefix)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	known := make(map[string]pushed)
	var mu sync.Mutex
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, of := range found {
		name := strings.TrimPrefix(of.key, prefix)
		if strings.HasPrefix(path.Base(name), ".") || !filepath.IsLocal(filepath.FromSlash(name)) || strings.HasSuffix(name, "/") {
			continue
		}
		group.Go(func() error {
			to := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
			f, err := os.Create(to)
			if err != nil {
				return err
			}
			o := Object{Address: Join(address, name), of: s, info: of}
			piece := make([]byte, min(of.size, stretchSize))
			for off := int64(0); err == nil && off < of.size; off += int64(len(piece)) {
				piece = piece[:min(int64(len(piece)), of.size-off)]
				if err = o.fetch(limited, piece, off); err == nil {
					_, err = f.Write(piece)
				}
			}
			// The page of a run counts as old if it is older than the manifest.
			err = errors.Join(err, f.Close(), os.Chtimes(to, of.modified, of.modified))
			mu.Lock()
			defer mu.Unlock()
			known[name] = pushed{of.size, of.modified, of.etag}
			return err
		})
	}
	return known, group.Wait()
}
