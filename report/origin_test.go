package report

import (
	"strconv"
	"testing"
	"time"

	"ibid"
)

// TestOriginLink: a source's page is a link if it is on the web or on the same site, and
// nothing else ever is.
func TestOriginLink(t *testing.T) {
	for given, want := range map[string]string{
		"/knowledge-base/assets/a-1": "/knowledge-base/assets/a-1",
		"https://kb.example/a?v=1#x": "https://kb.example/a?v=1#x",
		"javascript:alert(1)":        "",
		"JavaScript:alert(1)":        "",
		" javascript:alert(1)":       "",
		"data:text/html,x":           "",
		"//evil.example/x":           "",
		"/\\evil.example":            "/%5Cevil.example",
		"https:evil":                 "",
		"relative/path":              "",
		"http://[::1":                "",
		"":                           "",
	} {
		c := ibid.Citation{SourceReference: `{"asset_title":"A","asset_detail_url":` + strconv.Quote(given) + `}`}
		if got := originOf(&c, "", &Display{Provenance: true}, time.Time{}).URL; got != want {
			t.Errorf("%q is linked as %q, want %q", given, got, want)
		}
	}
}
