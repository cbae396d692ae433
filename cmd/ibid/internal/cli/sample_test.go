package cli

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/span"
)

// Both nights of the sample, made and evaluated as a user does.
type sampleNights struct {
	dir           string
	first, second string // run directories
}

func runSample(t *testing.T) sampleNights {
	t.Helper()
	dir := t.TempDir()
	must := func(args ...string) string {
		var out, errors bytes.Buffer
		code := Main(t.Context(), Process{Args: args, Stdout: &out, Stderr: &errors})
		if code != ExitOK {
			t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, errors.String())
		}
		return out.String()
	}
	must("init", dir, "-q")
	for night, file := range map[string]string{"night-1": sampleRunFile, "night-2": secondSampleRunFile} {
		out := must("run", filepath.Join(dir, file), "--out", dir, "--id", night)
		if n := strings.Count(out, " PASS "); n != 4 {
			t.Errorf("%s: %d gates passed, want 4:\n%s", night, n, out)
		}
	}
	return sampleNights{dir, filepath.Join(dir, "night-1"), filepath.Join(dir, "night-2")}
}

// readTable reads a whole result file.
func readTable(t *testing.T, dir, name string) []runs.Record {
	t.Helper()
	f, err := dataset.OpenResult(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []runs.Record
	for i := range f.Rows() {
		cells, err := f.ReadRow(i)
		if err != nil {
			t.Fatal(err)
		}
		r := make(runs.Record)
		for k, field := range f.Fields() {
			r[field.Name] = cells[k]
		}
		all = append(all, r)
	}
	return all
}

// Every status, outcome and undefined reason occurs, so that whoever reads a
// report of the sample meets each at least once.
func TestSampleCovers(t *testing.T) {
	nights := runSample(t)
	for _, dir := range []string{nights.first, nights.second} {
		rows := readTable(t, dir, "rows.parquet")
		reasons, failed := map[string]int{}, 0
		perSystem := map[string]int{}
		for _, r := range rows {
			perSystem[r["system"].Text]++
			if r["status"].Text == "error" {
				failed++
			}
			for _, why := range r["undefined"].Texts {
				reasons[why]++
			}
		}
		if want := map[string]int{"pointer": 24, "careful": 24, "dreamer": 24}; !cmp.Equal(want, perSystem) {
			t.Errorf("rows per system: %v, want %v", perSystem, want)
		}
		if failed != 1 {
			t.Errorf("%d error rows, want 1", failed)
		}

		// All reasons can be had without a model. no_judge: the metrics that need
		// leave-one-out verdicts, for which judge.necessity is off. judge_failed:
		// a citation that belongs to no claim, about which nothing was asked; the
		// judge itself always answers.
		for why := metrics.NoTruth; why <= metrics.RowError; why++ {
			if reasons[why.String()] == 0 {
				t.Errorf("no metric is undefined for reason %s", why)
			}
		}

		statuses := map[string]int{}
		for _, c := range readTable(t, dir, "citations.parquet") {
			statuses[c["status"].Text]++
		}
		for _, s := range span.Statuses() {
			if dir == nights.second && s == span.QuoteRepaired {
				continue // careful counts right on the second night
			}
			if statuses[s.String()] == 0 {
				t.Errorf("no citation is %s", s)
			}
		}
		outcomes := map[string]int{}
		for _, c := range readTable(t, dir, "claims.parquet") {
			outcomes[c["outcome"].Text]++
		}
		for o := metrics.NotFactual; o <= metrics.Unsupported; o++ {
			if outcomes[o.String()] == 0 {
				t.Errorf("no claim is %s", o)
			}
		}
	}
}

// estimates are the macro values of a run by "system metric".
func estimates(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	summary, err := runs.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, r := range summary {
		if r.Slice == "" && r.Agg == runs.Macro && r.Estimate != nil {
			values[r.System+" "+r.Metric] = *r.Estimate
		}
	}
	return values
}

// The systems differ in kind, and neither night's scores leave doubt about what
// changed.
func TestSampleSystems(t *testing.T) {
	nights := runSample(t)
	one, two := estimates(t, nights.first), estimates(t, nights.second)
	within := func(what string, got, low, high float64) {
		t.Helper()
		if got < low || got > high {
			t.Errorf("%s: %.3f, want %v to %v", what, got, low, high)
		}
	}
	within("pointer points at the place", one["pointer char_f1"], 0.9, 0.99)
	within("... exactly, mostly", one["pointer exact_match"], 0.7, 0.95)
	within("... and claims too much", one["pointer hallucination_rate"], 0.2, 0.5)
	within("... so that citations do not hold it", one["pointer citation_correctness"], 0.5, 0.8)
	within("careful points beside it", one["careful char_f1"], 0.7, 0.85)
	within("... hardly ever exactly", one["careful exact_match"], 0.01, 0.2)
	within("... and claims what stands there", one["careful hallucination_rate"], 0.01, 0.1)
	within("... so that citations hold it", one["careful citation_correctness"], 0.85, 0.98)
	within("dreamer points anywhere", one["dreamer char_f1"], 0.1, 0.5)
	within("... and invents", one["dreamer hallucination_rate"], 0.7, 0.95)
	within("... but not always", one["dreamer citation_correctness"], 0.01, 0.2)

	within("pointer claims more", two["pointer hallucination_rate"]-one["pointer hallucination_rate"], 0.1, 0.25)
	within("... and points as before", two["pointer char_f1"]-one["pointer char_f1"], -0.01, 0.01)
	within("careful points closer", two["careful char_f1"]-one["careful char_f1"], 0.02, 0.1)
	within("... and claims the same", two["careful hallucination_rate"]-one["careful hallucination_rate"], 0, 0)
	for name, value := range one {
		if strings.HasPrefix(name, "dreamer ") && two[name] != value {
			t.Errorf("%s: %v, then %v", name, value, two[name])
		}
	}
}

func TestSecondNight(t *testing.T) {
	const first = `{"id":"1","system":"a","answer":"x"}` + "\n" + `{"id":"1","system":"b"}` + "\n"
	tests := []struct{ name, first, changed, want, err string }{
		{"nothing changed", first, "", first, ""},
		{"in its place", first, `{"id":"1","system":"a","answer":"y"}` + "\n", strings.Replace(first, "x", "y", 1), ""},
		{"nothing to replace", first, `{"id":"2","system":"a"}` + "\n", "", "sample: no first answer 2/a to replace"},
		{"change is no JSON", first, "?\n", "", "sample: invalid character '?' looking for beginning of value"},
		{"answer is no JSON", "?\n", "", "", "sample: invalid character '?' looking for beginning of value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := secondNight([]byte(tt.first), []byte(tt.changed))
			switch {
			case err != nil && err.Error() != tt.err:
				t.Errorf("error %q, want %q", err, tt.err)
			case err == nil && (tt.err != "" || !slices.Equal(got, []byte(tt.want))):
				t.Errorf("%q, want %q and error %q", got, tt.want, tt.err)
			}
		})
	}
}
