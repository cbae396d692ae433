package convert

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/metrics/token"
)

// TestLabelStudio reads the sample: several annotators, overlaps, wide characters,
// line ends, choices, skipped and untouched tasks.
func TestLabelStudio(t *testing.T) {
	path := filepath.Join("testdata", "label-studio", "export.json")
	m, report := importPath(t, "label-studio", path, Options{Docs: true})
	if len(m.rows) != 4 || report.Records != 4 || report.Failed != 0 {
		t.Fatalf("%d rows; report: %+v", len(m.rows), report)
	}
	marked := map[string]map[string][]string{}
	for i := range m.rows {
		if r := &m.rows[i]; r.HasTruth {
			marked[r.ID] = passages(t, r, textsOf(m.documents))
		}
	}
	wantMarked := map[string]map[string][]string{
		"quay": {
			"ada@example.org": {"The new quay", "cost 84 million crowns", "crowns.\nThe region", "漢字 𠮷野 fund"},
			"7":               {"The new quay, opened on 3 May 2024, cost 84 million"},
		},
		"library": {"ada@example.org": {}, "7": {"closed on Mondays"}},
	}
	if diff := cmp.Diff(wantMarked, marked); diff != "" {
		t.Errorf("marked, and nothing by who skipped or did not see it (-want +got):\n%s", diff)
	}
	quay := m.rows[0]
	quay.Truth, quay.HasTruth = nil, false
	want := ibid.Answer{
		ID: "quay", Query: "What did the quay cost?", Answer: "84 million crowns, and more.", System: "north",
		Claims: []ibid.Claim{{ClaimID: "answer", Text: "84 million crowns, and more.", Start: some(0), End: some(28)}}, HasClaims: true,
		Labels: []ibid.Label{
			{Annotator: "ada@example.org", ClaimID: "answer", Kind: "support", Value: ibid.Some[float64](0.5)},
			{Annotator: "7", ClaimID: "answer", Kind: "support", Value: ibid.Some[float64](1)},
		}, HasLabels: true,
		Documents: []ibid.Document{{Doc: "harbour.txt", Title: "Harbour"}}, HasDocuments: true,
		Tags: quay.Tags,
	}
	if diff := cmp.Diff(want, quay, ignorePosition); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	var kept map[string]any
	if err := json.Unmarshal([]byte(quay.Tags[0].Value), &kept); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"id", "data.lang", "annotations[0].lead_time", "annotations[0].result[2].value.labels", "annotations[0].result[5]",
		"annotations[0].result[6]", "annotations[0].result[7]", "annotations[2]",
	} {
		if kept[path] == nil {
			t.Errorf("%s is lost: %s", path, quay.Tags[0].Value)
		}
	}
	for i, want := range []struct {
		id, query, system string
		truth, labels     bool
	}{{"quay", "What did the quay cost?", "north", true, true}, {"library", "When is it closed?", "default", true, false}, {"103", "And on Fridays?", "default", false, false}, {"104", "", "default", false, false}} {
		if r := &m.rows[i]; r.ID != want.id || r.Query != want.query || r.System != want.system || r.HasTruth != want.truth || r.HasLabels != want.labels || r.HasCitations {
			t.Errorf("row %d: %+v, want %+v", i, r, want)
		}
	}
	var documents []string
	for _, d := range m.documents {
		documents = append(documents, d.Doc+" "+d.Title)
	}
	if diff := cmp.Diff([]string{"harbour.txt Harbour", "library/document ", "104/document "}, documents); diff != "" {
		t.Errorf("documents, each text once (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"prediction": 2, "skipped annotation": 2, "relation": 1, "textarea": 1, "choices of tone": 1}, report.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"Evidence": 5, "Weak": 1}, report.SpanLabels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if report.Proved != 5 || report.WithoutQuote != 1 || report.Spans != 6 || report.Readings["codepoint_exclusive"] != 5 || report.Warned != 0 {
		t.Errorf("report: %+v", report)
	}
	auto, recognised := importPath(t, "auto", path, Options{Docs: true})
	if diff := cmp.Diff(m.rows, auto.rows); diff != "" || recognised.Formats["label-studio"] != 1 {
		t.Errorf("auto: %v, rows (-label-studio +auto):\n%s", recognised.Formats, diff)
	}
}

