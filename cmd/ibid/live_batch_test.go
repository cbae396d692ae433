package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ibid/judge/judgetest"
)

// batchKinds are the judges whose services take batches, by their forms.
var batchKinds = map[judgetest.BatchForm]string{judgetest.OpenRouterBatches: "openrouter", judgetest.OpenAIBatches: "openai"}

// batchArgs are what makes a run ask in batches, in calls one at a time beside them.
func batchArgs(form judgetest.BatchForm, more ...string) []string {
	args := []string{"--judge", batchKinds[form], "--set", "judge.batch=true", "--set", "judge.concurrency=1", "--set", "judge.timeout=3s"}
	if form == judgetest.OpenAIBatches { // which tells no prices
		args = append(args, "--set", "judge.api_key_env=OPENROUTER_API_KEY", "--set", "judge.prices={prompt: 0.15, completion: 0.6}")
	}
	return append(args, more...)
}

var badReplies = []judgetest.Fault{"null_content", "schema_mismatch", "missing_items", "unknown_id", "plain_prose"}

// TestLiveBatchKilled asks about 1,000 rows in batches and kills the run eleven times, of which
// make test has a quarter: when the service has its first batch and has not answered the
// submission, and then after one to four requests more. Lines expire, fail and have replies of no use. There is
// one bill, and the verdicts are those of calls.
func TestLiveBatchKilled(t *testing.T) {
	t.Parallel()
	rows, most := times(1000), times(11)
	live := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1})
	for _, kind := range batchKinds { // whose name stands with every verdict
		live.must(kind, "--judge", kind, "--set", "judge.api_key_env=OPENROUTER_API_KEY")
	}
	whole := live.server.Counts().SpentNanoUSD
	for form := range batchKinds {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Batches: &judgetest.BatchConfig{
				Form: form, Silent: 1, ExpiredShare: 0.05, FailedShare: 0.02, BadShare: 0.03, BadReplies: badReplies,
			}})
			random, kills := rand.New(rand.NewPCG(3, 3)), 0
			for {
				enough := l.server.Counts().Served + 1 + random.IntN(4)
				die := func() bool { return kills < most && l.server.Counts().Served >= enough }
				if kills == 0 {
					die = func() bool { return len(l.server.Batches()) > 0 }
				}
				if runUntil(t, l.dir, die, l.args("killed", batchArgs(form)...)...) {
					break
				}
				kills++
			}
			if kills != most {
				t.Errorf("the run ended after %d kills", kills)
			}
			l.same("in batches", l.verdicts("killed"), live.verdicts(batchKinds[form]))
			l.server.EndBatches(false)
			paid := l.server.Counts()
			// A kill loses the call that is under way, and no line of a batch.
			if paid.TwiceInBatches > 0 || paid.Twice > kills {
				t.Errorf("%d answers are paid twice with %d kills, %d of them in batches", paid.Twice, kills, paid.TwiceInBatches)
			}
			batches, lines, answered, expired := l.server.Batches(), 0, 0, 0
			for _, b := range batches {
				lines, answered, expired = lines+b.Lines, answered+b.Answered, expired+b.Expired
			}
			spent := l.server.Counts().SpentNanoUSD
			if spent > whole*6/10 {
				t.Errorf("$%.4f in batches, $%.4f in calls", float64(spent)/1e9, float64(whole)/1e9)
			}
			m := l.manifest("killed")
			if counted := int64(*m.Judge.SpentUSD * 1e9); counted > spent+int64(lines) || counted < spent-int64(lines)-int64(kills)*2_000_000 {
				t.Errorf("the run counts %d nano-USD, the bill is %d", counted, spent)
			}
			t.Logf("%d kills, %d questions, %d batches of %d lines (%d answered, %d expired), %d calls, $%.4f; in calls alone $%.4f",
				kills, paid.Questions, len(batches), lines, answered, expired, l.server.Counts().Requests, float64(spent)/1e9, float64(whole)/1e9)
			l.noKey()
		})
	}
}

// TestLiveBatchInterrupted interrupts a run that waits for its batch: it says which
// batch goes on and how to go on itself, and the batch is not sent again.
func TestLiveBatchInterrupted(t *testing.T) {
	t.Parallel()
	for form := range batchKinds {
		t.Run(string(form), func(t *testing.T) {
			l := newLiveTest(t, 40, judgetest.ServerConfig{Batches: &judgetest.BatchConfig{Form: form}})
			l.server.HoldBatches(true)
			process, stderr, ended := l.start("waits", batchArgs(form)...)
			l.until("it waited for its batch", ended, func() bool { return len(l.server.Batches()) == 1 && l.server.Batches()[0].Looks > 1 })
			if err := process.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			code := exitCode(<-ended)
			if want := "ibid: interrupted after 0 of 40 rows; every answer is kept; 1 batch goes on at the service: batch-1000\nhint: go on with: ibid run "; code != 130 || !strings.Contains(stderr.String(), want) {
				t.Errorf("exit code %d\n%swant\n%s", code, stderr, want)
			}
			loud := slices.DeleteFunc(l.args("waits", batchArgs(form, "--set", "judge.batch=false", "--max-cost", "0.000001")...), func(s string) bool { return s == "-q" })
			if _, out, _ := command(t, l.dir, loud...); !strings.Contains(out, "39 questions of this run are in batches that are paid for") {
				t.Errorf("in calls: %s", out)
			}
			l.server.HoldBatches(false)
			l.must("waits", batchArgs(form)...)
			l.server.EndBatches(false)
			if twice := l.server.Counts().Twice; twice > 0 || len(l.server.Batches()) != 1 || l.server.Counts().Requests != 1 {
				t.Errorf("%d batches, %d calls, %d paid twice", len(l.server.Batches()), l.server.Counts().Requests, twice)
			}
		})
	}
}

