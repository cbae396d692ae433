package convert

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
)

func TestCSVNull(t *testing.T) {
	m, _ := importText(t, "csv", "id,answer\na,x\nb,x [1]\n", Options{})
	if r := m.rows[0]; r.HasCitations || len(m.rows[1].Citations) != 1 || r.HasTruth || r.QueryNull || r.System != "default" {
		t.Errorf("without columns of citations: %+v", r)
	}
	m, _ = importText(t, "csv", "id,answer,query,doc\na,,,\nb,y,,d\n", Options{})
	if r := m.rows[0]; !r.HasCitations || len(r.Citations) != 0 || r.QueryNull || r.AnswerNull {
		t.Errorf("with a column of citations, and none: %+v", r)
	}
	if diff := cmp.Diff([]ibid.Citation{{Doc: "d"}}, m.rows[1].Citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
}

// TestCSVErrors spoils the record between two good ones.
func TestCSVErrors(t *testing.T) {
	tests := []struct{ name, lines, want string }{
		{"no integer", "b,x,d,zero,1,", `-:3: start: want an integer, got "zero"`},
		{"a sign", "b,x,d,+1,1,", `-:3: start: want an integer, got "+1"`},
		{"no number", "b,x,d,0,1,NaN", `-:3: confidence: want a number, got "NaN"`},
		{"behind other characters", "b,ä,d,zero,1,", `-:3: start: want an integer, got "zero"`},
		{"a field too few", "b,x,d", `-:3: 3 fields, and the header has 6`},
		{"id is missing", ",x,d,0,1,", `-:3: id is missing`},
		{"another answer", "b,x,d,0,1,\nb,y,d,0,1,", `-:4: answer differs from line 3, which has the same id`},
		{"a row in two places", "a,x,d,0,1,", ""},
		{"quotation mark", `b,"x"y,d,0,1,`, `-:3: extraneous or missing " in quoted-field`},
		{"invalid UTF-8", "b,\xff,d,0,1,", `-:3: answer: invalid UTF-8`},
		{"bare quotation mark", `b,x"y,d,0,1,`, `-:3: bare " in non-quoted-field`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, report := importText(t, "csv", "id,answer,doc,start,end,confidence\na,x,d,0,1,\n"+tt.lines+"\nc,x,d,0,1,\n", Options{})
			if tt.want == "" { // it goes on with the row before
				if len(m.rows) != 2 || len(m.rows[0].Citations) != 2 {
					t.Errorf("rows %+v", m.rows)
				}
				return
			}
			if len(m.rows) != 2 || m.rows[0].ID != "a" || m.rows[1].ID != "c" || report.Failed != 1 || report.Records != 3 {
				t.Fatalf("%d rows; report: %+v; want the two good records", len(m.rows), report)
			}
			if got := report.Errors[0].Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCSVAgain(t *testing.T) {
	m, report := importText(t, "csv", "id,answer,doc\na,x,d\nb,x,d\na,x,e\n", Options{})
	if len(m.rows) != 2 || report.Failed != 1 || report.Errors[0].Error() != `-:4: id "a" has a row from line 2 on: the lines of a row must follow each other` {
		t.Errorf("%d rows; report: %+v", len(m.rows), report)
	}
}

func TestCSVRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "-: empty, not even a header",
		"id,query\n":                   `-: no column "answer"`,
		"id,answer,start,start_char\n": `-: columns "start" and "start_char" are one`,
		"id,answer,id\n":               `-: column "id" is there twice`,
	} {
		var m memory
		_, err := Convert(t.Context(), "csv", []string{"-"}, Options{Stdin: strings.NewReader(text)}, &m)
		var usage *ibid.Error
		if !errors.As(err, &usage) || !usage.Usage || usage.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestCSVEndless: a quotation mark that does not end takes in no more than one
// record may have.
func TestCSVEndless(t *testing.T) {
	text := "id,answer\na,x\nb,\"" + strings.Repeat("endless\n", 100_000)
	m, report := importText(t, "csv", text, Options{MaxRecord: 1 << 16})
	if len(m.rows) != 1 || report.Failed != 1 || report.Errors[0].Line != 3 {
		t.Errorf("%d rows; report: %+v", len(m.rows), report)
	}
}

// What an answer took stands on the first of its lines, as its other columns do.
func TestCSVTook(t *testing.T) {
	const text = "id,answer,answer_cost_usd,answer_tokens,answer_latency_ms,doc\n" +
		"a,x,.5,120,1e3,d\na,,,,,e\nb,x,,,,d\nc,x,cheap,,,d\nd,x,0.1,1.5,,d\ne,x,NaN,,,d\n"
	m, report := importText(t, "csv", text, Options{})
	if len(m.rows) != 2 || report.Failed != 3 || len(report.UnknownFields) > 0 {
		t.Fatalf("%d rows; report: %+v", len(m.rows), report)
	}
	a, b := m.rows[0], m.rows[1]
	if a.CostUSD != ibid.Some(0.5) || a.Tokens != ibid.Some[int64](120) || a.LatencyMillis != ibid.Some(1000.0) || len(a.Citations) != 2 {
		t.Errorf("a: %v, %v, %v", a.CostUSD, a.Tokens, a.LatencyMillis)
	}
	if b.CostUSD.Known() || b.Tokens.Known() || b.LatencyMillis.Known() {
		t.Errorf("b: %v, %v, %v, want nothing", b.CostUSD, b.Tokens, b.LatencyMillis)
	}
	for i, want := range []string{
		`-:5: answer_cost_usd: want a number, got "cheap"`,
		`-:6: answer_tokens: want an integer of 64 bits, got 1.5`,
		`-:7: answer_cost_usd: want a number, got "NaN"`,
	} {
		if got := report.Errors[i].Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPythonTexts reads lists of texts as Python and NumPy print them, and nothing else.
func TestPythonTexts(t *testing.T) {
	for in, want := range map[string][]string{
		`[]`:                                nil,
		`['a', "it's"]`:                     {"a", "it's"},
		`['a' 'b']`:                         {"a", "b"},
		"['a'\n 'b\nc']":                    {"a", "b\nc"},
		`['it\'s "so"', '\xe9\u20ac\\n\n']`: {`it's "so"`, "é€\\n\n"},
	} {
		if got, ok := pythonTexts(in); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{``, `a`, `[`, `['a`, `['a]`, `[a]`, `['a', None]`, `['a'] ['b']`, `['\q']`, `('a',)`, `[['a']]`} {
		if got, ok := pythonTexts(in); ok {
			t.Errorf("%s: %q", in, got)
		}
	}
}
