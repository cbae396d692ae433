// Package verify computes the results of a run a second time, by another way, and names
// every cell that differs.
//
// It shares the vocabulary (package ibid), the settings and the manifest with the rest of
// the program, and nothing else: inputs and results are read with parquet-go's own reader,
// spans are sets of code points, matchings are found by trying everything, sums are wide
// floats, and the definitions of metrics are written down again. It is plain and slow, so
// that a slip in the fast way is a difference, and one of its own is easy to see.
package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
)

// Shown is how many differences of one kind, a column of a file, are listed.
const Shown = 50

// A Difference is a cell of a result file that is not what it should be.
type Difference struct {
	File       string `json:"file"`
	Column     string `json:"column"`
	Where      string `json:"where"` // which row of the file
	Written    string `json:"written"`
	Recomputed string `json:"recomputed"`
}

// A Skipped column is not recomputed.
type Skipped struct {
	File   string `json:"file"`
	Column string `json:"column"` // names, separated by commas; "" for all of the file
	Why    string `json:"why"`
}

// A Count counts what differs in a column.
type Count struct {
	File   string `json:"file"`
	Column string `json:"column"`
	Cells  int64  `json:"cells"`
}

// A Report says what became of a verification.
type Report struct {
	Run         string       `json:"run"`
	Rows        int64        `json:"rows"`        // of rows.parquet
	Cells       int64        `json:"cells"`       // that were compared
	Different   int64        `json:"different"`   // of them
	Differences []Difference `json:"differences"` // the first of each column
	Counts      []Count      `json:"counts"`      // by column, all of them
	Skipped     []Skipped    `json:"not_recomputed"`
}

// Metrics is the version of the metrics that are written down here a second time.
const Metrics = "6"

// ErrVersion: the run has numbers of another version of the metrics.
var ErrVersion = errors.New("the run has another metrics version")

// Options are how to verify.
type Options struct {
	Progress func(rows int64) // nil to tell nobody
}

// Run verifies the finished run in dir. The data must be where the run read it. The error is
// about what cannot be read, or ErrVersion; differences are in the report.
func Run(ctx context.Context, dir string, m *runs.Manifest, o Options) (*Report, error) {
	if has := m.Versions["metrics"]; has != Metrics {
		return nil, fmt.Errorf("%w: %s, and verify computes version %s", ErrVersion, has, Metrics)
	}
	v := &verification{ctx: ctx, dir: dir, m: m, s: m.Effective(), o: o, report: &Report{Run: m.ID}, counts: make(map[[2]string]int64)}
	v.judged = m.Judge.Kind != "none"
	v.skip()
	if err := v.rows(); err != nil {
		return nil, err
	}
	if err := v.summary(); err != nil {
		return nil, err
	}
	for _, d := range v.report.Differences {
		kind := [2]string{d.File, d.Column}
		if !slices.ContainsFunc(v.report.Counts, func(c Count) bool { return c.File == d.File && c.Column == d.Column }) {
			v.report.Counts = append(v.report.Counts, Count{d.File, d.Column, v.counts[kind]})
		}
	}
	return v.report, nil
}

type verification struct {
	ctx    context.Context
	dir    string
	m      *runs.Manifest
	s      *configs.Settings
	o      Options
	judged bool
	apart  string // why the rows cannot be recomputed, "" if they can
	report *Report
	counts map[[2]string]int64
	table  columns // of all rows, for the summary
}

