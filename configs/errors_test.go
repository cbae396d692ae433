package configs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// errorCases each hold at least one thing that must be refused.
var errorCases = []struct {
	name    string
	file    string
	options Options
}{
	{name: "unknown key", file: "judge: none\ndatset: a.parquet\n"},
	{name: "unknown key in a group", file: "judge:\n  knid: none\n"},
	{name: "unknown key that lives elsewhere", file: "judge: none\ntolerance_chars: 3\n"},
	{name: "unknown key like nothing", file: "judge: none\nzebra: 3\n"},
	{name: "unknown key in the specification's block", file: "judge: none\ncitation_accuracy:\n  span_matching:\n    tolerance_char: 3\n"},
	{name: "dotted key", file: "judge.kind: none\npresence.resource_similarity_threshold: 0.5\n"},
	{name: "repeated key", file: "judge: none\nlimits: 1\nlimits: 1\n"},
	{name: "repeated key in a group", file: "judge:\n  kind: none\n  votes: 1\n  kind: none\n"},
	{name: "repeated key in a mapping", file: "judge: none\ncolumns:\n  a: query\n  a: answer\n"},
	{name: "repeated group", file: "judge: none\nthresholds: {supported: 0.7}\nthresholds: {consistent: 0.8}\n"},
	{name: "two names, two values", file: "judge:\n  kind: none\n  model: a\ncitation_accuracy:\n  llm_evaluation:\n    model: b\n"},
	{name: "two names, two values at once", file: "judge: none\n", options: Options{Set: []string{"judge=none", "judge.kind=lexical"}}},
	{name: "flag against set", file: "judge: none\n", options: Options{Set: []string{"out=a"}, Flags: []Flag{{"--out", "out", "b"}}}},
	{name: "two environment names", options: Options{Environ: []string{"IBID_JUDGE=none", "IBID_JUDGE__KIND=lexical"}}},
	{name: "second document", file: "judge: none\n---\nlimits: 2\n"},
	{name: "empty second document", file: "judge: none\n---\n"},
	{name: "syntax", file: "judge: none\nlimits: a: b\n"},
	{name: "open bracket", file: "judge: none\nslices: [a, b\n"},
	{name: "tab", file: "judge:\n\tkind: none\n"},
	{name: "not UTF-8", file: "judge: none\nout: ab\xffc\n"},
	{name: "control character", file: "judge: none\nout: ab\x1b[31mc\n"},
	{name: "not text at all", file: "PAR1\x15\x04\x15\x00"},
	{name: "too large", file: strings.Repeat("# comment\n", maxText/10+1)},
	{name: "too deep", file: "judge: none\nslices: " + strings.Repeat("[", 100) + "\n"},
	{name: "too deep in blocks", file: "judge: none\nslices: \n" + strings.Repeat("- ", 100) + "a\n"},
	{name: "a list", file: "- judge: none\n"},
	{name: "a scalar", file: "none\n"},
	{name: "anchor", file: "judge: none\nout: &a run\n"},
	{name: "unquoted glob", file: "judge: none\ndataset: *.parquet\n"},
	{name: "tag", file: "judge: none\nout: !!str 12\n"},
	{name: "complex key", file: "? judge\n: none\n"},
	{name: "merge key", file: "<<: {judge: none}\n"},
	{name: "number for a text", file: "judge: none\nout: 2024\n"},
	{name: "boolean for a text", file: "judge: none\nout: true\n"},
	{name: "hexadecimal for a text", file: "judge: none\nout: 0x10\n"},
	{name: "list for a text", file: "judge: none\ndataset: [a, b]\n"},
	{name: "text for an integer", file: "judge: none\nlimits: one\n"},
	{name: "quoted integer", file: "judge: none\nlimits: \"1\"\n"},
	{name: "fraction for an integer", file: "judge: none\nlimits: 1.0\n"},
	{name: "octal for an integer", file: "judge: none\nlimits: 010\n"},
	{name: "integer too large", file: "judge: none\nlimits: 99999999999999999999\n"},
	{name: "text for a number", file: "judge: none\nmin_coverage: all\n"},
	{name: "infinity for a number", file: "judge: none\nmin_coverage: .inf\n"},
	{name: "number too large", file: "judge: none\nmin_coverage: 1e999\n"},
	{name: "yes for a boolean", file: "judge: none\npresence: {strict: yes}\n"},
	{name: "duration without unit", file: "judge: {kind: none, timeout: 120}\n"},
	{name: "duration", file: "judge: {kind: none, timeout: soon}\n"},
	{name: "negative duration", file: "judge: {kind: none, timeout: -1s}\n"},
	{name: "scalar for a list", file: "judge: none\nslices: language\n"},
	{name: "number in a list", file: "judge: none\nslices: [a, 3]\n"},
	{name: "blank in a list", file: "judge: none\nslices: [a, \" \"]\n"},
	{name: "twice in a list", file: "judge: none\nslices: [a, b, a]\n"},
	{name: "scalar for a mapping", file: "judge: none\ncolumns: query\n"},
	{name: "two columns for one", file: "judge: none\ncolumns: {b: query, a: query}\n"},
	{name: "scalar for a group", file: "judge: none\nthresholds: 0.7\n"},
	{name: "scalar for free mapping", file: "judge: {kind: none, request: acme}\n"},
	{name: "infinity in a free mapping", file: "judge: {kind: none, request: {a: [.inf]}}\n"},
	{name: "no such value", file: "judge: none\nmark_scope: paragrph\n"},
	{name: "no such value, case", file: "judge: None\n"},
	{name: "no such judge", file: "judge: gpt\n"},
	{name: "no such policy", file: "judge: none\ntruth_policy: annotator\n"},
	{name: "policy without name", file: "judge: none\ntruth_policy: 'annotator:'\n"},
	{name: "level 1", file: "judge: none\nstatistics: {level: 1}\n"},
	{name: "level in percent", file: "judge: none\nstatistics: {level: 95}\n"},
	{name: "overlap 0", file: "judge: none\nspan_matching: {min_overlap_threshold: 0}\n"},
	{name: "negative tolerance", file: "judge: none\nspan_matching: {tolerance_chars: -1}\n"},
	{name: "threshold above 1", file: "judge: none\nthresholds: {supported: 1.1}\n"},
	{name: "negative weight", file: "judge: none\nweights: {hallucination: -0.1}\n"},
	{name: "weights 0", file: "judge: none\nweights: {span_accuracy: 0, citation_quality: 0, answer_consistency: 0, hallucination: 0}\n"},
	{name: "base_url", file: "judge: {kind: none, base_url: localhost}\n"},
	{name: "password in base_url", file: "judge: {kind: none, base_url: 'https://me:hunter2@example.org'}\n"},
	{name: "key as name of a variable", file: "judge: {kind: none, api_key_env: sk-or-hunter2}\n"},
	{name: "key in the run file", file: "judge:\n  kind: none\n  api_key: sk-or-hunter2\n"},
	{name: "key on the command line", file: "judge: none\n", options: Options{Set: []string{"judge.api_key=sk-or-hunter2"}}},
	{name: "bad gate", file: "judge: none\ngates:\n  - char_f1 >= 0.7\n  - 'low(char_f1) >= 0.7'\n"},
	{name: "bad gate flag", file: "judge: none\n", options: Options{Gates: []string{"char_f1 > = 0.7"}}},
	{name: "judge without model", file: "dataset: a.parquet\njudge: openrouter\n"},
	{name: "judge without vendor", options: Options{Flags: []Flag{{"--judge", "judge.kind", "openrouter"}, {"--model", "judge.model", "gpt-5"}}}},
	{name: "panel without vendor", file: "judge:\n  kind: openrouter\n  model: [a/b, c]\n"},
	{name: "panel of twins", file: "judge:\n  kind: openrouter\n  model: [a/b, a/b]\n"},
	{name: "judge without endpoint", file: "judge: {kind: openai, model: m}\n"},
	{name: "necessity in pairs", file: "judge: {kind: openrouter, model: a/b, protocol: score, necessity: true}\n"},
	{name: "one price of two", file: "judge: {kind: openrouter, model: a/b, prices: {completion: 0.6}}\n"},
	{name: "negative price", file: "judge: {kind: openrouter, model: a/b, prices: {prompt: -1, completion: 0.6}}\n"},
	{name: "anchors that are gone", file: "judge:\n  kind: lexical\n  anchors: {dataset: a.parquet, digest: abc}\n", options: Options{Set: []string{"judge.anchors.documents=d.parquet"}}},
	{name: "judge that is gone", file: "judge: replay\n"},
	{name: "features that are missing", file: "judge: none\nslices: [language]\npresence: {strict: true}\nstatistics: {method: bca}\n"},
	{name: "several at once", file: "judge: nome\nlimits: x\nzebra: 1\n", options: Options{Set: []string{"out="}, Environ: []string{"IBID_MIN_COVERAGE=2"}}},
	{name: "set without value", options: Options{Set: []string{"judge"}}},
	{name: "set unknown", options: Options{Set: []string{"judge.knid=none"}}},
	{name: "set unknown group", options: Options{Set: []string{"juge.kind=none"}}},
	{name: "set one column", options: Options{Set: []string{"columns.question=query"}}},
	{name: "set of a wrong type", options: Options{Set: []string{"limits=x", "slices=a", "columns={a: [}"}}},
	{name: "set a group to a scalar", options: Options{Set: []string{"thresholds=1"}}},
	{name: "set not UTF-8", options: Options{Set: []string{"out=\xff"}}},
	{name: "environment unknown in a group", options: Options{Environ: []string{"IBID_JUDGE__KNID=none"}}},
	{name: "environment nearly a setting", options: Options{Environ: []string{"IBID_MARC_SCOPE=sentence"}}},
	{name: "environment of a wrong type", options: Options{Environ: []string{"IBID_LIMITS=x"}}},
	{name: "calls at once without parallel evaluation", file: "judge: {kind: none, concurrency: 8}\nperformance: {parallel_evaluation: false}\n"},
}

