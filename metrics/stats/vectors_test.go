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
		Clusters        []string
		Num, Den        []float64
		TP, Pred, Truth []float64
		Successes       int
		U               float64
		Resamples       [][]int `json:"resample_indices"`
		D               []float64
		A, B            numbers
		NumA            []float64 `json:"num_a"`
		DenA            []float64 `json:"den_a"`
		NumB            []float64 `json:"num_b"`
		DenB            []float64 `json:"den_b"`
		C               int64
		P               []*float64
	}
	Options struct {
		Level, Alpha float64
	}
	Expected  map[string]any
	Tolerance struct{ Abs, Rel float64 }
	ByField   map[string]struct{ Abs, Rel float64 } `json:"tolerance_by_field"`
	Sampled   *sampled                              `json:"monte_carlo"`
}

// leaves are the computed counterparts of a vector's expected leaves. A nil is
// undefined.
type leaves map[string]any

// covered computes the statistics this package has.
var covered = map[string]func(*testing.T, *vector) leaves{
	"wilson": func(_ *testing.T, v *vector) leaves { return ends(Wilson(v.Input.K, v.Input.N, v.Options.Level)) },
	"clopper_pearson": func(_ *testing.T, v *vector) leaves {
		return ends(ClopperPearson(v.Input.K, v.Input.N, v.Options.Level))
	},
	"t_ci":          meanLeaves,
	"clustered_se":  clusteredLeaves,
	"ratio_delta":   ratioLeaves,
	"micro_metrics": microLeaves,
	"poisson1_from_uniform": func(_ *testing.T, v *vector) leaves {
		return leaves{"weight": float64(PoissonWeight(v.Input.U))}
	},
	"boot_fixed":              fixedLeaves,
	"boot_exact_percentile":   exactLeaves,
	"boot_exact_bca":          exactLeaves,
	"cluster_boot_exact":      exactLeaves,
	"paired_boot_exact":       exactLeaves,
	"ratio_boot_exact":        exactLeaves,
	"paired_boot_ratio_exact": exactLeaves,
	"boot_mc":                 sampledLeaves,
	"boot_binary":             sampledLeaves,
	"cluster_boot_mc":         sampledLeaves,
	"ratio_boot_mc":           sampledLeaves,
	"poisson_boot_binary":     sampledLeaves,
	"poisson_boot_mc":         sampledLeaves,
	"sign_flip":               flipLeaves,
	"sign_flip_cluster":       flipLeaves,
	"sign_flip_mc":            sampledFlipLeaves,
	"mcnemar":                 mcNemarLeaves,
	"holm":                    func(_ *testing.T, v *vector) leaves { return adjustedLeaves(v, Holm) },
	"benjamini_hochberg":      func(_ *testing.T, v *vector) leaves { return adjustedLeaves(v, BenjaminiHochberg) },
}

// informative are leaves that an implementation may leave out.
var informative = []string{"cr0", "cr2", "z0_strict", "z_low", "z_high"}

func TestVectors(t *testing.T) {
	for _, name := range []string{"proportion_ci.json", "mean_ci.json", "ratio_ci.json", "paired.json"} {
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
var vectorCount = map[string]int{"proportion_ci.json": 38, "mean_ci.json": 128, "ratio_ci.json": 61, "paired.json": 76, "small": 33}

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
		if compute == nil {
			if !slices.Contains(notPrinted, v.Statistic) {
				t.Errorf("%s: unknown statistic %s", v.ID, v.Statistic)
			}
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

// grouped sums the rows by cluster.
func grouped(values []float64, names []string) *Clusters {
	var g Grouper
	codes := map[string]int{}
	for i, v := range values {
		code, ok := codes[names[i]]
		if !ok {
			code = len(codes)
			codes[names[i]] = code
		}
		g.Add(code, v)
	}
	var c Clusters
	g.Drain(&c)
	return &c
}

func single(values []float64) *Clusters {
	var c Clusters
	for _, v := range values {
		c.AddRow(v)
	}
	return &c
}

func ratios(num, den []float64) *Clusters {
	var c Clusters
	for i := range num {
		c.AddCluster(num[i], den[i], 1)
	}
	return &c
}

func meanLeaves(_ *testing.T, v *vector) leaves {
	e := single(v.Input.Values).Mean(v.Options.Level)
	l := ends(e)
	l["se"] = leaf(e.SE, e.HasSE)
	l["sd"] = leaf(e.SE*math.Sqrt(float64(e.N)), e.HasSE)
	l["degenerate"] = e.Degenerate
	return l
}

func clusteredLeaves(t *testing.T, v *vector) leaves {
	c := grouped(v.Input.Values, v.Input.Clusters)
	e := c.Mean(v.Options.Level)
	l := ends(e)
	l["n"], l["clusters"] = float64(e.N), float64(e.Clusters)
	cr1, ok1 := c.moments().stdErr(true)
	l["cr1"] = leaf(cr1, ok1)
	if ok1 != e.HasSE || cr1 != e.SE {
		t.Errorf("CR1 = %v, %v, but the standard error of Mean is %v, %v", cr1, ok1, e.SE, e.HasSE)
	}
	return l
}

func ratioLeaves(t *testing.T, v *vector) leaves {
	c := ratios(v.Input.Num, v.Input.Den)
	e := c.DeltaT(v.Options.Level)
	logit := c.Ratio(v.Options.Level)
	if logit.Method == WilsonT && !logit.HasInterval {
		t.Errorf("no interval at the boundary")
	}
	l := ends(e)
	l["se"] = leaf(e.SE, e.HasSE)
	l["degenerate"] = e.Degenerate
	l["t_low"], l["t_high"] = leaf(e.Low, e.HasInterval), leaf(e.High, e.HasInterval)
	hasLogit := logit.HasInterval && logit.Method == LogitT
	l["logit_low"], l["logit_high"] = leaf(logit.Low, hasLogit), leaf(logit.High, hasLogit)
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
		var micro, macro Clusters
		for i := range v.Input.TP {
			num, den := term(v.Input.TP[i], v.Input.Pred[i], v.Input.Truth[i])
			micro.AddCluster(num, den, 1)
			if den > 0 {
				macro.AddRow(num / den)
			}
		}
		r, m := micro.Ratio(0.95), macro.Mean(0.95)
		l["micro_"+name] = leaf(r.Value, r.Defined())
		l["se_"+name] = leaf(r.SE, r.HasSE)
		l["macro_"+name] = leaf(m.Value, m.Defined())
		l["n_defined_"+name] = float64(m.N)
	}
	return l
}
