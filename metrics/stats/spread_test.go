package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
)

// slowSpread is the spread of a number straight from its definition: each sum is a loop over
// all documents and units, which are sets of names.
func slowSpread(errors, shares []float64, docs [][]string) Spread {
	const r = 0.25
	var in []int
	for i := range errors {
		if errors[i] != 0 || shares[i] != 0 {
			in = append(in, i)
		}
	}
	touch := func(doc string) (units []int) {
		for _, i := range in {
			if slices.Contains(docs[i], doc) {
				units = append(units, i)
			}
		}
		return units
	}
	out := Spread{Units: len(in)}
	touching := 0.0
	var names []string
	for _, i := range in {
		out.Heaviest = max(out.Heaviest, shares[i])
		if len(docs[i]) > 0 {
			touching += shares[i]
		}
		for _, doc := range docs[i] {
			if !slices.Contains(names, doc) {
				names = append(names, doc)
			}
		}
	}
	shared := make(map[string][]int)
	for _, doc := range names {
		units, held := touch(doc), 0.0
		for _, i := range units {
			held += shares[i]
		}
		if len(units) > 1 && held >= 0.9*touching-1e-12 {
			out.Given = append(out.Given, 0)
		} else if len(units) > 1 {
			shared[doc] = units
		}
	}
	of := make(map[int][]string)
	for _, i := range in {
		for _, doc := range docs[i] {
			if shared[doc] != nil && !slices.Contains(of[i], doc) {
				of[i] = append(of[i], doc)
			}
		}
		if len(of[i]) == 0 {
			own := fmt.Sprint("own of ", i)
			shared[own], of[i] = []int{i}, []string{own}
		}
	}
	out.Documents = len(shared)
	if out.Units < 2 || out.Heaviest >= 0.9-1e-12 {
		return out
	}
	var A, B, C, E, W, H, Q, tq, P, a1, a2, a3, a4, a5 float64
	held := make(map[string]float64)
	for doc, units := range shared {
		for _, i := range units {
			held[doc] += shares[i]
		}
	}
	for _, i := range in {
		e, g, k := errors[i], shares[i], float64(len(of[i]))
		A, C, E = A+g*g, C+math.Pow(g, 3), E+e*e
		H += math.Pow(g, 4) * (1 - 1/k)
		over := k - 1
		for _, doc := range of[i] {
			over -= 2 * held[doc]
		}
		W += math.Max(0, over) * e * e
	}
	type document struct{ S, h float64 }
	var all []document
	for doc, units := range shared {
		var S, tau, q, t, o float64
		for _, i := range units {
			g, k := shares[i], float64(len(of[i]))
			S, tau, q, t, o = S+errors[i], tau+g/math.Sqrt(k), q+g*g/math.Sqrt(k), t+g/k, o+g*g/k
		}
		p := (1-r)*o + r*t*t
		B, tq, Q = B+tau*tau, tq+tau*q, Q+S*S/(1-held[doc])
		P, a1, a2, a3, a4, a5 = P+p, a1+t*p, a2+t*t, a3+p*p, a4+p*t*t, a5+p*p*t
		all = append(all, document{S, held[doc]})
	}
	v := (1-r)*A + r*B
	c0 := A - 2*C + A*A
	c := (1-r)*c0 + r*(A-2*tq+A*B)
	phi := math.Pow(P-2*a1+P*a2, 2) / (a3 - 4*a5 + 2*P*a4 + 2*(a1*a1+a2*a3) - 4*P*a1*a2 + P*P*a2*a2 + (1-r)*(1-r)*H)
	out.OK = true
	out.Variance = (phi*math.Max(0, Q-W) + E*v/c) / (phi + 1)
	out.Size, out.Clusters, out.Effect = 1/v, phi+1, out.Variance*c0/(E*A)
	var kappa, gamma float64
	for _, d := range all {
		w := d.S * d.S / (1 - d.h) / Q
		kappa += w * w
		gamma += math.Copysign(math.Pow(w, 1.5), d.S)
	}
	omega := 1 / (float64(len(in)) * A)
	u := kappa - 1/phi - omega*omega*gamma*gamma
	out.DF = math.Min(phi+1, math.Max(1, 1/A-1))
	if Q > 0 && u*out.DF > 2 {
		out.DF = math.Max(1, 2/u)
	}
	return out
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-10+1e-9*math.Abs(b)
}

