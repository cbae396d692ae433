package compare_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// A row is one of a run made for a test.
type row struct {
	id, system, cluster, lang string
	f1                        *float64 // char_f1
	correct                   *float64 // citation_correctness
	overlap, truth, pred      int64    // what micro(char_f1) is made of

	components, provider  string
	documents             []string
	fails                 bool
	undefined             string // the reason why char_f1 is not defined
	cost, tokens, latency *float64
	more                  map[string]float64 // values of moreFields
}

var rowFields = []parquet.Field{
	{Name: "id", Kind: parquet.String, Required: true},
	{Name: "system", Kind: parquet.String, Required: true},
	{Name: "model", Kind: parquet.String},
	{Name: "truth_annotator", Kind: parquet.String},
	{Name: "provider", Kind: parquet.String},
	{Name: "error", Kind: parquet.String},
	{Name: "tags", Kind: parquet.MapString},
	{Name: "char_f1", Kind: parquet.Double},
	{Name: "exact_match", Kind: parquet.Double},
	{Name: "overlap_chars", Kind: parquet.Int64},
	{Name: "truth_chars", Kind: parquet.Int64},
	{Name: "pred_chars", Kind: parquet.Int64},
	{Name: "truth_spans", Kind: parquet.Int64},
	{Name: "citation_correctness", Kind: parquet.Double},
	{Name: "documents", Kind: parquet.ListString},
	{Name: "fails_because", Kind: parquet.String},
	{Name: "undefined", Kind: parquet.MapString},
	{Name: "answer_cost_usd", Kind: parquet.Double},
	{Name: "answer_tokens", Kind: parquet.Double},
	{Name: "answer_latency_ms", Kind: parquet.Double},
}

// moreFields are numbers that few tests need.
var moreFields = []string{"over_citation", "drb_effective_citations", "offset_accuracy", "overall_citation_accuracy", "citations", "scored_citations", "no_text_citations"}

// partRows is how many rows the parts of a file have in these tests.
const partRows = 7

// tableOf has the rows as columns.
func tableOf(t *testing.T, rows []row) *parquet.Table {
	t.Helper()
	fields := slices.Clone(rowFields)
	for _, name := range moreFields {
		fields = append(fields, parquet.Field{Name: name, Kind: parquet.Double})
	}
	table := parquet.NewTable(fields)
	text := func(at int, s string) {
		if s != "" {
			table.At(at).AppendString(s)
		}
	}
	number := func(at int, v *float64) {
		if v != nil {
			table.At(at).AppendDouble(*v)
		}
	}
	for _, r := range rows {
		table.At(0).AppendString(r.id)
		table.At(1).AppendString(r.system)
		text(4, r.provider)
		var keys, values []string
		for key, value := range map[string]string{"lang": r.lang, "cluster": r.cluster} {
			if value != "" {
				keys, values = append(keys, key), append(values, value)
			}
		}
		if keys != nil {
			table.At(6).AppendMap(keys, values)
		}
		if number(7, r.f1); r.f1 != nil {
			table.At(8).AppendDouble(math.Floor(*r.f1))
		}
		table.At(9).AppendInt(r.overlap)
		table.At(10).AppendInt(r.truth)
		table.At(11).AppendInt(r.pred)
		table.At(12).AppendInt(1)
		number(13, r.correct)
		if r.documents != nil {
			table.At(14).AppendStrings(r.documents)
		}
		if r.fails {
			table.At(15).AppendString("error")
		}
		if r.f1 == nil || r.undefined != "" {
			table.At(16).AppendMap([]string{"char_f1", "exact_match"}, []string{cmp.Or(r.undefined, "truth_not_found"), "other"})
		}
		number(17, r.cost)
		number(18, r.tokens)
		number(19, r.latency)
		for i, name := range moreFields {
			if v, ok := r.more[name]; ok {
				table.At(len(rowFields) + i).AppendDouble(v)
			}
		}
		table.EndRow()
	}
	return table
}