// A region is a marked part of a text as Label Studio exports it.
func region(t *testing.T, text, part, to string, r Reading) string {
	t.Helper()
	start, end := offsetsOf(t, text, part, r)
	return fmt.Sprintf(`{"id":%s,"from_name":"l","to_name":%s,"type":"labels","value":{"start":%d,"end":%d,"text":%s,"labels":["E"]}}`,
		jsonString(part), jsonString(to), start, end, jsonString(strings.NewReplacer("\r", `\n`, "\n", `\n`).Replace(part)))
}

// studioExport is an export of one task; annotations are by ada, ben, cyd.
func studioExport(data string, annotations ...string) string {
	var all []string
	for i, results := range annotations {
		all = append(all, fmt.Sprintf(`{"completed_by":"%s","result":[%s]}`, []string{"ada", "ben", "cyd"}[i], results))
	}
	return `[{"id":1,"data":` + data + `,"annotations":[` + strings.Join(all, ",") + `]}]`
}

// TestLabelStudioOffsets proves what offsets count, and finds the field that they
// count in.
func TestLabelStudioOffsets(t *testing.T) {
	text := "😀 One\r\n𠮷 two. " + mixed
	quoted := func(s string) string { return string(jsonString(s)) }
	utf16 := Reading{Unit: token.UTF16}
	parts := []string{"𠮷 two", "ein 🍐, 漢字"}
	results := func(to string, r Reading) string {
		return region(t, text, parts[0], to, r) + "," + region(t, text, parts[1], to, r)
	}
	tests := []struct{ name, export, reading, doc string }{
		{"code points", studioExport(`{"text":`+quoted(text)+`}`, results("text", Reading{})), "codepoint_exclusive", "1/text"},
		{"UTF-16", studioExport(`{"text":`+quoted(text)+`}`, results("text", utf16)), "utf16_exclusive", "1/text"},
		{"ends inclusive", studioExport(`{"text":`+quoted(text)+`}`, results("text", Reading{Unit: token.UTF16, Inclusive: true})), "utf16_inclusive", "1/text"},
		{"another name", studioExport(`{"text":"no","body":`+quoted(text)+`}`, results("t", utf16)), "utf16_exclusive", "1/body"},
		{"a source", studioExport(`{"a":`+quoted(text)+`,"b":`+quoted(text)+`}`, strings.ReplaceAll(results("t", utf16), `"to_name"`, `"source":"$b","to_name"`)), "utf16_exclusive", "1/b"},
		{"strings", studioExport(`{"text":"ab cd"}`, `{"type":"labels","to_name":"t","value":{"start":"3","end":"5","text":"cd"}}`), "codepoint_exclusive", "1/text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "label-studio", tt.export, Options{Docs: true})
			if len(m.rows) != 1 || report.Failed != 0 || report.Warned != 0 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			if n := int64(len(m.rows[0].Truth)); n == 0 || report.Readings[tt.reading] != n {
				t.Errorf("readings %v of %d marks, want %s", report.Readings, n, tt.reading)
			}
			want := map[string][]string{
				"strings": {"cd"},
			}[tt.name]
			if want == nil {
				want = parts
			}
			if diff := cmp.Diff(map[string][]string{"ada": want}, passages(t, &m.rows[0], textsOf(m.documents))); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
			if got := m.rows[0].Truth[0].Doc; got != tt.doc {
				t.Errorf("document %s, want %s", got, tt.doc)
			}
		})
	}
}

