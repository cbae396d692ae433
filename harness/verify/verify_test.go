package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/harness/verify"
)

// configurations are the settings under which random data is run.
var configurations = [][]string{
	{"judge=none"},
	{"judge=lexical", "truth_policy=union", "slices=[lang, system]", "statistics.cluster=topic"},
	{"judge=human", "truth_policy=majority", "slices=[source_type]"},
	{"judge=none", "documents=", "truth_policy=mean", "span_matching.tolerance_chars=0", "statistics.cluster=doc"},
	{"judge=lexical", "offset_base=page", "truth_policy=intersection", "quoted_spans=given"},
	{"judge=human", "label_policy=majority", "quoted_spans=exclude", "statistics.cluster=doc", "statistics.method=cr1", "concise_chars=20"},
	{"judge=lexical", "tokenizer=whitespace", "truth_policy=annotator:ada", "span_matching.max_span_length=50", "claims=sentences", "concise_chars=15", "documents_complete=true"},
	{"judge=human", "quality_control.validation_checks.span_bounds_check=false", "truth_policy=mean", "span_matching.min_overlap_threshold=0.2", "statistics.level=0.9", "thresholds.supported=0.5", "documents_complete=false"},
}

// run runs a dataset under a configuration.
func run(t testing.TB, dir, data, docs, id string, set []string) (string, *runs.Manifest) {
	t.Helper()
	all := append([]string{"dataset=" + data, "documents=" + docs, "out=" + dir, "id=" + id}, set...)
	for i, s := range all {
		if s == "documents=" {
			all = append(all[:i], all[i+1:]...)
			all[1] = "seed=1" // in place of the documents
			break
		}
	}
	config, err := configs.Load(configs.Options{Set: all})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, Source: data, Workers: 2}).Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(context.Background())
	if err != nil && strings.Contains(err.Error(), "quotes stand at their offsets") {
		return "", nil // by chance the quotes prove that the offsets count something else
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Dir, out.Manifest
}

func check(t testing.TB, dir string, m *runs.Manifest) *verify.Report {
	t.Helper()
	r, err := verify.Run(context.Background(), dir, m, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tell reports what differs, the first of every column.
func tell(t testing.TB, name string, r *verify.Report) {
	t.Helper()
	if r.Different == 0 {
		return
	}
	t.Errorf("%s: %d of %d cells of %d rows differ", name, r.Different, r.Cells, r.Rows)
	seen := make(map[string]int)
	for _, d := range r.Differences {
		if seen[d.File+d.Column]++; seen[d.File+d.Column] <= 2 {
			t.Logf("%s %s of %s: written %s, recomputed %s", d.File, d.Column, d.Where, d.Written, d.Recomputed)
		}
	}
}

// number is a number of the environment; make verify asks for more than every test does.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func TestNastyData(t *testing.T) {
	sets, rows := number("VERIFY_SETS", 2), number("VERIFY_ROWS", 40)
	first := number("VERIFY_FIRST", 1)
	verified, cells := 0, int64(0)
	if testing.Short() {
		sets, rows = 1, 20
	}
	for seed := first; seed < first+sets; seed++ {
		dir := t.TempDir()
		data, docs := writeNasty(t, dir, uint64(seed), rows)
		for k, set := range configurations {
			name := fmt.Sprintf("seed %d, configuration %d", seed, k)
			out, m := run(t, dir, data, docs, fmt.Sprintf("run-%d-%d", seed, k), set)
			if m == nil {
				continue
			}
			verified++
			r := check(t, out, m)
			cells += r.Cells
			if r.Rows != int64(rows) {
				t.Errorf("%s: %d rows of %d", name, r.Rows, rows)
			}
			tell(t, name, r)
		}
		os.RemoveAll(dir)
	}
	t.Logf("%d runs over %d datasets of %d rows verified, %d cells", verified, sets, rows, cells)
	if verified < sets*len(configurations)*3/4 {
		t.Errorf("%d runs verified, too few", verified)
	}
}

// TestSharedData verifies runs over the data sets of ../shared, where they are there.
func TestSharedData(t *testing.T) {
	if os.Getenv("VERIFY_SETS") == "" {
		t.Skip("make verify verifies the data sets of ../shared, too")
	}
	found, _ := filepath.Glob("../../../shared/data/*/*.parquet")
	for _, path := range found {
		name := filepath.Base(filepath.Dir(path)) + "-" + strings.TrimSuffix(filepath.Base(path), ".parquet")
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"none", "lexical", "human"} {
				config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=" + kind, "out=" + t.TempDir(), "id=" + name + "-" + kind}})
				if err != nil {
					t.Fatal(err)
				}
				plan, err := (&harness.Job{Config: config, Source: path, Workers: 2}).Plan(context.Background())
				if err != nil {
					t.Logf("no dataset: %v", err)
					return
				}
				out, err := plan.Run(context.Background())
				if err != nil {
					t.Logf("%s: %v", kind, err)
					continue
				}
				r := check(t, out.Dir, out.Manifest)
				t.Logf("judge %s: %d rows, %d cells", kind, r.Rows, r.Cells)
				tell(t, name+", judge "+kind, r)
			}
		})
	}
}
