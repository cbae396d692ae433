package convert

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/dataset"
)

func some(n int64) ibid.Integer { return ibid.Some(n) }

func real(f float64) ibid.Number { return ibid.Some(f) }

// ignorePosition leaves out where a row came from.
var ignorePosition = cmp.FilterPath(func(p cmp.Path) bool {
	return p.String() == "Pos" || p.String() == "File" || p.String() == "FileRow"
}, cmp.Ignore())

func TestJSONLRow(t *testing.T) {
	tests := []struct {
		name, line string
		want       ibid.Answer
	}{
		{
			"only an id", `{"id":"a"}`,
			ibid.Answer{ID: "a", AnswerNull: true, System: "default"},
		},
		{
			"a question that is not known", `{"id":"a","query":null}`,
			ibid.Answer{ID: "a", QueryNull: true, AnswerNull: true, System: "default"},
		},
		{
			"null is not empty",
			`{"id":"","query":"","answer":null,"system":"s","citations":[],"truth":null,"claims":[],"messages":[],"labels":null,"documents":[]}`,
			ibid.Answer{AnswerNull: true, System: "s", HasCitations: true, HasClaims: true, HasMessages: true, HasDocuments: true},
		},
		{
			"every column",
			`{"id":"a","query":"q","answer":"a \ud83d\ude00 é\n","system":"s","provider":"p","model":"m",` +
				`"citations":[{"doc":"d","page":3,"start":-1,"end":9223372036854775807,"unit":"byte","cited_text":"c","title":"t",` +
				`"answer_start":0,"answer_end":4,"citation_id":"c1","claim_id":"k","source_type":"web","method":"m",` +
				`"confidence":0.5,"relevance":1e-3,"token_contribution":7,"source_reference":{"a": [1, 2]}}],` +
				`"truth":[{"annotator":"x","doc":"d","page":null,"start":1,"end":2,"claim_id":"k"},{"annotator":"y"}],` +
				`"claims":[{"claim_id":"k","text":"c","start":0,"end":1}],` +
				`"labels":[{"annotator":"x","claim_id":"k","citation_id":"c1","kind":"support","value":1}],` +
				`"documents":[{"doc":"d","title":"t","text":"","source_type":"web","pages":["p"],"blocks":[]}],` +
				`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null}],` +
				`"tags":{"b":"2","a":"1","n":null}}`,
			ibid.Answer{
				ID: "a", Query: "q", Answer: "a 😀 é\n", System: "s", Provider: "p", Model: "m",
				Citations: []ibid.Citation{{
					Doc: "d", Page: some(3), Start: some(-1), End: some(9223372036854775807), Unit: "byte", CitedText: "c", Title: "t",
					AnswerStart: some(0), AnswerEnd: some(4), CitationID: "c1", ClaimID: "k", SourceType: "web", Method: "m",
					Confidence: real(0.5), Relevance: real(1e-3), TokenContribution: some(7), SourceReference: `{"a":[1,2]}`,
				}},
				HasCitations: true,
				Truth: []ibid.Mark{
					{Annotator: "x", Doc: "d", Start: some(1), End: some(2), ClaimID: "k"},
					{Annotator: "y", DocNull: true},
				},
				HasTruth: true,
				Claims:   []ibid.Claim{{ClaimID: "k", Text: "c", Start: some(0), End: some(1)}}, HasClaims: true,
				Labels: []ibid.Label{{Annotator: "x", ClaimID: "k", CitationID: "c1", Kind: "support", Value: real(1)}}, HasLabels: true,
				Documents: []ibid.Document{{
					Doc: "d", Title: "t", HasText: true, SourceType: "web",
					Pages: []string{"p"}, HasPages: true, Blocks: []string{}, HasBlocks: true,
				}},
				HasDocuments: true,
				Messages:     []ibid.Message{{Role: "user", Content: "hi"}, {Role: "assistant"}}, HasMessages: true,
				Tags: []ibid.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
			},
		},
		{
			"the specification's names",
			`{"id":"a","query":"","answer":"","citations":[{"file_name":"f","page_number":1,"start_char":2,"end_char":3,` +
				`"confidence_score":0.1,"extraction_method":"x","context_text":"c","relevance_score":0.2}],` +
				`"truth":[{"file_name":"f","start_char":0,"end_char":1}]}`,
			ibid.Answer{
				ID: "a", System: "default", HasCitations: true, HasTruth: true,
				Citations: []ibid.Citation{{
					Doc: "f", Page: some(1), Start: some(2), End: some(3),
					Confidence: real(0.1), Method: "x", Relevance: real(0.2), SourceReference: `{"context_text":"c"}`,
				}},
				Truth: []ibid.Mark{{Doc: "f", Start: some(0), End: some(1)}},
			},
		},
		{
			"what has no column is kept",
			`{"id":"a","query":"","answer":"","score":1.50,"title":"t","citations":[` +
				`{"shelf":"u","source_reference":"{\"k\": 1}"},{"shelf":"u","source_reference":[1]},` +
				`{"shelf":"<u>"},{"shelf":"u","source_reference":{"shelf":"v"}},{"source_reference":"plain"},{"u":{},"source_reference":{}}],` +
				`"truth":[{"doc":"d","note":"n"}],"documents":[{"doc":"d","metadata":{"y":1}}],"tags":{"source_reference":"mine","z":"1"}}`,
			ibid.Answer{
				ID: "a", System: "default", HasCitations: true, HasTruth: true, HasDocuments: true,
				Citations: []ibid.Citation{
					{DocNull: true, SourceReference: `{"k":1,"shelf":"u"}`},
					{DocNull: true, SourceReference: `{"shelf":"u","source_reference":[1]}`},
					{DocNull: true, SourceReference: `{"shelf":"<u>"}`},
					{DocNull: true, SourceReference: `{"shelf":"u","source_reference":{"shelf":"v"}}`},
					{DocNull: true, SourceReference: `"plain"`},
					{DocNull: true, SourceReference: `{"u":{}}`},
				},
				Truth:     []ibid.Mark{{Doc: "d"}},
				Documents: []ibid.Document{{Doc: "d"}},
				Tags: []ibid.Tag{
					{Key: "source_reference", Value: `{"score":1.50,"title":"t","truth[0].note":"n","documents[0].metadata":{"y":1},"source_reference":"mine"}`},
					{Key: "z", Value: "1"},
				},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A full row before and after: nothing of it may stay in the next.
			full := tests[2].line
			m, report := importText(t, "jsonl", full+"\n"+tt.line+"\r\n"+full, Options{})
			if report.Failed != 0 || len(m.rows) != 3 {
				t.Fatalf("%d rows, errors %v", len(m.rows), report.Errors)
			}
			if diff := cmp.Diff(tt.want, m.rows[1], ignorePosition); diff != "" {
				t.Errorf("row differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONLUnknownFields(t *testing.T) {
	_, report := importText(t, "jsonl", `{"id":"a","citatons":[],"citations":[{"u":1},{"u":2}],"truth":[{"doc":"d","n":1}]}`, Options{})
	want := map[string]int64{"citatons": 1, "citations.u": 2, "truth.n": 1}
	if diff := cmp.Diff(want, report.UnknownFields); diff != "" {
		t.Errorf("UnknownFields (-want +got):\n%s", diff)
	}
}

func TestJSONLDocuments(t *testing.T) {
	m, report := importText(t, "jsonl",
		`{"doc":"a","text":"","licence":"x"}`+"\n"+`{"id":"r","query":"","answer":""}`+"\n"+`{"doc":"b","pages":["1",""],"metadata":"{\"m\":1}"}`+"\n"+`{"doc":null}`,
		Options{Docs: true})
	want := []ibid.Document{
		{Doc: "a", HasText: true, Metadata: `{"licence":"x"}`},
		{Doc: "b", Pages: []string{"1", ""}, HasPages: true, Metadata: `{"m":1}`},
	}
	if diff := cmp.Diff(want, m.documents); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if report.Documents != 2 || report.Rows != 1 || report.Records != 4 || report.Failed != 1 {
		t.Errorf("report: %+v", report)
	}
}

func TestJSONLEnds(t *testing.T) {
	const good = `{"id":"a","query":"","answer":""}`
	tests := []struct {
		name, text string
		rows       int64
		failed     []string
	}{
		{"empty file", "", 0, nil},
		{"no end of the last line", good + "\n" + good, 2, nil},
		{"truncated object", good + "\n" + good[:len(good)-1], 1, []string{"-:2:33: truncated: the text ends before its object does"}},
		{"truncated string", good + "\n" + good[:len(good)-2], 1, []string{"-:2:32: answer: truncated: the text ends before its object does"}},
		{"truncated escape", `{"id":"\u00`, 0, []string{"-:1:12: id: truncated: the text ends before its object does"}},
		{"truncated name", `{"id":"a","que`, 0, []string{"-:1:15: truncated: the text ends before its object does"}},
		{"mark at the start", "\ufeff" + good + "\n" + good, 2, nil},
		{"UTF-16", "\xff\xfe{\x00", 0, []string{"-:1:2: truncated: the text ends before its object does"}},
		{"blank line at the end", good + "\n\n", 1, []string{"-:2:1: empty line"}},
		{"line at the limit", strings.Repeat(" ", 300-len(good)) + good + "\r\n" + good, 2, nil},
		{"line over the limit", strings.Repeat(" ", 301-len(good)) + good + "\n" + good, 1, []string{"-:1: record too long: over 300 bytes (--limits)"}},
		{"line far over the limit", good + "\n" + strings.Repeat("x", 1<<20) + "\n" + good, 2, []string{"-:2: record too long: over 300 bytes (--limits)"}},
		{"deep", `{"id":"a","x":` + strings.Repeat("[", 250), 0, []string{"-:1:214: x" + strings.Repeat("[0]", 199) + ": nested deeper than 200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report := importText(t, "jsonl", tt.text, Options{MaxRecord: 300})
			var failed []string
			for _, e := range report.Errors {
				failed = append(failed, e.Error())
			}
			if diff := cmp.Diff(tt.failed, failed); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if report.Rows != tt.rows || report.Records != tt.rows+int64(len(tt.failed)) {
				t.Errorf("%d rows of %d records, want %d rows", report.Rows, report.Records, tt.rows)
			}
		})
	}
}

func TestJSONLFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		var b bytes.Buffer
		if filepath.Ext(name) == ".gz" {
			z := gzip.NewWriter(&b)
			io.WriteString(z, text)
			z.Close()
		} else {
			b.WriteString(text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.jsonl", `{"id":"b"}`)
	write("a.ndjson.gz", "{\"id\":\"a\"}\n{\"id\":true}")
	write(".hidden.jsonl", `{"id":"h"}`)
	write("notes.txt", `not JSON`)
	var reported []RecordError
	var m memory
	report, err := Convert(t.Context(), "jsonl", []string{dir, "-", filepath.Join(dir, "b.jsonl")},
		Options{Stdin: strings.NewReader(`{"id":"in"}`), OnError: func(e RecordError) { reported = append(reported, e) }}, &m)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, r := range m.rows {
		ids = append(ids, filepath.Base(r.File)+":"+r.ID)
		if r.Pos != int64(i) {
			t.Errorf("row %d has position %d", i, r.Pos)
		}
	}
	if diff := cmp.Diff([]string{"a.ndjson.gz:a", "b.jsonl:b", "-:in", "b.jsonl:b"}, ids); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(report.Errors, reported); diff != "" || len(reported) != 1 {
		t.Errorf("OnError was given %v, the report has %v", reported, report.Errors)
	}
}

// allFormats lists the formats as a hint does.
func allFormats() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func TestConvertErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.jsonl.gz")
	if err := os.WriteFile(file, []byte("\x1f\x8b\x08"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	name := "0"
	tests := []struct {
		name, format string
		paths        []string
		o            Options
		want, hint   string
		usage        bool
	}{
		{"unknown format", "jsnl", []string{"-"}, Options{}, `unknown format "jsnl"`, "did you mean jsonl?", true},
		{"unlike any format", "parquet", []string{"-"}, Options{}, `unknown format "parquet"`, "formats are " + allFormats(), true},
		{"no path", "jsonl", nil, Options{}, "format jsonl: no path given", "- reads standard input", true},
		{"no standard input", "jsonl", []string{"-"}, Options{}, "there is no standard input to read", "", true},
		{"standard input twice", "jsonl", []string{"-", "-"}, Options{Stdin: strings.NewReader("")}, "- is given more than once", "", true},
		{"not from standard input", "evidence-inference", []string{"-"}, Options{Stdin: strings.NewReader("")}, "format evidence-inference cannot be read from standard input", "give the path of the directory with annotations.csv, prompts.csv and txt/, or a file annotations_SET.csv of several sets", true},
		{"no use for the annotator", "jsonl", []string{"-"}, Options{Stdin: strings.NewReader(""), TruthAnnotator: &name}, "format jsonl has no use for --truth-annotator", "it is for evidence-inference", true},
		{"no use for the request", "jsonl", []string{"-"}, Options{Stdin: strings.NewReader(""), Request: "r.json"}, "format jsonl has no use for --request", "it is for anthropic, auto, bedrock, citeformer, cohere, copilot, gemini, keeptrusts, mistral, openai, perplexity", true},
		{"no file in the directory", "jsonl", []string{empty}, Options{}, empty + ": no file here ends in .jsonl, .ndjson, .json", "", true},
		{"no such file", "jsonl", []string{filepath.Join(empty, "a.jsonl")}, Options{}, filepath.Join(empty, "a.jsonl") + ": no such file or directory", "", false},
		{"gzip that is cut", "jsonl", []string{file}, Options{}, file + ": unexpected EOF", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m memory
			_, err := Convert(t.Context(), tt.format, tt.paths, tt.o, &m)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if hint, _ := ibid.Advice(err); errors.Is(err, ibid.ErrUsage) != tt.usage || tt.usage && hint != tt.hint {
				t.Errorf("%T %+v, want usage %t and hint %q", err, err, tt.usage, tt.hint)
			}
		})
	}
}

// A failing sink refuses everything.
type failing struct{ err error }

func (f failing) WriteRow(*ibid.Answer) error        { return f.err }
func (f failing) WriteDocument(*ibid.Document) error { return f.err }

func TestConvertStops(t *testing.T) {
	full := errors.New("disk full")
	for name, text := range map[string]string{"row": `{"id":"a"}`, "document": `{"doc":"a"}`} {
		report, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Docs: true, Stdin: strings.NewReader(text)}, failing{full})
		if !errors.Is(err, full) || report.Rows+report.Documents != 0 {
			t.Errorf("%s: error %v, report %+v", name, err, report)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Convert(ctx, "jsonl", []string{"-"}, Options{Stdin: strings.NewReader(`{"id":"a"}`)}, &memory{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

// A repeating reader gives the same line over and over.
type repeating struct {
	line []byte
	left int // bytes
	at   int
}

func (r *repeating) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.line[r.at:])
	r.at = (r.at + n) % len(r.line)
	r.left -= n
	return n, nil
}

// A counting sink keeps nothing.
type counting struct{ rows, peak uint64 }

func (c *counting) WriteRow(*ibid.Answer) error {
	if c.rows++; c.rows%20000 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.peak = max(c.peak, m.HeapAlloc)
	}
	return nil
}

func (c *counting) WriteDocument(*ibid.Document) error { return nil }

// TestJSONLMemory reads the same records twice and twenty times over: good and
// bad ones, with quotes and unknown fields.
func TestJSONLMemory(t *testing.T) {
	lines := []byte(`{"id":"a","query":"","answer":"","x":1,"citations":[{"doc":"d","start":0,"end":3,"cited_text":"the"}],"documents":[{"doc":"d","text":"the text"}]}` + "\n{\"id\":1}\n")
	peak := func(times int) uint64 {
		var c counting
		in := &repeating{line: lines, left: times * 20000 * len(lines)}
		if _, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Stdin: in}, &c); err != nil {
			t.Fatal(err)
		}
		return c.peak
	}
	few, many := peak(1), peak(8)
	if many > few+1<<20 {
		t.Errorf("%d bytes held after 8 times the records, %d after one", many, few)
	}
}

func BenchmarkJSONL(b *testing.B) {
	line := []byte(`{"id":"question 17","query":"Which of them?","answer":"The first of them.","system":"s","citations":[` +
		`{"doc":"d1","start":120,"end":180},{"doc":"d1","start":300,"end":333},{"doc":"d2","start":0,"end":40}],"truth":[` +
		`{"doc":"d1","start":120,"end":180},{"doc":"d1","start":310,"end":333},{"doc":"d3","start":0,"end":40}]}` + "\n")
	const rows = 1000
	b.ReportAllocs()
	b.SetBytes(int64(len(line) * rows))
	for b.Loop() {
		in := &repeating{line: line, left: len(line) * rows}
		report, err := Convert(b.Context(), "jsonl", []string{"-"}, Options{Stdin: in}, failing{})
		if err != nil || report.Rows != rows {
			b.Fatal(err, report.Rows)
		}
	}
}

// TestEndlessLine: a stream whose line is far longer than a record may be is not read on;
// with any size a record is as long as it is.
func TestEndlessLine(t *testing.T) {
	long := strings.NewReader(strings.Repeat("x", 18<<20))
	var m memory
	if _, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Stdin: long, MaxRecord: 300}, &m); !errors.Is(err, dataset.ErrEndless) || long.Len() == 0 {
		t.Errorf("%v, %d bytes are left", err, long.Len())
	}
	record := `{"id":"a","query":"q","answer":"` + strings.Repeat("x", 1<<20) + `"}`
	if r, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Stdin: strings.NewReader(record), Limits: 1}, &m); err != nil || r.Failed > 0 || len(m.rows) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}