// TestLabelStudioWho: null is who did not see it, empty is who marked nothing, and
// nobody's marks are halved.
func TestLabelStudioWho(t *testing.T) {
	const text = "one two three"
	data := `{"text":"` + text + `","answer":"one"}`
	one, two := region(t, text, "one", "t", Reading{}), region(t, text, "two", "t", Reading{})
	picture := `{"type":"rectanglelabels","original_width":9,"to_name":"i","value":{"x":1,"y":1,"rectanglelabels":["A"]}}`
	verdict := `{"type":"choices","from_name":"verdict","value":{"choices":["Supported"]}}`
	by := func(who, more string) string {
		return `[{"id":1,"data":` + data + `,"annotations":[{"completed_by":` + who + `,"result":[` + one + `]}` + more + `]}]`
	}
	tests := []struct {
		name, export string
		want         map[string][]string // nil is null
		ignored      string
		warned       int64
	}{
		{"empty among marks", studioExport(data, one, ""), map[string][]string{"ada": {"one"}, "ben": {}}, "", 0},
		{"empty alone", studioExport(data, "", ""), map[string][]string{"ada": {}, "ben": {}}, "", 0},
		{"marks were not asked for", studioExport(data, verdict, ""), nil, "", 0},
		{"a verdict and no mark, where others mark", studioExport(data, verdict, one), map[string][]string{"ada": {}, "ben": {"one"}}, "", 0},
		{"marks in the answer only", studioExport(data, `{"type":"labels","to_name":"answer","value":{"start":0,"end":3,"text":"one"}}`, ""), nil, "mark in answer", 0},
		{"a picture", studioExport(data, one+","+picture, two), map[string][]string{"ben": {"two"}}, "rectanglelabels", 1},
		{"a sound", studioExport(data, `{"type":"labels","original_length":3,"to_name":"s","value":{"start":0,"end":3}}`, two), map[string][]string{"ben": {"two"}}, "labels", 1},
		{"seconds", studioExport(data, `{"type":"labels","to_name":"s","value":{"start":0.5,"end":3}}`, two), map[string][]string{"ben": {"two"}}, "labels", 1},
		{"paragraphs", studioExport(data, `{"type":"paragraphlabels","to_name":"s","value":{"start":"0","end":"1","startOffset":0,"endOffset":2}}`, two), map[string][]string{"ben": {"two"}}, "paragraphlabels", 1},
		{"an e-mail address", by(`{"id":3,"email":"a@b"}`, ""), map[string][]string{"a@b": {"one"}}, "", 0},
		{"a user name", by(`{"id":3,"username":"ab"}`, ""), map[string][]string{"ab": {"one"}}, "", 0},
		{"a name", by(`{"id":3,"first_name":"A","last_name":"B"}`, ""), map[string][]string{"A B": {"one"}}, "", 0},
		{"a number in an object", by(`{"id":3}`, ""), map[string][]string{"3": {"one"}}, "", 0},
		{"no name", by(`null`, ""), map[string][]string{"": {"one"}}, "", 0},
		{"twice, the later counts", by(`3`, `,{"completed_by":3,"updated_at":"2026-01-01","result":[`+two+`]}`), map[string][]string{"3": {"two"}}, "replaced annotation", 1},
		{"twice, the later stands first", by(`3`, `,{"completed_by":3,"created_at":"","result":[`+two+`]},{"completed_by":3,"skipped":true,"result":[]}`), map[string][]string{"3": {"two"}}, "replaced annotation", 1},
		{"skipped", by(`3`, `,{"completed_by":4,"was_cancelled":true,"result":[`+two+`]}`), map[string][]string{"3": {"one"}}, "skipped annotation", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "label-studio", tt.export, Options{Docs: true})
			if len(m.rows) != 1 || report.Failed != 0 || report.Warned != tt.warned {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			var got map[string][]string
			if m.rows[0].HasTruth {
				got = passages(t, &m.rows[0], textsOf(m.documents))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
			if tt.ignored != "" && report.Ignored[tt.ignored] != 1 {
				t.Errorf("ignored %v, want one %s", report.Ignored, tt.ignored)
			}
		})
	}
}

