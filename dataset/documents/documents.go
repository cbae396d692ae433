// Package documents turns files that people write and read into text: plain
// text, Markdown, HTML and PDF.
//
// Text and Markdown stay as they are, so that offsets count in the file. Of HTML
// the article is kept, without menus and the like; a PDF becomes pages. The
// package reads bytes, not files and not networks. What it reads may come from
// anybody: it bounds time and memory, and panics at nothing.
package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/transform"
)

// A Kind is one of the forms that can be read.
type Kind uint8

const (
	Unreadable Kind = iota
	Plain           // text as it is, Markdown included
	HTML
	PDF
)

// A Text is what a document says.
type Text struct {
	Title string   // "" if the document does not say
	Text  string   // "" if there are pages
	Pages []string // of a PDF, at least one; else nil

	// Reader is what read a PDF, see [PDFReader]; "" for other documents.
	Reader string
}

// Version changes when the same bytes would give another text.
const Version = "2"

// patience is how long reading one document may take.
const patience = 10 * time.Second

// extensions are the endings of the names of files that can be read.
var extensions = map[string]Kind{
	".txt": Plain, ".text": Plain, ".md": Plain, ".markdown": Plain,
	".html": HTML, ".htm": HTML, ".xhtml": HTML,
	".pdf": PDF,
}

// Extensions lists the endings of names that [KindOfName] knows, sorted.
func Extensions() []string {
	var all []string
	for ending := range extensions {
		all = append(all, ending)
	}
	slices.Sort(all)
	return all
}

// KindOfName says by the ending of a file's name what is in it.
func KindOfName(name string) Kind { return extensions[strings.ToLower(path.Ext(name))] }

// KindOf says what a server sent: by the media type of the header Content-Type
// where that says something, else by how data begins.
func KindOf(contentType string, data []byte) Kind {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return PDF // whatever it is called
	case err != nil || media == "application/octet-stream" || media == "binary/octet-stream":
		return sniffed(data)
	case media == "text/html" || media == "application/xhtml+xml":
		return HTML
	case media == "application/pdf":
		return PDF
	case strings.HasPrefix(media, "text/"), media == "application/json", media == "application/xml", strings.HasSuffix(media, "+json"), strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/"):
		return Plain
	}
	return Unreadable
}

func sniffed(data []byte) Kind {
	start := bytes.ToLower(bytes.TrimLeft(data[:min(len(data), 1024)], " \t\r\n\f\ufeff"))
	switch {
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return HTML
	case len(data) > 0 && utf8.Valid(data) && !bytes.ContainsRune(data, 0):
		return Plain
	}
	return Unreadable
}

// ErrNoText is the error of a document in which there is nothing to read.
var ErrNoText = errors.New("there is no text in it")

// Read reads a document. contentType is the header that came with it, "" for a
// file: a text without one must be UTF-8, or UTF-16 with a byte order mark, while
// HTML says itself what it is. One of a document's pages missing is a document
// missing.
func Read(ctx context.Context, kind Kind, contentType string, data []byte) (Text, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch kind {
	case Plain:
		s, err := decode(data, contentType, false)
		if err == nil && strings.TrimSpace(s) == "" {
			err = ErrNoText
		}
		return Text{Text: s}, err
	case HTML:
		s, err := decode(data, contentType, true)
		if err != nil {
			return Text{}, err
		}
		return inTime(ctx, func() (Text, error) { return readHTML(s) })
	case PDF:
		return readPDF(ctx, data)
	}
	return Text{}, fmt.Errorf("neither text, Markdown, HTML nor PDF")
}

// abandoned counts functions that run on after their time.
var abandoned atomic.Int32

// mostAbandoned is how many such functions there may be: then no document is read.
const mostAbandoned = 8

// inTime calls a function that cannot be stopped, and waits for it until ctx
// ends. A panic becomes an error.
func inTime(ctx context.Context, read func() (Text, error)) (Text, error) {
	type result struct {
		text Text
		err  error
	}
	if abandoned.Load() >= mostAbandoned {
		return Text{}, fmt.Errorf("%d documents before it are still being read, each for over %v", mostAbandoned, patience)
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("damaged: %v", p)}
			}
			done <- r
		}()
		r.text, r.err = read()
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		abandoned.Add(1)
		go func() { <-done; abandoned.Add(-1) }()
		return Text{}, timeLimit(ctx)
	}
}

// timeLimit says in words that ctx has ended.
func timeLimit(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("reading it takes longer than %v", patience)
	}
	return ctx.Err()
}

// decode returns data as UTF-8. A byte order mark wins, then contentType, then
// what HTML declares, then UTF-8 if it is valid. What is left is windows-1252 for
// HTML and what a server sent, as browsers have it, and an error for a file.
func decode(data []byte, contentType string, isHTML bool) (string, error) {
	search := data
	if !isHTML && !hasMark(data) {
		search = nil // a text that speaks of HTML declares nothing
	}
	encoding, name, certain := charset.DetermineEncoding(search, contentType)
	if utf8.Valid(data) && (!certain || name == "utf-8") {
		return strings.TrimPrefix(string(data), "\ufeff"), nil
	}
	if !certain && contentType == "" && !isHTML {
		return "", errors.New("not UTF-8: save it as UTF-8")
	}
	out, err := io.ReadAll(transform.NewReader(bytes.NewReader(data), encoding.NewDecoder()))
	if err != nil {
		return "", err
	}
	// What says that it is UTF-8 and is not passes the decoder as it is.
	return strings.TrimPrefix(strings.ToValidUTF8(string(out), "\ufffd"), "\ufeff"), nil
}

// hasMark reports whether data begins with the byte order mark of an encoding.
func hasMark(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}
