package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// A liveTest is a dataset, a folder for runs and a fake service that judges.
type liveTest struct {
	*testing.T
	dir    string
	server *judgetest.Server
}

const fakeKey = "sk-or-v1-a-key-that-must-not-appear"

// keys are the API keys of what runs in a folder: tests run side by side and cannot share
// an environment.
var keys sync.Map

// environ is the environment of a command in dir, nil for our own.
func environ(dir string) []string {
	if key, ok := keys.Load(dir); ok {
		return append(os.Environ(), "OPENROUTER_API_KEY="+key.(string), "AZURE_OPENAI_API_KEY="+key.(string))
	}
	return nil
}

// newLiveTest writes rows and starts a service.
func newLiveTest(t *testing.T, rows int, config judgetest.ServerConfig) *liveTest {
	t.Helper()
	config.Key = fakeKey
	l := &liveTest{T: t, dir: t.TempDir(), server: judgetest.NewServer(config)}
	keys.Store(l.dir, fakeKey)
	t.Cleanup(l.server.Close)
	if err := writeTowers(filepath.Join(l.dir, "towers.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	return l
}

// args are the arguments of a run with that id.
func (l *liveTest) args(id string, more ...string) []string {
	return append([]string{
		"run", "towers.parquet", "-q", "-o", "out-" + id, "--id", id, "--judge", "openrouter", "--model", "fake/judge",
		"--cache", "judge.sqlite", "--set", "judge.base_url=" + l.server.URL(), "--set", "judge.concurrency=50",
	}, more...)
}

func (l *liveTest) run(id string, more ...string) (stderr string, code int) {
	l.Helper()
	_, stderr, code = command(l.T, l.dir, l.args(id, more...)...)
	return stderr, code
}

// must is run for what has to end with exit code 0.
func (l *liveTest) must(id string, more ...string) map[string][]byte {
	l.Helper()
	if stderr, code := l.run(id, more...); code != 0 {
		l.Fatalf("run %s: exit code %d\n%s", id, code, stderr)
	}
	return l.results(id)
}

func (l *liveTest) results(id string) map[string][]byte {
	l.Helper()
	files := results(l.T, l.runDir(id))
	for _, name := range []string{runs.ClaimsFile, runs.VerdictsFile} {
		data, err := os.ReadFile(filepath.Join(l.runDir(id), name))
		if err != nil {
			l.Fatal(err)
		}
		files[name] = data
	}
	return files
}

func (l *liveTest) runDir(id string) string { return filepath.Join(l.dir, "runs", id) }

func (l *liveTest) manifest(id string) *runs.Manifest {
	l.Helper()
	m, err := runs.ReadManifest(l.runDir(id))
	if err != nil {
		l.Fatal(err)
	}
	return m
}

// same wants two runs to have the same bytes.
func (l *liveTest) same(what string, got, want map[string][]byte) {
	l.Helper()
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			l.Errorf("%s: %s differs", what, name)
		}
	}
}

// verdicts are the results of a run but for the votes that a claim took: a reply
// with an invented quote is doubted, and asked about again.
func (l *liveTest) verdicts(id string) map[string][]byte {
	l.Helper()
	files := l.results(id)
	f, err := parquet.OpenResult(filepath.Join(l.runDir(id), runs.ClaimsFile))
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	var text bytes.Buffer
	for g := range f.RowGroups() {
		for _, field := range f.Fields() {
			var v parquet.ColumnValues
			if err := f.ReadColumn(g, field.Name, nil, &v); err != nil {
				l.Fatal(err)
			}
			if field.Name != "votes" && field.Name != "opinions" {
				fmt.Fprintln(&text, field.Name, v.Valid, v.Ints, v.Doubles, v.Strings, v.Offsets)
			}
		}
	}
	files[runs.ClaimsFile] = text.Bytes()
	return files
}

