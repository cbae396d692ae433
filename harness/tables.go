package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// Tables are results that somebody else has written and partitioned: files of rows, and the
// files of their citations, claims and verdicts beside them.
type Tables struct {
	Files    []string       // of rows
	Manifest *runs.Manifest // of the run that the first of them is of; nil unless all are of runs

	rows      *dataset.Source
	layout    *runs.RowsLayout
	documents string         // digest of the documents that all of these runs had; "" for none, or several
	places    placesBySystem // nil unless all are of runs
	kinds     []partFile     // that results have
}

// FindTables lists the files of rows that patterns name, see [dataset.Glob]. Rows of runs
// that were made with different settings, or by a version whose numbers mean something
// else, are [ibid.ErrUsage].
func FindTables(patterns []string) (*Tables, error) {
	files, err := dataset.Glob(patterns, runs.RowsFile)
	if err != nil {
		return nil, asUsage(err)
	}
	t := &Tables{Files: files}
	of := make(map[string]*runs.Manifest) // by folder
	for _, file := range files {
		dir := filepath.Dir(file)
		m, known := of[dir]
		if !known {
			if m, err = runs.ReadManifestIfAny(dir); err != nil {
				return nil, err
			}
			of[dir] = m
		}
		switch {
		case m == nil:
		case !m.Complete():
			return nil, ibid.Usagef("%s is of a run that is not finished", file).With("finish it, or leave it out")
		case m.Versions["metrics"] != metricsVersion:
			return nil, ibid.Usagef("%s is of version %s of the metrics, not %s", file, m.Versions["metrics"], metricsVersion).With("make its rows again, or leave it out")
		case t.Manifest == nil:
			t.Manifest = m
		default:
			if lines := changes(settingsIn(t.Manifest), settingsIn(m)); len(lines) > 0 {
				u := ibid.Usagef("%s was made with other settings than %s", file, files[0])
				u.More, u.Hint = lines, "make the rows with one run file, or leave it out"
				return nil, u
			}
		}
	}
	var manifests []*runs.Manifest
	for _, m := range of {
		if m == nil {
			t.Manifest, t.documents, manifests = nil, "", nil
			break
		}
		t.documents, manifests = m.Ingredients["documents"], append(manifests, m)
	}
	if len(manifests) > 0 {
		t.places = placesIn(manifests)
	}
	for _, m := range of {
		if m != nil && m.Ingredients["documents"] != t.documents {
			t.documents = ""
		}
	}
	return t, nil
}

// findLayout finds out which columns the rows have: those that need something are all there or
// none.
func (t *Tables) findLayout() error {
	f, err := parquet.Open(t.Files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	var lacks []string
	for _, c := range runs.Rows().Columns {
		if n, _ := f.Root.Child(c.Name); n == nil && c.Needs != "" && !slices.Contains(lacks, c.Needs) {
			lacks = append(lacks, c.Needs)
		}
	}
	t.layout = runs.NewRowsLayout(lacks...)
	return nil
}

// settingsIn are the ingredients of a run that are not its data.
func settingsIn(m *runs.Manifest) map[string]string {
	out := maps.Clone(m.Ingredients)
	maps.DeleteFunc(out, func(name, _ string) bool {
		return slices.Contains([]string{"dataset", "documents", "truth", "labels", rowsInput}, name) || strings.HasPrefix(name, "--")
	})
	return out
}

// rowsInput is the kind of input that files of rows are.
const rowsInput = "rows"

// Summarize makes the run directory OUT/ID of the settings from rows that are there: it
// scores nothing. Its rows have the order of the files; the column row counts them. Texts,
// and what annotators marked, are not known to it.
func (j *Job) Summarize(ctx context.Context, t *Tables) (*Outcome, error) {
	p := &Plan{job: j, shared: newSharedDocuments(), tables: t, named: t.Files[0]}
	if err := j.checkID(); err != nil {
		return nil, err
	}
	if err := p.planTables(ctx); err != nil {
		return nil, asUsage(err)
	}
	before, err := runs.ReadManifestIfAny(p.Dir)
	if err == nil {
		err = p.checkSame(before)
	}
	switch {
	case err != nil:
		return nil, err
	case before != nil && before.Complete():
		return outcomeOf(p.Dir, before, j.Config, j.Baseline, true)
	}
	if err := disk.MkdirAll(filepath.Join(p.Dir, partsDir)); err != nil {
		return nil, err
	}
	if p.held, err = acquire(filepath.Join(p.Dir, partsDir)); err != nil {
		return nil, err
	}
	defer p.held.release()
	if err := removeLeftovers(p.Dir); err != nil {
		return nil, err
	}
	m := p.manifest(before)
	if err := p.withLog(m, func() error { return p.takeTables(ctx, m) }); err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, p.held.remove(p.Dir)) // nothing in it is of use
		}
		return nil, asUsage(err)
	}
	return outcomeOf(p.Dir, m, j.Config, j.Baseline, false)
}

