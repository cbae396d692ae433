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

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
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
		Settings:    []configs.Value{{Key: "slices", Value: "[]"}},
		Components:  []string{"span_accuracy_score"},
	}
	for _, r := range rows {
		if r.cluster != "" {
			m.Settings = append(m.Settings, configs.Value{Key: "statistics.cluster", Value: "cluster"})
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

// found is a metric of a result over all rows, by the name that gates write.
func found(t *testing.T, r *compare.Result, name, system string) *compare.Metric {
	t.Helper()
	q := quantities(t, name)[0]
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Metric == q.Metric.Name && (m.Agg == runs.Micro) == q.Micro && m.System == system && m.Slice == "" {
			return m
		}
	}
	t.Fatalf("no %s of %q in %+v", name, system, r.Metrics)
	return nil
}

// runsOf compares runs, which must be possible.
func runsOf(t *testing.T, base *compare.Run, o compare.Options, news ...*compare.Run) *compare.Result {
	t.Helper()
	r, err := compare.Runs(base, news, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// systemsOf compares the systems of a run made of rows.
func systemsOf(t *testing.T, rows []row, o compare.Options) *compare.Result {
	t.Helper()
	r, err := compare.By(write(t, "run", rows, nil), "system", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

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
	r := runsOf(t, base, compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)", "exact_match")}, other)
	want := []compare.Unpaired{
		{Name: "base", System: "s", Named: compare.Named{Rows: 1, IDs: []string{"gone"}}},
		{Name: "other", System: "s", Named: compare.Named{Rows: 1, IDs: []string{"new"}}},
	}
	if diff := gocmp.Diff(want, r.Unpaired); diff != "" {
		t.Errorf("unpaired (-want +got):\n%s", diff)
	}
	m := found(t, r, "char_f1", "s")
	d := m.Differences[0]
	if !near(d.BaseMean, 2.75/6) || !near(d.NewMean, 3.5/6) || !near(d.Diff, 0.75/6) || !near(m.Sides[0].Estimate, 2.75/6) || !near(m.Sides[0].Own, 3.75/7) || m.Sides[0].OwnRows != 7 {
		t.Errorf("%+v, %+v", d, m.Sides)
	}
	if d.N != 6 || d.Undefined != 1 || d.Clusters != 6 || d.Better != 4 || d.Worse != 1 || d.Same != 1 || m.Questions != 6 || m.Family != 3 {
		t.Errorf("%+v", d)
	}
	// Of (1, 1, 1, 1, -1, 0)/4 the mean is 1/8, its standard error 0.0853913: atanh(1/8)(1 - 1/64)
	// is 1.44855 of them, and t with 5 degrees of freedom is beyond that with p = 0.2072. Three
	// metrics decide.
	if math.Abs(*d.P-3*0.2072) > 2e-3 || d.Word != compare.Tied || d.MDE == nil {
		t.Errorf("p %v, %s, mde %v", *d.P, d.Word, d.MDE)
	}
	// All rows have the same length, so the pooled value is the mean.
	micro := found(t, r, "micro(char_f1)", "s").Differences[0]
	if !near(micro.Diff, 0.75/6) || !near(micro.P, *d.P) {
		t.Errorf("micro: %v, p %v", *micro.Diff, micro.P)
	}
	binary := found(t, r, "exact_match", "s").Differences[0]
	if binary.Worse != 1 || binary.Better != 0 || *binary.P != 1 {
		t.Errorf("binary: %+v, p %v", binary, *binary.P)
	}
}

// TestFamily: the interval of a metric that decides leaves 0 out exactly where p, which counts
// all differences, is at most .05.
func TestFamily(t *testing.T) {
	apart := 0
	for seed := range uint64(16) {
		base, other := write(t, "base", several(seed, 0), nil), write(t, "other", several(seed+100, 0.04*float64(seed%8)), nil)
		r := runsOf(t, base, compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)")}, other)
		for _, system := range []string{"x", "y"} {
			m := found(t, r, "char_f1", system)
			d := m.Differences[0]
			if leaves := *d.Low > 0 || *d.High < 0; leaves != (*d.P <= 0.05) || m.Family != 4 || leaves != (d.Word == compare.Better || d.Word == compare.Worse) {
				t.Errorf("seed %d, %s: [%v, %v], p %v, %s of %d", seed, system, *d.Low, *d.High, *d.P, d.Word, m.Family)
			} else if leaves {
				apart++
			}
		}
	}
	if apart < 4 || apart > 28 {
		t.Errorf("%d differences of 32 are sure", apart)
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
	r := runsOf(t, base, compare.Options{Metrics: quantities(t, "char_f1"), Slices: []string{"lang"}}, other)
	want := map[string]compare.Word{"x": compare.Tied, "y": compare.Worse}
	for system, word := range want {
		m := found(t, r, "char_f1", system)
		if d := m.Differences[0]; d.Word != word || d.Clusters != 20 && d.Clusters != 19 || d.N != 60 || m.Family != 2 || !m.Deciding {
			t.Errorf("system %s: %+v, want %s", system, d, word)
		}
		var slices []string
		for _, m := range r.Metrics {
			if m.Slice != "" && m.System == system {
				slices = append(slices, m.Slice)
				if d := m.Differences[0]; d.N != 30 || m.Deciding || m.Family != 0 || d.Word != "" || d.P != nil || d.Low == nil {
					t.Errorf("%+v", m)
				}
			}
		}
		if strings.Join(slices, " ") != "lang=de lang=en" {
			t.Errorf("slices %q", slices)
		}
	}
}

func TestSystemsOfOneRun(t *testing.T) {
	r := systemsOf(t, several(3, 0.4), compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)"), Base: "y"})
	if r.Base != "y" || len(r.Metrics) != 2 {
		t.Fatalf("%+v", r.Metrics)
	}
	for _, m := range r.Metrics {
		d := m.Differences[0]
		if len(m.Differences) != 1 || d.Base != "y" || d.New != "x" || d.Word != compare.Better || d.N != 60 || len(m.Leaders) != 0 {
			t.Errorf("%s(%s): %+v", m.Agg, m.Metric, m)
		}
	}
	if r.Sides[0].Rank != nil {
		t.Errorf("a rank beside a base: %+v", r.Sides)
	}
}

// TestOneSetOfQuestions: all numbers of a metric are over the questions that all systems have,
// whichever pair is looked at, and the best stands first.
func TestOneSetOfQuestions(t *testing.T) {
	rows := func(system string, values ...float64) (all []row) {
		for q, v := range values {
			r := scored(string(rune('a'+q)), max(v, 0))
			if r.system = system; v < 0 {
				r.f1 = nil
			}
			all = append(all, r)
		}
		return all
	}
	all := slices.Concat(rows("a", .9, .8, .7, 0, .6), rows("b", .8, .8, -1, 1, .6), rows("c", .1, .2, .3))
	r := systemsOf(t, all, compare.Options{Metrics: quantities(t, "char_f1")})
	m := found(t, r, "char_f1", "")
	if m.Questions != 2 || m.Family != 3 || !near(m.Sides[0].Estimate, .85) || !near(m.Sides[1].Estimate, .8) || !near(m.Sides[0].Own, .6) || m.Sides[1].OwnRows != 4 {
		t.Errorf("%+v", m)
	}
	if len(m.Differences) != 2 || m.Differences[0].Base != "a" || m.Differences[0].New != "b" || m.Differences[1].New != "c" || m.Differences[0].N != 2 || !near(m.Differences[0].Diff, -.05) {
		t.Errorf("%+v", m.Differences)
	}
}

// TestManySystems: of more than twenty, each is compared with the best, and none has a rank.
func TestManySystems(t *testing.T) {
	for n, ranks := range map[int]bool{20: true, 21: false} {
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
		r := systemsOf(t, rows, compare.Options{Metrics: quantities(t, "char_f1")})
		m := found(t, r, "char_f1", "")
		if len(m.Differences) != n-1 || m.Differences[0].Base != "s07" || m.Family != n*(n-1)/2 || (r.Sides[0].Rank != nil) != ranks {
			t.Errorf("%d systems: %d differences, %+v", n, len(m.Differences), r.Sides[0])
		}
		if m.Leaders[0] != "s07" {
			t.Errorf("leaders %q", m.Leaders)
		}
	}
}

// TestSetAside: who answers little is set aside, and who answers more than half is compared over
// what all answered. Neither leaving rows out nor giving no value pays.
func TestSetAside(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sides [][]float64 // -1 is undefined, -2 excused, -3 not answered
		aside map[string]string
		rows  int64 // that the others are compared over
	}{
		{name: "all", sides: [][]float64{{.1, .2}, {.3, .4}, {.5, .5}}, rows: 2},
		{name: "half is enough", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, .6, -1, -1}}, rows: 2},
		{name: "less is not", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, -1, -1, -1}}, rows: 4, aside: map[string]string{"s2": "1 of 4"}},
		{name: "left out", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, -3, -3, -3}}, rows: 4, aside: map[string]string{"s2": "1 of 4"}},
		{name: "what says nothing of it does not count", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {.5, -2, -2, -1}}, rows: 1},
		{name: "nor is it enough", sides: [][]float64{{.1, .2, .3, .4}, {.1, .2, .3, .4}, {-2, -2, -2, -2}}, rows: 4, aside: map[string]string{"s2": "0 of 0"}},
		{name: "the one in the middle", sides: [][]float64{{.1, .2, .3, .4}, {-2, -1, -1, .2}, {.3, .3, .4, .5}}, rows: 4, aside: map[string]string{"s1": "1 of 3"}},
		// Of four sides two have to have answered: the last two questions do not count.
		{name: "few were asked", sides: [][]float64{{.1, .2, -3, -3}, {.1, .2, -3, -3}, {.1, .2, -3, -3}, {.1, .1, .1, .1}}, rows: 2},
		{name: "two of four were asked", sides: [][]float64{{.1, .2, .1, .2}, {.1, .2, .2, .3}, {-1, .2, -3, -3}, {.1, .1, -3, -3}}, rows: 2, aside: map[string]string{"s2": "1 of 4"}},
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
			r := systemsOf(t, rows, compare.Options{Metrics: quantities(t, "char_f1")})
			m := found(t, r, "char_f1", "")
			if in := len(tt.sides) - len(tt.aside); m.Questions != tt.rows || len(m.Differences) != in-1 || m.Family != in*(in-1)/2 || len(r.SetAside) != len(tt.aside) {
				t.Fatalf("%+v, aside %+v", m, r.SetAside)
			}
			for _, a := range r.SetAside {
				if want := "defined for " + tt.aside[a.Name] + " questions that at least half of the sides answered"; a.Why != want || a.Metric != "char_f1" {
					t.Errorf("aside %+v, want %s", a, want)
				}
			}
		})
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
	f1 := quantities(t, "char_f1")
	r := runsOf(t, base, compare.Options{Metrics: f1}, v2)
	if d := found(t, r, "char_f1", "").Differences[0]; d.N != 3 || r.Sides[1].System != "v2" || d.Word != compare.Same || d.Low != nil || d.P != nil {
		t.Errorf("one system each: %+v", r)
	}
	two := write(t, "two", append(rename(slices.Clone(rows), "v2"), rename(slices.Clone(rows), "v3")...), nil)
	var usage *ibid.Error
	if _, err := compare.Runs(base, []*compare.Run{two}, compare.Options{}); !errors.As(err, &usage) || !usage.Usage || !strings.Contains(usage.Hint, "--system") {
		t.Errorf("nothing in common: %v", err)
	}
	r = runsOf(t, base, compare.Options{Metrics: f1, Systems: []string{"s", "v3"}}, two)
	if d := found(t, r, "char_f1", "").Differences[0]; d.N != 3 || r.Sides[1].System != "v3" {
		t.Errorf("named: %+v", r)
	}
	for name, o := range map[string]compare.Options{"no such system": {Systems: []string{"s", "v4"}}, "no such base": {Systems: []string{"s", "v3"}, Base: "v4"}} {
		if _, err := compare.Runs(base, []*compare.Run{two}, o); !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
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
	r := runsOf(t, base, compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)")}, other)
	apart := systemsOf(t, append(valued("x", "char_f1", .5, .25, 1, .5), []row{{id: "e", system: "y", f1: new(0.75)}, {id: "f", system: "y", f1: new(0.5)}, {id: "g", system: "y", f1: new(1.0)}}...), compare.Options{Metrics: quantities(t, "char_f1")})
	for _, m := range append(r.Metrics, apart.Metrics...) {
		if len(m.Differences) != 0 || m.Reason != "not paired: the sides have no question in common" || !near(m.Sides[0].Own, 0.5625) || !near(m.Sides[1].Own, 0.75) || m.Sides[0].Estimate != nil || len(m.Leaders) != 0 {
			t.Errorf("%+v", m)
		}
	}
	if len(r.Metrics) != 2 || len(apart.Metrics) != 1 || len(r.Unpaired) != 0 || len(r.Failures) != 0 {
		t.Errorf("%+v", r)
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
	// Other judges bar what rests on verdicts.
	for want, change := range map[string]func(*runs.Manifest){
		"judges differ: none and openai m":         func(m *runs.Manifest) { m.Judge.Kind, m.Judge.Model = "openai", "m" },
		"prompts of the judge differ: none and x":  func(m *runs.Manifest) { m.Ingredients["judge.prompt"] = "x" },
		"values of judge.votes differ: none and 3": func(m *runs.Manifest) { m.Ingredients["judge.votes"] = "3" },
	} {
		other := write(t, "other", rows, change)
		r := runsOf(t, base, compare.Options{Metrics: quantities(t, "char_f1"), More: quantities(t, "citation_correctness")}, other)
		if m := found(t, r, "char_f1", "s"); m.Differences[0].Word != compare.Same || m.Reason != "" {
			t.Errorf("%s: %+v", want, m)
		}
		l, err := compare.NewLookup(base, other, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Difference("", "", quantities(t, "citation_correctness")[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if d, err := l.Difference("", "", quantities(t, "char_f1")[0]); err != nil || d.N != 2 {
			t.Errorf("%+v, %v", d, err)
		}
		judged := slices.Clone(rows)
		for i := range judged {
			judged[i].correct = new(0.5)
		}
		r = runsOf(t, write(t, "base", judged, nil), compare.Options{Metrics: quantities(t, "citation_correctness")}, write(t, "other", judged, change))
		if m := found(t, r, "citation_correctness", "s"); m.Reason != want || len(m.Differences) != 0 {
			t.Errorf("%+v, want %s", m, want)
		}
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
	o := compare.Options{Metrics: quantities(t, "char_f1", "micro(char_f1)", "exact_match"), Slices: []string{"lang"}}
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
		if diff := gocmp.Diff(want, r, nearly); diff != "" {
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
