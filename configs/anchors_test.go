package configs

import (
	"path/filepath"
	"testing"
)

// TestForAnchors: the run over the anchors has the judge of its run, and nothing that
// the run file says of the dataset.
func TestForAnchors(t *testing.T) {
	path := write(t, `
dataset: night.parquet
documents: night-docs.parquet
columns: {question: query}
offset_unit: utf16
slices: [lang]
gates: [char_f1 >= 0.9]
thresholds: {supported: 0.6}
judge:
  kind: openrouter
  model: a/b
  votes: 3
  cache: kept.sqlite
  anchors: {dataset: anchors.parquet}
`)
	c, err := Load(Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	a := c.ForAnchors()
	a.Place("runs/x", "anchors")
	for _, key := range ofItsOwn {
		if key != "dataset" && a.IsSet(key) {
			t.Errorf("%s is set", key)
		}
	}
	if want := filepath.Join(filepath.Dir(path), "anchors.parquet"); a.Dataset != want || a.Documents != "" || a.Columns != nil || len(a.Gates()) > 0 {
		t.Errorf("dataset %s, documents %q, columns %v, gates %v", a.Dataset, a.Documents, a.Columns, a.Gates())
	}
	if j := a.Judge; j.Model != "a/b" || j.Votes != 3 || j.CacheResults || j.Cache != "" || a.Thresholds.Supported != 0.6 {
		t.Errorf("judge %+v, thresholds %+v", a.Judge, a.Thresholds)
	}
	if a.Out != "runs/x" || a.ID != "anchors" {
		t.Errorf("lands in %s as %s", a.Out, a.ID)
	}
	if c.Dataset != filepath.Join(filepath.Dir(path), "night.parquet") || c.Judge.Anchors.Dataset == "" || !c.Judge.CacheResults || c.ID != "" || len(c.Gates()) != 1 {
		t.Errorf("the run itself changed: %+v", c.Settings)
	}
	// What the manifest keeps of it is read back by later commands.
	var set []string
	for _, v := range a.Effective() {
		if v.Source != "default" {
			set = append(set, v.Key+"="+v.Value)
		}
	}
	back, err := Load(Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	if back.Judge.Model != "a/b" || back.Judge.CacheResults || back.ID != "anchors" {
		t.Errorf("read back: %+v", back.Settings)
	}
}
