package harness_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge"
)

// A remoteJudge judges as the lexical one does, after a wait, as a judge over a
// network would.
type remoteJudge struct {
	local judge.Judge
	wait  func(row string) time.Duration
	fail  func(row string) error
	meet  func(now int64) // called while a row is asked, with how many are

	asked, now, most atomic.Int64
	mu               sync.Mutex
	rows             map[string]int // how often each was asked
}

func newRemoteJudge() *remoteJudge {
	return &remoteJudge{
		local: judge.NewLexical(), rows: make(map[string]int),
		wait: func(string) time.Duration { return 0 }, fail: func(string) error { return nil },
		meet: func(int64) {},
	}
}

// together lets no row have its answer before n are asked at the same time.
func (r *remoteJudge) together(t *testing.T, n int64) {
	met := make(chan struct{})
	var once sync.Once
	r.meet = func(now int64) {
		if now >= n {
			once.Do(func() { close(met) })
		}
		select {
		case <-met:
		case <-time.After(20 * time.Second):
			once.Do(func() {
				t.Errorf("%d rows were not asked at once", n)
				close(met)
			})
		}
	}
}

func (r *remoteJudge) Info() judge.Info {
	return judge.Info{Kind: "remote", Model: "lexical", Prompt: "p1"}
}

func (r *remoteJudge) Judge(ctx context.Context, q *judge.Request) (*judge.Verdict, error) {
	r.asked.Add(1)
	defer r.now.Add(-1)
	now := r.now.Add(1)
	for {
		most := r.most.Load()
		if now <= most || r.most.CompareAndSwap(most, now) {
			break
		}
	}
	r.mu.Lock()
	r.rows[q.Row]++
	r.mu.Unlock()
	r.meet(now)
	select {
	case <-time.After(r.wait(q.Row)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := r.fail(q.Row); err != nil {
		return nil, err
	}
	v, err := r.local.Judge(ctx, q)
	if v != nil {
		v.Calls = []judge.Call{{Model: "m", Provider: "p", Attempts: 1, PromptTokens: 10, CompletionTokens: 5, CostNanoUSD: 1000, LatencyMillis: 3, Status: "ok"}}
	}
	return v, err
}

func (r *remoteJudge) Usage() judge.Usage { return judge.Usage{Asked: r.asked.Load()} }
func (r *remoteJudge) Close() error       { return nil }

// judgedRow is a row with a document, two claims and a citation.
func judgedRow(i int) *ibid.Answer {
	doc := fmt.Sprintf("The tower number %d is %d metres high. It was built of stone.", i, 100+i%40)
	span := func(start, end int64) ibid.Citation {
		return ibid.Citation{Doc: "d", Start: ibid.Some(start), End: ibid.Some(end)}
	}
	return &ibid.Answer{
		ID: fmt.Sprintf("q-%05d", i), Query: "How high is it?", HasCitations: true, HasDocuments: true,
		Answer:    fmt.Sprintf("Tower %d is %d metres high. It is made of stone.", i, 100+i%37),
		Citations: []ibid.Citation{span(0, 30)},
		Documents: []ibid.Document{{Doc: "d", Text: doc, HasText: true}},
	}
}

func judgedRows(n int) []*ibid.Answer {
	rows := make([]*ibid.Answer, n)
	for i := range rows {
		rows[i] = judgedRow(i)
	}
	return rows
}

// jitter is a wait that depends on the row alone.
func jitter(row string) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(row))
	return time.Duration(h.Sum32()%3) * time.Millisecond
}

func liveRun(t *testing.T, path, out string, j judge.Judge, set ...string) (*harness.Outcome, error) {
	t.Helper()
	config, err := configs.Load(configs.Options{Set: append([]string{"dataset=" + path, "out=" + out}, set...)})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: path, ID: "run", Judge: j}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan.Run(t.Context())
}

func allResults(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := results(t, dir)
	out[runs.ClaimsFile] = readFile(t, dir+"/"+runs.ClaimsFile)
	return out
}

