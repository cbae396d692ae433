package claims

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// citationSign is a citation in testdata: ⟦s0:text⟧ is citation 0, a segment, m a
// marker, ? one without a role. The number may be followed by @ and what it cites.
var citationSign = regexp.MustCompile(`⟦([sm?])(\d+)(?:@(\w+))?:([^⟦⟧]*)⟧`)

// signed reads an answer of testdata.
func signed(t *testing.T, text string) *ibid.Answer {
	t.Helper()
	row := &ibid.Answer{HasCitations: true}
	for {
		m := citationSign.FindStringSubmatchIndex(text)
		if m == nil {
			row.Answer += text
			return row
		}
		row.Answer += text[:m[0]]
		n, _ := strconv.Atoi(text[m[4]:m[5]])
		for len(row.Citations) <= n {
			row.Citations = append(row.Citations, ibid.Citation{})
		}
		c := &row.Citations[n]
		c.Doc = strconv.Itoa(n)
		if m[6] >= 0 {
			c.Doc = text[m[6]:m[7]]
		}
		c.AnswerRole = map[string]ibid.Role{"s": ibid.Segment, "m": ibid.Marker, "?": ibid.NoRole}[text[m[2]:m[3]]]
		body := text[m[8]:m[9]]
		start := int64(len([]rune(row.Answer)))
		c.Extent = ibid.Between(start, start+int64(len([]rune(body))))
		row.Answer += body
		text = text[m[1]:]
	}
}

// said writes what was cut, as testdata has it.
func said(row *ibid.Answer, c Claims) string {
	var b strings.Builder
	(&metrics.Linker{}).Link(c.List, row.Citations, c.Scopes, c.Provided)
	for _, x := range c.List {
		b.WriteString("claim ")
		for _, i := range x.Citations {
			fmt.Fprintf(&b, "[%d]", i)
		}
		fmt.Fprintf(&b, " %s\n", x.Text)
	}
	text := []rune(row.Answer)
	for i, scope := range c.Scopes {
		if scope != nil && len(scope) == 0 {
			fmt.Fprintf(&b, "scope [%d] none\n", i)
		}
		for _, s := range scope {
			fmt.Fprintf(&b, "scope [%d] %s\n", i, strings.ReplaceAll(string(text[s.Start.Value:s.End.Value]), "\n", "⏎"))
		}
	}
	return b.String()
}

// TestCut cuts every answer of testdata/cut.txt: a name behind "== ", perhaps with
// options in parentheses, the answer, and behind "--" its claims with their
// citations and the scopes of these.
func TestCut(t *testing.T) {
	const path = "testdata/cut.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
		head, rest, _ := strings.Cut(section, "\n")
		text, want, _ := strings.Cut(rest, "\n--\n")
		want = strings.TrimRight(want, "\n") + "\n"
		row := signed(t, text)
		o := Options{}
		if strings.Contains(head, "(paragraph)") {
			o.MarkScope = ParagraphScope
		}
		if strings.Contains(head, "(sentences)") {
			o.Source = Sentences
		}
		got := said(row, NewCutter(o).Cut(row))
		if got == "" {
			got = "\n"
		}
		if !*update && got != want {
			t.Errorf("%s:\n%s\ngot:\n%swant:\n%s", head, text, got, want)
		}
		fmt.Fprintf(&out, "== %s\n%s\n--\n%s\n", head, text, got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