// planTables opens the rows and derives the fingerprint.
func (p *Plan) planTables(ctx context.Context) (err error) {
	t, c := p.tables, p.job.Config
	if err := checkGates(c, p.job.Baseline != ""); err != nil {
		return err
	}
	if err := t.findLayout(); err != nil {
		return err
	}
	if t.rows, err = dataset.OpenTable(t.Files, t.layout.Fields(), limitsOf(&c.Settings)); err != nil {
		return err
	}
	if p.Rows = t.rows.Rows(); p.Rows == 0 {
		return signNoRows.Stop("%s has no rows", t.Files[0])
	}
	if p.questions, err = checkKeys(ctx, t.rows.Select(dataset.WantKeys), 0, c.Limits, p.stage("checking keys", p.Rows)); err != nil {
		return err
	}
	p.severalSystems = p.questions == nil
	if p.judge, err = p.openJudge(); err != nil { // nobody is asked
		return err
	}
	p.Ingredients = p.settingIngredients()
	digests, err := t.rows.Digest(ctx, nil)
	if err != nil {
		return err
	}
	if t.documents != "" {
		p.Ingredients["documents"] = t.documents
	}
	p.addInputs(rowsInput, digests)
	p.Fingerprint = fingerprintOf(p.Ingredients)
	p.name()
	return p.checkBaseline()
}

// takeTables makes the result files of what is there, and sums them up.
func (p *Plan) takeTables(ctx context.Context, m *runs.Manifest) error {
	since := p.job.now()
	m.Places = p.tables.places
	if err := m.Write(p.Dir); err != nil {
		return err
	}
	perPart := int64(p.tables.rows.BatchRows(maxPartRows))
	parts := (p.Rows + perPart - 1) / perPart
	layout := p.tables.layout
	if err := p.takeRows(ctx, layout, int(perPart)); err != nil {
		return err
	}
	if err := p.joinParts(partRowsFile, layout.Fields(), p.partsOf(partRowsFile, 0, parts)); err != nil {
		return err
	}
	p.tables.kinds = append(p.tables.kinds, partRowsFile)
	if err := p.tables.setComponents(p.Dir, m); err != nil {
		return err
	}
	if err := p.checkTags(); err != nil {
		return err
	}
	for _, kind := range []partFile{partCitations, partClaims, partVerdicts} {
		if err := p.takeBeside(ctx, kind, m); err != nil {
			return err
		}
	}
	if err := p.sumUp(ctx, m, nil); err != nil {
		return err
	}
	return p.finish(m, since)
}

