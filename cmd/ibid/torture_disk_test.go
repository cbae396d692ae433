//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A folderWatch counts the changes in a folder and all below it.
type folderWatch struct {
	fd    *os.File
	count atomic.Int64
	done  chan struct{}
}

// watchFolder counts from now on, and calls act behind change number at.
func watchFolder(t *testing.T, dir string, at int, act func()) *folderWatch {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	w := &folderWatch{fd: os.NewFile(uintptr(fd), "inotify"), done: make(chan struct{})}
	folders := make(map[int32]string)
	add := func(root string) {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				const changes = syscall.IN_CREATE | syscall.IN_MODIFY | syscall.IN_CLOSE_WRITE | syscall.IN_MOVED_TO | syscall.IN_DELETE
				if id, err := syscall.InotifyAddWatch(fd, path, changes); err == nil {
					folders[int32(id)] = path
				}
			}
			return nil
		})
	}
	add(dir)
	go func() {
		defer close(w.done)
		buf := make([]byte, 64<<10)
		for {
			n, err := w.fd.Read(buf)
			if err != nil {
				return
			}
			for b := buf[:n]; len(b) >= syscall.SizeofInotifyEvent; {
				id, mask, length := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]), int(binary.NativeEndian.Uint32(b[12:]))
				name := strings.TrimRight(string(b[16:16+length]), "\x00")
				b = b[syscall.SizeofInotifyEvent+length:]
				if int(w.count.Add(1)) == at && act != nil {
					act()
				}
				if mask&(syscall.IN_CREATE|syscall.IN_MOVED_TO) != 0 && mask&syscall.IN_ISDIR != 0 {
					add(filepath.Join(folders[id], name))
				}
			}
		}
	}()
	return w
}

// end stops counting.
func (w *folderWatch) end() int {
	_ = w.fd.SetReadDeadline(time.Now())
	<-w.done
	w.fd.Close()
	return int(w.count.Load())
}

// faults are the ordeals that all chores have in common.
type faults struct {
	mu                                            sync.Mutex
	full, readOnly, limited, output, dated, twice *ordeal
}

func newFaults() *faults {
	return &faults{
		full: &ordeal{what: "disk full"}, readOnly: &ordeal{what: "read-only folder"}, limited: &ordeal{what: "limit of file size"},
		output: &ordeal{what: "standard output full"}, dated: &ordeal{what: "clock jumps"}, twice: &ordeal{what: "two at once"},
	}
}

func (f *faults) table() []*ordeal {
	return []*ordeal{f.full, f.readOnly, f.limited, f.output, f.dated, f.twice}
}

