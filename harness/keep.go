package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

// keepTexts writes what rows, and the documents around their places, say, so that the run
// can be read and scored again when its data are gone; see [dataset.KeptWriter]. With keep:
// nothing, and of a run without documents and judge, it removes what an earlier attempt left.
// The rows of anchors and of spans as given are rows of another run.
func (p *Plan) keepTexts(ctx context.Context, m *runs.Manifest, docs *dataset.Documents) (err error) {
	path := filepath.Join(p.Dir, runs.TextsFile)
	if p.job.ofAnchors || p.job.Config.Keep == keepNothing || p.documents == nil && !p.inline && p.judge == nil {
		return p.keepNothing()
	}
	source, err := p.openDataset(want | wantJudged | wantAnnotated)
	if err != nil {
		return err
	}
	resolver := p.resolver(docs)
	w, err := dataset.NewKeptWriter(path, filepath.Join(p.Dir, runs.TextDocumentsFile), resolver)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	found, err := p.foundElsewhere()
	if err != nil {
		return err
	}
	progress, done := p.stage("keeping texts", p.Rows), int64(0)
	var row ibid.Answer
	err = source.Read(ctx, 0, int(p.partRows()), func(b *dataset.Batch) error { // as many rows at once as the run has
		defer b.Release()
		for i := 0; i < b.Len() && done < p.Rows; i++ {
			b.Row(i, &row)
			done++
			write := w.Skip
			if p.job.wants(&row) {
				write = func(row *ibid.Answer) error { return w.Write(row, found[row.Pos]...) }
			}
			if err := write(&row); err != nil {
				return err
			}
		}
		progress(done)
		if done == p.Rows {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, dataset.ErrTooLongToKeep) {
		p.warnOf(m, "texts are not kept: row %d has %v", row.Pos, err)
		return errors.Join(w.Abort(), p.keepNothing())
	}
	if err = ignoreEnough(err); err != nil {
		return err
	}
	return w.Close()
}

func (p *Plan) keepNothing() error {
	return errors.Join(removeIfThere(filepath.Join(p.Dir, runs.TextsFile)), removeIfThere(filepath.Join(p.Dir, runs.TextDocumentsFile)))
}

// foundElsewhere are the places where claims have support that they do not cite, by the
// positions of their rows.
func (p *Plan) foundElsewhere() (map[int64][]ibid.Place, error) {
	if p.judge == nil {
		return nil, nil
	}
	found := make(map[int64][]ibid.Place)
	return found, runs.Claims.Scan(p.Dir, []string{"row", "elsewhere_doc", "elsewhere_page", "elsewhere_start", "elsewhere_end"}, func(_ int64, c *runs.Claim) error {
		if e := c.Elsewhere; e != nil && e.Doc != "" && e.Start != nil && e.End != nil {
			at := ibid.Place{Doc: e.Doc, Start: *e.Start, End: *e.End}
			if e.Page != nil {
				at.Page = *e.Page
			}
			found[c.Row] = append(found[c.Row], at)
		}
		return nil
	})
}

// The values of the setting keep.
const (
	keepExcerpts = "excerpts"
	keepNothing  = "nothing"
)

// orKept opens the inputs of the finished run m in dir, or in their place the texts that
// the run kept. The reason says why the inputs are not those that the run read, nil if
// they are. Without kept texts it is the error.
func orKept(ctx context.Context, dir string, m *runs.Manifest) (p *Plan, reason, err error) {
	p, reason = reopen(ctx, m, "")
	if reason == nil || ctx.Err() != nil {
		return p, nil, reason
	}
	kept := keptIn(dir)
	if m.OfRows() {
		return nil, nil, reason
	}
	if kept == "" {
		why := "keep: nothing"
		if m.Effective().Keep != keepNothing {
			why = "it had no documents and no judge"
		}
		return nil, nil, fmt.Errorf("%w, and the run kept no texts (%s)", reason, why)
	}
	p, err = reopen(ctx, m, kept)
	return p, reason, err
}

// keptIn is dir if the run in it kept texts, else "".
func keptIn(dir string) string {
	if _, err := disk.Stat(filepath.Join(dir, runs.TextsFile)); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return dir
}

// useKept makes the plan of a run that must have the data of another read what that one
// kept, if its data are gone or changed.
func (p *Plan) useKept(ctx context.Context) error {
	m, dir := p.job.SameDataAs, p.job.SameDataIn
	if m == nil || dir == "" {
		return nil
	}
	_, reason, err := orKept(ctx, dir, m)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err, Hint: "evaluate it again: ibid run"}
	}
	if reason == nil {
		return nil
	}
	p.kept = keptIn(dir)
	p.warn("%v: scored with the texts that run %s kept", reason, m.ID)
	return nil
}

// keptIngredients are those of the data and the judge of the run whose texts the plan reads.
func (p *Plan) keptIngredients(m *runs.Manifest) {
	for _, kind := range []string{"dataset", "documents", "truth", "labels", "documents.reader", "judge", "judge.prompt"} {
		if v, ok := m.Ingredients[kind]; ok {
			p.Ingredients[kind] = v
		}
	}
	p.inputs = slices.Clone(m.Inputs)
}
