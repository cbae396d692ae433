package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vectorDir holds cases from independent implementations: mpmath at 50 digits,
// R, statsmodels, scipy.
const vectorDir = "../../../shared/vectors/stats"

type vector struct {
	ID        string
	Statistic string
	Input     struct {
		K, N            float64
		Values          []float64
		TP, Pred, Truth []float64
		P               []*float64
	}
	Options struct {
		Level, Alpha float64
	}
	Expected  map[string]any
	Tolerance struct{ Abs, Rel float64 }
	ByField   map[string]struct{ Abs, Rel float64 } `json:"tolerance_by_field"`
}

// leaves are the computed counterparts of a vector's expected leaves. A nil is
// undefined.
type leaves map[string]any

// covered computes the statistics this package has.
var covered = map[string]func(*testing.T, *vector) leaves{
	"wilson": func(_ *testing.T, v *vector) leaves { return ends(Wilson(v.Input.K, v.Input.N, v.Options.Level)) },
	"clopper_pearson": func(_ *testing.T, v *vector) leaves {
		return ends(clopperPearson(v.Input.K, v.Input.N, v.Options.Level))
	},
	"t_ci":          meanLeaves,
	"micro_metrics": microLeaves,
}

// informative are leaves that an implementation may leave out.
var informative = []string{"z_low", "z_high", "se_precision", "se_recall", "se_f1", "se_jaccard"}

func TestVectors(t *testing.T) {
	for _, name := range []string{"proportion_ci.json", "mean_ci.json", "ratio_ci.json"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(vectorDir, name)
			if _, err := os.Stat(vectorDir); err != nil {
				t.Skip("no vectors: folder ../shared/vectors/stats beside the project is missing")
			}
			runVectors(t, path, vectorCount[name])
		})
	}
	t.Run("small", func(t *testing.T) { runVectors(t, "testdata/intervals.json", vectorCount["small"]) })
}

// vectorCount is how many covered cases each file has: a file that is read wrong
// must not pass for having none.
var vectorCount = map[string]int{"proportion_ci.json": 38, "mean_ci.json": 12, "ratio_ci.json": 11, "small": 20}

func runVectors(t *testing.T, path string, want int) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, v := range file.Cases {
		compute := covered[v.Statistic]
		if compute == nil { // no command prints it
			continue
		}
		ran++
		t.Run(strings.ReplaceAll(v.ID, "/", "_"), func(t *testing.T) { v.check(t, compute(t, &v)) })
	}
	if ran != want {
		t.Errorf("ran %d cases of %s, want %d", ran, path, want)
	}
}

func (v *vector) check(t *testing.T, got leaves) {
	t.Helper()
	for name, want := range v.Expected {
		if slices.Contains(informative, name) {
			continue
		}
		g, ok := got[name]
		if !ok {
			t.Errorf("%s is not computed", name)
			continue
		}
		v.checkLeaf(t, name, g, want)
	}
}

func (v *vector) checkLeaf(t *testing.T, name string, got, want any) {
	t.Helper()
	tolerance := v.Tolerance
	if by, ok := v.ByField[name]; ok {
		tolerance = by
	}
	switch w := want.(type) {
	case float64:
		f, ok := got.(float64)
		if !ok || !(math.Abs(f-w) <= tolerance.Abs+tolerance.Rel*math.Abs(w)) {
			t.Errorf("%s = %v, want %v", name, got, w)
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(w) {
			t.Errorf("%s = %v, want %v", name, got, w)
			return
		}
		for i := range w {
			v.checkLeaf(t, fmt.Sprintf("%s[%d]", name, i), list[i], w[i])
		}
	default:
		if got != w {
			t.Errorf("%s = %v, want %v", name, got, w)
		}
	}
}

// leaf is v, or nil if it is not defined.
func leaf(v float64, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func ends(e Estimate) leaves {
	return leaves{
		"estimate": leaf(e.Value, e.Defined()),
		"low":      leaf(e.Low, e.HasInterval),
		"high":     leaf(e.High, e.HasInterval),
	}
}

func meanLeaves(_ *testing.T, v *vector) leaves {
	ones := slices.Repeat([]float64{1}, len(v.Input.Values))
	e := NewQuotient(v.Input.Values, ones).Within(nil, math.Inf(-1), math.Inf(1), v.Options.Level)
	l := ends(e)
	l["se"] = leaf(e.SE, e.HasSE)
	l["sd"] = leaf(e.SE*math.Sqrt(float64(len(ones))), e.HasSE)
	l["degenerate"] = e.Degenerate
	return l
}

func microLeaves(_ *testing.T, v *vector) leaves {
	terms := map[string]func(tp, pred, truth float64) (num, den float64){
		"precision": func(tp, pred, _ float64) (float64, float64) { return tp, pred },
		"recall":    func(tp, _, truth float64) (float64, float64) { return tp, truth },
		"f1":        func(tp, pred, truth float64) (float64, float64) { return 2 * tp, pred + truth },
		"jaccard":   func(tp, pred, truth float64) (float64, float64) { return tp, pred + truth - tp },
	}
	l := leaves{}
	for name, term := range terms {
		var y, x, values, ones []float64
		for i := range v.Input.TP {
			num, den := term(v.Input.TP[i], v.Input.Pred[i], v.Input.Truth[i])
			y, x = append(y, num), append(x, den)
			if den > 0 {
				values, ones = append(values, num/den), append(ones, 1)
			}
		}
		r, m := NewQuotient(y, x).Within(nil, 0, 1, 0.95), NewQuotient(values, ones).Within(nil, 0, 1, 0.95)
		l["micro_"+name] = leaf(r.Value, r.Defined())
		l["macro_"+name] = leaf(m.Value, m.Defined())
		l["n_defined_"+name] = float64(len(values))
	}
	return l
}
