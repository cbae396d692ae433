package compare_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
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
// differences give, which hold together.
func TestRanksFollowIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	sure, tied := 0, 0
	for i, metric := range []string{"char_f1", "over_citation", "drb_effective_citations", "char_f1", "over_citation", "char_f1", "char_f1", "over_citation", "drb_effective_citations"} {
		k := 3 + i%3
		var rows []row
		for s := range k {
			var values []float64
			for range 14 {
				values = append(values, min(1, max(0, 0.2+0.04*float64(s*(i%5))+0.1*rng.NormFloat64())))
			}
			rows = append(rows, valued(fmt.Sprint("s", s), metric, values...)...)
		}
		result := systemsOf(t, rows, compare.Options{Metrics: quantities(t, metric)})
		above, below := make(map[string]int), make(map[string]int)
		for s := range k { // each in turn is the base of k-1 differences, at the level of all pairs
			alone := systemsOf(t, rows, compare.Options{Metrics: quantities(t, metric), Base: fmt.Sprint("s", s)})
			for _, d := range found(t, alone, metric, "").Differences {
				scale := float64(k) / 2 // p counts k-1 differences; of all pairs there are k/2 times as many
				if d.P != nil && *d.P*scale <= 0.05 {
					if d.Word == compare.Better {
						above[d.Base]++
					} else {
						below[d.Base]++
					}
				}
			}
		}
		m := found(t, result, metric, "")
		if m.Questions != 14 || m.Family != k*(k-1)/2 || len(result.SetAside) != 0 {
			t.Fatalf("%s: %+v", metric, m)
		}
		for _, s := range result.Sides {
			if want := [2]int{1 + above[s.Name], k - below[s.Name]}; s.Rank == nil || *s.Rank != want {
				t.Errorf("%s of %d, %s: rank %v, want %v", metric, k, s.Name, s.Rank, want)
				continue
			}
			if s.Rank[0] == 1 && s.Rank[1] == 1 {
				sure++
			} else if s.Rank[0] == 1 {
				tied++
			}
			if leads := s.Rank[0] == 1; leads != slices.Contains(m.Leaders, s.Name) && s.Rank[1] == 1 {
				t.Errorf("%s leads: %v of %q", s.Name, leads, m.Leaders)
			}
		}
	}
	if sure == 0 || tied == 0 {
		t.Errorf("%d sure and %d tied places", sure, tied)
	}
}

