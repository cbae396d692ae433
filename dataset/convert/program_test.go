package convert

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
)

// withProgram makes a program a format for the time of a test.
func withProgram(t *testing.T, text string) string {
	t.Helper()
	p, err := newProgram("mine", text)
	if err != nil {
		t.Fatal(err)
	}
	before := formats
	formats = append([]Format{p.format()}, before...)
	t.Cleanup(func() { formats = before })
	return p.name
}

// TestProgramsCompile compiles every function of every format.
func TestProgramsCompile(t *testing.T) {
	for _, p := range programs {
		if p.summary == "" || !p.has["fits"] && p.folder == nil {
			t.Errorf("%s: no summary or no fits", p.name)
		}
		for function := range p.codes {
			if !p.has[function] {
				continue
			}
			if _, err := p.codes[function](); err != nil {
				t.Errorf("%s of %v", function, err)
			}
		}
	}
}

// TestProgramErrors: what a program finds wrong has its place, whoever finds it.
func TestProgramErrors(t *testing.T) {
	tests := []struct{ name, program, text, want string }{
		{"a helper", `def row: {parts: [.hits[] | need_str("text")]};`, `{"hits":[{"text":"a"},{"text":7}]}`, `-:1:31: hits[1].text: want a string, got a number`},
		{"no object", `def row: {parts: [.hits[] | str("text")]};`, `{"hits":["none"]}`, `-:1:10: hits[0]: want an object, got a string`},
		{"an empty list", `def row: {parts: [.hits[] | need_str("text")]};`, `{"hits":[[]]}`, `-:1:10: hits[0]: want an object, got a list`},
		{"jq itself", `def row: {parts: [.hits[].text]};`, `{"a":1, "hits":"none"}`, `-:1:16: hits: format mine: cannot iterate over: string ("none")`},
		{"jq itself, two places", `def row: {parts: [.hits[].text]};`, `{"a":"none", "hits":"none"}`, `-:1:1: format mine: cannot iterate over: string ("none")`},
		{"a null part", `def row: {parts: [.answer]};`, `{"a":1}`, `-:1:1: format mine gives no row: parts[0]: want a text, got null`},
		{"no row", `def row: empty;`, `{"a":1}`, `-:1:1: format mine: the program gives no row`},
		{"empty in an object", `def row: {id: .a, parts: [.b | strings]} | {id: (.c | strings)};`, `{"a":"x"}`, `-:1:1: format mine: the program gives no row`},
		{"now", `def row: {parts: [now | tostring]};`, `{"a":1}`, `-:1:1: format mine: error: now: the same file must give the same rows`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, withProgram(t, "# mine\n"+tt.program), tt.text, Options{})
			if len(m.rows) != 0 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v; want one error", len(m.rows), report)
			}
			if got := report.Errors[0].Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestHiddenPartIsNoPlace: a citation of a part that is no text of the answer has no place in it.
func TestHiddenPartIsNoPlace(t *testing.T) {
	program := withProgram(t, `# mine
def row: {parts: [{text: "thought", hidden: true, cites: [{source: {doc: "a"}}]}, {text: "answer", cites: [{source: {doc: "b"}}]}]};`)
	m, report := importText(t, program, `{}`, Options{})
	if len(m.rows) != 1 || len(m.rows[0].Citations) != 2 || report.Warned != 0 {
		t.Fatalf("rows %+v; report: %+v", m.rows, report)
	}
	hidden, shown := m.rows[0].Citations[0], m.rows[0].Citations[1]
	if hidden.AnswerStart.Known() || hidden.AnswerRole != ibid.NoRole {
		t.Errorf("citation of the hidden part: %+v", hidden)
	}
	if shown.AnswerStart != integer(0) || shown.AnswerEnd != integer(6) || shown.AnswerRole != ibid.Segment {
		t.Errorf("citation of the answer: %+v", shown)
	}
}

// TestProgramEnvironment: a program sees nothing but its record.
func TestProgramEnvironment(t *testing.T) {
	t.Setenv("SECRET", "s")
	m, _ := importText(t, withProgram(t, `def row: {parts: ["\(env | length) \($ENV | length)"]};`), `{"a":1}`, Options{})
	if len(m.rows) != 1 || m.rows[0].Answer != "0 0" {
		t.Errorf("rows %+v", m.rows)
	}
	for program, want := range map[string]string{
		`def row: {parts: [input]};`:                       "program mine: input(s)/0 is not allowed",
		`def row: {parts: [input_filename]};`:              "program mine: function not defined: input_filename/0",
		"import \"a\" as a;\n" + `def row: {parts: [""]};`: "program mine: unexpected token \"import\"",
		`def row: {parts: [};`:                             "program mine: unexpected token \"}\"",
	} {
		var m memory
		_, err := Convert(t.Context(), withProgram(t, program), []string{"-"}, Options{Stdin: strings.NewReader(`{"a":1}`)}, &m)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", program, err, want)
		}
	}
	if _, err := newProgram("mine", `def fits: true;`); err == nil {
		t.Error("a program without def row is accepted")
	}
}

