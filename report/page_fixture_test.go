package report

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A cells is one row of a result table by column name; columns that it does not
// name are null.
type cells map[string]any

// writeTable writes rows as a result file.
func writeTable(t testing.TB, path string, fields []parquet.Field, rows []cells) {
	t.Helper()
	table := parquet.NewTable(fields)
	for _, row := range rows {
		for c, f := range fields {
			appendCell(t, table, c, f, row[f.Name])
		}
		table.EndRow()
	}
	err := dataset.WriteFile(path, func(w io.Writer) error {
		var e parquet.Encoder
		return e.EncodePart(w, table)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func appendCell(t testing.TB, table *parquet.Table, c int, f parquet.Field, value any) {
	t.Helper()
	switch v := value.(type) {
	case nil:
	case string:
		table.At(c).AppendString(v)
	case int:
		table.At(c).AppendInt(int64(v))
	case float64:
		table.At(c).AppendDouble(v)
	case bool:
		table.At(c).AppendBool(v)
	case []int32:
		table.At(c).AppendInts(v)
	case []string:
		table.At(c).AppendStrings(v)
	case map[string]string:
		keys := sortedKeys(v)
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = v[k]
		}
		table.At(c).AppendMap(keys, values)
	default:
		t.Fatalf("%s: no cell of type %T", f.Name, value)
	}
}

// fakeTexts are the texts of a run in memory.
type fakeTexts struct {
	rows      []ibid.Answer
	documents map[string]string
}

func (f *fakeTexts) Each(_ context.Context, _ []string, rows []int64, yield func(*ibid.Answer, func(string, int32) (string, bool)) error) error {
	for i := range f.rows {
		if !slices.Contains(rows, f.rows[i].Pos) {
			continue
		}
		var own fleeting
		row := own.row(&f.rows[i])
		err := yield(row, func(doc string, _ int32) (string, bool) {
			text, ok := f.documents[doc]
			return own.text(text), ok
		})
		own.end()
		if err != nil {
			return err
		}
	}
	return nil
}

// fleeting makes copies of strings that become others at its end, as the strings
// of a row do once the next rows are read.
type fleeting struct{ buffers [][]byte }

func (f *fleeting) text(s string) string {
	if s == "" {
		return ""
	}
	buffer := []byte(s)
	f.buffers = append(f.buffers, buffer)
	return unsafe.String(&buffer[0], len(buffer))
}

func (f *fleeting) end() {
	for _, buffer := range f.buffers {
		for i := range buffer {
			buffer[i] = '?'
		}
	}
}

func (f *fleeting) row(in *ibid.Answer) *ibid.Answer {
	out := *in
	out.ID, out.System, out.Query, out.Answer = f.text(in.ID), f.text(in.System), f.text(in.Query), f.text(in.Answer)
	out.Citations, out.Truth = slices.Clone(in.Citations), slices.Clone(in.Truth)
	for k := range out.Citations {
		c := &out.Citations[k]
		for _, s := range []*string{&c.Doc, &c.Title, &c.CitedText, &c.SourceType, &c.SourceReference, &c.Place.Doc} {
			*s = f.text(*s)
		}
	}
	for k := range out.Truth {
		t := &out.Truth[k]
		t.Annotator, t.Doc, t.Place.Doc = f.text(t.Annotator), f.text(t.Doc), f.text(t.Place.Doc)
	}
	return &out
}

// resolved are the places of a row's citations and marks, in their order.
type resolved struct{ Citations, Truth []ibid.Place }

// at is a place of code points.
func at(doc string, start, end int64, status ibid.Status) ibid.Place {
	return ibid.Place{Doc: doc, Start: start, End: end, Status: status}
}

// A fixture is a run whose rows are added one by one.
type fixture struct {
	rows, citations, claims []cells
	texts                   fakeTexts
	summary                 []runs.SummaryRow
	gates                   []runs.GateResult
	manifest                runs.Manifest
}

func newFixture() *fixture {
	finished := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	return &fixture{
		texts: fakeTexts{documents: make(map[string]string)},
		manifest: runs.Manifest{
			ID: "night", Status: runs.StatusComplete, Judge: runs.JudgeRecord{Kind: "none"},
			Timings: runs.Timings{Started: finished.Add(-time.Second), Finished: &finished, Seconds: 1},
		},
	}
}

// add adds a row with its citations and claims; places and truth are what the
// texts are marked with.
func (f *fixture) add(in ibid.Answer, row cells, citations, claims []cells, places resolved) {
	in.Pos = int64(len(f.rows))
	key := cells{"id": in.ID, "system": in.System, "row": int(in.Pos)}
	join := func(c cells) cells {
		out := cells{}
		for _, m := range []cells{key, c} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	full := join(row)
	if full["status"] == nil {
		full["status"] = runs.RowOK
	}
	valid := 0
	for _, c := range citations {
		if validStatus(fmt.Sprint(c["status"])) {
			valid++
		}
	}
	full["citations"], full["valid_citations"] = len(citations), valid
	if p := problemOf(full, citations, claims); p.Fails() {
		full["fails_because"] = p.String()
	}
	for _, name := range []string{"tags", "undefined"} {
		if full[name] == nil {
			full[name] = map[string]string{}
		}
	}
	f.rows = append(f.rows, full)
	for k, c := range citations {
		c = join(c)
		c["citation"] = k
		f.citations = append(f.citations, c)
	}
	for k, c := range claims {
		c = join(c)
		c["claim"] = k
		f.claims = append(f.claims, c)
	}
	in.Citations = slices.Grow(in.Citations, len(places.Citations))[:max(len(in.Citations), len(places.Citations))]
	for k, p := range places.Citations {
		in.Citations[k].Place = p
	}
	in.Truth = slices.Grow(in.Truth, len(places.Truth))[:max(len(in.Truth), len(places.Truth))]
	for k, p := range places.Truth {
		in.Truth[k].Place = p
	}
	f.texts.rows = append(f.texts.rows, in)
}

// problemOf is why a row fails, as a run finds it.
func problemOf(row cells, citations, claims []cells) metrics.Problem {
	number := func(v any) float64 { f, _ := v.(float64); return f }
	a := metrics.AnswerFinding{Error: row["status"] == runs.RowError, ToCite: row["truth_spans"] != nil}
	for _, c := range claims {
		cited, _ := c["citations"].([]int32)
		a.Claims = append(a.Claims, metrics.ClaimFinding{Outcome: outcomeNamed[fmt.Sprint(c["outcome"])], Cited: len(cited)})
	}
	for _, c := range citations {
		f := metrics.CitationFinding{Status: statusNamed[fmt.Sprint(c["status"])], HasTruth: c["exact_jaccard"] != nil, Exact: number(c["exact_jaccard"]), Snapped: number(c["snapped_jaccard"])}
		if c["support"] != nil {
			f.Support = ibid.Some(number(c["support"]))
		}
		f.Contradicts = c["label"] == "contradicts"
		f.Claims, _ = c["claims"].([]int32)
		a.Citations = append(a.Citations, f)
	}
	return metrics.ProblemLimits{Supported: 0.7}.OfAnswer(&a)
}

// macro adds a number to the summary.
func (f *fixture) macro(system, slice, metric string, estimate, low, high float64) {
	f.summary = append(f.summary, runs.SummaryRow{
		System: system, Slice: slice, Metric: metric, Agg: runs.Macro, N: 4, Undefined: 1, Clusters: 4,
		Estimate: &estimate, Low: &low, High: &high, Level: 0.95, Method: "cr1-t",
	})
}

// run writes the run and returns what a page is made from.
func (f *fixture) run(t testing.TB) RunData {
	t.Helper()
	dir := t.TempDir()
	// Derived metrics have columns, and undefined names all, as of a run of an earlier version.
	rows := runs.Rows()
	rows.Columns = slices.Concat(rows.Columns, rows.Derived)
	fields := slices.DeleteFunc(rows.Fields(), func(f parquet.Field) bool { return f.Name == "span_null" })
	writeTable(t, filepath.Join(dir, runs.RowsFile), fields, f.rows)
	writeTable(t, filepath.Join(dir, runs.CitationsFile), runs.Citations.Fields(), f.citations)
	if f.claims != nil {
		writeTable(t, filepath.Join(dir, runs.ClaimsFile), runs.Claims.Fields(), f.claims)
	}
	f.manifest.Rows, f.manifest.Citations = int64(len(f.rows)), int64(len(f.citations))
	return RunData{Dir: dir, Manifest: &f.manifest, Summary: f.summary, Gates: f.gates, Texts: &f.texts, Display: defaultDisplay}
}

// page makes the page of a fixture.
func (f *fixture) page(t testing.TB, o PageOptions) *doc.Page {
	t.Helper()
	p, err := newPage(t.Context(), o, f.run(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// harbour is a run with a judge, in which something of each kind happens.
func harbour() *fixture {
	f := newFixture()
	f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter", Model: "some/model"}
	f.texts.documents = map[string]string{
		"report": "The harbour handled 4.2 million tonnes. 😀 The quay cost 84 million.",
		"diary":  "Nobody was hurt in the fog.",
	}
	tags := map[string]string{"lang": "en"}
	f.add(ibid.Answer{ID: "q1", System: "alpha", Query: "How much cargo?", Answer: "4.2 million tonnes."},
		cells{"char_f1": 1.0, "citation_correctness": 1.0, "truth_spans": 1, "truth_annotator": "ada", "tags": tags},
		[]cells{{"doc": "report", "start": 20, "end": 38, "unit": "codepoint", "status": "ok", "answer_start": 0, "answer_end": 19, "exact_jaccard": 1.0, "snapped_jaccard": 1.0, "support": 1.0, "label": "full", "claims": []int32{0}, "quote": "4.2 million tonnes", "quote_start": 20, "quote_end": 38}},
		[]cells{{"text": "4.2 million tonnes.", "start": 0, "end": 19, "outcome": "supported_by_cited", "support": 1.0, "citations": []int32{0}}},
		resolved{Citations: []ibid.Place{at("report", 20, 38, ibid.StatusOK)}})
	f.add(ibid.Answer{ID: "q2", System: "beta", Query: "What did the quay cost?", Answer: "Nothing. Or 7 million."},
		cells{"char_f1": 0.0, "citation_correctness": 0.0, "truth_spans": 1, "tags": tags},
		[]cells{
			{"doc": "report", "start": 42, "end": 67, "unit": "codepoint", "status": "ok", "exact_jaccard": 0.0, "support": 0.0, "label": "contradicts", "claims": []int32{0}, "reason": "it cost 84 million"},
			{"doc": "yearbook", "start": 5, "end": 9, "unit": "codepoint", "status": "document_not_found", "exact_jaccard": 0.0, "support": 0.0, "claims": []int32{1}},
		},
		[]cells{
			{"text": "Nothing.", "start": 0, "end": 8, "outcome": "contradicted", "support": 0.0, "contradicted": true, "citations": []int32{0}},
			{"text": "Or 7 million.", "start": 9, "end": 22, "outcome": "unsupported", "support": 0.0, "citations": []int32{1}},
		},
		resolved{Citations: []ibid.Place{at("report", 42, 67, ibid.StatusOK), at("yearbook", 5, 9, ibid.StatusDocumentNotFound)}})
	f.add(ibid.Answer{ID: "q3", System: "beta", Query: "Was anybody hurt?", Answer: "Nobody."},
		cells{"char_f1": 0.4, "citation_correctness": 0.0, "truth_spans": 1},
		[]cells{{"doc": "report", "start": 0, "end": 11, "unit": "codepoint", "status": "quote_mismatch", "cited_text": "nobody", "exact_jaccard": 0.4, "snapped_jaccard": 0.5, "claims": []int32{0}}},
		[]cells{{"text": "Nobody.", "start": 0, "end": 7, "outcome": "supported_elsewhere", "support": 0.1, "citations": []int32{0}, "elsewhere_doc": "diary", "elsewhere_start": 0, "elsewhere_end": 15, "elsewhere_support": 0.9}},
		resolved{Citations: []ibid.Place{at("report", 0, 11, ibid.StatusQuoteMismatch)}})
	f.add(ibid.Answer{ID: "q4", System: "alpha", Query: "Who owns it?", Answer: "The region."},
		cells{"char_f1": 0.0, "truth_spans": 2, "undefined": map[string]string{"citation_correctness": "no_citations"}}, nil, nil, resolved{})
	f.add(ibid.Answer{ID: "q5", System: "alpha"}, cells{"status": runs.RowError, "error": "answer: null"}, nil, nil, resolved{})
	for k, system := range []string{"", "alpha", "beta"} {
		v := []float64{0.35, 0.5, 0.2}[k]
		f.macro(system, "", "char_f1", v, v-0.1, v+0.1)
		f.macro(system, "", "citation_correctness", v/2, v/2-0.3, v/2+0.3)
	}
	f.macro("", "lang=en", "citation_correctness", 0.5, 0.1, 0.9)
	f.gates = []runs.GateResult{{Gate: "char_f1 >= 0.3", Verdict: runs.Passed, Value: new(0.35)}, {Gate: "lo(char_f1)[system=beta] >= 0.4", Verdict: runs.Failed, Value: new(0.1)}}
	return f
}

// large is a run of n rows over documents of 2,000 characters.
func large(n, documents int) *fixture {
	f := newFixture()
	words := []string{"harbour", "tonnes", "region", "fog", "quay", "ship", "mole", "crane", "storm", "ledger", "coal", "grain"}
	seed := uint32(1)
	word := func() string {
		seed = seed*1664525 + 1013904223
		return words[seed>>16%uint32(len(words))] + fmt.Sprint(seed>>24)
	}
	text := func(size int) string {
		s := ""
		for len(s) < size {
			s += word() + " "
		}
		return s[:size]
	}
	for k := range documents {
		f.texts.documents[fmt.Sprintf("document-%d", k)] = text(2000)
	}
	for i := range n {
		doc := fmt.Sprintf("document-%d", i*7919%documents)
		start := int64(i * 31 % 1500)
		v := float64(i%997) / 997
		f.add(ibid.Answer{
			ID: fmt.Sprintf("question-%d", i/3), System: []string{"alpha", "beta", "gamma"}[i%3], Query: text(80), Answer: text(240),
			Truth: []ibid.Mark{{Annotator: "ada", Doc: doc}},
		},
			cells{
				"char_f1": v, "char_precision": v * v, "char_recall": 1 - v, "mean_snapped_jaccard": v / 2, "doc_f1": 1.0, "truth_spans": 1, "truth_annotator": "ada",
				"tags": map[string]string{"lang": "en"}, "undefined": map[string]string{"citation_correctness": "no_judge", "hallucination_rate": "no_judge"},
			},
			[]cells{
				{"doc": doc, "start": int(start), "end": int(start) + 200, "unit": "codepoint", "status": "ok", "exact_jaccard": v, "snapped_jaccard": v},
				{"doc": doc, "start": int(start) + 250, "end": int(start) + 300, "unit": "codepoint", "status": "ok", "exact_jaccard": 0.0, "snapped_jaccard": 0.0},
			}, nil,
			resolved{
				Citations: []ibid.Place{at(doc, start, start+200, ibid.StatusOK), at(doc, start+250, start+300, ibid.StatusOK)},
				Truth:     []ibid.Place{at(doc, start+50, start+220, ibid.StatusOK)},
			})
	}
	f.macro("", "", "char_f1", 0.5, 0.4, 0.6)
	return f
}

// defaultDisplay is what is shown unless somebody wants it otherwise.
var defaultDisplay = configs.CitationDisplay{ShowProvenance: true, GroupBySourceType: true, MaxCitationsDisplayed: 10, InlineMarkers: true}
