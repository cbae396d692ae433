package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
)

// An InterruptedError means that a run was stopped on purpose. Answers of a live judge are
// kept, and the same command goes on with them; all else it does anew.
type InterruptedError struct {
	Done   int64 // rows that were done
	Rows   int64
	Judged bool // by a live judge

	// Batches go on at the judge's service, which calls them so; their answers are
	// taken when the run goes on.
	Batches []string
}

func (e *InterruptedError) Error() string {
	text := fmt.Sprintf("interrupted after %d of %d rows", e.Done, e.Rows)
	if e.Judged {
		text += "; every answer is kept"
	}
	if len(e.Batches) > 0 {
		text += fmt.Sprintf("; %s goes on at the service: %s", plural(len(e.Batches), "batch", "batches"), strings.Join(e.Batches, ", "))
	}
	return text
}

// A StoppedError says why a judge ended a run early. What was answered is saved.
type StoppedError struct {
	Stop *judge.StopError
	Done int64 // rows that were judged
	Rows int64
}

func (e *StoppedError) Error() string {
	return fmt.Sprintf("stopped: %v: after %d of %d rows; every answer is kept", e.Stop, e.Done, e.Rows)
}
func (e *StoppedError) Unwrap() error { return e.Stop }

// Run evaluates the rows and the gates.
//
// A run that is complete already is left alone. A run that was interrupted, or some of whose
// claims a live judge did not answer, begins anew with the answers that are kept. If the directory holds a run with another
// fingerprint, the error is [ibid.ErrUsage] and lists what differs; if another
// process works on it, the error says which; if ctx ends, it is an
// [*InterruptedError]; if the judge can answer nothing more, a [*StoppedError].
func (p *Plan) Run(ctx context.Context) (*Outcome, error) {
	before, err := runs.ReadManifestIfAny(p.Dir)
	if err != nil {
		return nil, err
	}
	if err := p.checkSame(before); err != nil {
		return nil, err
	}
	asks := p.job.Scored == nil && p.tables == nil
	if before != nil && before.Complete() && (!asks || before.Judge.Failed == 0) {
		if err := disk.RemoveAll(filepath.Join(p.Dir, partsDir)); err != nil { // left by a kill, once all was done
			return nil, err
		}
		if p.job.Baseline != "" {
			if err := p.setBaseline(before); err != nil {
				return nil, err
			}
		}
		return outcomeOf(p.Dir, before, p.job.Config, before.Baseline, "", true)
	}
	if before != nil && before.Status == runs.StatusRange {
		return &Outcome{Dir: p.Dir, Manifest: before, Existed: true}, nil
	}
	since := time.Now()
	var docs *dataset.Documents
	if p.tables == nil {
		if docs, err = p.checkedDocuments(ctx); err != nil {
			return nil, err
		}
		defer docs.Close()
	}
	if asks {
		if err := p.checkLabels(ctx); err != nil {
			return nil, err
		}
	}
	if err := disk.MkdirAll(filepath.Join(p.Dir, partsDir)); err != nil {
		return nil, err
	}
	if p.held, err = acquire(filepath.Join(p.Dir, partsDir)); err != nil {
		return nil, err
	}
	defer p.held.release()
	if err := errors.Join(removeLeftovers(p.Dir), p.keepImport()); err != nil {
		return nil, err
	}
	// Another process may have changed the directory before we had the lock.
	if before, err = runs.ReadManifestIfAny(p.Dir); err != nil {
		return nil, err
	}
	if err := p.checkSame(before); err != nil {
		return nil, err
	}
	m := p.manifest(before)
	if err := p.setBaseline(m); err != nil {
		return nil, err
	}
	closeServices := nothing
	if asks {
		if closeServices, err = p.openServices(ctx, m); err != nil {
			return nil, err
		}
	}
	err = p.withLog(m, func() error { return p.evaluate(ctx, m, before, docs, since) })
	if err = errors.Join(err, closeServices()); err != nil {
		return nil, p.removeUseless(ctx, before, err)
	}
	if p.rows != nil {
		return &Outcome{Dir: p.Dir, Manifest: m}, nil
	}
	out, err := outcomeOf(p.Dir, m, p.job.Config, m.Baseline, "", false)
	if err != nil || len(out.Gates) == 0 {
		return out, err
	}
	m.Gates = out.Verdict(p.job.Config.MinCoverage)
	return out, m.Write(p.Dir)
}

func nothing() error { return nil }

