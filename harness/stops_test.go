package harness_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
)

// TestStops: a run of which nothing could come stops before any work, with what is there in
// place of what was asked for.
func TestStops(t *testing.T) {
	s := newStudy()
	rows, documents := s.files(t)
	renamed := func(change func(string) string) string {
		of := newStudy()
		for i := range of.documents {
			of.documents[i].Doc = change(of.documents[i].Doc)
		}
		_, path := of.files(t)
		return path
	}
	untagged := newStudy()
	for _, r := range untagged.rows {
		r.Tags = nil
	}
	tag := func(pairs ...string) map[string]string {
		tags := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			tags[pairs[i]] = pairs[i+1]
		}
		return tags
	}
	for _, tt := range []struct {
		name       string
		dataset    string
		documents  string
		only       map[string]string
		limit      int64
		settings   []string
		want, hint string
		nothing    bool
	}{
		{name: "nothing is wrong", nothing: true, only: tag("lang", "de"), settings: []string{"slices=[lang, system]", "statistics.cluster=topic"}},
		{name: "no rows", dataset: writeRows(t, nil), want: " has no rows"},
		{name: "no documents", documents: documentsOf(t), want: " has no documents"},
		{name: "no such tag", only: tag("land", "de"), want: "--only land=de leaves no row: no row has the tag land", hint: "did you mean lang?"},
		{name: "no such tag at all", only: tag("city", "Rome"), want: "no row has the tag city", hint: "tags are lang, topic"},
		{name: "no tags", dataset: writeRows(t, untagged.rows), only: tag("lang", "de"), want: "no row has the tag lang", hint: "the dataset has no tags"},
		{name: "no such value", only: tag("lang", "it"), want: "--only lang=it leaves no row", hint: "values of lang are de, en, fr"},
		{name: "a slip in a value", only: tag("topic", "t44"), want: "--only topic=t44 leaves no row", hint: "did you mean t14?"},
		{name: "beyond the limit", only: tag("lang", "fr"), limit: 4, want: "--only lang=fr leaves no row", hint: "values of lang are de, en"},
		{name: "not together", only: tag("lang", "de", "topic", "t1"), want: "--only lang=de --only topic=t1 leave no row: none has all of these tags"},
		{name: "no such slice", settings: []string{"slices=[lang, tpoic]"}, want: "no row has the tag tpoic (sign unknown_slice)", hint: "did you mean topic?"},
		{name: "no such slice at all", settings: []string{"slices=[zzzz]"}, want: "no row has the tag zzzz (sign unknown_slice)", hint: "slices can be by lang, topic, model, provider, source_status, source_type, system"},
		{name: "no such cluster", settings: []string{"statistics.cluster=zzzz"}, want: "no row has the tag zzzz", hint: "rows depend on each other by auto, question, lang, topic"},
		{name: "other documents", documents: renamed(func(s string) string { return "x" + s[4:] + s[4:] + "yz" }), want: "none of the cited documents is in "},
		{name: "another spelling", documents: renamed(strings.ToUpper), want: "none of the cited documents is in ", hint: `"doc-`},
		{name: "in a folder", documents: renamed(func(s string) string { return "a/b/" + s }), want: `it has "a/b/doc-0", "a/b/doc-1", "a/b/doc-2" and 6 more`, hint: `is probably "a/b/doc-`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.dataset
			if path == "" {
				path = rows
			}
			docs := tt.documents
			if docs == "" {
				docs = documents
			}
			p, err := plan(t, harness.Job{Source: path, Only: tt.only, Limit: tt.limit}, append([]string{"dataset=" + path, "documents=" + docs, "judge=lexical", "out=" + t.TempDir(), "id=run", "keep=nothing"}, tt.settings...)...)
			if err == nil {
				_, err = p.Run(t.Context())
			}
			hint, _ := ibid.Advice(err)
			if e, ok := errors.AsType[*configs.Error](err); ok {
				hint += e.Hint
			}
			switch {
			case tt.nothing:
				if err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), tt.want):
				t.Errorf("%v, want %s", err, tt.want)
			case !strings.Contains(hint, tt.hint):
				t.Errorf("%v: hint %q, want %s", err, hint, tt.hint)
			}
		})
	}
}

// TestRescoreIsARun: a run made from another one, with other thresholds, is the run that has
// them from the start; its verdicts are those of the other, and its texts those that were kept.
func TestRescoreIsARun(t *testing.T) {
	rows, documents := judged().files(t)
	settings := []string{"dataset=" + rows, "documents=" + documents, "judge=lexical", "slices=[lang]"}
	other := []string{"thresholds.supported=0.4", "span_matching.tolerance_chars=20", "truth_policy=union"}
	whole := done(t, harness.Job{Source: rows}, append(append(slices.Clone(settings), other...), "out="+t.TempDir(), "id=run")...)
	for _, keep := range []string{"nothing", "texts"} {
		first := done(t, harness.Job{Source: rows}, append(settings, "keep="+keep, "out="+t.TempDir(), "id=first")...)
		m, err := runs.ReadManifest(first)
		if err != nil {
			t.Fatal(err)
		}
		config, err := harness.SettingsOf(m, append(slices.Clone(other), "out="+t.TempDir()), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&harness.Job{Config: config, Source: m.Source, ID: "again", SameDataAs: m, SameDataIn: first}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameCells(t, whole, out.Dir, nil, runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGatesOfFewRows: a gate has no verdict over a metric, of all rows or of a slice, that is
// defined for less than half of the rows, with the commonest reason why.
func TestGatesOfFewRows(t *testing.T) {
	s := newStudy()
	for i, r := range s.rows {
		r.HasTruth = true
		r.Truth = []ibid.Mark{{Annotator: "ada", Doc: "doc-1", Start: ibid.Some[int64](3), End: ibid.Some[int64](9)}}
		if r.Tags[0].Value == "de" && i%6 != 0 || r.Tags[0].Value == "en" && i%4 == 0 {
			r.HasCitations, r.Citations = false, nil
		}
	}
	rows, documents := s.files(t)
	dir := done(t, harness.Job{Source: rows}, "dataset="+rows, "documents="+documents, "judge=none", "slices=[lang]", "out="+t.TempDir(), "id=run", "keep=nothing")
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string][2]int)
	for _, row := range readCells(t, dir, runs.RowsFile) {
		i := slices.IndexFunc(s.rows, func(r *ibid.Answer) bool { return r.ID == row["id"] && r.System == row["system"] })
		for _, name := range []string{"", s.rows[i].Tags[0].Value} {
			k := known[name]
			if k[1]++; row["overlap_chars"] != "(null)" {
				k[0]++
			}
			known[name] = k
		}
	}
	for _, name := range []string{"", "de", "en", "fr"} {
		gate := "char_f1 >= 0"
		if name != "" {
			gate = "char_f1[lang=" + name + "] >= 0"
		}
		config, err := configs.Load(configs.Options{Set: []string{"dataset=" + rows, "judge=none", "slices=[lang]", "gates=[\"" + gate + "\"]"}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := harness.SavedOutcome(dir, m, config, "", "")
		if err != nil {
			t.Fatal(err)
		}
		k := known[name]
		enough := float64(k[0]) >= metrics.MinDefined*float64(k[1])
		g := out.Gates[0]
		if (g.Verdict == runs.NoVerdict) == enough || !enough && !strings.Contains(g.Reason, fmt.Sprintf("defined for %d of %d rows", k[0], k[1])) {
			t.Errorf("%s is %s %q, defined for %d of %d", gate, g.Verdict, g.Reason, k[0], k[1])
		}
	}
}
