package openrouter

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/judgetest"
)

// newVerifierJudge is a judge of a small verifier.
func newVerifierJudge(t *testing.T, s *judgetest.Server, protocol string, template map[string]any, change func(*Config)) *Judge {
	t.Helper()
	config := Config{
		Kind: KindOpenAI, BaseURL: s.URL(), Models: []string{"fake/verifier"}, Protocol: protocol, Verifier: template,
		Retries: 2, Backoff: 1, Concurrency: 4, Store: newStore(t),
	}
	if change != nil {
		change(&config)
	}
	j, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// forms are the servers and templates that a small verifier can have.
var forms = []struct {
	name, protocol string
	template       map[string]any
	server         judgetest.VerifierConfig
}{
	{"pair", Classify, nil, judgetest.VerifierConfig{}},
	{"pair, short inputs", Classify, nil, judgetest.VerifierConfig{MaxTokens: 30}},
	{"pair of two labels", Classify, map[string]any{"positive": "LABEL_1"}, judgetest.VerifierConfig{Labels: []string{"LABEL_0", "LABEL_1"}}},
	{"minicheck", YesNo, nil, judgetest.VerifierConfig{}},
	{"minicheck without logprobs", YesNo, nil, judgetest.VerifierConfig{Logprobs: "ignored"}},
	{"minicheck, logprobs refused", YesNo, nil, judgetest.VerifierConfig{Logprobs: "refused"}},
	{"minicheck, short inputs", YesNo, nil, judgetest.VerifierConfig{MaxTokens: 30}},
	{"own", YesNo, map[string]any{"message": "Document: {document}\nClaim: {claim}"}, judgetest.VerifierConfig{}},
}

// towers is a row of which the support by words in common is plain: the first claim is
// carried by its first citation alone, half of the second by each of its two, the third
// by a sentence that it does not cite, the fourth by nothing.
func towers() *judge.Request {
	text := "The tower is forty metres high. It was built of oak. Anna opened the door. A river flows north."
	return &judge.Request{
		Row: "q/a", Question: "What of the tower?", Answer: "Irrelevant here.",
		Claims: []ibid.Claim{
			{Text: "The tower is forty metres high.", Citations: []int32{0}},
			{Text: "forty metres built oak", Citations: []int32{0, 1}},
			{Text: "Anna opened the door.", Citations: []int32{1}},
			{Text: "Purple elephants dance."},
			{Text: "Is it high?", Citations: []int32{0}},
		},
		Evidence: []judge.Evidence{
			{Citation: 0, Title: "Towers", Text: "The tower is forty metres high."},
			{Citation: 1, Title: "Towers", Text: "It was built of oak."},
		},
		Sources: []judge.Source{{Doc: "d", Text: text, Cited: []judge.Interval{{Start: 0, End: 31, Citation: 0}, {Start: 32, End: 52, Citation: 1}}}},
	}
}

// TestVerifierVerdict works out what the verdict on a row is, by hand: the fake model
// says how many of the claim's words the text has.
func TestVerifierVerdict(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &f.server})
			defer s.Close()
			j := newVerifierJudge(t, s, f.protocol, f.template, nil)
			v, err := j.Judge(t.Context(), towers())
			if err != nil {
				t.Fatal(err)
			}
			hard := f.server.Logprobs != "" // 0 or 1; of even chances the fake says yes
			near := func(what string, got ibid.Support, want float64) {
				t.Helper()
				if hard && want == 0.25 {
					want = 0
				}
				if hard && want == 0.5 {
					want = 1
				}
				if !got.Known() || math.Abs(got.Value-want) > 1e-6 {
					t.Errorf("%s: %+v, want %v", what, got, want)
				}
			}
			c := v.Claims
			near("claim 1", c[0].Joint, 1)
			near("claim 2 by its first", c[1].Checks[0].Support, 0.5)
			near("claim 2 by its second", c[1].Checks[1].Support, 0.5)
			near("claim 2 by both", c[1].Joint, jointOf(f.server))
			near("claim 3", c[2].Joint, 0)
			near("claim 4", c[3].Joint, 0)
			for i := range c {
				if c[i].Elsewhere.Known() {
					t.Errorf("claim %d: nobody was asked, elsewhere is %+v", i+1, c[i].Elsewhere)
				}
			}
			for i := range c {
				if want := ibid.TriOf(i != 4); c[i].Factual != want {
					t.Errorf("claim %d: factual %v, want %v", i+1, c[i].Factual, want)
				}
				nli := f.protocol == Classify && f.template == nil
				if want := map[bool]ibid.Tri{true: ibid.No, false: ibid.Unset}[nli]; c[i].Contradicted != want {
					t.Errorf("claim %d: contradicted %q, want %q", i+1, c[i].Contradicted, want)
				}
				for _, check := range c[i].Checks {
					if check.Relevant != ibid.Unset || check.Quote != "" || check.Why != "" {
						t.Errorf("claim %d: it says more than a number: %+v", i+1, check)
					}
				}
			}
			if twice := s.Counts().Twice; twice > 0 {
				t.Errorf("%d inputs are asked about twice", twice)
			}
			// Again, of another process with the same store: nothing is asked, and the verdict is
			// the same.
			n := s.Counts().Requests
			again := newVerifierJudge(t, s, f.protocol, f.template, func(c *Config) { c.Store, c.BaseURL = j.store, j.config.BaseURL })
			w, err := again.Judge(t.Context(), towers())
			if err != nil {
				t.Fatal(err)
			}
			if more := s.Counts().Requests - n; more > 0 {
				t.Errorf("%d calls the second time", more)
			}
			v.Calls, w.Calls = nil, nil
			if got, want := sprint(w), sprint(v); got != want {
				t.Errorf("from the store:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// jointOf is what both citations support of the second claim: all, but where the model
// cannot read them at once, and the better of the two counts.
func jointOf(c judgetest.VerifierConfig) float64 {
	if c.MaxTokens > 0 && c.MaxTokens < 20 {
		return 0.5
	}
	return 1
}

// TestVerifierContradiction: of three classes, what says the opposite contradicts.
func TestVerifierContradiction(t *testing.T) {
	t.Parallel()
	s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{Contradiction: func(document, claim string) float64 {
		if strings.Contains(document, "oak") && strings.Contains(claim, "Anna") {
			return 0.7
		}
		return 0.4
	}}})
	defer s.Close()
	v, err := newVerifierJudge(t, s, Classify, nil, nil).Judge(t.Context(), towers())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []ibid.Tri{ibid.No, ibid.No, ibid.Yes, ibid.No, ibid.No} {
		if got := v.Claims[i].Contradicted; got != want {
			t.Errorf("claim %d: %q, want %q", i+1, got, want)
		}
	}
}

