package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
)

// A Filter says which table of results becomes of a stream of rows.
type Filter struct {
	Table   string          // rows, citations or verdicts
	Format  string          // of the rows: arrow or jsonl; "" recognises it
	Pass    []parquet.Field // columns of the input for the table rows
	Without []string        // columns that no row has a value in: truth, documents
}

// FilterTables are the tables that a [Filter] can have.
var FilterTables = []string{string(partRowsFile), string(partCitations), string(partVerdicts)}

// FilterWithout are the columns of which a [Filter] has to know that they are empty: one row
// says nothing of others, and scores depend on whether any has truth, or documents of its own.
var FilterWithout = []string{"truth", "documents"}

// FilterFormats are the formats of its rows.
var FilterFormats = []string{arrowFormat, jsonlFormat}

const (
	arrowFormat = "arrow"
	jsonlFormat = "jsonl"
)

// Form is the form of the stream that leaves. It depends on the filter alone.
func (f *Filter) Form() (*dataset.ArrowTable, error) {
	if len(f.Pass) > 0 && f.Table != string(partRowsFile) {
		return nil, ibid.Usagef("columns pass through the table rows only")
	}
	t, err := dataset.NewArrowTable(partFile(f.Table).form(runs.NewRowsLayout()).Fields(), f.Pass, map[string]string{"ibid.table": f.Table, "ibid.metrics": metricsVersion})
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err}
	}
	return t, nil
}

// A rowStream is rows that come one batch after the other.
type rowStream interface {
	// Next returns the next batch, io.EOF after the last.
	Next(ctx context.Context) (*dataset.StreamBatch, error)
	// Source is what the rows have, without them. Use takes the same with what is joined.
	Source() *dataset.Source
	Use(*dataset.Source)
}

// Score reads rows and writes what becomes of them as an Arrow IPC stream, batch by batch:
// as a run scores them, and with nothing carried from one row to the next. The schema is
// written before anything is read. A row that cannot be scored has the status error. What is
// wrong with the settings or the stream is [ibid.ErrUsage].
//
// Reading goes on while results are written, as many batches ahead as there are workers.
func (j *Job) Score(ctx context.Context, in io.Reader, out io.Writer, f *Filter) error {
	table, err := f.Form()
	if err != nil {
		return err
	}
	p := &Plan{job: j, shared: newSharedDocuments(), severalSystems: true, Dir: fmt.Sprintf("score-%d", os.Getpid())}
	closeAll, err := p.planFilter(ctx, f)
	if err != nil {
		return asUsage(err)
	}
	defer closeAll() // what was paid for is kept already
	to, err := table.Begin(out)
	if err != nil {
		return err
	}
	stream, err := p.openStream(ctx, in, f)
	if err == nil {
		defer stream.Close()
		err = p.filterBy(ctx, f, stream)
	}
	if err != nil {
		return streamError(err)
	}
	if err := p.filter(ctx, stream, table, partFile(f.Table), to); err != nil {
		return streamError(err)
	}
	return to.Close()
}

// streamError tells what a stream is blamed for from trouble with reading it.
func streamError(err error) error {
	if _, ok := errors.AsType[*ibid.Error](err); ok {
		return asUsage(err)
	}
	return err
}

