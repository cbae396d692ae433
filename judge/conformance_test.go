package judge_test

import (
	"path/filepath"
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
}

// openStore opens an empty store of answers.
func openStore(t *testing.T) *cache.SQLite {
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
		"score":     func(c *openrouter.Config) { c.Protocol = openrouter.Score },
		"necessity": func(c *openrouter.Config) { c.Necessity = true },
		"votes":     func(c *openrouter.Config) { c.Votes = 3 },
		"panel":     func(c *openrouter.Config) { c.Models = []string{"fake/judge", "other/judge"} },
		"openai":    func(c *openrouter.Config) { c.Kind = openrouter.KindOpenAI },
		"parts":     func(c *openrouter.Config) { c.MaxPairs = 2 },
		"long":      func(c *openrouter.Config) { c.MaxPromptTokens = 40 },
	} {
		t.Run(name, func(t *testing.T) {
			testJudge(t, func() judge.Judge {
				c := openrouter.Config{
					BaseURL: s.URL(), Key: judgetest.DefaultKey, Models: []string{"fake/judge"}, Request: map[string]any{"seed": int64(1), "temperature": int64(0)}, Retries: 8, Timeout: 5 * time.Second,
					Backoff: 20 * time.Millisecond, Concurrency: 50, Store: openStore(t), Run: "test",
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
		{"pair, short inputs", openrouter.Classify, nil, judgetest.VerifierConfig{MaxTokens: 30}},
		{"pair of two labels", openrouter.Classify, map[string]any{"positive": "LABEL_1"}, judgetest.VerifierConfig{Labels: two}},
		{"minicheck", openrouter.YesNo, nil, judgetest.VerifierConfig{}},
		{"minicheck without logprobs", openrouter.YesNo, nil, judgetest.VerifierConfig{Logprobs: "ignored"}},
		{"minicheck, logprobs refused", openrouter.YesNo, nil, judgetest.VerifierConfig{Logprobs: "refused"}},
		{"minicheck, short inputs", openrouter.YesNo, nil, judgetest.VerifierConfig{MaxTokens: 30}},
		{"own", openrouter.YesNo, map[string]any{"message": "Document: {document}\nClaim: {claim}"}, judgetest.VerifierConfig{}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &f.server})
			defer s.Close()
			testJudge(t, func() judge.Judge {
				return live(t, openrouter.Config{
					Kind: openrouter.KindOpenAI, BaseURL: s.URL(), Models: []string{"fake/verifier"}, Protocol: f.protocol, Verifier: f.template,
					Retries: 2, Backoff: 1, Concurrency: 4, Store: openStore(t),
				})
			})
		})
	}
}
