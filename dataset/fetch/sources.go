package fetch

import (
	"context"
	"encoding/json"
	"fmt"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/documents"
)

// A Source is one cited name and what became of its page.
type Source struct {
	Name string `json:"name"`
	dataset.Fetched
}

// WriteSources writes a document for every name, from the archive alone, and one
// for every page that a name redirected to. A page without a text is a document
// without one; its metadata say why. It calls each with every name.
//
// The same archive and names give the same documents.
func WriteSources(ctx context.Context, archive *Archive, names []string, w *dataset.DocumentWriter, each func(Source)) error {
	written := make(map[string]bool)
	for _, name := range names {
		written[name] = true
	}
	for _, name := range names {
		f, ok := archive.Record(addressOf(name))
		if !ok {
			return fmt.Errorf("%s was not fetched", name)
		}
		var text documents.Text
		if f.State == dataset.FetchOK {
			body, err := archive.body(&f)
			if err != nil {
				return err
			}
			text, err = documents.Read(ctx, documents.KindOf(f.ContentType, body), f.ContentType, body)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f.Reader = text.Reader
			if err != nil {
				f.State, f.Problem = dataset.FetchUnreadable, err.Error()
			}
		}
		if err := write(w, name, &f, &text); err != nil {
			return err
		}
		each(Source{name, f})
		if f.Final != "" && !written[f.Final] {
			written[f.Final] = true
			led := f
			led.URL, led.Final = f.Final, ""
			if err := write(w, led.URL, &led, &text); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(w *dataset.DocumentWriter, name string, f *dataset.Fetched, text *documents.Text) error {
	about, err := json.Marshal(f)
	if err != nil {
		return err
	}
	d := ibid.Document{Doc: name, SourceType: "web", Metadata: string(about)}
	if f.State == dataset.FetchOK {
		dataset.FillDocument(&d, text)
	}
	return w.Write(&d)
}