// write makes a run directory and opens it.
func write(t *testing.T, id string, rows []row, change func(*runs.Manifest)) *compare.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var tables []*parquet.Table
	for part := range slices.Chunk(append([]row{}, rows...), partRows) {
		tables = append(tables, tableOf(t, part))
	}
	if len(rows) == 0 {
		tables = append(tables, tableOf(t, nil))
	}
	err := dataset.WriteFile(filepath.Join(dir, runs.RowsFile), func(w io.Writer) error {
		var e parquet.Encoder
		e.Begin(w, tables[0].Fields())
		for _, table := range tables {
			if err := e.Group(table); err != nil {
				return err
			}
		}
		return e.End(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &runs.Manifest{
		Schema: runs.ManifestSchema, ID: id, Status: runs.StatusComplete, Judge: runs.JudgeRecord{Kind: "none"},
		Ingredients: map[string]string{"metrics": "1", "mark_scope": "sentence", "dataset": id},
		Settings:    []runs.Setting{{Key: "slices", Value: "[]"}},
		Components:  []string{"span_accuracy_score"},
	}
	for _, r := range rows {
		if r.cluster != "" {
			m.Settings = append(m.Settings, runs.Setting{Key: "statistics.cluster", Value: "cluster"})
		}
		if r.components != "" {
			m.Components = strings.Split(r.components, ",")
		}
	}
	if change != nil {
		change(m)
	}
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	r, err := compare.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func quantities(t *testing.T, names ...string) []compare.Quantity {
	t.Helper()
	var all []compare.Quantity
	for _, name := range names {
		q, err := compare.ParseQuantity(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}

// scored is a row with a value.
func scored(id string, f1 float64) row {
	overlap := int64(math.Round(100 * f1))
	return row{id: id, system: "s", f1: new(f1), overlap: overlap, truth: 100, pred: 100}
}

func near(a *float64, want float64) bool { return a != nil && math.Abs(*a-want) < 1e-12 }

func TestPairsByID(t *testing.T) {
	base := write(t, "base", []row{
		scored("a", 0.5), scored("b", 0.25), scored("c", 1), scored("d", 0), scored("e", 0.5),
		scored("f", 0.5), scored("gone", 1),
		{id: "none", system: "s", truth: 100},
	}, nil)
	other := write(t, "other", []row{
		scored("f", 0.75), scored("e", 0.5), scored("d", 0.25), scored("c", 0.75), scored("b", 0.5), scored("a", 0.75),
		scored("none", 1), scored("new", 0),
	}, nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)", "exact_match")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != 1 {
		t.Fatalf("%d pairs of sides, want 1", len(r.Pairs))
	}
	p := r.Pairs[0]
	if !p.Paired || p.Rows != 7 || p.System != "s" {
		t.Errorf("pair %+v", p)
	}
	if diff := gocmp.Diff([]compare.Named{{Rows: 1, IDs: []string{"gone"}}, {Rows: 1, IDs: []string{"new"}}}, []compare.Named{p.OnlyBase, p.OnlyNew}); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	d := p.Differences[0]
	if !near(d.Base, 2.75/6) || !near(d.New, 3.5/6) || !near(d.Diff, 0.75/6) {
		t.Errorf("base %v, new %v, difference %v", *d.Base, *d.New, *d.Diff)
	}
	if d.N != 6 || d.Undefined != 1 || d.Clusters != 6 || d.Higher != 4 || d.Lower != 1 || d.Same != 1 || d.Improved() != 4 || d.Declined() != 1 {
		t.Errorf("%+v", d)
	}
	// Of (1, 1, 1, 1, -1, 0)/4 the mean is 1/8, its standard error 0.0853913: atanh(1/8)(1 - 1/64)
	// is 1.44855 of them, and t with 5 degrees of freedom is beyond that with p = 0.2072.
	if math.Abs(*d.P-0.2072) > 5e-4 || d.Test != "t" || d.Outcome != compare.Undecided || d.MDE == nil {
		t.Errorf("p %v (%s), %s, mde %v", *d.P, d.Test, d.Outcome, d.MDE)
	}
	// All rows have the same length, so the pooled value is the mean.
	micro := p.Differences[1]
	if !near(micro.Diff, 0.75/6) || micro.Method != "atanh-t" || !near(micro.P, *d.P) {
		t.Errorf("micro: %v by %s, p %v", *micro.Diff, micro.Method, *micro.P)
	}
	binary := p.Differences[2]
	if binary.Lower != 1 || binary.Higher != 0 || binary.Test != "t" || *binary.P < 0.3 || *binary.P > 0.5 {
		t.Errorf("binary: %+v, p %v (%s)", binary, *binary.P, binary.Test)
	}
	// Holm over the three: 3 times the smallest, and the rest are not below it.
	for _, d := range p.Differences {
		if *d.Adjusted < 3**p.Differences[0].P-1e-9 {
			t.Errorf("%s: adjusted %v, want at least %v", d.Metric, *d.Adjusted, 3**p.Differences[0].P)
		}
	}
}

// several are rows of two systems, of which the second gets worse.
func several(seed uint64, decline float64) []row {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows []row
	for q := range 60 {
		level := rng.Float64()
		for _, system := range []string{"x", "y"} {
			v := min(1, max(0, level+0.2*rng.NormFloat64()))
			if system == "y" {
				v = max(0, v-decline)
			}
			r := scored(fmt.Sprintf("q%02d", q), v)
			r.system, r.cluster, r.lang = system, fmt.Sprint("doc", q/3), []string{"de", "en"}[q%2]
			rows = append(rows, r)
		}
	}
	return rows
}

func TestSeveralSystems(t *testing.T) {
	base, other := write(t, "base", several(1, 0), nil), write(t, "other", several(2, 0.3), nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"lang"}, All: true})
	if err != nil {
		t.Fatal(err)
	}
	var systems []string
	for _, p := range r.Pairs {
		systems = append(systems, p.System)
	}
	if !slices.Equal(systems, []string{"", "x", "y"}) || r.Pairs[0].Rows != 120 || r.Pairs[1].Rows != 60 {
		t.Errorf("pairs of systems %q: %d, %d rows", systems, r.Pairs[0].Rows, r.Pairs[1].Rows)
	}
	want := map[string]compare.Outcome{"x": compare.Undecided, "y": compare.Worse}
	for _, p := range r.Pairs[1:] {
		if d := p.Differences[0]; d.Outcome != want[p.System] || d.Clusters != 20 && d.Clusters != 19 || !d.Headline || d.Adjustment != "holm" {
			t.Errorf("system %s: %+v, want %s", p.System, d, want[p.System])
		}
		var slices []string
		for _, d := range p.Differences {
			if d.Slice != "" {
				slices = append(slices, d.Slice)
				if d.N != 30 || d.Headline || d.Adjustment != "bh" {
					t.Errorf("%+v", d)
				}
			}
		}
		if strings.Join(slices, " ") != "lang=de lang=en" {
			t.Errorf("slices %q", slices)
		}
	}
}

func TestSystemsOfOneRun(t *testing.T) {
	run := write(t, "run", several(3, 0.4), nil)
	r, err := compare.By(run, "system", compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)"), Base: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != 1 || r.Sides[0].Name != "y" || !r.Pairs[0].Paired || r.Pairs[0].Rows != 60 {
		t.Fatalf("%+v", r.Pairs)
	}
	for _, d := range r.Pairs[0].Differences {
		if d.Outcome != compare.Better {
			t.Errorf("%s(%s): %s, p %v", d.Agg, d.Metric, d.Outcome, *d.P)
		}
	}
}

// TestManySystems: of more than twenty, each is compared with the base and the best.
func TestManySystems(t *testing.T) {
	for n, pairs := range map[int]int{20: 190, 21: 20 + 19} {
		var rows []row
		for k := range n {
			for q := range 6 {
				r := scored(string(rune('a'+q)), 0.5+0.1*float64(q%2))
				r.system = fmt.Sprintf("s%02d", k)
				if k == 7 {
					*r.f1 += 0.3
				}
				rows = append(rows, r)
			}
		}
		r, err := compare.By(write(t, "run", rows, nil), "system", compare.Options{Metrics: quantities(t, "char_f1")})
		if err != nil {
			t.Fatal(err)
		}
		note := "of 21 systems each is compared with s00 and with s07, the best by char_f1; --system names another"
		if len(r.Pairs) != pairs || slices.Contains(r.Notes, note) != (n > 20) {
			t.Errorf("%d systems: %d pairs, want %d; notes %q", n, len(r.Pairs), pairs, r.Notes)
		}
		seen := make(map[[2]int]bool)
		for _, p := range r.Pairs {
			if p.Base == p.New || seen[[2]int{p.Base, p.New}] || seen[[2]int{p.New, p.Base}] {
				t.Errorf("pair %d, %d twice or with itself", p.Base, p.New)
			}
			seen[[2]int{p.Base, p.New}] = true
		}
		if top := r.Rankings[0].Places[0]; r.Sides[top.Side].Name != "s07" {
			t.Errorf("%s is the best", r.Sides[top.Side].Name)
		}
	}
}

func TestRanking(t *testing.T) {
	var rows []row
	for _, system := range []string{"a", "b", "c"} {
		for q, r := range several(4, 0) {
			if q%2 == 0 {
				continue
			}
			r.system = system
			if system == "c" {
				*r.f1 = max(0, *r.f1-0.5)
			}
			rows = append(rows, r)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range rows {
		if rows[i].system == "b" {
			*rows[i].f1 = min(1, max(0, *rows[i].f1+0.1*rng.NormFloat64()))
		}
	}
	r, err := compare.By(write(t, "run", rows, nil), "system", compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	places := r.Rankings[0].Places
	for i, p := range places[:2] {
		if p.Best != 1 || p.Worst != 2 || !p.Tied || p.Sure || p.Low == nil {
			t.Errorf("place %d: %+v", i, p)
		}
	}
	if last := places[2]; last.Best != 3 || last.Worst != 3 || last.Tied || r.Sides[last.Side].System != "c" {
		t.Errorf("last place: %+v", last)
	}
}

// TestRankingOfGaps: who answers little has no rank, and who answers more than half is
// ranked over what all answered. Neither leaving rows out nor giving no value pays.
func TestRankingOfGaps(t *testing.T) {
	rows := func(system string, values ...float64) (all []row) {
		for q, v := range values {
			r := scored(string(rune('a'+q)), v)
			if r.system = system; v < 0 {
				r.f1 = nil
			}
			all = append(all, r)
		}
		return all
	}
	with := func(more []row) *compare.Result {
		t.Helper()
		all := append(rows("all", .9, .9, .9, .9, .9, .1, .1, .1), rows("also", .8, .8, .8, .8, .8, .3, .3, .3)...)
		r, err := compare.By(write(t, "run", append(all, more...), nil), "system", compare.Options{Metrics: quantities(t, "char_f1")})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, more := range map[string][]row{
		"left out": rows("easy", 1, 1, 1),
		"no value": rows("easy", 1, 1, 1, -1, -1, -1, -1, -1),
	} {
		r := with(more)
		g := r.Rankings[0]
		if len(g.Aside) != 1 || r.Sides[g.Aside[0].Side].System != "easy" || g.Aside[0].Defined != 3 || g.Aside[0].Rows != 8 || g.Rows != 8 {
			t.Errorf("%s: %+v", name, g)
		}
		if len(g.Places) != 2 || r.Sides[g.Places[0].Side].System != "also" && r.Sides[g.Places[0].Side].System != "all" {
			t.Errorf("%s: places %+v", name, g.Places)
		}
		if !slices.ContainsFunc(r.Notes, func(n string) bool {
			return strings.Contains(n, "easy has no rank by char_f1: it is defined for 3 of 8 rows")
		}) {
			t.Errorf("%s: notes %q", name, r.Notes)
		}
	}
	r := with(rows("most", .95, .95, .95, .95, .95))
	g := r.Rankings[0]
	if len(g.Aside) != 0 || g.Rows != 5 || len(g.Places) != 3 || math.Abs(g.Places[1].Estimate-.9) > 1e-12 {
		t.Errorf("over what all answered: %+v", g)
	}
	apart := rows("other", 1, 1, 1)
	for i := range apart {
		apart[i].id += "-other"
	}
	if g := with(apart).Rankings[0]; len(g.Aside) != 1 || len(g.Places) != 2 {
		t.Errorf("other questions: %+v", g)
	}
}

func TestOtherNames(t *testing.T) {
	rename := func(rows []row, system string) []row {
		for i := range rows {
			rows[i].system = system
		}
		return rows
	}
	rows := []row{scored("a", 0.5), scored("b", 0.25), scored("c", 1)}
	base := write(t, "base", slices.Clone(rows), nil)
	v2 := write(t, "other", rename(slices.Clone(rows), "v2"), nil)
	r, err := compare.Runs(base, []*compare.Run{v2}, compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil || r.Pairs[0].Rows != 3 || r.Sides[1].System != "v2" {
		t.Errorf("one system each: %+v, %v", r, err)
	}
	two := write(t, "two", append(rename(slices.Clone(rows), "v2"), rename(slices.Clone(rows), "v3")...), nil)
	var usage *ibid.Error
	if _, err := compare.Runs(base, []*compare.Run{two}, compare.Options{}); !errors.As(err, &usage) || !usage.Usage || !strings.Contains(usage.Hint, "--system") {
		t.Errorf("nothing in common: %v", err)
	}
	r, err = compare.Runs(base, []*compare.Run{two}, compare.Options{Metrics: quantities(t, "char_f1"), Base: "s", New: "v3"})
	if err != nil || r.Pairs[0].Rows != 3 || r.Sides[1].System != "v3" {
		t.Errorf("named: %+v, %v", r, err)
	}
	if _, err := compare.Runs(base, []*compare.Run{two}, compare.Options{Base: "s", New: "v4"}); !errors.As(err, &usage) {
		t.Errorf("no such system: %v", err)
	}
	if _, err := compare.By(base, "system", compare.Options{}); !errors.As(err, &usage) {
		t.Errorf("one system by itself: %v", err)
	}
}

// TestUnpaired: sides without a common question stand side by side, with no difference
// between them.
func TestUnpaired(t *testing.T) {
	base := write(t, "base", []row{scored("a", 0.5), scored("b", 0.25), scored("c", 1), scored("d", 0.5)}, nil)
	other := write(t, "other", []row{scored("e", 0.75), scored("f", 0.5), scored("g", 1)}, nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)")})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Pairs[0]
	if p.Paired || p.Rows != 7 || len(p.OnlyBase.IDs) != 0 {
		t.Errorf("%+v", p)
	}
	for _, d := range p.Differences {
		if !near(d.Base, 0.5625) || !near(d.New, 0.75) || d.Diff != nil || d.Low != nil || d.SE != nil || d.P != nil || d.Adjusted != nil || d.MDE != nil || d.Outcome != compare.Unknown ||
			d.Reason != "not paired: the sides have no question in common" || d.Test != "" || d.Method != "" || d.N != 7 || d.Higher+d.Lower+d.Same != 0 {
			t.Errorf("%+v", d)
		}
	}
}

// TestUnpairedSlices: a slice has the rows of either side that are in it, wherever they
// stand in their run.
func TestUnpairedSlices(t *testing.T) {
	in := func(lang string, r row) row { r.lang = lang; return r }
	base := write(t, "base", []row{in("de", scored("a", 0.25)), in("en", scored("b", 0.75)), in("en", scored("c", 1))}, nil)
	other := write(t, "other", []row{in("en", scored("d", 0.5)), in("de", scored("e", 0)), in("de", scored("f", 0.25)), in("en", scored("g", 1))}, nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"lang"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][3]float64{"": {2.0 / 3, 1.75 / 4, 7}, "lang=de": {0.25, 0.125, 3}, "lang=en": {0.875, 0.75, 4}}
	for _, d := range r.Pairs[0].Differences {
		w, ok := want[d.Slice]
		if delete(want, d.Slice); !ok || !near(d.Base, w[0]) || !near(d.New, w[1]) || d.N != int64(w[2]) {
			t.Errorf("%s: %v and %v of %d rows, want %v", d.Slice, *d.Base, *d.New, d.N, w)
		}
	}
	if len(want) != 0 {
		t.Errorf("slices without a difference: %v", want)
	}
}

func TestRefusals(t *testing.T) {
	rows := []row{scored("a", 0.5), scored("b", 0.25)}
	base := write(t, "base", rows, nil)
	otherTruth := slices.Clone(rows)
	otherTruth[1].truth = 99
	tests := []struct {
		name   string
		rows   []row
		change func(*runs.Manifest)
		want   string
	}{
		{"metrics", rows, func(m *runs.Manifest) { m.Ingredients["metrics"] = "2" }, "versions of the metrics differ: 1 and 2"},
		{"judge", rows, func(m *runs.Manifest) { m.Judge.Kind, m.Judge.Model = "openai", "m" }, "judges differ: none and openai m"},
		{"prompt", rows, func(m *runs.Manifest) { m.Ingredients["judge.prompt"] = "x" }, "prompts of the judge differ: none and x"},
		{"documents", rows, func(m *runs.Manifest) { m.Ingredients["documents"] = "x" }, "documents of other content"},
		{"setting", rows, func(m *runs.Manifest) { m.Ingredients["mark_scope"] = "paragraph" }, "values of mark_scope differ: sentence and paragraph"},
		{"truth", otherTruth, nil, "the truth of 1 questions differs, such as that of b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := write(t, "other", tt.rows, tt.change)
			var refused *compare.RefusedError
			_, err := compare.Runs(base, []*compare.Run{other}, compare.Options{})
			if !errors.As(err, &refused) || !strings.Contains(refused.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Force: true})
			if err != nil || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], tt.want) {
				t.Errorf("by force: %v", err)
			}
		})
	}
	free := write(t, "free", rows, func(m *runs.Manifest) {
		m.Ingredients["statistics.level"], m.Ingredients["--limit"], m.Ingredients["--only lang"], m.Ingredients["slices"] = "0.9", "2", "de", "[x]"
	})
	if _, err := compare.Runs(base, []*compare.Run{free}, compare.Options{}); err != nil {
		t.Errorf("what does not matter: %v", err)
	}
}

// TestOrder: rows in another order have the same comparison, but for rounding.
func TestOrder(t *testing.T) {
	o := compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)", "exact_match"), Slices: []string{"lang"}, All: true}
	var want *compare.Result
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		a, b := several(5, 0), several(6, 0.1)
		rng.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		r, err := compare.Runs(write(t, "base", a, nil), []*compare.Run{write(t, "other", b, nil)}, o)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = r
		}
		nearly := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) })
		if diff := gocmp.Diff(want, r, nearly, cmpopts.IgnoreUnexported(compare.Pair{})); diff != "" {
			t.Errorf("another order: %s", diff)
		}
	}
}

