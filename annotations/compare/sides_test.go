package compare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// valued are rows of a system, one for each value of a metric; a negative one is undefined.
func valued(system, metric string, values ...float64) (all []row) {
	for q, v := range values {
		r := row{id: fmt.Sprintf("q%02d", q), system: system, truth: 100}
		switch {
		case v < 0:
		case metric == "char_f1":
			r.f1 = new(v)
		default:
			r.more = map[string]float64{metric: v}
		}
		all = append(all, r)
	}
	return all
}

// TestRanksFollowIntervals: the ranks of k systems are those that the intervals of all their
// differences give, at the level of which all hold together; each value has the interval of
// its own rows, at the level of which all k hold.
func TestRanksFollowIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	sure, tied := 0, 0
	for i, metric := range []string{"char_f1", "over_citation", "drb_effective_citations", "char_f1", "over_citation", "char_f1", "char_f1", "over_citation", "drb_effective_citations"} {
		k := 3 + i%3
		var rows []row
		values := make(map[string][]float64)
		for s := range k {
			system := fmt.Sprint("s", s)
			for range 14 {
				values[system] = append(values[system], min(1, max(0, 0.2+0.04*float64(s*(i%5))+0.1*rng.NormFloat64())))
			}
			rows = append(rows, valued(system, metric, values[system]...)...)
		}
		run := write(t, "run", rows, nil)
		result, err := compare.By(run, "system", compare.Options{Metrics: quantities(t, metric)})
		if err != nil {
			t.Fatal(err)
		}
		joint, err := compare.By(run, "system", compare.Options{Metrics: quantities(t, metric), Level: 1 - 0.05/float64(k*(k-1)/2)})
		if err != nil {
			t.Fatal(err)
		}
		direction := map[string]float64{"char_f1": 1, "over_citation": -1, "drb_effective_citations": 1}[metric]
		above, below := make([]int, k), make([]int, k)
		for _, p := range joint.Pairs {
			better, worse := p.New, p.Base
			d := p.Differences[0]
			if direction**d.Diff < 0 {
				better, worse = worse, better
			}
			if *d.Low > 0 || *d.High < 0 {
				above[worse]++
				below[better]++
			}
		}
		g := result.Rankings[0]
		if g.Metric != metric || g.Agg != runs.Macro || g.Rows != 14 || len(g.Places) != k || len(g.Aside) != 0 {
			t.Fatalf("%s: %+v", metric, g)
		}
		for n, p := range g.Places {
			want := compare.Place{Side: p.Side, Best: 1 + above[p.Side], Worst: k - below[p.Side]}
			want.Sure, want.Tied = want.Worst == 1, want.Best == 1 && want.Worst > 1
			var y, x []float64
			for _, v := range values[result.Sides[p.Side].Name] {
				y, x = append(y, v), append(x, 1)
			}
			high := 1.0
			if metric == "drb_effective_citations" {
				high = math.Inf(1)
			}
			e := stats.NewQuotient(y, x).Within(nil, 0, high, 1-0.05/float64(k))
			want.Estimate, want.Low, want.High = e.Value, new(e.Low), new(e.High)
			if diff := gocmp.Diff(want, p, gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
				t.Errorf("%s of %d, place %d (-want +got):\n%s", metric, k, n, diff)
			}
			if n > 0 && direction*p.Estimate > direction*g.Places[n-1].Estimate {
				t.Errorf("%s: place %d is better than the one before", metric, n)
			}
			if p.Sure {
				sure++
			}
			if p.Tied {
				tied++
			}
		}
	}
	if sure == 0 || tied == 0 {
		t.Errorf("%d sure and %d tied places", sure, tied)
	}
}

