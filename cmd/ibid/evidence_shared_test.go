package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"ibid/dataset/runs"
)

// TestDriftedEvidence shifts all offsets of a published corpus, those of truth and those
// of the other annotators, each by an amount of its own. What quotes say is as it was, so
// the score must be that of the offsets as published, but for the white space around
// passages, which no quote can tell.
func TestDriftedEvidence(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		All struct {
			Macro map[string]float64 `json:"macro"`
		} `json:"all_rows"`
	}
	readShared(t, filepath.Join(shared, "expected", "evidence-inference-v2.json"), &want)
	data := filepath.Join(shared, "data", "evidence-inference-v2")
	dir := t.TempDir()
	drifted, published := filepath.Join(dir, "drifted"), filepath.Join(dir, "published")
	for _, to := range []string{drifted, published} {
		for _, name := range []string{"prompts.csv", "txt"} {
			if err := errors.Join(os.MkdirAll(to, 0o777), os.Symlink(filepath.Join(data, name), filepath.Join(to, name))); err != nil {
				t.Fatal(err)
			}
		}
	}
	in, err := os.Open(filepath.Join(data, "annotations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	records, err := csv.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	offset := func(r []string, column, by int) {
		n, err := strconv.Atoi(r[column])
		if err != nil {
			t.Fatal(err)
		}
		r[column] = strconv.Itoa(n + by)
	}
	const quote, start, end = 6, 9, 10
	for _, r := range records[1:] {
		text := r[quote]
		offset(r, start, utf8.RuneCountInString(text)-utf8.RuneCountInString(strings.TrimLeft(text, " \n")))
		offset(r, end, utf8.RuneCountInString(strings.TrimRight(text, " \n"))-utf8.RuneCountInString(text))
		r[quote] = strings.Trim(text, " \n")
	}
	score := func(from string) float64 {
		var text bytes.Buffer
		err := errors.Join(csv.NewWriter(&text).WriteAll(records), os.WriteFile(filepath.Join(from, "annotations.csv"), text.Bytes(), 0o666))
		if err != nil {
			t.Fatal(err)
		}
		id := filepath.Base(from)
		mustIbid(t, dir, "import", "evidence-inference", from, "--truth-annotator", "0", "-o", id+".parquet", "--docs", id+"-docs.parquet", "-q")
		mustIbid(t, dir, "run", id+".parquet", "--documents", id+"-docs.parquet", "--judge", "none", "--id", id, "-q")
		summary, err := runs.Summary.Read(filepath.Join(dir, "runs", id))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range summary {
			if r.System == "" && r.Slice == "" && r.Metric == "char_f1" && r.Agg == runs.Macro && r.Estimate != nil {
				return *r.Estimate
			}
		}
		t.Fatal("no char_f1")
		return 0
	}
	before := score(published)
	if math.Abs(before-want.All.Macro["char_f1"]) > 2e-4 {
		t.Errorf("char_f1 is %v, want about %v", before, want.All.Macro["char_f1"])
	}
	for i, r := range records[1:] {
		offset(r, start, 7+i%30)
		offset(r, end, 7+i%30)
	}
	if after := score(drifted); after != before {
		t.Errorf("char_f1 of the drifted corpus is %v, want %v as of the published one", after, before)
	}
}
