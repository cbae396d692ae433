package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"ibid/dataset/runs"
)

// judged are the result files of a run that has a judge.
var judged = []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile, runs.AgreementFile, runs.DisagreementsFile}

func readJudged(t *testing.T, run string) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for _, name := range judged {
		data, err := os.ReadFile(filepath.Join(run, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = data
	}
	return out
}

func sameJudged(t *testing.T, what string, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if !bytes.Equal(got[name], want[name]) {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

// TestJudgedRun: verdicts of the baseline do not depend on the number of workers,
// and rescoring with a threshold gives what a run with that threshold gives.
func TestJudgedRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustIbid(t, dir, "init", "demo")
	run := func(id string, args ...string) map[string][]byte {
		mustIbid(t, dir, append([]string{"run", "demo/ibid.yaml", "--judge", "lexical", "--set", "gates=[]", "--id", id, "-q"}, args...)...)
		return readJudged(t, filepath.Join(dir, "runs", id))
	}
	base := run("base")
	sameJudged(t, "--workers 8", run("eight", "--workers", "8"), base)
	strict := run("strict", "--set", "thresholds.supported=0.9", "--set", "weights.hallucination=1")
	if bytes.Equal(strict[runs.SummaryFile], base[runs.SummaryFile]) {
		t.Error("another threshold gives the same summary")
	}
	mustIbid(t, dir, "rescore", "runs/base", "--set", "thresholds.supported=0.9", "--set", "weights.hallucination=1", "-q")
	sameJudged(t, "rescore", readJudged(t, filepath.Join(dir, "runs", "base-rescored")), strict)
	mustIbid(t, dir, "rescore", "runs/base", "--id", "same", "-q")
	sameJudged(t, "rescore without change", readJudged(t, filepath.Join(dir, "runs", "same")), base)
}

// TestRescoreRefuses: rescoring keeps the judge and the data of its run, or what it kept of
// them.
func TestRescoreRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustIbid(t, dir, "init", "demo")
	mustIbid(t, dir, "run", "demo/ibid.yaml", "--judge", "lexical", "--set", "gates=[]", "--id", "base", "--set", "keep=nothing", "-q")
	if _, stderr, code := command(t, dir, "rescore", "runs/base", "--set", "judge.kind=human"); code != 2 {
		t.Errorf("another judge: exit %d\n%s", code, stderr)
	}
	answers := filepath.Join(dir, "demo", "answers.parquet")
	mustIbid(t, dir, "import", "jsonl", writeLine(t, dir), "-o", answers)
	if _, stderr, code := command(t, dir, "rescore", "runs/base"); code != 2 || !bytes.Contains([]byte(stderr), []byte("the dataset of run base changed since it was made")) {
		t.Errorf("other data: exit %d\n%s", code, stderr)
	}
}

// writeLine writes one record of answers and returns its path.
func writeLine(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "one.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"1","query":"q","answer":"a"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// expertMacro is the mean over answers in ../shared/expected/expertqa.json.
type expertMacro struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
}

// expertSystem is what ../shared/expected/expertqa.json says of one system.
type expertSystem struct {
	RecallStrict     float64                `json:"recall_strict"`
	RecallLenient    float64                `json:"recall_lenient"`
	PrecisionStrict  float64                `json:"precision_strict"`
	PrecisionLenient float64                `json:"precision_lenient"`
	Macro            map[string]expertMacro `json:"macro"`
}

// TestExpertQA takes the answers of six systems with the labels of experts through
// import, run and rescore: attribution recall and precision, strict and lenient,
// as an independent script computes them.
func TestExpertQA(t *testing.T) {
	t.Parallel()
	shared := filepath.Join("..", "..", "..", "shared")
	data, err := filepath.Abs(filepath.Join(shared, "data", "expertqa", "rand_test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Skipf("%s is not there", filepath.Join(shared, "data", "expertqa"))
	}
	var want struct {
		Systems map[string]expertSystem `json:"systems"`
		All     expertSystem            `json:"all"`
	}
	readShared(t, filepath.Join(shared, "expected", "expertqa.json"), &want)
	dir := t.TempDir()
	mustIbid(t, dir, "import", "expertqa", data, "-o", "eq.parquet", "--docs", "docs.parquet")
	mustIbid(t, dir, "run", "eq.parquet", "--documents", "docs.parquet", "--judge", "human", "--id", "strict", "-q")
	mustIbid(t, dir, "rescore", "runs/strict", "--set", "thresholds.supported=0.5", "--id", "lenient", "-q")
	want.Systems[""] = want.All
	for system, e := range want.Systems {
		checkExpert(t, filepath.Join(dir, "runs", "strict"), system, e.RecallStrict, e.PrecisionStrict, e.Macro["recall_strict"], e.Macro["precision_strict"])
		checkExpert(t, filepath.Join(dir, "runs", "lenient"), system, e.RecallLenient, e.PrecisionLenient, e.Macro["recall_lenient"], e.Macro["precision_lenient"])
	}
}

func checkExpert(t *testing.T, run, system string, recall, precision float64, macroRecall, macroPrecision expertMacro) {
	t.Helper()
	summary, err := runs.Summary.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	check := func(r runs.SummaryRow, micro float64, macro expertMacro) {
		found++
		want := micro
		if r.Agg == runs.Macro {
			want = macro.Mean
			if r.N != macro.N {
				t.Errorf("%s %q %s: n %d, want %d", filepath.Base(run), system, r.Metric, r.N, macro.N)
			}
		}
		if r.Estimate == nil || math.Abs(*r.Estimate-want) > 1e-9 {
			t.Errorf("%s %q %s %s: %v, want %v", filepath.Base(run), system, r.Metric, r.Agg, r.Estimate, want)
		}
	}
	for _, r := range summary {
		if r.System != system || r.Slice != "" {
			continue
		}
		switch r.Metric {
		case "supported_completeness":
			check(r, recall, macroRecall)
		case "cited_claim_precision":
			check(r, precision, macroPrecision)
		}
	}
	if found != 4 {
		t.Errorf("%s %q: %d rows of the summary, want 4", run, system, found)
	}
}
