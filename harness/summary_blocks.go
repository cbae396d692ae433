package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

const (
	// summaryMemory is about how many bytes of states are in memory at a time, and of
	// sums of clusters.
	summaryMemory = 32 << 20
	// spilledRows is how many rows of a block that waits in a file are read at a time.
	spilledRows = 1 << 10
)

// summaryBlocks are all items of a summary, block by block: in memory if they fit, else
// in temporary files.
type summaryBlocks struct {
	*summarizer
	held  []*block
	files []string
}

// blocks adds up all items. The states of all groups for all items can be far more than
// the rows that they are of: where they take more than memory, blocks of items are read
// one after the other, and what comes of them waits in files in dir.
func (s *summarizer) blocks(ctx context.Context, dir string, memory int) (out *summaryBlocks, err error) {
	out = &summaryBlocks{summarizer: s}
	defer func() {
		if err != nil {
			out.remove()
		}
	}()
	perItem := len(s.groups.own) * int(unsafe.Sizeof(state{}))
	if s.judged {
		perItem += len(s.groups.all) * int(unsafe.Sizeof(judgedState{}))
	}
	spill := perItem*len(s.items) > memory
	perWorker := perItem + s.collectMemory() // the least
	workers := max(1, min(s.workers, memory/perWorker))
	size := max(1, len(s.items)/(4*workers))
	if spill {
		size = min(size, max(1, memory/workers/perItem))
	}
	count := (len(s.items) + size - 1) / size
	out.held, out.files = make([]*block, count), make([]string, count)
	var lock sync.Mutex
	done := int64(0)
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(workers)
	for k := range count {
		pool.Go(func() error {
			b, err := s.block(ctx, k*size, min((k+1)*size, len(s.items)))
			switch {
			case err != nil:
				return err
			case spill:
				if out.files[k], err = b.spill(dir); err != nil {
					return err
				}
			default:
				out.held[k] = b
			}
			lock.Lock()
			defer lock.Unlock()
			done++
			s.progress(done * s.file.Len() / int64(count))
			return nil
		})
	}
	return out, pool.Wait()
}

// spill writes the rows of all groups of the block to a file, in the order of the
// summary.
func (b *block) spill(dir string) (path string, err error) {
	f, err := disk.Open(filepath.Join(dir, fmt.Sprintf(".summary.%08x.tmp", rand.Uint32())), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", err
	}
	var rows []runs.SummaryRow
	err = runs.Summary.EncodeEach(f, spilledRows, func(yield func(*runs.SummaryRow) error) error {
		for _, g := range b.groups.own {
			rows = b.rows(g, rows[:0])
			for i := range rows {
				if err := yield(&rows[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return f.Name(), errors.Join(err, f.Close())
}

// remove removes the files.
func (s *summaryBlocks) remove() {
	for _, path := range s.files {
		if path != "" {
			_ = disk.Remove(path) // the next process that runs here would
		}
	}
}

// A groupSource appends the rows of a block that a group has. Groups must be asked for in
// their order.
type groupSource func(g int, out []runs.SummaryRow) ([]runs.SummaryRow, error)

// each calls yield with the rows of each system and slice, in the order of the summary.
func (s *summaryBlocks) each(ctx context.Context, yield func(rows []runs.SummaryRow) error) error {
	if s.groups.single { // its rows are those of all systems, too
		err := s.merge(ctx, func(rows []runs.SummaryRow) error {
			for i := range rows {
				rows[i].System = ""
			}
			return yield(rows)
		})
		if err != nil {
			return err
		}
	}
	return s.merge(ctx, yield)
}

// merge calls yield with the rows of each group that has rows of its own.
func (s *summaryBlocks) merge(ctx context.Context, yield func(rows []runs.SummaryRow) error) error {
	var sources []groupSource
	for k, b := range s.held {
		if b != nil {
			sources = append(sources, func(g int, out []runs.SummaryRow) ([]runs.SummaryRow, error) { return b.rows(g, out), nil })
			continue
		}
		next, stop := s.open(s.files[k])
		defer stop()
		sources = append(sources, next)
	}
	var rows []runs.SummaryRow
	for _, g := range s.groups.own {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = rows[:0]
		for _, next := range sources {
			var err error
			if rows, err = next(g, rows); err != nil {
				return err
			}
		}
		slices.SortFunc(rows, runs.CompareSummary)
		if err := yield(rows); err != nil {
			return err
		}
	}
	return nil
}

// open reads a file of spilled rows group by group.
func (s *summaryBlocks) open(path string) (groupSource, func()) {
	next, stop := iter.Pull2(func(yield func(*runs.SummaryRow, error) bool) {
		err := runs.Summary.ScanFile(path, func(_ int64, r *runs.SummaryRow) error {
			if !yield(r, nil) {
				return io.EOF
			}
			return nil
		})
		if err != nil && !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	})
	row, err, ok := next()
	return func(g int, out []runs.SummaryRow) ([]runs.SummaryRow, error) {
		group := &s.groups.all[g]
		for ok && err == nil && row.System == group.system && row.Slice == group.slice {
			out = append(out, *row)
			row, err, ok = next()
		}
		return out, err
	}, stop
}