// checkAllKeys checks the keys of the dataset.
func (p *Plan) checkAllKeys(ctx context.Context) error {
	var err error
	p.questions, p.severalSystems, err = checkKeys(ctx, p.source.Select(dataset.WantKeys|dataset.WantQueries), p.job.Limit, p.job.Config.Limits, p.stage("checking keys", p.Rows))
	return asUsage(err)
}

// removeUseless removes a run that this process began over data that turned out to be
// corrupt: once the data are mended they are other data, and what was done is of
// no use; so is what was made of tables. Other errors leave what is done.
func (p *Plan) removeUseless(ctx context.Context, before *runs.Manifest, err error) error {
	if p.tables != nil && ctx.Err() != nil || p.tables == nil && (before != nil || !errors.Is(err, parquet.ErrCorrupt)) {
		return err
	}
	if e := p.held.remove(p.Dir); e != nil {
		return errors.Join(err, e)
	}
	return asUsage(err)
}

// withLog does the work of a run with its log open.
func (p *Plan) withLog(m *runs.Manifest, work func() error) error {
	log, err := openLog(p.Dir, p.job.Config.QualityControl.ErrorHandling.ErrorLogging)
	if err != nil {
		return err
	}
	p.log = log
	log.Info("started", "id", m.ID, "fingerprint", m.Fingerprint, "rows", p.Rows, "resumed", m.Timings.Resumed, "ibid", p.job.Version)
	err = work()
	for _, text := range m.Warnings {
		log.Warn(text)
	}
	if m.Errors > 0 {
		log.Warn("error rows", "rows", m.Errors, "see", "the column error of "+runs.RowsFile)
	}
	return errors.Join(err, log.close(err))
}