// writeTowers writes rows that no two of are alike, of one to four claims.
func writeTowers(path string, n int) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(7, uint64(n)))
	for i := range n {
		var text, answer strings.Builder
		row := &ibid.Answer{ID: fmt.Sprintf("q-%06d", i), Query: "What is known about the tower?", HasCitations: true, HasDocuments: true}
		for range 1 + random.IntN(4) {
			height := 50 + random.IntN(300)
			start := int64(text.Len())
			fmt.Fprintf(&text, "Tower %d of block %d is %d metres high. ", i, random.IntN(90), height)
			from := int64(answer.Len())
			fmt.Fprintf(&answer, "Tower %d is %d metres high. ", i, height+random.IntN(2))
			row.Citations = append(row.Citations, ibid.Citation{
				Doc: "towers", Start: known(start), End: known(int64(text.Len()) - 1),
				AnswerStart: known(from), AnswerEnd: known(int64(answer.Len()) - 1),
			})
		}
		row.Answer = answer.String()
		row.Documents = []ibid.Document{{Doc: "towers", Text: text.String(), HasText: true}}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

// TestLiveClean judges 600 rows with one call each, and again with none.
func TestLiveClean(t *testing.T) {
	t.Parallel()
	const rows = 600
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: judgetest.Constant(5 * time.Millisecond), KeepBodies: true})
	first := l.must("first")
	counts := l.server.Counts()
	m := l.manifest("first")
	if counts.Requests > rows || m.Judge.Calls > rows || m.Status != runs.StatusComplete || m.Judge.Coverage() != 1 {
		t.Errorf("%d requests for %d rows; %s, %+v", counts.Requests, rows, m.Status, m.Judge)
	}
	if counts.Connections > 55 {
		t.Errorf("%d connections for 50 calls at once", counts.Connections)
	}
	for _, e := range l.server.Log() {
		if !bytes.Contains(e.Text, []byte(`"temperature":0`)) {
			t.Fatalf("no temperature in %s", e.Text)
		}
	}
	l.same("from the cache", l.must("second"), first)
	if n := l.server.Counts().Requests - counts.Requests; n != 0 {
		t.Errorf("%d requests although every answer is known", n)
	}
	if j := l.manifest("second").Judge; j.Cached != j.Calls || j.Calls == 0 || *j.CostUSD != 0 {
		t.Errorf("second run: %+v", j)
	}
	l.noKey()
}

// noKey wants the key in none of the files.
func (l *liveTest) noKey() {
	l.Helper()
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(fakeKey)) {
			l.Errorf("the key stands in %s", path)
		}
		return err
	})
	if err != nil {
		l.Fatal(err)
	}
}

// partly are the faults that leave some claims of a reply open. Those are asked again once, as
// TestLiveReplies shows, and may be without a verdict then.
var partly = []judgetest.Fault{"missing_items", "unknown_id", "truncated_content", "schema_mismatch", "invented_quote"}

// TestLiveFaults judges through faults of every kind that asking again mends, to
// the results of a service without faults.
func TestLiveFaults(t *testing.T) {
	t.Parallel()
	const rows = 600
	clean := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1})
	clean.must("clean")
	faults := slices.DeleteFunc(judgetest.Faults("retryable"), func(f judgetest.Fault) bool { return f == "hang" || slices.Contains(partly, f) })
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Faults: faults, FaultShare: 0.36, RetryAfter: 20 * time.Millisecond})
	l.must("faulty", "--set", "judge.retry_attempts=8")
	l.same("through faults", l.verdicts("faulty"), clean.verdicts("clean"))
	counts := l.server.Counts()
	if counts.Faults < rows/4 || float64(counts.Requests) > 1.7*rows {
		t.Errorf("%d faults, %d requests for %d rows", counts.Faults, counts.Requests, rows)
	}
	if counts.Twice+counts.Early > 0 {
		t.Errorf("%d paid twice, %d asked too early", counts.Twice, counts.Early)
	}
	t.Logf("%.2f requests a row, %d faults", float64(counts.Requests)/rows, counts.Faults)
}

