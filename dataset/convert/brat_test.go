package convert

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/metrics/token"
)

// passages are the texts at the places of a row's truth, by annotator, in order;
// [] for who marked nothing, and no entry for who did not see the document.
func passages(t *testing.T, r *ibid.Answer, text func(doc string) string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, m := range r.Truth {
		if m.DocNull {
			all[m.Annotator] = []string{}
			continue
		}
		if m.Unit != "" {
			t.Errorf("row %s: %s: unit %s", r.ID, m.Annotator, m.Unit)
		}
		all[m.Annotator] = append(all[m.Annotator], passage(text(m.Doc), m.Start.Value, m.End.Value))
	}
	return all
}

// textsOf gives the texts of documents by their names.
func textsOf(documents []ibid.Document) func(string) string {
	return func(doc string) string {
		i := slices.IndexFunc(documents, func(d ibid.Document) bool { return d.Doc == doc })
		if i < 0 {
			return ""
		}
		return documents[i].Text
	}
}

// TestBrat reads the sample: two annotators, pieces, overlaps, wide characters, line
// ends of two characters that the offsets count as one, and a document that nobody
// saw.
func TestBrat(t *testing.T) {
	dir := filepath.Join("testdata", "brat")
	m, report := importPath(t, "brat", dir, Options{Docs: true})
	var ids []string
	got := map[string]map[string][]string{}
	for i := range m.rows {
		r := &m.rows[i]
		ids = append(ids, r.ID)
		if r.HasTruth {
			got[r.ID] = passages(t, r, textsOf(m.documents))
		}
		if r.HasCitations || r.HasLabels || r.Answer != "" || r.AnswerNull || r.System != "default" {
			t.Errorf("row %s: %+v", r.ID, r)
		}
	}
	want := map[string]map[string][]string{
		"library": {"ada": {}, "ben": {"closed on Mondays"}},
		"quay": {
			"ada": {"The new quay", "cost 84 million crowns", "the 漢字 𠮷野 fund", "crowns.\r\nThe region"},
			"ben": {"The new quay, opened on 3 May 2024, cost 84 million", "opened on 3 May"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
	if want := []string{"library", "quay", "sea"}; !slices.Equal(ids, want) {
		t.Errorf("rows %v, want %v: who saw nothing is no reason to lose it", ids, want)
	}
	for _, d := range m.documents {
		file, err := os.ReadFile(filepath.Join(dir, d.Doc))
		if err != nil || d.Text != string(file) {
			t.Errorf("document %s is not what its file holds: %v", d.Doc, err)
		}
	}
	if diff := cmp.Diff(map[string]int64{"Evidence": 5, "Weak": 1}, report.SpanLabels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"relation": 1, "equivalence": 1}, report.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if report.Records != 3 || report.Rows != 3 || report.Proved != 7 || report.Spans != 7 || report.Warned != 0 || report.Readings["codepoint_exclusive"] != 7 {
		t.Errorf("report: %+v", report)
	}
	const kept = `{"ada":{"T1":"Evidence 18 30;54 76","T2":"Evidence 105 119","T3":"Weak 70 88","A1":"Confident T1 High",` +
		`"#1":"AnnotatorNotes T2\tthe name is rare","R1":"Same Arg1:T1 Arg2:T2","*[6]":"Equiv T1 T2"},` +
		`"ben":{"T1":"Evidence 18 69","T2":"Evidence 32 47"}}`
	if diff := cmp.Diff([]ibid.Tag{{Key: referenceTag, Value: kept}}, m.rows[1].Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}

	// Without a place for documents each row brings its own.
	inline, _ := importPath(t, "brat", dir, Options{})
	for i := range inline.rows {
		r := &inline.rows[i]
		if len(r.Documents) != 1 || r.Documents[0].Doc != r.ID+".txt" || r.Documents[0].Text != textsOf(m.documents)(r.ID+".txt") {
			t.Errorf("documents of row %s: %+v", r.ID, r.Documents)
		}
	}
	auto, recognised := importPath(t, "auto", dir, Options{Docs: true})
	if diff := cmp.Diff(m.rows, auto.rows); diff != "" || recognised.Formats["brat"] != 1 {
		t.Errorf("auto: %v, rows (-brat +auto):\n%s", recognised.Formats, diff)
	}
}

// TestBratOffsets proves what else offsets may count.
func TestBratOffsets(t *testing.T) {
	const text = "A 😀 smile.\r\nTwo 🍐 pears\r\nand 𠮷 more."
	folded := strings.ReplaceAll(text, "\r\n", "\n")
	as := func(text string, r Reading, parts ...string) string {
		var b strings.Builder
		for i, part := range parts {
			start, end := offsetsOf(t, text, part, r)
			fmt.Fprintf(&b, "T%d\tE %d %d\t%s\n", i+1, start, end, part)
		}
		return b.String()
	}
	pears := []string{"Two 🍐", "and 𠮷 m"}
	tests := []struct {
		name, text, ann, reading string
		want                     []string
	}{
		{"every character of the file", text, as(text, Reading{}, pears...), "codepoint_exclusive", pears},
		{"line ends as one", text, as(folded, Reading{}, pears...), "codepoint_exclusive", pears},
		{"UTF-16", text, as(text, Reading{Unit: token.UTF16}, pears...), "utf16_exclusive", pears},
		{"UTF-16, line ends as one", text, as(folded, Reading{Unit: token.UTF16}, pears...), "utf16_exclusive", pears},
		{"ends inclusive", text, as(folded, Reading{Inclusive: true}, pears...), "codepoint_inclusive", pears},
		{"UTF-16 pieces", "🍐a b🍐c", "T1\tE 0 3;5 8\t🍐a 🍐c\n", "utf16_exclusive", []string{"🍐a", "🍐c"}},
		{"pieces without a space", "one two three", "T1\tE 0 3;8 13\tonethree\n", "codepoint_exclusive", []string{"one", "three"}},
		{"a byte order mark that is counted", "\ufeff" + text, as("\ufeff"+folded, Reading{}, pears...), "codepoint_exclusive", pears},
		{"a byte order mark that is not", "\ufeff" + text, as(folded, Reading{}, pears...), "codepoint_exclusive", pears},
		{"a byte order mark of the annotations", text, "\ufeff" + as(folded, Reading{}, pears...), "codepoint_exclusive", pears},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := evidenceDir(t, map[string]string{"x.txt": tt.text, "x.ann": tt.ann})
			m, report := importPath(t, "brat", dir, Options{Docs: true})
			if len(m.rows) != 1 || report.Failed != 0 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			if diff := cmp.Diff(map[string][]string{"": tt.want}, passages(t, &m.rows[0], textsOf(m.documents))); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
			if report.Readings[tt.reading] != int64(len(tt.want)) {
				t.Errorf("readings %v, want %d of %s", report.Readings, len(tt.want), tt.reading)
			}
		})
	}
}

// TestBratNotThere repairs what is elsewhere, and says what is nowhere.
func TestBratNotThere(t *testing.T) {
	dir := evidenceDir(t, map[string]string{
		"x.txt": "one two three two",
		"x.ann": "T1\tE 0 3\tone\nT2\tE 0 5\tthree\nT3\tE 0 3\ttwo\nT4\tE 3 3\t \nT5\tE 90 95\t\nT6\tE 0 3;4 7\tone 2\nT7\tE 5 2\tx\n",
	})
	m, report := importPath(t, "brat", dir, Options{})
	var got []string
	for _, s := range m.rows[0].Truth {
		got = append(got, fmt.Sprintf("[%d,%d)", s.Start.Value, s.End.Value))
	}
	want := []string{"[0,3)", "[8,13)", "[0,3)", "[3,3)", "[90,95)", "[0,3)", "[4,7)", "[5,2)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if report.Proved != 1 || report.Repaired != 1 || report.Mismatched != 3 || report.Degenerate != 1 || report.WithoutQuote != 2 || report.Warned != 5 {
		t.Errorf("report: %+v", report)
	}
	if w := report.Warnings[0]; w.Line != 2 || w.Reason != "truth moved to where its quote is" || filepath.Base(w.File) != "x.ann" {
		t.Errorf("warning %+v", w)
	}
}

// TestBratMalformed leaves a document out with the place of what is wrong, and
// keeps the others.
func TestBratMalformed(t *testing.T) {
	good := map[string]string{"good.txt": "fine", "good.ann": "T1\tE 0 4\tfine\n", "a/good.ann": ""}
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no text", map[string]string{"a/bad.ann": ""}, "a/bad.ann: there is no bad.txt"},
		{"two texts", map[string]string{"bad.txt": "x", "a/bad.txt": "y", "a/bad.ann": ""}, "a/bad.ann: DIR/a/bad.txt is another text than DIR/bad.txt"},
		{"text in Latin-1", map[string]string{"bad.txt": "\xfcber", "bad.ann": ""}, "bad.ann: DIR/bad.txt: invalid UTF-8"},
		{"annotations in Latin-1", map[string]string{"bad.txt": "x", "bad.ann": "T1\tE 0 1\t\xfc\n"}, "bad.ann:1: invalid UTF-8"},
		{"no tab", map[string]string{"bad.txt": "x", "bad.ann": "T1\tE 0 1\tx\n\nT2 E 0 1 x\n"}, `bad.ann:3: want an id, a tab and an annotation, got "T2 E 0 1 x"`},
		{"kind", map[string]string{"bad.txt": "x", "bad.ann": "Q1\tE\n"}, `bad.ann:1: unknown kind of annotation "Q1"`},
		{"number", map[string]string{"bad.txt": "x", "bad.ann": "Tx\tE 0 1\tx\n"}, `bad.ann:1: want a number after the letter, got "Tx"`},
		{"no offsets", map[string]string{"bad.txt": "x", "bad.ann": "T1\tEvidence\tx\n"}, `bad.ann:1: want a type and offsets, got "Evidence"`},
		{"one offset", map[string]string{"bad.txt": "x", "bad.ann": "T1\tÉvidence 0 1;3\tx\n"}, `bad.ann:1: want two offsets with a space between, got "3"`},
		{"a word", map[string]string{"bad.txt": "x", "bad.ann": "T1\tE 0 one\tx\n"}, `bad.ann:1: want two offsets with a space between, got "0 one"`},
		{"too large", map[string]string{"bad.txt": "x", "bad.ann": "T1\tE 0 9223372036854775808\tx\n"}, `bad.ann:1: want two offsets with a space between, got "0 9223372036854775808"`},
		{"an id twice", map[string]string{"bad.txt": "xy", "bad.ann": "T1\tE 0 1\tx\nT1\tE 1 2\ty\n"}, `bad.ann:2: id "T1" is there twice`},
		{"one annotator of two", map[string]string{"bad.txt": "x", "bad.ann": "T1\tE 0 1\tx\n", "a/bad.ann": "T1\n"}, `a/bad.ann:1: want an id, a tab and an annotation, got "T1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := maps.Clone(good)
			maps.Copy(all, tt.files)
			dir := evidenceDir(t, all)
			m, report := importPath(t, "brat", dir, Options{})
			if len(m.rows) != 1 || m.rows[0].ID != "good" || len(m.rows[0].Truth) != 2 || report.Records != 2 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			got := strings.TrimPrefix(report.Errors[0].Error(), dir+"/")
			if want := strings.ReplaceAll(tt.want, "DIR", dir); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestBratRefuses stops before anything is written.
func TestBratRefuses(t *testing.T) {
	empty := t.TempDir()
	for name, paths := range map[string][]string{
		"no annotations":  {empty},
		"a file":          {filepath.Join("testdata", "brat", "sea.txt")},
		"two directories": {empty, empty},
		"standard input":  {"-"},
	} {
		_, err := Convert(t.Context(), "brat", paths, Options{Stdin: strings.NewReader("")}, &memory{})
		if !errors.Is(err, ibid.ErrUsage) {
			t.Errorf("%s: %v, want a usage error", name, err)
		}
	}
}

// TestBratDeeper says that annotators below annotators are not read.
func TestBratDeeper(t *testing.T) {
	dir := evidenceDir(t, map[string]string{"x.txt": "x", "round/ada/x.ann": "", "round/x.ann": "", "round/x.a1": "", ".git/x.ann": "broken"})
	m, report := importPath(t, "brat", dir, Options{})
	if len(m.rows) != 1 || len(m.rows[0].Truth) != 1 || report.Warned != 1 || !strings.Contains(report.Warnings[0].Reason, "not read") || report.Ignored[".a1 file"] != 1 {
		t.Errorf("rows %+v; report: %+v", m.rows, report)
	}
}