func (s Spread) near(o Spread) bool {
	return s.Units == o.Units && s.Documents == o.Documents && len(s.Given) == len(o.Given) && s.OK == o.OK &&
		near(s.Heaviest, o.Heaviest) && near(s.Variance, o.Variance) && near(s.DF, o.DF) &&
		near(s.Size, o.Size) && near(s.Clusters, o.Clusters) && near(s.Effect, o.Effect)
}

// TestSpreadByDefinition compares random designs with the definition: units without and with
// documents, long and short ones, some without value, one document of nearly all.
func TestSpreadByDefinition(t *testing.T) {
	given, none, many := 0, 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		n, documents, most := 1+r.IntN(30), 1+r.IntN(12), r.IntN(4)
		y, x, docs := make([]float64, n), make([]float64, n), make([][]string, n)
		for i := range n {
			if seed%3 == 0 && r.IntN(5) == 0 {
				continue
			}
			x[i] = 1
			if seed%2 == 0 {
				x[i] = math.Ceil(math.Exp(1.5*r.NormFloat64()) * 10)
			}
			y[i] = x[i] * r.Float64()
			for range r.IntN(most + 1) {
				docs[i] = append(docs[i], fmt.Sprint("d", r.IntN(documents)))
			}
			if seed%7 == 0 && r.IntN(20) > 0 {
				docs[i] = append(docs[i], "handbook")
			}
		}
		q := NewQuotient(y, x)
		if q == nil {
			continue
		}
		got, want := q.Spread(numbered(docs)), slowSpread(q.Errors, q.Shares, docs)
		if !got.near(want) {
			t.Fatalf("seed %d: %+v, by definition %+v", seed, got, want)
		}
		if len(got.Given) > 0 {
			given++
		}
		if !got.OK {
			none++
		} else if got.Documents < got.Units {
			many++
		}
	}
	if given < 20 || none < 20 || many < 100 {
		t.Errorf("%d designs with a given document, %d without an interval, %d with shared documents: too few", given, none, many)
	}
}

// TestSpreadByHand: designs whose numbers are known without the formulas.
func TestSpreadByHand(t *testing.T) {
	t.Run("independent rows", func(t *testing.T) {
		y := []float64{0, 0.25, 0.5, 0.25, 1, 0.75}
		q := NewQuotient(y, []float64{1, 1, 1, 1, 1, 1})
		s := q.Spread(nil)
		squares := 0.0
		for _, v := range y {
			squares += (v - q.Value) * (v - q.Value)
		}
		if !near(s.Variance, squares/5/6) || !near(s.DF, 5) || !near(s.Size, 6) || !near(s.Effect, 1) {
			t.Errorf("%+v, want the variance s²/n = %v and 5 degrees of freedom", s, squares/30)
		}
	})
	t.Run("equal clusters", func(t *testing.T) {
		// 8 documents of 3 rows that are alike: 8 rows.
		var y, x []float64
		var docs [][]string
		for d := range 8 {
			for range 3 {
				y, x, docs = append(y, float64(d)/7), append(x, 1), append(docs, []string{fmt.Sprint(d)})
			}
		}
		s := NewQuotient(y, x).Spread(numbered(docs))
		if s.Documents != 8 || !near(s.Clusters, 8) || !near(s.DF, 8) {
			t.Errorf("%+v, want the clusters 8, of which one stands for how alike rows are taken to be", s)
		}
	})
	t.Run("one document", func(t *testing.T) {
		y := []float64{0, 1, 0.5, 0.25}
		q := NewQuotient(y, []float64{1, 1, 1, 1})
		book := [][]string{{"handbook"}, {"handbook"}, {"handbook", "appendix"}, {"handbook"}}
		s := q.Spread(numbered(book))
		alone := q.Spread(nil)
		if alone.Given = []int32{0}; !s.near(alone) {
			t.Errorf("%+v, want that of rows alone, %+v", s, alone)
		}
		if !slices.Equal(s.Given, []int32{0}) || !near(s.GivenShare, 1) {
			t.Errorf("given are %v of %v, want the handbook of all", s.Given, s.GivenShare)
		}
		e := q.Within(numbered(book), 0, 1, 0.95)
		e.NameGiven(func(d int32) string { return "HANDBOOK" })
		if want := "says nothing of other documents than HANDBOOK, which 100 % of the rows touch"; !slices.Contains(Texts(e.Warnings), want) {
			t.Errorf("warnings %q, want %q", e.Warnings, want)
		}
	})
	t.Run("nine tenths", func(t *testing.T) {
		for den, ok := range map[float64]bool{18: false, 17: true} {
			q := NewQuotient([]float64{den / 2, 1, 0}, []float64{den, 1, 1})
			if s := q.Spread(nil); s.OK != ok {
				t.Errorf("a unit of %v of %v: %+v, want an interval: %t", den, den+2, s, ok)
			}
		}
	})
	t.Run("a row of nothing", func(t *testing.T) {
		with := NewQuotient([]float64{1, 0, 0, 2}, []float64{2, 0, 1, 3}).Spread(numbered([][]string{{"a"}, {"a"}, {"b"}, {"b"}}))
		without := NewQuotient([]float64{1, 0, 2}, []float64{2, 1, 3}).Spread(numbered([][]string{{"a"}, {"b"}, {"b"}}))
		if !with.near(without) || with.Units != 3 {
			t.Errorf("%+v, want %+v", with, without)
		}
	})
}

