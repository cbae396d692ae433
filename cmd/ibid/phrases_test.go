package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics/claims"
)

// TestPhrasesClaimNothing runs an answer for each phrase, and some that abstain: one
// uncited sentence that begins with it is no claim under default settings, and is one if the setting leaves the
// built-in phrases out.
func TestPhrasesClaimNothing(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	phrases := claims.NewPhrases(claims.Phrases{}).NoClaim
	for _, p := range phrases {
		answer := p + " seven bridges of red steel."
		if strings.HasSuffix(p, ".") || strings.HasSuffix(p, "。") {
			answer = p
		}
		line, err := json.Marshal(map[string]any{"id": p, "query": "q", "answer": answer, "citations": []any{}, "documents": []map[string]string{{"doc": "a", "text": "Seven bridges are made of red steel."}}})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	abstaining := []string{"I don't know.", "Unfortunately, the provided documents do not mention the price.", "Ich weiß es nicht."}
	for _, answer := range abstaining {
		phrases = append(phrases, answer)
		line, err := json.Marshal(map[string]any{"id": answer, "query": "q", "answer": answer, "citations": []any{}, "documents": []map[string]string{{"doc": "a", "text": "Seven bridges are made of red steel."}}})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "phrases.jsonl"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	count := func(id string, settings ...string) (with int) {
		mustIbid(t, dir, append([]string{"run", "phrases.jsonl", "--id", id, "-q"}, settings...)...)
		rows := readRows(t, filepath.Join(dir, "runs", id, runs.RowsFile))
		if len(rows) != len(phrases) {
			t.Fatalf("%d rows, want %d", len(rows), len(phrases))
		}
		for _, row := range rows {
			if row["claims"].Int > 0 {
				with++
				if len(settings) == 0 {
					t.Errorf("%q makes a claim", row["id"].Text)
				}
			}
			if abstains := slices.Contains(abstaining, row["id"].Text); len(settings) == 0 && abstains != (row["judge_null"].Text == "abstained") {
				t.Errorf("%q abstains: judge_null is %q", row["id"].Text, row["judge_null"].Text)
			}
		}
		return with
	}
	count("default")
	none := count("none", "--set", "no_claim_phrases=[none]")
	if none < len(phrases)/2 {
		t.Errorf("%d of %d answers claim something without phrases", none, len(phrases))
	}
	if own := count("own", "--set", "no_claim_phrases=[none, let me, ich suche]"); own != none-2 {
		t.Errorf("%d answers claim something with two phrases of the setting, want two fewer than %d", own, none)
	}
}
