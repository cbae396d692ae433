package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// byDefinition is a difference with its spread: what each question adds to it, and the
// documents that its pairs with a value touch.
func byDefinition(pairs []twoRows, terms []term) (base, other float64, s stats.Spread) {
	base, other = ratios(terms)
	x, y := total(terms, func(t term) float64 { return t.baseX }), total(terms, func(t term) float64 { return t.newX })
	var errors, shares []float64
	var numbers stats.Numbering[string]
	documents := new(stats.Documents)
	for _, group := range groupBy(terms, func(t term) string { return t.question }) {
		errors = append(errors, total(group, func(t term) float64 { return (t.other-other*t.newX)/y - (t.base-base*t.baseX)/x }))
		shares = append(shares, total(group, func(t term) float64 { return (t.baseX/x + t.newX/y) / 2 }))
		for _, p := range pairs {
			if p.base.id != group[0].question || p.base.f1 == nil || p.other.f1 == nil {
				continue
			}
			for _, r := range []row{p.base, p.other} {
				if r.cluster != "" {
					r.documents = []string{r.cluster}
				}
				documents.Touch(numbers.Numbers(r.documents...)...)
			}
		}
		documents.Add()
	}
	return base, other, stats.NewShares(shares, errors, documents).Spread(errors, shares)
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
				r := runsOf(t, first, compare.Options{
					Metrics: quantities(t, "char_f1", "exact_match", "micro(char_f1)"), Slices: []string{"lang"},
				}, second)
				checkTook(t, r, [][]row{base, other})
				checkMetrics(t, r, base, other, seen)
				checkFailures(t, r, base, other)
				checkLookup(t, first, second, r)
			})
		}
	}
	for _, what := range []string{"atanh-t", "documents"} {
		if seen[what] < 50 {
			t.Errorf("%d differences with %s: %v", seen[what], what, seen)
		}
	}
}

func checkMetrics(t *testing.T, r *compare.Result, base, other []row, seen map[string]int) {
	t.Helper()
	var unpaired []compare.Unpaired
	for _, system := range []string{"x", "y"} {
		_, onlyBase, onlyOther := pairSlowly(base, other, system)
		for i, ids := range [][]string{onlyBase, onlyOther} {
			if slices.Sort(ids); len(ids) > 0 {
				unpaired = append(unpaired, compare.Unpaired{Name: []string{"base", "other"}[i], System: system, Named: compare.Named{Rows: int64(len(ids)), IDs: ids[:min(len(ids), 20)]}})
			}
		}
	}
	if diff := gocmp.Diff(unpaired, r.Unpaired, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("unpaired (-want +got):\n%s", diff)
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		pairs, _, _ := pairSlowly(base, other, m.System)
		in := slices.DeleteFunc(slices.Clone(pairs), func(p twoRows) bool { return m.Slice != "" && m.Slice != "lang="+p.base.lang })
		metric := m.Metric
		if m.Agg == runs.Micro {
			metric = "micro"
		}
		level := 0.95
		if m.Deciding != (m.Slice == "") || m.Deciding && m.Family != 6 {
			t.Errorf("%+v", m)
		}
		if m.Deciding {
			level = 1 - 0.05/6
		}
		for k := range m.Differences {
			checkDifference(t, &m.Differences[k], in, metric, level, seen)
		}
	}
	if len(r.Metrics) < 6+6 {
		t.Errorf("%d metrics", len(r.Metrics))
	}
}

func checkDifference(t *testing.T, d *compare.Difference, pairs []twoRows, metric string, level float64, seen map[string]int) {
	t.Helper()
	var better, worse, same int64
	for _, x := range termsOf(pairs, map[string]string{"micro": "char_f1"}[metric]+map[string]string{"exact_match": "exact_match"}[metric]) {
		switch {
		case x.other > x.base:
			better++
		case x.other < x.base:
			worse++
		default:
			same++
		}
	}
	terms := termsOf(pairs, metric)
	if d.N != int64(len(terms)) || d.Undefined != int64(len(pairs)-len(terms)) || d.Better != better || d.Worse != worse || d.Same != same {
		t.Errorf("%s: %+v of %d terms: %d better, %d worse, %d the same", metric, *d, len(terms), better, worse, same)
	}
	if len(terms) == 0 {
		if d.Diff != nil || d.BaseMean != nil || d.P != nil {
			t.Errorf("%s of nothing: %+v", metric, *d)
		}
		return
	}
	base, other, spread := byDefinition(pairs, terms)
	want := spread.Difference(other-base, 1, level)
	seen[string(want.Method)]++
	if spread.Documents < spread.Units {
		seen["documents"]++
	}
	if !close(d.BaseMean, base) || !close(d.NewMean, other) || !close(d.Diff, other-base) || d.Clusters != want.Clusters {
		t.Errorf("%s: %+v, want %+v", metric, d, want)
	}
	decides := level > 0.95
	if decides && better+worse == 0 {
		if d.Word != compare.Same || d.Low != nil || d.P != nil {
			t.Errorf("%s of rows that are the same: %+v", metric, d)
		}
		return
	}
	if (d.Low != nil) != want.HasInterval {
		t.Errorf("%s: %+v, want %+v", metric, d, want)
	}
	if !want.HasInterval {
		return
	}
	if !close(d.SE, want.SE) || !close(d.Low, want.Low) || !close(d.High, want.High) || decides && !close(d.P, min(1, 6*want.P.Value)) || !decides && d.P != nil {
		t.Errorf("%s: se %v [%v, %v], p %v, want %+v", metric, *d.SE, *d.Low, *d.High, d.P, want)
	}
	mde, ok := (stats.Design{Alpha: 1 - level, Power: 0.8}).Detectable(want.SE, want.DF.Value)
	if has := ok && mde <= 1 && want.SE > 0 && want.Low <= 0 && want.High >= 0; (d.MDE != nil) != has || has && !close(d.MDE, mde) {
		t.Errorf("%s: mde %v, want %v", metric, d.MDE, mde)
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
	want := []compare.Failures{{Base: "base", New: "other", Newly: named(newly), Fixed: named(fixed), Still: named(still)}}
	if diff := gocmp.Diff(want, r.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// checkLookup asks for each difference by itself: it is that of the whole comparison, but for its
// interval, which stands alone.
func checkLookup(t *testing.T, base, other *compare.Run, r *compare.Result) {
	t.Helper()
	l, err := compare.NewLookup(base, other, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Metrics {
		for _, want := range m.Differences {
			name := m.Metric
			if m.Agg == runs.Micro && m.Metric != "exact_match" {
				name = "micro(" + name + ")"
			}
			got, err := l.Difference(m.System, m.Slice, quantities(t, name)[0])
			if err != nil {
				t.Fatal(err)
			}
			got.Base, got.New = want.Base, want.New
			if m.Deciding {
				if got.Low != nil && want.Low != nil && (*got.Low < *want.Low-1e-12 || *got.High > *want.High+1e-12) {
					t.Errorf("%s %s: [%v, %v] alone, [%v, %v] of six", m.System, name, *got.Low, *got.High, *want.Low, *want.High)
				}
				want.Low, want.High, want.P, want.MDE, want.SE, want.Word, want.Warnings = got.Low, got.High, got.P, got.MDE, got.SE, got.Word, got.Warnings
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s %s (-comparison +lookup):\n%s", m.System, m.Slice, name, diff)
			}
		}
	}
}