// TestOneByOne: units one after the other come to what they come to together, with documents
// and without.
func TestOneByOne(t *testing.T) {
	y, x := []float64{1, 0, 3, 2, 0, 1}, []float64{1, 4, 3, 5, 0, 2}
	q := NewQuotient(y, x)
	for _, documents := range []*Documents{nil, numbered([][]string{{"a"}, {"a", "b"}, {"b", "c"}, nil, {"c"}, {"d"}})} {
		shares := StartShares(documents.Count())
		for i := range y {
			if y[i] != 0 || x[i] != 0 {
				shares.Touch(x[i], documents.At(i, nil))
			}
		}
		shares.Weigh(q.Den)
		errors := shares.Errors()
		for i, e := range q.Errors {
			if y[i] != 0 || x[i] != 0 {
				shares.Add(q.Shares[i], documents.At(i, nil))
				errors.Add(e, q.Shares[i], documents.At(i, nil))
			}
		}
		if got, want := errors.Spread(), q.Spread(documents); !got.near(want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestEqualShares: rows of equal weight one after the other.
func TestEqualShares(t *testing.T) {
	y := []float64{0.5, 0, 1, 0.25, 0.75, 0.5, 1}
	q := NewQuotient(y, slices.Repeat([]float64{1}, len(y)))
	errors := EqualShares(len(y)).Errors()
	for i, e := range q.Errors {
		errors.Add(e, q.Shares[i], nil)
	}
	if got, want := errors.Spread(), q.Spread(nil); !got.near(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestLone: a document of one row alone is as good as one that is named, also for the share
// of rows from which a document is given.
func TestLone(t *testing.T) {
	q := NewQuotient([]float64{0, 1, 0.5, 1, 0, 0.25}, slices.Repeat([]float64{1}, 6))
	named := numbered([][]string{{"a"}, {"a"}, {"b"}, {"c", "d"}, {"a", "e"}, nil})
	var lone Documents
	for i := range 6 {
		for _, d := range named.At(i, nil) {
			if d > 0 {
				d = Lone
			}
			lone.Touch(d)
		}
		lone.Add()
	}
	if got, want := q.Spread(&lone), q.Spread(named); !got.near(want) || lone.Shared() != named.Shared() {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestWithin: ends of intervals, from tables of t and of the normal distribution.
func TestWithin(t *testing.T) {
	ones := func(n int) (x []float64) { return slices.Repeat([]float64{1}, n) }
	tests := []struct {
		name            string
		y               []float64
		from, to        float64
		method          Method
		low, high       float64
		se              float64
		codes           []WarningCode
		hasDF, hasWidth bool
	}{
		// s²/n = (1/6)/4; t3 = 3.182446; logit ± 3.182446 × 0.2041241/0.25
		{"logit", []float64{0, 0.5, 0.5, 1}, 0, 1, LogitT, 0.0692378, 0.9307622, 0.2041241, []WarningCode{FewClusters}, true, true},
		{"logit of 1 to 3", []float64{1, 2, 2, 3}, 1, 3, LogitT, 1.1384756, 2.8615244, 0.4082483, []WarningCode{FewClusters}, true, true},
		{"symmetric", []float64{0, 0.5, 0.5, 1}, math.Inf(-1), math.Inf(1), PlainT, -0.1496140, 1.1496140, 0.2041241, []WarningCode{FewClusters}, true, true},
		// z²/(n + z²) with z² = 3.841459
		{"at the bottom", make([]float64, 10), 0, 1, WilsonScore, 0, 0.2775328, 0, []WarningCode{AllAlike}, false, true},
		{"at the top", []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 1, 3, WilsonScore, 2.4449345, 3, 0, []WarningCode{AllAlike}, false, true},
		{"alike", []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 0, 1, WilsonScore, 0.1876160, 0.8123840, 0, []WarningCode{AllAlike}, false, true},
		{"alike without bounds", []float64{7, 7, 7, 7, 7, 7}, math.Inf(-1), math.Inf(1), ConstantValue, 7, 7, 0, []WarningCode{NoWidth}, false, true},
		{"one", []float64{0.5}, 0, 1, "", 0, 0, 0, []WarningCode{OneUnit}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := NewQuotient(tt.y, ones(len(tt.y))).Within(nil, tt.from, tt.to, 0.95)
			close := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
			if !close(e.Low, tt.low) || !close(e.High, tt.high) || !close(e.SE, tt.se) || e.Method != tt.method || e.DF.Known() != tt.hasDF || e.HasInterval != tt.hasWidth {
				t.Errorf("[%v, %v] by %s, se %v, df %v; want [%v, %v] by %s, se %v", e.Low, e.High, e.Method, e.SE, e.DF, tt.low, tt.high, tt.method, tt.se)
			}
			var codes []WarningCode
			for _, w := range e.Warnings {
				codes = append(codes, w.Code)
			}
			if !slices.Equal(codes, tt.codes) {
				t.Errorf("warnings %v, want %v", codes, tt.codes)
			}
		})
	}
	if e := NewQuotient(nil, nil).Within(nil, 0, 1, 0.95); e.Defined() || e.HasInterval {
		t.Errorf("of no rows: %+v", e)
	}
	if e := NewQuotient([]float64{5, 0}, []float64{19, 1}).Within(nil, 0, 1, 0.95); e.HasInterval || e.Warnings[0].Text != "no interval: one row has 95 % of the weight" {
		t.Errorf("of one heavy row: %+v", e)
	}
	few := NewQuotient([]float64{0, 0.5, 1, 1}, ones(4)).Within(numbered([][]string{{"a"}, {"a"}, {"b"}, {"b"}}), 0, 1, 0.95)
	if want := "rests on about 2 independent units; with fewer than 6 it leans on how alike answers about one document usually are"; few.Warnings[0].Text != want {
		t.Errorf("%q, want %q", few.Warnings[0].Text, want)
	}
}

// TestShownNames: no name of a document breaks a line, or fills a page.
func TestShownNames(t *testing.T) {
	for name, want := range map[string]string{
		"annual report.pdf": "annual report.pdf", "a\nb": `"a\nb"`, "": `""`, "\x1b[2J": `"\x1b[2J"`,
		strings.Repeat("ü", 81): strings.Repeat("ü", 80) + "…",
	} {
		if got := shown(name); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
}

// TestDifferenceExcludesZero: the interval leaves 0 out exactly if p is below 1 - level.
func TestDifferenceExcludesZero(t *testing.T) {
	excluded := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 2 + r.IntN(12)
		y, x, docs := make([]float64, n), make([]float64, n), make([][]string, n)
		for i := range n {
			x[i], y[i] = 1, math.Round(4*(r.Float64()-0.3))/4
			docs[i] = []string{fmt.Sprint(r.IntN(6))}
		}
		q := NewQuotient(y, x)
		s := q.Spread(numbered(docs))
		for _, width := range []float64{1, math.Inf(1)} {
			d := s.Difference(q.Value, width, 0.95)
			if !d.HasInterval {
				continue
			}
			out := d.Low > 0 || d.High < 0
			if out {
				excluded++
			}
			if !d.P.Known() || out != (d.P.Value < 0.05) {
				t.Errorf("seed %d, width %v: [%v, %v] with p %v", seed, width, d.Low, d.High, d.P)
			}
		}
	}
	if excluded < 50 {
		t.Errorf("only %d differences are different", excluded)
	}
}

// TestManyDocuments: numbers that no longer fit into two bytes leave those before as they are.
func TestManyDocuments(t *testing.T) {
	var d Documents
	want := [][]int32{{Lone, 0, 65534}, nil, {65535, 7}, {70000, Lone, 65534}}
	for _, documents := range want {
		d.Add(documents...)
	}
	of := []int32{1, 2, 3, 4}
	for unit := range want {
		if of = d.At(unit, of); !slices.Equal(of, want[unit]) {
			t.Errorf("unit %d touches %v, want %v", unit, of, want[unit])
		}
		of[:cap(of)][0] = 99 // the caller's memory
	}
	if d.Units() != 4 || d.Count() != 70001 || !d.Shared() {
		t.Errorf("%d units, %d documents, shared %v", d.Units(), d.Count(), d.Shared())
	}
}

// TestUnits: rows of one question are added up, and touch what any of its rows touches.
func TestUnits(t *testing.T) {
	rows := NewRows([]string{"a", "b", "a", "c", "b"}, numbered([][]string{{"x"}, {"y"}, {"z", "x"}, nil, {"w"}}))
	if got := rows.Sums([]float64{1, 2, 4, 8, 16}); !slices.Equal(got, []float64{5, 18, 8}) {
		t.Errorf("sums %v", got)
	}
	docs := rows.Documents(func(row int) bool { return row != 4 })
	for unit, want := range [][]int32{{0, 2}, {1}, nil} {
		if got := docs.At(unit, nil); !slices.Equal(got, want) {
			t.Errorf("unit %d touches %v, want %v", unit, got, want)
		}
	}
	if docs.Shared() || !NewRows([]int{3, 1}, nil).Single() {
		t.Error("shared documents or single rows are wrong")
	}
}

// TestPPI: a judge that says what people say leaves the error of its own mean, one that says
// nothing that of the labels.
func TestPPI(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	var judge, worthless []float64
	var human []ibid.Number
	for i := range 200 {
		v := math.Round(r.Float64())
		judge, worthless = append(judge, v), append(worthless, 0.5)
		if h := (ibid.Number{}); i%10 == 0 {
			human = append(human, ibid.Some(v))
		} else {
			human = append(human, h)
		}
	}
	rows := NewRows[int](nil, nil)
	if e, lambda := PPI(worthless, human, rows, 0, 1, 0.95); lambda != 0 || e.N != 200 || e.SE < 0.1 {
		t.Errorf("a judge that says nothing: %+v, λ %v", e, lambda)
	}
	good, lambda := PPI(judge, human, rows, 0, 1, 0.95)
	if lambda < 0.8 || good.SE > 0.06 || good.Low >= meanOf(judge) || good.High <= meanOf(judge) {
		t.Errorf("a judge that is right: %+v, λ %v, mean %v", good, lambda, meanOf(judge))
	}
	if e, _ := PPI(judge[:2], []ibid.Number{ibid.Some(1.0), {}}, rows, 0, 1, 0.95); e.Defined() {
		t.Errorf("of one label: %+v", e)
	}
}
