package report

import (
	"strconv"
	"testing"
	"time"

	"ibid"
	"ibid/configs"
)

// TestOriginLink: a source's page is a link if it is on the web, and nothing else ever is.
func TestOriginLink(t *testing.T) {
	for given, want := range map[string]string{
		"https://kb.example/a?v=1#x": "https://kb.example/a?v=1#x",
		"javascript:alert(1)":        "",
		"JavaScript:alert(1)":        "",
		" javascript:alert(1)":       "",
		"data:text/html,x":           "",
		"//evil.example/x":           "",
		"relative/path":              "",
		"":                           "",
	} {
		c := ibid.Citation{SourceReference: `{"asset_title":"A","asset_detail_url":` + strconv.Quote(given) + `}`}
		if got := originOf(&c, &configs.CitationDisplay{ShowProvenance: true}, time.Time{})[0].Link; got != want {
			t.Errorf("%q is linked as %q, want %q", given, got, want)
		}
	}
}
