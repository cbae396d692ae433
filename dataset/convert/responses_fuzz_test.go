package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	quoting "ibid/metrics/quote"
)

func FuzzAnthropic(f *testing.F)  { fuzzFormat(f, "anthropic") }
func FuzzBedrock(f *testing.F)    { fuzzFormat(f, "bedrock") }
func FuzzCiteformer(f *testing.F) { fuzzFormat(f, "citeformer") }
func FuzzCohere(f *testing.F)     { fuzzFormat(f, "cohere") }
func FuzzCopilot(f *testing.F)    { fuzzFormat(f, "copilot") }
func FuzzGemini(f *testing.F)     { fuzzFormat(f, "gemini") }
func FuzzKeeptrusts(f *testing.F) { fuzzFormat(f, "keeptrusts") }
func FuzzMistral(f *testing.F)    { fuzzFormat(f, "mistral") }
func FuzzOpenAI(f *testing.F)     { fuzzFormat(f, "openai") }
func FuzzPerplexity(f *testing.F) { fuzzFormat(f, "perplexity") }
func FuzzCSV(f *testing.F)        { fuzzFormat(f, "csv") }
func FuzzExpertQA(f *testing.F)   { fuzzFormat(f, "expertqa") }
func FuzzALCE(f *testing.F)       { fuzzFormat(f, "alce") }
func FuzzLongCite(f *testing.F)   { fuzzFormat(f, "longcite") }
func FuzzTrecRAG(f *testing.F)    { fuzzFormat(f, "trec-rag") }
func FuzzOpenRAG(f *testing.F)    { fuzzFormat(f, "open-rag-eval") }
func FuzzBench(f *testing.F)      { fuzzFormat(f, "attributionbench") }
func FuzzAuto(f *testing.F)       { fuzzFormat(f, "auto") }

// fuzzFormat imports any bytes as a file of a format. What comes of them must be
// valid, add up, be the same if it is done again, and have exactly as many quotes
// at their places as the report says are proved.
func fuzzFormat(f *testing.F, format string) {
	for _, seed := range seedsOf(f, format) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, report, err := imported(t, format, data)
		if len(data)%8 == 0 { // often enough, and half the time
			again, reportAgain, _ := imported(t, format, data)
			if diff := cmp.Diff(m.rows, again.rows, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("rows (-once +twice):\n%s", diff)
			}
			if diff := cmp.Diff(report, reportAgain); diff != "" {
				t.Fatalf("report (-once +twice):\n%s", diff)
			}
		}
		if err != nil {
			return // refused as a whole
		}
		checkReport(t, &report)
		for i := range m.rows {
			checkRow(t, &m.rows[i])
		}
		if report.Failed == 0 && len(report.Files) == 1 && report.Files[0].Source != nil {
			checkProved(t, m, &report)
		}
	})
}

// imported converts what stands on standard input.
func imported(t *testing.T, format string, data []byte) (*memory, Report, error) {
	var m memory
	report, err := Convert(t.Context(), format, []string{"-"}, Options{MaxRecord: 1 << 20, Stdin: bytes.NewReader(data)}, &m)
	return &m, report, err
}

// seedsOf are the samples of a format and, with their requests, as lines.
func seedsOf(f *testing.F, format string) [][]byte {
	pattern := format + ".*"
	if format == "auto" {
		pattern = "*"
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "responses", pattern))
	if err != nil {
		f.Fatal(err)
	}
	if format == "expertqa" {
		paths = []string{filepath.Join("testdata", "expertqa.jsonl")}
	}
	var all [][]byte
	for _, path := range paths {
		if isRequest(path) || strings.HasSuffix(path, ".golden") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var short bytes.Buffer // what is long is tried less often
		if json.Compact(&short, data) == nil {
			data = short.Bytes()
		}
		all = append(all, data)
		if beside := besideRequest(path); beside != "" && strings.HasSuffix(path, ".json") {
			request, err := os.ReadFile(beside)
			if err != nil {
				f.Fatal(err)
			}
			var line bytes.Buffer
			if err := json.Compact(&line, []byte(`{"id":"x","request":`+string(request)+`,"response":`+string(data)+`}`)); err != nil {
				f.Fatal(err)
			}
			all = append(all, append(line.Bytes(), "\n{}\n"...))
		}
	}
	return all
}

// checkReport adds up.
func checkReport(t *testing.T, r *Report) {
	t.Helper()
	if sum := r.Proved + r.Repaired + r.Mismatched + r.Degenerate + r.WithoutQuote + r.Unproved; sum != r.Spans {
		t.Errorf("%d spans, and their outcomes sum to %d", r.Spans, sum)
	}
	if r.Format != "expertqa" && r.Formats["expertqa"] == 0 && r.Records != r.Rows+r.LeftOut+r.Failed {
		t.Errorf("%d records: %d rows, %d left out, %d failed", r.Records, r.Rows, r.LeftOut, r.Failed)
	}
	for _, e := range r.Errors {
		if e.File == "" || e.Reason == "" || e.Column > 0 && e.Line < 1 {
			t.Errorf("error %+v", e)
		}
	}
}

// checkRow looks for what no row may have.
func checkRow(t *testing.T, r *ibid.Answer) {
	t.Helper()
	texts := []string{r.ID, r.Query, r.Answer, r.System, r.Model}
	for i := range r.Citations {
		c := &r.Citations[i]
		texts = append(texts, c.Doc, c.CitedText, c.Title, c.CitationID, c.SourceType)
		if c.AnswerStart.Known() != c.AnswerEnd.Known() && c.Method != "" {
			t.Errorf("citation %d has half an interval of the answer: %+v", i, c)
		}
		if c.SourceReference != "" && !json.Valid([]byte(c.SourceReference)) {
			t.Errorf("citation %d: source_reference is no JSON: %s", i, c.SourceReference)
		}
	}
	for i := range r.Documents {
		texts = append(texts, r.Documents[i].Doc, r.Documents[i].Text)
		for k := range i {
			if r.Documents[k].Doc == r.Documents[i].Doc && r.Documents[i].Doc != "" && r.Provider != "" {
				t.Errorf("two documents are called %q", r.Documents[i].Doc)
			}
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Errorf("invalid UTF-8: %q", s)
		}
	}
	for _, tag := range r.Tags {
		if tag.Key == referenceTag && !json.Valid([]byte(tag.Value)) {
			t.Errorf("tag %s is no JSON: %s", tag.Key, tag.Value)
		}
	}
}

// checkProved counts the quotes that stand at the places of their citations, one
// by one.
func checkProved(t *testing.T, m *memory, report *Report) {
	t.Helper()
	if f, _ := Lookup(report.Files[0].Format); !f.CodePoints {
		return // its offsets are as they were given
	}
	var standing int64
	for i := range m.rows {
		r := &m.rows[i]
		for k := range r.Citations {
			c := &r.Citations[k]
			d := documentOf(r, c.Doc)
			if d == nil || c.DocNull || c.Unit != "" || !isQuote(c.CitedText) || !c.Start.Known() || c.Start.Value < 0 {
				continue
			}
			text, known := textOf(d)
			if runes := []rune(text); known && c.Start.Value < c.End.Value && c.End.Value <= int64(len(runes)) &&
				quoting.Holds(string(runes[c.Start.Value:c.End.Value]), c.CitedText) {
				standing++
			}
		}
	}
	if proved := report.Files[0].Source.Proved - report.Readings["page"] - report.Readings["block"]; proved != standing {
		t.Errorf("%d quotes are proved, and %d stand where the rows say: %+v", proved, standing, m.rows)
	}
}
