package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Two rows of one question and system, in the base and in the new run.
type twoRows struct{ base, other row }

// pairSlowly pairs rows of a system, or of all if it is "", by looking at every two of them.
func pairSlowly(base, other []row, system string) (pairs []twoRows, onlyBase, onlyOther []string) {
	of := func(r row) bool { return system == "" || r.system == system }
	same := func(a, b row) bool { return a.id == b.id && a.system == b.system }
	for _, a := range base {
		at := slices.IndexFunc(other, func(b row) bool { return of(b) && same(a, b) })
		switch {
		case !of(a):
		case at < 0:
			onlyBase = append(onlyBase, a.id)
		default:
			pairs = append(pairs, twoRows{a, other[at]})
		}
	}
	for _, b := range other {
		if of(b) && !slices.ContainsFunc(base, func(a row) bool { return same(a, b) }) {
			onlyOther = append(onlyOther, b.id)
		}
	}
	return pairs, onlyBase, onlyOther
}

// A term is what a pair that has a value on both sides adds to a difference.
type term struct {
	question    string
	base, other float64
	baseX, newX float64 // of a ratio; both 1 for a mean
	cluster     string
}

// termsOf are those of char_f1, exact_match, or the pooled char_f1.
func termsOf(pairs []twoRows, metric string) (terms []term) {
	for _, p := range pairs {
		if p.base.f1 == nil || p.other.f1 == nil {
			continue
		}
		t := term{question: p.base.id, base: *p.base.f1, other: *p.other.f1, baseX: 1, newX: 1, cluster: p.base.cluster}
		switch metric {
		case "exact_match":
			t.base, t.other = math.Floor(t.base), math.Floor(t.other)
		case "micro":
			t.base, t.baseX = float64(2*p.base.overlap), float64(p.base.truth+p.base.pred)
			t.other, t.newX = float64(2*p.other.overlap), float64(p.other.truth+p.other.pred)
		}
		terms = append(terms, t)
	}
	return terms
}

func total(terms []term, of func(term) float64) (sum float64) {
	for _, t := range terms {
		sum += of(t)
	}
	return sum
}

func ratios(terms []term) (base, other float64) {
	return total(terms, func(t term) float64 { return t.base }) / total(terms, func(t term) float64 { return t.baseX }),
		total(terms, func(t term) float64 { return t.other }) / total(terms, func(t term) float64 { return t.newX })
}

// groupBy are the terms by a name.
func groupBy(terms []term, name func(term) string) (groups [][]term) {
	at := make(map[string]int)
	for _, t := range terms {
		k, ok := at[name(t)]
		if !ok {
			k = len(groups)
			at[name(t)], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], t)
	}
	return groups
}

// A slowEstimate is a difference with its error, all by its definition.
type slowEstimate struct {
	base, other, se, low, high float64
	clusters                   int64
	p                          float64 // -1 if it is not known here
}

// atanhInterval is the interval of a difference within [-1, 1].
func atanhInterval(value, se, df float64) (low, high float64) {
	half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.975) * se / (1 - value*value)
	return math.Tanh(math.Atanh(value) - half), math.Tanh(math.Atanh(value) + half)
}

// ofClusters compares groups of terms that do not depend on each other.
func ofClusters(groups [][]term, micro bool) slowEstimate {
	all := slices.Concat(groups...)
	e := slowEstimate{clusters: int64(len(groups)), p: -1}
	e.base, e.other = ratios(all)
	g := float64(len(groups))
	squares, shares := 0.0, 0.0
	for i, group := range groups {
		if micro {
			x, y := total(all, func(t term) float64 { return t.baseX }), total(all, func(t term) float64 { return t.newX })
			error := total(group, func(t term) float64 { return (t.other-e.other*t.newX)/y - (t.base-e.base*t.baseX)/x })
			share := total(group, func(t term) float64 { return (t.baseX/x + t.newX/y) / 2 })
			squares, shares = squares+error*error, shares+share*share
		} else {
			base, other := ratios(slices.Concat(slices.Delete(slices.Clone(groups), i, i+1)...))
			change := (other - base) - (e.other - e.base)
			squares, shares = squares+change*change*(g-1)/g, shares+math.Pow(float64(len(group))/float64(len(all)), 2)
		}
	}
	effective := 1 / shares
	if micro {
		effective = max(2, effective)
		squares *= g / (g - 1) * math.Pow((1-1/g)/(1-1/effective), 2)
	}
	e.se = math.Sqrt(squares)
	e.low, e.high = atanhInterval(e.other-e.base, e.se, max(1, effective-1))
	if len(groups) <= 9 { // all ways to swap the sides of groups
		far := 0
		for ways := range 1 << len(groups) {
			var base, baseX, other, newX float64
			for i, group := range groups {
				for _, t := range group {
					if ways>>i&1 == 1 {
						t.base, t.baseX, t.other, t.newX = t.other, t.newX, t.base, t.baseX
					}
					base, baseX, other, newX = base+t.base, baseX+t.baseX, other+t.other, newX+t.newX
				}
			}
			if math.Abs(other/newX-base/baseX) >= math.Abs(e.other-e.base)-1e-9 {
				far++
			}
		}
		e.p = float64(far) / math.Ldexp(1, len(groups))
	}
	return e
}

