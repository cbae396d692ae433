package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ibid/judge"
	"ibid/judge/judgetest"
)

func TestConformance(t *testing.T) {
	t.Run("lexical", func(t *testing.T) {
		judgetest.TestJudge(t, func() judge.Judge { return judge.NewLexical() })
	})
	for _, name := range []string{"mean", "majority", "annotator:a"} {
		t.Run("human "+name, func(t *testing.T) {
			policy, err := judge.ParseLabelPolicy(name)
			if err != nil {
				t.Fatal(err)
			}
			judgetest.TestJudge(t, func() judge.Judge { return judge.NewHuman(policy) })
		})
	}
	t.Run("recorded", func(t *testing.T) {
		judgetest.TestJudge(t, func() judge.Judge { return judge.Recorded{} })
	})
	t.Run("replay", func(t *testing.T) {
		judgetest.TestJudge(t, func() judge.Judge { return replayOf(t, judgetest.Requests()[1:]) })
	})
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
