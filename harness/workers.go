package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/judge/openrouter"
	"ibid/metrics"
	"ibid/metrics/claims"
	"ibid/metrics/presence"
)

// An inputPart is one part on its way to a worker.
type inputPart struct {
	part  int64
	batch *dataset.Batch
	rows  int // of the batch that belong to the run: --limit may end within it

	stream *dataset.StreamBatch // the batch, of a stream; else nil
}

// A finishedPart is what a worker reports of a part.
type finishedPart struct {
	number int64
	errors int64 // rows
	places placesBySystem
	rows   int64          // rows of the input, also those that --only left out
	record dataset.Record // in place of all else, of a stream
}

// scoreParts scores the parts that read yields. One goroutine reads, workers
// score and finish, and the caller's goroutine collects: no goroutine writes
// what another one reads. done is called once for each part, in the order of
// completion; tick now and then while a live judge answers, with the rows that
// it has answered.
//
// A live judge is asked under ctx, not under the group's: when one worker fails,
// what the others asked is paid for and waited for.
func (p *Plan) scoreParts(ctx context.Context, layout *runs.RowsLayout, docs *dataset.Documents, read func(ctx context.Context, yield func(inputPart) error) error,
	finish func(ctx context.Context, w *worker, in inputPart) (finishedPart, error), done func(finishedPart), tick func(answered int64),
) error {
	queue := p.startJudgeQueue(ctx)
	defer queue.end()
	g, ctx := errgroup.WithContext(ctx)
	parts := make(chan inputPart)
	finished := make(chan finishedPart)

	g.Go(func() error {
		defer close(parts)
		return read(ctx, func(in inputPart) error {
			select {
			case parts <- in:
				return nil
			case <-ctx.Done():
				in.batch.Release()
				return ctx.Err()
			}
		})
	})
	var workers errgroup.Group
	for range p.workers() {
		w, err := newWorker(p, layout, docs)
		if err != nil {
			return err
		}
		w.queue = queue
		workers.Go(func() error { return w.run(ctx, parts, finished, finish) })
	}
	g.Go(func() error {
		defer close(finished)
		return workers.Wait()
	})
	var ticks <-chan time.Time
	if queue != nil { // minutes may pass before a part is complete
		ticker := time.NewTicker(tickEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for open := true; open; {
		var d finishedPart
		select {
		case d, open = <-finished:
			if open {
				done(d)
			}
		case <-ticks:
			tick(queue.answered.Load())
		}
	}
	return g.Wait()
}

// decode yields the parts from one number to before another, in order.
func (p *Plan) decode(ctx context.Context, from, to, rowsPerPart int64, yield func(inputPart) error) error {
	next := from
	left := p.Rows - from*rowsPerPart
	err := p.source.Read(ctx, from*rowsPerPart, int(rowsPerPart), func(b *dataset.Batch) error {
		rows := int(min(left, int64(b.Len())))
		left -= int64(rows)
		if err := yield(inputPart{part: next, batch: b, rows: rows}); err != nil {
			return err
		}
		next++
		if next == to {
			return errEnough
		}
		return nil
	})
	return ignoreEnough(err)
}

// A worker scores parts, one after the other.
type worker struct {
	plan    *Plan
	layout  *runs.RowsLayout
	docs    *dataset.Documents // nil if there are none
	queue   *judgeQueue        // nil without a live judge
	scorer  *scorer
	record  *recorder
	sums    bool // the rows become a run
	encoder parquet.Encoder
	row     ibid.Answer
}

// rowsLayout has the columns that the run can fill.
func (p *Plan) rowsLayout() *runs.RowsLayout { return runs.NewRowsLayout(p.lacks()...) }

// lacks are the needs of columns of rows.parquet that the run does not meet.
func (p *Plan) lacks() (lacks []string) {
	s := &p.job.Config.Settings
	for need, has := range map[string]bool{
		runs.NeedsJudge: p.judge != nil, runs.NeedsTexts: p.hasDocuments() || p.inline, runs.NeedsAuto: s.Statistics.Cluster == runs.AutoCluster,
		runs.SourceTypeSlice: slices.Contains(s.Slices, runs.SourceTypeSlice), runs.SourceStatusSlice: slices.Contains(s.Slices, runs.SourceStatusSlice),
	} {
		if !has {
			lacks = append(lacks, need)
		}
	}
	return lacks
}

func newWorker(p *Plan, layout *runs.RowsLayout, docs *dataset.Documents) (*worker, error) {
	s, err := newScorer(p, docs)
	if err != nil {
		return nil, err
	}
	r := newRecorder(layout, p.lacks(), p.options.Supported)
	r.hashes = p.severalSystems
	return &worker{plan: p, layout: layout, docs: docs, scorer: s, record: r}, nil
}

func (w *worker) run(ctx context.Context, parts <-chan inputPart, finished chan<- finishedPart, finish func(context.Context, *worker, inputPart) (finishedPart, error)) error {
	for in := range parts {
		part, err := finish(ctx, w, in)
		if err == nil && in.batch.Citations() > largePart {
			err = w.forget()
		}
		in.batch.Release()
		if err != nil {
			return err
		}
		select {
		case finished <- part:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// largePart is how many citations a part has from which a worker lets go of what it used
// for it. Few of so large ones are on their way at one time, but each worker meets one.
const largePart = 1 << 17

// forget makes the worker anew, without its memory.
func (w *worker) forget() error {
	fresh, err := newWorker(w.plan, w.layout, w.docs)
	if err != nil {
		return err
	}
	fresh.queue = w.queue
	*w = *fresh
	runtime.GC()
	return nil
}

// scorePart scores one part, writes its results and returns what the run needs of it.
func (w *worker) scorePart(ctx context.Context, in inputPart) (finishedPart, error) {
	w.sums = true
	part := finishedPart{number: in.part, rows: int64(in.rows)}
	if err := w.scoreRows(ctx, in); err != nil {
		return part, err
	}
	for _, kind := range w.plan.partFiles() {
		// They need not outlive the process: another makes them again.
		f, err := disk.Open(w.plan.partPath(in.part, kind), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return part, err
		}
		if err := errors.Join(w.encoder.EncodePart(f, w.record.tables[kind]), f.Close()); err != nil {
			return part, err
		}
	}
	part.errors, part.places = w.record.errors, w.record.places
	return part, nil
}

// scoreRows scores the rows of one part into the tables of the recorder.
func (w *worker) scoreRows(ctx context.Context, in inputPart) error {
	answers, err := w.askJudge(ctx, in, nil)
	if err != nil {
		return err
	}
	if err := w.readVerdicts(in); err != nil {
		return err
	}
	w.record.reset()
	for i := range in.rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		in.batch.Row(i, &w.row)
		if !w.plan.job.wants(&w.row) {
			continue
		}
		if err := w.plan.annotators.add(&w.row, w.plan.job.Config.Limits); err != nil {
			return err
		}
		if answers != nil {
			w.scorer.judging.answer = &answers[i]
		}
		if err := w.scoreRow(ctx); err != nil {
			return w.atRow(err)
		}
	}
	return nil
}

// readVerdicts reads the verdicts that are kept on the rows of a part, if the judge has such.
func (w *worker) readVerdicts(in inputPart) (err error) {
	j := w.scorer.judging
	if j == nil || j.kept == nil {
		return nil
	}
	var rows []string
	for i := range in.rows {
		id, system, _ := in.batch.Key(i)
		rows = append(rows, id+"/"+system)
	}
	j.said, err = j.kept.read(rows)
	return err
}

// atRow says which row an error is about.
func (w *worker) atRow(err error) error {
	return fmt.Errorf("%s: row %d: %w", w.row.File, w.row.FileRow, err)
}

// scoreRow scores the current row. A panic is a bug, but not a reason to lose the
// stack or the row's place.
func (w *worker) scoreRow(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	failure, err := w.scorer.score(ctx, &w.row)
	if err != nil {
		return err
	}
	w.record.add(&w.row, w.scorer, failure)
	if !w.sums {
		return nil
	}
	w.plan.noteAnnotators(&w.row)
	return w.keepTexts(failure)
}

// textCache is how many bytes of texts and tokens a worker keeps at hand.
const textCache = 16 << 20

// A scorer turns rows into scores; each worker has its own. It is a function of
// the row: nothing is carried from one row to the next.
type scorer struct {
	resolver *dataset.Resolver
	metrics  *metrics.Scorer
	texts    metrics.TokenSource // nil if no text can be known
	judging  *judging            // nil without a judge
	cutter   *claims.Cutter      // that of judging if there is one

	quotations     []quotation     // of the row
	keptQuotations *keptQuotations // results of an earlier run, if the documents are gone; else nil

	comparesMarks func(row int64) bool // whether compareMarks looks at a row

	notFetched *notFetched
	row        metrics.Row
	scores     metrics.Scores
}

func newScorer(p *Plan, docs *dataset.Documents) (*scorer, error) {
	s := &scorer{metrics: metrics.NewScorer(p.options), notFetched: &p.notFetched, comparesMarks: sampleOf(p.Rows)}
	s.resolver = p.resolver(docs)
	if p.kept != "" {
		var err error
		if s.keptQuotations, err = p.keptQuotations(); err != nil {
			return nil, err
		}
	}
	if docs != nil || p.inline {
		s.texts = s.resolver
	}
	if p.judge != nil {
		var err error
		if s.judging, err = newJudging(p, s.resolver); err == nil {
			s.cutter = s.judging.cutter
		}
		return s, err
	}
	options, err := claimOptions(&p.job.Config.Settings)
	s.cutter = claims.NewCutter(options)
	return s, err
}

// score resolves the places of the row and fills scores. A row that cannot be
// scored gives the reason as failure and has no defined score; err means that the
// run cannot go on.
func (s *scorer) score(ctx context.Context, in *ibid.Answer) (failure, err error) {
	if failure := badRow(in); failure != nil {
		s.scores.Fail(ibid.RowError)
		return failure, nil
	}
	bad := s.resolver.Resolve(in)
	if err := s.resolver.Err(); err != nil {
		return nil, err
	}
	if bad != nil {
		s.scores.Fail(ibid.RowError)
		return bad, nil
	}
	s.row.Answer, s.row.Tokens = *in, s.texts
	if s.judging != nil {
		if err := s.judging.row(ctx, in); err != nil {
			return nil, err
		}
		s.judging.fill(&s.row)
	} else {
		var cut claims.Claims
		if in.HasTruth && in.HasCitations && len(in.Citations) == 0 { // does it abstain?
			cut = s.cutter.Cut(in)
		}
		s.row.Claims, s.row.HasClaims, s.row.Abstains = cut.List, cut.Known, cut.Abstains
	}
	s.checkQuotations(in)
	s.metrics.Score(&s.row, &s.scores)
	if failure := s.scores.LimitErr; failure != nil {
		s.scores.Fail(ibid.RowError)
		return failure, nil
	}
	switch err := s.scores.PresenceErr; {
	case errors.Is(err, presence.ErrNotFetched):
		s.notFetched.add(err)
	case errors.Is(err, openrouter.ErrNotKept): // and nobody is to be asked
	case err != nil:
		return nil, err // the embedder cannot answer this row nor the next
	}
	return nil, s.resolver.Err()
}

// request returns what a row asks of the judge: nil if it has no claims or cannot
// be scored. It is valid until the scorer takes the next row.
func (s *scorer) request(in *ibid.Answer) (*judge.Request, error) {
	if badRow(in) != nil {
		return nil, nil
	}
	bad := s.resolver.Resolve(in)
	if err := s.resolver.Err(); err != nil || bad != nil {
		return nil, err
	}
	s.judging.prepare(in)
	if !s.judging.asks() {
		return nil, s.resolver.Err()
	}
	return &s.judging.request, s.resolver.Err()
}

// sentences returns what a row asks of a model that makes claims of sentences: nil if
// it has none, or if the judge would be asked nothing.
func (s *scorer) sentences(in *ibid.Answer) (*judge.Sentences, error) {
	s.judging.answer = nil
	r, err := s.request(in)
	if r == nil {
		return nil, err
	}
	out := &judge.Sentences{Row: r.Row, Question: r.Question, Answer: r.Answer}
	for i := range s.judging.claims {
		out.Sentences = append(out.Sentences, s.judging.claims[i].Text)
	}
	return out, err
}

// badRow returns why a row cannot be scored, or nil.
func badRow(in *ibid.Answer) error {
	switch {
	case in.Err != nil:
		return in.Err
	case in.IDNull: // a run stops before
		return errors.New("id: null")
	case in.QueryNull:
		return errors.New("query: null")
	case in.AnswerNull:
		return errors.New("answer: null")
	}
	return nil
}