// TestLiveFinal: rows that the service will not answer are unscored with the
// reason, the others are judged, and the run has no verdict.
func TestLiveFinal(t *testing.T) {
	t.Parallel()
	const rows = 300
	// A row that is too long is asked in parts, and each part is another request.
	faults := slices.DeleteFunc(judgetest.Faults("final"), func(f judgetest.Fault) bool {
		return f == "400_context_length" || f == "413"
	})
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 3, Faults: faults, FaultShare: 0.1})
	stderr, code := l.run("final")
	m := l.manifest("final")
	if code != 4 || m.Status != runs.StatusPartial || m.Judge.Failed == 0 {
		t.Fatalf("exit code %d, %s, %+v\n%s", code, m.Status, m.Judge, stderr)
	}
	reasons := make(map[string]int)
	failed := make(map[string]bool)
	f, err := parquet.OpenResult(filepath.Join(l.runDir("final"), runs.ClaimsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var votes, reason, ids parquet.ColumnValues
	for g := range f.RowGroups() {
		for name, v := range map[string]*parquet.ColumnValues{"votes": &votes, "reason": &reason, "id": &ids} {
			if err := f.ReadColumn(g, name, nil, v); err != nil {
				t.Fatal(err)
			}
		}
		for i := range votes.Rows {
			if votes.Valid[i] && votes.Ints[i] == 0 {
				failed[ids.Strings[i]] = true
				reasons[reason.Strings[i]]++
			}
		}
	}
	if faults := l.server.Counts().Faults; len(failed) != faults {
		t.Errorf("%d rows are unscored, %d met a fault: %v", len(failed), faults, reasons)
	}
	if len(reasons) < 3 || reasons[""] > 0 {
		t.Errorf("reasons %v", reasons)
	}
}

// unevenLatency is lognormal with a median of 10 ms.
func unevenLatency(r *rand.Rand) time.Duration {
	return time.Duration(10e6 * math.Exp(0.5*r.NormFloat64()))
}

// TestLiveKilled kills runs after any number of answers and lets them go on: the results are
// those of a run left in peace, and only what was under way is paid again.
func TestLiveKilled(t *testing.T) {
	t.Parallel()
	const rows, concurrency = 300, 20
	peace := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1})
	started := time.Now()
	want := peace.must("peace")
	t.Logf("without latency: %v", time.Since(started))

	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: unevenLatency})
	random := rand.New(rand.NewPCG(5, 5))
	kills := times(50)
	for n, id := 0, 0; n < kills; id++ {
		name, store := "killed-"+itoa(id), "judge-"+itoa(id)+".sqlite"
		before, here := l.server.Counts().Answers, 0
		for {
			enough := l.server.Counts().Answers + random.IntN(rows/3)
			answered := func() bool { return n < kills && l.server.Counts().Answers >= enough }
			if runUntil(t, l.dir, answered, l.args(name, "--cache", store, "--set", "judge.concurrency="+itoa(concurrency))...) {
				break
			}
			n++
			here++
		}
		l.same(name, l.results(name), want)
		if paid := l.server.Counts().Answers - before; paid > rows+here*concurrency {
			t.Errorf("%s: %d answers were paid for %d rows and %d kills with %d calls under way", name, paid, rows, here, concurrency)
		}
		if id > 4*kills {
			t.Fatalf("only %d of %d runs could be killed", n, id)
		}
	}
}

// TestLiveShared runs three processes over the same rows and one store of
// answers: nothing is paid twice.
func TestLiveShared(t *testing.T) {
	t.Parallel()
	rows := times(400)
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: unevenLatency})
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		all.Go(func() {
			if stderr, code := l.run(id); code != 0 {
				t.Errorf("run %s: exit code %d\n%s", id, code, stderr)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	if twice := l.server.Counts().Twice; twice > 0 || l.server.Counts().Answers > rows {
		t.Errorf("%d answers for %d rows, %d paid twice", l.server.Counts().Answers, rows, twice)
	}
	want := l.results("a")
	l.same("b", l.results("b"), want)
	l.same("c", l.results("c"), want)
}

// TestLiveBudget: the budget stops a run before it is passed, exit code 4, and a
// larger one lets it go on.
func TestLiveBudget(t *testing.T) {
	t.Parallel()
	const rows, budget = 300, 0.02
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: judgetest.Constant(2 * time.Millisecond)})
	stderr, code := l.run("poor", "--max-cost", fmt.Sprint(budget))
	if code != 4 || !strings.Contains(stderr, "budget") || !strings.Contains(stderr, "--max-cost") || !strings.Contains(stderr, "go on with: ") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var one int64 // the dearest call
	for _, e := range l.server.Log() {
		one = max(one, e.NanoUSD)
	}
	spent, most := l.server.Counts().SpentNanoUSD, int64(budget*1e9)
	if spent > most+one || spent < most/2 {
		t.Errorf("spent %d of %d nano-USD; a call costs at most %d", spent, most, one)
	}
	if _, code := l.run("poor", "--max-cost", fmt.Sprint(budget)); code != 4 || l.server.Counts().SpentNanoUSD > most+one {
		t.Errorf("the same budget again: exit code %d, spent %d", code, l.server.Counts().SpentNanoUSD)
	}
	rich := l.must("poor", "--max-cost", "5")
	if j, spent := l.manifest("poor").Judge, float64(l.server.Counts().SpentNanoUSD)/1e9; j.Cached != 0 || j.Calls != rows || math.Abs(*j.CostUSD-spent) > 1e-9 || math.Abs(*j.SpentUSD-spent) > 1e-9 {
		t.Errorf("%d calls, %d from the store, cost %v, spent %v; the service says %v", j.Calls, j.Cached, *j.CostUSD, *j.SpentUSD, spent)
	}
	l.same("two budgets", l.must("whole"), rich)
	l.noKey()
}

