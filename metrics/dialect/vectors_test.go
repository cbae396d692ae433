package dialect

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
)

const vectorsFile = "../../../shared/vectors/dialects.json"

func TestVectors(t *testing.T) {
	data, err := os.ReadFile(vectorsFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/vectors is missing: dialects.json cannot be checked")
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []json.RawMessage
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	run := map[string]func(*testing.T, json.RawMessage){
		"alce": checkALCE, "longcite": checkLongCite, "trec_rag_support": checkTREC, "deep_research_bench_fact": checkDRB,
	}
	seen := 0
	for _, raw := range cases {
		var head struct{ Dialect, Name string }
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		if head.Dialect == "_readme" {
			continue
		}
		check, ok := run[head.Dialect]
		if !ok {
			t.Errorf("%s: unknown dialect %q", head.Name, head.Dialect)
			continue
		}
		seen++
		t.Run(head.Dialect+"/"+head.Name, func(t *testing.T) { check(t, raw) })
	}
	if seen < 28 {
		t.Errorf("%d cases, want all", seen)
	}
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// near compares with an expected value that was computed in another order.
func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %v, want %v", name, got, want)
	}
}

// ALCE: the vectors bring their own splitter, citation pattern and judge.

var (
	alceSentenceEnd = regexp.MustCompile(`[.!?]\s+`)
	alceCitation    = regexp.MustCompile(`\[\d+`)
	alceMarker      = regexp.MustCompile(`\[\d+\]`)
	fact            = regexp.MustCompile(`\b[A-Z]\d\b`)
)

type alceCase struct {
	Name    string
	Options struct {
		Qampari         bool
		AtMostCitations *int `json:"at_most_citations"`
	}
	Items []struct {
		Question, Output string
		Docs             []struct{ Title, Text string }
	}
	Expected struct {
		Recall    float64 `json:"citation_rec"`
		Precision float64 `json:"citation_prec"`
		Calls     int     `json:"nli_calls"`
	}
}

// entails is the stub judge: every fact of the claim occurs in the premise.
func entails(premise, claim string) bool {
	have := fact.FindAllString(premise, -1)
	for _, f := range fact.FindAllString(claim, -1) {
		if !slices.Contains(have, f) {
			return false
		}
	}
	return true
}

func alceSentences(output string) []string {
	var parts []string
	at := 0
	for _, end := range alceSentenceEnd.FindAllStringIndex(output, -1) {
		parts = append(parts, output[at:end[0]+1])
		at = end[1]
	}
	return append(parts, output[at:])
}

// alceStatement asks the judge what ALCE asks and no more, counting the calls.
func alceStatement(claim string, refs []int, docs []string, calls *int) Statement {
	judge := func(premise ...string) ibid.Number {
		*calls++
		if entails(strings.Join(premise, "\n"), claim) {
			return ibid.Some[float64](1)
		}
		return ibid.Some[float64](0)
	}
	var s Statement
	var passages []string
	for _, ref := range refs {
		c := Citation{Dangling: ref < 0 || ref >= len(docs)}
		if !c.Dangling {
			passages = append(passages, docs[ref])
		}
		s.Citations = append(s.Citations, c)
	}
	if len(s.Citations) == 0 || len(passages) < len(refs) {
		return s
	}
	s.Support = judge(passages...)
	if s.Support.Value == 1 && len(refs) > 1 {
		for i := range s.Citations {
			s.Citations[i].Support = judge(passages[i])
			if s.Citations[i].Support.Value == 0 {
				s.Citations[i].Without = judge(slices.Delete(slices.Clone(passages), i, i+1)...)
			}
		}
	}
	return s
}

func checkALCE(t *testing.T, raw json.RawMessage) {
	var c alceCase
	decode(t, raw, &c)
	if strings.HasPrefix(c.Name, "[0]") {
		// The note: a port should treat [0] as out of range, which another case
		// says scores 0 and asks nothing.
		c.Expected.Recall, c.Expected.Precision, c.Expected.Calls = 0, 0, 0
	}
	var recall, precision float64
	calls := 0
	for _, item := range c.Items {
		parts := alceSentences(item.Output)
		if c.Options.Qampari {
			parts = nil
			for _, answer := range strings.Split(strings.TrimRight(strings.TrimSpace(item.Output), ".,"), ",") {
				parts = append(parts, item.Question+" "+strings.TrimSpace(answer))
			}
		}
		var docs []string
		for _, d := range item.Docs {
			docs = append(docs, d.Title+"\n"+d.Text)
		}
		var table Table
		for _, part := range parts {
			var refs []int
			for _, m := range alceCitation.FindAllString(part, -1) {
				n, err := strconv.Atoi(m[1:])
				if err != nil {
					t.Fatal(err)
				}
				refs = append(refs, n-1)
			}
			if k := c.Options.AtMostCitations; k != nil {
				refs = refs[:min(len(refs), *k)]
			}
			table = append(table, alceStatement(alceMarker.ReplaceAllString(part, ""), refs, docs, &calls))
		}
		r, ok := ALCERecall(table, 1)
		if !ok {
			t.Error("recall is undefined")
		}
		p, _ := ALCEPrecision(table, 1) // ALCE calls an undefined precision 0
		recall += r
		precision += p
	}
	n := float64(len(c.Items))
	near(t, "recall", 100*recall/n, c.Expected.Recall)
	near(t, "precision", 100*precision/n, c.Expected.Precision)
	if calls != c.Expected.Calls {
		t.Errorf("%d calls, want %d", calls, c.Expected.Calls)
	}
}

