package doc

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
	plus := 0
	for range 40 {
		pageStyle += "/**/" // another hash each time
		if strings.Contains(hashOf(pageStyle), "+") {
			plus++
		}
		var written, out bytes.Buffer
		if err := new(Page).Write(&written); err != nil {
			t.Fatal(err)
		}
		if err := AddLinks(&out, written.Bytes(), Link{"../", "All runs"}); err != nil || !strings.Contains(out.String(), `<a href="../">All runs</a>`) {
			t.Fatalf("hash %s: %v", hashOf(pageStyle), err)
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