// skip says what is not recomputed, and why.
func (v *verification) skip() {
	say := func(file, why string, names ...string) {
		v.report.Skipped = append(v.report.Skipped, Skipped{file, strings.Join(names, ", "), why})
	}
	switch {
	case v.s.Compat != "none":
		v.apart = "compat: " + v.s.Compat + " gives literal values, which are not written down a second time"
	case v.s.DocNames != "exact":
		v.apart = "doc_names: " + v.s.DocNames + " gives documents other names"
	case v.m.Truth != "" || v.m.Labels != "":
		v.apart = "tables of truth or labels were joined to the rows"
	}
	for _, in := range v.m.Inputs {
		if in.Kind == "documents" && !strings.HasSuffix(strings.ToLower(in.Path), ".parquet") {
			v.apart = "documents were read from other files than Parquet"
		}
	}
	if v.apart != "" {
		for _, file := range []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile} {
			say(file, v.apart)
		}
	} else {
		say(runs.RowsFile, "what reads as a citation in text is not written down a second time", "citation_presence")
		say(runs.RowsFile, "the text of an error is only there to be read", "error")
		say(runs.RowsFile, "a hash means nothing but that others are equal", "answer_hash")
		if v.judged {
			say(runs.ClaimsFile, "how an answer is cut into claims is not written down a second time; which claims citations are linked to is taken from it", "text", "context", "start", "end", "claim_id", "citations")
			say(runs.CitationsFile, "follow from how the answer is cut", "scope_start", "scope_end", "status no_claim")
			say(runs.ClaimsFile, "are votes and not what counts", "opinions")
			if v.s.Judge.Necessity {
				say(runs.RowsFile, "which evidence is the same text to a judge is not written down a second time", "necessary_citations, necessity_citations, necessity_shared, alce_precision, undefined")
			}
		}
	}
	if v.judged {
		say(runs.VerdictsFile, "what a judge said is where verification begins")
	}
	say(runs.SummaryFile, "rests on people's labels: ibid calibrate", "corrected, corrected_low, corrected_high, corrected_method")
	say(runs.SummaryFile, "are sentences for readers", "warnings")
}

// differ notes a cell that differs.
func (v *verification) differ(file, column, where string, written, recomputed any) {
	v.report.Different++
	kind := [2]string{file, column}
	if v.counts[kind]++; v.counts[kind] <= Shown {
		v.report.Differences = append(v.report.Differences, Difference{file, column, where, show(written), show(recomputed)})
	}
}

// mostShown is how much of a text is shown.
const mostShown = 120

func show(v any) string {
	s := ""
	switch x := v.(type) {
	case nil:
		return "null"
	case float64:
		s = fmt.Sprintf("%.17g", x)
	case string:
		s = fmt.Sprintf("%q", x)
	default:
		s = fmt.Sprint(v)
	}
	if len(s) > mostShown {
		s = strings.ToValidUTF8(s[:mostShown], "") + "…"
	}
	return s
}

// compare compares the columns that were recomputed.
func (v *verification) compare(file, where string, have, want record) {
	names := make([]string, 0, len(want))
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v.report.Cells++
		written, ok := have[name]
		if !ok && want[name] != nil {
			v.differ(file, name, where, "no such column", want[name])
		} else if !same(written, want[name]) {
			v.differ(file, name, where, written, want[name])
		}
	}
}

// near is how far apart two numbers may be that are computed in different orders; less than
// rounding apart they are one in any order.
const (
	near     = 1e-9
	rounding = 1e-13
)

