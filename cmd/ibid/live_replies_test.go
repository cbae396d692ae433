package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge/judgetest"
)

// shapeOfRows says what the rows of a test are like: so many claims that each cite their own
// sentence of a document of their own, which has so many other sentences, and one that cites
// nothing.
type shapeOfRows struct {
	rows, claims, long int
	first              int // number of the first row
	uncited            bool
}

func (s shapeOfRows) write(path string) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	for i := s.first; i < s.first+s.rows; i++ {
		var answer strings.Builder
		row := &ibid.Answer{ID: fmt.Sprintf("q-%06d", i), Query: "How high are the towers?", HasCitations: true, HasDocuments: true}
		for k := range s.claims {
			says := fmt.Sprintf("Tower %d of block %d is %d metres high.", k, i, 50+7*k)
			from, doc := int64(answer.Len()), fmt.Sprintf("tower-%d", k)
			answer.WriteString(says + " ")
			row.Citations = append(row.Citations, ibid.Citation{
				Doc: doc, Start: known(0), End: known(int64(len(says))), AnswerStart: known(from), AnswerEnd: known(from + int64(len(says))),
			})
			var text strings.Builder
			text.WriteString(says)
			for n := range s.long {
				fmt.Fprintf(&text, " Its window %d looks over street %d.", n, n*k)
			}
			row.Documents = append(row.Documents, ibid.Document{Doc: doc, Text: text.String(), HasText: true})
		}
		if s.uncited {
			answer.WriteString("The towers are old.")
		}
		row.Answer = answer.String()
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

// answering is a reply with a change.
func answering(change func(p *judgetest.Prompt, a *judgetest.Answer)) func(*judgetest.Prompt) string {
	return func(p *judgetest.Prompt) string {
		a := judgetest.OverlapAnswer(p)
		change(p, a)
		return a.String()
	}
}

// surplus adds a check of every passage to every claim.
func surplus(p *judgetest.Prompt, a *judgetest.Answer) {
	for i := range a.Claims {
		for _, e := range p.Evidence {
			if len(p.Claims[i].Cites) == 0 || e.ID != p.Claims[i].Cites[0] {
				a.Claims[i].Checks = append(a.Claims[i].Checks, judgetest.AnswerCheck{EvidenceID: e.ID, Quote: "", Support: "none", Relevant: "no"})
			}
		}
	}
}

// oneBad gives the second claim of each answer a label that there is not, in so many replies.
func oneBad(times int) func(*judgetest.Prompt, *judgetest.Answer) {
	var mu sync.Mutex
	told := make(map[string]int)
	return func(p *judgetest.Prompt, a *judgetest.Answer) {
		mu.Lock()
		defer mu.Unlock()
		for i := range a.Claims {
			if text := p.Claims[i].Text; strings.HasPrefix(text, "Tower 1 ") && told[text] < times {
				told[text]++
				a.Claims[i].Joint = "maybe"
			}
		}
	}
}

// panelOf are three models, each with a change.
func panelOf(change func(m *judgetest.Model)) (models []judgetest.Model) {
	for _, id := range []string{"a/one", "b/two", "c/three"} {
		models = append(models, judgetest.Model{ID: id, Provider: "Fake", ContextLength: 128_000, PromptNanoUSD: 150, CompletionNanoUSD: 600})
		change(&models[len(models)-1])
	}
	return models
}

// TestLiveForecast: a run with a model that thinks says after eight calls what it will cost, and a
// dry run of other rows begins with what was learnt. Both are within 30 % of the bill.
func TestLiveForecast(t *testing.T) {
	t.Parallel()
	thinks := judgetest.Model{ID: "fake/judge", Provider: "Fake", ContextLength: 200_000, PromptNanoUSD: 150, CompletionNanoUSD: 600, ReasoningTokens: 30_000}
	l := newLiveTest(t, 1, judgetest.ServerConfig{Models: []judgetest.Model{thinks}, Latency: judgetest.Constant(200 * time.Millisecond)})
	rows := shapeOfRows{rows: 120, claims: 2}
	bill := func(id string, more ...string) (usd float64, stdout, stderr string) {
		t.Helper()
		if err := rows.write(filepath.Join(l.dir, "towers.parquet")); err != nil {
			t.Fatal(err)
		}
		before := l.server.Counts().SpentNanoUSD
		args := append(l.args(id, more...), "--set", "judge.concurrency=8")
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-q" || arg == "-o" || arg == "out-"+id })
		stdout, stderr, code := command(t, l.dir, args...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		return float64(l.server.Counts().SpentNanoUSD-before) / 1e9, stdout, stderr
	}
	within := func(what string, got, want float64) {
		t.Helper()
		t.Logf("%s: $%.3f, the bill is $%.3f", what, got, want)
		if math.Abs(got-want) > .3*want {
			t.Errorf("%s is $%.3f, the bill $%.3f", what, got, want)
		}
	}
	spent, _, stderr := bill("first")
	told := regexp.MustCompile(`(?m)^ibid: warning: after \d+ calls: about \$([0-9.]+) in all \(30000 tokens of hidden reasoning a call\), .* more; that is \d+\.\d times what it costs by list prices: --max-cost bounds it$`).FindAllStringSubmatch(stderr, -1)
	if len(told) == 0 {
		t.Fatalf("no forecast:\n%s", stderr)
	}
	for _, m := range told {
		usd, _ := strconv.ParseFloat(m[1], 64)
		within("after some calls", usd, spent)
	}
	rows.first = 1000
	if _, planned, _ := bill("dry", "--dry-run", "--json"); true {
		var plan struct {
			Forecast struct {
				CostUSD float64 `json:"cost_usd"`
			}
		}
		if err := json.Unmarshal([]byte(planned), &plan); err != nil {
			t.Fatal(err)
		}
		again, _, _ := bill("second")
		within("the dry run", plan.Forecast.CostUSD, again)
	}
}

// TestLiveReplies lists replies of all kinds, and what each may cost: what is wrong with one claim
// costs that claim, and what nobody asked for costs nothing.
func TestLiveReplies(t *testing.T) {
	t.Parallel()
	model := func(m judgetest.Model) []judgetest.Model {
		m.ID, m.PromptNanoUSD, m.CompletionNanoUSD, m.Provider = "fake/judge", 150, 600, "Fake"
		return []judgetest.Model{m}
	}
	three := []string{"--set", "judge.model=[a/one, b/two, c/three]"}
	openAI := []string{"--judge", "openai", "--set", "judge.api_key_env=OPENROUTER_API_KEY"}
	whole := func(p *judgetest.Prompt) float64 {
		if len(p.Claims) == 6 {
			return .6
		}
		return 1
	}
	for _, c := range []struct {
		name   string
		rows   shapeOfRows
		config judgetest.ServerConfig
		args   []string

		code, calls int // calls: at most
		unscored    int // claims of each row
		absent      int32
		surplus     bool
		plain       bool   // the verdicts are those of a plain service
		stderr      string // what it has
		warm        int    // most calls of a second run: of models that did not answer
		again       int    // most calls of other rows of that shape
	}{
		{name: "uncited claims", rows: shapeOfRows{rows: 40, claims: 2, uncited: true}, config: judgetest.ServerConfig{Reply: answering(surplus)}, calls: 40, surplus: true},
		{name: "one claim is bad once", rows: shapeOfRows{rows: 30, claims: 3}, config: judgetest.ServerConfig{Reply: answering(oneBad(1))}, calls: 60},
		{name: "one claim is always bad", rows: shapeOfRows{rows: 30, claims: 3}, config: judgetest.ServerConfig{Reply: answering(oneBad(100))}, calls: 90, code: 4, unscored: 1},
		{name: "cut off", rows: shapeOfRows{rows: 20, claims: 6}, config: judgetest.ServerConfig{Cut: whole}, calls: 40},
		{
			name: "context of 4096", rows: shapeOfRows{rows: 8, claims: 14, long: 40}, args: openAI, calls: 40, again: 40, plain: true,
			config: judgetest.ServerConfig{Models: model(judgetest.Model{Window: 4096})},
		},
		{
			name: "context of 6144", rows: shapeOfRows{rows: 8, claims: 23, long: 40}, args: openAI, calls: 40, again: 40, plain: true,
			config: judgetest.ServerConfig{Models: model(judgetest.Model{Window: 6144})},
		},
		{
			name: "context of 2600", rows: shapeOfRows{rows: 8, claims: 14, long: 40}, args: openAI, calls: 80, again: 80, plain: true,
			config: judgetest.ServerConfig{Models: model(judgetest.Model{Window: 2600})},
		},
		{
			name: "prompts cut in silence", rows: shapeOfRows{rows: 8, claims: 14, long: 40}, args: openAI, calls: 80, again: 80, plain: true, stderr: "num_ctx",
			config: judgetest.ServerConfig{Models: model(judgetest.Model{Reads: 2600})},
		},
		{name: "no check word", rows: shapeOfRows{rows: 10, claims: 2}, config: judgetest.ServerConfig{Reply: func(p *judgetest.Prompt) string {
			return strings.Replace(judgetest.Overlap(p), fmt.Sprintf(`"check":%q,`, p.CheckWord), "", 1)
		}}, calls: 10},
		{
			name: "no quotes", rows: shapeOfRows{rows: 10, claims: 2}, calls: 20, code: 4, unscored: 2,
			config: judgetest.ServerConfig{Reply: answering(func(_ *judgetest.Prompt, a *judgetest.Answer) {
				for i := range a.Claims {
					for k := range a.Claims[i].Checks {
						a.Claims[i].Checks[k].Quote = ""
					}
				}
			})},
		},
		{
			name: "prose where a schema is asked for", rows: shapeOfRows{rows: 20, claims: 2}, calls: 22, again: 20, stderr: "asked for as json_object",
			config: judgetest.ServerConfig{Reply: func(p *judgetest.Prompt) string {
				if p.Format == "json_schema" {
					return "I have looked at the claims, and find them hard to tell."
				}
				return judgetest.Overlap(p)
			}},
		},
		{
			name: "one of three refuses", rows: shapeOfRows{rows: 40, claims: 2}, args: three, calls: 120, warm: 40, absent: 1,
			config: judgetest.ServerConfig{Models: panelOf(func(m *judgetest.Model) { m.Refuses = m.ID == "c/three" })},
		},
		{
			name: "two of three refuse", rows: shapeOfRows{rows: 40, claims: 2}, args: three, calls: 120, code: 4, unscored: 2,
			config: judgetest.ServerConfig{Models: panelOf(func(m *judgetest.Model) { m.Refuses = m.ID != "a/one" })},
		},
		{
			name: "one of three is not there", rows: shapeOfRows{rows: 40, claims: 2}, args: three, calls: 82, warm: 2, absent: 1, stderr: "warning: c/three is asked no more: the model is not to be had",
			config: judgetest.ServerConfig{Models: panelOf(func(m *judgetest.Model) { m.Gone = m.ID == "c/three" })},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.KeepBodies = true
			l := newLiveTest(t, 1, c.config)
			if err := c.rows.write(filepath.Join(l.dir, "towers.parquet")); err != nil {
				t.Fatal(err)
			}
			run := func(id string) (calls int, stderr string, code int) {
				before := l.server.Counts().Requests
				args := append(l.args(id, c.args...), "--set", "judge.concurrency=8")
				args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-q" })
				if len(c.config.Models) > 1 {
					at := slices.Index(args, "--model")
					args = slices.Delete(args, at, at+2)
				}
				_, stderr, code = command(t, l.dir, args...)
				return l.server.Counts().Requests - before, stderr, code
			}
			calls, stderr, code := run("first")
			longest := int64(0)
			for _, x := range l.server.Log() {
				longest = max(longest, x.Prompt)
			}
			t.Logf("%d calls for %d rows, exit code %d; prompts of up to %d tokens", calls, c.rows.rows, code, longest)
			if code != c.code || calls > c.calls || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit code %d after %d calls, want %d and at most %d\n%s", code, calls, c.code, c.calls, stderr)
			}
			bodies := make(map[string]bool)
			for _, x := range l.server.Log() {
				if bodies[string(x.Text)] {
					t.Error("a body is sent twice")
				}
				bodies[string(x.Text)] = true
			}
			unscored, beyond, said := make(map[int64]int), int32(0), make(map[string]float64)
			err := runs.Verdicts.Scan(l.runDir("first"), nil, func(_ int64, v *runs.Judgment) error {
				if v.Vote != nil {
					return nil
				}
				if strings.Contains(v.Why, "limit of") {
					t.Errorf("why: %s", v.Why)
				}
				if v.Surplus != nil {
					beyond += *v.Surplus
				}
				if v.Evidence != runs.JointEvidence {
					return nil
				}
				if v.Support == nil {
					unscored[v.Row]++
				} else {
					said[fmt.Sprint(v.Row, v.ClaimID, *v.Claim)] = *v.Support
				}
				if absent := v.Absent; v.Support != nil && (c.absent > 0) != (absent != nil) || absent != nil && c.absent > 0 && *absent != c.absent {
					t.Errorf("row %d: absent %v, want %d", v.Row, absent, c.absent)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for row := range int64(c.rows.rows) {
				if unscored[row] != c.unscored {
					t.Errorf("row %d: %d claims have no verdict, want %d", row, unscored[row], c.unscored)
				}
			}
			if c.plain {
				plain := newLiveTest(t, 1, judgetest.ServerConfig{})
				if err := c.rows.write(filepath.Join(plain.dir, "towers.parquet")); err != nil {
					t.Fatal(err)
				}
				plain.must("plain")
				err := runs.Verdicts.Scan(plain.runDir("plain"), nil, func(_ int64, v *runs.Judgment) error {
					if got, known := said[fmt.Sprint(v.Row, v.ClaimID, *v.Claim)]; v.Evidence == runs.JointEvidence && (!known || got != *v.Support) {
						t.Errorf("row %d, claim %s: %v, of a plain service %v", v.Row, v.ClaimID, got, *v.Support)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if (beyond > 0) != c.surplus {
				t.Errorf("surplus %d", beyond)
			}
			if c.code != 0 {
				return
			}
			if calls, stderr, code := run("warm"); calls > c.warm || code != 0 {
				t.Errorf("the same again: %d calls, exit code %d\n%s", calls, code, stderr)
			}
			if c.again > 0 {
				c.rows.first = 1000
				if err := c.rows.write(filepath.Join(l.dir, "towers.parquet")); err != nil {
					t.Fatal(err)
				}
				calls, stderr, code := run("again")
				t.Logf("others of that shape: %d calls", calls)
				if calls > c.again || code != 0 {
					t.Errorf("others of that shape: %d calls, exit code %d\n%s", calls, code, stderr)
				}
			}
		})
	}
}
