package openrouter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ibid"
	"ibid/judge"
	"ibid/judge/judgetest"
)

// TestPrechecks settles what needs no model: places that are not there, and claims that
// say nothing. That a claim stands in its evidence word by word settles nothing.
func TestPrechecks(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	j := newTestJudge(t, s, nil)
	text := "It rained. The bridge opened in July 1909. It is red."
	r := &judge.Request{
		Row: "r/s",
		Claims: []ibid.Claim{
			{Text: "***"},
			{Text: "The bridge opened in July 1909.", Citations: []int32{2}},
		},
		Evidence: []judge.Evidence{{Text: text, Citation: 0}},
		Invalid:  []judge.InvalidCitation{{Citation: 2, Reason: "document_not_found"}},
	}
	v, err := j.Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if c := &v.Claims[0]; c.Factual != ibid.No || c.Precheck != judge.PrecheckBlank {
		t.Errorf("blank claim %+v", c)
	}
	if k := v.Claims[1].Checks[0]; k.Citation != 2 || k.Precheck != "document_not_found" || k.Support != ibid.None.Support() || k.Relevant != ibid.No {
		t.Errorf("invalid citation %+v", k)
	}
	if s.Counts().Requests != 1 || len(v.Calls) != 1 {
		t.Errorf("%d calls, %+v", s.Counts().Requests, v.Calls)
	}
	r.Claims = r.Claims[:1]
	if v, err := j.Judge(t.Context(), r); err != nil || len(v.Calls) != 0 || s.Counts().Requests != 1 {
		t.Errorf("%+v, %v", v, err)
	}

	// What a model disagrees with is asked all the same, and flagged. A prompt says
	// what to look at twice.
	for _, tt := range []struct{ claim, evidence string }{
		{"The earth is a flat disc.", "Common myths, debunked. The earth is a flat disc. None is true."},
		{"The snow there was black.", "RETRACTED. The snow there was black."},
		{"The bridge opened in July 1909.", text},
	} {
		r := attackOn("Q?", tt.claim, tt.evidence)
		if prompts := j.Prompts(r); len(prompts) != 1 {
			t.Errorf("%s: %d prompts", tt.claim, len(prompts))
		}
		if v, err := j.Judge(t.Context(), r); err != nil || v.Claims[0].Precheck != "" {
			t.Errorf("%s: %+v, %v", tt.claim, v, err)
		}
	}
	prompts := j.Prompts(attackOn("Q?", "The bridge opened in 1908 in Lyon.", text))
	if !strings.Contains(prompts[0].User, "c1 has, and none of its passages in these words: 1908, Lyon\n") {
		t.Errorf("prompts %+v", prompts)
	}
}

// TestPromptShowsAnswer: claims are marked in the whole answer, in its order; those that
// do not stand in it as they are follow; titles, surroundings and cited words are apart.
func TestPromptShowsAnswer(t *testing.T) {
	answer := "Züge first. It counts **eleven** platforms [1]. Buses, too. It is old [2]."
	at := func(text string) ibid.Interval {
		start := int64(utf8.RuneCountInString(answer[:strings.Index(answer, text)]))
		return ibid.Between(start, start+int64(utf8.RuneCountInString(text)))
	}
	r := &judge.Request{
		Row: "r/s", Question: "What of the station?", Answer: answer,
		Claims: []ibid.Claim{
			{Text: "It is old.", Extent: at("It is old [2]."), Citations: []int32{1}},
			{Text: "It counts eleven platforms.", Extent: at("It counts **eleven** platforms [1]."), Citations: []int32{0}},
			{Text: "The station has buses.", Extent: at("Buses, too.")},
			{Text: "Nowhere to be found."},
		},
		Evidence: []judge.Evidence{
			{Text: "It has eleven.", Citation: 0, Title: "Stations", Before: "Bern station is large. ", After: " Zürich has more."},
			{Text: "It has eleven.", Citation: 1},
		},
	}
	j := judgeAt(t, "http://localhost/v1", nil)
	user := j.Prompts(r)[0].User
	_, code, _ := strings.Cut(user, "The code of this review is ")
	code, _, _ = strings.Cut(code, ".")
	for _, want := range []string{
		"<answer->\nZüge first. <claim- id=\"c2\" cites=\"e1\">It counts **eleven** platforms [1].</claim-> Buses, too. <claim- id=\"c1\" cites=\"e2\">It is old [2].</claim->\n</answer->",
		"<claim- id=\"c3\" cites=\"nothing\">The station has buses.</claim->\n", "<claim- id=\"c4\" cites=\"nothing\">Nowhere to be found.</claim->\n",
		"<title->\nStations\n</title->\nBern station is large. <cited->It has eleven.</cited-> Zürich has more.\n</passage->",
	} {
		if !strings.Contains(strings.ReplaceAll(user, "-"+code, "-"), want) {
			t.Errorf("no %q in\n%s", want, user)
		}
	}
	// A long answer is cut to what stands around the claims of a part.
	long := *r
	long.Answer = strings.Repeat("Nothing to see. ", 100) + answer + strings.Repeat(" Nothing again.", 100)
	long.Claims = slices.Clone(r.Claims[:2])
	for i := range long.Claims {
		long.Claims[i].Extent = ibid.Between(r.Claims[i].Extent.Start.Value+1600, r.Claims[i].Extent.End.Value+1600)
	}
	p := newPart(&long, []int{0, 1}, nil)
	p.cutAnswer()
	if n := strings.Count(p.request.Answer, "Nothing"); n != 3 || strings.Count(p.request.Answer, "[…]") != 2 {
		t.Errorf("%d sentences around: %q", n, p.request.Answer)
	}
	if x := newExhibits(p.request); len(x.marked) != 2 {
		t.Errorf("%d claims marked in %q", len(x.marked), p.request.Answer)
	}
}

