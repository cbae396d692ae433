package doc

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed" // of style and script
	"encoding/base64"
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

// Write writes the page.
func (p *Page) Write(out io.Writer) error {
	w := &htmlWriter{out: bufio.NewWriterSize(out, 64<<10)}
	w.put(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">`)
	if !p.Served {
		w.put(`<meta http-equiv="Content-Security-Policy" content="{}">`, policy("'none'"))
	}
	w.put("<style>")
	w.put(pageStyle)
	w.put(`</style><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><link rel="icon" href="data:,"><title>{}</title></head><body>`, "ibid · "+p.Title)
	w.put(`<a class="skip" href="#main">Skip to the content</a><header class="top"><div class="brand"><b>ibid</b> <span class="run">{}</span></div><nav aria-label="Sections">`, p.Title)
	w.links(p.Links)
	for _, s := range p.Sections {
		w.links([]Link{{"#" + s.ID, cmp.Or(s.Name, s.Title)}})
	}
	w.put(`</nav><div class="tools" hidden><button type="button" id="theme" title="light, dark, or as the system" aria-label="theme">◐</button></div></header><main id="main" tabindex="-1">`)
	for k := range p.Sections {
		w.section(&p.Sections[k])
	}
	w.put("</main><footer>{}</footer>", strings.TrimSpace("Made by ibid "+p.Version)+". This file loads nothing from anywhere.")
	for _, k := range p.Packs {
		w.put("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", k.ID, k.Data) // base64 has nothing to escape
	}
	w.put("<script>")
	w.put(pageScript)
	w.put("</script></body></html>\n")
	return w.out.Flush()
}

func (w *htmlWriter) links(links []Link) {
	for _, l := range links {
		w.put(`<a href="{}">{}</a>`, safe(l.To), l.Text)
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
