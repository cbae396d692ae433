package presence

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// found writes what is found in a text, as testdata has it.
func found(d *Detector, text string) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString("  " + strings.NewReplacer("\n", "⏎", "\t", "→").Replace(fmt.Sprintf(format, args...)) + "\n")
	}
	for _, r := range References(text) {
		line("%s %d-%d %s", r.Kind, r.Start, r.End, r.Text)
	}
	if at, ok := d.sectionStart(text, appendHits(nil, text)); ok {
		line("section %s", text[at:])
	}
	if rest, ok := mention(text, nil); ok {
		line("mention %s", rest)
	}
	return b.String()
}

// TestFound reads testdata/found.txt: a text behind "= ", in which ⏎ ends a line and → is a
// tab, and below it what is found in it. Lines that begin with # say what texts are about.
func TestFound(t *testing.T) {
	const path = "testdata/found.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := newDetector(t, Options{Mode: ResourceSection})
	var out strings.Builder
	text, want := "", ""
	end := func() {
		if text == "" {
			return
		}
		got := found(d, strings.NewReplacer("⏎", "\n", "→", "\t").Replace(text))
		if !*update && got != want {
			t.Errorf("%s\ngot:\n%swant:\n%s", text, got, want)
		}
		out.WriteString("= " + text + "\n" + got)
		text, want = "", ""
	}
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "= "):
			end()
			text = strings.TrimSuffix(line[2:], "\n")
		case strings.HasPrefix(line, "  "):
			want += line
		default:
			end()
			out.WriteString(line)
		}
	}
	end()
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
