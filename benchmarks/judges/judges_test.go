//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibid/judge/judgetest"
)

// sample writes 24 claims about 12 towns in the form of WiCE, two rows a claim, and what a
// model said of the first 20 rows. The second claim of each town is wrong.
func sample(t *testing.T) (chunks, judges string) {
	t.Helper()
	dir := t.TempDir()
	var rows, replies strings.Builder
	for i, town := range strings.Fields("Askim Brzeg Cadaval Dolni Eger Felling Gorizia Hvar Imst Jaca Kalmar Lindau") {
		year := 1810 + 7*i
		evidence := []string{fmt.Sprintf("The bridge of %s was opened in %d.", town, year), "It carries trains over the river.", "Nobody lives on it."}
		claims := []struct{ text, label string }{
			{fmt.Sprintf("The bridge of %s was opened in %d", town, year), "supported"},
			{fmt.Sprintf("The bridge of Rotterdam was opened in %d", year+3), "not_supported"},
		}
		for k, claim := range claims {
			for chunk := range 2 {
				var row wiceChunk
				row.Label, row.Claim, row.Evidence = claim.label, claim.text, evidence[chunk:]
				row.Meta.ID = fmt.Sprintf("own%02d-%d", i, k)
				line, err := json.Marshal(map[string]any{"label": row.Label, "claim": row.Claim, "evidence": row.Evidence, "meta": map[string]string{"id": row.Meta.ID}})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&rows, "%s\n", line)
				if i < 5 {
					fmt.Fprintf(&replies, `{"response":"<explanation>Line 0.</explanation><answer>%s</answer>"}`+"\n", claim.label)
				}
			}
		}
	}
	chunks, judges = filepath.Join(dir, "chunks.jsonl"), filepath.Join(dir, "judges")
	if err := os.Mkdir(judges, 0o777); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		chunks: rows.String(), filepath.Join(judges, "gpt-3.5-turbo-0613.raw_outputs.jsonl"): replies.String(),
		filepath.Join(judges, "gpt-4-0613.raw_outputs.jsonl"):     replies.String(),
		filepath.Join(judges, "t5-3b-anli.chunk_scores.txt"):      "0.9 0.1 0.2 0.1 0.8 0.1 0.3 0.4\n",
		filepath.Join(judges, "t5-3b-anli-wice.chunk_scores.txt"): "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return chunks, judges
}

// measureSample runs the laboratory over the sample and returns what it prints.
func measureSample(t *testing.T, l *laboratory, models string) string {
	t.Helper()
	l.dir = t.TempDir()
	chunks, judges := sample(t)
	set, err := l.openWice(chunks, judges)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := l.run(t.Context(), &out, []*labelledSet{set}, models); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func wantLines(t *testing.T, got string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)^" + p).MatchString(got) {
			t.Errorf("no line like %s in\n%s", p, got)
		}
	}
}

// TestOffline: without a key the offline judges are measured, each claim once with the best
// score of its rows, each judge on what it has a score of.
func TestOffline(t *testing.T) {
	wantLines(
		t, measureSample(t, new(laboratory), ""),
		`\| overlap of words \| 24 \| 1\.000 \[0\.862, 1\.000\] `,
		`\| gpt-4-0613 \(recorded\) \| 10 \| 1\.000 .*\| – \| \d`,
		`\| t5-3b-anli \(recorded\) \| 4 \| 1\.000 `,
	)
}

// TestModels: a model is asked about each row, and its price and agreement with people are
// measured.
func TestModels(t *testing.T) {
	server := judgetest.NewServer(judgetest.ServerConfig{})
	defer server.Close()
	t.Setenv("OPENROUTER_API_KEY", judgetest.DefaultKey)
	l := &laboratory{settings: []string{"judge.base_url=" + server.URL()}}
	wantLines(t, measureSample(t, l, "fake/judge"), `\| fake/judge \| 24 \| [01]\.\d{3}.* \| \d+\.\d+ \| \d`)
	if n := server.Counts().Requests; n < 48 {
		t.Errorf("%d requests, want those of 48 rows", n)
	}
}

func TestOverlapOf(t *testing.T) {
	// "tower" is in one of two sentences, "built" in none: ln(3/2)+1 and ln(3)+1; "the" in
	// both: 1.
	rare, none := math.Log(1.5)+1, math.Log(3)+1
	got := overlapOf("The tower built", "The tower stands there. The river flows there.")
	if want := (1 + rare) / (1 + rare + none); math.Abs(got.Value-want) > 1e-15 {
		t.Errorf("overlap %v, want %v", got.Value, want)
	}
	if got := overlapOf("…", "The tower."); got.Known() {
		t.Errorf("a claim without words: %v, want undefined", got)
	}
}
