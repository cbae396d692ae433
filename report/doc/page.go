package doc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed" // of style and script
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

// Style and script are written as they are, so that the hashes of the security policy hold.
var (
	//go:embed page.css
	pageStyle constant
	//go:embed page.js
	pageScript constant
)

// PageStyle is the stylesheet of a page. Other pages of ibid begin with it.
func PageStyle() string { return string(pageStyle) }

// A Page is sections as one HTML file that loads nothing.
type Page struct {
	Title    string
	Version  string // of the program
	Links    []Link // to other pages
	Served   bool   // by a program, which sends the [Policy] and answers forms
	Sections []Section
	Packs    []Pack
}

// A Link leads from a page to another.
type Link struct{ To, Text string }

// A Pack is what the script of a page opens when somebody asks for it: HTML or JSON in gzip
// and base64.
type Pack struct{ ID, Data string }

// The parts of a page that do not depend on its content.
const (
	pageHead constant = `<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><link rel="icon" href="data:,"><title>`
	pageNav  constant = `<nav aria-label="Sections">`
	pageTop  constant = `</title></head><body><a class="skip" href="#main">Skip to the content</a><header class="top"><div class="brand"><b>ibid</b> <span class="run">`
	pageMain constant = `</nav><div class="tools" hidden><button type="button" id="theme" title="light, dark, or as the system" aria-label="theme">◐</button></div></header><main id="main" tabindex="-1">`
)

// Write writes the page.
func (p *Page) Write(out io.Writer) error {
	w := &htmlWriter{out: bufio.NewWriterSize(out, 64<<10)}
	w.raw(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">`)
	if !p.Served {
		w.raw(`<meta http-equiv="Content-Security-Policy"`)
		w.attr(" content=", policy("'none'"))
		w.raw(">")
	}
	w.raw("<style>")
	w.raw(pageStyle)
	w.raw("</style>")
	w.raw(pageHead)
	w.text("ibid · " + p.Title)
	w.raw(pageTop)
	w.text(p.Title)
	w.raw("</span></div>")
	w.raw(pageNav)
	w.links(p.Links)
	for _, s := range p.Sections {
		name := s.Name
		if name == "" {
			name = s.Title
		}
		w.links([]Link{{"#" + s.ID, name}})
	}
	w.raw(pageMain)
	for k := range p.Sections {
		w.section(&p.Sections[k])
	}
	w.raw("</main><footer>")
	w.text(strings.TrimSpace("Made by ibid "+p.Version) + ". This file loads nothing from anywhere.")
	w.raw("</footer>")
	for _, k := range p.Packs {
		w.raw(`<script type="application/octet-stream"`)
		w.attr(" id=", k.ID)
		w.raw(">")
		w.text(k.Data) // base64 has nothing to escape
		w.raw("</script>\n")
	}
	w.raw("<script>")
	w.raw(pageScript)
	w.raw("</script></body></html>\n")
	return w.out.Flush()
}

func (w *htmlWriter) links(links []Link) {
	for _, l := range links {
		w.raw("<a")
		w.attr(" href=", safe(l.To))
		w.raw(">")
		w.text(l.Text)
		w.raw("</a>")
	}
}

// policy lets the style and the script of this version be, and nothing else, whatever is in a
// page.
func policy(formAction string) string {
	return "default-src 'none'; script-src " + hashOf(pageScript) + "; style-src " + hashOf(pageStyle) + "; img-src data:; base-uri 'none'; form-action " + formAction
}

// Policy is the Content-Security-Policy that a server of pages sends.
func Policy() string { return policy("'self'") + "; frame-ancestors 'none'" }

// hashOf is the source expression of a script or style in a security policy.
func hashOf(text constant) string {
	digest := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"
}

// errOtherVersion says that another version of ibid made a page.
var errOtherVersion = errors.New("another version of ibid made the page")

// AddLinks writes a page that [Page.Write] wrote, with links to other pages. A page that this
// version did not make is an error, and nothing is written.
func AddLinks(out io.Writer, made []byte, links ...Link) error {
	var want strings.Builder
	htmlEscapes.WriteString(&want, policy("'none'"))
	head, rest, found := bytes.Cut(made, []byte(pageNav))
	if !found || !bytes.Contains(head, []byte(want.String())) {
		return errOtherVersion
	}
	w := &htmlWriter{out: bufio.NewWriter(out)}
	for _, part := range [][]byte{head, []byte(pageNav), nil, rest} {
		if part == nil {
			w.links(links)
		}
		w.out.Write(part)
	}
	return w.out.Flush()
}