// TestWhoIsRanked: a side is ranked if its metric is known of enough of the questions that at
// least half of the sides answered.
func TestWhoIsRanked(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sides [][]float64 // -1 is undefined, -2 excused, -3 not answered
		aside map[int]compare.Aside
		rows  int64 // that the others are ranked over
	}{
		{name: "all", sides: [][]float64{{.1, .2}, {.3, .4}, {.5, .5}}, rows: 2},
		{name: "half is enough", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, .6, -1, -1}}, rows: 2},
		{
			name: "less is not", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, -1, -1, -1}}, rows: 4,
			aside: map[int]compare.Aside{2: {Side: 2, Defined: 1, Rows: 4}},
		},
		{name: "what says nothing of it does not count", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, -2, -2, -1}}, rows: 1},
		{
			name: "nor is it enough", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {-2, -2, -2, -2}}, rows: 4,
			aside: map[int]compare.Aside{2: {Side: 2, Defined: 0, Rows: 0}},
		},
		{
			name: "the one in the middle", sides: [][]float64{{.1, .2, .3, .4}, {-2, -1, -1, .2}, {.3, .3, .4, .5}}, rows: 4,
			aside: map[int]compare.Aside{1: {Side: 1, Defined: 1, Rows: 3}},
		},
		// Of four sides two have to have answered: the last two questions do not count.
		{name: "few were asked", sides: [][]float64{{.1, .2, -3, -3}, {.1, .2, -3, -3}, {.1, .2, -3, -3}, {.1, .1, .1, .1}}, rows: 2},
		{
			name: "two of four were asked", sides: [][]float64{{.1, .2, .1, .2}, {.1, .2, .2, .3}, {-1, .2, -3, -3}, {.1, .1, -3, -3}}, rows: 2,
			aside: map[int]compare.Aside{2: {Side: 2, Defined: 1, Rows: 4}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rows []row
			for s, values := range tt.sides {
				for _, r := range valued(fmt.Sprint("s", s), "char_f1", values...) {
					switch values[r.id[2]-'0'] {
					case -3:
						continue
					case -2:
						r.undefined = "no_truth"
					case -1:
						r.undefined = "no_claims"
					}
					rows = append(rows, r)
				}
			}
			run := write(t, "run", rows, nil)
			r, err := compare.By(run, "system", compare.Options{Metrics: quantities(t, "char_f1")})
			if err != nil {
				t.Fatal(err)
			}
			g := r.Rankings[0]
			if g.Rows != tt.rows || len(g.Places) != len(tt.sides)-len(tt.aside) || len(g.Aside) != len(tt.aside) {
				t.Fatalf("%+v", g)
			}
			for _, a := range g.Aside {
				if a != tt.aside[a.Side] {
					t.Errorf("aside %+v, want %+v", a, tt.aside[a.Side])
				}
			}
		})
	}
}

// TestKnownInPart: a row with citations of unknown text counts in part.
func TestKnownInPart(t *testing.T) {
	var rows []row
	for s, unknown := range []float64{0, 2, 3} {
		for q := range 4 {
			r := row{id: fmt.Sprint(q), system: fmt.Sprint("s", s), correct: new(0.5), more: map[string]float64{"citations": 4, "scored_citations": 4 - unknown, "no_text_citations": unknown}}
			rows = append(rows, r)
		}
	}
	r, err := compare.By(write(t, "run", rows, nil), "system", compare.Options{Metrics: quantities(t, "citation_correctness")})
	if err != nil {
		t.Fatal(err)
	}
	// Of 4 citations 2 have no text: each row counts half, which is just enough.
	if g := r.Rankings[0]; len(g.Places) != 2 || len(g.Aside) != 1 || g.Aside[0] != (compare.Aside{Side: 2, Defined: 1, Rows: 4}) {
		t.Errorf("%+v", g)
	}
}