// TestVerifierTooLong: a text that the model cannot read whole is read in halves, of which
// the best counts; a rerun finds them without asking.
func TestVerifierTooLong(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "Sentence number %d says nothing of it. ", i)
		if i == 29 {
			text.WriteString("Anna built forty oak towers. ")
		}
	}
	r := &judge.Request{
		Row: "q/a", Question: "?", Answer: "!",
		Claims:   []ibid.Claim{{Text: "Anna built forty oak towers.", Citations: []int32{0}}},
		Evidence: []judge.Evidence{{Text: text.String()}},
	}
	for _, f := range []struct {
		name, protocol string
		template       map[string]any
		server         judgetest.VerifierConfig
	}{
		{"413", Classify, nil, judgetest.VerifierConfig{MaxTokens: 60, NoInfo: true}},
		{"told before", Classify, nil, judgetest.VerifierConfig{MaxTokens: 60}},
		{"chat", YesNo, nil, judgetest.VerifierConfig{MaxTokens: 60}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &f.server})
			defer s.Close()
			j := newVerifierJudge(t, s, f.protocol, f.template, nil)
			v, err := j.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Claims[0].Joint.Value; math.Abs(got-1) > 1e-6 {
				t.Errorf("support %v, want 1", got)
			}
			refused := s.Counts().Requests - s.Counts().Answers
			if f.server.NoInfo && refused == 0 {
				t.Errorf("%d calls were refused", refused)
			}
			n := s.Counts().Requests
			if twice := s.Counts().Twice; twice > 0 {
				t.Errorf("%d inputs are asked about twice", twice)
			}
			if _, err := newVerifierJudge(t, s, f.protocol, f.template, func(c *Config) { c.Store = j.store }).Judge(t.Context(), r); err != nil || s.Counts().Requests > n {
				t.Errorf("%d calls the second time, %v", s.Counts().Requests-n, err)
			}
		})
	}
}

