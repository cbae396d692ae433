package openrouter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"ibid"
	"ibid/judge"
	"ibid/judge/judgetest"
)

// said is what a verdict says of each claim, but for what depends on where words stand.
func said(v *judge.Verdict) []string {
	var out []string
	for i := range v.Claims {
		c := &v.Claims[i]
		text := fmt.Sprintf("factual %s, joint %s, contradicted %s, elsewhere %s", c.Factual, c.Joint.Degree, c.Contradicted, c.Elsewhere.Degree)
		for k := range c.Checks {
			text += fmt.Sprintf("; citation %d: %s, relevant %s, %q", c.Checks[k].Citation, c.Checks[k].Support.Degree, c.Checks[k].Relevant, c.Checks[k].Quote)
		}
		out = append(out, text)
	}
	return out
}

// An attacked judge asks a fake model that can be told who it is.
type attacked struct {
	*Judge
	reply func(*judgetest.Prompt) string
	first sync.Once // requests come side by side
	code  string    // of the clean request, which is the first
}

func newAttacked(t *testing.T, change func(*Config)) *attacked {
	a := &attacked{reply: careful}
	s := judgetest.NewServer(judgetest.ServerConfig{Reply: func(p *judgetest.Prompt) string {
		a.first.Do(func() {
			_, rest, _ := strings.Cut(p.User, "The code of this review is ")
			a.code, _, _ = strings.Cut(rest, ".")
		})
		return a.reply(p)
	}})
	t.Cleanup(s.Close)
	a.Judge = newTestJudge(t, s, change)
	return a
}

// TestAttacks puts every attack to every place of a prompt. A model that obeys what stands
// outside the exhibits, and nothing inside, gives the verdicts of the clean text: no text
// leaves its place.
func TestAttacks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		votes  int
		places []string
	}{
		{"in one order", 1, places},
		{"in three orders", 3, []string{"source"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAttacked(t, func(c *Config) { c.Votes = tt.votes })
			clean, err := a.Judge.Judge(t.Context(), attackedRow())
			if err != nil {
				t.Fatal(err)
			}
			want := []string{
				`factual yes, joint full, contradicted no, elsewhere none; citation 0: full, relevant yes, "Tower A was finished in 1650."`,
				`factual yes, joint none, contradicted no, elsewhere none; citation 1: none, relevant yes, "Tower B stood until a storm."`,
				`factual yes, joint contradicts, contradicted yes, elsewhere none; citation 2: contradicts, relevant yes, "Tower C burnt down in 1702."`,
			}
			if got := said(clean); !slices.Equal(got, want) {
				t.Fatalf("the clean text: %q", got)
			}
			cases, changed := 0, 0
			for _, attack := range attackSuite(t) {
				for _, place := range tt.places {
					v, err := a.Judge.Judge(t.Context(), attack.on(attackedRow(), place, a.code))
					cases++
					if err != nil {
						t.Errorf("%s, %s, in %s: %v", attack.Family, attack.Name, place, err)
						changed++
					} else if got := said(v); !slices.Equal(got, want) {
						t.Errorf("%s, %s, in %s: %q", attack.Family, attack.Name, place, got)
						changed++
					}
				}
			}
			t.Logf("%d attacks, %d cases, %d verdicts changed", len(attackSuite(t)), cases, changed)
		})
	}
}

// TestAttacksOnClaims: what is asked for the claims of sentences is fenced, too: the claims
// of every sentence are those of the clean text, and the attack is a sentence like others.
func TestAttacksOnClaims(t *testing.T) {
	t.Parallel()
	a := newAttacked(t, func(c *Config) { c.Claims = true })
	cases := 0
	for _, attack := range attackSuite(t) {
		for _, place := range []string{"question", "answer"} {
			r := attack.on(attackedRow(), place, a.code)
			s := &judge.Sentences{Row: r.Row, Question: r.Question, Answer: r.Answer}
			for _, c := range r.Claims {
				s.Sentences = append(s.Sentences, c.Text)
			}
			text := strings.Join(attack.Parts, " ")
			s.Sentences = append(s.Sentences, text)
			split, err := a.Split(t.Context(), s)
			cases++
			if err != nil {
				t.Errorf("%s, %s, in %s: %v", attack.Family, attack.Name, place, err)
				continue
			}
			for i, sentence := range s.Sentences {
				if got := split.Claims[i]; len(got) != 1 || !slices.Equal(strings.Fields(got[0]), strings.Fields(strings.ToValidUTF8(sentence, "\uFFFD"))) {
					t.Errorf("%s, %s, in %s: claims of %q: %q", attack.Family, attack.Name, place, sentence, got)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

// TestAttacksOnPairs: the prompts of the specification have no frame, so that whatever is in
// the cited words or the claim is obeyed. What they do not show cannot be.
func TestAttacksOnPairs(t *testing.T) {
	t.Parallel()
	a := newAttacked(t, func(c *Config) { c.Protocol = Score })
	clean, err := a.Judge.Judge(t.Context(), attackedRow())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(supports(clean))
	if want != "[1 0 0]" {
		t.Fatalf("the clean text: %s", want)
	}
	for place, moves := range map[string]bool{"source": true, "claim": true, "title": false, "window": false, "question": false, "answer": false} {
		moved := 0
		for _, attack := range attackSuite(t) {
			v, err := a.Judge.Judge(t.Context(), attack.on(attackedRow(), place, ""))
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(supports(v)) != want {
				moved++
			}
		}
		if (moved > 0) != moves {
			t.Errorf("in %s: %d attacks of %d moved a verdict", place, moved, len(attackSuite(t)))
		}
		t.Logf("in %s: %d of %d", place, moved, len(attackSuite(t)))
	}
}

func supports(v *judge.Verdict) []float64 {
	var out []float64
	for i := range v.Claims {
		out = append(out, v.Claims[i].Joint.Value)
	}
	return out
}

// TestAttackSuite: the suite is what it is said to be, and a model that obeys everything
// falls for it, or the careful one would prove nothing.
func TestAttackSuite(t *testing.T) {
	t.Parallel()
	a := newAttacked(t, nil)
	clean, err := a.Judge.Judge(t.Context(), attackedRow())
	if err != nil {
		t.Fatal(err)
	}
	a = newAttacked(t, nil)
	a.reply = gullible
	if v, err := a.Judge.Judge(t.Context(), attackedRow()); err != nil || !slices.Equal(said(v), said(clean)) {
		t.Errorf("the obedient model on the clean text: %v, %v", v, err)
	}
	families := make(map[string]int)
	seen := make(map[string]bool)
	for _, attack := range attackSuite(t) {
		families[attack.Family]++
		if name := attack.Family + attack.Name; seen[name] || len(attack.Parts) == 0 {
			t.Errorf("%s is there twice, or has no text", name)
		} else {
			seen[name] = true
		}
		v, err := a.Judge.Judge(t.Context(), attack.on(attackedRow(), "source", a.code))
		var failure *judge.RowFailure
		if errors.As(err, &failure) {
			continue // no verdict is what it was after, too
		}
		if err != nil || v.Claims[1].Joint.Degree != ibid.Full {
			t.Errorf("%s, %s: the obedient model does not obey: %v, %v", attack.Family, attack.Name, v, err)
		}
	}
	if len(families) != 10 || len(attackSuite(t)) < 60 {
		t.Errorf("%d attacks in %d families", len(attackSuite(t)), len(families))
	}
}
