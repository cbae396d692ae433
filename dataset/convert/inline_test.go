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
	"ibid/metrics/presence"
)

// record is a line of format inline; more is further members.
func record(answer, more string) string {
	return `{"id":"a","query":"q","answer":` + string(jsonString(answer)) + more + "}"
}

// cited is a citation at an interval of the answer.
func cited(form string, start, end int64, c ibid.Citation) ibid.Citation {
	c.Method, c.AnswerStart, c.AnswerEnd, c.AnswerRole = form, some(start), some(end), ibid.Marker
	if form == "statement" {
		c.AnswerRole = ibid.Segment
	}
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

// sentences is a citation of blocks.
func sentences(doc string, start, end int64) ibid.Citation {
	return ibid.Citation{Doc: doc, Start: some(start), End: some(end), Unit: "block"}
}

func TestInlineForms(t *testing.T) {
	const refs = `,"references":["a","b","c"]`
	tests := []struct {
		name, answer, more string
		want               []ibid.Citation
		warnings           []string
	}{
		{"none", "No source.", refs, nil, nil},
		{"located", "Größe [a.pdf:3:12-20].", "", []ibid.Citation{cited("located", 6, 21, placed("a.pdf", 3, 12, 20))}, nil},
		{"located, offsets that make no span", "x [a.pdf:0:20--12]", "", []ibid.Citation{cited("located", 2, 18, placed("a.pdf", 0, 20, -12))}, nil},
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
				cited("dagger", 1, 12, ibid.Citation{Doc: "b", Unit: "document", SourceReference: `{"locator":"L10-L20"}`}),
				cited("dagger", 13, 17, wholly("a")),
			},
			nil,
		},
		{
			"turn with the name of a source", "x【4:7†b】", refs,
			[]ibid.Citation{cited("dagger", 1, 8, ibid.Citation{Doc: "b", Unit: "document", SourceReference: `{"locator":"b"}`})},
			nil,
		},
		{
			"turn", "x【4:1†source】", refs,
			[]ibid.Citation{cited("dagger", 1, 13, lost("【4:1†source】", `{"number":1,"locator":"source"}`))},
			[]string{`-:1: answer: characters 1-13: "【4:1†source】": no source is named so, and its number counts those of a turn`},
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
			[]string{`-:1: answer: characters 2-5: "[0]": the record lists 3 sources`, `-:1: answer: characters 5-12: "[2,4-5]": the record lists 3 sources`},
		},
		{
			"no sources", "x [1] y ^2", "",
			[]ibid.Citation{cited("numbered", 2, 5, lost("[1]", `{"number":1}`)), cited("caret", 8, 10, lost("^2", `{"number":2}`))},
			[]string{`-:1: answer: 2 markers name sources by number, and the record has no references, sources or documents`},
		},
		{
			"known to have no sources", "x [1]", `,"references":[]`,
			[]ibid.Citation{cited("numbered", 2, 5, lost("[1]", `{"number":1}`))},
			[]string{`-:1: answer: characters 2-5: "[1]": the record lists 0 sources`},
		},
		{
			"statement", "So: <statement>It <b>is</b> [2].<cite>[0-0][3-5]</cite></statement>", `,"references":["a"]`,
			[]ibid.Citation{
				cited("statement", 4, 67, sentences("a", 0, 1)), cited("statement", 4, 67, sentences("a", 3, 6)),
				cited("numbered", 28, 31, lost("[2]", `{"number":2}`)),
			},
			[]string{`-:1: answer: characters 28-31: "[2]": the record lists 1 sources`},
		},
		{"statement that cites nothing", "<statement>Hi.<cite></cite></statement> there", "", nil, nil},
		{
			"statement and several sources", "!<statement>a<cite>[1-2]</cite></statement>", refs,
			[]ibid.Citation{cited("statement", 1, 43, ibid.Citation{DocNull: true, Title: "[1-2]", Start: some(1), End: some(3), Unit: "block"})},
			[]string{`-:1: answer: characters 1-43: a statement cites sentences of one source, and the record lists 3`},
		},
		{
			"malformed", "x [a.pdf:5:12-] [1-] <statement>a</statement> [1]", refs,
			[]ibid.Citation{cited("numbered", 46, 49, wholly("a"))},
			[]string{
				`-:1: answer: characters 2-15: span has no end: "[a.pdf:5:12-]"`,
				`-:1: answer: characters 16-20: range has no end: "[1-]"`,
				`-:1: answer: characters 21-32: statement without a cite: "<statement>"`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "inline", record(tt.answer, tt.more), Options{})
			wantErrors(t, report.Errors)
			wantErrors(t, report.Warnings, tt.warnings...)
			r := &m.rows[0]
			if r.Answer != tt.answer || !r.HasCitations || r.HasClaims || r.HasDocuments {
				t.Errorf("row %+v", r)
			}
			if diff := cmp.Diff(tt.want, r.Citations, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInlineSources(t *testing.T) {
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
		{"references before documents", `,"documents":[{"doc":"a"}],"references":["x","y"]`, wholly("y"), []ibid.Document{{Doc: "a"}}, nil},
		{"sources", `,"sources":["x","y"],"references":null`, wholly("y"), nil, nil},
		{"references before sources", `,"sources":["x","y"],"references":["v","w"]`, wholly("w"), nil, []string{"sources"}},
		{"blank name", `,"sources":["x"," "]`, ibid.Citation{Doc: " ", DocNull: true, Unit: "document"}, nil, nil},
		{"url before id", `,"sources":["x",{"id":7,"url":"u","title":"T"}]`, ibid.Citation{Doc: "u", Title: "T", Unit: "document", SourceReference: `{"id":7}`}, nil, nil},
		{"doc before url", `,"sources":["x",{"url":"u","doc":"d"}]`, ibid.Citation{Doc: "d", Unit: "document", SourceReference: `{"url":"u"}`}, nil, nil},
		{"number as id", `,"sources":["x",{"id":7,"url":null}]`, ibid.Citation{Doc: "7", Unit: "document", SourceReference: `{"url":null}`}, nil, nil},
		{"only a title", `,"sources":["x",{"title":"T"}]`, ibid.Citation{DocNull: true, Title: "T", Unit: "document"}, nil, nil},
		{
			"place", `,"sources":["x",{"file_name":"d","page":2,"start":3,"end":9,"unit":"byte","cited_text":"c","year":1999,"source_reference":{"a":1}}]`,
			ibid.Citation{Doc: "d", Page: some(2), Start: some(3), End: some(9), Unit: "byte", CitedText: "c", SourceReference: `{"a":1,"year":1999}`},
			nil,
			[]string{"sources.year"},
		},
		{"quote without a place", `,"sources":["x",{"doc":"d","cited_text":"c"}]`, ibid.Citation{Doc: "d", CitedText: "c"}, nil, nil},
		{
			"texts", `,"documents":[{"doc":"d","text":"0"}],"sources":[{"doc":"d","text":"1"},{"doc":"d","text":"2"},"e",{"doc":"d","text":"0"},{"title":"T","text":"3"},{"text":"4"}]`,
			wholly("d#3"),
			[]ibid.Document{text("d", "0"), text("d#2", "1"), text("d#3", "2"), {Doc: "T", Title: "T", Text: "3", HasText: true}, text("[6]", "4"), {Doc: "e"}},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "inline", record("x [2]", tt.more), Options{})
			wantErrors(t, report.Errors)
			wantErrors(t, report.Warnings)
			r := &m.rows[0]
			if diff := cmp.Diff([]ibid.Citation{cited("numbered", 2, 5, tt.want)}, r.Citations, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.documents, r.Documents, cmpopts.EquateEmpty()); diff != "" || r.HasDocuments != (tt.documents != nil) {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unknown, sortedNames(report.UnknownFields), cmpopts.EquateEmpty()); diff != "" {
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

// TestInlineStatements: an answer of nothing but statements has them as claims.
func TestInlineStatements(t *testing.T) {
	const answer = "<statement> Tides rise.<cite>[0-1]</cite></statement>\n<statement>Hi!<cite></cite></statement><statement> <cite>[3-3]</cite></statement>\n"
	const blocks = `,"documents":[{"doc":"d","blocks":["Tides. ","They rise. ","x","y"]}]`
	m, report := importText(t, "inline", record(answer, blocks)+"\n"+record(answer, blocks+`,"claims":[]`)+"\n"+record("x"+answer, blocks), Options{})
	wantErrors(t, report.Warnings)
	first := sentences("d", 0, 2)
	first.ClaimID = "0"
	want := []ibid.Citation{cited("statement", 0, 53, first), cited("statement", 93, 135, sentences("d", 3, 4))}
	if diff := cmp.Diff(want, m.rows[0].Citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
	claims := []ibid.Claim{
		{ClaimID: "0", Text: "Tides rise.", Start: some(12), End: some(23)},
		{ClaimID: "1", Text: "Hi!", Start: some(65), End: some(68)},
	}
	if diff := cmp.Diff(claims, m.rows[0].Claims); diff != "" || !m.rows[0].HasClaims {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if r := m.rows[1]; len(r.Claims) > 0 || !r.HasClaims || r.Citations[0].ClaimID != "" {
		t.Errorf("a record that gives claims: %+v", r)
	}
	if r := m.rows[2]; r.HasClaims || r.Citations[0].ClaimID != "" {
		t.Errorf("an answer that holds more than statements: %+v", r)
	}
}

func TestInlineRecords(t *testing.T) {
	text := record("first [1]", `,"references":["a"],"year":2020`) + "\n" +
		`{"id":"b","query":"q","answer":"second [1]","references":["z"],"citations":[{"doc":"d"}]}` + "\n" +
		`{"id":"c","query":"q","answer":"third [1]","references":["z",7]}` + "\n" +
		`{"id":"d","answer":null,"references":["z"]}` + "\n" +
		`{"id":"e","query":"q","answer":"fifth [1]","citations":[],"system":"s"}` + "\n" +
		`{"doc":"a","text":"A"}` + "\n" +
		`{"id":"f","query":"q","answer":"[` + strings.Repeat("1-1000,", 101) + `1]"}` + "\n" +
		`{"id":"g","query":"q","answer":"x [d:1:3-7 | excerpt: \"been\"][d:1:8-12 | excerpt: \"been\"]","documents":[{"doc":"d","text":"as been seen"}]}`
	m, report := importText(t, "inline", text, Options{Docs: true})
	wantErrors(t, report.Errors,
		"-:2:1: citations are given, and format inline reads them from the answer: import it as jsonl",
		"-:3:62: references[1]: want an object, got a number",
		"-:7:1: answer: 101001 citations, more than 100000")
	wantErrors(t, report.Warnings, "-:5: answer: 1 markers name sources by number, and the record has no references, sources or documents")
	if report.Records != 8 || report.Rows != 4 || report.Documents != 1 || report.Citations != 4 || report.Proved != 1 || report.Repaired != 1 {
		t.Errorf("report: %+v", report)
	}
	if r := m.rows[0]; len(r.Tags) != 1 || r.Tags[0] != (ibid.Tag{Key: "source_reference", Value: `{"year":2020}`}) {
		t.Errorf("tags %+v", r.Tags)
	}
	if r := m.rows[1]; r.ID != "d" || !r.AnswerNull || r.HasCitations {
		t.Errorf("an answer that is null: %+v", r)
	}
	if r := m.rows[2]; r.ID != "e" || r.System != "s" || len(r.Citations) != 1 || !r.Citations[0].DocNull {
		t.Errorf("sources of an earlier record: %+v", r)
	}
}

func TestInlineFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.json":   "[\n {\"id\":\"a1\",\"query\":\"q\",\"answer\":\"x [1]\",\n  \"references\":[\"]\\\"},[\"]} ,\n {\"id\":\"é\",\n  \"id\":\"y\"}, 7,{\"id\":\"a4\"}]\n",
		"b.jsonl":  record("y", "") + "\n",
		"c.txt":    "x [d.pdf:1:2-3]\r\n[1\n",
		"d.md":     "[e.pdf:1:2-3]",
		"e.txt":    "ok\nné\xff",
		"f.txt":    "\ufeffx",
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
	report, err := Convert(t.Context(), "inline", []string{dir, filepath.Join(dir, "d.md")}, Options{MaxRecord: 1 << 12}, &m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Errors {
		report.Errors[i].File = filepath.Base(report.Errors[i].File)
	}
	wantErrors(t, report.Errors,
		`a.json:5:3: repeated member "id"`,
		"a.json:5:14: want an object, got a number",
		"e.txt:2:3: invalid UTF-8",
		"h.json:2:3: want ',' or ']' after a record",
		"i.json:1:2: truncated: the list of records does not end",
		"j.json:1:4: something follows the list of records",
		"k.json:1:14: want a record",
		"l.json:1:11: id: truncated: the line ends within a string",
		"l.json:1:11: truncated: the list of records does not end",
		"m.json: file over 4096 bytes (--limits): JSON Lines (.jsonl) can be of any length")
	for i := range report.Warnings {
		report.Warnings[i].File = filepath.Base(report.Warnings[i].File)
	}
	wantErrors(t, report.Warnings, `c.txt: answer: characters 17-19: bracket is not closed: "[1"`)
	var ids []string
	for _, r := range m.rows {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]string{"a1", "a4", "a", "c.txt", "f.txt", "g1", "g2", "h1", "k1", "d.md"}, ids); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	want := ibid.Answer{
		ID: "c.txt", System: "default", Answer: "x [d.pdf:1:2-3]\r\n[1\n",
		Citations: []ibid.Citation{cited("located", 2, 15, placed("d.pdf", 1, 2, 3))}, HasCitations: true,
	}
	if diff := cmp.Diff(want, m.rows[3], ignorePosition); diff != "" {
		t.Errorf("text file (-want +got):\n%s", diff)
	}
	if report.Records != report.Rows+report.Failed {
		t.Errorf("report: %+v", report)
	}
}

// FuzzInline compares with the markers written out one by one.
func FuzzInline(f *testing.F) {
	for _, s := range []string{
		"x [1] [2,4-6]【3†s】^2 [a.pdf:1:2-3,4-5 | excerpt: \"é\"]", "<statement>a [1]<cite>[0-2][5-5]</cite></statement>",
		"[1-", "【1:2†d3】", "[^1][a:b:1-2]", "<statement> <cite>[1-1]</cite></statement> \n<statement>b<cite></cite></statement>",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, answer string, n int) {
		answer = strings.ToValidUTF8(answer, "?")
		refs := make([]string, max(0, n)%8)
		for i := range refs {
			refs[i] = fmt.Sprintf("d%d", i+1)
		}
		list, err := json.Marshal(refs)
		if err != nil {
			t.Fatal(err)
		}
		m, report := importText(t, "inline", record(answer, `,"references":`+string(list)), Options{})
		items, bad := presence.Parse(answer)
		if countCitations(items) > maxInlineCitations {
			if report.Failed != 1 {
				t.Fatalf("%q: report %+v", answer, report)
			}
			return
		}
		if report.Rows != 1 || report.Warned < int64(len(bad)) || m.rows[0].Answer != answer {
			t.Fatalf("%q: report %+v", answer, report)
		}
		var want, got []string
		for i := range items {
			want = append(want, slowCitations(&items[i], refs)...)
		}
		for _, c := range m.rows[0].Citations {
			got = append(got, fmt.Sprintf("%s %q %t %d-%d at %d-%d", c.Method, c.Doc, c.DocNull, c.Start.Value, c.End.Value, c.AnswerStart.Value, c.AnswerEnd.Value))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: citations (-want +got):\n%s", answer, diff)
		}
		runes := []rune(answer)
		for _, c := range m.rows[0].Claims {
			if string(runes[c.Start.Value:c.End.Value]) != c.Text || strings.TrimSpace(c.Text) == "" {
				t.Errorf("%q: claim %+v", answer, c)
			}
		}
	})
}

// slowCitations are the citations that one marker stands for, as text.
func slowCitations(marker *presence.Inline, refs []string) (all []string) {
	add := func(doc string, start, end int64) {
		all = append(all, fmt.Sprintf("%s %q %t %d-%d at %d-%d", marker.Form, doc, doc == "" && marker.Form != presence.Located, start, end, marker.Start, marker.End))
	}
	switch marker.Form {
	case presence.Located:
		for _, s := range marker.Spans {
			add(marker.File, s.Start, s.End)
		}
	case presence.Statement:
		doc := ""
		if len(refs) == 1 {
			doc = refs[0]
		}
		for _, r := range marker.Numbers {
			add(doc, int64(r.First), int64(r.Last)+1)
		}
	default:
		for _, n := range marker.AppendNumbers(nil) {
			doc := ""
			for i, name := range refs {
				if marker.HasTurn && name == marker.Locator || !marker.HasTurn && i+1 == n {
					doc = name
				}
			}
			add(doc, 0, 0)
		}
	}
	return all
}