func same(a, b any) bool {
	switch y := b.(type) {
	case between:
		x, ok := a.(float64)
		return ok && y.low <= x && x <= y.high
	case anyOf:
		x, ok := a.(string)
		return ok && slices.Contains(y, x)
	}
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (x == y || math.Abs(x-y) <= near*max(1, math.Abs(x), math.Abs(y)))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if !same(x[k], y[k]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// A stream gives the records of a table one after the other, by the row of the input that
// they are of.
type stream struct {
	next func() (record, error, bool)
	stop func()
	held record
	err  error
}

func openStream(path string) *stream {
	next, stop := iter.Pull2(func(yield func(record, error) bool) {
		_, err := readTable(path, func(r record) error {
			if !yield(r, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	})
	s := &stream{next: next, stop: stop}
	s.advance()
	return s
}

var errStopped = fmt.Errorf("stopped")

func (s *stream) advance() {
	r, err, ok := s.next()
	if s.held = nil; ok && err == nil {
		s.held = r
	}
	if err != nil {
		s.err = err
	}
}

// take takes all records of a row.
func (s *stream) take(row int64) (all []record) {
	for s.held != nil && s.held["row"] == any(row) {
		all = append(all, s.held)
		s.advance()
	}
	return all
}

// rows computes all rows, and notes their numbers for the summary.
func (v *verification) rows() error {
	open := func(file string) *stream { return openStream(filepath.Join(v.dir, file)) }
	rows, cites := open(runs.RowsFile), open(runs.CitationsFile)
	defer rows.stop()
	defer cites.stop()
	streams := []*stream{rows, cites}
	claims, verdicts := &stream{}, &stream{}
	if v.judged {
		claims, verdicts = open(runs.ClaimsFile), open(runs.VerdictsFile)
		defer claims.stop()
		defer verdicts.stop()
		streams = append(streams, claims, verdicts)
	}
	done := func() error {
		for _, s := range streams {
			if s.err != nil {
				return s.err
			}
		}
		return nil
	}
	if v.apart != "" {
		for ; rows.held != nil; rows.advance() {
			v.report.Rows++
			v.table.add(rows.held)
		}
		return done()
	}
	in, err := openInputs(v.m, v.s)
	if err != nil {
		return err
	}
	base := rowWork{
		in: in, s: v.s, tolerance: v.s.SpanMatching.ToleranceChars, judged: v.judged, human: isHuman(v.m, v.s),
		weights: weightsOf(v.s, in.truth, v.judged),
	}
	err = in.each(func(a *ibid.Answer) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		all := rows.take(a.Pos)
		if len(all) != 1 {
			if v.selected(a) {
				v.differ(runs.RowsFile, "row", v.name(a), len(all), 1)
			}
			return nil
		}
		w := base
		w.row = a
		have := &written{row: all[0], citations: cites.take(a.Pos), claims: claims.take(a.Pos), verdicts: verdicts.take(a.Pos)}
		return v.row(&w, have)
	})
	if err != nil {
		return err
	}
	for i, s := range streams {
		if s.err == nil && s.held != nil {
			file := []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.VerdictsFile}[i]
			v.differ(file, "row", "after the last row of the input", s.held["row"], nil)
		}
	}
	return done()
}

// selected reports whether the run should have the row.
func (v *verification) selected(a *ibid.Answer) bool {
	return v.m.Limit == 0 && len(v.m.Only) == 0
}

func (v *verification) name(a *ibid.Answer) string {
	return fmt.Sprintf("%s/%s, row %d", a.ID, a.System, a.Pos)
}

// row verifies one row of the input.
func (v *verification) row(w *rowWork, have *written) error {
	v.report.Rows++
	if v.o.Progress != nil && v.report.Rows%64 == 0 {
		v.o.Progress(v.report.Rows)
	}
	where := v.name(w.row)
	got, err := w.compute(have)
	if err != nil {
		v.differ(runs.VerdictsFile, "row", where, err.Error(), "results that fit together")
		v.table.add(have.row)
		return nil
	}
	if have.row["status"] == "error" && got.row["status"] == "ok" && strings.Contains(textOf(have.row["error"]), "limits.") {
		v.table.add(have.row) // what a limit counts is not computed
		return nil
	}
	for _, p := range w.problems {
		v.differ(runs.ClaimsFile, "citations", where, p, "")
	}
	v.compare(runs.RowsFile, where, have.row, got.row)
	v.lines(runs.CitationsFile, "citation", where, have.citations, got.citations)
	if v.judged {
		v.lines(runs.ClaimsFile, "claim", where, have.claims, got.claims)
	}
	for name, cell := range have.row {
		if _, computed := got.row[name]; !computed {
			got.row[name] = cell // the summary rests on it all the same
		}
	}
	v.table.add(got.row)
	return nil
}

func (v *verification) lines(file, what, where string, have, want []record) {
	if len(have) != len(want) {
		v.differ(file, what, where, len(have), len(want))
		return
	}
	for i := range have {
		v.compare(file, fmt.Sprintf("%s, %s %d", where, what, i), have[i], want[i])
	}
}