// TestLiveBatchShared runs three processes over the same rows and one store of answers:
// a question is in one batch, and each run has the verdicts.
func TestLiveBatchShared(t *testing.T) {
	t.Parallel()
	const rows = 200
	l := newLiveTest(t, rows, judgetest.ServerConfig{Seed: 1, Batches: &judgetest.BatchConfig{ExpiredShare: 0.1}})
	var all sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		all.Go(func() {
			if stderr, code := l.run(id, batchArgs(judgetest.OpenRouterBatches)...); code != 0 {
				t.Errorf("run %s: exit code %d\n%s", id, code, stderr)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	l.server.EndBatches(false)
	if n := l.server.Counts(); n.Twice > 0 || n.Questions != rows {
		t.Errorf("%d questions, %d paid twice", n.Questions, n.Twice)
	}
	l.same("b", l.results("b"), l.results("a"))
	l.same("c", l.results("c"), l.results("a"))
	l.server.Close() // what is kept needs no service
	l.same("d", l.must("d", batchArgs(judgetest.OpenRouterBatches)...), l.results("a"))
}

// TestLiveBatchResubmit: a batch that its service does not know any more stops the run,
// which asks again where it is told to.
func TestLiveBatchResubmit(t *testing.T) {
	t.Parallel()
	l := newLiveTest(t, 40, judgetest.ServerConfig{Batches: &judgetest.BatchConfig{}})
	l.server.HoldBatches(true)
	args := batchArgs(judgetest.OpenRouterBatches, "--set", "judge.timeout=1s")
	if runUntil(t, l.dir, func() bool { return len(l.server.Batches()) == 1 && l.server.Batches()[0].Looks > 0 }, l.args("gone", args...)...) {
		t.Fatal("the run was not killed")
	}
	l.server.ForgetBatches()
	l.server.HoldBatches(false)
	stderr, code := l.run("gone", args...)
	if code != 4 || !strings.Contains(stderr, "nobody can tell what became of a batch: the batch batch-1000 with 39 questions: status 404") ||
		!strings.Contains(stderr, "--resubmit asks its questions again, which may be paid twice; then go on with: ") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if n := l.server.Counts().Requests; n != 1 {
		t.Errorf("%d calls", n)
	}
	l.must("gone", append(args, "--resubmit")...)
	if batches := l.server.Batches(); len(batches) != 1 || batches[0].Answered != 38 { // and two were asked alone
		t.Errorf("batches %+v", batches)
	}
}

// TestLiveBatchRounds: claims that a model makes come in a first batch, what is asked of
// them in the next, up to the verdicts of calls alone.
func TestLiveBatchRounds(t *testing.T) {
	t.Parallel()
	const rows = 80
	doubtful := func(p *judgetest.Prompt) string {
		if p.Sentences != nil {
			return judgetest.Overlap(p)
		}
		a := judgetest.OverlapAnswer(p)
		for i := range a.Claims {
			if c := &a.Claims[i]; len(c.Checks) > 0 && c.Joint == "mostly" {
				c.Joint = "unsure"
			}
		}
		return a.String()
	}
	config := judgetest.ServerConfig{Seed: 1, Reply: doubtful}
	live := newLiveTest(t, rows, config)
	live.must("live", "--set", "claims=model", "--set", "min_coverage=0")
	config.Batches = &judgetest.BatchConfig{ExpiredShare: 0.1}
	l := newLiveTest(t, rows, config)
	l.must("rounds", batchArgs(judgetest.OpenRouterBatches, "--set", "claims=model", "--set", "min_coverage=0", "--max-cost", "1")...)
	l.same("in rounds", l.verdicts("rounds"), live.verdicts("live"))
	batches := l.server.Batches()
	if twice := l.server.Counts().Twice; twice > 0 || len(batches) < 3 {
		t.Errorf("%d batches, %d paid twice", len(batches), twice)
	}
	sizes := make([]string, len(batches))
	for i, b := range batches {
		sizes[i] = fmt.Sprint(b.Lines)
	}
	t.Logf("batches of %s lines, %d calls", strings.Join(sizes, ", "), l.server.Counts().Requests)
}
