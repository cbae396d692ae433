package harness

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"ibid/dataset"
)

// keysBatch is how many keys are decoded at a time.
const keysBatch = 16384

// A place is where a row stands, for messages.
type place struct {
	file string
	row  int64
}

// checkKeys returns an error that names file, column and row if an id is null
// or an (id, system) occurs twice in the first limit rows (0 = all).
//
// It keeps a hash of 8 bytes a row; rows whose hashes agree are compared in full
// in a second pass, so a collision of hashes is no duplicate.
func checkKeys(ctx context.Context, src *dataset.Source, limit int64, progress func(done int64)) error {
	seed := maphash.MakeSeed()
	hashes := make([]uint64, 0, rowsOf(src, limit))
	err := eachRow(ctx, src, limit, func(r *dataset.Row) error {
		if r.IDNull {
			return &dataset.Error{File: r.File, Row: r.FileRow, Column: "id", Err: fmt.Errorf("null id"),
				Hint: "every row needs the id of its question"}
		}
		hashes = append(hashes, keyHash(seed, r))
		if len(hashes)%keysBatch == 0 {
			progress(int64(len(hashes)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	suspects := repeated(hashes)
	if len(suspects) == 0 {
		return nil
	}
	type key struct{ id, system string }
	seen := make(map[key]place)
	return eachRow(ctx, src, limit, func(r *dataset.Row) error {
		if _, ok := suspects[keyHash(seed, r)]; !ok {
			return nil
		}
		k := key{r.ID, r.System}
		if first, ok := seen[k]; ok {
			return &dataset.Error{File: r.File, Row: r.FileRow, Column: "id",
				Err:  fmt.Errorf("duplicate key: id %q of system %q stands in %s, row %d, already", r.ID, r.System, first.file, first.row),
				Hint: "(id, system) must be unique; give each answer of a question its own system"}
		}
		k.id, k.system = string([]byte(r.ID)), string([]byte(r.System))
		seen[k] = place{r.File, r.FileRow}
		return nil
	})
}

func keyHash(seed maphash.Seed, r *dataset.Row) uint64 {
	return maphash.String(seed, r.ID)*0x9E3779B97F4A7C15 ^ maphash.String(seed, r.System)
}

// repeated sorts hashes and returns those that occur more than once.
func repeated(hashes []uint64) map[uint64]struct{} {
	slices.Sort(hashes)
	var twice map[uint64]struct{}
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			if twice == nil {
				twice = make(map[uint64]struct{})
			}
			twice[hashes[i]] = struct{}{}
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
func eachRow(ctx context.Context, src *dataset.Source, limit int64, f func(*dataset.Row) error) error {
	var row dataset.Row
	left := rowsOf(src, limit)
	err := src.Read(ctx, 0, keysBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := 0; i < b.Len() && left > 0; i++ {
			b.Row(i, &row)
			if err := f(&row); err != nil {
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