// TestLabelStudioVerdicts turns choices into labels, and says of which it cannot.
func TestLabelStudioVerdicts(t *testing.T) {
	choice := func(control string, options ...string) string {
		list, _ := json.Marshal(options)
		return fmt.Sprintf(`{"type":"choices","from_name":"%s","to_name":"t","value":{"choices":%s}}`, control, list)
	}
	claim := `{"text":"t","claim":"It is so.","claim_id":"c9"}`
	tests := []struct {
		name, data, result string
		want               string // kind claim value, "" for none
		ignored            string
		warned             int64
	}{
		{"of a claim", claim, choice("claim-support", "fully_supported"), "support c9 1", "", 0},
		{"of a claim without an id", `{"claim":"It is so."}`, choice("Verdict", "Mostly  Supported"), "support 1 0.8", "", 0},
		{"of the answer", `{"answer":"x"}`, choice("attribution", "refuted"), "support answer 0", "", 0},
		{"relevance", claim, choice("relevance", "No"), "relevant c9 0", "", 0},
		{"needs a citation", claim, choice("needs_citation", "yes"), "needs_citation c9 1", "", 0},
		{"factual", claim, choice("is_factual", "True"), "factual c9 1", "", 0},
		{"of nothing", `{"text":"t"}`, choice("verdict", "supported"), "", "choices of verdict", 0},
		{"of another control", claim, choice("tone", "supported"), "", "choices of tone", 0},
		{"unsure", claim, choice("verdict", "Not sure"), "", "", 0},
		{"none chosen", claim, choice("verdict"), "", "", 0},
		{"two chosen", claim, choice("verdict", "yes", "no"), "", "", 1},
		{"an unknown option", claim, choice("verdict", "purple"), "", "", 1},
		{"twice", claim, choice("verdict", "yes") + "," + choice("verdict", "no"), "support c9 1", "", 1},
		{"of a mark", `{"text":"a b","claim":"c"}`, `{"id":"m","type":"labels","to_name":"t","value":{"start":0,"end":1,"text":"a"}},{"id":"m","type":"choices","from_name":"verdict","value":{"start":0,"end":1,"choices":["yes"]}}`, "", "choices of a mark", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "label-studio", studioExport(tt.data, tt.result), Options{})
			if len(m.rows) != 1 || report.Warned != tt.warned {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			var got []string
			for _, l := range m.rows[0].Labels {
				got = append(got, fmt.Sprint(l.Kind, " ", l.ClaimID, " ", l.Value.Value))
				if l.Annotator != "ada" || !l.Value.Known() {
					t.Errorf("label %+v", l)
				}
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("labels %q, want %q", s, tt.want)
			}
			if tt.ignored != "" && report.Ignored[tt.ignored] != 1 {
				t.Errorf("ignored %v, want one %s", report.Ignored, tt.ignored)
			}
			if tt.want == "" && !strings.Contains(m.rows[0].Tags[0].Value, `"choices"`) {
				t.Errorf("the choice is lost: %s", m.rows[0].Tags[0].Value)
			}
		})
	}
}

