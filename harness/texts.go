package harness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge/openrouter"
	"ibid/metrics/presence"
)

// Texts reads the texts of a finished run again: answers from its dataset, the
// cited documents from its documents; or both from what the run kept.
type Texts struct {
	plan *Plan

	// Kept says why the texts are those that the run kept, nil if they are its data.
	Kept error
}

// OpenTexts opens the dataset and the documents of the run m in dir. If those are no
// longer there or no longer the same, it opens the texts that the run kept; the error is
// that it kept none.
func OpenTexts(ctx context.Context, dir string, m *runs.Manifest) (*Texts, error) {
	p, reason, err := orKept(ctx, dir, m)
	if err != nil {
		return nil, err
	}
	return &Texts{p, reason}, nil
}

// reopen opens the inputs of a finished run, which must be as it read them, or what it
// kept of them in a file.
func reopen(ctx context.Context, m *runs.Manifest, kept string) (*Plan, error) {
	config, err := SettingsOf(m, nil, nil)
	if err != nil {
		return nil, err
	}
	if m.OfRows() {
		return nil, errors.New("it was made of rows, which have no texts")
	}
	p := &Plan{job: &Job{Config: config}, kept: kept}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	if kept == "" {
		if err := p.unchanged(ctx, m); err != nil {
			return nil, err
		}
	}
	p.conventions, err = p.agreedConventions()
	return p, err
}

// Each calls yield with the rows of the dataset whose position in the input wants is
// true of, all if it is nil, in the order of the input, their places resolved, and
// with a function that returns the text of a key: a document, or one page of it when
// offsets count from pages. Row and text are valid until yield returns.
//
// The documents at hand are those that these rows name as a source or as truth, and
// those in further. They are read once.
func (t *Texts) Each(ctx context.Context, further []string, wants func(pos int64) bool, yield func(row *ibid.Answer, text func(doc string, page int32) (string, bool)) error) error {
	var view *dataset.View
	if t.plan.documents != nil {
		docs, err := t.load(ctx, further, wants)
		if err != nil {
			return err
		}
		defer docs.Close()
		view = docs.View(textCache)
	}
	resolver := dataset.NewResolver(view, t.plan.conventions)
	return eachWanted(ctx, t.plan.source, wants, func(row *ibid.Answer) error {
		resolver.Resolve(row)
		if err := resolver.Err(); err != nil {
			return err
		}
		if err := yield(row, resolver.Text); err != nil {
			return err
		}
		return resolver.Err()
	})
}

// EachAnswer calls yield with question and answer of the rows that are read again, in the
// order of the input, without their documents. Both are valid until yield returns.
func (t *Texts) EachAnswer(ctx context.Context, yield func(pos int64, query, answer string) error) error {
	return eachRow(ctx, t.plan.source.Select(dataset.WantKeys|dataset.WantAnswers), 0, func(row *ibid.Answer) error {
		return yield(row.Pos, row.Query, row.Answer)
	})
}

// fewRows is how many rows are read by themselves, instead of all with them.
const fewRows = 256

// eachWanted is eachRow for the rows at positions that wants is true of, nil of all.
func eachWanted(ctx context.Context, src *dataset.Source, wants func(pos int64) bool, f func(row *ibid.Answer) error) error {
	if wants == nil {
		return eachRow(ctx, src, 0, f)
	}
	var row ibid.Answer
	var few []int64
	for pos := range src.Rows() {
		if len(few) > fewRows {
			break
		}
		if wants(pos) {
			few = append(few, pos)
		}
	}
	if len(few) <= fewRows {
		return src.ReadRows(ctx, few, func(b *dataset.Batch) error {
			defer b.Release()
			b.Row(0, &row)
			return f(&row)
		})
	}
	return eachPlace(ctx, src, 0, func(b *dataset.Batch, i int) error {
		if !wants(b.Pos() + int64(i)) {
			return nil
		}
		b.Row(i, &row)
		return f(&row)
	})
}