// planFilter opens what scoring needs beside the rows.
func (p *Plan) planFilter(ctx context.Context, f *Filter) (closeAll func() error, err error) {
	c := p.job.Config
	s := &c.Settings
	if err := p.openGold(); err != nil {
		return nil, err
	}
	if p.judge, err = p.openJudge(); err != nil {
		return nil, err
	}
	p.live, _ = p.judge.(judge.Live)
	switch {
	case p.judge == nil && f.Table == string(partVerdicts):
		return nil, ibid.Usagef("there are no verdicts without a judge").With("set judge.kind, or --table rows")
	case p.live == nil:
	case s.Judge.Batch || s.Judge.Cache == configs.CacheOff:
		return nil, ibid.Usagef("judge.batch, and judge.cache: off, need a run directory, which a stream has not")
	case s.Judge.MaxCostUSD > 0:
		return nil, ibid.Usagef("judge.max_cost_usd holds for each process").With("leave it out and set a limit of the key at its provider, or use ibid run")
	}
	p.options = optionsOf(s, p.job.judgeKind())
	p.options.AsksElsewhere = p.asksElsewhere()
	if err := p.openDetector(ctx); err != nil {
		return nil, err
	}
	p.Ingredients = p.settingIngredients()
	p.Fingerprint = fingerprintOf(p.Ingredients)
	p.ID = "score"
	var closers []func() error
	closeAll = func() error {
		var err error
		for _, c := range slices.Backward(closers) {
			err = errors.Join(err, c())
		}
		return err
	}
	m := &runs.Manifest{ID: p.ID, Fingerprint: p.Fingerprint, Judge: p.judgeRecord(), Timings: runs.Timings{Started: p.job.now().UTC()}}
	for _, open := range []func() (func() error, error){
		func() (func() error, error) { return p.openLive(ctx, m) },
		func() (func() error, error) { return p.openEmbedder(auditName(m)) },
		func() (func() error, error) { return p.openAllDocuments(ctx) },
	} {
		closer, err := open()
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		closers = append(closers, closer)
	}
	return closeAll, p.checkLabels(ctx)
}

// openAllDocuments reads the documents, of which nobody knows which will be cited.
func (p *Plan) openAllDocuments(ctx context.Context) (func() error, error) {
	s := &p.job.Config.Settings
	if s.DocNames == "normalized" {
		p.names = new(dataset.DocumentNames)
	}
	if s.Documents == "" {
		return nothing, nil
	}
	var err error
	if p.documents, err = dataset.OpenDocuments(s.Documents, dataset.ReadOptions{Columns: s.Columns, Limits: limitsOf(s)}); err != nil {
		return nil, err
	}
	if p.names != nil {
		if p.names, err = p.documents.Names(ctx); err != nil {
			return nil, err
		}
	}
	if p.loaded, err = dataset.LoadDocuments(ctx, p.documents, nil); err != nil {
		return nil, err
	}
	for _, text := range p.loaded.Problems() {
		p.job.warn("%s", text)
	}
	return p.loaded.Close, nil
}

// filterBy brings settings and the columns of the stream together.
func (p *Plan) filterBy(ctx context.Context, f *Filter, stream rowStream) (err error) {
	p.source = stream.Source().Join(p.truth, p.labels)
	if p.names != nil {
		p.source = p.source.Normalize(p.names)
	}
	stream.Use(p.source)
	if p.conventions, err = p.agreedConventions(); err != nil {
		return err
	}
	p.options.SpanComponent = p.source.HasTruth() && !slices.Contains(f.Without, "truth")
	p.inline = p.source.HasDocuments() && !slices.Contains(f.Without, "documents")
	if p.conventions.NeedDocuments() && p.loaded == nil && !p.inline {
		return ibid.Usagef("offset_unit is %s, but there are no documents to convert by", p.conventions.OffsetUnit).With("give the documents: --documents PATH")
	}
	if err := p.options.Validate(); err != nil {
		return &ibid.Error{Usage: true, Err: err}
	}
	return ctx.Err()
}

// A filtered is one batch on its way: its record comes when it has been scored.
type filtered struct {
	batch  *dataset.StreamBatch
	record chan dataset.Record
}