// removeLeftovers removes the parts and the temporary files of a process that was killed. The
// caller holds the lock.
func removeLeftovers(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, partsDir)} {
		entries, err := disk.ReadDir(d)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if partName.MatchString(e.Name()) || strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
				if err := disk.Remove(filepath.Join(d, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// stage returns a function that reports progress in rows.
func (p *Plan) stage(name string, of int64) func(done int64) {
	since := time.Now()
	return func(done int64) { p.job.progress(Progress{Stage: name, Done: done, Of: of, Since: since}) }
}

// checkSame refuses a directory that holds another run.
func (p *Plan) checkSame(m *runs.Manifest) error {
	if m == nil || m.Fingerprint == p.Fingerprint && (m.Range == p.rows || m.Range != nil && p.rows != nil && *m.Range == *p.rows) {
		return nil
	}
	if m.Fingerprint == p.Fingerprint {
		return ibid.Usagef("%s holds %s", p.Dir, m.Range.In()).With("name another directory with -o or --id")
	}
	return ibid.Usagef("%s holds a run over other data or settings", p.Dir).With("use --fresh to run again under a new id, or choose one with --id", changes(m.Ingredients, p.Ingredients)...)
}

// manifest describes the run as it begins, or goes on from what it was.
func (p *Plan) manifest(before *runs.Manifest) *runs.Manifest {
	c := p.job.Config
	m := &runs.Manifest{
		Schema: runs.ManifestSchema, ID: p.ID, Status: runs.StatusRunning,
		Fingerprint: p.Fingerprint, Ingredients: p.Ingredients,
		Source: p.job.Source, Dataset: c.Dataset, Documents: c.Documents, Truth: c.Truth, Labels: c.Labels, Inputs: p.inputs,
		Versions: map[string]string{"ibid": p.job.Version, "go": runtime.Version(), "metrics": metricsVersion},
		Judge:    p.judgeRecord(),
		Range:    p.rows, Limit: p.job.Limit, Only: p.job.Only, Questions: p.questions,
		Timings: runs.Timings{Started: time.Now().UTC(), Workers: p.job.workers()},
	}
	if p.source != nil {
		m.Components = p.options.Components()
	}
	if p.imported != nil {
		m.Imported = p.imported.brief()
	}
	for _, v := range c.Effective() {
		if base := p.conventions.OffsetBase.String(); v.Key == "offset_base" && p.source != nil && v.Value != base {
			v.Value, v.Source = base, "dataset" // its metadata say so
		}
		m.Settings = append(m.Settings, v)
	}
	for _, w := range c.Warnings {
		m.Warnings = append(m.Warnings, w.String())
	}
	m.Warnings = append(m.Warnings, p.warnings...)
	if before != nil {
		m.Timings.Started = before.Timings.Started
		m.Timings.Seconds = before.Timings.Seconds
		m.Timings.Resumed = before.Timings.Resumed + 1
		m.Judge.SpentUSD = before.Judge.SpentUSD
	}
	return m
}

// evaluate does the work between the first and the last manifest.
func (p *Plan) evaluate(ctx context.Context, m, before *runs.Manifest, docs *dataset.Documents, since time.Time) error {
	if p.tables != nil {
		if err := errors.Join(m.Write(p.Dir), p.takeTables(ctx, m)); err != nil {
			return err
		}
		return p.finish(m, since)
	}
	perPart := p.partRows()
	from, to := p.wanted(perPart)
	if p.keepsTexts() && p.kept == "" {
		var err error
		if p.texts, err = newKeptTexts(p.Dir); err != nil {
			return err
		}
		defer p.texts.file.Close()
	}
	if err := m.Write(p.Dir); err != nil {
		return err
	}
	if p.job.Scored != nil {
		p.takeScored(m)
		if err := p.assemble(ctx, m, from, to, docs); err != nil {
			return p.interrupted(ctx, err, m, 0, since)
		}
		return p.finish(m, since)
	}
	stage := "scoring"
	if p.live != nil {
		stage = "judging"
	}
	progress := Progress{Stage: stage, Of: max(0, min(to*perPart, p.Rows)-from*perPart), Since: time.Now()}
	p.job.progress(progress)
	if err := p.askInBatches(ctx, from, to, perPart, docs); err != nil {
		return p.interrupted(ctx, err, m, 0, since)
	}
	places := make(placesBySystem)
	saved, waiting, foretold := int64(0), false, 0
	read := func(ctx context.Context, yield func(inputPart) error) error {
		return p.decode(ctx, from, to, perPart, yield)
	}
	score := func(ctx context.Context, w *worker, in inputPart) (finishedPart, error) { return w.scorePart(ctx, in) }
	err := p.scoreParts(ctx, p.rowsLayout(), docs, read, score, func(d finishedPart) {
		places.add(d.places)
		saved += d.rows
		progress.Done = max(progress.Done, saved)
		progress.Errors += d.errors
		p.job.progress(progress)
	}, func(answered int64) {
		progress.Done = max(progress.Done, answered)
		usage := p.live.Usage()
		progress.Judge = &usage
		foretold = p.foretell(foretold, &usage, progress)
		if ctx.Err() != nil && usage.InFlight > 0 {
			progress.Stage = fmt.Sprintf("waiting for calls under way: %d", usage.InFlight)
			if !waiting {
				waiting = true
				p.job.warn("%s; they are paid for; interrupt again to end at once", progress.Stage)
			}
		}
		p.job.progress(progress)
	})
	if err != nil {
		return p.interrupted(ctx, err, m, progress.Done, since)
	}
	if p.kept != "" {
		places.keepMarks(p.job.SameDataAs.Places)
	}
	m.Places = places
	if p.rows != nil {
		if err := p.joinTables(from, to); err != nil {
			return err
		}
		return p.finish(m, since)
	}
	if err := p.assemble(ctx, m, from, to, docs); err != nil {
		return p.interrupted(ctx, err, m, saved, since)
	}
	if text := p.notFetched.warning(p); text != "" {
		p.warnOf(m, "%s", text)
	}
	return p.finish(m, since)
}

// finish writes the manifest of a run that is done, and removes its parts.
func (p *Plan) finish(m *runs.Manifest, since time.Time) error {
	now := time.Now().UTC()
	m.Timings.Finished = &now
	m.Timings.Seconds += now.Sub(since).Seconds()
	m.Status = runs.StatusComplete
	switch {
	case p.rows != nil:
		m.Status = runs.StatusRange
	case m.Errors > 0 || p.live != nil && m.Judge.Failed > 0:
		m.Status = runs.StatusPartial
	}
	if p.live != nil && p.job.Scored == nil {
		m.Judge.SpentUSD = new(float64(p.spentBefore+p.live.Usage().CostNanoUSD) / 1e9)
	}
	if err := m.Write(p.Dir); err != nil {
		return err
	}
	if m.Status == runs.StatusPartial && p.live != nil && p.job.Config.Judge.Cache == configs.CacheOff {
		return removeLeftovers(p.Dir) // but the store of answers stays, for the next attempt
	}
	return p.held.remove(filepath.Join(p.Dir, partsDir))
}

// interrupted tells a stop on purpose from trouble, and keeps the time spent.
func (p *Plan) interrupted(ctx context.Context, err error, m *runs.Manifest, done int64, since time.Time) error {
	m.Timings.Seconds += time.Since(since).Seconds()
	if e := m.Write(p.Dir); e != nil {
		err = errors.Join(err, e)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return &InterruptedError{Done: done, Rows: p.Rows, Judged: p.live != nil, Batches: p.openBatches}
	}
	if stop, ok := errors.AsType[*judge.StopError](err); ok {
		if stop.Reason == judge.StopKey {
			told := *stop
			told.Hint = p.job.Config.KeyHint()
			stop = &told
		}
		return &StoppedError{Stop: stop, Done: done, Rows: p.Rows}
	}
	return err
}

// assemble makes the result files from the parts, and what is made of them.
func (p *Plan) assemble(ctx context.Context, m *runs.Manifest, from, to int64, docs *dataset.Documents) error {
	if err := p.joinTables(from, to); err != nil {
		return err
	}
	// What labels said of the rows before says nothing of these.
	if err := removeIfThere(filepath.Join(p.Dir, runs.CalibrationFile)); err != nil {
		return err
	}
	if err := p.writeAgreement(ctx, docs); err != nil {
		return err
	}
	return p.sumUp(ctx, m)
}

// joinTables makes the result files of parts, or of the results that the run is made of.
func (p *Plan) joinTables(from, to int64) (err error) {
	p.stage("joining parts", p.Rows)(0)
	layout := p.rowsLayout()
	for _, kind := range p.partFiles() {
		var list []parquet.Part
		for k := from; k < to && p.job.Scored == nil; k++ {
			list = append(list, parquet.Part{Path: p.partPath(k, kind)})
		}
		if p.job.Scored != nil {
			if list, err = p.job.Scored.parts(kind); err != nil {
				return err
			}
		}
		err = dataset.WriteFile(filepath.Join(p.Dir, kind.result()), func(w io.Writer) error {
			return parquet.Join(w, kind.form(layout).Fields(), list, nil)
		})
		if err != nil {
			return err
		}
	}
	return p.saveTexts()
}

// sumUp makes the summary of the result files and fills the manifest from them.
func (p *Plan) sumUp(ctx context.Context, m *runs.Manifest) error {
	counted, err := p.summarize(ctx, summaryMemory)
	if err != nil {
		return err
	}
	m.Rows, m.Errors = counted.rows, counted.errors
	sums, err := sumSystems(p.Dir)
	if err != nil {
		return err
	}
	if err := p.countCitations(m, sums); err != nil {
		return err
	}
	if counted.left > 0 {
		p.warnOf(m, "%s", runs.LeftOutText(counted.left))
	}
	if counted.few {
		p.warnOf(m, "intervals rest on few documents; for results about these documents only: statistics.cluster: question")
	}
	for _, text := range m.Moved() { // places that are not where they were said to be
		p.warnOf(m, "%s", text)
	}
	p.findSigns(m, sums, counted.doubtful)
	if m.Rows > 0 {
		m.Coverage = new(float64(m.Rows-m.Errors) / float64(m.Rows))
	}
	if p.judge == nil {
		return nil
	}
	if !slices.Contains(p.partFiles(), partClaims) {
		m.Claims = sumOf(sums, metrics.Claims)
		p.warnOf(m, "without %s nothing is known of claims that the judge could not answer but what the rows say", runs.ClaimsFile)
		p.countTampering(m, sums)
		return nil
	}
	if err := p.countClaims(m); err != nil {
		return err
	}
	p.countTampering(m, sums)
	if p.live == nil {
		return nil
	}
	failures, err := countCalls(p.Dir, &m.Judge)
	if err != nil {
		return err
	}
	p.warnOfJudge(m)
	p.warnOfFailures(m, failures)
	return nil
}

// countCitations counts the citations and, where there is a table of them, their statuses.
func (p *Plan) countCitations(m *runs.Manifest, sums map[string]*systemSums) error {
	if !slices.Contains(p.partFiles(), partCitations) {
		p.warnOf(m, "without %s rows are shown without their citations, and statuses are not counted", runs.CitationsFile)
		m.Citations = sumOf(sums, metrics.Citations)
		return nil
	}
	f, err := runs.OpenFrame(filepath.Join(p.Dir, runs.CitationsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	m.Citations, m.Statuses = f.Len(), make(map[string]int64)
	return f.Each(func(b *runs.Block) error {
		for _, status := range b.Texts("status") {
			m.Statuses[status]++
		}
		return nil
	})
}

func removeIfThere(path string) error {
	if err := disk.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