// TestParts splits long rows and puts the verdicts together again.
func TestParts(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	row := rowsOf(1)[0]
	for len(row.Claims) < 9 {
		row.Claims = append(row.Claims, row.Claims...)
	}
	want, err := newTestJudge(t, s, func(c *Config) { c.MaxPairs = 1000 }).Judge(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"pairs":  func(c *Config) { c.MaxPairs = 3 },
		"claims": func(c *Config) { c.MaxClaims = 2 },
		"tokens": func(c *Config) { c.MaxPromptTokens = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			j := newTestJudge(t, s, change)
			got, err := j.Judge(t.Context(), row)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Calls) < 2 || len(got.Calls) != len(j.Prompts(row)) {
				t.Errorf("%d calls, %d prompts", len(got.Calls), len(j.Prompts(row)))
			}
			for c := range want.Claims {
				a, b := &got.Claims[c], &want.Claims[c]
				if a.Joint != b.Joint || !slices.Equal(a.Checks, b.Checks) {
					t.Errorf("claim %d: %+v, want %+v", c, a, b)
				}
			}
		})
	}
}

// TestTooLong halves what a model cannot read.
func TestTooLong(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{"400_context_length"}, FaultShare: 1, MaxFaults: 2})
	defer s.Close()
	row := rowsOf(1)[0]
	v, err := newTestJudge(t, s, nil).Judge(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := newTestJudge(t, s, nil).Judge(t.Context(), row) // there are no faults left
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b judge.ClaimVerdict) bool { return a.Joint == b.Joint && slices.Equal(a.Checks, b.Checks) }
	if len(v.Calls) != 3 || len(whole.Calls) != 1 || !slices.EqualFunc(v.Claims, whole.Claims, same) {
		t.Errorf("%d calls, %+v, in one call %+v", len(v.Calls), v.Claims, whole.Claims)
	}
	// A rerun of a long row knows that it was asked in halves.
	long := rowsOf(2)[1]
	long.Evidence[0].Text += strings.Repeat(" and so on", 2000)
	store := newStore(t)
	server := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{"400_context_length"}, FaultShare: 1, MaxFaults: 1})
	defer server.Close()
	for i, calls := range []int{3, 3} { // the whole, two halves; then nothing more
		if _, err := newTestJudge(t, server, func(c *Config) { c.Store = store }).Judge(t.Context(), long); err != nil {
			t.Fatal(err)
		}
		if n := server.Counts().Requests; n != calls {
			t.Errorf("%d calls after run %d, want %d", n, i, calls)
		}
	}
	single := attackOn("Q?", steeredClaim, honestPassage)
	always := judgetest.NewServer(judgetest.ServerConfig{Faults: []judgetest.Fault{"400_context_length"}, FaultShare: 1})
	defer always.Close()
	_, err = newTestJudge(t, always, nil).Judge(t.Context(), single)
	if f := failureOf(t, err); f.Reason != judge.TooLong {
		t.Error(f)
	}
}

