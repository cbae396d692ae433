package stats

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An oracle computes the leaves that a case expects from its input and options.
type oracle func(t *testing.T, input, options json.RawMessage) any

// oracles are by topic, then by statistic. oracleCount says how many cases they must meet.
var oracles = map[string]map[string]oracle{
	"agreement_categorical": labelOracles,
	"agreement_spans":       spanOracles,
	"judge_human":           judgeOracles,
	"sampling":              samplingOracles,
}

// informativeLeaves are computed by one other program only, or printed by no command.
var informativeLeaves = []string{
	"se", "low", "high", "pearson_low", "pearson_high", "spearman_low", "spearman_high",
	"mcc", "youden", "ece", "mce", "brier", "cu_alpha", "cu_coverage", "bar_u_alpha", "mean_overlap_any_f1", "n_overlap_any_f1",
}

// oracleCount is how many cases of each file must have run.
var oracleCount = map[string]int{
	"agreement_categorical": 115, "agreement_spans": 111, "judge_human": 75, "sampling": 21,
}

type oracleCase struct {
	ID, Statistic   string
	Input, Options  json.RawMessage
	Expected        any
	Tolerance       tolerance
	ToleranceFields map[string]tolerance `json:"tolerance_by_field"`
}

type tolerance struct{ Abs, Rel float64 }

// TestOracles runs the cases of independent implementations: exact rationals,
// statsmodels, scikit-learn, R, the papers' own tables.
func TestOracles(t *testing.T) {
	for topic, want := range oracleCount {
		t.Run(topic, func(t *testing.T) {
			if _, err := os.Stat(vectorDir); err != nil {
				t.Skip("no vectors: folder ../shared/vectors/stats beside the project is missing")
			}
			if got := runOracles(t, filepath.Join(vectorDir, topic+".json"), oracles[topic]); got != want {
				t.Errorf("ran %d cases of %s, want %d", got, topic, want)
			}
		})
	}
}

// TestPlain runs worked examples of papers and textbooks, and cases computed
// plainly by testdata/people.py.
func TestPlain(t *testing.T) {
	all := make(map[string]oracle)
	for _, topic := range oracles {
		maps.Copy(all, topic)
	}
	if got := runOracles(t, "testdata/people.json", all); got != 31 {
		t.Errorf("ran %d cases, want 31", got)
	}
}

func runOracles(t *testing.T, path string, oracles map[string]oracle) (ran int) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []oracleCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		compute := oracles[c.Statistic]
		if compute == nil { // no command prints it
			continue
		}
		ran++
		t.Run(strings.ReplaceAll(c.ID, "/", "_"), func(t *testing.T) {
			var got any
			text, err := json.Marshal(compute(t, c.Input, c.Options))
			if err == nil {
				err = json.Unmarshal(text, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
			c.compare(t, c.Statistic, got, c.Expected)
		})
	}
	return ran
}

func (c *oracleCase) compare(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s = %v, want an object", path, got)
			return
		}
		for key, w := range want {
			if slices.Contains(informativeLeaves, key) {
				continue
			}
			g, ok := have[key]
			if !ok {
				t.Errorf("%s.%s is not computed", path, key)
				continue
			}
			c.compare(t, path+"."+key, g, w)
		}
	case []any:
		have, _ := got.([]any)
		if len(have) != len(want) {
			t.Errorf("%s has %d elements, want %d", path, len(have), len(want))
			return
		}
		for i, w := range want {
			c.compare(t, fmt.Sprintf("%s[%d]", path, i), have[i], w)
		}
	case float64:
		field := path[strings.LastIndexByte(path, '.')+1:]
		tol, ok := c.ToleranceFields[field]
		if !ok {
			tol = c.Tolerance
		}
		g, ok := got.(float64)
		if !ok || !(math.Abs(g-want) <= tol.Abs+tol.Rel*math.Abs(want)) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
}

// decode reads input and options of a case into one struct.
func decode[T any](t *testing.T, parts ...json.RawMessage) (v T) {
	t.Helper()
	for _, p := range parts {
		if err := json.Unmarshal(p, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

type object = map[string]any

// value is the value of an estimate, or null.
func value(e Estimate) any { return leaf(e.Value, e.Defined()) }