// connected are questions that documents connect, each named by one of its questions, and
// whether those are clusters; nil if no two share a document.
func connected(pairs []twoRows) (of map[string]string, clusters bool) {
	documents := make(map[string][]string) // by question
	rows := make(map[string]int)
	for _, p := range pairs {
		documents[p.base.id] = slices.Concat(documents[p.base.id], p.base.documents, p.other.documents)
		rows[p.base.id]++
	}
	of = make(map[string]string)
	for q := range documents {
		of[q] = q
	}
	shared := false
	for a := range documents {
		for b := range documents {
			if a != b && shares(documents[a], documents[b]) {
				shared = true
				from, to := of[a], of[b]
				for q := range of {
					if of[q] == from {
						of[q] = to
					}
				}
			}
		}
	}
	if !shared {
		return nil, false
	}
	size, whole := make(map[string]int), true
	for q, root := range of {
		size[root] += rows[q]
		common := len(documents[q]) == 0
		for _, d := range documents[q] {
			everywhere := true
			for other, r := range of {
				everywhere = everywhere && (r != root || slices.Contains(documents[other], d))
			}
			common = common || everywhere
		}
		whole = whole && common
	}
	largest, squares := 0, 0
	for _, n := range size {
		largest, squares = max(largest, n), squares+n*n
	}
	return of, whole || 10*largest <= len(pairs) && len(pairs)*len(pairs) >= 8*squares
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// ofPairs compares questions of which every two that share a document depend on each other.
func ofPairs(pairs []twoRows, terms []term) slowEstimate {
	var e slowEstimate
	touched, wide := make(map[string][]string), false // documents by question, whether or not it has a value
	for _, p := range pairs {
		of := slices.Concat(touched[p.base.id], p.base.documents, p.other.documents)
		slices.Sort(of)
		touched[p.base.id] = slices.Compact(of)
		wide = wide || len(touched[p.base.id]) > 4
	}
	e.base, e.other = ratios(terms)
	x, y := total(terms, func(t term) float64 { return t.baseX }), total(terms, func(t term) float64 { return t.newX })
	questions := groupBy(terms, func(t term) string { return t.question })
	var errors, rows []float64
	var documents [][]string
	for _, group := range questions {
		errors = append(errors, total(group, func(t term) float64 { return (t.other-e.other*t.newX)/y - (t.base-e.base*t.baseX)/x }))
		rows = append(rows, float64(len(group)))
		of := touched[group[0].question]
		if len(of) == 0 {
			of = []string{"alone " + group[0].question}
		}
		documents = append(documents, of)
	}
	of, counted := make(map[string]float64), make(map[string]float64) // by document
	together, alone := 0.0, 0.0
	for i := range questions {
		alone += errors[i] * errors[i]
		for _, d := range documents[i] {
			of[d], counted[d] = of[d]+errors[i], counted[d]+rows[i]
		}
		for j := range questions {
			if shares(documents[i], documents[j]) {
				together += errors[i] * errors[j]
			}
		}
	}
	sum, squares, variance := 0.0, 0.0, 0.0
	for d, n := range counted {
		sum, squares, variance = sum+n, squares+n*n, variance+of[d]*of[d]
	}
	effective := sum * sum / squares
	if effective >= 40 && !wide {
		variance = max(together, alone)
	}
	e.clusters, e.se = int64(effective), math.Sqrt(variance*effective/(effective-1))
	df := max(1, effective-1)
	e.low, e.high = atanhInterval(e.other-e.base, e.se, df)
	e.p = 2 * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-math.Abs((e.other-e.base)/e.se))
	return e
}