// TestLiveJudge: rows wait on a live judge side by side, and the results are the
// bytes that a judge asked row by row gives, in whatever order answers come.
func TestLiveJudge(t *testing.T) {
	const rows = 1500
	path := writeRows(t, judgedRows(rows))
	slow := newRemoteJudge()
	slow.wait = jitter
	slow.together(t, 4*48)
	many, err := liveRun(t, path, t.TempDir(), slow)
	if err != nil {
		t.Fatal(err)
	}
	if most := slow.most.Load(); most != 4*48 {
		t.Errorf("%d rows were asked at once", most)
	}
	if slow.asked.Load() != rows {
		t.Errorf("asked %d times about %d rows", slow.asked.Load(), rows)
	}
	m := many.Manifest
	if m.Status != runs.StatusComplete || m.Judge.Calls != rows || m.Judge.Prompt != "p1" || m.Judge.PromptTokens != 10*rows ||
		len(m.Judge.Answered) != 1 || *m.Judge.CostUSD < 0.0014 || *m.Judge.CostUSD > 0.0016 {
		t.Errorf("manifest: %s, %+v", m.Status, m.Judge)
	}
	one := newRemoteJudge()
	single, err := liveRun(t, path, t.TempDir(), one, "performance.parallel_evaluation=false")
	if err != nil {
		t.Fatal(err)
	}
	if one.most.Load() != 1 {
		t.Errorf("%d rows at once, although nothing runs in parallel", one.most.Load())
	}
	if got, want := allResults(t, many.Dir), allResults(t, single.Dir); !maps.Equal(got, want) {
		t.Error("results depend on how many rows are asked at once")
	}
}

// TestLiveJudgeFailures: rows that a live judge did not answer are unscored with
// the reason, and running again asks again: this judge keeps no answers.
func TestLiveJudgeFailures(t *testing.T) {
	const rows = 600
	path, out := writeRows(t, judgedRows(rows)), t.TempDir()
	bad := newRemoteJudge()
	bad.fail = func(row string) error {
		if row == "q-00007/default" {
			return &judge.RowFailure{Row: row, Reason: "blocked", Err: errors.New("the model refused"), Calls: []judge.Call{{Model: "m", Attempts: 1, Status: "refusal"}}}
		}
		return nil
	}
	first, err := liveRun(t, path, out, bad)
	if err != nil {
		t.Fatal(err)
	}
	if m := first.Manifest; m.Status != runs.StatusPartial || m.Judge.Failed != 2 || m.Judge.Unanswered != 2 || m.Judge.Calls != rows {
		t.Errorf("status %s, judge %+v", m.Status, m.Judge)
	}
	f, err := parquet.OpenResult(first.Dir + "/" + runs.ClaimsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var reason parquet.ColumnValues
	if err := f.ReadColumn(0, "reason", nil, &reason); err != nil || reason.Strings[14] != "blocked: the model refused" {
		t.Errorf("reason %q, %v", reason.Strings[14], err)
	}
	// What a judge was found to be worth is of the verdicts of then.
	of := []string{filepath.Join(first.Dir, runs.CalibrationFile)}
	for _, path := range of {
		if err := os.WriteFile(path, []byte("{}"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	good := newRemoteJudge()
	second, err := liveRun(t, path, out, good)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range of {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a run that went on keeps what labels said of it before: %v", err)
		}
	}
	if second.Manifest.Status != runs.StatusComplete || good.asked.Load() != rows {
		t.Errorf("second run: status %s, asked %d", second.Manifest.Status, good.asked.Load())
	}
	whole, err := liveRun(t, path, t.TempDir(), newRemoteJudge())
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(allResults(t, second.Dir), allResults(t, whole.Dir)) {
		t.Error("a run in two goes differs from one in one go")
	}
}

// TestLiveJudgeStops: when the judge can go on no more, what is under way is
// waited for, the run says how to go on, and going on ends in the same bytes.
func TestLiveJudgeStops(t *testing.T) {
	const rows = 1500
	path, out := writeRows(t, judgedRows(rows)), t.TempDir()
	broke := newRemoteJudge()
	broke.wait = jitter
	broke.fail = func(string) error {
		if broke.asked.Load() > 700 {
			return &judge.StopError{Reason: judge.StopCredit, Hint: "add credits"}
		}
		return nil
	}
	_, err := liveRun(t, path, out, broke)
	var stopped *harness.StoppedError
	if !errors.As(err, &stopped) || stopped.Stop.Hint != "add credits" || stopped.Rows != rows {
		t.Fatalf("got %v", err)
	}
	if broke.now.Load() != 0 {
		t.Errorf("%d questions are still under way", broke.now.Load())
	}
	if asked := broke.asked.Load(); asked > 700+4*48 {
		t.Errorf("asked %d times, although it had stopped", asked)
	}
	second, err := liveRun(t, path, out, newRemoteJudge())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := liveRun(t, path, t.TempDir(), newRemoteJudge())
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(allResults(t, second.Dir), allResults(t, whole.Dir)) {
		t.Error("a run that was stopped differs from one that was not")
	}
}
