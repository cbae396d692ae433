package harness_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// alike are rows of systems of which b answers as a does, but for the first few.
func alike(n, differ int) []*ibid.Answer {
	var rows []*ibid.Answer
	for i := range n {
		for _, system := range []string{"a", "b", "c"} {
			r := &ibid.Answer{
				ID: fmt.Sprintf("q-%03d", i), System: system, Query: "q", Answer: fmt.Sprintf("answer %d", i), HasCitations: true,
				Citations: []ibid.Citation{{Doc: "d", Start: ibid.Some[int64](0), End: ibid.Some[int64](5)}},
			}
			if system == "c" || system == "b" && i < differ {
				r.Citations[0].End = ibid.Some[int64](6) // the same text, and another place
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func signsOf(t *testing.T, dir string) []runs.Sign {
	t.Helper()
	m, err := runs.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m.Signs
}

// TestSameAnswers: systems that give the same answers are signs of each other, whatever
// the number of workers is, and also where the run goes on after others.
func TestSameAnswers(t *testing.T) {
	same := func(signs []runs.Sign) []string {
		var out []string
		for _, s := range signs {
			if s.Name == "same_answers" {
				out = append(out, s.System+": "+s.Text)
			}
		}
		return out
	}
	if got := same(signsOf(t, evaluate(t, writeRows(t, alike(40, 4))))); got != nil {
		t.Errorf("36 of 40 are surely 90 %%: %q", got)
	}
	path := writeRows(t, alike(60, 1))
	want := []string{"a: 59 of 60 answers are those of b", "b: 59 of 60 answers are those of a"}
	dir := evaluate(t, path)
	first := signsOf(t, dir)
	if got := same(first); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// The same of a run that has other workers, and of one that reads its parts back.
	config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none", "out=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: path, ID: "run", Workers: 3}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context())
	if err != nil || !reflect.DeepEqual(out.Manifest.Signs, first) {
		t.Errorf("with 3 workers: %+v, %v", out.Manifest.Signs, err)
	}
}

// TestOneSystemHasNoHashes: the hash of answers is of no use to a run of one system.
func TestOneSystemHasNoHashes(t *testing.T) {
	for n, systems := range [][]string{{"a"}, {"a", "b"}} {
		dir := evaluate(t, writeRows(t, questions(4, systems...)))
		err := runs.Rows().Scan(dir, []string{"answer_hash"}, func(_ int64, r *runs.Row) error {
			if (r.AnswerHash != nil) != (n > 0) {
				return fmt.Errorf("of %v: %v", systems, r.AnswerHash)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
