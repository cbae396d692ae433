package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedData is real data that people annotated, with figures that independent
// scripts computed of it in sharedExpected.
const (
	sharedData     = "../../../shared/data"
	sharedExpected = "../../../shared/expected"
)

// expected reads the figures of a data set into v.
func expected(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sharedExpected, name+".json"))
	if err != nil {
		t.Skip("no real data: folders ../shared/data and ../shared/expected beside the project are missing")
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// statistics are the estimates of an agreement or a calibration by "annotators
// statistic", as their CSV has them.
func statistics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, name := range records[0] {
		column[name] = i
	}
	out := make(map[string]float64)
	for _, r := range records[1:] {
		key := r[column["statistic"]]
		if i, ok := column["annotators"]; ok {
			key = r[i] + " " + key
		}
		var v float64
		if _, err := fmt.Sscan(r[column["estimate"]], &v); err == nil {
			out[key] = v
		}
	}
	return out
}

func near(t *testing.T, what string, got map[string]float64, key string, want, tolerance float64) {
	t.Helper()
	v, ok := got[key]
	if !ok || !(math.Abs(v-want) <= tolerance) {
		t.Errorf("%s: %s = %v (there: %v), want %v", what, key, v, ok, want)
	}
}

// writeLabels writes a table of labels: item, annotator, value, cluster.
func writeLabels(t *testing.T, path string, rows [][]string) {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{{"item", "annotator", "value", "cluster"}}, rows...)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestAgreeEvidenceInference: two people marked evidence in medical articles and
// said which way an outcome went.
func TestAgreeEvidenceInference(t *testing.T) {
	t.Parallel()
	var want struct {
		All struct {
			Macro map[string]float64
			Label struct {
				Observed float64 `json:"observed_agreement"`
				Kappa    float64 `json:"cohen_kappa"`
			}
		} `json:"all_rows"`
	}
	expected(t, "evidence-inference-v2", &want)
	dir := t.TempDir()
	data, err := filepath.Abs(filepath.Join(sharedData, "evidence-inference-v2"))
	if err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "import", "evidence-inference", data, "-o", "ei.parquet", "--docs", "docs.parquet", "-q")
	got := statistics(t, mustIbid(t, dir, "agree", "ei.parquet", "--documents", "docs.parquet", "--format", "csv"))
	near(t, "spans", got, "all char_jaccard", want.All.Macro["char_jaccard"], 1e-9)
	var all map[string]map[string]any
	expected(t, "people", &all)
	figures := all["agree evidence-inference"]
	for _, statistic := range []string{"char_jaccard", "char_alpha", "overlap_f1", "exact_f1"} {
		near(t, "spans", got, "all "+statistic, figures[statistic].(float64), 1e-9)
	}
	for pair, of := range figures["pairs"].(map[string]any) {
		for _, statistic := range []string{"char_jaccard", "char_alpha"} {
			near(t, "spans", got, pair+" "+statistic, of.(map[string]any)[statistic].(float64), 1e-9)
		}
	}

	writeLabels(t, filepath.Join(dir, "labels.csv"), evidenceLabels(t, filepath.Join(data, "annotations.csv")))
	got = statistics(t, mustIbid(t, dir, "agree", "labels.csv", "--format", "csv"))
	near(t, "labels", got, "author|other cohen_kappa", want.All.Label.Kappa, 1e-9)
	near(t, "labels", got, "author|other percent_agreement", want.All.Label.Observed, 1e-9)
}

// evidenceLabels are the label codes of prompts, by the author of the prompt and
// by whoever else annotated it, where each gave one.
func evidenceLabels(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, name := range records[0] {
		column[name] = i
	}
	seen := make(map[[3]string]bool)
	var rows [][]string
	for _, r := range records[1:] {
		who := "other"
		if r[column["UserID"]] == "0" {
			who = "author"
		}
		key := [3]string{r[column["PMCID"]] + "/" + r[column["PromptID"]], who, r[column["Label Code"]]}
		if !seen[key] {
			seen[key] = true
			rows = append(rows, []string{key[0], key[1], key[2], r[column["PMCID"]]})
		}
	}
	return rows
}

// TestAgreeCrowd: five votes of a crowd on each of seven qualities; who voted does
// not matter.
func TestAgreeCrowd(t *testing.T) {
	t.Parallel()
	type alphas struct {
		Nominal float64 `json:"alpha_nominal"`
		Ordinal float64 `json:"alpha_ordinal"`
	}
	var want struct{ Dimensions map[string]alphas }
	expected(t, "cragc25-ratings", &want)
	rows := crowdVotes(t)
	dir := t.TempDir()
	for dimension, alpha := range want.Dimensions {
		writeVotes(t, filepath.Join(dir, dimension+".jsonl"), rows, dimension+"_vote")
		near(t, dimension, statistics(t, mustIbid(t, dir, "agree", dimension+".jsonl", "--format", "csv")), "all alpha_nominal", alpha.Nominal, 1e-9)
		near(t, dimension, statistics(t, mustIbid(t, dir, "agree", dimension+".jsonl", "--values", "A,N,B", "--format", "csv")), "all alpha_ordinal", alpha.Ordinal, 1e-9)
	}
}

