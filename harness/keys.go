package harness

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// keysBatch is how many keys are decoded at a time.
const keysBatch = 16384

// A place says which file and row an answer is from, for messages.
type place struct {
	file string
	row  int64
}

// checkKeys returns an error that names file, column and row if an id is null
// or an (id, system) occurs twice in the first limit rows (0 = all).
//
// It keeps a hash of 8 bytes a row; rows whose hashes agree are compared in full
// in a second pass, so a collision of hashes is no duplicate. It also says which
// questions are asked, and whether there are several systems.
//
// More than mostSystems times limits systems are an error, too.
func checkKeys(ctx context.Context, src *dataset.Source, limit, limits int64, progress func(done int64)) (questions runs.Sketch, several bool, err error) {
	systems := make(map[string]struct{})
	hashes := keyHashes{seed: maphash.MakeSeed(), all: make([]uint64, 0, roomForKeys(src))}
	done := int64(0)
	err = eachPlace(ctx, src, limit, func(b *dataset.Batch, i int) error {
		id, system, null := b.Key(i)
		if null {
			file, row := b.Place(i)
			return &ibid.Error{
				File: file, Row: ibid.Some(row), Column: "id", Err: fmt.Errorf("null id"),
				Hint: "every row needs the id of its question",
			}
		}
		hashes.add(id, system)
		questions.Add(id, b.Query(i))
		if i > 0 {
			if before, of, _ := b.Key(i - 1); before == id && of == system {
				return errEnough // a billion rows of one id take few bytes of a file
			}
		}
		if _, known := systems[system]; !known {
			if int64(len(systems)) == mostSystems*limits {
				file, row := b.Place(i)
				return tooMany(file, row, "system", "systems", mostSystems*limits)
			}
			systems[strings.Clone(system)] = struct{}{}
		}
		if done++; done%keysBatch == 0 {
			progress(done)
		}
		return nil
	})
	if err = ignoreEnough(err); err != nil {
		return nil, false, err
	}
	several = len(systems) > 1
	suspects := hashes.repeated()
	if len(suspects) == 0 {
		return questions, several, nil
	}
	type key struct{ id, system string }
	seen := make(map[key]place)
	return questions, several, eachPlace(ctx, src, limit, func(b *dataset.Batch, i int) error {
		id, system, _ := b.Key(i)
		if _, ok := suspects[hashes.of(id, system)]; !ok {
			return nil
		}
		file, row := b.Place(i)
		k := key{id, system}
		if first, ok := seen[k]; ok {
			return &ibid.Error{
				File: file, Row: ibid.Some(row), Column: "id",
				Err:  fmt.Errorf("duplicate key: id %q of system %q stands in %s, row %d, already", id, system, first.file, first.row),
				Hint: "(id, system) must be unique; give each answer of a question its own system",
			}
		}
		seen[key{strings.Clone(id), strings.Clone(system)}] = place{file, row}
		return nil
	})
}

// What a run takes at most, times the setting limits.
const (
	mostSystems    = 500
	mostAnnotators = 200
	mostRowPairs   = 5_000_000 // of a citation and a truth span of one row that overlap
)

// tooMany refuses a dataset with more names than a run takes.
func tooMany(file string, row int64, column, what string, most int64) error {
	return &ibid.Error{
		Usage: true, File: file, Row: ibid.Some(row), Column: column, Err: fmt.Errorf("limits: more than %d %s", most, what),
		Hint: "name the right column (columns), or set limits higher",
	}
}

// annotatorNames are the annotators that the rows of a run have named so far. Workers share
// them.
type annotatorNames struct {
	mu  sync.Mutex
	all map[string]struct{}
}

// add adds the annotators of a row. That there are more than a run takes is an error.
func (a *annotatorNames) add(row *ibid.Answer, limits int64) error {
	last := ""
	check := func(name, column string) error {
		if name == "" || name == last {
			return nil
		}
		last = name
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, known := a.all[name]; !known && int64(len(a.all)) == mostAnnotators*limits {
			return tooMany(row.File, row.FileRow, column, "annotators", mostAnnotators*limits)
		} else if !known {
			if a.all == nil {
				a.all = make(map[string]struct{})
			}
			a.all[strings.Clone(name)] = struct{}{}
		}
		return nil
	}
	for i := range row.Truth {
		if err := check(row.Truth[i].Annotator, "truth.annotator"); err != nil {
			return err
		}
	}
	for i := range row.Labels {
		if err := check(row.Labels[i].Annotator, "labels.annotator"); err != nil {
			return err
		}
	}
	return nil
}

// keyHashes are the hashes of keys.
type keyHashes struct {
	seed maphash.Seed
	all  []uint64
}

// roomForKeys is how many keys a source has, or fewer where its files would be too small for so
// many: the number is what a file says of itself.
func roomForKeys(src *dataset.Source) int64 {
	const leastKey = 4 // bytes
	room := int64(0)
	for _, f := range src.Files() {
		room += f.Size / leastKey
	}
	return min(room, src.Rows())
}

func (h *keyHashes) of(id, system string) uint64 {
	return maphash.String(h.seed, id)*0x9E3779B97F4A7C15 ^ maphash.String(h.seed, system)
}

func (h *keyHashes) add(id, system string) { h.all = append(h.all, h.of(id, system)) }

// repeated returns the hashes that occur more than once.
func (h *keyHashes) repeated() map[uint64]struct{} {
	twice := make(map[uint64]struct{})
	slices.Sort(h.all)
	for i := 1; i < len(h.all); i++ {
		if h.all[i] == h.all[i-1] {
			twice[h.all[i]] = struct{}{}
		}
	}
	return twice
}

func rowsOf(src *dataset.Source, limit int64) int64 {
	if limit > 0 {
		return min(limit, src.Rows())
	}
	return src.Rows()
}

// eachRow calls f with the first limit rows (0 = all) in order.
func eachRow(ctx context.Context, src *dataset.Source, limit int64, f func(*ibid.Answer) error) error {
	var row ibid.Answer
	return eachPlace(ctx, src, limit, func(b *dataset.Batch, i int) error {
		b.Row(i, &row)
		return f(&row)
	})
}

// eachPlace is eachRow for rows that need not be filled: f gets the batch and the
// place of the row in it.
func eachPlace(ctx context.Context, src *dataset.Source, limit int64, f func(b *dataset.Batch, i int) error) error {
	left := rowsOf(src, limit)
	err := src.Read(ctx, 0, keysBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := 0; i < b.Len() && left > 0; i++ {
			if err := f(b, i); err != nil {
				return err
			}
			left--
		}
		if left == 0 {
			return errEnough
		}
		return nil
	})
	return ignoreEnough(err)
}