func close(a *float64, want float64) bool { return a != nil && math.Abs(*a-want) < 1e-9 }

// slowRows are rows of two systems that share what a design says.
func slowRows(rng *rand.Rand, design string, questions int, drop float64) (all []row) {
	for q := range questions {
		for _, system := range []string{"x", "y"} {
			if rng.Float64() < drop {
				continue
			}
			r := scored(fmt.Sprintf("q%03d", q), float64(rng.IntN(5))/4)
			r.system, r.lang, r.fails = system, []string{"de", "en", ""}[rng.IntN(3)], rng.IntN(3) == 0
			r.truth, r.pred = int64(50+10*(q%5)), int64(20+rng.IntN(100))
			r.overlap = rng.Int64N(min(r.truth, r.pred) + 1)
			if rng.IntN(6) == 0 {
				r.f1 = nil
			}
			for _, to := range []**float64{&r.cost, &r.tokens, &r.latency} {
				if v := []float64{1, 2, 10, -1, math.Inf(1), math.NaN()}[rng.IntN(6)]; rng.IntN(4) > 0 {
					*to = new(v)
				}
			}
			switch design {
			case "clusters":
				if q%4 > 0 {
					r.cluster = fmt.Sprint("c", q%3)
				}
			case "one document":
				r.documents = []string{fmt.Sprint("d", q/3)}
			case "chain", "long chain":
				if r.documents = []string{fmt.Sprint("d", q/2), fmt.Sprint("d", (q+1)/2)}; q%9 == 0 {
					r.documents = nil
				}
				if system == "y" && q%5 == 0 {
					r.documents = append(r.documents, fmt.Sprint("d", q/2+1))
				}
			case "wide":
				for k := range 5 {
					r.documents = append(r.documents, fmt.Sprint("d", (q*7+k*k)%60))
				}
			case "small groups":
				r.documents = []string{fmt.Sprint("d", q/2), fmt.Sprint("own", q)}
			}
			all = append(all, r)
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// TestSlowly compares every number of a comparison with one that follows its definition,
// over rows that depend on each other in all ways.
func TestSlowly(t *testing.T) {
	seen := make(map[string]int)
	for _, design := range []struct {
		name      string
		questions int
	}{{"nothing", 7}, {"nothing", 30}, {"clusters", 16}, {"one document", 24}, {"chain", 16}, {"long chain", 150}, {"wide", 60}, {"small groups", 40}} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s of %d, seed %d", design.name, design.questions, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(design.questions)))
				base, other := slowRows(rng, design.name, design.questions, 0.1), slowRows(rng, design.name, design.questions, 0.1)
				for i := range other { // what is true of a question is so in both runs
					at := slices.IndexFunc(base, func(r row) bool { return r.id == other[i].id })
					if at >= 0 {
						other[i].truth = base[at].truth
					}
				}
				first, second := write(t, "base", base, nil), write(t, "other", other, nil)
				r, err := compare.Runs(first, []*compare.Run{second}, compare.Options{
					Metrics: quantities(t, "char_f1", "exact_match", "micro(char_f1)"), Slices: []string{"lang"},
				})
				if err != nil {
					t.Fatal(err)
				}
				checkTook(t, r, [][]row{base, other})
				for i := range r.Pairs {
					checkPair(t, &r.Pairs[i], base, other, seen)
				}
				checkFailures(t, r, base, other)
				checkLookup(t, first, second, r)
			})
		}
	}
	for _, way := range []string{"questions", "clusters", "components", "pairs", "documents"} {
		if seen[way] < 5 {
			t.Errorf("%d differences of rows that share %s", seen[way], way)
		}
	}
}