func crowdVotes(t *testing.T) []map[string]any {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData, "cragc25-ratings", "ratings.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	for d := json.NewDecoder(z); d.More(); {
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// writeVotes writes one vote a line, without saying whose it is.
func writeVotes(t *testing.T, path string, rows []map[string]any, column string) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for i, row := range rows {
		for _, vote := range row[column].([]any) {
			if err := e.Encode(map[string]any{"item": i, "value": vote}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestExercise: the exercise of the annotators' guide gives full marks to who
// follows the guide, and to nobody else.
func TestExercise(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join("..", "..", "annotations", "exercise.jsonl")
	data, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "exercise.jsonl"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "import", "jsonl", "exercise.jsonl", "-o", "exercise.parquet", "-q")
	mustIbid(t, dir, "sample", "exercise.parquet", "-o", "exercise", "--fraction", "1")
	reference := make(map[string]any) // truth by query
	for line := range bytes.Lines(data) {
		var item map[string]any
		if err := json.Unmarshal(line, &item); err != nil {
			t.Fatal(err)
		}
		marks := []any{}
		for _, m := range item["truth"].([]any) {
			if m := m.(map[string]any); m["doc"] != nil {
				delete(m, "annotator")
				marks = append(marks, m)
			}
		}
		reference[item["query"].(string)] = marks
	}
	fill := func(truth func(query string) any) float64 {
		t.Helper()
		var out bytes.Buffer
		items, err := os.ReadFile(filepath.Join(dir, "exercise", "items.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(items) {
			var item map[string]any
			if err := json.Unmarshal(line, &item); err != nil {
				t.Fatal(err)
			}
			if item["id"] != nil {
				item["truth"] = truth(item["query"].(string))
			}
			if err := json.NewEncoder(&out).Encode(item); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "exercise", "cyd.jsonl"), out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return statistics(t, mustIbid(t, dir, "agree", "exercise", "--format", "csv"))["cyd|guide char_jaccard"]
	}
	if got := fill(func(query string) any { return reference[query] }); got != 1 {
		t.Errorf("who follows the guide gets %v, want 1", got)
	}
	if got := fill(func(string) any { return []any{} }); got != 0 {
		t.Errorf("who marks nothing gets %v, want 0", got)
	}
}

// judgePairs writes what people and a judge said of items as a table of labels.
func judgePairs(t *testing.T, path, judge string, human [][]float64, scores []float64) {
	t.Helper()
	var rows [][]string
	for i, labels := range human {
		item := fmt.Sprint(i)
		for k, v := range labels {
			rows = append(rows, []string{item, fmt.Sprintf("human-%d", k+1), fmt.Sprint(v), item})
		}
		rows = append(rows, []string{item, judge, fmt.Sprint(scores[i]), item})
	}
	writeLabels(t, path, rows)
}

// TestCalibrateWiCE: four judges of 100 claims, as their authors measured them, and as they
// are at 0.7.
func TestCalibrateWiCE(t *testing.T) {
	t.Parallel()
	var want struct {
		Judges map[string]struct {
			AUROC     float64              `json:"auroc_supported_vs_rest"`
			Threshold float64              `json:"paper_threshold"`
			At        struct{ F1 float64 } `json:"at_paper_threshold"`
			Three     *struct {
				Kappa float64 `json:"cohen_kappa"`
			} `json:"three_class"`
		}
	}
	expected(t, "wice", &want)
	var all map[string]map[string]any
	expected(t, "people", &all)
	ids, gold := wiceClaims(t)
	for judge, figures := range want.Judges {
		t.Run(judge, func(t *testing.T) {
			scores := make(map[string]float64)
			data, err := os.ReadFile(filepath.Join(sharedData, "wice", "judges", judge+".entailment_score.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &scores); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			var degrees, whole [][]float64 // people's values, and whether they are 1
			var said []float64
			for _, id := range ids {
				degrees, whole, said = append(degrees, []float64{gold[id]}), append(whole, []float64{math.Floor(gold[id])}), append(said, scores[id])
			}
			judgePairs(t, filepath.Join(dir, "degrees.csv"), "judge", degrees, said)
			judgePairs(t, filepath.Join(dir, "whole.csv"), "judge", whole, said)
			// Theirs is score > threshold, ours score >= threshold: the next number.
			threshold := fmt.Sprint(math.Nextafter(figures.Threshold, 1))
			got := statistics(t, mustIbid(t, dir, "calibrate", "whole.csv", "--judge-name", "judge", "--threshold", threshold, "--format", "csv"))
			near(t, judge, got, "f1", figures.At.F1, 1e-9)
			near(t, judge, got, "auroc", figures.AUROC, 1e-9)
			if figures.Three != nil {
				near(t, judge, statistics(t, mustIbid(t, dir, "agree", "degrees.csv", "--format", "csv")), "human-1|judge cohen_kappa", figures.Three.Kappa, 1e-9)
			}
			got = statistics(t, mustIbid(t, dir, "calibrate", "degrees.csv", "--judge-name", "judge", "--threshold", "0.7", "--format", "csv"))
			for _, statistic := range []string{"balanced_accuracy", "sensitivity", "specificity", "kappa", "auroc"} {
				near(t, judge, got, statistic, all["calibrate wice "+judge][statistic].(float64), 1e-9)
			}
		})
	}
}

// wiceClaims are the claims in order, with what people said: supported 1,
// partially 0.5, not 0.
func wiceClaims(t *testing.T) (ids []string, gold map[string]float64) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sharedData, "wice", "claims.test.first100.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	gold = make(map[string]float64)
	for line := range bytes.Lines(data) {
		var claim struct {
			Label string
			Meta  struct{ ID string }
		}
		if err := json.Unmarshal(line, &claim); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, claim.Meta.ID)
		gold[claim.Meta.ID] = map[string]float64{"supported": 1, "partially_supported": 0.5}[claim.Label]
	}
	return ids, gold
}

// TestCalibrateRAGChecker: preferences of two people for each of 280 pairs of
// answers, and a judge's.
func TestCalibrateRAGChecker(t *testing.T) {
	t.Parallel()
	type quality struct {
		Judge struct {
			Spearman float64 `json:"spearman_x100"`
		} `json:"ragchecker_vs_human"`
		Humans struct {
			Kappa float64 `json:"cohen_kappa"`
		} `json:"human_vs_human"`
	}
	var all map[string]map[string]any
	expected(t, "people", &all)
	var want map[string]json.RawMessage
	expected(t, "ragchecker-meta", &want)
	var people []map[string]any
	var judged []struct {
		Model1, Model2 struct{ RAGChecker map[string]float64 }
	}
	for name, v := range map[string]any{"human_labeled_data.json": &people, "baseline_ragchecker.json": &judged} {
		data, err := os.ReadFile(filepath.Join(sharedData, "ragchecker-meta", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, label := range []string{"correctness_label", "completeness_label", "overall_label"} {
		var figures quality
		if err := json.Unmarshal(want[label], &figures); err != nil {
			t.Fatal(err)
		}
		var human [][]float64
		var scores []float64
		for i, pair := range judged {
			human = append(human, []float64{people[2*i][label].(float64), people[2*i+1][label].(float64)})
			scores = append(scores, pair.Model2.RAGChecker[label]-pair.Model1.RAGChecker[label])
		}
		dir := t.TempDir()
		judgePairs(t, filepath.Join(dir, "labels.csv"), "ragchecker", human, scores)
		got := statistics(t, mustIbid(t, dir, "calibrate", "labels.csv", "--judge-name", "ragchecker", "--policy", "each", "--format", "csv"))
		// The published last digit hangs on rounding in a normalisation.
		near(t, label, got, "spearman", figures.Judge.Spearman/100, 5e-4)
		writePeople(t, filepath.Join(dir, "people.csv"), human)
		got = statistics(t, mustIbid(t, dir, "agree", "people.csv", "--format", "csv"))
		near(t, label, got, "human-1|human-2 cohen_kappa", figures.Humans.Kappa, 1e-9)
		of := all["agree ragchecker "+strings.TrimSuffix(label, "_label")]
		for _, statistic := range []string{"alpha_ordinal", "percent_agreement", "ac1"} {
			near(t, label, got, "all "+statistic, of[statistic].(float64), 1e-9)
		}
		near(t, label, got, "human-1|human-2 cohen_kappa", of["cohen_kappa"].(float64), 1e-9)
		if len(got) != 5 {
			t.Errorf("%s: %v, want alpha_ordinal, percent_agreement and ac1 of all, and two of the pair", label, got)
		}
	}
}

func writePeople(t *testing.T, path string, human [][]float64) {
	t.Helper()
	var rows [][]string
	for i, labels := range human {
		for k, v := range labels {
			rows = append(rows, []string{fmt.Sprint(i), fmt.Sprintf("human-%d", k+1), fmt.Sprint(v), fmt.Sprint(i)})
		}
	}
	writeLabels(t, path, rows)
}
