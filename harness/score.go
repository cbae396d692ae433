package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// A Filter says which table of results becomes of a stream of rows.
type Filter struct {
	Table   string   // rows, citations, verdicts or quotes
	Format  string   // of the rows: arrow or jsonl; "" recognises it
	Without []string // columns that no row has a value in: truth, documents
}

// FilterTables are the tables that a [Filter] can have.
var FilterTables = []string{string(partRowsFile), string(partCitations), string(partVerdicts), string(partQuotes)}

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
	return dataset.NewArrowTable(partFile(f.Table).form(runs.NewRowsLayout()).Fields(), map[string]string{"ibid.table": f.Table, "ibid.metrics": metricsVersion})
}

// A rowStream is rows that come one batch after the other.
type rowStream interface {
	// Source is what the rows have, without them. Use takes the same with what is joined.
	Source() *dataset.Source
	Use(*dataset.Source)
	// Each calls yield with every batch.
	Each(ctx context.Context, yield func(*dataset.StreamBatch) error) error
	Close() error
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
	p := &Plan{job: j, severalSystems: true, Dir: fmt.Sprintf("score-%d", os.Getpid())}
	closeAll, err := p.planFilter(ctx, f)
	if err != nil {
		return asUsage(err)
	}
	defer closeAll() // what was paid for is kept already
	to, err := table.Begin(out)
	if err != nil {
		return err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := p.openStream(Interruptible(reading, in), f)
	if err == nil {
		defer stream.Close()
		err = p.filterBy(ctx, f, stream)
	}
	if err != nil {
		return streamError(err)
	}
	if err := p.filter(ctx, stream, table, partFile(f.Table), to, stop); err != nil {
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
	s := &p.job.Config.Settings
	for _, open := range []func(context.Context) error{p.openGold, p.openDocuments, p.openNames, p.openScoring} {
		if err := open(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case p.judge == nil && f.Table == string(partVerdicts):
		return nil, ibid.Usagef("there are no verdicts without a judge").With("set judge.kind, or --table rows")
	case p.live == nil:
	case s.Judge.Batch || s.Judge.Cache == configs.CacheOff:
		return nil, ibid.Usagef("judge.batch, and judge.cache: off, need a run directory, which a stream has not")
	case s.Judge.MaxCostUSD > 0:
		return nil, ibid.Usagef("judge.max_cost_usd holds for each process").With("leave it out and set a limit of the key at its provider, or use ibid run")
	}
	p.Ingredients = p.settingIngredients()
	p.Fingerprint = fingerprintOf(p.Ingredients)
	p.ID = "score"
	closeServices, err := p.openServices(ctx, &runs.Manifest{ID: p.ID, Fingerprint: p.Fingerprint, Judge: p.judgeRecord(), Timings: runs.Timings{Started: time.Now().UTC()}})
	if err != nil {
		return nil, err
	}
	if p.documents != nil { // nobody knows which will be cited
		p.loaded, err = dataset.LoadAll(ctx, p.documents, nil)
		p.warnOfDocuments(p.loaded)
	}
	if err = cmp.Or(err, p.checkLabels(ctx)); err != nil {
		return nil, errors.Join(err, p.loaded.Close(), closeServices())
	}
	return func() error { return errors.Join(p.loaded.Close(), closeServices()) }, nil
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
	return errors.Join(p.checkOptions(), ctx.Err())
}

// filter scores batch by batch and writes the records in order. What cannot be written any more
// ends reading by stop.
func (p *Plan) filter(ctx context.Context, stream rowStream, table *dataset.ArrowTable, kind partFile, out *dataset.ArrowWriter, stop func()) error {
	ahead := make(chan struct{}, 2*p.workers()) // batches that are read and not written
	read := func(ctx context.Context, yield func(inputPart) error) error {
		next := int64(0)
		return stream.Each(ctx, func(b *dataset.StreamBatch) error {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			next++
			return yield(inputPart{part: next - 1, batch: b.Batch, rows: b.Len(), stream: b})
		})
	}
	var records inOrder[dataset.Record]
	var writeErr error
	layout := runs.NewRowsLayout() // the columns of a stream are known before anything of it
	err := p.scoreParts(ctx, layout, p.loaded, read, func(ctx context.Context, w *worker, in inputPart) (finishedPart, error) {
		record, err := w.filter(ctx, in, table, kind)
		return finishedPart{number: in.part, record: record}, err
	}, func(d finishedPart) {
		records.add(d.number, d.record, func(record dataset.Record) {
			if <-ahead; writeErr != nil {
				return
			}
			if writeErr = out.Write(record); writeErr != nil {
				stop()
			}
		})
	}, func(int64) {})
	if err != nil && ctx.Err() != nil { // whatever the reader makes of it
		err = ctx.Err()
	}
	return cmp.Or(writeErr, err)
}

// An inOrder hands on what comes in any order in the order of its numbers, from 0.
type inOrder[T any] struct {
	next    int64
	waiting map[int64]T
}

// add calls do with v, and with what waits for it, as soon as all before are there.
func (o *inOrder[T]) add(number int64, v T, do func(T)) {
	if o.waiting == nil {
		o.waiting = make(map[int64]T)
	}
	o.waiting[number] = v
	for v, ok := o.waiting[o.next]; ok; v, ok = o.waiting[o.next] {
		do(v)
		delete(o.waiting, o.next)
		o.next++
	}
}

// filter scores a batch and makes a record of a table of it.
func (w *worker) filter(ctx context.Context, in inputPart, table *dataset.ArrowTable, kind partFile) (dataset.Record, error) {
	if err := w.scoreRows(ctx, in); err != nil {
		return nil, err
	}
	b := in.stream
	from := dataset.Origin{Row: b.InputRow, First: b.Pos()}
	if kind == partRowsFile { // rows without an id have nothing in other tables
		from.NoID = func(i int) bool { _, _, null := b.Key(i); return null }
	}
	return table.Record(w.record.tables[kind], &from)
}

// openStream opens the rows in the format that they have.
func (p *Plan) openStream(in io.Reader, f *Filter) (rowStream, error) {
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
	if format == jsonlFormat {
		return p.openLines(r, o)
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

type arrowStream struct{ *dataset.ArrowStream }

func (arrowStream) Close() error { return nil }

func (s arrowStream) Each(ctx context.Context, yield func(*dataset.StreamBatch) error) error {
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = yield(b)
		}
		if err != nil {
			return err
		}
	}
}
