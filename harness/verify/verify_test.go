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
	"ibid/dataset/convert"
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
	{"judge=lexical", "offset_base=page", "truth_policy=intersection", "quoted_spans=given", "results=core"},
	{"judge=human", "label_policy=majority", "quoted_spans=exclude", "statistics.cluster=doc", "statistics.method=cr1", "concise_chars=20", "results=core"},
	{"judge=lexical", "tokenizer=whitespace", "truth_policy=annotator:ada", "span_matching.max_span_length=50", "claims=sentences", "concise_chars=15", "documents_complete=true", "results=core"},
	{"judge=human", "quality_control.validation_checks.span_bounds_check=false", "truth_policy=mean", "span_matching.min_overlap_threshold=0.2", "statistics.level=0.9", "thresholds.supported=0.5", "documents_complete=false"},
	{"judge=lexical", "statistics.method=bca", "slices=[lang, topic]", "statistics.cluster=topic"},
	{"judge=none", "statistics.method=percentile", "slices=[topic]", "statistics.resamples=3000", "results=core"},
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
	if m.Versions["metrics"] != verify.Metrics {
		t.Fatalf("runs have metrics version %s, verify computes %s", m.Versions["metrics"], verify.Metrics)
	}
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
		sets, rows, first = 1, 20, 2 // its rows bring documents along
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

// TestSharedData verifies runs over the published data sets of ../shared.
func TestSharedData(t *testing.T) {
	if os.Getenv("VERIFY_SETS") == "" {
		t.Skip("make verify verifies the data sets of ../shared, too")
	}
	root := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the data sets of ../shared are not here")
	}
	for _, set := range []struct {
		format, path, truth string
		judges              []string
	}{
		{"evidence-inference", "evidence-inference-v2", "0", []string{"none", "lexical"}},
		{"expertqa", "expertqa/rand_test.jsonl", "", []string{"none", "lexical", "human"}},
		{"squad", "cmrc2018/cmrc2018_dev.subset.json", "", []string{"none", "lexical"}},
	} {
		t.Run(set.format, func(t *testing.T) {
			dir := t.TempDir()
			data, docs := filepath.Join(dir, "answers.parquet"), filepath.Join(dir, "documents.parquet")
			files, err := convert.NewFiles(set.format, data, docs)
			if err != nil {
				t.Fatal(err)
			}
			o := convert.Options{Docs: true}
			if set.truth != "" {
				o.TruthAnnotator = &set.truth
			}
			if _, err := convert.Convert(t.Context(), set.format, []string{filepath.Join(root, set.path)}, o, files); err != nil {
				t.Fatal(err)
			}
			if err := files.Close(); err != nil {
				t.Fatal(err)
			}
			for _, judge := range set.judges {
				for _, how := range []string{"auto", "bca"} {
					name := set.format + "-" + judge + "-" + how
					out, m := run(t, dir, data, docs, name, []string{"judge=" + judge, "statistics.method=" + how})
					if m == nil {
						t.Fatalf("%s: no run", name)
					}
					r := check(t, out, m)
					t.Logf("%s: %d rows, %d cells", name, r.Rows, r.Cells)
					tell(t, name, r)
				}
			}
		})
	}
}