// TestKnownInPart: a row with citations of unknown text counts in part.
func TestKnownInPart(t *testing.T) {
	var rows []row
	for s, unknown := range []float64{0, 2, 3} {
		for q := range 4 {
			rows = append(rows, row{id: fmt.Sprint(q), system: fmt.Sprint("s", s), correct: new(0.5), more: map[string]float64{"citations": 4, "scored_citations": 4 - unknown, "no_text_citations": unknown}})
		}
	}
	r := systemsOf(t, rows, compare.Options{Metrics: quantities(t, "citation_correctness")})
	// Of 4 citations 2 have no text: each row counts half, which is just enough.
	if len(r.SetAside) != 1 || r.SetAside[0].Name != "s2" || !strings.HasPrefix(r.SetAside[0].Why, "defined for 1 of 4") {
		t.Errorf("%+v", r.SetAside)
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
	round := func(v *float64) float64 { return math.Round(*v*1e9) / 1e9 }
	var got []string
	for _, m := range r.Metrics {
		for _, d := range m.Differences {
			got = append(got, fmt.Sprint(m.System, " ", d.Base, " ", d.New, " ", d.N, " ", round(d.BaseMean), " ", round(d.NewMean), " ", m.Family))
		}
	}
	// Of base x has the mean 0.25, y 0.35; of a, where they are in the other order, 0.45 and 0.35.
	want := []string{"x base other 6 0.25 0.45 4", "x base other (2) 6 0.25 0.55 4", "y base other 6 0.35 0.35 4", "y base other (2) 6 0.35 0.65 4"}
	if !slices.Equal(got, want) {
		t.Errorf("differences %q\nwant %q", got, want)
	}
	if f := r.Failures; len(f) != 2 || f[0].New != "other" || f[1].New != "other (2)" {
		t.Errorf("failures %+v", f)
	}
	// Of one system each, and named, the sides are in the same order.
	for name, o := range map[string]compare.Options{"one each": {}, "named": {Systems: []string{"x"}}, "another base": {Systems: []string{"x"}, Base: "other"}} {
		first, others := base, []*compare.Run{a, b}
		if o.Systems == nil {
			first, others = write(t, "base", rows(0, "x"), nil), []*compare.Run{write(t, "a", rows(0.1, "v2"), nil), write(t, "b", rows(0.3, "v3"), nil)}
		}
		o.Metrics = quantities(t, "char_f1")
		r := runsOf(t, first, o, others...)
		means := map[string][3]float64{"one each": {0.25, 0.35, 0.55}, "named": {0.25, 0.45, 0.55}, "another base": {0.45, 0.25, 0.55}}[name]
		if len(r.Metrics) != 1 || len(r.Metrics[0].Differences) != 2 {
			t.Fatalf("%s: %+v", name, r.Metrics)
		}
		for i, d := range r.Metrics[0].Differences {
			if !close(d.BaseMean, means[0]) || !close(d.NewMean, means[i+1]) {
				t.Errorf("%s: %v and %v, want %v", name, *d.BaseMean, *d.NewMean, means)
			}
		}
	}
}

// TestWhatIsCompared: which metric decides, what else is compared, and by which slices.
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
		{"places alone", one, compare.Options{}, "char_f1|overall_citation_accuracy", "lang=de lang=en"},
		{"two components", two, compare.Options{}, "overall_citation_accuracy|char_f1", "lang=de lang=en"},
		{"more", one, compare.Options{More: quantities(t, "exact_match", "micro(char_f1)", "overall_citation_accuracy"), Whole: true}, "char_f1|exact_match micro(char_f1) overall_citation_accuracy", ""},
		{"named", one, compare.Options{Metrics: quantities(t, "micro(char_f1)"), More: quantities(t, "char_f1", "micro(char_f1)")}, "micro(char_f1)|char_f1", "lang=de lang=en"},
		{"slices", one, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"lang", "system"}}, "char_f1|", "lang=de lang=en system=x system=y"},
		{"no slices but one", one, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"system"}, Whole: true}, "char_f1|", "system=x system=y"},
	} {
		r := runsOf(t, tt.run, tt.o, tt.run)
		var deciding, rest, by []string
		for _, m := range r.Metrics {
			name := m.Metric
			if m.Agg == runs.Micro {
				name = "micro(" + name + ")"
			}
			list := &rest
			if m.Slice != "" {
				list, name = &by, m.Slice
			} else if m.Deciding {
				list = &deciding
			}
			if !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
		slices.Sort(by)
		if got := strings.Join(deciding, " ") + "|" + strings.Join(rest, " "); got != tt.want || strings.Join(by, " ") != tt.slices {
			t.Errorf("%s: %s by %q, want %s by %s", tt.name, got, by, tt.want, tt.slices)
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
	if len(r.Sides) != 2 || r.Sides[0].Name != "p" || r.Sides[0].Rows != 10 || r.Sides[1].Name != "r" || r.Sides[1].Rows != 5 {
		t.Errorf("%+v", r.Sides)
	}
	if d := found(t, r, "char_f1", "").Differences[0]; d.Base != "r" || d.N != 5 || !close(d.NewMean, 0) || !close(d.BaseMean, 0.1) {
		t.Errorf("%+v", d)
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
	if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error()+"|"+u.Hint != `no side is called "z"|it is one of a, b, c, d` {
		t.Errorf("no such base: %v", err)
	}
	_, err = compare.By(write(t, "run", rows, nil), "system", compare.Options{Systems: []string{"z"}})
	if u, ok := errors.AsType[*ibid.Error](err); !ok || !u.Usage || u.Error()+"|"+u.Hint != `run has no system "z"|it has a, b, c, d` {
		t.Errorf("no such system: %v", err)
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
		want     [3]compare.Word
	}{
		{1, [3]compare.Word{"better", "better", "better"}},
		{0.5, [3]compare.Word{"", "better", ""}}, // the overall score is that of spans alone
	} {
		base, other := write(t, "base", rows(1, 0.25), nil), write(t, "other", rows(tt.accuracy, 0.75), nil)
		r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, names...)})
		if err != nil {
			t.Fatal(err)
		}
		l, err := compare.NewLookup(base, other, "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range names {
			d := found(t, r, names[i], "s").Differences[0]
			doubt := "offset_accuracy differs (1.000 and 0.500, p = 0.001565), so one has more quotes that are not at their offsets"
			if tt.want[i] != "" {
				doubt = ""
			}
			if d.Word != tt.want[i] || slices.Contains(d.Warnings, "no verdict: "+doubt) != (doubt != "") {
				t.Errorf("%s with %v: %s, want %s; %q", names[i], tt.accuracy, d.Word, tt.want[i], d.Warnings)
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
	l, err := compare.NewLookup(base, base, "x")
	if err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{"": "say which system to compare with x", "x": "say which system to compare with x"} {
		if _, err := l.Difference(system, "", f1); err == nil || err.Error() != want {
			t.Errorf("system %q: %v, want %s", system, err, want)
		}
	}
	if d, err := l.Difference("y", "lang=de", f1); err != nil || d.N != 30 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := compare.NewLookup(base, base, "z"); err == nil || err.Error() != `base has no system "z"` {
		t.Errorf("no such system: %v", err)
	}
	changed := slices.Clone(rows)
	changed[0].truth++
	other := write(t, "other", changed, nil)
	if l, err = compare.NewLookup(base, other, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Difference("x", "", f1); err == nil || err.Error() != "base and other cannot be compared: the truth of 1 questions differs, such as that of q00" {
		t.Errorf("other truth: %v", err)
	}
	if _, err := l.Difference("y", "", f1); err != nil {
		t.Errorf("the other system: %v", err)
	}
	metrics := func(m *runs.Manifest) { m.Ingredients["metrics"] = "0" }
	if _, err := compare.NewLookup(base, write(t, "old", rows, metrics), ""); err == nil {
		t.Error("other metrics are no error")
	}
	// Of one system each, names do not matter.
	alone := func(system string) *compare.Run {
		r := []row{scored("a", 0.25), scored("b", 0.5)}
		for i := range r {
			r[i].system = system
		}
		return write(t, system, r, nil)
	}
	if l, err = compare.NewLookup(alone("v1"), alone("v2"), ""); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Difference("", "", f1); err != nil || d.N != 2 || d.Diff == nil {
		t.Errorf("one system each: %+v, %v", d, err)
	}
	if l, err = compare.NewLookup(base, alone("v2"), ""); err != nil {
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