// setComponents says what the overall score is made of: as the run of the rows does, or else
// the components that some row has.
func (t *Tables) setComponents(dir string, m *runs.Manifest) error {
	if t.Manifest != nil {
		m.Components = t.Manifest.Components
		return nil
	}
	f, err := runs.OpenRows(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	o := metrics.DefaultOptions()
	o.SpanComponent, o.JudgeComponents = true, true
	all, has := o.Components(), make(map[string]bool)
	err = f.Each(func(b *runs.Block) error {
		for _, name := range all {
			has[name] = has[name] || slices.Contains(b.Column(name).Valid, true)
		}
		return nil
	})
	m.Components = slices.DeleteFunc(all, func(name string) bool { return !has[name] })
	return err
}

// checkTags stops a summary by a tag that no row has. It reads no further than the last tag
// that it looks for.
func (p *Plan) checkTags() error {
	missing := slices.DeleteFunc(slices.Clone(p.job.Config.Slices), runs.IsColumnSlice)
	tags := make(map[string]bool)
	err := runs.Rows().Scan(p.Dir, []string{"tags"}, func(_ int64, r *runs.Row) error {
		missing = slices.DeleteFunc(missing, func(key string) bool { _, has := r.Tags[key]; return has })
		if len(missing) == 0 {
			return errEnough
		}
		for key := range r.Tags {
			if len(tags) < maxNames {
				tags[key] = true
			}
		}
		return nil
	})
	if err := ignoreEnough(err); err != nil || len(missing) == 0 {
		return err
	}
	return signUnknownSlice.Stop("slices: no row has the tag %s", missing[0]).With(meantAmong(missing[0], slices.Sorted(maps.Keys(tags)), "tags are", "the rows have no tags"))
}

// takeRows makes parts of the rows.
func (p *Plan) takeRows(ctx context.Context, layout *runs.RowsLayout, perPart int) error {
	progress := p.stage("reading rows", p.Rows)
	g, ctx := errgroup.WithContext(ctx)
	batches := make(chan *dataset.Batch)
	g.Go(func() error {
		defer close(batches)
		return p.tables.rows.Read(ctx, 0, perPart, func(b *dataset.Batch) error {
			progress(b.Pos())
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	hash := layout.Index("answer_hash")
	for range p.job.workers() {
		g.Go(func() error {
			table := layout.Empty()
			var encoder parquet.Encoder
			for b := range batches {
				table.Reset()
				for i := range b.Len() {
					if err := b.AppendTo(table, i, b.Pos()+int64(i)); err != nil {
						return err
					}
				}
				if !p.severalSystems { // whose answers only are compared
					table.At(hash).Clear()
				}
				err := p.savePart(b.Pos()/int64(perPart), partRowsFile, func(w io.Writer) error { return encoder.EncodePart(w, table) })
				b.Release()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// takeBeside makes the result of a kind from the files beside the rows, if it is there for
// all of them. Its entries stand in the order of the rows that they are of.
func (p *Plan) takeBeside(ctx context.Context, kind partFile, m *runs.Manifest) error {
	var files, without []string
	for _, file := range p.tables.Files {
		beside := filepath.Join(filepath.Dir(file), kind.result())
		if _, err := os.Stat(beside); err != nil || filepath.Base(file) != runs.RowsFile {
			without = append(without, file)
		} else {
			files = append(files, beside)
		}
	}
	if len(without) > 0 || kind != partCitations && p.judge == nil {
		if len(files) > 0 && len(without) > 0 {
			p.warnOf(m, "%s has no %s beside it: all of them are left out", without[0], kind.result())
		}
		return nil
	}
	fields := map[partFile]*runs.Form{partCitations: p.tables.layout.Citations, partClaims: &runs.Claims.Form, partVerdicts: &runs.Verdicts.Form}[kind].Fields()
	source, err := dataset.OpenTable(files, fields, limitsOf(&p.job.Config.Settings))
	if err != nil {
		return err
	}
	w, err := p.newBeside(kind, fields)
	if err != nil {
		return err
	}
	defer w.rows.Close()
	var held []*dataset.Batch // whose texts the table has
	err = source.Read(ctx, 0, maxPartRows, func(b *dataset.Batch) error {
		held = append(held, b)
		for i := range b.Len() {
			id, system, _ := b.Key(i)
			for !w.at(id, system) {
				next, err := w.next()
				if err != nil {
					return err
				}
				if !next {
					file, row := b.Place(i)
					return &ibid.Error{
						File: file, Row: ibid.Some(row), Column: "id", Err: fmt.Errorf("of id %q, system %q, which no further row has", id, system),
						Hint: "put entries in the order of their rows, or leave the file out: all of its kind then stay out",
					}
				}
				if w.index == 0 { // a part was written
					for _, done := range held[:len(held)-1] {
						done.Release()
					}
					held = append(held[:0], b)
				}
			}
			if err := b.AppendTo(w.table, i, w.part.First+int64(w.index)); err != nil {
				return err
			}
		}
		return nil
	})
	for next := true; next && err == nil; {
		next, err = w.next()
	}
	if err != nil {
		return err
	}
	p.tables.kinds = append(p.tables.kinds, kind)
	return p.joinParts(kind, fields, p.partsOf(kind, 0, int64(w.rows.Blocks())))
}

// A besideWriter makes the parts of what stands beside rows: part k has what is of the rows
// of part k.
type besideWriter struct {
	plan    *Plan
	kind    partFile
	rows    *runs.Frame
	table   *parquet.Table
	encoder parquet.Encoder
	part    *runs.Block // nil at the end
	index   int         // the row, in its part
}

func (p *Plan) newBeside(kind partFile, fields []parquet.Field) (*besideWriter, error) {
	w := &besideWriter{plan: p, kind: kind, table: parquet.NewTable(fields)}
	var err error
	if w.rows, err = runs.OpenRows(p.Dir); err != nil {
		return nil, err
	}
	w.load(0)
	return w, nil
}

// load goes to the first row of part k.
func (w *besideWriter) load(k int) {
	if w.part, w.index = nil, 0; k < w.rows.Blocks() {
		w.part = w.rows.Block(k)
	}
}

// at reports whether the writer is at the row of that key.
func (w *besideWriter) at(id, system string) bool {
	return w.part != nil && w.index < w.part.Len() && w.part.Texts("id")[w.index] == id && w.part.Texts("system")[w.index] == system
}

// next goes to the next row, and writes the part if it has no more; false at the end.
func (w *besideWriter) next() (bool, error) {
	if w.part == nil {
		return false, nil
	}
	if w.index++; w.index < w.part.Len() {
		return true, nil
	}
	err := errors.Join(w.part.Err(), w.plan.savePart(int64(w.part.Number), w.kind, func(out io.Writer) error { return w.encoder.EncodePart(out, w.table) }))
	if err != nil {
		return false, err
	}
	w.table.Reset()
	w.load(w.part.Number + 1)
	return w.part != nil, nil
}