// filter scores batch by batch. One goroutine reads, which nothing waits for at the end: a
// pipe cannot be told to stop. Workers score, and the caller's goroutine writes in order.
func (p *Plan) filter(ctx context.Context, stream rowStream, table *dataset.ArrowTable, kind partFile, out *dataset.ArrowWriter) error {
	queue := p.startJudgeQueue(ctx)
	defer queue.end()
	workers := p.workers(queue)
	work, ordered := make(chan *filtered), make(chan *filtered, workers)
	g, inner := errgroup.WithContext(ctx)
	var readErr error
	go func() {
		defer close(ordered)
		defer close(work)
		for {
			b, err := stream.Next(inner)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					readErr = err
				}
				return
			}
			one := &filtered{b, make(chan dataset.Record, 1)}
			for _, to := range []chan<- *filtered{ordered, work} {
				select {
				case to <- one:
				case <-inner.Done():
					return
				}
			}
		}
	}()
	layout := runs.NewRowsLayout() // the columns of a stream are known before anything of it
	for range workers {
		w, err := newWorker(p, layout, p.loaded)
		if err != nil {
			return err
		}
		w.queue = queue
		g.Go(func() error {
			for {
				select {
				case one, open := <-work:
					if !open {
						return nil
					}
					record, err := w.filter(inner, one.batch, table, kind)
					if err != nil {
						return err
					}
					one.record <- record
				case <-inner.Done():
					return inner.Err()
				}
			}
		})
	}
	g.Go(func() error {
		for {
			select {
			case one, open := <-ordered:
				if !open {
					return readErr
				}
				select {
				case record := <-one.record:
					if err := out.Write(record); err != nil {
						return err
					}
				case <-inner.Done():
					return inner.Err()
				}
			case <-inner.Done():
				return inner.Err()
			}
		}
	})
	return g.Wait()
}

// filter scores a batch and makes a record of a table of it.
func (w *worker) filter(ctx context.Context, b *dataset.StreamBatch, table *dataset.ArrowTable, kind partFile) (dataset.Record, error) {
	if err := w.scoreRows(ctx, inputPart{batch: b.Batch, rows: b.Len()}); err != nil {
		return nil, err
	}
	from := dataset.Origin{Row: b.InputRow, First: b.Pos(), Record: b.Record}
	if kind == partRowsFile { // rows without an id have nothing in other tables
		from.NoID = func(i int) bool { _, _, null := b.Key(i); return null }
	}
	record, err := table.Record(w.record.table(kind), &from)
	large := b.Citations() > largePart
	b.Release()
	if err == nil && large {
		err = w.forget()
	}
	return record, err
}

// openStream opens the rows in the format that they have.
func (p *Plan) openStream(ctx context.Context, in io.Reader, f *Filter) (closingStream, error) {
	s := &p.job.Config.Settings
	o := dataset.ReadOptions{Columns: s.Columns, Want: p.want(), Limits: limitsOf(s)}
	r := bufio.NewReaderSize(in, 1<<16)
	start, err := r.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", stdinName, err)
	}
	format := f.Format
	switch {
	case format != "":
	case len(start) == 0:
		return nil, &ibid.Error{File: stdinName, Err: errors.New("empty"), Hint: "send an Arrow IPC stream, or say that there are no rows: --format jsonl"}
	case bytes.HasPrefix(start, []byte("PAR1")):
		return nil, &ibid.Error{File: stdinName, Err: errors.New("a Parquet file, not a stream"), Hint: "name the file, and a directory: ibid score RUN.yaml FILE --rows 0: -o DIR"}
	case strings.IndexByte("{[ \t\r\n\xef", start[0]) >= 0:
		format = jsonlFormat
	default:
		format = arrowFormat
	}
	if len(f.Pass) > 0 && format != arrowFormat {
		return nil, ibid.Usagef("columns pass through from an Arrow stream only, not from %s", format)
	}
	if format == jsonlFormat {
		return p.openLines(ctx, r, o)
	}
	if bytes.HasPrefix(start, []byte("ARROW1")) { // a file: a stream behind eight bytes
		if _, err := r.Discard(8); err != nil {
			return nil, err
		}
	}
	stream, err := dataset.OpenArrow(r, stdinName, o)
	if err != nil {
		return nil, err
	}
	return arrowStream{stream}, nil
}

const stdinName = "standard input"

// A closingStream is a rowStream that may have files.
type closingStream interface {
	rowStream
	Close() error
}

type arrowStream struct{ *dataset.ArrowStream }

func (arrowStream) Close() error { return nil }