// TestLabelStudioDocuments gives every text one name, whichever task it comes in.
func TestLabelStudioDocuments(t *testing.T) {
	task := func(id int, data string) string { return fmt.Sprintf(`{"id":%d,"data":%s,"annotations":[]}`, id, data) }
	text := "[" + strings.Join([]string{
		task(1, `{"text":"same"}`), task(2, `{"text":"same"}`), task(3, `{"text":"other","doc":"d"}`), task(4, `{"text":"third","doc":"d"}`),
		task(5, `{"text":"same","context":"more"}`), task(5, `{"text":"same","system":"s"}`),
	}, ",") + "]"
	m, _ := importText(t, "label-studio", text, Options{Docs: true})
	var got []string
	for _, d := range m.documents {
		got = append(got, d.Doc+"="+d.Text)
	}
	if diff := cmp.Diff([]string{"1/text=same", "d=other", "d#2=third", "5/context=more"}, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	m, _ = importText(t, "label-studio", text, Options{})
	if len(m.rows) != 6 || len(m.rows[1].Documents) != 1 || m.rows[1].Documents[0].Doc != "1/text" || len(m.rows[4].Documents) != 2 {
		t.Errorf("inline: %+v", m.rows)
	}
	if m, _ = importText(t, "label-studio", text, Options{System: "x"}); m.rows[0].System != "x" || m.rows[5].System != "s" {
		t.Errorf("systems %s and %s", m.rows[0].System, m.rows[5].System)
	}
}

// TestLabelStudioMalformed says what is wrong with a task, and where, and keeps the
// others.
func TestLabelStudioMalformed(t *testing.T) {
	good := `{"id":"good","data":{"text":"x"},"annotations":[]}`
	tests := []struct{ name, task, want string }{
		{"an object of another kind", `{"id":1}`, `-:2:1: data: missing`},
		{"data of another type", `{"id":1,"data":"x","annotations":[]}`, `-:2:16: data: want an object, got a string`},
		{"null data", `{"id":1,"data":null,"annotations":[]}`, `-:2:16: data: null, but it must be given`},
		{"no id", `{"data":{"text":"x"},"annotations":[]}`, `-:2:1: neither the task nor its data has an id`},
		{"annotations", `{"id":1,"data":{},"annotations":{}}`, `-:2:33: annotations: want a list, got an object`},
		{"an annotation", `{"id":1,"data":{},"annotations":[7]}`, `-:2:34: annotations[0]: want an object, got a number`},
		{"results", `{"id":1,"data":{},"annotations":[{"result":7}]}`, `-:2:44: annotations[0].result: want a list, got a number`},
		{"type", `{"id":1,"data":{},"annotations":[{"result":[{"type":7}]}]}`, `-:2:53: annotations[0].result[0].type: want a string, got a number`},
		{"type of a mark", `{"id":1,"data":{},"annotations":[{"result":[{"type":7,"value":{"start":0}}]}]}`, `-:2:53: annotations[0].result[0].type: want a string, got a number`},
		{"labels", `{"id":1,"data":{"é":""},"annotations":[{"result":[{"type":"labels","value":{"start":0,"end":1,"labels":[7]}}]}]}`, `-:2:105: annotations[0].result[0].value.labels[0]: want a string, got a number`},
		{"nameless twice", `{"id":1,"data":{},"annotations":[{"result":[]},{"result":[]}]}`, `-:2:48: annotations[1]: a second annotation without completed_by: nobody can tell whose they are`},
		{"skipped", `{"id":1,"data":{},"annotations":[{"was_cancelled":"yes","result":[]}]}`, `-:2:51: annotations[0].was_cancelled: want a boolean, got a string`},
		{"predictions", `{"id":1,"data":{},"annotations":[],"predictions":{}}`, `-:2:50: predictions: want a list, got an object`},
		{"the same again", good, `-:2:1: the answer of system "default" to "good" is there twice`},
		{"half", `{"id":1,"data":{`, `-:2:17: data: truncated: the text ends before its object does`},
		{"Latin-1", "{\"id\":1,\"data\":{\"text\":\"\xfc\"},\"annotations\":[]}", `-:2:25: data.text: invalid UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "label-studio", good+"\n"+tt.task+"\n"+strings.Replace(good, "good", "last", 1)+"\n", Options{})
			if len(m.rows) != 2 || m.rows[1].ID != "last" || report.Records != 3 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			if got := report.Errors[0].Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLabelStudioMoved repairs a mark whose quote is elsewhere, and says what is
// nowhere.
func TestLabelStudioMoved(t *testing.T) {
	export := studioExport(`{"text":"one two three two"}`,
		`{"type":"labels","to_name":"t","value":{"start":0,"end":3,"text":"one"}},`+
			`{"type":"labels","to_name":"t","value":{"start":0,"end":3,"text":"three"}},`+
			`{"type":"labels","to_name":"t","value":{"start":0,"end":3,"text":"two"}},`+
			`{"type":"labels","to_name":"t","value":{"start":9,"end":2,"text":"x"}}`)
	m, report := importText(t, "label-studio", export, Options{})
	if report.Proved != 1 || report.Repaired != 1 || report.Mismatched != 1 || report.Degenerate != 1 || report.Warned != 3 {
		t.Errorf("report: %+v", report)
	}
	if at := m.rows[0].Truth[1]; at.Start != some(8) || at.End != some(13) {
		t.Errorf("moved to %+v", at)
	}
	if w := report.Warnings[0]; w.Line != 1 || w.Column != strings.Index(export, `{"type":"labels","to_name":"t","value":{"start":0,"end":3,"text":"three"`)+1 {
		t.Errorf("warning %+v", w)
	}
}

// TestLabelStudioRefuses: JSON_MIN and marks in HTML are refused with what to do.
func TestLabelStudioRefuses(t *testing.T) {
	const html = "a mark in HTML: show the text as <Text> in Label Studio, and export the project as JSON"
	for _, tt := range []struct{ text, want string }{
		{
			`[{"id":4,"question":"When?","answer":"In 1874.","passage":"It opened.","evidence":[{"start":0,"end":2,"text":"It","labels":["Evidence"]}],"annotator":1,"annotation_id":9}]`,
			"-:1:2: a record of JSON_MIN: export the project from Label Studio as JSON",
		},
		{
			studioExport(`{"html":"<p>so</p>"}`, `{"type":"hypertextlabels","to_name":"t","value":{"globalOffsets":{"start":0,"end":2},"text":"so","hypertextlabels":["E"]}}`),
			"-:1:85: annotations[0].result[0]: " + html,
		},
		{
			studioExport(`{"html":"so"}`, `{"type":"labels","to_name":"t","value":{"start":"/p[1]/text()[1]","startOffset":0,"end":"/p[1]/text()[1]","endOffset":2,"labels":["E"]}}`),
			"-:1:78: annotations[0].result[0]: " + html,
		},
	} {
		m, report := importText(t, "auto", tt.text, Options{})
		if len(m.rows) != 0 || report.Formats["label-studio"] != 1 {
			t.Errorf("rows %+v, report %+v", m.rows, report)
		}
		wantErrors(t, report.Errors, tt.want)
	}
}
