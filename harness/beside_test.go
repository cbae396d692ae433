package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge/judgetest"
)

// written writes a file and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// table is the lines of a CSV file.
func table(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// TestJoinedTablesAreRows: truth and labels of tables count as those of the rows; what joins
// to nothing is named on both sides.
func TestJoinedTablesAreRows(t *testing.T) {
	s := judged()
	truth, labels := []string{"id,annotator,doc,start,end"}, []string{"id,system,annotator,claim_id,kind,value"}
	seen := make(map[string]bool)
	for i, r := range s.rows {
		r.HasTruth = true
		if len(r.Truth) == 0 {
			r.Truth = []ibid.Mark{{Annotator: "ada", Doc: "doc-1", Start: ibid.Some[int64](3), End: ibid.Some[int64](9)}}
		}
		if !seen[r.ID] {
			for _, m := range r.Truth {
				truth = append(truth, fmt.Sprintf("%s,%s,%s,%d,%d", r.ID, m.Annotator, m.Doc, m.Start.Value, m.End.Value))
			}
		}
		seen[r.ID] = true
		v := float64(i%3) / 2
		r.HasLabels, r.Labels = true, []ibid.Label{{Annotator: "ada", Kind: ibid.SupportLabel, ClaimID: "k", Value: ibid.Some(v)}}
		labels = append(labels, fmt.Sprintf("%s,%s,ada,k,support,%v", r.ID, r.System, v))
	}
	rows, documents := s.files(t)
	settings := []string{"documents=" + documents, "judge=human", "slices=[lang]", "keep=nothing"}
	whole := done(t, harness.Job{Source: rows}, append(settings, "dataset="+rows, "out="+t.TempDir(), "id=run")...)
	for _, r := range s.rows {
		r.HasTruth, r.Truth, r.HasLabels, r.Labels = false, nil, false, nil
	}
	bare := writeRows(t, s.rows)
	joined := func(truth, labels string, warn func(string)) (*harness.Plan, error) {
		return plan(t, harness.Job{Source: bare, Warn: warn}, append(settings, "dataset="+bare, "truth="+truth, "labels="+labels, "out="+t.TempDir(), "id=run")...)
	}
	p, err := joined(written(t, "truth.csv", table(truth...)), written(t, "labels.csv", table(labels...)), func(text string) {
		if !strings.Contains(text, "rest on few documents") {
			t.Errorf("warned: %s", text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sameCells(t, whole, out.Dir, nil, runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile)
	var warnings []string
	some := written(t, "some.csv", table(truth[0], "q-00,ada,doc-0,0,10", "Q-02,ada,doc-0,0,10", "other,ada,doc-0,0,10"))
	if p, err = joined(some, written(t, "l.csv", table(labels...)), func(text string) { warnings = append(warnings, text) }); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		some + `: no answer has 2 of the 3 ids: "Q-02" (did you mean "q-02"?), "other"`,
		some + `: 58 of the 60 answers have no truth: "q-01", "q-02", `,
	} {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("warnings %q, want %s", warnings, want)
		}
	}
	none := written(t, "none.csv", table(truth[0], "Q 00,ada,doc-0,0,10"))
	if p, err = joined(none, written(t, "l.csv", table(labels...)), nil); err == nil {
		_, err = p.Run(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "no id of "+none+" is in "+bare) {
		t.Errorf("nothing joins: %v", err)
	}
}

// TestVerdictsOfOthers: a table of another program says what holds of claims by their id,
// their text or their place; what it cannot say stays unknown, and what fits nothing is
// counted.
func TestVerdictsOfOthers(t *testing.T) {
	cites := func(n int) ibid.Citation {
		return ibid.Citation{Doc: "doc-0", Start: ibid.Some(int64(10 * n)), End: ibid.Some(int64(10*n + 9)), CitationID: fmt.Sprint("c", n)}
	}
	row := func(id string, claims []ibid.Claim, citations ...ibid.Citation) *ibid.Answer {
		return &ibid.Answer{ID: id, System: "default", Query: "q", Answer: "It rained. It rained. It was lit.", HasClaims: true, Claims: claims, HasCitations: true, Citations: citations}
	}
	of := func(claim string, c ibid.Citation) ibid.Citation { c.ClaimID = claim; return c }
	s := newStudy()
	s.rows = []*ibid.Answer{
		row("ids", []ibid.Claim{{ClaimID: "k0", Text: "It rained."}, {ClaimID: "k1", Text: "It was lit."}}, of("k0", cites(0)), of("k1", cites(1))),
		row("texts", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0))),
		row("best", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0)), of("k0", cites(1))),
		row("half", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0)), of("k0", cites(1))),
		row("twice", []ibid.Claim{{ClaimID: "k0", Text: "It rained."}, {ClaimID: "k1", Text: "It rained."}}, of("k0", cites(0)), of("k1", cites(1))),
		row("again", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0))),
		row("all", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0))),
		row("wrong", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0))),
		row("silent", []ibid.Claim{{ClaimID: "k0", Text: "It was lit."}}, of("k0", cites(0))),
	}
	rows, documents := s.files(t)
	verdicts := written(t, "verdicts.csv", table(
		"id,claim_id,claim_text,claim_start,evidence,support,label",
		"ids,k0,,,citation:0,0.9,", "ids,k1,,,joint,,contradicts", "ids,k1,,,citation:1,0.25,",
		"texts,,It  was lit.,,citation:0,0.8,mostly", "texts,,It never was.,,joint,1,",
		"best,k0,,,citation:0,0.25,", "best,k0,,,citation:1,0.75,",
		"half,k0,,,citation:1,0.75,",
		"twice,,It rained.,,joint,1,",
		"again,k0,,,joint,1,", "again,k0,,,joint,0,",
		"all,,,,citation:0,1,",
		"wrong,k0,,,joint,7,",
		"nobody,k0,,,joint,1,",
	))
	var warnings []string
	settings := []string{"dataset=" + rows, "documents=" + documents, "judge=recorded", "out=" + t.TempDir(), "id=run", "keep=nothing"}
	dir := done(t, harness.Job{Source: rows, Warn: func(text string) { warnings = append(warnings, text) }}, append(settings, "judge.file="+verdicts)...)
	claims, citations := readCells(t, dir, runs.ClaimsFile), readCells(t, dir, runs.CitationsFile)
	find := func(all tableCells, id, n, column string) string {
		for key, row := range all {
			if strings.HasPrefix(key, id) && row["id"] == id && (row["claim"] == n || row["citation"] == n) {
				return row[column]
			}
		}
		return "no such entry"
	}
	for _, tt := range [][4]string{
		{"ids", "0", "support", "0.9"},
		{"ids", "1", "support", "0"},
		{"texts", "0", "support", "0.8"},
		{"best", "0", "support", "0.75"},
		{"half", "0", "support", "(null)"},
		{"twice", "0", "support", "(null)"},
		{"again", "0", "support", "(null)"},
		{"all", "0", "support", "1"},
		{"wrong", "0", "support", "(null)"},
		{"silent", "0", "support", "(null)"},
	} {
		if got := find(claims, tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("claim %s of %s: %s is %s, want %s", tt[1], tt[0], tt[2], got, tt[3])
		}
	}
	for _, tt := range [][3]string{{"ids", "0", "0.9"}, {"ids", "1", "0.25"}, {"texts", "0", "0.8"}, {"best", "0", "0.25"}, {"best", "1", "0.75"}, {"half", "0", "(null)"}, {"half", "1", "0.75"}, {"all", "0", "1"}} {
		if got := find(citations, tt[0], tt[1], "support"); got != tt[2] {
			t.Errorf("citation %s of %s: support %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
	for _, want := range []string{
		verdicts + `: no answer has 1 of the 9 ids: "nobody/default"`,
		verdicts + `: 2 of the 14 verdicts are about nothing that is there: "texts" of default: no claim has claim_text "It never was."`,
		verdicts + `: 1 of the 9 answers have no verdicts: "silent/default"`,
	} {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("warnings %q, want %s", warnings, want)
		}
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no evidence": {table("id,score", "ids,1"), "no column evidence"},
		"a slip":      {table("id,claim_id,evidence,suport", "ids,k0,joint,1"), `unknown column "suport"`},
		"no id":       {table("claim_id,evidence,support", "k0,joint,1"), "no column id"},
		"no verdict":  {table("id,claim_id,evidence", "ids,k0,joint"), "no column support"},
	} {
		if _, err := plan(t, harness.Job{Source: rows}, append(settings, "judge.file="+written(t, "v.csv", tt.text))...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// TestPresenceOfFetchedPages: with presence.strict a citation counts if its page is among the
// fetched ones and live; rows of pages that nobody asked for have no value.
func TestPresenceOfFetchedPages(t *testing.T) {
	page := func(name, f string) ibid.Document {
		return ibid.Document{Doc: name, Text: "x", HasText: true, Metadata: `{"url":"https://` + name + `",` + f + `}`}
	}
	sources := writeDocuments(t, []ibid.Document{
		page("live.org", `"state":"ok","status":200`), page("gone.org", `"state":"failed","status":404`), page("closed.org", `"state":"denied","problem":"robots.txt does not allow it"`), page("moved.org", `"state":"ok","status":299`),
		page("odd.org", `"state":"failed","status":300`),
	})
	want := map[string]string{
		"See https://live.org.": "1", "See https://live.org#part.": "1", "See https://gone.org.": "0", "See https://closed.org.": "(null)", "See https://other.org.": "(null)",
		"See https://other.org and https://live.org.": "1", "See https://moved.org.": "1", "See https://odd.org.": "0", "See nothing.": "0",
	}
	var rows []*ibid.Answer
	for answer := range want {
		rows = append(rows, &ibid.Answer{ID: answer, System: "a", Query: "q", Answer: answer, HasCitations: true})
	}
	path := writeRows(t, rows)
	var warnings []string
	settings := []string{"dataset=" + path, "judge=none", "presence.strict=true", "out=" + t.TempDir(), "id=run", "keep=nothing"}
	dir := done(t, harness.Job{Source: path, Warn: func(text string) { warnings = append(warnings, text) }}, append(settings, "documents="+sources)...)
	for _, row := range readCells(t, dir, runs.RowsFile) {
		if row["citation_presence"] != want[row["id"]] {
			t.Errorf("%s: %s, want %s", row["id"], row["citation_presence"], want[row["id"]])
		}
	}
	if !slices.ContainsFunc(warnings, func(w string) bool {
		return strings.HasPrefix(w, "citation_presence is undefined for 2 rows, such as where ") && strings.HasSuffix(w, "; type: ibid fetch "+path+" -o "+sources)
	}) {
		t.Errorf("warnings %q", warnings)
	}
	if _, err := plan(t, harness.Job{Source: path}, append(settings, "documents="+documentsOf(t, "a"))...); err == nil || !strings.Contains(err.Error(), "was written by ibid fetch") {
		t.Errorf("documents that were not fetched: %v", err)
	}
}

// TestBatchesAreCalls: a run that asks in batches has the verdicts of one that asks in calls,
// and pays once.
func TestBatchesAreCalls(t *testing.T) {
	s := judged()
	s.rows = s.rows[:24]
	rows, documents := s.files(t)
	ask := func(batch string) (string, *judgetest.Server) {
		t.Helper()
		server := judgetest.NewServer(judgetest.ServerConfig{Key: simulatedKey, Batches: &judgetest.BatchConfig{}})
		t.Cleanup(server.Close)
		return done(t, harness.Job{Source: rows, APIKey: simulatedKey},
			"dataset="+rows, "documents="+documents, "judge.kind=openrouter", "judge.model=fake/judge", "judge.base_url="+server.URL(), "judge.cache="+filepath.Join(t.TempDir(), "answers.db"),
			"out="+t.TempDir(), "id=run", "keep=nothing", "rows_per_part=5", "judge.batch="+batch), server
	}
	calls, one := ask("false")
	batches, other := ask("true")
	sameCells(t, calls, batches, nil, runs.RowsFile, runs.CitationsFile, runs.ClaimsFile)
	if n := len(other.Batches()); n == 0 || len(one.Batches()) != 0 {
		t.Errorf("%d batches were sent, and %d by the run that asks in calls", n, len(one.Batches()))
	}
	if twice := other.Counts().Twice; twice > 0 {
		t.Errorf("paid twice: %v", twice)
	}
}
