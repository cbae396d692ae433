package report

import (
	"fmt"
	"hash/fnv"
	"slices"
)

// maxHeld is the most rows whose details are made before sizes are known.
const maxHeld = 40000

// choose returns the rows that the page holds, in order: all, or the failing
// ones and a seeded sample of the rest.
func (b *pageBuilder) choose(most int) []int {
	all := make([]int, len(b.rows))
	for i := range all {
		all[i] = i
	}
	if len(all) <= most {
		return all
	}
	return b.reduce(all, most)
}

// reduce keeps n rows: failing ones first, the worst of them if there are too
// many, then a sample of the rest. It says so on the page.
func (b *pageBuilder) reduce(rows []int, n int) []int {
	var failing, rest []int
	for _, k := range rows {
		if b.failing(&b.rows[k]) {
			failing = append(failing, k)
		} else {
			rest = append(rest, k)
		}
	}
	what := fmt.Sprintf("all %s failing rows", Thousands(int64(len(failing))))
	kept := failing
	if len(failing) > n {
		kept = b.worstFirst(failing)[:n]
		what = fmt.Sprintf("the %s worst of %s failing rows", Thousands(int64(n)), Thousands(int64(len(failing))))
	} else {
		// A hash of the key, not the position, so that the sample of a grown
		// dataset is nearly the same.
		slices.SortFunc(rest, func(x, y int) int {
			if d := compareUint(b.lot(x), b.lot(y)); d != 0 {
				return d
			}
			return x - y
		})
		if more := rest[:min(len(rest), n-len(failing))]; len(more) > 0 {
			kept = append(slices.Clone(failing), more...)
			what += fmt.Sprintf(" and a sample of %s others (seed %d)", Thousands(int64(len(more))), b.results[0].run.Manifest.Seed)
		}
	}
	kept = slices.Clone(kept)
	slices.Sort(kept)
	b.page.Rows.Sampled = fmt.Sprintf("This page holds %s of %s rows: %s. All numbers are over all rows; every row is in rows.parquet.",
		Thousands(int64(len(kept))), Thousands(int64(len(b.rows))), what)
	return kept
}

func compareUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// lot draws a row's number from its key and the seed of the run.
func (b *pageBuilder) lot(k int) uint64 {
	row := &b.rows[k]
	r := b.results[row.run]
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", r.run.Manifest.Seed, r.id[row.index], r.system[row.index])
	return h.Sum64()
}

// fewer is reduce for rows that have their details already.
func (b *pageBuilder) fewer(held []int, details []*rowDetail, n int) ([]int, []*rowDetail) {
	at := make(map[int]int, len(held))
	for k, row := range held {
		at[row] = k
	}
	kept := b.reduce(held, n)
	out := make([]*rowDetail, len(kept))
	for k, row := range kept {
		out[k] = details[at[row]]
	}
	return kept, out
}
