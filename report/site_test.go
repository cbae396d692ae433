package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestAddLinks: a page of this version gets links, whatever characters the hashes of its
// style and script have; a page with another script gets none.
func TestAddLinks(t *testing.T) {
	style, script := pageStyle, pageScript
	t.Cleanup(func() { pageStyle, pageScript = style, script })
	emptyPage, plus := &page{}, 0
	for range 40 {

		pageStyle = strings.TrimSpace(pageStyle) + "/**/" // another hash each time
		if strings.Contains(hashOf(strings.TrimSpace(pageStyle)), "+") {
			plus++
		}
		var written, out bytes.Buffer

		if err := emptyPage.write(&written); err != nil {
			t.Fatal(err)
		}
		if err := AddLinks(&out, written.Bytes(), Link{"../", "All runs"}); err != nil || !strings.Contains(out.String(), `<a href="../">All runs</a>`) {
			t.Fatalf("hash %s: %v", hashOf(strings.TrimSpace(pageStyle)), err)
		}
		made := bytes.Clone(written.Bytes())
		pageScript += "\n;"
		if err := AddLinks(&out, made); err == nil {
			t.Fatal("a page with another script got links")
		}
	}
	if plus == 0 {
		t.Fatal("no hash had a plus")
	}
}