func checkPair(t *testing.T, p *compare.Pair, base, other []row, seen map[string]int) {
	t.Helper()
	pairs, onlyBase, onlyOther := pairSlowly(base, other, p.System)
	named := func(ids []string) compare.Named {
		n := compare.Named{Rows: int64(len(ids)), IDs: []string{}}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		n.IDs = append(n.IDs, ids[:min(len(ids), 20)]...)
		return n
	}
	if p.Rows != int64(len(pairs)) || gocmp.Diff(p.OnlyBase, named(onlyBase)) != "" || gocmp.Diff(p.OnlyNew, named(onlyOther)) != "" {
		t.Errorf("system %q: %d pairs, want %d; only base %v, only new %v", p.System, p.Rows, len(pairs), p.OnlyBase, p.OnlyNew)
	}
	var wanted []string
	for _, slice := range []string{"", "lang=de", "lang=en"} {
		if slice == "" || slices.ContainsFunc(base, func(r row) bool { return "lang="+r.lang == slice && (p.System == "" || r.system == p.System) }) {
			wanted = append(wanted, slice)
		}
	}
	if len(p.Differences) != 3*len(wanted) {
		t.Fatalf("%d differences, want 3 of each of %q", len(p.Differences), wanted)
	}
	for i := range p.Differences {
		d := &p.Differences[i]
		in := slices.DeleteFunc(slices.Clone(pairs), func(p twoRows) bool { return d.Slice != "" && d.Slice != "lang="+p.base.lang })
		metric := d.Metric
		if d.Agg == runs.Micro {
			metric = "micro"
		}
		checkDifference(t, d, in, metric, seen)
	}
}

func checkDifference(t *testing.T, d *compare.Difference, pairs []twoRows, metric string, seen map[string]int) {
	t.Helper()
	var higher, lower, same int64
	for _, x := range termsOf(pairs, map[string]string{"micro": "char_f1"}[metric]+map[string]string{"exact_match": "exact_match"}[metric]) {
		switch {
		case x.other > x.base:
			higher++
		case x.other < x.base:
			lower++
		default:
			same++
		}
	}
	terms := termsOf(pairs, metric)
	if d.N != int64(len(terms)) || d.Undefined != int64(len(pairs)-len(terms)) || d.Higher != higher || d.Lower != lower || d.Same != same {
		t.Errorf("%s %s: %+v of %d terms: %d higher, %d lower, %d the same", d.Slice, metric, *d, len(terms), higher, lower, same)
	}
	if len(terms) == 0 {
		if d.Diff != nil || d.Base != nil || d.P != nil {
			t.Errorf("%s %s of nothing: %+v", d.Slice, metric, *d)
		}
		return
	}
	byQuestion := groupBy(terms, func(t term) string { return t.question })
	groups, way := byQuestion, "questions"
	if slices.ContainsFunc(terms, func(t term) bool { return t.cluster != "" }) {
		groups, way = groupBy(terms, func(t term) string {
			if t.cluster == "" {
				return "question " + t.question
			}
			return t.cluster
		}), "clusters"
	}
	var want slowEstimate
	of, clusters := connected(pairs)
	switch {
	case of == nil:
		want = ofClusters(groups, metric == "micro")
	case clusters:
		groups, way = groupBy(terms, func(t term) string { return of[t.question] }), "components"
		want = ofClusters(groups, metric == "micro")
	default:
		if want, way = ofPairs(pairs, terms), "documents"; want.clusters >= 40 && d.Method == "atanh-t/pairs" {
			way = "pairs"
		}
	}
	seen[way]++
	if !close(d.Base, want.base) || !close(d.New, want.other) || !close(d.Diff, want.other-want.base) || d.Clusters != want.clusters {
		t.Errorf("%s %s by %s: %v, %v, %d clusters, want %+v", d.Slice, metric, way, *d.Base, *d.New, d.Clusters, want)
	}
	if d.Clusters < 2 || want.se < 1e-12 || math.Abs(want.other-want.base) > 1-1e-9 {
		return
	}
	if !close(d.SE, want.se) || !close(d.Low, want.low) || !close(d.High, want.high) {
		t.Errorf("%s %s by %s: se %v [%v, %v] by %s, want %+v", d.Slice, metric, way, *d.SE, *d.Low, *d.High, d.Method, want)
	}
	if mde, ok := (stats.Design{Alpha: 1 - 0.95, Power: 0.8}).Detectable(want.se, float64(want.clusters-1)); !ok || !close(d.MDE, mde) {
		t.Errorf("%s %s by %s: mde %v, want %v", d.Slice, metric, way, d.MDE, mde)
	}
	switch {
	case metric == "exact_match" && d.Clusters == d.N && (of == nil || clusters):
		if d.Test != "mcnemar-midp" || d.McNemar.OnlyNew != d.Higher || d.McNemar.OnlyBase != d.Lower || *d.P != d.McNemar.MidP {
			t.Errorf("%s %s: %s %+v", d.Slice, metric, d.Test, d.McNemar)
		}
	case want.p >= 0 && !close(d.P, want.p):
		t.Errorf("%s %s by %s: p %v by %s, want %v", d.Slice, metric, way, *d.P, d.Test, want.p)
	}
	naive := ofClusters(byQuestion, metric == "micro")
	if differs := way != "questions" && way != "clusters" && math.Abs(naive.low-want.low)+math.Abs(naive.high-want.high) > 1e-9; (d.NaiveLow != nil) != differs {
		t.Errorf("%s %s by %s: naive %v, want %v", d.Slice, metric, way, d.NaiveLow, differs)
	} else if differs && (!close(d.NaiveLow, naive.low) || !close(d.NaiveHigh, naive.high)) {
		t.Errorf("%s %s by %s: naive [%v, %v], want [%v, %v]", d.Slice, metric, way, *d.NaiveLow, *d.NaiveHigh, naive.low, naive.high)
	}
}

