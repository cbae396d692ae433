package harness

import (
	"io"
	"path/filepath"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// salvage makes parts of a finished run that has error rows, or rows that a live
// judge did not answer: those parts whose rows all have a result, so that only
// the others are evaluated again. Row group k of each result file is part k. Parts
// that are there already are what a kill left of their removal, and may lack files.
func (p *Plan) salvage(parts int64) error {
	for k := range parts {
		if err := removeIfThere(p.partPath(k, partRowsFile)); err != nil {
			return err
		}
	}
	path := filepath.Join(p.Dir, runs.RowsFile)
	f, err := dataset.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if int64(f.RowGroups()) != parts {
		return nil // cut by another version: evaluate all of it
	}
	var status dataset.ColumnValues
	for k := range int(parts) {
		if err := f.ReadColumn(k, "status", &status); err != nil {
			return err
		}
		if hasError(status.Strings) {
			continue
		}
		if failed, err := p.judgeFailed(k); err != nil || failed {
			if err != nil {
				return err
			}
			continue
		}
		for _, kind := range p.partFiles() {
			part := dataset.Part{Path: filepath.Join(p.Dir, kind.result()), Group: k}
			err := p.savePart(int64(k), kind, func(w io.Writer) error { return dataset.Split(w, part) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func hasError(statuses []string) bool {
	for _, s := range statuses {
		if s == runs.RowError {
			return true
		}
	}
	return false
}

// judgeFailed reports whether part k has claims that a live judge was asked about
// in vain. What another judge could not answer, it cannot answer the next time.
func (p *Plan) judgeFailed(k int) (bool, error) {
	if p.live == nil {
		return false, nil
	}
	f, err := dataset.OpenResult(filepath.Join(p.Dir, runs.ClaimsFile))
	if err != nil {
		return false, err
	}
	defer f.Close()
	var votes dataset.ColumnValues
	if err := f.ReadColumn(k, "votes", &votes); err != nil {
		return false, err
	}
	for i, asked := range votes.Valid {
		if asked && votes.Ints[i] == 0 {
			return true, nil
		}
	}
	return false, nil
}
