package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"
	"sync"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/judge/openrouter"
	"ibid/metrics/presence"
)

// Texts reads the texts of a finished run again: answers from its dataset, the cited
// documents from its documents, or from what the run kept where those are gone.
type Texts struct {
	plan    *Plan
	results *resultRows // in place of plan: the dataset is gone

	// Kept says why some texts are those that the run kept, nil if they are its data.
	Kept error
}

// OpenTexts opens the dataset and the documents of the run m in dir, or in place of what is
// no longer there, or no longer the same, what the run kept. The error says what is gone
// that it did not keep.
func OpenTexts(ctx context.Context, dir string, m *runs.Manifest) (*Texts, error) {
	p, err := reopen(ctx, m, dir, nil)
	if err == nil {
		return &Texts{plan: p, Kept: p.gone}, nil
	}
	r := &resultRows{dir: dir, answers: kept(dir, runs.AnswersFile), texts: kept(dir, runs.TextsFile), offsetsPage: m.Effective().OffsetBase == dataset.FromPage.String()}
	if !r.answers && !r.texts || ctx.Err() != nil {
		return nil, err
	}
	return &Texts{results: r, Kept: err}, nil
}

// reopen opens the inputs of the finished run m, which must be as it read them, for another
// judge; nil is its own. Its documents may be those that it kept in dir. The error is
// [ibid.ErrUsage].
func reopen(ctx context.Context, m *runs.Manifest, dir string, by judge.Judge) (*Plan, error) {
	config, err := SettingsOf(m, nil, nil)
	if err != nil {
		return nil, err
	}
	p := &Plan{job: &Job{Config: config, SameDataAs: m, SameDataIn: dir, Limit: m.Limit, Only: m.Only, Judge: by}}
	if err := p.open(ctx); err != nil {
		return nil, asUsage(err)
	}
	if err := unchanged(ctx, m, "dataset", p.source.Files()); err != nil {
		return nil, asUsage(err)
	}
	for kind, g := range p.gold {
		if err := unchanged(ctx, m, kind, g.Files()); err != nil {
			return nil, asUsage(err)
		}
	}
	p.conventions, err = p.agreedConventions()
	return p, err
}