// TestOwnProgram: a program in a file reads what it was given for, and its mistakes have a
// line of it.
func TestOwnProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.jq")
	for _, tt := range []struct{ program, want string }{
		{"# my traces\ndef row:\n  {parts: [.a]};", ""},
		{"# my traces\ndef row:\n  {parts: [.a};", "mine.jq:3: unexpected token \"}\""},
		{"# my traces\ndef row:\n  {parts: [.a]", "mine.jq:3: unexpected EOF"},
		{"def row:\n  {parts: [text_of]};", "mine.jq:2: function not defined: text_of/0"},
		{"def row:\n  {parts: [input]};", "mine.jq:2: input(s)/0 is not allowed"},
		{"def fits: true;", "mine.jq: there is no def row"},
		{"# x\n# offsets: source word exclusive\ndef row: {};", "mine.jq: offsets: unknown reading \"source word exclusive\""},
	} {
		if err := os.WriteFile(path, []byte(tt.program), 0o600); err != nil {
			t.Fatal(err)
		}
		var m memory
		report, err := Convert(t.Context(), "", []string{"-"}, Options{With: path, Stdin: strings.NewReader(`{"a":"x [1]"}`)}, &m)
		switch {
		case tt.want != "":
			if err == nil || strings.TrimPrefix(err.Error(), filepath.Dir(path)+string(filepath.Separator)) != tt.want {
				t.Errorf("%s: error %v, want %s", tt.program, err, tt.want)
			}
		case err != nil || len(m.rows) != 1 || len(m.rows[0].Citations) != 1 || m.rows[0].System != "mine" || report.Program != fmt.Sprintf("%x", sha256.Sum256([]byte(tt.program))):
			t.Errorf("%v, rows %+v, report %+v", err, m.rows, report)
		}
	}
	_, err := Convert(t.Context(), "", []string{"-"}, Options{With: path + "x"}, &memory{})
	if !errors.Is(err, ibid.ErrUsage) || !strings.HasSuffix(err.Error(), "mine.jqx: no such file or directory") {
		t.Errorf("error %v", err)
	}
}

