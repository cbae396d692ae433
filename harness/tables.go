package harness

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
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
	var all []*runs.Manifest // of each folder; nil of one that is no run
	seen := make(map[string]bool)
	for _, file := range files {
		dir := filepath.Dir(file)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		m, err := runs.ReadManifestIfAny(dir)
		switch {
		case err != nil:
			return nil, err
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
		all = append(all, m)
	}
	if slices.Contains(all, nil) {
		t.Manifest = nil
		return t, nil
	}
	t.places, t.documents = placesIn(all), all[0].Ingredients["documents"]
	if slices.ContainsFunc(all, func(m *runs.Manifest) bool { return m.Ingredients["documents"] != t.documents }) {
		t.documents = ""
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

// planTables opens the rows and derives the fingerprint. Nothing is scored: rows have the order
// of the files, which the column row counts. Texts, and what annotators marked, are not known.
func (p *Plan) planTables(ctx context.Context) (err error) {
	t, c := p.tables, p.job.Config
	if err := checkGates(c, p.job.Baseline != NoBaseline); err != nil {
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
	if p.questions, p.severalSystems, err = checkKeys(ctx, t.rows.Select(dataset.WantKeys), 0, c.Limits, p.stage("checking keys", p.Rows)); err != nil {
		return err
	}
	if p.judge, err = p.openJudge(ctx); err != nil { // nobody is asked
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
	t := p.tables
	m.Places = t.places
	progress, hash := p.stage("reading rows", p.Rows), t.layout.Index("answer_hash")
	err := p.take(ctx, partRowsFile, t.rows, t.layout.Fields(), t.rows.BatchRows(maxPartRows), func(b *dataset.Batch, table *parquet.Table) error {
		progress(b.Pos())
		for i := range b.Len() {
			if err := b.AppendTo(table, i, b.Pos()+int64(i)); err != nil {
				return err
			}
		}
		if !p.severalSystems { // whose answers only are compared
			table.At(hash).Clear()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.setComponents(p.Dir, m); err != nil {
		return err
	}
	if err := p.checkTags(); err != nil {
		return err
	}
	for _, kind := range []partFile{partCitations, partClaims, partVerdicts, partQuotes} {
		if err := p.takeBeside(ctx, kind, m); err != nil {
			return err
		}
	}
	return p.sumUp(ctx, m)
}

// take makes the result of a kind from the batches of a source, each a row group; fill adds a
// batch to a table.
func (p *Plan) take(ctx context.Context, kind partFile, source *dataset.Source, fields []parquet.Field, perGroup int, fill func(*dataset.Batch, *parquet.Table) error) error {
	p.tables.kinds = append(p.tables.kinds, kind)
	return dataset.WriteFile(filepath.Join(p.Dir, kind.result()), func(w io.Writer) error {
		table, groups := parquet.NewTable(fields), 0
		var e parquet.Encoder
		e.Begin(w, fields)
		err := source.Read(ctx, 0, perGroup, func(b *dataset.Batch) error {
			defer b.Release()
			table.Reset()
			if err := fill(b, table); err != nil {
				return err
			}
			groups++
			return e.Group(table)
		})
		if err == nil && groups == 0 {
			err = e.Group(table)
		}
		if err != nil {
			return err
		}
		return e.End(nil)
	})
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
	if len(without) > 0 || kind != partCitations && kind != partQuotes && p.judge == nil {
		if len(files) > 0 && len(without) > 0 {
			p.warnOf(m, "%s has no %s beside it: all of them are left out", without[0], kind.result())
		}
		return nil
	}
	fields := kind.form(p.tables.layout).Fields()
	source, err := dataset.OpenTable(files, fields, limitsOf(&p.job.Config.Settings))
	if err != nil {
		return err
	}
	rows, err := runs.OpenRows(p.Dir)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := rowCursor{rows: rows, block: rows.Block(0)}
	return p.take(ctx, kind, source, fields, maxPartRows, func(b *dataset.Batch, table *parquet.Table) error {
		for i := range b.Len() {
			id, system, _ := b.Key(i)
			row, found := at.find(id, system)
			if err := at.block.Err(); err != nil {
				return err
			}
			if !found {
				file, entry := b.Place(i)
				return &ibid.Error{
					File: file, Row: ibid.Some(entry), Column: "id", Err: fmt.Errorf("of id %q, system %q, which no further row has", id, system),
					Hint: "put entries in the order of their rows, or leave the file out: all of its kind then stay out",
				}
			}
			if err := b.AppendTo(table, i, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// A rowCursor is at a row of a run.
type rowCursor struct {
	rows  *runs.Frame
	block *runs.Block
	index int // in its block
}

// find goes on to the row of a key, and returns its position; false if no further row has it.
func (c *rowCursor) find(id, system string) (int64, bool) {
	for {
		ids, systems := c.block.Texts("id"), c.block.Texts("system")
		for ; c.index < len(ids); c.index++ {
			if ids[c.index] == id && systems[c.index] == system {
				return c.block.First + int64(c.index), true
			}
		}
		if c.block.Err() != nil || c.block.Number+1 == c.rows.Blocks() {
			return 0, false
		}
		c.block, c.index = c.rows.Block(c.block.Number+1), 0
	}
}