// openDocuments opens the documents of the run. Those of a run that must have the data of
// another may be what that one kept of them.
func (p *Plan) openDocuments(ctx context.Context) (err error) {
	s := &p.job.Config.Settings
	if s.Documents == "" {
		return nil
	}
	p.documents, err = dataset.OpenDocuments(s.Documents, dataset.ReadOptions{Columns: p.fileColumns(), Limits: limitsOf(s)})
	m := p.job.SameDataAs
	if m == nil {
		return err
	}
	if err == nil {
		err = unchanged(ctx, m, "documents", p.documents.Files())
	} else {
		err = goneInput(m, "documents", err)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	if !kept(p.job.SameDataIn, runs.TextsFile) {
		return fmt.Errorf("%w, and the run kept no texts", err)
	}
	p.documents, p.kept, p.gone = nil, p.job.SameDataIn, err
	p.keptQuotations = sync.OnceValues(func() (*keptQuotations, error) { return readQuotations(p.kept) })
	return nil
}

// kept reports whether a run kept a file.
func kept(dir, file string) bool {
	_, err := disk.Stat(filepath.Join(dir, file))
	return dir != "" && err == nil
}

// hasDocuments reports whether the run has documents beside those of its rows.
func (p *Plan) hasDocuments() bool { return p.documents != nil || p.kept != "" }

// inputsOf are the files of a kind that the run m read.
func inputsOf(m *runs.Manifest, kind string) []runs.Input {
	return slices.DeleteFunc(slices.Clone(m.Inputs), func(in runs.Input) bool { return in.Kind != kind })
}

// goneInput says which file of a kind the run m read that cannot be read now; nil is no run.
func goneInput(m *runs.Manifest, kind string, err error) error {
	if m == nil || err == nil {
		return err
	}
	for _, in := range inputsOf(m, kind) {
		if _, statErr := disk.Stat(in.Path); statErr != nil && in.SHA256 != "" {
			return fmt.Errorf("%w; the run read %s with the SHA-256 %s", err, in.Path, in.SHA256)
		}
	}
	return err
}

// eachName calls yield with the name of every document of the run. It is valid until yield
// returns.
func (p *Plan) eachName(ctx context.Context, yield func(name string) error) error {
	switch {
	case p.documents != nil:
		return p.documents.EachName(ctx, yield)
	case p.kept == "":
		return nil
	}
	return runs.Texts.Scan(p.kept, []string{"doc", "rows"}, func(_ int64, t *dataset.Text) error {
		if t.Rows != nil {
			return nil
		}
		return yield(t.Doc)
	})
}

// openNames reads the names of documents where all spellings of one are to be it.
func (p *Plan) openNames(ctx context.Context) (err error) {
	if p.job.Config.DocNames != "normalized" {
		return nil
	}
	if p.names, err = dataset.NamesOf(func(yield func(name string) error) error { return p.eachName(ctx, yield) }); err != nil {
		return fmt.Errorf("%s: %w", p.namedDocuments, err)
	}
	return nil
}

// loadNamed loads the documents that need is true of, which is asked about all; nil if the
// run has none.
func (p *Plan) loadNamed(ctx context.Context, need func(name string) bool) (*dataset.Documents, error) {
	if p.documents != nil {
		return dataset.LoadDocuments(ctx, p.documents, need)
	}
	if p.kept == "" {
		return nil, nil
	}
	return loadTexts(p.kept, func(t *dataset.Text) []string {
		if t.Rows != nil || !need(t.Doc) {
			return nil
		}
		return []string{t.Doc}
	})
}

// loadTexts loads texts that the run in dir kept, under the names that names gives them;
// none leaves one out.
func loadTexts(dir string, names func(t *dataset.Text) []string) (*dataset.Documents, error) {
	needed := []int64{}
	err := runs.Texts.Scan(dir, []string{"doc", "rows"}, func(at int64, t *dataset.Text) error {
		if len(names(t)) > 0 {
			needed = append(needed, at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dataset.LoadTexts(func(yield func(*dataset.Text) error) error {
		return runs.Texts.ScanSome(dir, nil, needed, func(_ int64, t *dataset.Text) error { return yield(t) })
	}, names)
}

// Each calls yield with the rows at some positions of the input, ascending and each once,
// their places resolved, and with a function that returns the text of a key: a document, or
// one page of it when offsets count from pages. Row and text are valid until yield returns.
//
// The documents at hand are those that these rows name as a source or as truth, and
// those in further. They are read once.
func (t *Texts) Each(ctx context.Context, further []string, rows []int64, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error {
	if t.results != nil {
		return t.results.each(ctx, further, rows, yield)
	}
	return t.plan.eachResolved(ctx, further, rows, func(row *ibid.Answer, r *dataset.Resolver) error { return yield(row, r.Text) })
}

// eachResolved is [Texts.Each] from the data of the run.
func (p *Plan) eachResolved(ctx context.Context, further []string, rows []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error {
	need, err := p.cited(further, func(source *dataset.Source, f func(*ibid.Answer) error) error {
		return readRows(ctx, source, rows, f)
	})
	if err != nil {
		return err
	}
	docs, err := p.loadNamed(ctx, need)
	if err != nil {
		return err
	}
	defer docs.Close()
	return (&Answers{p, docs, p.source}).Rows(ctx, rows, yield)
}

// EachAnswer calls yield with question and answer of the rows that are read again, in the
// order of the input, without their documents. Both are valid until yield returns.
func (t *Texts) EachAnswer(ctx context.Context, yield func(pos int64, query, answer string) error) error {
	if r := t.results; r != nil {
		if !r.answers {
			return nil
		}
		return runs.Answers.Scan(r.dir, nil, func(_ int64, a *runs.Answer) error { return yield(a.Row, a.Query, a.Answer) })
	}
	return eachRow(ctx, t.plan.source.Select(dataset.WantKeys|dataset.WantAnswers), 0, func(row *ibid.Answer) error {
		return yield(row.Pos, row.Query, row.Answer)
	})
}

// readRows is eachRow for the rows at some positions.
func readRows(ctx context.Context, source *dataset.Source, rows []int64, f func(*ibid.Answer) error) error {
	var row ibid.Answer
	return source.ReadRows(ctx, rows, func(b *dataset.Batch, i int) error {
		b.Row(i, &row)
		return f(&row)
	})
}

// eachNamed calls f with each document that citations and marks of a row name, or with
// null.
func eachNamed(row *ibid.Answer, f func(doc string, null bool)) {
	for i := range row.Citations {
		f(row.Citations[i].Doc, row.Citations[i].DocNull)
	}
	for i := range row.Truth {
		f(row.Truth[i].Doc, row.Truth[i].DocNull)
	}
}

// resolver resolves places in documents; nil are none.
func (p *Plan) resolver(docs *dataset.Documents) *dataset.Resolver {
	return dataset.NewResolver(docs.View(textCache), p.conventions)
}

// Presence is what citation_presence of a row was decided from: it looks for citations in the
// text of the answer, as the run did. It is nil if the dataset is gone.
func (t *Texts) Presence(ctx context.Context, row *ibid.Answer) (*presence.Signals, error) {
	p := t.plan
	if p == nil {
		return nil, nil
	}
	if err := p.openDetector(ctx); err != nil {
		return nil, err
	}
	closeEmbedder, err := p.openEmbedder("")
	if err != nil {
		return nil, err
	}
	var out presence.Result
	err = p.options.Presence.Detect(ctx, presence.Input{Answer: row.Answer, HasAnswer: !row.AnswerNull, Messages: row.Messages}, &out)
	out.Signals.Explanation = p.options.Presence.Explain(&out)
	if errors.Is(err, presence.ErrNotFetched) || errors.Is(err, openrouter.ErrNotKept) { // as in the run
		out.Signals.Explanation, err = "not known: "+err.Error(), nil
	}
	return &out.Signals, errors.Join(err, closeEmbedder())
}

// Meant finds out which documents were meant where a row cites some that are not there: nothing
// if the dataset is gone.
func (t *Texts) Meant(ctx context.Context, row *ibid.Answer) (map[string]string, error) {
	meant := make(map[string]string)
	var names []string
	for i := range row.Citations {
		at := &row.Citations[i].Place
		if t.plan == nil || at.Status != ibid.StatusDocumentNotFound || at.Doc == "" {
			continue
		}
		if names == nil {
			var err error
			if names, err = t.plan.documentNames(ctx); err != nil {
				return nil, err
			}
			for i := range row.Documents {
				names = append(names, row.Documents[i].Doc)
			}
		}
		if near, _ := meantDocument(at.Doc, names); near != "" {
			meant[at.Doc] = near
		}
	}
	return meant, nil
}

// SettingsOf are the settings of a run as its manifest has them, overruled by set
// (KEY=VALUE, as for --set), and with further gates. Dataset, documents and what is
// joined to them are the files that the run read.
func SettingsOf(m *runs.Manifest, set, gates []string) (*configs.Config, error) {
	o := configs.Options{Gates: gates}
	for _, s := range m.Settings {
		if s.Source != "default" && s.Key != "id" { // a setting of the version before: a new run has a name of its own
			o.Set = append(o.Set, s.Key+"="+s.Value)
		}
	}
	o.Set = append(o.Set, set...)
	c, err := configs.Load(o)
	if err != nil {
		return nil, err
	}
	c.Dataset, c.Documents, c.Truth, c.Labels = m.Dataset, m.Documents, m.Truth, m.Labels
	return c, nil
}

// unchanged compares the files of a kind with what the run m read, by size and date: a
// digest would read them whole.
func unchanged(ctx context.Context, m *runs.Manifest, kind string, files []dataset.FileInfo) error {
	inputs := inputsOf(m, kind)
	if len(files) != len(inputs) {
		return fmt.Errorf("the run read %d files of its %s, now there are %d", len(inputs), kind, len(files))
	}
	for i, f := range files {
		in := inputs[i]
		same := f.Size == in.Bytes && f.Rows == in.Rows
		if same && (in.Version != "" || !f.Modified.Equal(in.Modified)) {
			digests, err := dataset.DigestFiles(ctx, []string{f.Name})
			if err != nil {
				return err
			}
			same = digests[0].SHA256 == in.SHA256 && digests[0].Version == in.Version
		}
		if !same {
			return fmt.Errorf("%s is not the file that the run read, whose SHA-256 is %s", f.Name, cmp.Or(in.SHA256, "not known"))
		}
	}
	return nil
}

// ReadPrompts makes the prompts that the models of the run m were sent for the
// row at a position of the input; none if no model needed to see the row. Repairs
// are not among them. It reads the inputs
// again: the error says so if they, or the prompts, are no longer there or no
// longer the same. A run whose judge asks no models is [ibid.ErrUsage].
func ReadPrompts(ctx context.Context, dir string, m *runs.Manifest, position int64) ([]openrouter.Prompt, error) {
	p, err := reopen(ctx, m, dir, nil)
	if err != nil {
		return nil, err
	}
	if !p.job.Config.Judge.AsksModels() {
		return nil, ibid.Usagef("judge %s of run %s asks no model", m.Judge.Kind, m.ID)
	}
	models, err := p.job.askingJudge()
	if err != nil {
		return nil, err
	}
	defer models.Close()
	if version := models.Info().Prompt; version != m.Judge.Prompt {
		return nil, ibid.Usagef("the prompts changed since run %s was made: version %s, not %s", m.ID, version, m.Judge.Prompt)
	}
	p.judge, p.live = models, models
	var prompts []openrouter.Prompt
	err = p.eachResolved(ctx, nil, []int64{position}, func(row *ibid.Answer, resolver *dataset.Resolver) error {
		judging, err := newJudging(p, resolver)
		if err != nil {
			return err
		}
		judging.prepare(row)
		if len(judging.claims) > 0 {
			prompts = models.Prompts(&judging.request)
		}
		return resolver.Err()
	})
	return prompts, err
}

// loadDocuments keeps the documents that some citation or annotation of the run names, or all if
// they are small; nil if the run has none.
func (p *Plan) loadDocuments(ctx context.Context) (*dataset.Documents, error) {
	progress, rows := p.stage("finding cited documents", p.Rows), int64(0)
	need, err := p.cited(nil, func(source *dataset.Source, f func(*ibid.Answer) error) error {
		err := eachRow(ctx, source, p.job.Limit, func(row *ibid.Answer) error {
			if rows++; rows%keysBatch == 0 {
				progress(rows)
			}
			return f(row)
		})
		if err == nil && p.documents != nil {
			p.stage("reading documents", p.documents.Rows())(0)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.documents != nil {
		return dataset.LoadAll(ctx, p.documents, need)
	}
	return p.loadNamed(ctx, need)
}

// cited says of which documents rows have the names, cited, marked or in their lists, which each
// reads of a source, with those of further ones. It passes over the rows once, and keeps 8 bytes
// for each distinct name.
func (p *Plan) cited(further []string, each func(source *dataset.Source, f func(*ibid.Answer) error) error) (need func(name string) bool, err error) {
	if !p.hasDocuments() {
		return nil, nil
	}
	seed := maphash.MakeSeed()
	needed := make(map[uint64]struct{})
	note := func(doc string, null bool) {
		if !null {
			needed[maphash.String(seed, doc)] = struct{}{}
		}
	}
	for _, doc := range further {
		note(doc, false)
	}
	err = each(p.source.Select(dataset.WantKeys|dataset.WantSpans|dataset.WantSources), func(row *ibid.Answer) error {
		eachNamed(row, note)
		for i := range row.Documents {
			note(row.Documents[i].Doc, false)
		}
		return nil
	})
	return func(name string) bool {
		_, ok := needed[maphash.String(seed, name)]
		return ok
	}, err
}

// checkedDocuments are the documents of a run whose input, keys, citations and offsets are checked.
func (p *Plan) checkedDocuments(ctx context.Context) (*dataset.Documents, error) {
	if err := p.checkInput(ctx); err != nil {
		return nil, err
	}
	if err := p.checkAllKeys(ctx); err != nil {
		return nil, err
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, asUsage(err)
	}
	p.warnOfDocuments(docs)
	if err := p.checkCited(ctx, docs); err != nil {
		return nil, errors.Join(asUsage(err), docs.Close())
	}
	if err := p.checkOffsets(ctx, docs); err != nil {
		return nil, errors.Join(asUsage(err), docs.Close())
	}
	return docs, nil
}

// warnOfDocuments says of which documents the text could not be used.
func (p *Plan) warnOfDocuments(docs *dataset.Documents) {
	if docs == nil {
		return
	}
	for _, text := range docs.Problems() {
		p.warn("%s", text)
	}
}
