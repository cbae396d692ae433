package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// ParseRowRange reads A:B, the rows from A to before B of a dataset, counted from 0. Without
// B they end where the dataset ends.
func ParseRowRange(text string) (*runs.RowRange, error) {
	from, to, ok := strings.Cut(text, ":")
	r := new(runs.RowRange)
	var err, err2 error
	r.From, err = strconv.ParseInt(from, 10, 64)
	if to != "" {
		r.To, err2 = strconv.ParseInt(to, 10, 64)
	}
	if !ok || err != nil || err2 != nil || r.From < 0 || to != "" && r.To <= r.From {
		return nil, ibid.Usagef("rows %q are not A:B with A before B", text).With("such as --rows 16384:32768")
	}
	return r, nil
}

// checkRows completes the rows that are to be scored, and refuses what has no place in a
// part of a run.
func (p *Plan) checkRows() error {
	r := p.job.Rows
	if r == nil {
		return nil
	}
	switch {
	case p.imported != nil:
		return ibid.Usagef("--rows reads Parquet alone: every process would import the rest, too").With("import it once: ibid import auto … -o answers.parquet")
	case r.From >= p.Rows:
		return ibid.Usagef("--rows begins at row %d, but %s has %d rows", r.From, p.named, p.Rows)
	}
	of := *r
	of.Of = p.Rows
	if of.To == 0 || of.To > p.Rows {
		of.To = p.Rows
	}
	step := p.partRows()
	for _, n := range []int64{of.From, of.To} {
		if n%step != 0 && n != p.Rows {
			return ibid.Usagef("--rows %d:%d: %d is no multiple of %d", of.From, of.To, n, step).
				With(fmt.Sprintf("such as --rows %d:%d; multiples of %d always fit", of.From/step*step, (of.To+step-1)/step*step, maxPartRows))
		}
	}
	p.rows = &of
	if s := &p.job.Config.Judge; p.live != nil && (s.MaxCostUSD > 0 || s.RPM > 0) {
		p.warn("judge.max_cost_usd and judge.rpm hold for each process, not for all together")
	}
	return nil
}

// wanted are the parts that this process scores, half-open.
func (p *Plan) wanted(perPart int64) (from, to int64) {
	if p.rows == nil {
		return 0, (p.Rows + perPart - 1) / perPart
	}
	return p.rows.From / perPart, (p.rows.To + perPart - 1) / perPart
}

// Scored are results of ranges of rows that make a whole run, see [OpenScored].
type Scored struct {
	Manifest *runs.Manifest // of the first of them
	dirs     []string       // in the order of their rows
	all      []*runs.Manifest
}

// A ScoredError says why results of ranges of rows are no run. Nothing was written.
type ScoredError struct{ Err error }

func (e *ScoredError) Error() string { return e.Err.Error() }
func (e *ScoredError) Unwrap() error { return e.Err }

// IsScored reports whether a directory holds results of a range of rows.
func IsScored(dir string) bool {
	m, err := runs.ReadManifestIfAny(dir)
	return err == nil && m != nil && m.Range != nil
}

// OpenScored opens what ibid score --rows has left in directories. Unless they have every
// row of one dataset exactly once, scored with the same settings, and are as they were
// written, the error is a [*ScoredError].
func OpenScored(ctx context.Context, dirs []string) (*Scored, error) {
	s := new(Scored)
	refuse := func(hint, format string, args ...any) error {
		return &ScoredError{&ibid.Error{Err: fmt.Errorf(format, args...), Hint: hint}}
	}
	of := make(map[*runs.Manifest]string)
	for _, dir := range dirs {
		m, err := runs.ReadManifest(dir)
		switch _, damaged := errors.AsType[runs.Damage](err); {
		case damaged:
			return nil, &ScoredError{err}
		case err != nil:
			return nil, &ibid.Error{Usage: true, Err: err}
		case m.Range == nil:
			return nil, ibid.Usagef("%s is a run of its own, others are ranges of rows", dir).With("give either")
		case m.Status != runs.StatusRange:
			return nil, refuse("finish it: the same command goes on", "%s is not finished", dir)
		case len(s.all) > 0 && m.Fingerprint != s.all[0].Fingerprint:
			return nil, &ScoredError{&ibid.Error{
				Err: fmt.Errorf("%s was scored from other data or settings than %s", dir, dirs[0]), More: changes(s.all[0].Ingredients, m.Ingredients),
				Hint: "leave it out, or score its rows again",
			}}
		}
		of[m] = filepath.Clean(dir)
		s.all = append(s.all, m)
	}
	slices.SortStableFunc(s.all, func(a, b *runs.Manifest) int { return int(a.Range.From - b.Range.From) })
	next := int64(0)
	var missing []string
	for _, m := range s.all {
		if m.Range.From < next {
			before := s.dirs[len(s.dirs)-1]
			return nil, refuse("leave one of them out", "%s and %s both have row %d", before, of[m], m.Range.From)
		}
		if m.Range.From > next {
			missing = append(missing, fmt.Sprintf("%d:%d", next, m.Range.From))
		}
		next = m.Range.To
		s.dirs = append(s.dirs, of[m])
	}
	s.Manifest = s.all[0]
	if end := s.Manifest.Range.Of; next < end {
		missing = append(missing, fmt.Sprintf("%d:%d", next, end))
	}
	if len(missing) > 0 {
		return nil, refuse("score them: ibid score RUN.yaml --rows "+missing[0]+" -o DIR", "rows are missing: %s", strings.Join(missing, ", "))
	}
	for _, dir := range s.dirs {
		if err := verifyResults(ctx, dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// verifyResults compares the result files in dir with their checksums.
func verifyResults(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	for _, file := range files {
		var f *parquet.ResultFile
		if f, err = parquet.OpenResult(file); err == nil {
			err = errors.Join(f.Verify(), f.Close())
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			break
		}
	}
	if errors.Is(err, parquet.ErrCorrupt) {
		return &ScoredError{err}
	}
	return err
}

// parts are the row groups of the results of one kind, in the order of their rows.
func (s *Scored) parts(kind partFile) ([]parquet.Part, error) {
	var out []parquet.Part
	for _, dir := range s.dirs {
		path := filepath.Join(dir, kind.result())
		f, err := runs.OpenFrame(path)
		if err != nil {
			return nil, err
		}
		for k := range f.Blocks() {
			out = append(out, parquet.Part{Path: path, Group: k})
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// takeScored takes what the manifests say of how the rows were scored.
func (p *Plan) takeScored(m *runs.Manifest) {
	s := p.job.Scored
	m.Timings.Started, m.Timings.Seconds = s.Manifest.Timings.Started, 0
	m.Places = placesIn(s.all)
	for _, of := range s.all {
		for _, text := range of.Warnings {
			if !slices.Contains(m.Warnings, text) {
				m.Warnings = append(m.Warnings, text)
			}
		}
		if of.Judge.SpentUSD != nil {
			if m.Judge.SpentUSD == nil {
				m.Judge.SpentUSD = new(float64)
			}
			*m.Judge.SpentUSD += *of.Judge.SpentUSD
		}
		m.Timings.Seconds += of.Timings.Seconds
		if of.Timings.Started.Before(m.Timings.Started) {
			m.Timings.Started = of.Timings.Started
		}
	}
}