// TestErrors pins what a user reads: message, line and caret, hint.
func TestErrors(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "errors.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, tt := range errorCases {
		fmt.Fprintf(&got, "== %s\n", tt.name)
		if tt.file != "" {
			tt.options.File = write(t, tt.file)
		}
		c, err := Load(tt.options)
		if c != nil || err == nil {
			t.Errorf("%s: accepted", tt.name)
			continue
		}
		errs, ok := errors.AsType[Errors](err)
		if !ok {
			t.Errorf("%s: %v is no Errors", tt.name, err)
		}
		for _, e := range errs {
			fmt.Fprintln(&got, e)
			if e.Snippet != "" {
				fmt.Fprintln(&got, e.Snippet)
			}
			if e.Hint != "" {
				fmt.Fprintln(&got, "hint: "+e.Hint)
			}
		}
	}
	if strings.Contains(got.String(), "hunter2") {
		t.Error("a message repeats a secret")
	}
	compare(t, golden, got.Bytes())
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; if the change is meant, run go test ./configs -update\ngot:\n%s", golden, got)
	}
}

func TestMissingFileIsNoConfigurationError(t *testing.T) {
	_, err := Load(Options{File: filepath.Join(t.TempDir(), "none.yaml")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
	if _, ok := errors.AsType[*Error](err); ok {
		t.Errorf("%v is an *Error", err)
	}
}
