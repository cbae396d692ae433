package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// An Act is a kind of operation.
type Act string

// All that is asked of the file system by a run.
const (
	ActOpen     Act = "open"
	ActCreate   Act = "create" // or open for writing
	ActNameless Act = "create without a name"
	ActRead     Act = "read"
	ActWrite    Act = "write"
	ActSync     Act = "sync"
	ActSyncDir  Act = "sync of a folder"
	ActTruncate Act = "truncate"
	ActClose    Act = "close"
	ActStat     Act = "stat"
	ActList     Act = "list"
	ActMkdir    Act = "mkdir"
	ActRename   Act = "rename"
	ActLink     Act = "link"
	ActRemove   Act = "remove"
)

// An Op is one operation on a file or folder.
type Op struct {
	Act   Act
	Path  string
	To    string // the new name, of a rename or a link
	Bytes int    // of a read or a write
}

// A Watch stands between this package and the file system, so that a test can let any one
// operation fail, and say what a loss of power would leave. It is called by several
// goroutines at once.
type Watch interface {
	// Before is called before an operation. With an error the operation fails with it; of
	// a write, bytes are written before that.
	Before(op Op) (bytes int, err error)
	// Done is called after an operation that was done.
	Done(op Op)
}

var watched atomic.Pointer[Watch]

// Watched puts w before all operations of this process until stop is called. For tests.
func Watched(w Watch) (stop func()) {
	watched.Store(&w)
	return func() { watched.Store(nil) }
}

// do does an operation under the watch.
func do(op Op, act func() error) error {
	w := watched.Load()
	if w == nil {
		return act()
	}
	if _, err := (*w).Before(op); err != nil {
		return &fs.PathError{Op: string(op.Act), Path: op.Path, Err: err}
	}
	err := act()
	if err == nil {
		(*w).Done(op)
	}
	return err
}

// A File is an open file.
type File struct{ file *os.File }

// Open opens a file that can be renamed and removed while it is open. The flags are those
// of os.OpenFile without os.O_TRUNC.
func Open(path string, flag int) (f *File, err error) {
	act := ActOpen
	if flag&os.O_CREATE != 0 {
		act = ActCreate
	}
	f = new(File)
	err = do(Op{Act: act, Path: path}, func() (err error) { f.file, err = open(path, flag); return err })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Nameless makes a file in dir, or where temporary files are if dir is "", of which nothing
// is left when it is closed, however the process ends.
func Nameless(dir string) (f *File, err error) {
	f = new(File)
	err = do(Op{Act: ActNameless, Path: dir}, func() (err error) { f.file, err = nameless(dir); return err })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Name is the name that the file was opened by.
func (f *File) Name() string { return f.file.Name() }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Seek sets where the next Read or Write begins.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.file.Seek(offset, whence) }

// transfer reads or writes b by move.
func (f *File) transfer(act Act, b []byte, move func([]byte) (int, error)) (int, error) {
	w := watched.Load()
	if w == nil {
		return move(b)
	}
	op := Op{Act: act, Path: f.Name(), Bytes: len(b)}
	if n, err := (*w).Before(op); err != nil {
		if n > 0 {
			n, _ = move(b[:n])
		}
		return n, &fs.PathError{Op: string(act), Path: op.Path, Err: err}
	}
	n, err := move(b)
	(*w).Done(op)
	return n, err
}

func (f *File) Read(b []byte) (int, error)  { return f.transfer(ActRead, b, f.file.Read) }
func (f *File) Write(b []byte) (int, error) { return f.transfer(ActWrite, b, f.file.Write) }

// ReadAt is that of os.File.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	if watched.Load() == nil {
		return f.file.ReadAt(b, at)
	}
	return f.transfer(ActRead, b, func(b []byte) (int, error) { return f.file.ReadAt(b, at) })
}

// WriteAt is that of os.File.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	return f.transfer(ActWrite, b, func(b []byte) (int, error) { return f.file.WriteAt(b, at) })
}

// ReadFrom writes all that r has. From file to file this is done by the kernel.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	if watched.Load() != nil {
		return io.Copy(struct{ io.Writer }{f}, r)
	}
	switch from := r.(type) {
	case *File:
		r = from.file
	case *io.LimitedReader:
		if file, ok := from.R.(*File); ok {
			l := &io.LimitedReader{R: file.file, N: from.N}
			defer func() { from.N = l.N }()
			r = l
		}
	}
	return f.file.ReadFrom(r)
}

// Sync returns when what was written would survive a loss of power.
func (f *File) Sync() error { return do(Op{Act: ActSync, Path: f.Name()}, f.file.Sync) }

// Truncate makes the file so many bytes long.
func (f *File) Truncate(size int64) error {
	return do(Op{Act: ActTruncate, Path: f.Name()}, func() error { return f.file.Truncate(size) })
}

// Close closes the file, also where it returns an error: its lock ends.
func (f *File) Close() error {
	if watched.Load() == nil {
		return f.file.Close()
	}
	closed := f.file.Close()
	return errors.Join(do(Op{Act: ActClose, Path: f.Name()}, func() error { return nil }), closed)
}

// Stat is os.Stat.
func Stat(path string) (info fs.FileInfo, err error) {
	err = do(Op{Act: ActStat, Path: path}, func() (err error) { info, err = os.Stat(path); return err })
	return info, err
}

// ReadDir is os.ReadDir.
func ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = do(Op{Act: ActList, Path: path}, func() (err error) { entries, err = os.ReadDir(path); return err })
	return entries, err
}

// ReadFile is os.ReadFile.
func ReadFile(path string) ([]byte, error) {
	if watched.Load() == nil {
		return os.ReadFile(path)
	}
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// MkdirAll is os.MkdirAll, with the permissions that the process gives.
func MkdirAll(path string) error {
	if watched.Load() == nil {
		return os.MkdirAll(path, 0o777)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(parent); err != nil {
			return err
		}
	}
	return do(Op{Act: ActMkdir, Path: path}, func() error { return os.Mkdir(path, 0o777) })
}

// Rename gives the file another name, in place of what has it, and returns when that would
// survive a loss of power.
func Rename(from, to string) error {
	if err := do(Op{Act: ActRename, Path: from, To: to}, func() error { return rename(from, to) }); err != nil {
		return err
	}
	dir := filepath.Dir(to)
	return do(Op{Act: ActSyncDir, Path: dir}, func() error { return syncDir(dir) })
}

// RenameFolder gives a folder another name, which nobody has.
func RenameFolder(from, to string) error {
	return do(Op{Act: ActRename, Path: from, To: to}, func() error { return os.Rename(from, to) })
}

// Link gives a file a second name, which nobody has.
func Link(from, to string) error {
	return do(Op{Act: ActLink, Path: from, To: to}, func() error { return os.Link(from, to) })
}

// Remove is os.Remove.
func Remove(path string) error {
	return do(Op{Act: ActRemove, Path: path}, func() error { return os.Remove(path) })
}

// RemoveAll is os.RemoveAll: under a watch one after the other, since nothing does it at once.
func RemoveAll(path string) error {
	if watched.Load() == nil {
		return os.RemoveAll(path)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		var entries []fs.DirEntry
		entries, err = ReadDir(path)
		slices.Reverse(entries) // in no order that anybody may rely on
		for _, e := range entries {
			if err == nil {
				err = RemoveAll(filepath.Join(path, e.Name()))
			}
		}
	}
	if err == nil {
		err = Remove(path)
	}
	return err
}