// TestVerifierSideBySide: rows that share questions are judged at the same time, and each
// input is asked about once.
func TestVerifierSideBySide(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{Classify, YesNo} {
		s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{}, Latency: judgetest.Constant(time.Millisecond)})
		j := newVerifierJudge(t, s, protocol, nil, nil)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := j.Judge(t.Context(), towers()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if twice := s.Counts().Twice; twice > 0 {
			t.Errorf("%s: %d inputs are asked about twice", protocol, twice)
		}
		s.Close()
	}
}

// TestVerifierDown: a server that is not there is found with a few calls.
func TestVerifierDown(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{Classify, YesNo} {
		s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{}})
		s.Close()
		_, err := newVerifierJudge(t, s, protocol, nil, func(c *Config) { c.MaxOutage = 10 * time.Millisecond }).Judge(t.Context(), towers())
		stop, ok := errors.AsType[*judge.StopError](err)
		if !ok || stop.Reason != judge.StopService || stop.Hint != "start the server, or look at judge.base_url" {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// TestVerifierPrompts: what is asked is shown with the text, wherever a template has it.
func TestVerifierPrompts(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &f.server})
		prompts := newVerifierJudge(t, s, f.protocol, f.template, nil).Prompts(towers())
		if len(prompts) == 0 {
			t.Errorf("%s: no prompts", f.name)
		}
		for _, p := range prompts {
			if p.Vote != 0 || p.Model != "fake/verifier" || !strings.Contains(p.User, "Towers") {
				t.Errorf("%s: %+v", f.name, p)
			}
		}
		if n := s.Counts().Requests; n > 0 {
			t.Errorf("%s: %d calls", f.name, n)
		}
		s.Close()
	}
}

func sprint(v *judge.Verdict) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestVerifierJoint: what the passages of a claim say together is asked for, also where a run
// before has asked about each of them, at which the joint text would be halved.
func TestVerifierJoint(t *testing.T) {
	t.Parallel()
	s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{}})
	defer s.Close()
	j := newVerifierJudge(t, s, YesNo, nil, nil)
	fill := strings.Repeat("zz ", 40)
	texts := []string{"Anna built " + fill + "here.", "Of forty oaks " + fill + "there."}
	r := &judge.Request{
		Row: "q/a", Question: "?", Answer: "!", Claims: []ibid.Claim{{Text: "Anna built forty oaks", Citations: []int32{0, 1}}},
		Evidence: []judge.Evidence{{Citation: 0, Text: texts[0]}, {Citation: 1, Text: texts[1]}},
	}
	for _, text := range texts {
		if err := j.rate(t.Context(), &ratedQuery{query: query{claim: r.Claims[0].Text, text: text}}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := j.Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Claims[0].Joint.Value; math.Abs(got-1) > 1e-6 {
		t.Errorf("support by both %v, want 1", got)
	}
}

// TestVerifierAllTooLong: that all texts are too long for the model ends no run, since their
// halves are not.
func TestVerifierAllTooLong(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{Classify, YesNo} {
		s := judgetest.NewServer(judgetest.ServerConfig{Verifier: &judgetest.VerifierConfig{MaxTokens: 60, NoInfo: true}})
		r := &judge.Request{Row: "q/a", Question: "?", Answer: "!"}
		for i := range 100 {
			r.Claims = append(r.Claims, ibid.Claim{Text: fmt.Sprintf("Anna built oak tower %d.", i), Citations: []int32{int32(i)}})
			text := strings.Repeat(fmt.Sprintf("Sentence %d says nothing of it. ", i), 12) + r.Claims[i].Text
			r.Evidence = append(r.Evidence, judge.Evidence{Citation: i, Text: text})
		}
		v, err := newVerifierJudge(t, s, protocol, nil, func(c *Config) { c.Concurrency = 48 }).Judge(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		for i := range v.Claims {
			if got := v.Claims[i].Joint.Value; got < 0.99 {
				t.Errorf("%s: claim %d has %v", protocol, i, got)
			}
		}
		s.Close()
	}
}