func TestParquet(t *testing.T) {
	base, other := write(t, "base", several(1, 0), nil), write(t, "other", several(2, 0.3), nil)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "char_f1")})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "differences.parquet")
	if err := dataset.WriteFile(path, r.WriteParquet); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := r.Lines()
	if f.Rows() != int64(len(lines)) {
		t.Errorf("%d rows of %d lines", f.Rows(), len(lines))
	}
	var diff, system parquet.ColumnValues
	if err := errors.Join(f.ReadColumn(0, "diff", nil, &diff), f.ReadColumn(0, "system", nil, &system)); err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		if diff.Doubles[i] != *l.Diff || system.Strings[i] != l.System {
			t.Errorf("row %d: %v of %s, want %v of %s", i, diff.Doubles[i], system.Strings[i], *l.Diff, l.System)
		}
	}
}

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"char_dice": "char_f1", " micro( char_f1 ) ": "micro(char_f1)", "micro(exact_match)": "exact_match", "citations": "citations",
	} {
		if q, err := compare.ParseQuantity(text); err != nil || q.String() != want {
			t.Errorf("%q: %v, %v, want %s", text, q, err, want)
		}
	}
	for _, text := range []string{"char_f", "micro(char_f1", "micro(overall_citation_accuracy)"} {
		if _, err := compare.ParseQuantity(text); err == nil {
			t.Errorf("%q is a quantity", text)
		}
	}
}
