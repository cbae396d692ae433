package convert

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	quoting "ibid/metrics/quote"
)

// FuzzBrat imports any text with any annotations. What comes of them must be valid,
// add up, and be the same if it is done again; as many quotes stand at their places
// in the document as the report says.
func FuzzBrat(f *testing.F) {
	for _, name := range []string{"ada/quay", "ben/quay", "ben/library"} {
		ann, err := os.ReadFile(filepath.Join("testdata", "brat", name+".ann"))
		if err != nil {
			f.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("testdata", "brat", filepath.Base(name)+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, ann)
		f.Add([]byte("\ufeff"+string(text)), ann)
	}
	f.Add([]byte("a\r\nb\rc"), []byte("T1\tE 1 2\tb\nT2\tE 0 1;2 3\ta b\n"))
	f.Add([]byte("The bridge, red, is long."), []byte("T1\tE 0 25\tThe bridge, red\n"))
	f.Add([]byte("😀x"), []byte("T1\tE 2 3\tx\nT2\tE -1 9\tx\nT3\tE 1 1\t\nT4 x"))
	f.Fuzz(func(t *testing.T, text, ann []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{"x.txt": text, "x.ann": ann} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{MaxRecord: 1 << 20}
		m, report := importPath(t, "brat", dir, o)
		again, reportAgain := importPath(t, "brat", dir, o)
		if diff := cmp.Diff(m.rows, again.rows, cmpopts.EquateErrors()) + cmp.Diff(report, reportAgain); diff != "" {
			t.Fatalf("-once +twice:\n%s", diff)
		}
		checkReport(t, &report)
		for i := range m.rows {
			checkRow(t, &m.rows[i])
			checkStanding(t, &m.rows[i], string(ann), &report)
		}
	})
}

var onePiece = regexp.MustCompile(`^T[0-9]+[^\t]*\t[^ \t]+ [+-]?[0-9]+ [+-]?[0-9]+(?:\t(.*))?$`)

// checkStanding counts the texts of annotations in one piece that stand where the
// row says, or within: a span that holds its quote is proved. Annotations in several pieces are for tests that know their parts.
func checkStanding(t *testing.T, r *ibid.Answer, ann string, report *Report) {
	var quotes []string
	for line := range strings.SplitSeq(strings.TrimPrefix(ann, "\ufeff"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); strings.HasPrefix(line, "T") {
			part := onePiece.FindStringSubmatch(line)
			if part == nil {
				return
			}
			quotes = append(quotes, part[1])
		}
	}
	if len(quotes) == 0 {
		if len(r.Truth) != 1 || !r.Truth[0].DocNull {
			t.Errorf("nothing was marked: %+v", r.Truth)
		}
		return
	}
	if len(quotes) != len(r.Truth) {
		t.Fatalf("%d annotations, %d spans: %+v", len(quotes), len(r.Truth), r.Truth)
	}
	var standing int64
	document := []rune(r.Documents[0].Text)
	for i, m := range r.Truth {
		lo, hi := m.Start.Value, m.End.Value
		if isQuote(quotes[i]) && m.Unit == "" && 0 <= lo && lo < hi && hi <= int64(len(document)) && quoting.Holds(string(document[lo:hi]), quotes[i]) {
			standing++
		}
	}
	if got := report.Proved + report.Repaired; got != standing {
		t.Errorf("%d proved or repaired, and %d stand where the row says: %+v", got, standing, r.Truth)
	}
}
