package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// A driftTest is a liveTest with anchors and a judge that can become another one.
type driftTest struct {
	*liveTest
	strict *atomic.Bool // the judge now calls partial what it called mostly
}

const (
	driftRows    = 60
	driftAnchors = 40
)

func newDriftTest(t *testing.T, config judgetest.ServerConfig) *driftTest {
	t.Helper()
	strict := new(atomic.Bool)
	config.Seed = 1
	config.Reply = func(p *judgetest.Prompt) string {
		a := judgetest.OverlapAnswer(p)
		for i := range a.Claims {
			c := &a.Claims[i]
			if strict.Load() && c.Joint == "mostly" {
				c.Joint = "partial"
			}
			for k := range c.Checks {
				if strict.Load() && c.Checks[k].Support == "mostly" {
					c.Checks[k].Support = "partial"
				}
			}
		}
		return a.String()
	}
	d := &driftTest{newLiveTest(t, driftRows, config), strict}
	if err := writeTowers(filepath.Join(d.dir, "anchors.parquet"), driftAnchors); err != nil {
		t.Fatal(err)
	}
	return d
}

// night runs with anchors.
func (d *driftTest) night(id string, more ...string) (stderr string, code int) {
	d.Helper()
	return d.run(id, append([]string{"--set", "judge.anchors.dataset=anchors.parquet"}, more...)...)
}

func (d *driftTest) mustNight(id string, more ...string) {
	d.Helper()
	if stderr, code := d.night(id, more...); code != 0 {
		d.Fatalf("run %s: exit code %d\n%s", id, code, stderr)
	}
}

// TestLiveDrift: every run asks about the anchors anew, though the answers about its
// rows are kept; nights with the same judge compare, and after the judge moved there
// is neither a comparison nor a verdict of a gate.
func TestLiveDrift(t *testing.T) {
	t.Parallel()
	d := newDriftTest(t, judgetest.ServerConfig{})
	d.mustNight("one")
	asked := d.server.Counts().Requests
	d.mustNight("two")
	again := d.server.Counts().Requests - asked
	one := d.manifest("one")
	if a := one.Anchors; a == nil || a.Rows != driftAnchors || int64(again) != a.Calls || again == 0 || a.SpentUSD == nil || *a.SpentUSD <= 0 {
		t.Errorf("anchors %+v, %d requests in the second night", a, again)
	}
	if j := one.Judge; j.SpentUSD == nil || !sameUSD(*j.SpentUSD, *j.CostUSD) {
		t.Errorf("spent %v, cost %v", j.SpentUSD, j.CostUSD)
	}
	d.same("without anchors", d.must("plain"), d.results("one"))
	d.same("second night", d.results("two"), d.results("one"))

	out, stderr, code := command(t, d.dir, "compare", "runs/one", "runs/two")
	if code != 0 || !strings.Contains(out, "note: the judge did not move between one and two: of ") || !strings.Contains(out, "(p=1.000)") {
		t.Errorf("same judge: exit code %d\n%s%s", code, out, stderr)
	}
	out, _, code = command(t, d.dir, "compare", "runs/one", "runs/plain")
	if code != 0 || !strings.Contains(out, "note: whether the judge moved between one and plain was not checked: plain has no anchors") {
		t.Errorf("no anchors: exit code %d\n%s", code, out)
	}

	d.strict.Store(true)
	stderr, code = d.night("three", "--baseline", "runs/one", "--gate", "diff(citation_correctness) >= -1")
	if code != 4 || !strings.Contains(stderr, "gate without verdict: diff(citation_correctness) >= -1 (the judge moved between one and three: of ") {
		t.Errorf("run with a baseline: exit code %d\n%s", code, stderr)
	}
	d.same("rows of the third night", d.results("three"), d.results("one"))
	d.refused(t)
	d.gated(t)
	history := mustIbid(t, d.dir, "history", "runs", "--metric", "citation_correctness")
	if strings.Count(history, "\nchanged judge, by its anchors\n") != 1 {
		t.Errorf("history:\n%s", history)
	}
}

