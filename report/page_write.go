package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // template, style and script
	"encoding/base64"
	"html/template"
	"io"
	"strings"
)

var (
	//go:embed assets/page.html
	pageTemplate string
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.js
	pageScript string

	pageTemplates = template.Must(template.New("page").Funcs(template.FuncMap{
		"superscript": superscript,
		"tone":        Tone.Sign,
		"inc":         func(i int) int { return i + 1 },
	}).Parse(pageTemplate))
)

// pageAssets are the parts of the page that are not data. They are written as
// they are, so that the hashes of the security policy hold.
type pageAssets struct {
	*Page
	Style      template.CSS
	Script     template.JS
	StyleHash  string
	ScriptHash string
}

// Write writes the page as one HTML file that loads nothing.
func (p *Page) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	style, script := strings.TrimSpace(pageStyle), strings.TrimSpace(pageScript)
	assets := pageAssets{p, template.CSS(style), template.JS(script), hashOf(style), hashOf(script)}
	if err := pageTemplates.ExecuteTemplate(out, "head", assets); err != nil {
		return err
	}
	for _, k := range p.packs {
		// Base64 holds no character that HTML knows, so nothing is escaped.
		for _, s := range []string{`<script type="application/octet-stream" id="`, k.ID, `">`, k.Data, "</script>\n"} {
			if _, err := out.WriteString(s); err != nil {
				return err
			}
		}
	}
	if err := pageTemplates.ExecuteTemplate(out, "foot", assets); err != nil {
		return err
	}
	return out.Flush()
}

// hashOf is the source expression of a script or style in a security policy.
func hashOf(text string) string {
	digest := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
}
