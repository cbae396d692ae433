package documents

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDocument reads any bytes as text, HTML and PDF. What comes of them is UTF-8 and the
// same if it is read again; UTF-8 without marks is its own text.
func FuzzDocument(f *testing.F) {
	f.Add(uint8(Plain), "", []byte("# Title\n\none [link](x) two"))
	f.Add(uint8(Plain), "text/plain; charset=iso-8859-1", []byte("Stra\xdfe"))
	f.Add(uint8(Plain), "", []byte("\xff\xfea\x00\x3d\xd8\x00\xde"))
	f.Add(uint8(HTML), "text/html", []byte("<html><head><title>t</title></head><body><nav>n</nav><p>The <b>tower</b> was lit.</p><table><tr><td>a<td>b</table>"))
	f.Add(uint8(HTML), "", []byte(strings.Repeat("<div><p>deep", 60)))
	pages, err := filepath.Glob("testdata/pages/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range pages {
		if data, err := os.ReadFile(path); err == nil && len(data) < 20_000 {
			f.Add(uint8(HTML), "", data)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, contentType string, data []byte) {
		k := Kind(kind)
		var got Text
		var err error
		checkAllocated(t, len(data), 4000, 16<<20, func() { got, err = Read(t.Context(), k, contentType, data) })
		if err != nil {
			return
		}
		again, err := Read(t.Context(), k, contentType, data)
		if err != nil || again.Text != got.Text || len(again.Pages) != len(got.Pages) {
			t.Fatalf("read twice, it differs: %v", err)
		}
		for _, s := range append([]string{got.Text}, got.Pages...) {
			if !utf8.ValidString(s) {
				t.Errorf("no UTF-8: %q", s)
			}
		}
		if k == Plain && contentType == "" && utf8.Valid(data) && !strings.ContainsAny(string(data), "\r\ufeff\x00") && got.Text != string(data) {
			t.Errorf("%q reads as %q", data, got.Text)
		}
	})
}

// checkAllocated runs f, which reads input bytes, and fails t if f allocates more than perByte
// bytes for each of them and budget bytes beside. Memory that is free again counts, too.
func checkAllocated(t testing.TB, input int, perByte, budget int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(input)+budget; took > most {
		t.Errorf("%d bytes allocated for %d of input, more than %d for each and %d", took, input, perByte, budget)
	}
}
