package claims_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics"
	"ibid/metrics/claims"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// citationSign is a citation in testdata: ⟦s0:text⟧ is citation 0, a segment, g one that was
// grounded by its provider, m a marker, ? one without a role. The number may be followed by @ and what it cites.
var citationSign = regexp.MustCompile(`⟦([sgm?])(\d+)(?:@(\w+))?:([^⟦⟧]*)⟧`)

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
		c.AnswerRole = map[string]ibid.Role{"s": ibid.Segment, "g": ibid.Segment, "m": ibid.Marker, "?": ibid.NoRole}[text[m[2]:m[3]]]
		if text[m[2]:m[3]] == "g" {
			c.Method = "grounding"
		}
		body := text[m[8]:m[9]]
		start := int64(len([]rune(row.Answer)))
		c.Extent = ibid.Between(start, start+int64(len([]rune(body))))
		row.Answer += body
		text = text[m[1]:]
	}
}

// said writes what was cut, as testdata has it.
func said(row *ibid.Answer, cutter *claims.Cutter) string {
	var b strings.Builder
	c := cutter.Cut(row)
	text := []rune(row.Answer)
	at := func(e ibid.Interval) string {
		return strings.ReplaceAll(string(text[e.Start.Value:e.End.Value]), "\n", "⏎")
	}
	(&metrics.Linker{}).Link(c.List, row.Citations, c.Scopes, c.Provided)
	for k, x := range c.List {
		b.WriteString("claim ")
		for _, i := range x.Citations {
			fmt.Fprintf(&b, "[%d]", i)
		}
		fmt.Fprintf(&b, " %s\n", x.Text)
		if x.Context != x.Text {
			fmt.Fprintf(&b, "  in %s\n", strings.ReplaceAll(x.Context, "\n", "⏎"))
		}
		if x.Extent.Known() && at(x.Extent) != x.Text {
			fmt.Fprintf(&b, "  at %s\n", at(x.Extent))
		}
		for _, i := range x.Citations {
			if part, whole := cutter.Backed(k, int(i)); !whole {
				fmt.Fprintf(&b, "  [%d] of it %s\n", i, part)
			}
		}
	}
	for i, scope := range c.Scopes {
		if scope != nil && len(scope) == 0 {
			fmt.Fprintf(&b, "scope [%d] none\n", i)
		}
		for _, s := range scope {
			fmt.Fprintf(&b, "scope [%d] %s\n", i, at(s))
		}
	}
	return b.String()
}

// TestRewrite gives claims of a model the ids and the place of the sentences that they are of.
func TestRewrite(t *testing.T) {
	c := claims.NewCutter(claims.Options{Phrases: claims.NewPhrases(claims.Phrases{})})
	row := signed(t, "One is red ⟦m0:[1]⟧ and big. Two is blue. Three is green, and grey.")
	before := slices.Clone(c.Cut(row).List)
	got := c.Rewrite([][]string{{"One is red.", "One is big."}, nil, {"Three is green."}})
	want := []ibid.Claim{before[0], before[0], before[2]}
	for i, id := range []string{"0.0", "0.1", "2.0"} {
		want[i].ClaimID, want[i].Text = id, []string{"One is red.", "One is big.", "Three is green."}[i]
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for k := range got { // no word of them need stand there, so that all of each is backed
		if text, whole := c.Backed(k, 0); text != want[k].Text || !whole {
			t.Errorf("claim %d: %q is backed, all of it: %v", k, text, whole)
		}
	}
}

// TestCut cuts every answer of testdata/cut.txt: a name behind "== ", perhaps with
// options in parentheses, the answer, and behind "--" its claims with their
// citations and the scopes of these. Below a claim is what
// it was read in and where it stands, if that is other text, and which part of it each citation
// backs.
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
		o := claims.Options{Phrases: claims.NewPhrases(claims.Phrases{})}
		if strings.Contains(head, "(paragraph)") {
			o.MarkScope = claims.ParagraphScope
		}
		if strings.Contains(head, "(sentences)") {
			o.Source = claims.Sentences
		}
		if _, list, ok := strings.Cut(head, "(given: "); ok {
			row.HasClaims = true
			for claim := range strings.SplitSeq(strings.TrimSuffix(list, ")"), "; ") {
				row.Claims = append(row.Claims, ibid.Claim{Text: claim})
			}
		}
		got := said(row, claims.NewCutter(o))
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