// load keeps the documents that wanted rows name, and further.
func (t *Texts) load(ctx context.Context, further []string, wants func(pos int64) bool) (*dataset.Documents, error) {
	needed := make(map[string]bool)
	note := func(doc string) {
		if !needed[doc] {
			needed[string([]byte(doc))] = true // a row's strings live in its batch
		}
	}
	for _, doc := range further {
		note(doc)
	}
	err := eachWanted(ctx, t.plan.source.Select(dataset.WantKeys|dataset.WantSpans), wants, func(row *ibid.Answer) error {
		for i := range row.Citations {
			note(row.Citations[i].Doc)
		}
		for i := range row.Truth {
			note(row.Truth[i].Doc)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dataset.LoadDocuments(ctx, t.plan.documents, dataset.LoadOptions{Need: func(name string) bool { return needed[name] }})
}

// A Detail is one row of a finished run, its places resolved, with the texts that
// they are in.
type Detail struct {
	Row   ibid.Answer
	Texts map[TextKey]string // of the keys that some citation or truth span is in, and of those asked for
	Meant map[string]string  // a document that is there, for a name that is cited and is not

	Presence presence.Signals // what citation_presence was decided from

	// Kept says why the texts are those that the run kept, nil if they are its data.
	Kept error
}

// A TextKey names a text: a document, or one page of it when offsets count from
// pages.
type TextKey struct {
	Doc  string
	Page int32
}

// ReadDetail reads one row of the run m in dir again, at its position of the input, from
// the dataset and the documents of that run, and the texts of further keys. If dataset or
// documents are no longer there or no longer the same, it reads what the run kept; the
// error is that it kept nothing.
func ReadDetail(ctx context.Context, dir string, m *runs.Manifest, position int64, further []TextKey) (*Detail, error) {
	p, reason, err := orKept(ctx, dir, m)
	if err != nil {
		return nil, err
	}
	d := &Detail{Kept: reason, Texts: make(map[TextKey]string), Meant: make(map[string]string)}
	err = p.source.Read(ctx, position, 1, func(b *dataset.Batch) error {
		b.Row(0, &d.Row)
		return errEnough // the batch is not released: the row keeps its strings
	})
	if ignoreEnough(err) != nil {
		return nil, err
	}
	if err := p.readPresence(ctx, d); err != nil {
		return nil, err
	}
	return d, p.readTexts(ctx, d, further)
}

// readPresence looks for citations in the text of the answer, as the run did.
func (p *Plan) readPresence(ctx context.Context, d *Detail) error {
	if err := p.openDetector(ctx); err != nil {
		return err
	}
	in := presence.Input{Answer: d.Row.Answer, HasAnswer: !d.Row.AnswerNull, Messages: d.Row.Messages}
	var out presence.Result
	closeEmbedder, err := p.openEmbedder(ctx, "")
	if err != nil {
		return err
	}
	err = p.options.Presence.Detect(ctx, in, &out)
	d.Presence = out.Signals
	if errors.Is(err, presence.ErrNotFetched) || errors.Is(err, openrouter.ErrNotKept) {
		err = nil // not known, as in the run
	}
	return errors.Join(err, closeEmbedder())
}

// readTexts resolves the places of the row and fetches the texts they are in.
func (p *Plan) readTexts(ctx context.Context, d *Detail, further []TextKey) error {
	var view *dataset.View
	var names []string
	if p.documents != nil {
		named := make(map[string]bool)
		for i := range d.Row.Citations {
			named[d.Row.Citations[i].Doc] = true
		}
		for i := range d.Row.Truth {
			named[d.Row.Truth[i].Doc] = true
		}
		for _, key := range further {
			named[key.Doc] = true
		}
		docs, err := dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool {
			names = append(names, string([]byte(name)))
			return named[name]
		}})
		if err != nil {
			return err
		}
		defer docs.Close()
		view = docs.View(textCache)
	}
	resolver := dataset.NewResolver(view, p.conventions)
	resolver.Resolve(&d.Row)
	keys := slices.Clone(further)
	for i := range d.Row.Citations {
		keys = append(keys, TextKey{d.Row.Citations[i].Place.Doc, d.Row.Citations[i].Place.Page})
	}
	for i := range d.Row.Truth {
		keys = append(keys, TextKey{d.Row.Truth[i].Place.Doc, d.Row.Truth[i].Place.Page})
	}
	for _, key := range keys {
		if text, ok := resolver.Text(key.Doc, key.Page); ok {
			d.Texts[key] = text
		}
	}
	d.suggest(names)
	return resolver.Err()
}

// suggest finds out which of the documents was meant where one is cited that is
// not there.
func (d *Detail) suggest(names []string) {
	for i := range d.Row.Documents {
		names = append(names, d.Row.Documents[i].Doc)
	}
	for i := range d.Row.Citations {
		p := &d.Row.Citations[i].Place
		if p.Status != ibid.StatusDocumentNotFound || p.Doc == "" {
			continue
		}
		if near := ibid.Nearest(p.Doc, names); near != "" {
			d.Meant[p.Doc] = near
		}
	}
}

// SettingsOf are the settings of a run as its manifest has them, overruled by set
// (KEY=VALUE, as for --set), and with further gates. Dataset, documents and what is
// joined to them are the files that the run read.
func SettingsOf(m *runs.Manifest, set, gates []string) (*configs.Config, error) {
	o := configs.Options{Gates: gates}
	for _, s := range m.Settings {
		if s.Source != "default" {
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

// unchanged compares the files with what the run read, by size: a digest would
// read them whole.
func (p *Plan) unchanged(ctx context.Context, m *runs.Manifest) error {
	files := p.source.Files()
	if p.documents != nil {
		files = append(files, p.documents.Files()...)
	}
	for _, g := range p.gold {
		files = append(files, g.Files()...)
	}
	if len(files) != len(m.Inputs) {
		return fmt.Errorf("the run read %d files, now there are %d", len(m.Inputs), len(files))
	}
	for i, f := range files {
		in := m.Inputs[i]
		same := f.Size == in.Bytes && f.Rows == in.Rows
		if same && !f.Modified.Equal(in.Modified) {
			digests, err := dataset.DigestFiles(ctx, []string{f.Name})
			if err != nil {
				return err
			}
			same = digests[0].SHA256 == in.SHA256
		}
		if !same {
			return fmt.Errorf("%s is not the file that the run read", f.Name)
		}
	}
	return nil
}

// ReadPrompts makes the prompts that the models of the run m were sent for the
// row at a position of the input; none if no model needed to see the row. Repairs
// and further votes on a doubtful verdict are not among them. It reads the inputs
// again: the error says so if they, or the prompts, are no longer there or no
// longer the same. A run whose judge asks no models is a [*UsageError].
func ReadPrompts(ctx context.Context, m *runs.Manifest, position int64) ([]openrouter.Prompt, error) {
	p, err := reopen(ctx, m, "")
	if err != nil {
		return nil, err
	}
	if !p.job.Config.Judge.AsksModels() {
		return nil, usagef("judge %s of run %s asks no model", m.Judge.Kind, m.ID)
	}
	judge, err := openrouter.New(p.job.liveConfig())
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	defer judge.Close()
	if version := judge.Info().Prompt; version != m.Judge.Prompt {
		return nil, usagef("the prompts changed since run %s was made: version %s, not %s", m.ID, version, m.Judge.Prompt)
	}
	p.judge, p.live = judge, judge
	var prompts []openrouter.Prompt
	err = p.withRow(ctx, position, func(row *ibid.Answer, resolver *dataset.Resolver) error {
		judging, err := newJudging(p, resolver)
		if err != nil {
			return err
		}
		judging.prepare(row)
		if len(judging.claims) > 0 {
			prompts = judge.Prompts(&judging.request)
		}
		return resolver.Err()
	})
	return prompts, err
}

// withRow reads one row with the documents that it names, and resolves its places.
func (p *Plan) withRow(ctx context.Context, position int64, do func(*ibid.Answer, *dataset.Resolver) error) error {
	var row ibid.Answer
	err := p.source.Read(ctx, position, 1, func(b *dataset.Batch) error {
		b.Row(0, &row)
		return errEnough // the batch is not released: the row keeps its strings
	})
	if ignoreEnough(err) != nil {
		return err
	}
	var view *dataset.View
	if p.documents != nil {
		named := make(map[string]bool)
		for i := range row.Citations {
			named[row.Citations[i].Doc] = true
		}
		docs, err := dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool { return named[name] }})
		if err != nil {
			return err
		}
		defer docs.Close()
		view = docs.View(textCache)
	}
	resolver := dataset.NewResolver(view, p.conventions)
	resolver.Resolve(&row)
	if err := resolver.Err(); err != nil {
		return err
	}
	return do(&row, resolver)
}

// loadDocuments keeps the documents that some citation or annotation names; nil
// if the run has none. It passes over the dataset once and over the documents
// once, and keeps 8 bytes for each distinct name that is cited.
func (p *Plan) loadDocuments(ctx context.Context) (*dataset.Documents, error) {
	if p.documents == nil {
		return nil, nil
	}
	seed := maphash.MakeSeed()
	needed := make(map[uint64]struct{})
	note := func(doc string, null bool) {
		if !null {
			needed[maphash.String(seed, doc)] = struct{}{}
		}
	}
	progress, rows := p.stage("finding cited documents", p.Rows), int64(0)
	err := eachRow(ctx, p.source.Select(dataset.WantKeys|dataset.WantSpans), p.job.Limit, func(r *ibid.Answer) error {
		for i := range r.Citations {
			note(r.Citations[i].Doc, r.Citations[i].DocNull)
		}
		for i := range r.Truth {
			note(r.Truth[i].Doc, r.Truth[i].DocNull)
		}
		if rows++; rows%keysBatch == 0 {
			progress(rows)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.stage("reading documents", p.documents.Rows())(0)
	return dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool {
		_, ok := needed[maphash.String(seed, name)]
		return ok
	}})
}

// documentProblems are the documents whose text could not be used.
func (p *Plan) documentProblems(docs *dataset.Documents) []string {
	if docs == nil {
		return nil
	}
	problems := docs.Problems()
	for _, text := range problems {
		p.job.warn("%s", text)
	}
	return problems
}
