package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/annotations/compare"
	"ibid/annotations/history"
)

// TestCompareExpertQA compares the systems of an annotated corpus, which answered
// different questions: they stand side by side, without a difference or a rank, and
// their shares of cited claims that hold differ by as much as an independent program
// says.
func TestCompareExpertQA(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Pairwise map[string]struct {
			Diff float64 `json:"precision_strict_diff"`
		} `json:"precision_strict_pairwise_z"`
	}
	readShared(t, filepath.Join(shared, "expected", "expertqa.json"), &expected)
	dir := t.TempDir()
	mustIbid(t, dir, "import", "expertqa", filepath.Join(shared, "data", "expertqa", "rand_test.jsonl"), "-o", "e.parquet", "--docs", "docs.parquet", "-q")
	mustIbid(t, dir, "run", "e.parquet", "--documents", "docs.parquet", "--judge", "human", "--id", "e", "-q")
	var r compare.Result
	text, stderr, code := command(t, dir, "compare", "runs/e", "--metric", "micro(cited_claim_precision)", "--json")
	if err := json.Unmarshal([]byte(text), &r); err != nil || code != 4 {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	m := r.Metrics[0]
	if len(m.Differences) != 0 || m.Reason != compare.NotPaired || len(m.Leaders) != 0 {
		t.Errorf("%+v", m)
	}
	own := make(map[string]float64)
	for _, v := range m.Sides {
		if v.Own == nil {
			t.Fatalf("%+v", v)
		}
		own[v.Name] = *v.Own
	}
	for pair, want := range expected.Pairwise { // the first less the second, with 10 decimals
		a, b, _ := strings.Cut(pair, " - ")
		if math.Abs(own[a]-own[b]-want.Diff) > 1e-9 {
			t.Errorf("%s: %v and %v, want a difference of %v", pair, own[a], own[b], want.Diff)
		}
	}
}

