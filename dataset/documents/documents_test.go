package documents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

func TestReadEncodings(t *testing.T) {
	latin, err := charmap.Windows1252.NewEncoder().String("Straße “Größe” 5 €")
	check(t, err)
	japan, err := japanese.ShiftJIS.NewEncoder().String("灯台は百年前に建てられた。")
	check(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("Łódź")
	check(t, err)
	page := func(head, text string) string {
		return "<html><head>" + head + "</head><body><p>" + text + "</p></body></html>"
	}
	long := strings.Repeat("plain ASCII, line after line. ", 100)
	tests := []struct {
		name        string
		kind        Kind
		contentType string
		data        string
		want        string // the text holds it
		err         string
	}{
		{"the header says windows-1252", HTML, "text/html; charset=windows-1252", page("", latin), "Straße “Größe” 5 €", ""},
		{"the page says Shift_JIS", HTML, "text/html", page(`<meta charset="Shift_JIS">`, japan), "灯台は百年前に建てられた。", ""},
		{"the header wins over the page", HTML, "text/html; charset=shift_jis", page(`<meta charset="windows-1252">`, japan), "灯台は百年前に建てられた。", ""},
		{"nothing says, and it is UTF-8 far down", HTML, "text/html", page("", long+"Größe"), "Größe", ""},
		{"nothing says, and it is not UTF-8", HTML, "text/html", page("", latin), "Straße “Größe” 5 €", ""},
		{"a text with a byte order mark", Plain, "", wide, "Łódź", ""},
		{"a text of a server that says nothing", Plain, "text/plain", latin, "Straße “Größe” 5 €", ""},
		{"a text about HTML", Plain, "", `It begins with <meta charset="shift_jis">. Größe`, "Größe", ""},
		{"a file in no encoding", Plain, "", latin, "", "not UTF-8"},
		{"an empty file", Plain, "", " \n", "", "no text"},
		{"an empty page", HTML, "", "<html><body><script>x()</script></body></html>", "", "no text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(t.Context(), tt.kind, tt.contentType, []byte(tt.data))
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case !strings.Contains(got.Text, tt.want):
				t.Errorf("text %q, want %q in it", got.Text, tt.want)
			}
		})
	}
}

func TestReadTextAsItIs(t *testing.T) {
	const text = "# Title\r\n\r\n  indented <b>and</b> kept\t\n"
	got, err := Read(t.Context(), Plain, "", []byte(text))
	check(t, err)
	if got.Text != text {
		t.Errorf("text %q, want %q", got.Text, text)
	}
}

func TestReadHTML(t *testing.T) {
	const page = `<!doctype html><html><head><title>Notes on   lighthouses</title><style>p{}</style></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>Notes on lighthouses</h1>
<p>The tower of Kõpu was first lit in 1531, and its walls are thirty-six metres high. It
stands on a hill, which is why the light is seen from afar, and why sailors liked it.</p>
<ul><li>The lamp burned oil, later gas, and in the end it was lit by electricity.</li><li>Keepers trimmed the wick every four hours, in all weather, for a hundred years.</li></ul>
<table><tr><th>Place</th><th>Year</th></tr><tr><td>Kõpu</td><td>1531</td></tr></table>
<pre>lamp = on
  wick = trimmed</pre>
<p>A second paragraph tells of the <b>keep</b>ers, of their journals, and of the boats that brought them bread.<br>A line of its own.</p>
</article><footer>Imprint and privacy</footer><script>var x = "no";</script></body></html>`
	got, err := Read(t.Context(), HTML, "text/html; charset=utf-8", []byte(page))
	check(t, err)
	if want := "Notes on lighthouses"; got.Title != want {
		t.Errorf("title %q, want %q", got.Title, want)
	}
	for _, want := range []string{
		"It stands on a hill", "by electricity.\nKeepers trimmed", "Place\tYear\nKõpu\t1531", "lamp = on\n  wick = trimmed", "keepers", "bread.\nA line",
	} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is not in the text:\n%s", want, got.Text)
		}
	}
	for _, not := range []string{"Shop", "var x", "p{}"} {
		if strings.Contains(got.Text, not) {
			t.Errorf("%q is in the text:\n%s", not, got.Text)
		}
	}
}

// TestMainText reads pages of many kinds. A comment at the top of each has phrases that belong
// to what the page is about (+) and that do not (-).
func TestMainText(t *testing.T) {
	paths, err := filepath.Glob("testdata/pages/*.html")
	check(t, err)
	found, missed, wrong := 0, 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		check(t, err)
		got, err := Read(t.Context(), HTML, "", data)
		check(t, err)
		comment, _, _ := strings.Cut(strings.TrimPrefix(string(data), "<!--"), "-->")
		for line := range strings.Lines(comment) {
			line = strings.TrimSpace(line)
			sign, phrase, ok := strings.Cut(line, " ")
			has := strings.Contains(oneLine(got.Text), phrase)
			switch {
			case !ok:
			case sign == "+" && has:
				found++
			case sign == "+":
				missed++
				t.Logf("%s: lacks %q", path, phrase)
			case has:
				wrong++
				t.Logf("%s: has %q", path, phrase)
			}
		}
	}
	// What is logged are the known faults; go-readability had 47, 7 and 4.
	if found != 53 || missed != 1 || wrong != 3 {
		t.Errorf("%d phrases found, %d missed, %d too many; want 53, 1 and 3", found, missed, wrong)
	}
}

// TestPageTitle: the name of the site is not part of the title.
func TestPageTitle(t *testing.T) {
	for page, want := range map[string]string{
		"<title>Two tugs | Harbour</title><h1>Two  tugs</h1><p>x":      "Two tugs",
		"<title>Harbour</title><h1>Two tugs</h1><p>x":                  "Harbour",
		"<title>A | B</title><h1>A</h1><p>x":                           "A | B",
		"<h1>Two tugs</h1><p>x":                                        "",
		"<body style='display: none'><p>Scripts show it.<p hidden>not": "",
	} {
		got, err := Read(t.Context(), HTML, "", []byte(page))
		if err != nil || got.Title != want || strings.Contains(got.Text, "not") {
			t.Errorf("%s: title %q, want %q; text %q, %v", page, got.Title, want, got.Text, err)
		}
	}
}

func TestKindOf(t *testing.T) {
	tests := []struct {
		contentType, data string
		want              Kind
	}{
		{"text/html; charset=utf-8", "x", HTML},
		{"application/xhtml+xml", "x", HTML},
		{"text/plain", "<html>", Plain},
		{"application/json", "{}", Plain},
		{"text/html", "%PDF-1.4", PDF},
		{"application/octet-stream", "%PDF-1.4", PDF},
		{"", "\n <!DOCTYPE HTML>", HTML},
		{"application/octet-stream", "words", Plain},
		{"application/octet-stream", "\x00\x01", Unreadable},
		{"image/png", "words", Unreadable},
		{"image/svg+xml", "<svg>", Unreadable},
	}
	for _, tt := range tests {
		if got := KindOf(tt.contentType, []byte(tt.data)); got != tt.want {
			t.Errorf("KindOf(%q, %q) = %d, want %d", tt.contentType, tt.data, got, tt.want)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A text that is said to be UTF-8, and is not, is UTF-8 where it comes out.
func TestReadWrongUTF8(t *testing.T) {
	got, err := Read(t.Context(), Plain, "text/plain; charset=utf-8", []byte("Stra\xdfe"))
	if want := "Stra\ufffde"; err != nil || got.Text != want {
		t.Errorf("%q, %v; want %q", got.Text, err, want)
	}
}
