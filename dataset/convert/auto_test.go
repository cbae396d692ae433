package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
)

// TestAuto recognises every sample, and makes the same rows of it as its format
// does.
func TestAuto(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "responses", "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{filepath.Join("testdata", "expertqa.jsonl"): "expertqa"}
	for _, path := range paths {
		if !isRequest(path) && !strings.HasSuffix(path, ".golden") {
			files[path], _, _ = strings.Cut(filepath.Base(path), ".")
		}
	}
	for path, format := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, _ := importPath(t, format, path, Options{})
			got, report := importPath(t, "auto", path, Options{})
			if diff := cmp.Diff(map[string]int64{format: 1}, report.Formats); diff != "" {
				t.Fatalf("recognised (-want +got):\n%s\n%+v", diff, report.Errors)
			}
			if diff := cmp.Diff(want.rows, got.rows, cmpopts.IgnoreFields(ibid.Answer{}, "Err")); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAutoStdin recognises what comes from standard input.
func TestAutoStdin(t *testing.T) {
	for format, text := range map[string]string{
		"jsonl":      `{"id":"a","query":"q","answer":"x","citations":[]}`,
		"csv":        "id,answer,doc\na,x,d\n",
		"keeptrusts": `{"response":"x","citations":[]}`,
		"openai":     "{\n \"object\": \"chat.completion\",\n \"choices\": [{\"message\": {\"content\": \"x\"}}]\n}\n",
		"anthropic":  `{"id":"a","query":"q","response":{"type":"message","content":[{"type":"text","text":"x"}]}}` + "\n",
	} {
		m, report := importText(t, "auto", text, Options{})
		if len(m.rows) != 1 || report.Formats[format] != 1 || !strings.HasPrefix(m.rows[0].Answer, "x") {
			t.Errorf("%s: %d rows; report: %+v", format, len(m.rows), report)
		}
	}
}

func TestAutoRefuses(t *testing.T) {
	tests := []struct{ name, text, want, hint string }{
		{
			"a completion with annotations and a list of sources",
			`{"object":"chat.completion","citations":["u"],"choices":[{"message":{"content":"a[1]","annotations":[{"type":"url_citation","url_citation":{"url":"u","start_index":1,"end_index":4}}]}}]}`,
			"-: fits openai and perplexity", "say which: ibid import openai -",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m memory
			_, err := Convert(t.Context(), "auto", []string{"-"}, Options{Stdin: strings.NewReader(tt.text)}, &m)
			var usage *ibid.Error
			if !errors.As(err, &usage) || !usage.Usage || usage.Error() != tt.want || usage.Hint != tt.hint {
				t.Errorf("error %v, want %s (%s)", err, tt.want, tt.hint)
			}
		})
	}
}

// TestAutoDirectory converts a directory of several formats, and reports the file
// that is none.
func TestAutoDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.response.json": `{"type":"message","content":[{"type":"text","text":"x"}]}`,
		"a.request.json":  `{"messages":[{"role":"user","content":"Q"}]}`,
		"b.json":          `{"candidates":[]}`,
		"c.csv":           "id,answer\nc,x\n",
		"d.json":          `{"some":"thing"}`,
		"e.csv":           "x,y\n1,2\n",
		"f.json":          `{"broken":`,
		"g.json":          ``,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, report := importPath(t, "auto", dir, Options{})
	if diff := cmp.Diff(map[string]int64{"anthropic": 1, "gemini": 1, "csv": 1}, report.Formats); diff != "" {
		t.Errorf("recognised (-want +got):\n%s", diff)
	}
	if len(m.rows) != 3 || m.rows[0].ID != "a" || m.rows[0].Query != "Q" || m.rows[0].System != "anthropic" {
		t.Errorf("rows %+v", m.rows)
	}
	var reasons []string
	for _, e := range report.Errors {
		reasons = append(reasons, strings.TrimPrefix(e.Error(), dir+string(filepath.Separator)))
	}
	want := []string{
		"d.json:1:1: no format is recognised: the first record has some",
		"e.csv:1:1: no format is recognised: a table with the columns x, y",
		"f.json:1:11: broken: truncated: the text ends before its object does",
		"g.json:1:1: empty",
	}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
