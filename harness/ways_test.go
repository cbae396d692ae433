package harness_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/harness"
)

// plan plans a job with settings, of which id=NAME is the name of the run.
func plan(t *testing.T, job harness.Job, settings ...string) (*harness.Plan, error) {
	t.Helper()
	settings = slices.DeleteFunc(slices.Clone(settings), func(set string) bool {
		id, ok := strings.CutPrefix(set, "id=")
		if ok {
			job.ID = id
		}
		return ok
	})
	config, err := configs.Load(configs.Options{Set: settings})
	if err != nil {
		t.Fatal(err)
	}
	job.Config = config
	return job.Plan(t.Context())
}

// done runs a job and returns its directory.
func done(t *testing.T, job harness.Job, settings ...string) string {
	t.Helper()
	p, err := plan(t, job, settings...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Dir
}

// files writes the study as a dataset and its documents.
func (s *study) files(t *testing.T) (rows, documents string) {
	t.Helper()
	return writeRows(t, s.rows), writeDocuments(t, s.documents)
}

// writeDocuments writes documents to a file of their own.
func writeDocuments(t *testing.T, documents []ibid.Document) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "documents.parquet")
	w, err := dataset.NewDocumentWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range documents {
		if err := w.Write(&documents[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// sameTables compares result files to the byte.
func sameTables(t *testing.T, a, b string, files ...string) {
	t.Helper()
	for _, file := range files {
		first, err := os.ReadFile(filepath.Join(a, file))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(b, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s of %s and %s differ", file, filepath.Base(a), filepath.Base(b))
		}
	}
}

var allTables = []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile, runs.VerdictsFile}

// rangesOf scores the rows of a run in ranges that begin at some rows, each into a directory
// of its own.
func rangesOf(t *testing.T, settings []string, at ...int64) (dirs []string) {
	t.Helper()
	for i, from := range at {
		r := &runs.RowRange{From: from}
		if i+1 < len(at) {
			r.To = at[i+1]
		}
		dirs = append(dirs, done(t, harness.Job{Rows: r, Source: settings[0]}, append(settings, "out="+t.TempDir(), "id=rows-"+strconv.FormatInt(from, 10))...))
	}
	return dirs
}

// join makes one run of ranges of rows.
func join(t *testing.T, dirs ...string) (string, error) {
	t.Helper()
	all, err := harness.OpenScored(t.Context(), dirs)
	if err != nil {
		return "", err
	}
	config, err := harness.SettingsOf(all.Manifest, []string{"out=" + t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&harness.Job{Config: config, Source: all.Manifest.Source, ID: "run", Scored: all}).Plan(t.Context())
	if err != nil {
		return "", err
	}
	out, err := p.Run(t.Context())
	if err != nil {
		return "", err
	}
	return out.Dir, nil
}

// TestQuestionsOfManifest: the manifest says which questions a run asks, one of several systems
// the same as one of one, and joined ranges the same as a whole run.
func TestQuestionsOfManifest(t *testing.T) {
	all := newStudy()
	one := newStudy()
	one.rows = slices.DeleteFunc(one.rows, func(r *ibid.Answer) bool { return r.System != "a" })
	ran := func(s *study, job harness.Job, settings ...string) (asked runs.Sketch, all []string) {
		rows, documents := s.files(t)
		job.Source = rows
		all = append(settings, "dataset="+rows, "documents="+documents, "judge=none", "rows_per_part=2", "keep=nothing")
		m, err := runs.ReadManifest(done(t, job, append(all, "out="+t.TempDir(), "id=run")...))
		if err != nil {
			t.Fatal(err)
		}
		return m.Questions, all
	}
	asked, settings := ran(one, harness.Job{})
	if len(asked) != 30 {
		t.Errorf("30 questions are %d hashes", len(asked))
	}
	merged, err := join(t, rangesOf(t, settings, 0, 10, 12)...)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := runs.ReadManifest(merged); err != nil || !slices.Equal(m.Questions, asked) {
		t.Errorf("joined ranges say %v, %v", m.Questions, err)
	}
	if got, _ := ran(one, harness.Job{Limit: 7}); len(got) != 7 || got.Likeness(asked) != 7.0/30 {
		t.Errorf("seven rows are %d hashes", len(got))
	}
	if got, _ := ran(all, harness.Job{}); !slices.Equal(got, asked) {
		t.Errorf("of two systems: %v", got)
	}
}

// TestRangesAreTheRun: rows that are scored in any ranges and joined have the bytes of the run
// that was not divided, and what is not every row of it exactly once is refused.
func TestRangesAreTheRun(t *testing.T) {
	rows, documents := newStudy().files(t)
	settings := []string{"dataset=" + rows, "documents=" + documents, "judge=lexical", "slices=[lang]", "rows_per_part=2"}
	whole := done(t, harness.Job{Source: rows}, append(settings, "out="+t.TempDir(), "id=run")...)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3 {
		at := []int64{0}
		for n := int64(2); n < 60; n += 2 {
			if rng.IntN(3) == 0 {
				at = append(at, n)
			}
		}
		dirs := rangesOf(t, settings, at...)
		rng.Shuffle(len(dirs), func(i, j int) { dirs[i], dirs[j] = dirs[j], dirs[i] })
		joined, err := join(t, dirs...)
		if err != nil {
			t.Fatalf("ranges from %v: %v", at, err)
		}
		sameTables(t, whole, joined, append(allTables, runs.TextsFile, runs.AnswersFile)...)
	}

	dirs := rangesOf(t, settings, 0, 16, 30, 50)
	refused := func(name, want, tip string, dirs ...string) {
		t.Helper()
		_, err := join(t, dirs...)
		e, ok := errors.AsType[*harness.ScoredError](err)
		hint, _ := ibid.Advice(err)
		if !ok || !strings.Contains(e.Error(), want) || !strings.Contains(hint, tip) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	refused("two are missing", "rows are missing: 16:30, 50:60", "--rows 16:30 -o DIR", dirs[0], dirs[2])
	refused("the first is missing", "rows are missing: 0:16", "--rows 0:16 -o DIR", dirs[1], dirs[2], dirs[3])
	others := rangesOf(t, append(settings, "thresholds.supported=0.6"), 0, 16)
	refused("another run", "was scored from other data or settings than "+dirs[0], "leave it out", dirs[0], others[1])
	refused("a row twice", "both have row 30", "leave one of them out", dirs[0], dirs[1], rangesOf(t, settings, 30)[0], dirs[2], dirs[3])

	damaged := filepath.Join(dirs[2], runs.RowsFile)
	text, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{len(text) / 3, len(text) - 40} {
		flipped := slices.Clone(text)
		flipped[at] ^= 4
		if err := os.WriteFile(damaged, flipped, 0o666); err != nil {
			t.Fatal(err)
		}
		refused("a file is changed", damaged, "", dirs...)
	}
	if err := os.WriteFile(damaged, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dirs[1], runs.ManifestFile), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := join(t, dirs...); err == nil {
		t.Error("an empty manifest is no error")
	}
	if _, err := join(t, dirs[0], whole); !errors.Is(err, ibid.ErrUsage) {
		t.Errorf("a run beside a range: %v", err)
	}
	if _, err := join(t, filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, ibid.ErrUsage) {
		t.Errorf("a folder that is not there: %v", err)
	}
	dirs = rangesOf(t, settings, 0, 16)
	for _, r := range newStudy().rows[:1] {
		r.ID = "other"
		if err := os.Rename(writeRows(t, []*ibid.Answer{r}), rows); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := join(t, dirs...); err == nil || !strings.Contains(err.Error(), "the data are not those that the rows were scored from") {
		t.Errorf("other data: %v", err)
	}
}

// TestRowRanges: ranges that are none, or that do not fit the parts of the run, are refused.
func TestRowRanges(t *testing.T) {
	for text, want := range map[string]runs.RowRange{"0:16384": {To: 16384}, "16384:": {From: 16384}, "3:4": {From: 3, To: 4}} {
		if got, err := harness.ParseRowRange(text); err != nil || *got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", ":", "4:4", "-2:4", "a:b", "1:2:3"} {
		if got, err := harness.ParseRowRange(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
	rows, documents := newStudy().files(t)
	settings := []string{"dataset=" + rows, "documents=" + documents, "judge=none", "keep=nothing", "out=" + t.TempDir(), "id=run"}
	for want, r := range map[string]runs.RowRange{"20 is no multiple of ": {From: 20}, "10 is no multiple of ": {To: 10}, "has 60 rows": {From: 16384}} {
		from := r
		if _, err := plan(t, harness.Job{Source: rows, Rows: &from}, settings...); err == nil || !errors.Is(err, ibid.ErrUsage) {
			t.Errorf("%v: %v, want %s", r, err, want)
		} else if hint, _ := ibid.Advice(err); !strings.Contains(err.Error()+hint, want) {
			t.Errorf("%v: %v, want %s", r, err, want)
		}
	}
}

// lines writes rows as JSON Lines.
func lines(t *testing.T, rows []*ibid.Answer) []byte {
	t.Helper()
	type place struct {
		Annotator string `json:"annotator,omitempty"`
		Doc       string `json:"doc"`
		Start     int64  `json:"start"`
		End       int64  `json:"end"`
	}
	var out bytes.Buffer
	for _, r := range rows {
		row := map[string]any{"id": r.ID, "system": r.System, "query": r.Query, "answer": r.Answer}
		tags, citations, truth := map[string]string{}, []place{}, []place{}
		for _, tag := range r.Tags {
			tags[tag.Key] = tag.Value
		}
		for _, c := range r.Citations {
			citations = append(citations, place{Doc: c.Doc, Start: c.Start.Value, End: c.End.Value})
		}
		for _, m := range r.Truth {
			truth = append(truth, place{m.Annotator, m.Doc, m.Start.Value, m.End.Value})
		}
		row["tags"], row["citations"] = tags, citations
		if r.HasTruth {
			row["truth"] = truth
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

// documentLines writes documents as JSON Lines.
func documentLines(t *testing.T, documents []ibid.Document) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, d := range documents {
		line, err := json.Marshal(map[string]string{"doc": d.Doc, "text": d.Text})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}

// TestImportedRowsAreRows: a run over JSON Lines has what a run over the same rows in Parquet
// has; what was imported is in its directory, and is imported once.
func TestImportedRowsAreRows(t *testing.T) {
	s := newStudy()
	rows, documents := s.files(t)
	settings := []string{"judge=lexical", "slices=[lang]", "keep=nothing", "accept=[min_defined]", "statistics.cluster=topic"}
	whole := done(t, harness.Job{Source: rows}, append(settings, "dataset="+rows, "documents="+documents, "out="+t.TempDir(), "id=run")...)
	dir, out := t.TempDir(), t.TempDir()
	answers, texts := filepath.Join(dir, "answers.jsonl"), filepath.Join(dir, "documents.jsonl")
	if err := errors.Join(os.WriteFile(answers, lines(t, s.rows), 0o666), os.WriteFile(texts, documentLines(t, s.documents), 0o666)); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	warn := func(text string) { warnings = append(warnings, text) }
	job := harness.Job{Source: answers, Import: harness.ImportForRun, Warn: warn}
	foreign := append(slices.Clone(settings), "dataset="+answers, "documents="+texts, "out="+out, "id=run")
	imported := done(t, job, foreign...)
	sameCells(t, whole, imported, nil, runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile)
	m, err := runs.ReadManifest(imported)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 || m.Imported == nil {
		t.Errorf("warnings %q, imported %+v", warnings, m.Imported)
	}
	made, err := os.ReadDir(filepath.Join(imported, runs.ImportDir))
	if err != nil || len(made) < 3 {
		t.Errorf("%v: %v", made, err)
	}
	if p, err := plan(t, job, foreign...); err != nil {
		t.Fatal(err)
	} else if again, err := p.Run(t.Context()); err != nil || !again.Existed || p.Close() != nil {
		t.Errorf("again: %+v, %v", again, err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("the folder of runs has %v (%v)", left, err)
	}
	for name, tt := range map[string]struct {
		rows, documents, want string
		how                   harness.Importing
	}{
		"is refused":          {"{}\n", "", "", harness.ImportNothing},
		"no row":              {"{\"doc\":\"a\",\"text\":\"b\"}\n", "", "there are no answers in ", harness.ImportForRun},
		"rows as documents":   {"", "{\"id\":\"1\",\"query\":\"q\",\"answer\":\"a\"}\n", "has rows of answers: it is no file of documents", harness.ImportForRun},
		"without a citation":  {"{\"id\":\"1\",\"query\":\"q\",\"answer\":\"a\",\"links\":[]}\n", "", "", harness.ImportForNow},
		"a line that is none": {"{\"id\":\"1\",\"query\":\"q\",\"answer\":\"a\",\"citations\":[]}\n{\"id\":2\n", "", "", harness.ImportForNow},
	} {
		dir := t.TempDir()
		answers, texts := rows, documents
		if tt.rows != "" {
			answers, texts = filepath.Join(dir, "a.jsonl"), ""
			if err := os.WriteFile(answers, []byte(tt.rows), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		set := []string{"dataset=" + answers, "judge=none", "out=" + filepath.Join(dir, "runs"), "id=run"}
		if tt.documents != "" {
			texts = filepath.Join(dir, "d.jsonl")
			if err := os.WriteFile(texts, []byte(tt.documents), 0o666); err != nil {
				t.Fatal(err)
			}
			set = append(set, "documents="+texts)
		}
		warnings = nil
		p, err := plan(t, harness.Job{Source: answers, Import: tt.how, Warn: warn}, set...)
		switch {
		case tt.want != "" || tt.how == harness.ImportNothing:
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %s", name, err, tt.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			want := map[string]string{
				"without a citation":  "no answer of " + answers + " cites anything; ibid has no place for links; --columns",
				"a line that is none": "1 of 2 records of " + answers + " could not be read and were left out: ",
			}[name]
			if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, want) }) {
				t.Errorf("%s: warnings %q, want %s", name, warnings, want)
			}
			if p.Rows != 1 || p.Close() != nil {
				t.Errorf("%s: %d rows", name, p.Rows)
			}
		}
	}
}

// TestScoredLines: lines that are scored as they come have what a run has of them, and a line
// that cannot be read is a row with an error.
func TestScoredLines(t *testing.T) {
	s := newStudy()
	rows, documents := s.files(t)
	in := lines(t, s.rows)
	for _, table := range []string{runs.RowsFile, runs.CitationsFile} {
		settings := []string{"documents=" + documents, "judge=lexical", "keep=nothing"}
		name := strings.TrimSuffix(table, ".parquet")
		whole := streamCells(t, filepath.Join(done(t, harness.Job{Source: rows}, append(settings, "dataset="+rows, "out="+t.TempDir(), "id=run")...), table))
		for _, format := range []string{"jsonl", ""} {
			names, got, _ := cells(t, score(t, in, harness.Filter{Table: name, Format: format}, settings...))
			at := slices.Index(names, "row")
			if len(got) != len(whole) {
				t.Fatalf("%s of %q: %d rows, want %d", name, format, len(got), len(whole))
			}
			for i := range got {
				for c := range got[i] {
					if c != at && got[i][c] != whole[i][c] {
						t.Errorf("%s of %q, row %d: %s is %s, of the run %s", name, format, i, names[c], got[i][c], whole[i][c])
					}
				}
			}
		}
	}
	bad := slices.Concat(in[:bytes.IndexByte(in, '\n')+1], []byte("{\"id\": \"x\", \"row\": 7, \"query\": \"q\", \"answer\": 5}\n{\"id\": \"y\", \"row\": 8, \"query\": \"q\", \"answer\": \"a\", \"citations\": []}\n"))
	names, got, _ := cells(t, score(t, bad, harness.Filter{Table: "rows", Without: []string{"truth"}}, "documents="+documents, "judge=none"))
	status, row := slices.Index(names, "status"), slices.Index(names, "row")
	var said []string
	for _, r := range got {
		said = append(said, fmt.Sprint(r[status], " ", r[row]))
	}
	if want := []string{"ok (null)", "error (null)", "ok 8"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// judged is a study whose claims people labelled.
func judged() *study {
	s := newStudy()
	rng := rand.New(rand.NewPCG(5, 5))
	for i, r := range s.rows {
		text := s.documents[i%9].Text
		from := 40 * (i % 20)
		r.Answer = strings.TrimSpace(text[from:from+60]) + "."
		r.Citations = []ibid.Citation{{Doc: fmt.Sprintf("doc-%d", (i+i%2*rng.IntN(2))%9), Start: ibid.Some(int64(max(0, from-10))), End: ibid.Some(int64(from + 70)), CitationID: "c", ClaimID: "k"}}
		r.HasClaims, r.Claims = true, []ibid.Claim{{ClaimID: "k", Text: r.Answer}}
	}
	return s
}

// TestRecordedVerdictsAreVerdicts: a run from the verdicts of another has its claims and
// citations, and asks nobody.
func TestRecordedVerdictsAreVerdicts(t *testing.T) {
	rows, documents := judged().files(t)
	settings := []string{"dataset=" + rows, "documents=" + documents, "slices=[lang]", "keep=nothing"}
	first := done(t, harness.Job{Source: rows}, append(settings, "judge=lexical", "out="+t.TempDir(), "id=run")...)
	again := done(t, harness.Job{Source: rows}, append(settings, "judge=recorded", "judge.file="+filepath.Join(first, runs.VerdictsFile), "out="+t.TempDir(), "id=run")...)
	sameCells(t, first, again, []string{"model", "kept"}, runs.ClaimsFile, runs.CitationsFile, runs.RowsFile)
	m, err := runs.ReadManifest(again)
	if err != nil || m.Judge.Kind != "recorded" {
		t.Errorf("judge %+v, %v", m.Judge, err)
	}
}