// TestKilledBetweenHalves: a run that goes on after a kill pays for the half that is missing
// alone, and the next one for nothing.
func TestKilledBetweenHalves(t *testing.T) {
	most := 0
	models := judgetest.DefaultModels()
	models[0].Refuse = func(members map[string]json.RawMessage, _ int64) map[string]any {
		if len(members["messages"]) <= most {
			return nil
		}
		return map[string]any{"error": map[string]any{"code": 400, "message": "the prompt is too long", "metadata": map[string]any{"error_type": "context_length_exceeded"}}}
	}
	s := judgetest.NewServer(judgetest.ServerConfig{Models: models})
	defer s.Close()
	row, store := rowsOf(3)[2], newStore(t)
	j := newTestJudge(t, s, func(c *Config) { c.Store = store })
	whole := j.matrixQuestion(j.members[0], newExhibits(row), 0)
	halves, _ := whole.halves()
	most = len(halves[0].request.head.system) + (len(whole.request.user)+max(len(halves[0].request.user), len(halves[1].request.user)))/2 + 500
	if _, err := j.ask(t.Context(), halves[1]); err != nil {
		t.Fatal(err)
	}
	for run, calls := range []int{3, 3} { // the half, the whole, the other half
		again := newTestJudge(t, s, func(c *Config) { c.Store = store })
		v, err := again.Judge(t.Context(), row)
		if err != nil || s.Counts().Requests != calls || s.Counts().Twice > 0 {
			t.Errorf("run %d: %d calls, %d paid twice, %v", run, s.Counts().Requests, s.Counts().Twice, err)
		}
		if want := []int{2, 1}[run]; err == nil && len(v.Calls) != want {
			t.Errorf("run %d lists %d calls, want %d", run, len(v.Calls), want)
		}
	}
}

// byVote answers with another label at each vote; it knows them by their seed,
// which the server does not show, so by their order.
func byVote(labels ...string) func(*judgetest.Prompt) string {
	n := 0
	return func(p *judgetest.Prompt) string {
		a := judgetest.OverlapAnswer(p)
		label := labels[min(n, len(labels)-1)]
		n++
		for i := range a.Claims {
			if c := &a.Claims[i]; len(c.Checks) > 0 {
				c.Joint, c.Checks[0].Support = label, label
			}
		}
		return a.String()
	}
}

func TestVotes(t *testing.T) {
	tests := []struct {
		name   string
		votes  int
		labels []string
		want   string
		calls  int
	}{
		{"one is sure", 1, []string{"full"}, "full", 1},
		{"one is unsure", 1, []string{"unsure", "full"}, "unsure", 1},
		{"unsure and two that differ", 3, []string{"unsure", "full", "none"}, "none", 3},
		{"unsure and a majority", 3, []string{"unsure", "full", "full"}, "full", 3},
		{"three fixed", 3, []string{"full", "none", "full"}, "full", 3},
		{"a tie does not help the answer", 2, []string{"full", "none"}, "none", 2},
		{"contradiction by majority", 3, []string{"contradicts", "full", "contradicts"}, "contradicts", 3},
		{"nobody knows", 3, []string{"unsure"}, "unsure", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Reply: byVote(tt.labels...)})
			defer s.Close()
			v, err := newTestJudge(t, s, func(c *Config) { c.Votes = tt.votes }).Judge(t.Context(), attackOn("Q?", steeredClaim, honestPassage))
			if err != nil {
				t.Fatal(err)
			}
			c := &v.Claims[0]
			if got := c.Joint.Degree.String(); got != tt.want || c.Checks[0].Support.Degree.String() != tt.want || len(v.Calls) != tt.calls || c.Votes != tt.calls {
				t.Errorf("%s with %d votes in %d calls, want %s in %d", got, c.Votes, len(v.Calls), tt.want, tt.calls)
			}
			if c.Contradicted != ibid.TriOf(tt.want == "contradicts") {
				t.Errorf("contradicted: %v", c.Contradicted)
			}
			if len(v.Opinions) != tt.calls && tt.calls > 1 {
				t.Errorf("%d opinions", len(v.Opinions))
			}
		})
	}
}

// TestNoSetSuffices: that no set of citations suffices is an answer, in the verdict and in
// the opinions that it is made of.
func TestNoSetSuffices(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{Reply: byVote("none")})
	defer s.Close()
	v, err := newTestJudge(t, s, func(c *Config) { c.Necessity, c.Votes = true, 2 }).Judge(t.Context(), attackOn("Q?", "Nothing of it is so.", honestPassage))
	if err != nil || len(v.Opinions) != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, c := range []*judge.ClaimVerdict{&v.Claims[0], &v.Opinions[0].Claims[0], &v.Opinions[1].Claims[0]} {
		if c.Sufficient == nil || len(c.Sufficient) > 0 {
			t.Errorf("sets %#v, want an empty list", c.Sufficient)
		}
	}
}