// refused wants no comparison of the first night with the third, and every flipped
// verdict named.
func (d *driftTest) refused(t *testing.T) {
	out, stderr, code := command(t, d.dir, "compare", "runs/one", "runs/three", "--json")
	var view struct {
		Schema string
		Drifts []compare.Drift
	}
	if err := json.Unmarshal([]byte(out), &view); err != nil || code != 4 || view.Schema != "ibid.drift/v1" || len(view.Drifts) != 1 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	drift := view.Drifts[0]
	if !drift.Moved || drift.Gained > 0 || drift.Lost < 20 || int(drift.Lost) != len(drift.Flipped) || drift.P == nil || *drift.P > 1e-4 {
		t.Errorf("%+v", drift)
	}
	text, stderr, code := command(t, d.dir, "compare", "runs/one", "runs/three", "-v")
	if code != 4 || !strings.Contains(stderr, "ibid: not compared: the judge moved between one and three: of ") || !strings.Contains(stderr, "hint: --force ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	for i := range drift.Flipped {
		f := &drift.Flipped[i]
		if f.LabelBase != "mostly" || f.LabelAfter != "partial" || f.Before != 0.8 || f.After != 0.5 || !strings.HasPrefix(f.ID, "q-") {
			t.Errorf("flipped: %+v", f)
		}
		if !strings.Contains(text, f.Where()) {
			t.Errorf("%s is not named:\n%s", f.Where(), text)
		}
	}
	if table := mustFail(t, d.dir, 4, "compare", "runs/one", "runs/three", "--format", "csv"); strings.Count(table, "\n") != len(drift.Flipped)+1 {
		t.Errorf("%d lines of CSV for %d flips", strings.Count(table, "\n"), len(drift.Flipped))
	}
	forced := mustIbid(t, d.dir, "compare", "runs/one", "runs/three", "--force")
	if !strings.Contains(forced, "note: compared by force, although the judge moved between one and three") {
		t.Errorf("by force:\n%s", forced)
	}
	mustFail(t, d.dir, 4, "compare", "runs/one", "runs/two", "runs/three")
}

// gated wants no verdict of gates that compare, and one of those that do not.
func (d *driftTest) gated(t *testing.T) {
	out := mustFail(t, d.dir, 4, "gate", "runs/three", "runs/one", "--gate", "diff(citation_correctness) >= -1", "--gate", "citation_correctness > 1")
	if !strings.Contains(out, "NONE") || !strings.Contains(out, "FAIL") || !strings.Contains(out, "claim or cited document") {
		t.Errorf("gate:\n%s", out)
	}
	out = mustFail(t, d.dir, 4, "gate", "runs/three", "runs/one", "--gate", "p(citation_correctness) >= 0", "--json")
	var view struct{ Drift *compare.Drift }
	if err := json.Unmarshal([]byte(out), &view); err != nil || view.Drift == nil || !view.Drift.Moved || len(view.Drift.Flipped) == 0 {
		t.Errorf("%v\n%s", err, out)
	}
	mustIbid(t, d.dir, "gate", "runs/three", "--gate", "citation_correctness >= 0")
	mustFail(t, d.dir, 4, "compare", "runs/one", "runs/three", "--gate", "diff(citation_correctness) >= -1")
	mustIbid(t, d.dir, "gate", "runs/two", "runs/one", "--gate", "diff(citation_correctness) >= -1")
}

