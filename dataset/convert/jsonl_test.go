package convert

import (
	"strings"
	"testing"

	"ibid"
)

// A memory is a sink that keeps copies of everything.
type memory struct {
	rows      []ibid.Answer
	documents []ibid.Document
}

func (m *memory) WriteRow(r *ibid.Answer) error {
	m.rows = append(m.rows, copyRow(r))
	return nil
}

func (m *memory) WriteDocument(d *ibid.Document) error {
	m.documents = append(m.documents, *d)
	return nil
}

// copyRow copies a row deeply; an empty list that is known stays one.
func copyRow(r *ibid.Answer) ibid.Answer {
	c := *r
	c.Citations = append([]ibid.Citation(nil), r.Citations...)
	c.Truth = append([]ibid.Mark(nil), r.Truth...)
	c.Claims = append([]ibid.Claim(nil), r.Claims...)
	c.Labels = append([]ibid.Label(nil), r.Labels...)
	c.Documents = append([]ibid.Document(nil), r.Documents...)
	c.Messages = append([]ibid.Message(nil), r.Messages...)
	c.Tags = append([]ibid.Tag(nil), r.Tags...)
	return c
}

// importText converts text given on standard input.
func importText(t *testing.T, format, text string, o Options) (*memory, Report) {
	t.Helper()
	var m memory
	o.Stdin = strings.NewReader(text)
	report, err := Convert(t.Context(), format, []string{"-"}, o, &m)
	if err != nil {
		t.Fatalf("Convert(%s): %v", format, err)
	}
	return &m, report
}

