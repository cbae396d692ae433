package configs

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseGate(t *testing.T) {
	tests := []struct {
		expr string
		want Gate
		text string // normal form, "" if expr is it
	}{
		{"char_f1 >= 0.7", Gate{Metric: "char_f1", Op: ">=", Number: 0.7}, ""},
		{"lo(micro(char_f1)) >= 0.6", Gate{Func: Low, Micro: true, Metric: "char_f1", Op: ">=", Number: 0.6}, ""},
		{
			"diff(hallucination_rate)[lang=de] <= 0.01",
			Gate{Diff: true, Metric: "hallucination_rate", Slices: []SliceFilter{{"lang", "de"}}, Op: "<=", Number: 0.01},
			"",
		},
		{"micro(char_f1)>0", Gate{Micro: true, Metric: "char_f1", Op: ">"}, "micro(char_f1) > 0"},
		{"\thi ( x ) [ a = b c ] [ system = \"d]e\" ] < -.5e1 ", Gate{Func: High, Metric: "x", Slices: []SliceFilter{{"a", "b c"}, {"system", "d]e"}}, Op: "<", Number: -5}, `hi(x)[a=b c][system="d]e"] < -5`},
		{"x != 1e-9", Gate{Metric: "x", Op: "!=", Number: 1e-9}, "x != 1e-09"},
		{"hi(diff(char_f1)) >= 0", Gate{Func: High, Diff: true, Metric: "char_f1", Op: ">="}, ""},
		{"lo ( diff( micro( x ) ) ) >= -0.05", Gate{Func: Low, Diff: true, Micro: true, Metric: "x", Op: ">=", Number: -0.05}, "lo(diff(micro(x))) >= -0.05"},
		{"sum(missing_citations) <= 3", Gate{Func: Total, Metric: "missing_citations", Op: "<=", Number: 3}, ""},
		{"lo >= 1", Gate{Metric: "lo", Op: ">=", Number: 1}, ""},
		{"micro >= 1", Gate{Metric: "micro", Op: ">=", Number: 1}, ""},
		{`x[tag=""] == 1`, Gate{Metric: "x", Slices: []SliceFilter{{"tag", ""}}, Op: "==", Number: 1}, ""},
		{`x[tag=] == 1`, Gate{Metric: "x", Slices: []SliceFilter{{"tag", ""}}, Op: "==", Number: 1}, `x[tag=""] == 1`},
		{`x[language=中文] == -0`, Gate{Metric: "x", Slices: []SliceFilter{{"language", "中文"}}, Op: "=="}, `x[language=中文] == 0`},
	}
	for _, tt := range tests {
		got, err := ParseGate(tt.expr)
		if err != nil {
			t.Errorf("ParseGate(%q): %v", tt.expr, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Gate{})); diff != "" {
			t.Errorf("ParseGate(%q) (-want +got):\n%s", tt.expr, diff)
		}
		if tt.text == "" {
			tt.text = tt.expr
		}
		if got.String() != tt.text {
			t.Errorf("ParseGate(%q).String() = %q, want %q", tt.expr, got.String(), tt.text)
		}
	}
}