// mustFail runs a command that has to end with that exit code.
func mustFail(t *testing.T, dir string, want int, args ...string) string {
	t.Helper()
	out, stderr, code := command(t, dir, args...)
	if code != want {
		t.Fatalf("ibid %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, out, stderr)
	}
	return out
}

// TestLiveDriftKilled: a run that is killed at any moment pays for no anchor again,
// and ends in the same bytes.
func TestLiveDriftKilled(t *testing.T) {
	t.Parallel()
	const concurrency, most = 5, 12
	d := newDriftTest(t, judgetest.ServerConfig{Latency: judgetest.Constant(30 * time.Millisecond)})
	started := time.Now()
	d.mustNight("peace")
	took, paid := time.Since(started), d.server.Counts().Answers
	random := rand.New(rand.NewPCG(3, 3))
	args := d.args("killed", "--cache", "other.sqlite", "--set", "judge.anchors.dataset=anchors.parquet", "--set", "judge.concurrency="+itoa(concurrency))
	kills := 0
	for {
		moment := time.Duration((0.2 + 0.6*random.Float64()) * float64(took))
		begun := time.Now()
		if runUntil(t, d.dir, func() bool { return kills < most && time.Since(begun) >= moment }, args...) {
			break
		}
		kills++
	}
	d.same("killed", d.results("killed"), d.results("peace"))
	if more := d.server.Counts().Answers - paid; kills == 0 || more > paid+kills*concurrency {
		t.Errorf("%d answers after %d kills, %d in peace", more, kills, paid)
	}
	onlyResults(t, filepath.Join(d.runDir("killed"), runs.AnchorsDir), "calls.parquet", "claims.parquet", "verdicts.parquet")
	if out := mustIbid(t, d.dir, "compare", "runs/peace", "runs/killed"); !strings.Contains(out, "the judge did not move") {
		t.Errorf("compare:\n%s", out)
	}
	d.noKey()
}

// TestLiveDriftBudget: anchors and rows share one budget, whichever of them it ends
// at, and a forecast says what both take.
func TestLiveDriftBudget(t *testing.T) {
	t.Parallel()
	d := newDriftTest(t, judgetest.ServerConfig{Latency: judgetest.Constant(2 * time.Millisecond)})
	d.mustNight("whole")
	whole := d.manifest("whole")
	anchors, rows := *whole.Anchors.SpentUSD, *whole.Judge.SpentUSD
	if all := float64(d.server.Counts().SpentNanoUSD) / 1e9; !sameUSD(anchors+rows, all) {
		t.Errorf("the manifest has $%v and $%v, the service $%v", anchors, rows, all)
	}
	for _, budget := range []float64{anchors / 2, anchors + rows/2} {
		before := d.server.Counts().SpentNanoUSD
		id := fmt.Sprintf("poor-%.0f", budget*1e6)
		args := []string{"--cache", id + ".sqlite", "--max-cost"}
		stderr, code := d.night(id, append(args, fmt.Sprint(budget))...)
		what := "rows are saved"
		if budget < anchors {
			what = "anchors are saved"
		}
		if code != 4 || !strings.Contains(stderr, "budget") || !strings.Contains(stderr, what) || !strings.Contains(stderr, "go on with: ") {
			t.Fatalf("$%v: exit code %d\n%s", budget, code, stderr)
		}
		if _, code = d.night(id, append(args, fmt.Sprint(budget))...); code != 4 {
			t.Errorf("the same budget again: exit code %d", code)
		}
		spent := float64(d.server.Counts().SpentNanoUSD-before) / 1e9
		if spent > budget*1.1 || spent < budget/2 {
			t.Errorf("spent $%v of $%v", spent, budget)
		}
		d.mustNight(id, append(args, "5")...)
		m := d.manifest(id)
		if spent = float64(d.server.Counts().SpentNanoUSD-before) / 1e9; !sameUSD(*m.Anchors.SpentUSD+*m.Judge.SpentUSD, spent) {
			t.Errorf("the manifest has $%v and $%v, the service $%v", *m.Anchors.SpentUSD, *m.Judge.SpentUSD, spent)
		}
		d.same(id, d.results(id), d.results("whole"))
	}
	out := mustIbid(t, d.dir, "run", "towers.parquet", "--judge", "openrouter", "--model", "fake/judge", "--cache", "judge.sqlite", "--dry-run",
		"--set", "judge.base_url="+d.server.URL(), "--set", "judge.anchors.dataset=anchors.parquet")
	if want := fmt.Sprintf("%d rows, asked anew by every run: %d calls, about $", driftAnchors, whole.Anchors.Calls); !strings.Contains(out, want) {
		t.Errorf("forecast without %q:\n%s", want, out)
	}
}

// TestLiveDriftInterrupted: an interrupted run says how many anchors it has, and goes
// on.
func TestLiveDriftInterrupted(t *testing.T) {
	t.Parallel()
	d := newDriftTest(t, judgetest.ServerConfig{Latency: judgetest.Constant(200 * time.Millisecond)})
	args := d.args("stopped", "--set", "judge.anchors.dataset=anchors.parquet", "--set", "judge.concurrency=2")
	cmd := exec.CommandContext(t.Context(), "ibid", args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = d.dir, environ(d.dir), &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for d.server.Counts().Answers == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(cmd.Wait()); code != 130 || !strings.Contains(stderr.String(), fmt.Sprintf("interrupted: 0 of %d anchors are saved", driftAnchors)) {
		t.Errorf("exit code %d\n%s", code, &stderr)
	}
	_, hint, code := command(t, d.dir, "show", "runs/stopped/anchors")
	if code != 2 || !strings.Contains(hint, "go on with: ibid run towers.parquet --out runs --id stopped ") {
		t.Errorf("exit code %d\n%s", code, hint)
	}
	d.mustNight("stopped")
	if a := d.manifest("stopped").Anchors; a == nil || a.Unanswered > 0 || a.Rows != driftAnchors {
		t.Errorf("anchors %+v", a)
	}
}

// TestLiveDriftUnanswered: anchors that the judge could not answer are no reason to
// doubt the run, but the same command asks about their part of the anchors again, and
// all of it is counted.
func TestLiveDriftUnanswered(t *testing.T) {
	t.Parallel()
	d := newDriftTest(t, judgetest.ServerConfig{Faults: []judgetest.Fault{"refusal"}, FaultShare: 1, MaxFaults: 5})
	d.mustNight("half")
	m := d.manifest("half")
	if m.Status != runs.StatusPartial || m.Anchors.Unanswered < 5 || m.Judge.Failed > 0 {
		t.Fatalf("%s, anchors %+v, judge %+v", m.Status, m.Anchors, m.Judge)
	}
	asked := d.server.Counts().Requests
	d.mustNight("half")
	m = d.manifest("half")
	if n := d.server.Counts().Requests - asked; n > driftAnchors || m.Status != runs.StatusComplete || m.Anchors.Unanswered > 0 {
		t.Errorf("%d requests; %s, anchors %+v", n, m.Status, m.Anchors)
	}
	if all := float64(d.server.Counts().SpentNanoUSD) / 1e9; !sameUSD(*m.Anchors.SpentUSD+*m.Judge.SpentUSD, all) {
		t.Errorf("the manifest has $%v and $%v, the service $%v", *m.Anchors.SpentUSD, *m.Judge.SpentUSD, all)
	}
}

func sameUSD(a, b float64) bool { return a-b < 1e-7 && b-a < 1e-7 }