func TestJSONLErrors(t *testing.T) {
	const good = `{"id":"good","query":"q","answer":"a"}`
	tests := []struct{ name, line, want string }{
		{"empty line", ``, `-:2:1: empty line`},
		{"white space", " \t", `-:2:1: empty line`},
		{"repeated member", `{"id":"x","query":"q","id":"y"}`, `-:2:23: repeated member "id"`},
		{"repeated member of a citation", `{"id":"x","citations":[{"doc":"a","doc":"b"}]}`, `-:2:35: citations[0]: repeated member "doc"`},
		{"repeated member of an unknown object", `{"id":"x","more":{"a":1,"a":2}}`, `-:2:25: more: repeated member "a"`},
		{"two names for one", `{"id":"x","citations":[{"doc":"a","file_name":"b"}]}`, `-:2:47: citations[0].file_name: doc is given under two names`},
		{"wrong type", `{"id":"x","citations":[{"start":"four"}]}`, `-:2:33: citations[0].start: want an integer, got "four"`},
		{"fraction", `{"id":"x","citations":[{"start":4.5}]}`, `-:2:33: citations[0].start: want an integer of 64 bits, got 4.5`},
		{"wide page", `{"id":"x","truth":[{"page":2147483648}]}`, `-:2:28: truth[0].page: want an integer of 32 bits, got 2147483648`},
		{"object for a list", `{"id":"x","citations":{}}`, `-:2:23: citations: want a list, got an object`},
		{"null element", `{"id":"x","citations":[null]}`, `-:2:24: citations[0]: want an object, got null`},
		{"null page text", `{"id":"x","documents":[{"doc":"d","pages":["a",null]}]}`, `-:2:48: documents[0].pages[1]: want a string, got null`},
		{"boolean as id", `{"id":true}`, `-:2:7: id: want a string, got a boolean`},
		{"misspelt", `{"id":"x","answr":"a"}`, `-:2:19: answr: no such member, did you mean answer? (if it is something else: --columns answr=)`},
		{"misspelt in a list", `{"id":"x","citations":[{"strat":1}]}`, `-:2:33: citations[0].strat: no such member, did you mean start?`},
		{"id missing", `{"query":"q","answer":"a"}`, `-:2:1: id is missing`},
		{"id null", `{"id":null,"query":"q"}`, `-:2:1: id is missing`},
		{"infinite", `{"id":"x","citations":[{"confidence":1e999}]}`, `-:2:38: citations[0].confidence: 1e999 is out of range`},
		{"unknown unit", `{"id":"x","citations":[{"unit":"bytes"}]}`, `-:2:32: citations[0].unit: unknown value "bytes", did you mean byte?`},
		{"unknown kind", `{"id":"x","labels":[{"kind":"quality"}]}`, `-:2:29: labels[0].kind: unknown value "quality"`},
		{"kind missing", `{"id":"x","labels":[{"value":1}]}`, `-:2:21: labels[0]: kind is missing`},
		{"unknown role", `{"id":"x","messages":[{"role":"bot","content":""}]}`, `-:2:31: messages[0].role: unknown value "bot"`},
		{"document without a name", `{"id":"x","documents":[{"doc":null,"text":"t"}]}`, `-:2:31: documents[0].doc: want a string, got null`},
		{"tag of another type", `{"id":"x","tags":{"n":1}}`, `-:2:23: tags.n: want a string, got a number`},
		{"invalid UTF-8", "{\"id\":\"é\xff\"}", `-:2:9: id: invalid UTF-8`},
		{"invalid UTF-8 outside strings", "{\"id\":\xff}", `-:2:7: id: invalid character '\xff' at start of value`},
		{"unpaired high surrogate", `{"id":"é\ud83d!"}`, `-:2:9: id: invalid surrogate pair `},
		{"unpaired low surrogate", `{"id":"\ude00"}`, `-:2:8: id: invalid surrogate pair `},
		{"surrogates the wrong way round", `{"id":"\ude00\ud83d"}`, `-:2:8: id: invalid surrogate pair `},
		{"control character", "{\"id\":\"a\x01\"}", `-:2:9: id: invalid character '\x01' in string`},
		{"not an object", `[1]`, `-:2:1: want an object, got a list`},
		{"prose", `not json`, `-:2:1: want an object, got 'n'`},
		{"a literal", `false`, `-:2:1: want an object, got a boolean`},
		{"two values", good + good, `-:2:39: something follows the record on its line`},
		{"trailing comma", `{"id":"x",}`, `-:2:10: invalid character ',' at start of value`},
		{"bad literal", `{"id":nil}`, `-:2:8: id: invalid character 'i' in literal null`},
		{"leading zero", `{"id":"x","n":01}`, `-:2:16: invalid character '1' after object value`},
		{"byte order mark within", "\ufeff" + good, `-:2:1: the line begins with a byte order mark`},
		{"long name", `{"id":"x","x` + strings.Repeat("é", 5000) + `":}`, `-:2:5015: x` + strings.Repeat("é", 499) + `…: missing value after object name`},
		{"long number", `{"id":"x","truth":[{"start":` + strings.Repeat("9", 5000) + `}]}`, `-:2:29: truth[0].start: want an integer of 64 bits, got ` + strings.Repeat("9", 40) + `…`},
		{"document without a place", `{"doc":"d","text":"t"}`, `-:2:1: a document, and no place for documents was given`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "jsonl", good+"\n"+tt.line+"\n"+good+"\n", Options{})
			if len(m.rows) != 2 || report.Rows != 2 || report.Records != 3 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v; want the two good records", len(m.rows), report)
			}
			if got := report.Errors[0].Error(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestNumbersInQuotes reads numbers that are texts, and says so.
func TestNumbersInQuotes(t *testing.T) {
	m, report := importText(t, "jsonl", `{"id":"a","query":"q","answer":"x","answer_cost_usd":"0.5","citations":[{"doc":"d","start":"4","end":"7.0"}]}`, Options{})
	c := m.rows[0].Citations[0]
	if m.rows[0].CostUSD != ibid.Some(0.5) || c.Start != some(4) || c.End != some(7) || report.ReadAs["citations.start in quotes as a number"] != 1 || len(report.ReadAs) != 3 {
		t.Errorf("row %+v; report: %+v", m.rows[0], report)
	}
}