// TestOrder checks that votes see another order, and that a rerun sees the
// same.
func TestOrder(t *testing.T) {
	row := rowsOf(1)[0]
	j := judgeAt(t, "http://localhost", func(c *Config) { c.Votes = 3 })
	first, again := j.Prompts(row), j.Prompts(row)
	if first[0].User == first[1].User || first[1].User == first[2].User {
		t.Error("votes have the same order")
	}
	for i := range first {
		if first[i] != again[i] || first[i].Vote != i {
			t.Errorf("vote %d: %+v", i, first[i])
		}
	}
}

func TestPanel(t *testing.T) {
	row := rowsOf(3)[2]
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	j := newTestJudge(t, s, func(c *Config) { c.Models = []string{"other/judge", "fake/judge"} })
	v, err := j.Judge(t.Context(), row)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Calls) != 2 || v.Calls[0].Provider != "Other" || v.Calls[1].Provider != "Fake" || len(v.Opinions) != 2 {
		t.Fatalf("calls %+v, %d opinions", v.Calls, len(v.Opinions))
	}
}

func TestPlan(t *testing.T) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	j := newTestJudge(t, s, nil)
	rows := rowsOf(10)
	total := func() Estimate {
		sum := j.NewPlanner()
		for _, r := range rows {
			if err := sum.Add(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		return sum.Estimate()
	}
	if e := total(); e.Rows != 10 || e.Calls != 10 || e.Unpriced != 10 || e.NanoUSD != 0 || e.Cached != 0 {
		t.Errorf("without prices %+v", e)
	}
	if err := j.LoadPrices(t.Context()); err != nil {
		t.Fatal(err)
	}
	priced := total()
	if priced.Unpriced != 0 || priced.NanoUSD == 0 || s.Counts().Requests != 0 {
		t.Errorf("with prices %+v", priced)
	}
	judgeAll(t.Context(), j, rows[:4], 2)
	if e := total(); e.Cached != 4 || e.Calls != 6 {
		t.Errorf("with four rows cached %+v", e)
	}
	judgeAll(t.Context(), j, rows, 2)
	if cost := j.Usage().CostNanoUSD; cost < priced.NanoUSD/3 || cost > 3*priced.NanoUSD {
		t.Errorf("cost %d, estimate %d", cost, priced.NanoUSD)
	}
	pairs := newTestJudge(t, s, func(c *Config) { c.Protocol = Score })
	sum := pairs.NewPlanner()
	if err := sum.Add(t.Context(), rows[0]); err != nil || sum.Estimate().Calls < 2 {
		t.Errorf("score %+v, %v", sum.Estimate(), err)
	}
}

// TestScore asks by the specification's prompts.
func TestScore(t *testing.T) {
	r := &judge.Request{
		Row:      "r/s",
		Claims:   []ibid.Claim{{Text: "It rained in Lisbon", Citations: []int32{0}}},
		Evidence: []judge.Evidence{{Text: "It rained in Lisbon all day.", Citation: 0}, {Text: "Porto was dry.", Citation: 1}},
	}
	tests := []struct {
		name, reply string
		fallback    bool
		support     ibid.Support
		elsewhere   ibid.Support
	}{
		{"number", "0.8", false, ibid.Scored(0.8), ibid.Support{}},
		{"first number", "Score: 0.6 (of 1.0)", false, ibid.Scored(0.6), ibid.Support{}},
		{"clamped", "7", false, ibid.Scored(1), ibid.Support{}},
		{"negative", "-0.3", false, ibid.Scored(0), ibid.Support{}},
		{"one of three", "1", false, ibid.Scored(1), ibid.Scored(1)},
		{"two of three", "2", false, ibid.Scored(1), ibid.Scored(0.5)},
		{"no number", "hard to say", false, ibid.Support{}, ibid.Support{}},
		{"no number, as the specification has it", "hard to say", true, ibid.Scored(0.5), ibid.Scored(0.5)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := judgetest.NewServer(judgetest.ServerConfig{Reply: func(p *judgetest.Prompt) string {
				if p.Pair == nil || p.Pair.Claim != r.Claims[0].Text {
					t.Errorf("prompt %+v", p)
				}
				return tt.reply
			}})
			defer s.Close()
			j := newTestJudge(t, s, func(c *Config) {
				c.Protocol, c.Retries = Score, 1
				if half := 0.5; tt.fallback {
					c.FallbackScore = &half
				}
			})
			v, err := j.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			c := &v.Claims[0]
			if c.Checks[0].Support != tt.support || c.Joint != tt.support || c.Elsewhere != tt.elsewhere {
				t.Errorf("support %+v, joint %+v, elsewhere %+v", c.Checks[0].Support, c.Joint, c.Elsewhere)
			}
		})
	}
}