// TestThreeRuns: each run is compared with the base, by the systems that all have, and by
// all of those together; the names of sides differ.
func TestThreeRuns(t *testing.T) {
	rows := func(shift float64, systems ...string) (all []row) {
		for s, system := range systems {
			for q := range 6 {
				r := scored(fmt.Sprint(q), float64(q+s)/10+shift)
				r.system = system
				all = append(all, r)
			}
		}
		return all
	}
	base := write(t, "base", rows(0, "x", "y", "gone"), nil)
	a, b := write(t, "other", rows(0.1, "y", "x"), nil), write(t, "other", rows(0.2, "new", "x", "y"), nil)
	r, err := compare.Runs(base, []*compare.Run{a, b}, compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range r.Sides {
		names = append(names, fmt.Sprint(s.Name, " ", s.Run, " ", s.Rows))
	}
	if want := []string{"base base 12", "other other 12", "other (2) other 12"}; !slices.Equal(names, want) {
		t.Errorf("sides %q, want %q", names, want)
	}
	if want := []string{"left out, because not every run has them: gone, new"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	type found struct {
		base, other int
		system      string
		rows        int64
		of          [2]float64
	}
	round := func(v *float64) float64 { return math.Round(*v*1e9) / 1e9 }
	var got []found
	for _, p := range r.Pairs {
		d := p.Differences[0]
		got = append(got, found{p.Base, p.New, p.System, p.Rows, [2]float64{round(d.Base), round(d.New)}})
	}
	want := []found{ // of base x has the mean 0.25, y 0.35; of a, where they are in the other order, 0.45 and 0.35
		{0, 1, "", 12, [2]float64{0.3, 0.4}},
		{0, 1, "x", 6, [2]float64{0.25, 0.45}},
		{0, 1, "y", 6, [2]float64{0.35, 0.35}},
		{0, 2, "", 12, [2]float64{0.3, 0.6}},
		{0, 2, "x", 6, [2]float64{0.25, 0.55}},
		{0, 2, "y", 6, [2]float64{0.35, 0.65}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("pairs %v\nwant %v", got, want)
	}
	if f := r.Failures; len(f) != 2 || f[0].New != 1 || f[1].New != 2 {
		t.Errorf("failures %+v", f)
	}
	if places := r.Rankings[0].Places; len(places) != 3 || places[0].Side != 2 || places[2].Side != 0 {
		t.Errorf("places %+v", places)
	}
	// Of one system each, and named, the sides are in the same order.
	for name, o := range map[string]compare.Options{"one each": {}, "named": {Base: "x"}, "named otherwise": {Base: "x", New: "y"}} {
		first, others := base, []*compare.Run{a, b}
		if o.Base == "" {
			first, others = write(t, "base", rows(0, "x"), nil), []*compare.Run{write(t, "a", rows(0.1, "v2"), nil), write(t, "b", rows(0.3, "v3"), nil)}
		}
		o.Metrics = quantities(t, "char_f1")
		r, err := compare.Runs(first, others, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Pairs) != 2 || len(r.Sides) != 3 || r.Pairs[0].Base != 0 || r.Pairs[0].New != 1 || r.Pairs[1].Base != 0 || r.Pairs[1].New != 2 {
			t.Fatalf("%s: %+v", name, r.Pairs)
		}
		means := map[string][3]float64{"one each": {0.25, 0.35, 0.55}, "named": {0.25, 0.45, 0.55}, "named otherwise": {0.25, 0.35, 0.65}}[name]
		for i, p := range r.Pairs {
			if d := p.Differences[0]; !near(d.Base, means[0]) || !close(d.New, means[i+1]) {
				t.Errorf("%s: %v and %v, want %v", name, *d.Base, *d.New, means)
			}
		}
	}
}

// TestBaseAndBest: of many sides, the best is the one with the best value of the first
// metric, in its direction; if it is the base itself, each side is compared once.
func TestBaseAndBest(t *testing.T) {
	for _, tt := range []struct {
		metric string
		best   int // of 22
		want   string
	}{
		{"char_f1", 21, " and with s21, the best by char_f1"}, {"over_citation", 3, " and with s03, the best by over_citation"}, {"char_f1", 0, ""},
	} {
		var rows []row
		for s := range 22 {
			var values []float64
			for q := range 4 {
				v := 0.5 + 0.01*float64(q+s%3)
				if s == tt.best {
					v += 0.2
				}
				if tt.metric == "over_citation" {
					v = 1 - v
				}
				values = append(values, v)
			}
			rows = append(rows, valued(fmt.Sprintf("s%02d", s), tt.metric, values...)...)
		}
		r, err := compare.By(write(t, "run", rows, nil), "system", compare.Options{Metrics: quantities(t, tt.metric)})
		if err != nil {
			t.Fatal(err)
		}
		if want := "of 22 systems each is compared with s00" + tt.want + "; --system names another"; !slices.Contains(r.Notes, want) {
			t.Errorf("notes %q, want %q", r.Notes, want)
		}
		var want [][2]int
		for other := range 21 {
			want = append(want, [2]int{0, other + 1})
		}
		for other := range 22 {
			if tt.best > 0 && other > 0 && other != tt.best {
				want = append(want, [2]int{tt.best, other})
			}
		}
		var got [][2]int
		values := make(map[int]float64)
		for _, p := range r.Rankings[0].Places {
			values[p.Side] = p.Estimate
		}
		for _, p := range r.Pairs {
			got = append(got, [2]int{p.Base, p.New})
			if d := p.Differences[0]; !close(d.Base, values[p.Base]) || !close(d.New, values[p.New]) {
				t.Errorf("pair %d, %d: %v and %v, want %v and %v", p.Base, p.New, *d.Base, *d.New, values[p.Base], values[p.New])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pairs %v, want %v", got, want)
		}
	}
}

// TestWhatIsCompared: what is headline, what else is compared, and by which slices.
func TestWhatIsCompared(t *testing.T) {
	rows := func(components string) []row {
		all := several(1, 0)
		for i := range all {
			all[i].components = components
			all[i].more = map[string]float64{"overall_citation_accuracy": float64(i%5) / 4}
		}
		return all
	}
	sliced := func(m *runs.Manifest) { m.Settings[0].Value = "[lang, system]" }
	one, two := write(t, "one", rows("span_accuracy_score"), sliced), write(t, "two", rows("span_accuracy_score,hallucination_score"), sliced)
	for _, tt := range []struct {
		name   string
		run    *compare.Run
		o      compare.Options
		want   string // metrics over all rows, those that decide before the bar
		slices string
	}{
		{"one component", one, compare.Options{}, "overall_citation_accuracy|", "lang=de lang=en"},
		{"two components", two, compare.Options{}, "overall_citation_accuracy span_accuracy_score hallucination_rate|", "lang=de lang=en"},
		{"more", one, compare.Options{More: quantities(t, "char_f1", "micro(char_f1)", "overall_citation_accuracy"), Whole: true}, "overall_citation_accuracy|char_f1 micro(char_f1)", ""},
		{"named", one, compare.Options{Metrics: quantities(t, "micro(char_f1)"), More: quantities(t, "char_f1", "micro(char_f1)")}, "micro(char_f1)|char_f1", "lang=de lang=en"},
		{"slices", one, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"lang", "system"}, Whole: false}, "char_f1|", "lang=de lang=en system=x system=y"},
		{"no slices but one", one, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"system"}, Whole: true}, "char_f1|", "system=x system=y"},
	} {
		r, err := compare.Runs(tt.run, []*compare.Run{tt.run}, tt.o)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		var headline, rest, by []string
		for _, d := range r.Pairs[0].Differences {
			name := d.Metric
			if d.Agg == runs.Micro {
				name = "micro(" + name + ")"
			}
			switch {
			case d.Slice != "":
				if !slices.Contains(by, d.Slice) {
					by = append(by, d.Slice)
				}
			case d.Headline:
				headline = append(headline, name)
			default:
				rest = append(rest, name)
			}
		}
		if got := strings.Join(headline, " ") + "|" + strings.Join(rest, " "); got != tt.want || strings.Join(by, " ") != tt.slices || !slices.Equal(r.Headline, headline) {
			t.Errorf("%s: %s by %q, want %s by %s", tt.name, got, by, tt.want, tt.slices)
		}
	}
	r, err := compare.Runs(one, []*compare.Run{one}, compare.Options{All: true, Whole: true})
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, d := range r.Pairs[0].Differences {
		name := d.Metric + " " + d.Agg
		if found[name] {
			t.Errorf("%s twice", name)
		}
		found[name] = true
	}
	for _, name := range []string{"char_f1 macro", "char_f1 micro", "citations macro", "overall_citation_accuracy macro", "doc_f1 micro"} {
		if !found[name] {
			t.Errorf("no %s in all", name)
		}
	}
	for key, want := range map[string]string{
		"lnag": "no row of one has the tag lnag|did you mean lang?",
		"zzzz": "no row of one has the tag zzzz|slices can be by cluster, lang, model, provider, source_status, source_type, system",
	} {
		_, err := compare.Runs(one, []*compare.Run{one}, compare.Options{Slices: []string{key}})
		if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error()+"|"+u.Hint != want {
			t.Errorf("slice %s: %v, want %s", key, err, want)
		}
	}
	if _, err := compare.Runs(one, []*compare.Run{one}, compare.Options{Slices: []string{"model"}}); err != nil {
		t.Errorf("a column that has no value: %v", err)
	}
	for name, o := range map[string]compare.Options{
		"level 1": {Level: 1}, "level -1": {Level: -1}, "level NaN": {Level: math.NaN()},
	} {
		if _, err := compare.Runs(one, []*compare.Run{one}, o); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if r, err := compare.Runs(one, []*compare.Run{one}, compare.Options{Level: 0.9}); err != nil || r.Level != 0.9 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestByProvider: the sides are providers, of the rows that have one; a provider that
// answered a question twice is refused.
func TestByProvider(t *testing.T) {
	var rows []row
	for i, system := range []string{"a", "b", "c", "d"} {
		for q := range 5 {
			r := scored(fmt.Sprint(q), float64(i)/10)
			r.system, r.provider = system, []string{"p", "r", "", "p"}[i]
			if i == 3 {
				r.id += " other"
			}
			rows = append(rows, r)
		}
	}
	r, err := compare.By(write(t, "run", rows, nil), "provider", compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sides) != 2 || r.Sides[0].Name != "p" || r.Sides[0].Rows != 10 || r.Sides[1].Name != "r" || r.Sides[1].Rows != 5 || r.Pairs[0].Rows != 5 || r.Pairs[0].OnlyBase.Rows != 5 {
		t.Errorf("%+v %+v", r.Sides, r.Pairs)
	}
	if d := r.Pairs[0].Differences[0]; !close(d.Base, 0) || !close(d.New, 0.1) {
		t.Errorf("%v and %v", *d.Base, *d.New)
	}
	twice := slices.Clone(rows)
	for i := range twice {
		twice[i].id = strings.TrimSuffix(twice[i].id, " other")
	}
	_, err = compare.By(write(t, "run", twice, nil), "provider", compare.Options{})
	if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error() != "provider p answered question 0 twice, as a and as d" || u.Hint != "compare them --by system" {
		t.Errorf("twice: %v", err)
	}
	for by, want := range map[string]string{"model": "no row of run has a model|compare it --by system"} {
		_, err := compare.By(write(t, "run", rows, nil), by, compare.Options{})
		if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error()+"|"+u.Hint != want {
			t.Errorf("by %s: %v, want %s", by, err, want)
		}
	}
	_, err = compare.By(write(t, "run", rows[:5], nil), "provider", compare.Options{})
	if err == nil || err.Error() != "run has one provider, p: there is nothing to compare it with" {
		t.Errorf("one provider: %v", err)
	}
	_, err = compare.By(write(t, "run", rows, nil), "system", compare.Options{Base: "z"})
	if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error()+"|"+u.Hint != `run has no system "z"|it has a, b, c, d` {
		t.Errorf("no such base: %v", err)
	}
}

// TestSignsAreNoted: signs of wrong input are named once, of the sides that they are of.
func TestSignsAreNoted(t *testing.T) {
	signs := func(m *runs.Manifest) {
		m.Signs = []runs.Sign{
			{Name: "all", Text: "t1"},
			{Name: "of x", System: "x", Text: "t2"},
			{Name: "of z", System: "z", Text: "t3"},
			{Name: "note", Note: true, Text: "t4"},
			{Name: "accepted", Accepted: true, Text: "t5"},
		}
	}
	base, other := write(t, "base", several(1, 0), signs), write(t, "other", several(2, 0), nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	// Both systems are of the side, so that signs of either are.
	if want := []string{"sign all: t1, in base", "sign of x, system x: t2, in base", "sign of z, system z: t3, in base"}; !slices.Equal(r.Notes, want) {
		t.Errorf("%q, want %q", r.Notes, want)
	}
	r, err = compare.By(base, "system", compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"sign all: t1", "sign of x, system x: t2"}; !slices.Equal(r.Notes, want) {
		t.Errorf("%q, want %q", r.Notes, want)
	}
}

// TestOffsetsDiffer: there is no verdict on span metrics of sides whose offsets hold their
// quotes in different shares; others stay.
func TestOffsetsDiffer(t *testing.T) {
	rows := func(accuracy, f1 float64) (all []row) {
		for q := range 40 {
			r := scored(fmt.Sprint(q), f1)
			r.correct = new(f1)
			r.more = map[string]float64{"offset_accuracy": accuracy, "overall_citation_accuracy": f1}
			all = append(all, r)
		}
		return all
	}
	names := []string{"char_f1", "citation_correctness", "overall_citation_accuracy"}
	for _, tt := range []struct {
		accuracy float64
		want     [3]compare.Outcome
	}{
		{1, [3]compare.Outcome{"better", "better", "better"}},
		{0.5, [3]compare.Outcome{"?", "better", "?"}}, // the overall score is that of spans alone
	} {
		base, other := write(t, "base", rows(1, 0.25), nil), write(t, "other", rows(tt.accuracy, 0.75), nil)
		r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, names...)})
		if err != nil {
			t.Fatal(err)
		}
		l, err := compare.NewLookup(base, other, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range r.Pairs[0].Differences {
			doubt := "offset_accuracy differs (1.000 and 0.500, p = 0.001565), so one has more quotes that are not at their offsets"
			if tt.want[i] != "?" {
				doubt = ""
			}
			if d.Outcome != tt.want[i] || slices.Contains(d.Warnings, "no verdict: "+doubt) != (doubt != "") {
				t.Errorf("%s with %v: %s, want %s; %q", names[i], tt.accuracy, d.Outcome, tt.want[i], d.Warnings)
			}
			if one, err := l.Difference("", "", quantities(t, names[i])[0]); err != nil || one.Doubt != doubt {
				t.Errorf("%s with %v: doubt %q, %v, want %q", names[i], tt.accuracy, one.Doubt, err, doubt)
			}
		}
	}
}

// TestLookupErrors: what a gate cannot be told.
func TestLookupErrors(t *testing.T) {
	rows := several(1, 0)
	base := write(t, "base", rows, nil)
	f1 := quantities(t, "char_f1")[0]
	l, err := compare.NewSystemLookup(base, "x", compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{"": "say which system to compare with x", "x": "say which system to compare with x"} {
		if _, err := l.Difference(system, "", f1); err == nil || err.Error() != want {
			t.Errorf("system %q: %v, want %s", system, err, want)
		}
	}
	if d, err := l.Difference("y", "lang=de", f1); err != nil || d.N != 30 || d.Slice != "lang=de" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := compare.NewSystemLookup(base, "z", compare.Options{}); err == nil || err.Error() != `base has no system "z"` {
		t.Errorf("no such system: %v", err)
	}
	changed := slices.Clone(rows)
	changed[0].truth++
	other := write(t, "other", changed, nil)
	if l, err = compare.NewLookup(base, other, compare.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Difference("x", "", f1); err == nil || err.Error() != "base and other cannot be compared: the truth of 1 questions differs, such as that of q00" {
		t.Errorf("other truth: %v", err)
	}
	if _, err := l.Difference("y", "", f1); err != nil {
		t.Errorf("the other system: %v", err)
	}
	metrics := func(m *runs.Manifest) { m.Ingredients["metrics"] = "0" }
	if _, err := compare.NewLookup(base, write(t, "old", rows, metrics), compare.Options{}); err == nil {
		t.Error("other metrics are no error")
	}
	if _, err := compare.NewLookup(base, write(t, "old", rows, metrics), compare.Options{Force: true}); err != nil {
		t.Errorf("by force: %v", err)
	}
	// Of one system each, names do not matter.
	alone := func(system string) *compare.Run {
		r := []row{scored("a", 0.25), scored("b", 0.5)}
		for i := range r {
			r[i].system = system
		}
		return write(t, system, r, nil)
	}
	if l, err = compare.NewLookup(alone("v1"), alone("v2"), compare.Options{}); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Difference("", "", f1); err != nil || d.N != 2 || d.Diff == nil {
		t.Errorf("one system each: %+v, %v", d, err)
	}
	if l, err = compare.NewLookup(base, alone("v2"), compare.Options{}); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Difference("", "", f1); err != nil || d.Diff != nil || d.Reason != compare.NotPaired {
		t.Errorf("two systems and one: %+v, %v", d, err)
	}
}

// TestTruthThatDiffers: the rows are looked at whose truth is of one annotator; the first
// question by name is shown, and each counts once.
func TestTruthThatDiffers(t *testing.T) {
	rows := several(1, 0)
	slices.Reverse(rows)
	base := write(t, "base", rows, nil)
	changed := slices.Clone(rows)
	for i := range changed {
		if id := changed[i].id; id == "q41" || id == "q07" || id == "q50" {
			changed[i].truth++
		}
	}
	_, err := compare.Runs(base, []*compare.Run{write(t, "other", changed, nil)}, compare.Options{})
	refused, ok := errors.AsType[*compare.RefusedError](err)
	if !ok || len(refused.Reasons) != 1 || refused.Reasons[0] != "the truth of 3 questions differs, such as that of q07" {
		t.Errorf("%v", err)
	}
}

func TestLastRun(t *testing.T) {
	at := func(hour int, version string) *runs.Manifest {
		m := &runs.Manifest{ID: fmt.Sprint(hour), Ingredients: map[string]string{"metrics": version}}
		m.Timings.Started = time.Date(2020, 1, 1, hour, 0, 0, 0, time.UTC)
		return m
	}
	folder := []runs.Listed{{Dir: "1", Manifest: at(1, "1")}, {Dir: "2", Manifest: at(2, "1")}, {Dir: "3", Manifest: at(3, "2")}, {Dir: "5", Manifest: at(5, "1")}}
	for hour, want := range map[int]string{1: "", 2: "1", 3: "2", 4: "2", 5: "2", 6: "5"} {
		if last, found := compare.LastRun(folder, at(hour, "1")); last.Dir != want || found != (want != "") {
			t.Errorf("before %d: %q (%v), want %q", hour, last.Dir, found, want)
		}
	}
	if last, found := compare.LastRun(folder, at(4, "2")); last.Dir != "3" || !found {
		t.Errorf("of the other version: %q", last.Dir)
	}
}
