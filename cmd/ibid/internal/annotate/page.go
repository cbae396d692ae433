package annotate

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"ibid/annotations"
	"ibid/annotations/round"
)

var pageTemplate = template.Must(template.New("page").Parse(asset("page.html")))

// pageData is what the page is made of. The served page loads style and script from the
// server; the page of one file has them and its data inside.
type pageData struct {
	Guide  template.HTML
	Policy string
	Style  template.CSS
	Script template.JS
	Data   template.JS
}

// guide is the guide for annotators as HTML. It is part of the program; nothing that a
// user gives is read as Markdown here.
var guide = sync.OnceValue(func() template.HTML {
	var b bytes.Buffer
	text := annotations.Guide
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		text = rest // the page has a heading of its own
	}
	if err := goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)))).Convert([]byte(text), &b); err != nil {
		panic(err)
	}
	return template.HTML(strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`)) // it scrolls
})

func render(d *pageData) string {
	d.Guide = guide()
	var b strings.Builder
	if err := pageTemplate.Execute(&b, d); err != nil {
		panic(err) // the template and its data are part of the program
	}
	return b.String()
}

func servedPage() string { return render(new(pageData)) }

// exercise are the items of the guide's exercise, with the marks of the guide.
var exercise = sync.OnceValue(func() []*item {
	var items []*item
	for line := range strings.Lines(annotations.Exercise) {
		var it struct {
			ID        string     `json:"id"`
			Query     string     `json:"query"`
			Documents []document `json:"documents"`
			Truth     []struct {
				Doc        string
				Start, End int64
			} `json:"truth"`
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			panic(err)
		}
		shown := &item{ID: it.ID, Query: it.Query, Documents: it.Documents, Guide: []round.Mark{}}
		for _, m := range it.Truth {
			if m.Doc != "" {
				shown.Guide = append(shown.Guide, round.Mark{Doc: m.Doc, Start: m.Start, End: m.End})
			}
		}
		items = append(items, shown)
	}
	return items
})

// fileData is what the page of one file has inside.
type fileData struct {
	Header   *round.Header `json:"header"`
	Places   []place       `json:"places"`
	Items    []*item       `json:"items"` // of each place
	Exercise []*item       `json:"exercise"`
}

// WriteFile writes the page as one file, which keeps states in the browser. It needs nothing
// else and asks for nothing. The header must have the name of the round.
func WriteFile(w io.Writer, h *round.Header, items []round.Item) error {
	data := fileData{Header: h, Exercise: exercise()}
	for i := range items {
		data.Places, data.Items = append(data.Places, placeOf(&items[i])), append(data.Items, shown(&items[i]))
	}
	inside, err := json.Marshal(data) // which escapes <, > and &
	if err != nil {
		return err
	}
	d := &pageData{Style: template.CSS(style()), Script: template.JS(script("file.js")), Data: template.JS(inside)}
	d.Policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashOf(string(d.Script)), hashOf(string(d.Style)))
	_, err = io.WriteString(w, render(d))
	return err
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
