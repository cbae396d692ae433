package stats

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An intervalCase is a case of ../shared/vectors/stats/intervals_*.json.
type intervalCase struct {
	ID, Statistic string
	Input         struct {
		Values, Num, Den []*float64
		Base, New        []*float64
		BaseNum          []float64 `json:"base_num"`
		BaseDen          []float64 `json:"base_den"`
		NewNum           []float64 `json:"new_num"`
		NewDen           []float64 `json:"new_den"`
		Docs             [][]string
		BaseDocs         [][]string `json:"base_docs"`
		NewDocs          [][]string `json:"new_docs"`
		Units            []string
		Value            float64
		Errors, Shares   []float64
		Human, Judge     []bool
		Scores, X, Y     []float64
		Positive         []bool
		Ratings          [][]string
	}
	Options struct {
		Level            float64
		Low, High, Width *float64
	}
	Expected  map[string]any
	Tolerance struct{ Abs, Rel float64 }
}

func numbered(docs [][]string) *Documents {
	var numbers Numbering[string]
	out := new(Documents)
	for _, names := range docs {
		out.Add(numbers.Numbers(names...)...)
	}
	return out
}

// known are the values that are not null, 0 for those that are, with 1 and 0 beside them.
func known(values []*float64) (y, x []float64) {
	y, x = make([]float64, len(values)), make([]float64, len(values))
	for i, v := range values {
		if v != nil {
			y[i], x[i] = *v, 1
		}
	}
	return y, x
}

func orInfinite(v *float64, sign int) float64 {
	if v == nil {
		return math.Inf(sign)
	}
	return *v
}

// leavesOf is what a case expects of an estimate.
func leavesOf(e *Estimate) map[string]any {
	out := map[string]any{"estimate": nil, "low": nil, "high": nil, "se": nil, "df": nil, "method": "none"}
	if e.Defined() {
		out["estimate"] = e.Value
	}
	if e.HasInterval {
		out["low"], out["high"], out["method"], out["se"] = e.Low, e.High, string(e.Method), e.SE
		if e.DF.Known() {
			out["df"] = e.DF.Value
		}
		if e.Effect.Known() {
			out["design_effect"] = e.Effect.Value
		}
	}
	return out
}

func withSpread(leaves map[string]any, s Spread) map[string]any {
	leaves["n"], leaves["documents"], leaves["given"] = float64(s.Units), float64(s.Documents), float64(len(s.Given))
	leaves["wilson_n"], leaves["effective"] = s.Size, s.Clusters
	return leaves
}

func withP(leaves map[string]any, c *Comparison) map[string]any {
	leaves["p"] = nil
	if c.P.Known() {
		leaves["p"] = c.P.Value
	}
	return leaves
}

func (c *intervalCase) rows(docs *Documents) *Rows { return NewRows(c.Input.Units, docs) }

func (c *intervalCase) quotient(y, x []float64) (*Quotient, *Documents) {
	rows := c.rows(numbered(c.Input.Docs))
	return NewQuotient(rows.Sums(y), rows.Sums(x)), rows.Documents(func(row int) bool { return x[row] != 0 })
}

func (c *intervalCase) ratioLeaves(y, x []float64) map[string]any {
	q, docs := c.quotient(y, x)
	e := q.Within(docs, orInfinite(c.Options.Low, -1), orInfinite(c.Options.High, 1), c.Options.Level)
	if q == nil {
		return withSpread(leavesOf(&e), Spread{})
	}
	return withSpread(leavesOf(&e), q.Spread(docs))
}

func (c *intervalCase) differenceLeaves(q *Quotient, docs *Documents) map[string]any {
	if q == nil {
		e := undefined(c.Options.Level)
		return withP(withSpread(leavesOf(&e), Spread{}), &Comparison{})
	}
	s := q.Spread(docs)
	d := s.Difference(q.Value, orInfinite(c.Options.Width, 1), c.Options.Level)
	return withP(withSpread(leavesOf(&d.Estimate), s), &d)
}