// TestProgramMarks: a row that says nothing of cites has its marks read, whose numbers count
// its documents.
func TestProgramMarks(t *testing.T) {
	for _, tt := range []struct {
		row  string
		want []string // documents, "" for none
	}{
		{`{parts: ["x [2][3]"], documents: [{doc: "a", text: "A"}, {doc: "b"}]}`, []string{"b", ""}},
		{`{parts: ["x [1]"]}`, []string{""}},
		{`{parts: [{text: "x [1]"}], documents: [{doc: "a"}], cites: []}`, nil},
		{`{parts: [{text: "x [1]", cites: []}], documents: [{doc: "a"}]}`, nil},
		{`{parts: ["x [2]"], documents: [{doc: "a"}], numbered: [{doc: "b"}, {doc: "c"}]}`, []string{"c"}},
	} {
		m, report := importText(t, withProgram(t, "def row: "+tt.row+";"), `{"a":1}`, Options{})
		if len(m.rows) != 1 {
			t.Fatalf("%s: report %+v", tt.row, report)
		}
		var got []string
		for _, c := range m.rows[0].Citations {
			got = append(got, c.Doc)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: citations of %q, want %q", tt.row, got, tt.want)
		}
	}
}

// TestProgramEmits: a bad row costs itself, and rows that stand before an error stay.
func TestProgramEmits(t *testing.T) {
	m, report := importText(t, withProgram(t, `def row: .list[] | {id: .id, parts: [need_str("a")]};`), `{"list":[{"id":"1","a":"x"},{"id":"2","a":"y"},{"id":"3"}]}`, Options{})
	if len(m.rows) != 2 || m.rows[1].ID != "2" || report.Failed != 1 {
		t.Fatalf("%d rows; report %+v", len(m.rows), report)
	}
	wantErrors(t, report.Errors, "-:1:48: list[2].a: missing")
}

// TestEachAnnotation: an annotation that cannot be read costs itself, whoever finds it.
func TestEachAnnotation(t *testing.T) {
	const program = `def cite: {source: {doc: need_str("doc")}, in: {part: 0, start: .at[0], end: .at[1]}};
def row: {parts: [.answer], cites: [each(list("cites")[]; cite)]};`
	m, report := importText(t, withProgram(t, program), `{"answer":"abc","cites":[{"doc":"d","at":[0,1]},{"at":[0,1]},7,{"doc":"e","at":"x"},{"doc":"f","at":[1,2]}]}`, Options{})
	if len(m.rows) != 1 || len(m.rows[0].Citations) != 2 || report.BadAnnotations != 3 {
		t.Fatalf("rows %+v; report %+v", m.rows, report)
	}
	wantErrors(t, report.Warnings,
		"-:1:49: annotation left out: cites[1].doc: missing",
		"-:1:62: annotation left out: cites[2]: want an object, got a number",
		`-:1:1: annotation left out: format mine: start: want an integer, got a string`)
}

// TestSourceRecord: the record stays with the row, but for long texts.
func TestSourceRecord(t *testing.T) {
	long := strings.Repeat("x", longText)
	m, _ := importText(t, withProgram(t, `def row: {parts: [.answer]};`), `{"b": [1.50, "ä\n"], "answer":"abc", "a":"`+long+`"}`, Options{})
	want := fmt.Sprintf(`{"b":[1.50,"ä\n"],"answer":"abc","a":{"sha256":"%x","length":4096}}`, sha256.Sum256([]byte(long)))
	if got := m.rows[0].SourceRecord; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFileTwice: a file that is too large to be kept until its end is read twice, and gives
// the same.
func TestFileTwice(t *testing.T) {
	line := `{"id":"%","response":{"type":"message","content":[{"type":"text","text":"` + strings.Repeat("abc ", 1<<18) + `"}]}}` + "\n"
	var b strings.Builder
	n := 0
	for ; b.Len() < 2*heldExchanges; n++ {
		b.WriteString(strings.Replace(line, "%", strconv.Itoa(n), 1))
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m, report := importPath(t, "anthropic", path, Options{})
	if len(m.rows) != n || report.Records != int64(n) || report.Failed != 0 {
		t.Errorf("%d rows of %d; report %+v", len(m.rows), n, report)
	}
}

// TestProgramStops ends with its context.
func TestProgramStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var m memory
	_, err := Convert(ctx, withProgram(t, `def row: def f: f; f;`), []string{"-"}, Options{Stdin: strings.NewReader(`{"a":1}`)}, &m)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
