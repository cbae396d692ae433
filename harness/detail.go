package harness

import (
	"context"
	"fmt"
	"slices"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics/presence"
	"ibid/metrics/span"
)

// A Detail is one row of a finished run with the texts its places are in.
type Detail struct {
	Row    dataset.Row
	Places dataset.Resolved
	Texts  map[TextKey]string // of the keys that some citation or truth span is in, and of those asked for
	Meant  map[string]string  // a document that is there, for a name that is cited and is not

	Presence presence.Signals // what citation_presence was decided from
}

// A TextKey names a text: a document, or one page of it when offsets count from
// pages.
type TextKey struct {
	Doc  string
	Page int32
}

// ReadDetail reads one row of the run m again, at its position of the input, from
// the dataset and the documents of that run, and the texts of further keys. The
// error says so if dataset or documents are no longer there or no longer the
// same.
func ReadDetail(ctx context.Context, m *runs.Manifest, position int64, further []TextKey) (*Detail, error) {
	p, err := reopen(ctx, m)
	if err != nil {
		return nil, err
	}
	d := &Detail{Texts: make(map[TextKey]string), Meant: make(map[string]string)}
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
	o, err := optionsOf(&p.job.Config.Settings, p.job.judgeKind())
	if err != nil {
		return err
	}
	in := presence.Input{Answer: d.Row.Answer, HasAnswer: !d.Row.AnswerNull, Messages: messagesOf(nil, &d.Row)}
	var out presence.Result
	err = o.Presence.Detect(ctx, in, &out)
	d.Presence = out.Signals
	return err
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
	resolver.Resolve(&d.Row, &d.Places)
	keys := slices.Clone(further)
	for _, places := range [][]span.Place{d.Places.Citations, d.Places.Truth} {
		for i := range places {
			keys = append(keys, TextKey{places[i].Doc, places[i].Page})
		}
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
	for i := range d.Places.Citations {
		p := &d.Places.Citations[i]
		if p.Status != span.DocumentNotFound || p.Doc == "" {
			continue
		}
		if near := configs.Nearest(p.Doc, names); near != "" {
			d.Meant[p.Doc] = near
		}
	}
}

// SettingsOf are the settings of a run as its manifest has them, overruled by set
// (KEY=VALUE, as for --set), and with further gates. Dataset and documents are
// the files that the run read.
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
	c.Dataset, c.Documents = m.Dataset, m.Documents
	return c, nil
}

// unchanged compares the files with what the run read, by size: a digest would
// read them whole.
func (p *Plan) unchanged(m *runs.Manifest) error {
	files := p.source.Files()
	if p.documents != nil {
		files = append(files, p.documents.Files()...)
	}
	if len(files) != len(m.Inputs) {
		return fmt.Errorf("the run read %d files, now there are %d", len(m.Inputs), len(files))
	}
	for i, f := range files {
		if in := m.Inputs[i]; f.Size != in.Bytes || f.Rows != in.Rows {
			return fmt.Errorf("%s is not the file that the run read", f.Name)
		}
	}
	return nil
}
