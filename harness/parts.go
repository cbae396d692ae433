package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// partsDir holds what is done of an unfinished run. A part is the results of a
// fixed stretch of the input; its number says which. Which rows a part has
// depends on data and settings alone, so a resumed run makes the same parts.
const partsDir = "parts"

const (
	// maxPartRows is how many rows of a slim dataset make a part, and a row group
	// of the result files.
	maxPartRows = 16384
	// maxJudgedRows is the same for a run with a judge, whose rows carry texts.
	maxJudgedRows = 4096
	// maxLiveRows is the same for a judge that costs money and time.
	maxLiveRows = minPartRows
	minPartRows = 256
	// partBytes is about how many bytes of the input make a part when rows are
	// long: every worker holds one part in memory.
	partBytes = 4 << 20
)

// partRows chooses the rows of a part from the size of the input files and
// whether there is a judge.
func (p *Plan) partRows() int64 {
	var size int64
	for _, f := range p.source.Files() {
		size += f.Size
	}
	perRow := size/max(p.source.Rows(), 1) + 1
	rows := int64(maxPartRows)
	switch {
	case p.live != nil:
		rows = maxLiveRows
	case p.judge != nil:
		rows = maxJudgedRows
	}
	for rows > minPartRows && rows*perRow > partBytes {
		rows /= 2
	}
	if most := p.job.Config.RowsPerPart; most > 0 {
		rows = min(rows, most)
	}
	return int64(p.source.BatchRows(int(rows)))
}

// limitsOf are the limits of what is read.
func limitsOf(s *configs.Settings) dataset.Limits { return dataset.Limits(s.Limits) }

// A partFile is one kind of result within a part.
type partFile string

// The results of a part, in the order in which they are written: a part is done
// when the last of them is there.
const (
	partClaims    partFile = "claims" // of runs that have a judge
	partVerdicts  partFile = "verdicts"
	partAnswers   partFile = "answers"
	partTexts     partFile = "texts"
	partCalls     partFile = "calls" // of runs whose judge is live
	partCitations partFile = "citations"
	partRowsFile  partFile = "rows"
)

// partFiles are the results of the run's parts, in the order of writing.
func (p *Plan) partFiles() []partFile {
	if p.tables != nil {
		return p.tables.kinds
	}
	var kinds []partFile
	if p.live != nil {
		kinds = append(kinds, partCalls)
	}
	if p.judge != nil {
		kinds = append(kinds, partVerdicts, partClaims)
	}
	if p.keepsAnswers() {
		kinds = append(kinds, partAnswers)
	}
	if p.keepsTexts() && p.kept == "" {
		kinds = append(kinds, partTexts)
	}
	return append(kinds, partCitations, partRowsFile)
}

// result is the file that parts of this kind are joined to.
func (k partFile) result() string { return string(k) + ".parquet" }

func (p *Plan) partPath(number int64, kind partFile) string {
	return filepath.Join(p.Dir, partsDir, fmt.Sprintf("%08d.%s", number, kind))
}

// partDone reports whether a part is complete on disk. One that was damaged is not: it is
// evaluated again.
func (p *Plan) partDone(number int64) (bool, error) {
	_, err := disk.Stat(p.partPath(number, partRowsFile))
	for _, kind := range p.partFiles() {
		if err == nil {
			err = verifyPart(p.partPath(number, kind))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if errors.Is(err, parquet.ErrCorrupt) {
		p.job.warn("%v: its rows are evaluated again", err)
		return false, nil
	}
	return err == nil, err
}

// verifyPart compares a part that another process left with its checksums.
func verifyPart(path string) error {
	f, err := parquet.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify()
}

// savePart makes the results of a part durable.
func (p *Plan) savePart(number int64, kind partFile, encode func(io.Writer) error) error {
	return dataset.WriteFile(p.partPath(number, kind), encode)
}

// partsOf are the parts of one kind, of numbers half-open.
func (p *Plan) partsOf(kind partFile, from, to int64) (list []parquet.Part) {
	for k := from; k < to; k++ {
		list = append(list, parquet.Part{Path: p.partPath(k, kind)})
	}
	return list
}

// joinParts makes one result file of row groups.
func (p *Plan) joinParts(kind partFile, fields []parquet.Field, list []parquet.Part) error {
	return dataset.WriteFile(filepath.Join(p.Dir, kind.result()), func(w io.Writer) error {
		return parquet.Join(w, fields, list, nil)
	})
}

// keepGoodParts makes parts again from the result files of a finished run that has
// error rows, or rows that a live judge did not answer. It makes the parts in which
// every row has a result, so that only the others are evaluated again. Row group k
// of each result file is part k. Parts that are there already were being removed
// when the process was killed. They may lack files, so they are removed first.
func (p *Plan) keepGoodParts(parts int64) error {
	for k := range parts {
		if err := removeIfThere(p.partPath(k, partRowsFile)); err != nil {
			return err
		}
	}
	f, err := runs.OpenRows(p.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if int64(f.Blocks()) != parts {
		return nil // cut by another version: evaluate all of it
	}
	for _, kind := range p.partFiles() {
		if _, err := disk.Stat(filepath.Join(p.Dir, kind.result())); errors.Is(err, fs.ErrNotExist) {
			return nil // made by a version without that result: evaluate all of it
		}
	}
	failed, err := p.judgeFailures()
	if err != nil {
		return err
	}
	var good []int
	err = f.Each(func(b *runs.Block) error {
		if !slices.Contains(b.Texts("status"), runs.RowError) && !failed[b.Number] {
			good = append(good, b.Number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, kind := range p.partFiles() { // the one that says that a part is done is the last
		if kind == partTexts { // the texts of these parts stay where they are
			for _, k := range good {
				err = errors.Join(err, p.savePart(int64(k), kind, func(w io.Writer) error { return partTextTable.Encode(w, nil) }))
			}
			if err != nil {
				return err
			}
			continue
		}
		err := parquet.Split(filepath.Join(p.Dir, kind.result()), good, func(k int, write func(io.Writer) error) error {
			return p.savePart(int64(k), kind, write)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// judgeFailures are the parts that have claims which a live judge was asked about in vain.
// What another judge could not answer, it cannot answer the next time.
func (p *Plan) judgeFailures() (map[int]bool, error) {
	failed := make(map[int]bool)
	if p.live == nil {
		return failed, nil
	}
	f, err := runs.OpenFrame(filepath.Join(p.Dir, runs.ClaimsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return failed, f.Each(func(b *runs.Block) error {
		votes := b.Column("votes")
		for i, asked := range votes.Valid {
			failed[b.Number] = failed[b.Number] || asked && votes.Ints[i] == 0
		}
		return nil
	})
}