// TestComparePeople compares the systems of the cases of people and their nights with what an
// independent program says.
func TestComparePeople(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	type difference struct {
		Diff, SE, Low, High, P float64
		N, Better, Worse, Same int64
		Word                   compare.Word
	}
	type systems struct {
		Questions   int64
		Family      int
		Own         map[string]float64
		Estimate    map[string]float64
		Differences map[string]difference
		Leaders     []string
		Base        map[string]difference `json:"base_B_family_2"`
	}
	var all map[string]json.RawMessage
	readShared(t, filepath.Join(shared, "expected", "people.json"), &all)
	dir := t.TempDir()
	if out, err := exec.Command("python3", filepath.Join(shared, "expected", "people_data.py"), shared, filepath.Join(dir, "D")).CombinedOutput(); err != nil {
		t.Skipf("no data: %v %s", err, out)
	}
	run := func(data, id string) {
		t.Helper()
		mustIbid(t, dir, "run", filepath.Join("D", data), "--documents", "D/documents.jsonl", "--judge", "none", "--set", "statistics.cluster=id", "--id", id, "-q")
	}
	run("answers.jsonl", "answers")
	var want systems
	if err := json.Unmarshal(all["compare answers char_f1, statistics.cluster=id"], &want); err != nil {
		t.Fatal(err)
	}
	check := func(m *compare.Metric, want map[string]difference, family int) {
		t.Helper()
		if m.Metric != "char_f1" || m.Family != family || len(m.Differences) != len(want) {
			t.Errorf("%+v", m)
		}
		for _, d := range m.Differences {
			w := want[d.Base+" -> "+d.New]
			for name, pair := range map[string][2]float64{"diff": {*d.Diff, w.Diff}, "se": {*d.SE, w.SE}, "low": {*d.Low, w.Low}, "high": {*d.High, w.High}, "p": {*d.P, w.P}} {
				if math.Abs(pair[0]-pair[1]) > 1e-6 {
					t.Errorf("%s -> %s: %s %v, want %v", d.Base, d.New, name, pair[0], pair[1])
				}
			}
			if d.N != w.N || d.Better != w.Better || d.Worse != w.Worse || d.Same != w.Same || d.Word != w.Word {
				t.Errorf("%+v, want %+v", d, w)
			}
		}
	}
	compared := func(args ...string) (r compare.Result) {
		t.Helper()
		if err := json.Unmarshal([]byte(mustIbid(t, dir, append([]string{"compare", "--json"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := compared("runs/answers")
	check(&r.Metrics[0], want.Differences, want.Family)
	if m := &r.Metrics[0]; m.Questions != want.Questions || !slices.Equal(m.Leaders, want.Leaders) {
		t.Errorf("%+v", m)
	}
	for _, v := range r.Metrics[0].Sides {
		if math.Abs(*v.Estimate-want.Estimate[v.Name]) > 1e-9 || math.Abs(*v.Own-want.Own[v.Name]) > 1e-9 {
			t.Errorf("%+v", v)
		}
	}
	r = compared("runs/answers", "--base", "B")
	check(&r.Metrics[0], want.Base, 2)

	var nights map[string]map[string]json.RawMessage
	if err := json.Unmarshal(all["nights, statistics.cluster=id"], &nights); err != nil {
		t.Fatal(err)
	}
	run("nights/1", "night-1")
	for _, night := range []string{"2", "6", "8"} {
		run("nights/"+night, "night-"+night)
		r := compared("runs/night-1", "runs/night-"+night)
		for _, m := range r.Metrics[:2] {
			var w difference
			if err := json.Unmarshal(nights[night][m.System], &w); err != nil {
				t.Fatal(err)
			}
			d := m.Differences[0]
			// Their degrees of freedom are those of pairs that all differ; where few do, ours are fewer.
			if math.Abs(*d.Diff-w.Diff) > 1e-9 || math.Abs(*d.Low-w.Low)+math.Abs(*d.High-w.High) > 0.007 || math.Abs(*d.P-w.P) > 1e-6 || d.Word != w.Word {
				t.Errorf("night %s, %s: %v [%v, %v] %v %s, want %+v", night, m.System, *d.Diff, *d.Low, *d.High, *d.P, d.Word, w)
			}
		}
	}
}

// TestNights runs eight nights of which the sixth falls and stays down, with a file that
// changes its name and another dataset between them, and then ninth nights of each kind.
func TestNights(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("python3", filepath.Join(shared, "expected", "people_data.py"), shared, filepath.Join(dir, "D")).CombinedOutput(); err != nil {
		t.Skipf("no data: %v %s", err, out)
	}
	// night runs a file and returns the sentence about the base.
	night := func(folder, id, data string, exit int, args ...string) string {
		t.Helper()
		if files, err := filepath.Glob(filepath.Join(dir, data, "*.jsonl")); err == nil && len(files) == 1 {
			data = files[0]
		}
		args = append([]string{
			"run", data, "--documents", "D/documents.jsonl", "--judge", "none", "--set", "statistics.cluster=question", "--out", folder, "--id", id,
			"--gate", "hi(diff(char_f1))[system=B] >= 0", "--gate", "char_f1 >= 0.5", "--json",
		}, args...)
		text, stderr, code := command(t, dir, args...)
		if code != exit {
			t.Errorf("%s: exit code %d, want %d\n%s", id, code, exit, stderr)
		}
		var said struct {
			Conclusion struct{ Since string }
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			t.Fatalf("%s: %v\n%s", id, err, text)
		}
		return said.Conclusion.Since
	}
	says := func(id, since, want string) {
		t.Helper()
		if !strings.Contains(since, want) || want == "" && since != "" {
			t.Errorf("%s says %q, want %q", id, since, want)
		}
	}
	for k, want := range []struct {
		exit int
		says string
	}{
		{0, ""},
		{0, "Since night-1: no difference found"},
		{0, "Since night-1: no difference found"},
		{0, "Since night-1: no difference found"},
		{0, "Since night-1: no difference found"},
		{3, "Since night-1: B is worse on char_f1 by 0.283 (p 0.003); first seen tonight;"},
		{3, "Since night-1: B is worse on char_f1 by 0.267 (p 0.004); first seen in night-6;"},
		{3, "Since night-1: B is worse on char_f1 by 0.300 (p 0.002); first seen in night-6;"},
	} {
		id := fmt.Sprintf("night-%d", k+1)
		says(id, night("n", id, fmt.Sprintf("D/nights/%d", k+1), want.exit), want.says)
		if k == 2 {
			mustIbid(t, dir, "run", "D/one.jsonl", "--documents", "D/documents.jsonl", "--judge", "none", "--out", "n", "--id", "one", "-q")
		}
	}
	var all struct {
		Series []history.Account
	}
	if err := json.Unmarshal([]byte(mustIbid(t, dir, "history", "n", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Series) != 2 || len(all.Series[0].Runs) != 8 || len(all.Series[1].Runs) != 1 || all.Series[0].Base != "night-1" {
		t.Fatalf("series: %+v", all.Series)
	}
	for k, want := range []string{"", " tied", " tied", " tied", " tied", "night-6 worse", "night-6 worse", "night-6 worse"} {
		for _, v := range all.Series[0].Runs[k].Values {
			if got := strings.TrimPrefix(v.Since+" "+string(v.Word), " "); v.System == "B" && got != strings.TrimPrefix(want, " ") {
				t.Errorf("night %d of B: %q, want %q", k+1, got, want)
			}
			if v.System == "A" && (math.Abs(*v.Estimate-0.9) > 1e-9 || v.Since != "") {
				t.Errorf("night %d of A: %+v", k+1, v)
			}
		}
	}

	// Ninth nights, each in a copy of the folder.
	ninth := func(id, data string, exit int, want string, before ...func(folder string)) string {
		t.Helper()
		folder := "n-" + id
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(dir, "n"))); err != nil {
			t.Fatal(err)
		}
		for _, f := range before {
			f(folder)
		}
		says(id, night(folder, id, data, exit), want)
		return folder
	}
	accept := func(folder string) { mustIbid(t, dir, "history", folder, "--accept", "night-8") }
	text, err := os.ReadFile(filepath.Join(dir, "D", "nights", "5", "export-2026.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	write := func(name string, lines []string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	ninth("mended", "D/nights/5", 0, "Since night-1: no difference found")
	for id, want := range map[string]string{"night-5": `failures="0" errors="0" skipped="0"`, "night-7": `failures="1" errors="0" skipped="0"`} {
		_, _, _ = command(t, dir, "gate", "n/"+id, "--gate", "hi(diff(char_f1))[system=B] >= 0", "--junit", id+".xml")
		text, err := os.ReadFile(filepath.Join(dir, id+".xml"))
		if err != nil || !strings.Contains(string(text), want) || strings.Count(string(text), "<failure") > 1 || !strings.Contains(string(text), "answers that newly fail") {
			t.Errorf("%s: %v\n%s", id, err, text)
		}
	}
	folder := ninth("accepted", "D/nights/8", 0, "Since night-8: no difference found.", accept)
	if text := mustIbid(t, dir, "history", folder); !strings.Contains(text, "base night-8, accepted") {
		t.Errorf("history does not say what was accepted:\n%s", text)
	}
	ninth("fewer", write("fewer.jsonl", lines[:100]), 4, "Since night-1: ")
	more := []string{strings.Replace(lines[0], `"id": "`, `"id": "x`, 1), strings.Replace(lines[1], `"id": "`, `"id": "x`, 1)}
	ninth("more", write("more.jsonl", append(slices.Clone(lines), more...)), 0, "Since night-1: no difference found")
	ninth("gone", "D/nights/5", 4, "night-1, which it is compared with, is gone: ibid history n-gone --accept RUN", func(folder string) {
		if err := os.RemoveAll(filepath.Join(dir, folder, "night-1")); err != nil {
			t.Fatal(err)
		}
	})
	says("night-9", night("n", "night-9", "D/nights/8", 0, "--baseline", "n/night-8"), "Since night-8: no difference found.")
	says("night-10", night("n", "night-10", "D/nights/8", 3), "first seen in night-6;")
}