var supportScores = map[string]ibid.Number{
	"full": ibid.Some[float64](1), "partial": ibid.Some(0.5), "none": ibid.Some[float64](0),
	"full_support": ibid.Some[float64](1), "partial_support": ibid.Some(0.5), "no_support": ibid.Some[float64](0),
}

func checkLongCite(t *testing.T, raw json.RawMessage) {
	var c struct {
		Statements []struct {
			Cites        []bool
			Support      string
			NeedCitation bool `json:"need_citation"`
		}
		Expected struct {
			Recall    float64 `json:"citation_recall"`
			Precision float64 `json:"citation_precision"`
			F1        float64 `json:"citation_f1"`
			Calls     int     `json:"judge_calls"`
		}
	}
	decode(t, raw, &c)
	verdict := map[bool]ibid.Tri{true: ibid.Yes, false: ibid.No}
	var table Table
	for _, in := range c.Statements {
		s := Statement{Support: supportScores[in.Support], NeedsCitation: verdict[in.NeedCitation]}
		for _, relevant := range in.Cites {
			s.Citations = append(s.Citations, Citation{Relevant: verdict[relevant]})
		}
		table = append(table, s)
	}
	calls := 0
	for _, s := range longCite(table) {
		calls += 1 + len(s.Citations)
	}
	if calls != c.Expected.Calls {
		t.Errorf("%d verdicts are read, want %d", calls, c.Expected.Calls)
	}
	// LongCite calls an undefined score 0.
	recall, recallOK := LongCiteRecall(table)
	precision, precisionOK := LongCitePrecision(table)
	f1, f1OK := LongCiteF1(table)
	near(t, "recall", recall, c.Expected.Recall)
	near(t, "precision", precision, c.Expected.Precision)
	near(t, "f1", f1, c.Expected.F1)
	cited := slices.ContainsFunc(table, func(s Statement) bool { return len(s.Citations) > 0 })
	if recallOK != (len(table) > 0) || precisionOK != cited || f1OK != cited {
		t.Errorf("defined: %v, %v, %v", recallOK, precisionOK, f1OK)
	}
}

func checkTREC(t *testing.T, raw json.RawMessage) {
	var c struct {
		Parts []struct {
			Text      string
			Citations []string
		}
		Passages map[string]string
		Labels   [][3]string `json:"judge_labels"`
		Expected struct {
			Precision      float64 `json:"weighted_precision"`
			Recall         float64 `json:"weighted_recall_first_citation"`
			FirstPrecision float64 `json:"weighted_precision_first_citation"`
		} `json:"expected_per_citation"`
	}
	decode(t, raw, &c)
	var table Table
	for _, part := range c.Parts {
		var s Statement
		for _, source := range part.Citations {
			passage, exists := c.Passages[source]
			citation := Citation{Source: source, Dangling: !exists}
			for _, l := range c.Labels {
				if l[0] == part.Text && l[1] == passage {
					citation.Support = supportScores[l[2]]
				}
			}
			s.Citations = append(s.Citations, citation)
		}
		table = append(table, s)
	}
	for name, score := range map[string]struct {
		of   func(Table) (float64, bool)
		want float64
	}{
		"precision": {TRECWeightedPrecision, c.Expected.Precision},
		"recall":    {TRECWeightedRecall, c.Expected.Recall},
		"first":     {TRECFirstPrecision, c.Expected.FirstPrecision},
	} {
		got, ok := score.of(table)
		if !ok {
			t.Errorf("%s is undefined", name)
		}
		near(t, name, got, score.want)
	}
}

func checkDRB(t *testing.T, raw json.RawMessage) {
	var c struct {
		Records []struct {
			Deduped map[string]struct {
				Error   *string                   `json:"validate_error"`
				Results []struct{ Result string } `json:"validate_res"`
			} `json:"citations_deduped"`
		}
		Expected json.RawMessage
	}
	decode(t, raw, &c)
	// The vectors' sources list the statements they are cited for; each pair
	// becomes a statement with one citation.
	var table Table
	for _, r := range c.Records {
		for url, source := range r.Deduped {
			if source.Error != nil {
				table = append(table, Statement{Citations: []Citation{{Source: url}}})
			}
			scores := map[string]ibid.Number{"supported": ibid.Some[float64](1), "unsupported": ibid.Some[float64](0)}
			for _, result := range source.Results {
				table = append(table, Statement{Citations: []Citation{{Source: url, Support: scores[result.Result]}}})
			}
		}
	}
	accuracy, accuracyOK := DRBAccuracy(table, 1)
	effective, effectiveOK := DRBEffectiveCitations(table, 1)
	var want struct {
		Total float64 `json:"total_citations"`
		Valid float64 `json:"total_valid_citations"`
		Rate  float64 `json:"valid_rate"`
	}
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		// The original divides by zero; the note: a port should return null.
		if accuracy != 0 || accuracyOK || effective != 0 || !effectiveOK {
			t.Errorf("accuracy %v, %v; effective citations %v, %v", accuracy, accuracyOK, effective, effectiveOK)
		}
		return
	}
	_, judged, _ := drbPairs(table, 1)
	n := float64(len(c.Records))
	near(t, "pairs", float64(judged)/n, want.Total)
	near(t, "effective", effective/n, want.Valid)
	near(t, "accuracy", accuracy, want.Rate)
	if !accuracyOK || !effectiveOK {
		t.Errorf("defined: %v, %v", accuracyOK, effectiveOK)
	}
}