func TestParseGateErrors(t *testing.T) {
	tests := []struct {
		expr   string
		column int
		msg    string
		hint   string // a part of it
	}{
		{"", 1, "want a metric, got the end", "a gate is"},
		{"0.7 <= x", 1, `want a metric, got "0.7"`, "a gate is"},
		{"x", 2, "want one of >=, <=, >, <, ==, !=, got the end", "a gate is"},
		{"x = 1", 3, `want one of >=, <=, >, <, ==, !=, got "="`, "did you mean ==?"},
		{"x => 1", 3, `want one of >=, <=, >, <, ==, !=, got "=>"`, "did you mean >=?"},
		{"x =< 1", 3, `want one of >=, <=, >, <, ==, !=, got "=<"`, "did you mean <=?"},
		{"x >=", 5, "want a number, got the end", "a gate is"},
		{"x >= 70%", 6, `want a number, got "70%"`, "0.7 for 70%"},
		{"x >= nan", 6, `want a number, got "nan"`, "a gate is"},
		{"x >= 1e999", 6, `want a number, got "1e999"`, "a gate is"},
		{"x >= 1 or so", 8, `unexpected "or" after the number`, "a gate is"},
		{"ho(x) >= 1", 1, "unknown function ho", "did you mean lo?"},
		{"median(x) >= 1", 1, "unknown function median", "a gate is"},
		{"macro(x) >= 1", 1, "macro is not a function", "a bare metric is macro"},
		{"micro(lo(x)) >= 1", 7, "lo does not go inside micro", "write lo(micro(METRIC))"},
		{"lo(hi(x)) >= 1", 4, "hi does not go inside lo", ""},
		{"diff(hi(x)) >= 1", 6, "hi does not go inside diff", "write hi(diff(METRIC))"},
		{"micro(diff(x)) >= 1", 7, "diff does not go inside micro", "write diff(micro(METRIC))"},
		{"diff(diff(x)) >= 1", 6, "diff is given twice", ""},
		{"sum(micro(x)) >= 1", 5, "micro does not go inside sum", ""},
		{"lo(sum(x)) >= 1", 4, "sum does not go inside lo", ""},
		{"diff(sum(x)) >= 1", 6, "sum does not go inside diff", ""},
		{"agreement(lo(truth)) >= 1", 11, "lo does not go inside agreement", "agreement(truth)"},
		{"p(char_f1) >= 0.05", 1, "p() is gone: it also failed on an improvement", "hi(diff(char_f1)) >= 0"},
		{"micro(micro(x)) >= 1", 7, "micro is given twice", ""},
		{"lo(x >= 1", 6, `want ), got ">="`, "a gate is"},
		{"lo() >= 1", 4, `want a metric, got ")"`, "a gate is"},
		{"x[lang=de >= 1", 8, "want ] before the end", "a gate is"},
		{"x[lang] >= 1", 7, `unexpected ] in a slice`, "quote"},
		{"x[] >= 1", 3, `unexpected ] in a slice`, "quote"},
		{"x[=de] >= 1", 3, "want a slice name before =", ""},
		{"x[a=b][a=c] >= 1", 8, "slice a is given twice", ""},
		{"x[a=\"b] >= 1", 5, "quotes that do not end, or a bad escape in them", ""},
		{"x[ä=b[c] >= 1", 6, "unexpected [ in a slice", "quote the value"},
	}
	for _, tt := range tests {
		_, err := ParseGate(tt.expr)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("ParseGate(%q): got %v, want an *Error", tt.expr, err)
			continue
		}
		if e.Column != tt.column || e.Msg != tt.msg || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("ParseGate(%q): column %d, %q, hint %q; want column %d, %q, hint with %q", tt.expr, e.Column, e.Msg, e.Hint, tt.column, tt.msg, tt.hint)
		}
	}
}

func TestGateMet(t *testing.T) {
	tests := []struct {
		op                 string
		below, same, above bool
	}{
		{">=", false, true, true},
		{"<=", true, true, false},
		{">", false, false, true},
		{"<", true, false, false},
		{"==", false, true, false},
		{"!=", true, false, true},
	}
	for _, tt := range tests {
		g := Gate{Metric: "x", Op: tt.op, Number: 0.5}
		if g.Met(0.4) != tt.below || g.Met(0.5) != tt.same || g.Met(0.6) != tt.above {
			t.Errorf("x %s 0.5 is met by 0.4, 0.5, 0.6: %t, %t, %t", tt.op, g.Met(0.4), g.Met(0.5), g.Met(0.6))
		}
	}
}

func TestGatesOfAllSources(t *testing.T) {
	file := write(t, "judge: none\nquality_thresholds: {hallucination_tolerance: 0.1, span_accuracy: 0.8}\ngates:\n  - char_f1 >= 0.7\n  - lo(char_f1) >= 0.6\n")
	c, err := Load(Options{File: file, Gates: []string{"token_f1 > 0.5"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"char_f1 >= 0.7 (ibid.yaml:4:5)",
		"lo(char_f1) >= 0.6 (ibid.yaml:5:5)",
		"span_accuracy_score >= 0.8 (ibid.yaml:2:67)",
		"hallucination_rate <= 0.1 (ibid.yaml:2:47)",
		"token_f1 > 0.5 (--gate)",
	}
	var got []string
	for _, g := range c.Gates() {
		got = append(got, g.String()+" ("+g.at.String()+")")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	e := c.Gates()[1].Refuse("no metric char_f1", "a hint")
	if got, want := e.Error(), "ibid.yaml:5:5: gate lo(char_f1) >= 0.6: no metric char_f1"; got != want || !strings.HasSuffix(e.Snippet, "    ^") {
		t.Errorf("got %q with snippet\n%s\nwant %q", got, e.Snippet, want)
	}
}

// FuzzParseGate checks that every accepted gate has a normal form that means
// the same.
func FuzzParseGate(f *testing.F) {
	for _, expr := range []string{"char_f1 >= 0.7", "lo(micro(char_f1)) >= 0.6", `diff(x)[lang=de][a="\n]"] <= 1e-300`, "x[é= ü ] != .5", "x >", "lo(diff(x))[a=\"\xff\"] < 1"} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		g, err := ParseGate(expr)
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Column < 1 || e.Column > len(expr)+1 || e.Msg == "" {
				t.Fatalf("ParseGate(%q): error %#v", expr, err)
			}
			return
		}
		again, err := ParseGate(g.String())
		if err != nil {
			t.Fatalf("ParseGate(%q) is %q, which is refused: %v", expr, g, err)
		}
		if diff := cmp.Diff(g, again, cmpopts.IgnoreUnexported(Gate{})); diff != "" {
			t.Errorf("ParseGate(%q) is %q, which means (-first +second):\n%s", expr, g, diff)
		}
	})
}