// try disturbs a command by what it writes to, by its clock, and by another one.
func (f *faults) try(w *workshop, c *chore) {
	own := newFaults()
	w.limited(own.limited, c)
	w.fullOutput(own.output, c)
	w.dated(own.dated, c)
	w.twice(own.twice, c)
	if w.mounted == nil {
		w.fullDisk(own.full, c)
		w.readOnly(own.readOnly, c)
	} else {
		own.full.note = fmt.Sprintf("not tried, a file system cannot be mounted here: %v", w.mounted)
		own.readOnly.note = own.full.note
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, o := range own.table() {
		all := f.table()[i]
		all.tried += o.tried
		all.crashed += o.crashed
		all.hung += o.hung
		all.lost += o.lost
		all.wrong += o.wrong
		all.memory, all.slowest, all.note = max(all.memory, o.memory), max(all.slowest, o.slowest), o.note
	}
}

// mount makes the folder a file system of its own, in memory, where that is allowed.
func (w *workshop) mount() {
	if w.mounted = syscall.Mount("tmpfs", w.dir, "tmpfs", 0, fmt.Sprintf("size=%d", plentyOfDisk)); w.mounted == nil {
		w.Cleanup(func() {
			// A child of another test has the open files of this process until it executes.
			err := syscall.Unmount(w.dir, 0)
			for i := 0; i < 200 && err == syscall.EBUSY; i++ {
				time.Sleep(50 * time.Millisecond)
				err = syscall.Unmount(w.dir, 0)
			}
			if err != nil {
				w.Error(err)
			}
		})
	}
}

func (w *workshop) remount(flags uintptr, size int64) {
	w.Helper()
	if err := syscall.Mount("tmpfs", w.dir, "tmpfs", syscall.MS_REMOUNT|flags, fmt.Sprintf("size=%d", size)); err != nil {
		w.Fatal(err)
	}
}

const plentyOfDisk = 64 << 20

// fullDisk lets a command have less room than it needs: none, some, and all but a page.
func (w *workshop) fullDisk(o *ordeal, c *chore) {
	w.Helper()
	w.begin()
	before := w.files()
	used := w.used()
	p := o.tortured(w.T, w.dir, w.command(c))
	need := max(w.used()-used, 4096)
	o.tried--
	if p.code != c.code {
		w.Fatalf("%s on a file system of its own: exit code %d\n%s", c.name, p.code, p.stderr)
	}
	n := part(1, 16)
	for i := range n {
		w.begin()
		room := (need - 4096) * int64(i) / int64(n) &^ 4095
		w.remount(0, w.used()+room)
		how := fmt.Sprintf("%d KB of disk", room>>10)
		p := o.tortured(w.T, w.dir, w.command(c))
		if p.code == 0 && room == 0 && c.code == 0 && need > 4096 && !sameBytes(w.files(), c) {
			o.fault(w.T, &o.wrong, "%s, %s: exit code 0", c.name, how)
		}
		w.whole(o, c, how, before)
		w.remount(0, plentyOfDisk)
		w.ends(o, c, how)
	}
}

// sameBytes reports whether the files are those that a chore leaves.
func sameBytes(files map[string][]byte, c *chore) bool {
	for name, want := range c.want {
		if got, ok := files[name]; !ok || !c.moving[name] && string(got) != string(want) {
			return false
		}
	}
	return true
}

// used is how much of the file system is taken.
func (w *workshop) used() int64 {
	w.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(w.dir, &s); err != nil {
		w.Fatal(err)
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize
}

// readOnly lets a command write nothing.
func (w *workshop) readOnly(o *ordeal, c *chore) {
	w.Helper()
	w.begin()
	before := w.files()
	w.remount(syscall.MS_RDONLY, plentyOfDisk)
	p := o.tortured(w.T, w.dir, w.command(c))
	w.remount(0, plentyOfDisk)
	if p.code != 1 && p.code != 2 || p.stderr == "" {
		o.fault(w.T, &o.wrong, "%s: exit code %d, %q", c.name, p.code, p.stderr)
	}
	w.whole(o, c, "read-only", before)
	w.ends(o, c, "read-only")
}

// limited gives a command a limit of the size of files.
func (w *workshop) limited(o *ordeal, c *chore) {
	w.Helper()
	w.begin()
	before := w.files()
	for _, blocks := range []int{0, 1, 8, 64, 200}[:part(1, 5)] {
		w.begin()
		how := fmt.Sprintf("files of at most %d KB", blocks/2)
		o.tortured(w.T, w.dir, w.line(c, "sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$@"`, blocks), "sh", "ibid"))
		w.whole(o, c, how, before)
		w.ends(o, c, how)
	}
}

// fullOutput gives a command that prints a standard output that takes nothing.
func (w *workshop) fullOutput(o *ordeal, c *chore) {
	w.Helper()
	i := len(c.args) - 1
	for i > 0 && c.args[i] != "out.txt" {
		i--
	}
	if i == 0 {
		return // it prints nothing, or not by default
	}
	printing := *c
	printing.args = append(append([]string{}, c.args[:i]...), append([]string{"-"}, c.args[i+1:]...)...)
	w.begin()
	before := w.files()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		w.Fatal(err)
	}
	defer full.Close()
	cmd := w.command(&printing)
	cmd.Stdout = full
	p := o.tortured(w.T, w.dir, cmd)
	if p.code != 1 || !strings.Contains(p.stderr, "no space left") {
		o.fault(w.T, &o.wrong, "%s: exit code %d, %q", c.name, p.code, p.stderr)
	}
	w.whole(o, c, "standard output full", before)
	w.ends(o, c, "standard output full")
}

// dated kills a command in the middle, and gives all files dates of the past and the
// future, as a clock leaves them that was wrong, before it goes on.
func (w *workshop) dated(o *ordeal, c *chore) {
	w.Helper()
	rng := rand.New(rand.NewPCG(20, 1))
	for i := range part(1, 10) {
		w.begin()
		before := w.files()
		cmd, kill := w.killable(c)
		watch := watchFolder(w.T, w.dir, 1+rng.IntN(max(c.ops, 1)), kill)
		p := watched(w.T, cmd)
		kill()
		watch.end()
		o.took(p.took, p.peak)
		how := fmt.Sprintf("clock jump %d", i)
		_ = filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
			name, _ := filepath.Rel(w.dir, path)
			if _, given := before[name]; err == nil && !given { // inputs that change are another matter
				at := time.Unix(rng.Int64N(4_300_000_000), 0)
				err = os.Chtimes(path, at, at)
			}
			if err != nil {
				w.Error(err)
			}
			return nil
		})
		w.whole(o, c, how, before)
		w.ends(o, c, how)
	}
}

// twice does a chore twice at the same time.
func (w *workshop) twice(o *ordeal, c *chore) {
	w.Helper()
	for range part(1, 10) {
		w.begin()
		before := w.files()
		var both sync.WaitGroup
		var ended [2]process
		for i := range ended {
			cmd := w.command(c)
			cmd.Dir = w.dir
			both.Go(func() { ended[i] = watched(w.T, cmd) })
		}
		both.Wait()
		for _, p := range ended {
			if p.crashed() {
				o.fault(w.T, &o.crashed, "%s: %s", c.name, p.stderr)
			}
			if p.code != c.code && p.stderr == "" {
				o.fault(w.T, &o.wrong, "%s: exit code %d and nothing said", c.name, p.code)
			}
		}
		if ended[0].code != c.code && ended[1].code != c.code {
			o.fault(w.T, &o.lost, "%s: both gave up: %s%s", c.name, ended[0].stderr, ended[1].stderr)
		}
		o.took(max(ended[0].took, ended[1].took), max(ended[0].peak, ended[1].peak))
		w.whole(o, c, "two at once", before)
		w.ends(o, c, "two at once")
	}
}