// TestLiveStops: what no request can succeed after ends the run with exit code 4
// and says what to do; once that is done, it goes on.
func TestLiveStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config judgetest.ServerConfig
		key    string
		model  string
		want   string
	}{
		{"401", judgetest.ServerConfig{Seed: 1}, "sk-or-v1-wrong", "fake/judge", "OPENROUTER_API_KEY"},
		{"402", judgetest.ServerConfig{Seed: 1, CreditNanoUSD: 5_000_000}, fakeKey, "fake/judge", "credits"},
		{"404", judgetest.ServerConfig{Seed: 1}, fakeKey, "fake/nobody", "fake/nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLiveTest(t, 200, c.config)
			keys.Store(l.dir, c.key)
			stderr, code := l.run("stopped", "--model", c.model)
			if code != 4 || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "hint: ") {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			if strings.Contains(stderr, c.key) {
				t.Errorf("the key is printed:\n%s", stderr)
			}
			if n := l.server.Counts().Requests; c.name != "402" && n > 100 {
				t.Errorf("%d requests although none can succeed", n)
			}
			l.noKey()
			// A key that is refused costs nothing, one that is used up a call.
			asked := l.server.Counts().Requests
			_, code = l.run("again", "--model", c.model)
			if more := l.server.Counts().Requests - asked; code != 4 || c.name != "404" && (more > 1 || c.name == "401" && asked+more > 0) {
				t.Errorf("again: exit code %d after %d calls, %d before", code, more, asked)
			}
		})
	}
}

// TestLiveNoCache: without a cache nothing of the answers is left, but a killed
// run goes on from what it paid for.
func TestLiveNoCache(t *testing.T) {
	t.Parallel()
	const rows = 300
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Latency: judgetest.Constant(20 * time.Millisecond)})
	args := l.args("bare", "--set", "judge.concurrency=10")
	args[slices.Index(args, "judge.sqlite")] = "off"
	if runUntil(t, l.dir, func() bool { return l.server.Counts().Answers >= rows/3 }, args...) {
		t.Fatal("the run was not killed")
	}
	paid := l.server.Counts().Answers
	mustIbid(t, l.dir, args...)
	if n := l.server.Counts().Answers; n > rows+10 {
		t.Errorf("%d answers, %d before the kill, for %d rows", n, paid, rows)
	}
	onlyResults(t, l.runDir("bare"), "answers.parquet", "calls.parquet", "claims.parquet", "quotes.parquet", "report.html", "texts.parquet", "verdicts.parquet")
}

// TestLivePanel: two models judge together, both are paid, and the manifest says
// how they agree.
func TestLivePanel(t *testing.T) {
	t.Parallel()
	const rows = 60
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Reply: func(p *judgetest.Prompt) string {
		a := judgetest.OverlapAnswer(p)
		for i := range a.Claims {
			if c := &a.Claims[i]; c.Joint == "partial" {
				c.Joint = "none"
			}
		}
		return a.String()
	}})
	l.must("panel", "--model", "[fake/judge, other/judge]")
	m := l.manifest("panel")
	if n := l.server.Counts().Answers; n != 2*rows || m.Judge.Calls != 2*rows || len(m.Judge.Answered) != 2 {
		t.Errorf("%d answers for %d rows and two models; %+v", n, rows, m.Judge)
	}
	if len(m.Judge.Panel) != 1 {
		t.Fatalf("panel: %+v", m.Judge.Panel)
	}
	p := m.Judge.Panel[0]
	if p.Models != [2]string{"fake/judge", "other/judge"} || p.Claims != m.Claims || p.Agreement == nil || *p.Agreement != 1 {
		t.Errorf("panel: %+v, %d claims", p, m.Claims)
	}
}