func checkTook(t *testing.T, r *compare.Result, sides [][]row) {
	t.Helper()
	for i, rows := range sides {
		mean := func(of func(row) *float64) *compare.Mean {
			var m compare.Mean
			for _, r := range rows {
				if v := of(r); v != nil && *v >= 0 && !math.IsInf(*v, 0) {
					m.N++
					m.Value += *v
				}
			}
			if m.N == 0 {
				return nil
			}
			m.Value /= float64(m.N)
			return &m
		}
		want := compare.Took{
			CostUSD: mean(func(r row) *float64 { return r.cost }), Tokens: mean(func(r row) *float64 { return r.tokens }),
			LatencyMillis: mean(func(r row) *float64 { return r.latency }),
		}
		if diff := gocmp.Diff(want, r.Sides[i].Took, gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
			t.Errorf("side %d took (-want +got):\n%s", i, diff)
		}
		if r.Sides[i].Rows != int64(len(rows)) {
			t.Errorf("side %d has %d rows, want %d", i, r.Sides[i].Rows, len(rows))
		}
	}
}

func checkFailures(t *testing.T, r *compare.Result, base, other []row) {
	t.Helper()
	var newly, fixed, still []string
	pairs, _, _ := pairSlowly(base, other, "")
	for _, p := range pairs {
		name := p.base.id + "/" + p.base.system
		switch {
		case p.base.fails && p.other.fails:
			still = append(still, name)
		case p.base.fails:
			fixed = append(fixed, name)
		case p.other.fails:
			newly = append(newly, name)
		}
	}
	named := func(all []string) compare.Named {
		slices.Sort(all)
		return compare.Named{Rows: int64(len(all)), IDs: append([]string{}, all[:min(len(all), 20)]...)}
	}
	want := []compare.Failures{{Base: 0, New: 1, Newly: named(newly), Fixed: named(fixed), Still: named(still)}}
	if diff := gocmp.Diff(want, r.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// checkLookup asks for each difference by itself: it is that of the whole comparison.
func checkLookup(t *testing.T, base, other *compare.Run, r *compare.Result) {
	t.Helper()
	l, err := compare.NewLookup(base, other, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Pairs {
		for _, want := range p.Differences {
			name := want.Metric
			if want.Agg == runs.Micro && want.Metric != "exact_match" {
				name = "micro(" + name + ")"
			}
			got, err := l.Difference(p.System, want.Slice, quantities(t, name)[0])
			if err != nil {
				t.Fatal(err)
			}
			got.Headline, got.Adjusted, got.Adjustment, got.Outcome, got.Doubt = want.Headline, want.Adjusted, want.Adjustment, want.Outcome, ""
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s %s (-comparison +lookup):\n%s", p.System, want.Slice, name, diff)
			}
		}
	}
}
