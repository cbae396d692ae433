package harness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

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
	docs, err := t.load(ctx, further, wants)
	if err != nil {
		return err
	}
	defer docs.Close()
	resolver := t.plan.resolver(docs)
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
		return src.ReadRows(ctx, few, func(b *dataset.Batch, i int) error {
			b.Row(i, &row)
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

// load keeps the documents that wanted rows name, and further; nil if the run has none.
func (t *Texts) load(ctx context.Context, further []string, wants func(pos int64) bool) (*dataset.Documents, error) {
	if t.plan.documents == nil {
		return nil, nil
	}
	needed := make(map[string]bool)
	note := func(doc string, _ bool) {
		if !needed[doc] {
			needed[strings.Clone(doc)] = true // a row's strings live in its batch
		}
	}
	for _, doc := range further {
		note(doc, false)
	}
	err := eachWanted(ctx, t.plan.source.Select(dataset.WantKeys|dataset.WantSpans), wants, func(row *ibid.Answer) error {
		eachNamed(row, note)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dataset.LoadDocuments(ctx, t.plan.documents, dataset.LoadOptions{Need: func(name string) bool { return needed[name] }})
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
	var names []string
	err = p.withRow(ctx, position, further, func(name string) { names = append(names, strings.Clone(name)) }, func(row *ibid.Answer, r *dataset.Resolver) error {
		d.Row = *row
		keys := slices.Clone(further)
		for i := range row.Citations {
			keys = append(keys, TextKey{row.Citations[i].Place.Doc, row.Citations[i].Place.Page})
		}
		for i := range row.Truth {
			keys = append(keys, TextKey{row.Truth[i].Place.Doc, row.Truth[i].Place.Page})
		}
		for _, key := range keys {
			if text, ok := r.Text(key.Doc, key.Page); ok {
				d.Texts[key] = text
			}
		}
		return r.Err()
	})
	if err != nil {
		return nil, err
	}
	d.suggest(names)
	return d, p.readPresence(ctx, d)
}

// readPresence looks for citations in the text of the answer, as the run did.
func (p *Plan) readPresence(ctx context.Context, d *Detail) error {
	if err := p.openDetector(ctx); err != nil {
		return err
	}
	in := presence.Input{Answer: d.Row.Answer, HasAnswer: !d.Row.AnswerNull, Messages: d.Row.Messages}
	var out presence.Result
	closeEmbedder, err := p.openEmbedder("")
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
		if same && (in.Version != "" || !f.Modified.Equal(in.Modified)) {
			digests, err := dataset.DigestFiles(ctx, []string{f.Name})
			if err != nil {
				return err
			}
			same = digests[0].SHA256 == in.SHA256 && digests[0].Version == in.Version
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
// longer the same. A run whose judge asks no models is [ibid.ErrUsage].
func ReadPrompts(ctx context.Context, m *runs.Manifest, position int64) ([]openrouter.Prompt, error) {
	p, err := reopen(ctx, m, "")
	if err != nil {
		return nil, err
	}
	if !p.job.Config.Judge.AsksModels() {
		return nil, ibid.Usagef("judge %s of run %s asks no model", m.Judge.Kind, m.ID)
	}
	judge, err := openrouter.New(p.job.liveConfig())
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err}
	}
	defer judge.Close()
	if version := judge.Info().Prompt; version != m.Judge.Prompt {
		return nil, ibid.Usagef("the prompts changed since run %s was made: version %s, not %s", m.ID, version, m.Judge.Prompt)
	}
	p.judge, p.live = judge, judge
	var prompts []openrouter.Prompt
	err = p.withRow(ctx, position, nil, func(string) {}, func(row *ibid.Answer, resolver *dataset.Resolver) error {
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

// withRow reads one row and resolves its places. The documents at hand are those that it
// names, and those of further keys; each is told the names of all.
func (p *Plan) withRow(ctx context.Context, position int64, further []TextKey, each func(name string), do func(*ibid.Answer, *dataset.Resolver) error) error {
	var row ibid.Answer
	err := p.source.ReadRows(ctx, []int64{position}, func(b *dataset.Batch, i int) error {
		b.Row(i, &row)
		return errEnough // the batch is not released: the row keeps its strings
	})
	if ignoreEnough(err) != nil {
		return err
	}
	var docs *dataset.Documents
	if p.documents != nil {
		named := make(map[string]bool)
		eachNamed(&row, func(doc string, _ bool) { named[doc] = true })
		for _, key := range further {
			named[key.Doc] = true
		}
		docs, err = dataset.LoadDocuments(ctx, p.documents, dataset.LoadOptions{Need: func(name string) bool {
			each(name)
			return named[name]
		}})
		if err != nil {
			return err
		}
		defer docs.Close()
	}
	resolver := p.resolver(docs)
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
		eachNamed(r, note)
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

// checkedDocuments are the documents of a run whose input, keys and citations are checked.
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
	if err := p.checkCited(ctx, docs); err != nil {
		return nil, errors.Join(asUsage(err), docs.Close())
	}
	return docs, nil
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
