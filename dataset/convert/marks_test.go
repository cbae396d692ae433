package convert

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/metrics/claims"
)

// record is a line of format jsonl; more is further members.
func record(answer, more string) string {
	return `{"id":"a","query":"q","answer":` + string(jsonString(answer)) + more + "}"
}

// cited is a citation at an interval of the answer.
func cited(form string, start, end int64, c ibid.Citation) ibid.Citation {
	c.Method, c.AnswerStart, c.AnswerEnd, c.AnswerRole = form, some(start), some(end), ibid.Marker
	return c
}

// placed is a citation of a span.
func placed(doc string, page, start, end int64) ibid.Citation {
	return ibid.Citation{Doc: doc, Page: some(page), Start: some(start), End: some(end)}
}

// wholly is a citation of a document.
func wholly(doc string) ibid.Citation { return ibid.Citation{Doc: doc, Unit: "document"} }

// lost is a citation whose number stands for nothing.
func lost(marker, reference string) ibid.Citation {
	return ibid.Citation{DocNull: true, Title: marker, SourceReference: reference}
}

func TestMarkForms(t *testing.T) {
	const refs = `,"references":["a","b","c"]`
	tests := []struct {
		name, answer, more string
		want               []ibid.Citation
		warnings           []string
	}{
		{"none", "No source.", refs, nil, nil},
		{"located", "Größe [a.pdf:3:12-20].", "", []ibid.Citation{cited("located", 6, 21, placed("a.pdf", 3, 12, 20))}, nil},
		{"located, offsets that make no span", "x [a.pdf:0:20--12]", "", []ibid.Citation{cited("located", 2, 18, placed("a.pdf", 0, 20, -12))}, []string{`-:1: characters 2-18 of the answer: "[a.pdf:0:20--12]": pages count from 1`}},
		{
			"excerpt", `😀 [a.pdf:3:12-20 | excerpt: "the [sea]"]!`, "",
			[]ibid.Citation{cited("located", 2, 40, ibid.Citation{Doc: "a.pdf", Page: some(3), Start: some(12), End: some(20), CitedText: "the [sea]"})},
			nil,
		},
		{
			"several spans", "x [a.pdf:3:1-2,5-9]", "",
			[]ibid.Citation{cited("located", 2, 19, placed("a.pdf", 3, 1, 2)), cited("located", 2, 19, placed("a.pdf", 3, 5, 9))},
			nil,
		},
		{
			"excerpt of several spans", `[a:3:1-2,5-9 | excerpt: "so"]`, "",
			[]ibid.Citation{
				cited("located", 0, 29, ibid.Citation{Doc: "a", Page: some(3), Start: some(1), End: some(2), SourceReference: `{"excerpt":"so"}`}),
				cited("located", 0, 29, ibid.Citation{Doc: "a", Page: some(3), Start: some(5), End: some(9), SourceReference: `{"excerpt":"so"}`}),
			},
			nil,
		},
		{
			"run of brackets", "x [a.pdf:1:0-5][b.pdf:2:7-9] [2]", refs,
			[]ibid.Citation{
				cited("located", 2, 15, placed("a.pdf", 1, 0, 5)), cited("located", 15, 28, placed("b.pdf", 2, 7, 9)),
				cited("numbered", 29, 32, wholly("b")),
			},
			nil,
		},
		{"number", "x [2].", refs, []ibid.Citation{cited("numbered", 2, 5, wholly("b"))}, nil},
		{"list", "x [3,1].", refs, []ibid.Citation{cited("numbered", 2, 7, wholly("c")), cited("numbered", 2, 7, wholly("a"))}, nil},
		{
			"range", "x [1-3].", refs,
			[]ibid.Citation{cited("numbered", 2, 7, wholly("a")), cited("numbered", 2, 7, wholly("b")), cited("numbered", 2, 7, wholly("c"))},
			nil,
		},
		{"lenticular", "水【2】。", refs, []ibid.Citation{cited("numbered", 1, 4, wholly("b"))}, nil},
		{
			"dagger", "x【2†L10-L20】 [1†]", refs,
			[]ibid.Citation{
				cited("dagger", 1, 12, wholly("b")),
				cited("dagger", 13, 17, wholly("a")),
			},
			nil,
		},
		{
			"turn with the name of a source", "x【4:7†b】", refs,
			[]ibid.Citation{cited("dagger", 1, 8, wholly("b"))},
			nil,
		},
		{
			"turn", "x【4:1†source】", refs,
			[]ibid.Citation{cited("dagger", 1, 13, lost("【4:1†source】", `{"number":1}`))},
			[]string{`-:1: 1 marks of the answer not understood: turn: "4:1†source"`},
		},
		{
			"caret", "x ^3, said he[^1]", refs,
			[]ibid.Citation{cited("caret", 2, 4, wholly("c")), cited("caret", 13, 17, wholly("a"))},
			nil,
		},
		{
			"beyond the sources", "x [0][2,4-5]", refs,
			[]ibid.Citation{
				cited("numbered", 2, 5, lost("[0]", `{"number":0}`)), cited("numbered", 5, 12, wholly("b")),
				cited("numbered", 5, 12, lost("[2,4-5]", `{"number":4}`)), cited("numbered", 5, 12, lost("[2,4-5]", `{"number":5}`)),
			},
			[]string{
				`-:1: characters 2-5 of the answer: "[0]": the record lists 3 sources`, `-:1: characters 5-12 of the answer: "[2,4-5]": the record lists 3 sources`,
				`-:1: characters 5-12 of the answer: "[2,4-5]": the record lists 3 sources`,
			},
		},
		{
			"no sources", "x [1] y ^2", "",
			[]ibid.Citation{cited("numbered", 2, 5, lost("[1]", `{"number":1}`)), cited("caret", 8, 10, lost("^2", `{"number":2}`))},
			nil,
		},
		{
			"known to have no sources", "x [1]", `,"references":[]`,
			[]ibid.Citation{cited("numbered", 2, 5, lost("[1]", `{"number":1}`))},
			[]string{`-:1: characters 2-5 of the answer: "[1]": the record lists 0 sources`},
		},
		{
			"words of a tag", "So <co: 0>it is</co: 0>.", refs,
			[]ibid.Citation{{Doc: "a", Unit: "document", AnswerStart: some(10), AnswerEnd: some(15), AnswerRole: ibid.Segment, Method: "tag"}},
			nil,
		},
		{
			"malformed", "x [a.pdf:5:12-] [3-1] [1]", refs,
			[]ibid.Citation{cited("numbered", 22, 25, wholly("a"))},
			[]string{`-:1: 1 marks of the answer not understood: located: "a.pdf:5:12-"`, `-:1: 1 marks of the answer not understood: range: "3-1"`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "jsonl", record(tt.answer, tt.more), Options{})
			wantErrors(t, report.Errors)
			wantErrors(t, report.Warnings, tt.warnings...)
			r := &m.rows[0]
			if r.Answer != tt.answer || !r.HasCitations || r.HasClaims || r.HasDocuments != (tt.more != "") {
				t.Errorf("row %+v", r)
			}
			if diff := cmp.Diff(tt.want, r.Citations, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkSources(t *testing.T) {
	text := func(name, text string) ibid.Document {
		return ibid.Document{Doc: name, Text: text, HasText: true}
	}
	tests := []struct {
		name, more string
		want       ibid.Citation // of [2]
		documents  []ibid.Document
		unknown    []string
	}{
		{"documents", `,"documents":[{"doc":"a"},{"doc":"b","title":"B","source_type":"web"}]`, ibid.Citation{Doc: "b", Title: "B", SourceType: "web", Unit: "document"}, []ibid.Document{{Doc: "a"}, {Doc: "b", Title: "B", SourceType: "web"}}, nil},
		{"texts", `,"contexts":["x","y z"]`, wholly("2"), []ibid.Document{text("1", "x"), text("2", "y z")}, nil},
		{"URLs among texts", `,"sources":["x","https://b.org"]`, wholly("https://b.org"), []ibid.Document{text("1", "x"), {Doc: "https://b.org"}}, nil},
		{"references are names", `,"references":["x","y z"]`, wholly("y z"), []ibid.Document{{Doc: "x"}, {Doc: "y z"}}, nil},
		{"documents before references", `,"documents":[{"doc":"a"}],"references":["x","y"]`, lost("[2]", `{"number":2}`), []ibid.Document{{Doc: "a"}}, []string{"references"}},
		{"sources name contexts", `,"sources":["x","y"],"contexts":["v","w"]`, wholly("y"), []ibid.Document{text("x", "v"), text("y", "w")}, []string{"sources"}},
		{"contexts before sources", `,"sources":["x","y","z"],"contexts":["v","w"]`, wholly("2"), []ibid.Document{text("1", "v"), text("2", "w")}, []string{"sources"}},
		{"id before url", `,"sources":["x",{"id":"k7","url":"u","title":"T"}]`, ibid.Citation{Doc: "k7", Title: "T", Unit: "document"}, []ibid.Document{text("1", "x"), {Doc: "k7", Title: "T"}}, []string{"documents.url"}},
		{"url before source", `,"sources":["x",{"source":"s","url":"u","id":null}]`, wholly("u"), []ibid.Document{text("1", "x"), {Doc: "u"}}, []string{"documents.source", "documents.id"}},
		{"source in the metadata", `,"context":["x",{"page_content":"y","metadata":{"source":"kb/s.md"}}]`, wholly("kb/s.md"), []ibid.Document{text("1", "x"), text("kb/s.md", "y")}, []string{"documents.metadata"}},
		{"no name", `,"docs":["x",{"content":"y"}]`, wholly("2"), []ibid.Document{text("1", "x"), text("2", "y")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "jsonl", record("x [2]", tt.more), Options{})
			wantErrors(t, report.Errors)
			r := &m.rows[0]
			if diff := cmp.Diff([]ibid.Citation{cited("numbered", 2, 5, tt.want)}, r.Citations, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.documents, r.Documents, cmpopts.EquateEmpty()); diff != "" || r.HasDocuments != (tt.documents != nil) {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unknown, sortedNames(report.UnknownFields), cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
		})
	}
}

func sortedNames(m map[string]int64) []string {
	var all []string
	for name := range m {
		all = append(all, name)
	}
	return all
}

func TestMarkRecords(t *testing.T) {
	text := record("first [1]", `,"references":["a"],"year":2020`) + "\n" +
		`{"id":"b","query":"q","answer":"second [1]","documents":[{"doc":"z"}],"citations":[{"doc":"d"}]}` + "\n" +
		`{"id":"c","query":"q","answer":"third [1]","documents":["z",7]}` + "\n" +
		`{"id":"d","answer":null,"references":["z"]}` + "\n" +
		`{"id":"e","query":"q","answer":"fifth [1]","citations":null,"system":"s"}` + "\n" +
		`{"doc":"a","text":"A"}` + "\n" +
		`{"id":"f","query":"q","answer":"` + strings.Repeat("[1-1000]", 101) + `"}` + "\n" +
		`{"id":"g","query":"q","answer":"x [d:1:3-7 | excerpt: \"been\"][d:1:8-12 | excerpt: \"been\"]","documents":[{"doc":"d","text":"as been seen"}]}` + "\n" +
		`{"id":"h","query":"q","answer":"taken at its word [1]","citations":[],"documents":["z"]}` + "\n" +
		`{"id":"i","query":"q","answer":"` + strings.Repeat("[1-100]", 1001) + `","documents":["z"]}`
	m, report := importText(t, "jsonl", text, Options{Docs: true})
	wantErrors(t, report.Errors,
		"-:3:61: documents[1]: want an object, got a number",
		"-:10:1: answer: 100100 citations, more than 100000")
	wantErrors(t, report.Warnings, `-:7: 101 marks of the answer not understood: range: "1-1000", "1-1000", "1-1000", …`)
	if report.Records != 10 || report.Rows != 7 || report.Documents != 1 || report.Citations != 5 || report.Spans != 0 {
		t.Errorf("report: %+v", report)
	}
	if r := m.rows[0]; len(r.Tags) != 1 || r.Tags[0] != (ibid.Tag{Key: "source_reference", Value: `{"year":2020}`}) {
		t.Errorf("tags %+v", r.Tags)
	}
	if r := m.rows[1]; r.ID != "b" || len(r.Citations) != 1 || r.Citations[0].Doc != "d" {
		t.Errorf("an answer with citations: %+v", r)
	}
	if r := m.rows[2]; r.ID != "d" || !r.AnswerNull || r.HasCitations {
		t.Errorf("an answer that is null: %+v", r)
	}
	if r := m.rows[3]; r.ID != "e" || r.System != "s" || len(r.Citations) != 1 || !r.Citations[0].DocNull {
		t.Errorf("sources of an earlier record: %+v", r)
	}
	if r := m.rows[6]; r.ID != "h" || !r.HasCitations || len(r.Citations) != 0 {
		t.Errorf("an answer that cites nothing: %+v", r)
	}
}

func TestMarkFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.json":   "[\n {\"id\":\"a1\",\"query\":\"q\",\"answer\":\"x [1]\",\n  \"references\":[\"]\\\"},[\"]} ,\n {\"id\":\"é\",\n  \"id\":\"y\"}, 7,{\"id\":\"a4\"}]\n",
		"b.jsonl":  record("y", "") + "\n",
		"g.json":   "{\"id\":\"g1\"}\n{\"id\":\"g2\"}",
		"h.json":   "[{\"id\":\"h1\"}\n  {\"id\":\"h2\"}]",
		"i.json":   "[",
		"j.json":   "[] x",
		"k.json":   "[{\"id\":\"k1\"},]",
		"l.json":   "[{\"id\":\"l1",
		"m.json":   strings.Repeat(" ", 1<<12) + "{}",
		"n.json":   "",
		"o.hidden": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var m memory
	report, err := Convert(t.Context(), "jsonl", []string{dir}, Options{MaxRecord: 1 << 12}, &m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Errors {
		report.Errors[i].File = filepath.Base(report.Errors[i].File)
	}
	wantErrors(t, report.Errors,
		`a.json:5:3: repeated member "id"`,
		"a.json:5:14: want an object, got a number",
		"h.json:2:3: want ',' or ']' after a record",
		"i.json:1:2: truncated: the list of records does not end",
		"j.json:1:4: something follows the list of records",
		"k.json:1:14: want a record",
		"l.json:1:11: id: truncated: the text ends before its object does",
		"l.json:1:11: truncated: the list of records does not end",
		"m.json: file over 4096 bytes (--limits): JSON Lines (.jsonl) can be of any length",
		"n.json:1:1: empty")
	wantErrors(t, report.Warnings)
	var ids []string
	for _, r := range m.rows {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"a1", "a4", "a", "g1", "g2", "h1", "k1"}, ids); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if report.Records != report.Rows+report.Failed {
		t.Errorf("report: %+v", report)
	}
}

// FuzzMarks checks that a record has a citation for each mark, in its answer, of one of
// its references or of what the answer says.
func FuzzMarks(f *testing.F) {
	for _, s := range []string{
		"x [1] [2,4-6]【3†s】^2 [a.pdf:1:2-3,4-5 | excerpt: \"é\"]", "a <cite>[1][3]</cite>", "[1-", "【1:2†d3】", "[^1][a:b:1-2]", "<co: 0>b</co: 0> https://a.org/x [d2]",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, answer string, n int) {
		answer = strings.ToValidUTF8(answer, "?")
		refs := make([]string, max(0, n)%8)
		var cited []claims.Cited
		for i := range refs {
			refs[i] = fmt.Sprintf("d%d", i+1)
			cited = append(cited, claims.Cited{Doc: refs[i]})
		}
		list, err := json.Marshal(refs)
		if err != nil {
			t.Fatal(err)
		}
		m, report := importText(t, "jsonl", record(answer, `,"references":`+string(list)), Options{})
		marks, _ := claims.ReadMarks(answer, cited, 1)
		if report.Rows != 1 || m.rows[0].Answer != answer || len(m.rows[0].Citations) != len(marks) {
			t.Fatalf("%q: %d marks, report %+v", answer, len(marks), report)
		}
		points := int64(len([]rune(answer)))
		for i, c := range m.rows[0].Citations {
			if c.AnswerStart.Value < 0 || c.AnswerEnd.Value <= c.AnswerStart.Value || c.AnswerEnd.Value > points || c.DocNull != (c.Doc == "") || c.Method != marks[i].Form.String() {
				t.Errorf("%q: citation %+v of %+v", answer, c, marks[i])
			}
		}
	})
}
