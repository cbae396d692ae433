package judge_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/judgetest"
	"ibid/judge/openrouter"
)

func TestConformance(t *testing.T) {
	t.Run("lexical", func(t *testing.T) {
		testJudge(t, func() judge.Judge { return judge.NewLexical() })
	})
	for _, name := range []string{"mean", "majority", "annotator:a"} {
		t.Run("human "+name, func(t *testing.T) {
			policy, err := judge.ParseLabelPolicy(name)
			if err != nil {
				t.Fatal(err)
			}
			testJudge(t, func() judge.Judge { return judge.NewHuman(policy) })
		})
	}
	t.Run("recorded", func(t *testing.T) {
		testJudge(t, func() judge.Judge { return judge.Recorded{} })
	})
	t.Run("replay", func(t *testing.T) {
		testJudge(t, func() judge.Judge { return replayOf(t, promised()[1:]) })
	})
}

// openStore opens an empty store of answers.
func openStore(t *testing.T) cache.Store {
	t.Helper()
	store, err := cache.Open(filepath.Join(t.TempDir(), "judge.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// live is a judge with that configuration, which it closes with the test.
func live(t *testing.T, config openrouter.Config) judge.Judge {
	t.Helper()
	j, err := openrouter.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// TestLiveConformance asks the fake service in every way in which a judge can ask.
func TestLiveConformance(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	for name, change := range map[string]func(*openrouter.Config){
		"matrix":    func(*openrouter.Config) {},
		"pairwise":  func(c *openrouter.Config) { c.Mode = openrouter.Pairwise },
		"necessity": func(c *openrouter.Config) { c.Necessity = true },
		"votes":     func(c *openrouter.Config) { c.Votes = 3 },
		"panel":     func(c *openrouter.Config) { c.Panel = []string{"fake/judge", "other/judge"} },
		"no store":  func(c *openrouter.Config) { c.Store = nil },
		"openai":    func(c *openrouter.Config) { c.Kind = openrouter.KindOpenAI },
		"parts":     func(c *openrouter.Config) { c.MaxPairs = 2 },
		"long":      func(c *openrouter.Config) { c.MaxPromptTokens = 40 },
	} {
		t.Run(name, func(t *testing.T) {
			testJudge(t, func() judge.Judge {
				c := openrouter.Config{
					BaseURL: s.URL(), Key: judgetest.DefaultKey, Model: "fake/judge", Seed: 1, Retries: 8, Timeout: 5 * time.Second,
					MaxRateWait: time.Minute, Backoff: 20 * time.Millisecond, Concurrency: 50, Store: openStore(t), Run: "test",
				}
				change(&c)
				return live(t, c)
			})
		})
	}
}

// TestVerifierConformance asks small verifiers at servers of each form.
func TestVerifierConformance(t *testing.T) {
	t.Parallel()
	two := []string{"LABEL_0", "LABEL_1"}
	for _, f := range []struct {
		name, protocol string
		template       map[string]any
		server         judgetest.VerifierConfig
	}{
		{"pair", openrouter.Classify, nil, judgetest.VerifierConfig{}},
		{"pair, small batches", openrouter.Classify, nil, judgetest.VerifierConfig{MaxBatch: 2}},
		{"pair, short inputs", openrouter.Classify, nil, judgetest.VerifierConfig{MaxTokens: 30}},
		{"pair, batches refused", openrouter.Classify, nil, judgetest.VerifierConfig{MaxBatch: 2, NoInfo: true}},
		{"pair of two labels", openrouter.Classify, map[string]any{"positive": "LABEL_1"}, judgetest.VerifierConfig{Labels: two}},
		{"factcg", openrouter.Classify, map[string]any{"like": "factcg"}, judgetest.VerifierConfig{Labels: two}},
		{"factcg at vLLM", openrouter.Classify, map[string]any{"like": "factcg", "api": "classify"}, judgetest.VerifierConfig{Labels: two}},
		{"score", openrouter.Classify, map[string]any{"like": "score"}, judgetest.VerifierConfig{}},
		{"score, short inputs", openrouter.Classify, map[string]any{"like": "score"}, judgetest.VerifierConfig{MaxTokens: 30}},
		{"minicheck", openrouter.YesNo, nil, judgetest.VerifierConfig{}},
		{"minicheck without logprobs", openrouter.YesNo, nil, judgetest.VerifierConfig{Logprobs: "ignored"}},
		{"minicheck, logprobs refused", openrouter.YesNo, nil, judgetest.VerifierConfig{Logprobs: "refused"}},
		{"minicheck, short inputs", openrouter.YesNo, nil, judgetest.VerifierConfig{MaxTokens: 30}},
		{"granite-guardian", openrouter.YesNo, map[string]any{"like": "granite-guardian"}, judgetest.VerifierConfig{}},
		{"lynx", openrouter.YesNo, map[string]any{"like": "lynx"}, judgetest.VerifierConfig{}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &f.server})
			defer s.Close()
			testJudge(t, func() judge.Judge {
				return live(t, openrouter.Config{
					Kind: openrouter.KindOpenAI, BaseURL: s.URL(), Model: "fake/verifier", Protocol: f.protocol, Template: f.template,
					Retries: 2, Backoff: 1, Concurrency: 4, Store: openStore(t),
				})
			})
		})
	}
}

// replayOf returns saved replies to requests, by key and by row in turn.
func replayOf(t *testing.T, requests []*judge.Request) *judge.Replay {
	t.Helper()
	var lines strings.Builder
	for i, r := range requests {
		line := map[string]any{"row": r.Row, "reply": plausible(t, r), "model": "test/model"}
		if i%2 == 0 {
			delete(line, "row")
			line["key"] = r.Key()
		}
		b, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(b, '\n'))
	}
	p, err := judge.NewReplay("replies.jsonl", strings.NewReader(lines.String()), int64(lines.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plausible is a reply that keeps the rules: every citation supports with its
// first word as the quote.
func plausible(t *testing.T, r *judge.Request) string {
	t.Helper()
	roster := judge.NewRoster(r)
	passages := roster.Passages()
	type object = map[string]any
	claims := []object{}
	for c := range r.Claims {
		checks := []object{}
		for _, id := range roster.Cited(c) {
			quote, support := "", "none"
			for e := range r.Evidence {
				if roster.EvidenceID(e) == id {
					if words := strings.Fields(r.Evidence[e].Text); len(words) > 0 {
						quote, support = strings.ToValidUTF8(words[0], ""), "mostly"
					}
				}
			}
			checks = append(checks, object{"evidence_id": id, "why": "says so", "quote": quote, "support": support, "relevant": "yes"})
		}
		joint := "none"
		if len(checks) > 0 {
			joint = "mostly"
		}
		claims = append(claims, object{
			"id": roster.ClaimID(c), "kind": "factual", "checks": checks, "joint_why": "", "joint": joint,
			"elsewhere": "none", "elsewhere_evidence_id": "", "elsewhere_quote": "",
		})
	}
	if len(passages) > len(r.Evidence) {
		t.Fatalf("%d texts of %d citations", len(passages), len(r.Evidence))
	}
	b, err := json.Marshal(object{"tampering": "none", "claims": claims})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
