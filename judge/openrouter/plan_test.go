package openrouter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ibid/judge"
	"ibid/judge/judgetest"
)

// TestPlanner compares what was planned with what came: the calls to the
// number, the money within its bounds, and nothing once all is kept.
func TestPlanner(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"matrix":    nil,
		"score":     func(c *Config) { c.Protocol = Score },
		"necessity": func(c *Config) { c.Necessity = true },
		"votes":     func(c *Config) { c.Votes = 3 },
		"panel":     func(c *Config) { c.Models = []string{"fake/judge", "other/judge"} },
		"parts":     func(c *Config) { c.MaxPairs = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{})
			defer s.Close()
			store := newStore(t)
			build := func() *Judge {
				return newTestJudge(t, s, func(c *Config) {
					if change != nil {
						change(c)
					}
					c.Store, c.Timeout = store, 0
				})
			}
			rows := rowsOf(40)
			rows = append(rows, rows[:5]...) // the same again
			before := plan(t, build(), rows)
			if n := s.Counts().Requests; n != 0 {
				t.Errorf("planning made %d calls", n)
			}
			if bad := failures(judgeAll(t.Context(), build(), rows, 8)); len(bad) > 0 {
				t.Fatalf("%d rows failed: %s", len(bad), bad[0])
			}
			counts := s.Counts()
			if before.Calls != int64(counts.Requests) || before.Rows != 45 || before.Cached != 0 || before.Repeated == 0 || before.Unpriced != 0 {
				t.Errorf("planned %+v, %d calls came", before, counts.Requests)
			}
			if before.NanoUSD <= 0 || before.NanoUSD > before.MostNanoUSD || counts.SpentNanoUSD > before.MostNanoUSD {
				t.Errorf("planned %+v, spent %d", before, counts.SpentNanoUSD)
			}
			after := plan(t, build(), rows)
			if after.Calls != 0 || after.NanoUSD != 0 || after.Cached != before.Calls || after.Repeated != before.Repeated || after.Settled != before.Settled {
				t.Errorf("planned with all kept %+v, before %+v", after, before)
			}
		})
	}
}

// TestPlannerWithoutPrices: calls whose price nobody knows cost nothing known.
func TestPlannerWithoutPrices(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	j := newTestJudge(t, s, func(c *Config) { c.Kind = KindOpenAI })
	got := plan(t, j, rowsOf(3))
	if got.Unpriced != got.Calls || got.Calls == 0 || got.NanoUSD != 0 || got.MostNanoUSD != 0 || got.PromptTokens == 0 {
		t.Errorf("planned %+v", got)
	}
	priced := newTestJudge(t, s, func(c *Config) {
		c.Kind = KindOpenAI
		c.Prices = map[string]Price{c.Models[0]: {Prompt: 1e-6, Completion: 2e-6}}
	})
	got = plan(t, priced, rowsOf(3))
	if want := 1000*got.PromptTokens + 2000*got.CompletionTokens; got.NanoUSD != want || got.Unpriced != 0 {
		t.Errorf("planned %+v, want a cost of %d", got, want)
	}
}

func plan(t *testing.T, j *Judge, rows []*judge.Request) Estimate {
	t.Helper()
	if err := j.LoadPrices(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := j.NewPlanner()
	for _, r := range rows {
		if err := p.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return p.Estimate()
}

// TestPrompts: what is shown is what is sent.
func TestPrompts(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{KeepBodies: true})
	defer s.Close()
	r := rowsOf(1)[0]
	for name, change := range map[string]func(*Config){
		"matrix": func(*Config) {},
		"votes":  func(c *Config) { c.Votes = 2 },
		"score":  func(c *Config) { c.Protocol = Score },
	} {
		t.Run(name, func(t *testing.T) {
			j := newTestJudge(t, s, func(c *Config) { change(c); c.Timeout = 0 })
			shown := j.Prompts(r)
			before := len(s.Log())
			if _, err := j.Judge(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			sent := s.Log()[before:]
			if len(sent) != len(shown) || len(sent) == 0 {
				t.Fatalf("%d requests shown, %d sent", len(shown), len(sent))
			}
			// Questions of protocol score go out side by side.
			place := func(x judgetest.Exchange) int {
				return slices.IndexFunc(shown, func(p Prompt) bool { return strings.Contains(string(x.Text), string(quoted(p.User))) })
			}
			slices.SortStableFunc(sent, func(a, b judgetest.Exchange) int { return place(a) - place(b) })
			for i, p := range shown {
				var body struct {
					Model     string
					Messages  []struct{ Role, Content string }
					MaxTokens int64 `json:"max_tokens"`
					Seed      int64
				}
				if err := json.Unmarshal(sent[i].Text, &body); err != nil {
					t.Fatal(err)
				}
				system := ""
				if name != "score" {
					system = body.Messages[0].Content
				}
				user := body.Messages[len(body.Messages)-1].Content
				if p.Model != body.Model || p.System != system || p.User != user || p.MaxTokens != body.MaxTokens || int64(p.Vote) != body.Seed-1 {
					t.Errorf("request %d: shown\n%+v\nsent\n%s", i, p, sent[i].Text)
				}
			}
		})
	}
}