// TestLiveTampering: what the judge says of attempts to steer it is counted,
// warned of, and shown with the row, next to what was asked.
func TestLiveTampering(t *testing.T) {
	t.Parallel()
	l := newLiveTest(t, 20, judgetest.ServerConfig{Seed: 1, Reply: func(p *judgetest.Prompt) string {
		a := judgetest.OverlapAnswer(p)
		if strings.Contains(p.Evidence[0].Text, "Tower 3 ") {
			a.Tampering = "in_evidence"
		}
		return a.String()
	}})
	_, stderr, code := command(t, l.dir, slices.DeleteFunc(l.args("steered"), func(s string) bool { return s == "-q" })...)
	if code != 0 || !strings.Contains(stderr, "rows that try to steer the judge: 1") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if n := l.manifest("steered").Judge.Tampering; n != 1 {
		t.Errorf("%d rows", n)
	}
	shown := mustIbid(t, l.dir, "show", "runs/steered", "q-000003", "-v")
	for _, want := range []string{"tampering: the judge found an attempt to steer it in the evidence", "fake/judge", "cost"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
}

// TestLiveClaims has the model make claims of sentences: their ids are stable, they
// keep the place of their sentence, a rerun asks nothing, faults change nothing, and
// an invented number is asked about again and then leaves the row unscored.
func TestLiveClaims(t *testing.T) {
	t.Parallel()
	var invent atomic.Bool
	reply := func(p *judgetest.Prompt) string {
		text := judgetest.Overlap(p)
		if invent.Load() && p.Sentences != nil {
			return strings.Replace(text, "90 m", "4711 m", 1)
		}
		return text
	}
	l := newLiveTest(t, 1, judgetest.ServerConfig{Seed: 1, Reply: reply})
	answer := `{"id":"q","query":"How tall?","answer":"Tower A is 90 m high, and tower B is 80 m high [1]. Is that much?","citations":[{"doc":"d","start":0,"end":22,"answer_start":47,"answer_end":50}],"documents":[{"doc":"d","text":"Tower A is 90 m high. B is low."}]}`
	if err := os.WriteFile(filepath.Join(l.dir, "a.jsonl"), []byte(answer+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, l.dir, "import", "jsonl", "a.jsonl", "-o", "answers.parquet"); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.Rename(filepath.Join(l.dir, "answers.parquet"), filepath.Join(l.dir, "towers.parquet")); err != nil {
		t.Fatal(err)
	}
	first := l.must("first", "--set", "claims=model")
	claims, err := runs.Claims.OfRow(l.runDir("first"), 0)
	if err != nil || len(claims) != 2 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	for i, want := range []struct{ id, text string }{{"0.0", "Tower A is 90 m high"}, {"0.1", "tower B is 80 m high."}} {
		c := claims[i]
		if c.ClaimID != want.id || c.Text != want.text || len(c.Citations) != 1 || c.Start == nil || *c.Start != 0 || *c.End != 51 {
			t.Errorf("claim %d: %+v, want %+v", i, c, want)
		}
	}
	m := l.manifest("first")
	if n := l.server.Counts().Requests; n != 2 || m.Judge.Calls != 2 || !strings.Contains(m.Judge.Prompt, "+") {
		t.Errorf("%d requests, %+v", n, m.Judge)
	}
	l.same("again", l.must("second", "--set", "claims=model"), first)
	if n := l.server.Counts().Requests - 2; n != 0 {
		t.Errorf("%d requests although every answer is known", n)
	}
	if stderr, code := l.run("plan", "--set", "claims=model", "--dry-run"); code != 0 {
		t.Error(stderr)
	}

	invent.Store(true)
	if stderr, code := l.run("invented", "--set", "claims=model", "--cache", "other.sqlite"); code != 4 || !strings.Contains(stderr, "could not answer") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if m := l.manifest("invented"); m.Judge.Coverage() != 0 {
		t.Errorf("%+v", m.Judge)
	}
	if _, stderr, code := command(t, l.dir, "run", "towers.parquet", "--judge", "lexical", "--set", "claims=model"); code != 2 || !strings.Contains(stderr, "claims: sentences") {
		t.Errorf("offline: exit code %d: %s", code, stderr)
	}
}
