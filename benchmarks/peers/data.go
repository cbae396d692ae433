//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"ibid"
	"ibid/dataset"
)

// file is a file of the folder, made if it is not there.
func (b *bench) file(name string, make func(path string) error) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, make(path)
}

// answers writes a dataset of rows with three citations and three marks. Their ids are in no
// order; other seeds cite other places.
func (b *bench) answers(rows int64, seed uint64) (string, error) {
	return b.file(fmt.Sprintf("rows-%d-%d.parquet", rows, seed), func(path string) error {
		w, err := dataset.NewWriter(path, "document")
		if err != nil {
			return err
		}
		marks, cited := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(3, seed))
		for i := range rows {
			row := randomRow(marks, cited)
			row.ID, row.System = fmt.Sprintf("q-%08d", i*7_368_787%rows), "system" // a prime, so that every id comes once
			if err := w.Write(row); err != nil {
				w.Abort()
				return err
			}
		}
		return w.Close()
	})
}

// randomRow has seeded random spans: a third of the citations hit a mark exactly, a third
// nearly.
func randomRow(marks, cited *rand.Rand) *ibid.Answer {
	row := &ibid.Answer{
		Query: "Which of the two was built first, and by whom?", Answer: "The older of the two was built in 1901 by the city, the other ten years later.",
		HasCitations: true, HasTruth: true,
	}
	for range 3 {
		doc := fmt.Sprintf("doc-%05d", marks.IntN(5000))
		page := ibid.Some(1 + marks.Int64N(3))
		start := marks.Int64N(20000)
		end := start + 20 + marks.Int64N(400)
		row.Truth = append(row.Truth, ibid.Mark{Annotator: "ada", Doc: doc, Page: page, Start: ibid.Some(start), End: ibid.Some(end)})
		switch cited.IntN(3) {
		case 1:
			start, end = max(0, start+cited.Int64N(21)-10), end+cited.Int64N(21)-10
		case 2:
			start = cited.Int64N(20000)
			end = start + 20 + cited.Int64N(400)
		}
		row.Citations = append(row.Citations, ibid.Citation{Doc: doc, Page: page, Start: ibid.Some(start), End: ibid.Some(end)})
	}
	return row
}

// lines writes a text file.
func (b *bench) lines(name string, n int, line func(w *bufio.Writer, i int)) (string, error) {
	return b.file(name, func(path string) error {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(file)
		for i := range n {
			line(w, i)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return file.Close()
	})
}

// bed writes n sorted intervals, some of which overlap.
func (b *bench) bed(name string, n int, seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	starts := make([]int, n)
	for i := range starts {
		starts[i] = rng.IntN(200 * n)
	}
	slices.Sort(starts)
	return b.lines(name, n, func(w *bufio.Writer, i int) {
		fmt.Fprintf(w, "c\t%d\t%d\n", starts[i], starts[i]+1+rng.IntN(200))
	})
}