var intervalStatistics = map[string]func(c *intervalCase) map[string]any{
	"mean": func(c *intervalCase) map[string]any { return c.ratioLeaves(known(c.Input.Values)) },
	"ratio": func(c *intervalCase) map[string]any {
		y, _ := known(c.Input.Num)
		x, _ := known(c.Input.Den)
		return c.ratioLeaves(y, x)
	},
	"paired_mean": func(c *intervalCase) map[string]any {
		y, x := make([]float64, len(c.Input.New)), make([]float64, len(c.Input.New))
		for i, v := range c.Input.New {
			if b := c.Input.Base[i]; v != nil && b != nil {
				y[i], x[i] = *v-*b, 1
			}
		}
		return c.differenceLeaves(c.quotient(y, x))
	},
	"paired_ratio": func(c *intervalCase) map[string]any {
		a, _ := c.quotient(c.Input.NewNum, c.Input.NewDen)
		b, docs := c.quotient(c.Input.BaseNum, c.Input.BaseDen)
		if a == nil || b == nil {
			return c.differenceLeaves(nil, nil)
		}
		return c.differenceLeaves(a.Minus(b), docs)
	},
	"unpaired": func(c *intervalCase) map[string]any {
		a, b := NewQuotient(known(c.Input.New)), NewQuotient(known(c.Input.Base))
		s, o := a.Spread(numbered(c.Input.NewDocs)), b.Spread(numbered(c.Input.BaseDocs))
		n := s.Units + o.Units
		s = s.Beside(&o)
		d := s.Difference(a.Value-b.Value, orInfinite(c.Options.Width, 1), c.Options.Level)
		leaves := withP(withSpread(leavesOf(&d.Estimate), s), &d)
		leaves["n"] = float64(n)
		return leaves
	},
	"spread": func(c *intervalCase) map[string]any {
		s := NewShares(c.Input.Shares, c.Input.Errors, numbered(c.Input.Docs)).Spread(c.Input.Errors, c.Input.Shares)
		e := s.Within(c.Input.Value, *c.Options.Low, *c.Options.High, c.Options.Level)
		return withSpread(leavesOf(&e), s)
	},
	"confusion": func(c *intervalCase) map[string]any {
		j := Judging{Human: c.Input.Human, Judge: c.Input.Judge, Rows: c.rows(numbered(c.Input.Docs)), Level: c.Options.Level}
		out := make(map[string]any)
		for name, e := range map[string]Estimate{"balanced_accuracy": j.BalancedAccuracy(), "f1": j.F1(), "kappa": j.Kappa()} {
			out[name] = leavesOf(&e)
		}
		return out
	},
	"auroc": func(c *intervalCase) map[string]any {
		e := AUROC(c.Input.Scores, c.Input.Positive, c.rows(numbered(c.Input.Docs)), c.Options.Level)
		return leavesOf(&e)
	},
	"alpha_nominal": func(c *intervalCase) map[string]any {
		var categories Numbering[string]
		for _, ratings := range c.Input.Ratings {
			categories.Numbers(ratings...)
		}
		units := make([][]float64, len(c.Input.Ratings))
		for i, ratings := range c.Input.Ratings {
			counts := make([]int, len(categories.Names))
			for _, k := range categories.Numbers(ratings...) {
				counts[k]++
			}
			tally := NewTally(len(counts))
			if len(ratings) > 1 {
				tally.Add(counts)
			}
			units[i] = tally.Vector()
		}
		e := Jackknifed(len(units), func(i int) []float64 { return units[i] }, func(sums []float64) (float64, bool) {
			v := TallyOf(len(categories.Names), sums).Alpha(Nominal, nil)
			return v.Value, v.Known()
		}, nil, numbered(c.Input.Docs), -1, 1, c.Options.Level)
		return leavesOf(&e)
	},
	"pearson": func(c *intervalCase) map[string]any {
		e := PearsonOf(c.Input.X, c.Input.Y, numbered(c.Input.Docs), c.Options.Level)
		return leavesOf(&e)
	},
}

func runIntervals(t *testing.T, path string) (ran int) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []intervalCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		ran++
		t.Run(strings.ReplaceAll(c.ID, "/", "_"), func(t *testing.T) {
			checkLeaves(t, &c, "", intervalStatistics[c.Statistic](&c), c.Expected)
		})
	}
	return ran
}

func checkLeaves(t *testing.T, c *intervalCase, prefix string, got, want map[string]any) {
	t.Helper()
	for name, w := range want {
		if slices.Contains(informativeLeaves, name) && got[name] == nil {
			continue
		}
		switch w := w.(type) {
		case map[string]any:
			checkLeaves(t, c, name+".", got[name].(map[string]any), w)
		case float64:
			if g, ok := got[name].(float64); !ok || !(math.Abs(g-w) <= c.Tolerance.Abs+c.Tolerance.Rel*math.Abs(w)) {
				t.Errorf("%s%s = %v, want %v", prefix, name, got[name], w)
			}
		default:
			if got[name] != w {
				t.Errorf("%s%s = %v, want %v", prefix, name, got[name], w)
			}
		}
	}
}

// TestIntervalVectors runs the cases of an independent implementation.
func TestIntervalVectors(t *testing.T) {
	if _, err := os.Stat(vectorDir); err != nil {
		t.Skip("no vectors: folder ../shared/vectors/stats beside the project is missing")
	}
	for name, want := range map[string]int{"mean": 70, "ratio": 25, "difference": 38, "judge": 33, "spread": 6} {
		if ran := runIntervals(t, filepath.Join(vectorDir, "intervals_"+name+".json")); ran != want {
			t.Errorf("ran %d cases of %s, want %d", ran, name, want)
		}
	}
}
