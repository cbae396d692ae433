package harness_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
)

// writeRows writes rows as a dataset and returns its path.
func writeRows(t *testing.T, rows []*ibid.Answer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluate runs a dataset and returns the run directory.
func evaluate(t *testing.T, path string, settings ...string) string {
	t.Helper()
	return done(t, harness.Job{Source: path}, append([]string{"dataset=" + path, "judge=none", "out=" + t.TempDir(), "id=run"}, settings...)...)
}

// questions makes rows of several systems over shared documents; every third row
// cites nothing, every fifth has no truth.
func questions(n int, systems ...string) []*ibid.Answer {
	rng := rand.New(rand.NewPCG(7, 7))
	known := func(v int64) ibid.Integer { return ibid.Some(v) }
	var rows []*ibid.Answer
	for i := range n {
		doc := fmt.Sprintf("doc-%d", i%7)
		start := rng.Int64N(500)
		for k, system := range systems {
			r := &ibid.Answer{
				ID: fmt.Sprintf("q-%03d", i), System: system, Query: "q", Answer: "an answer",
				HasCitations: true, HasTruth: i%5 != 0,
				Tags: []ibid.Tag{{Key: "lang", Value: []string{"de", "en"}[i%2]}},
			}
			if r.HasTruth {
				r.Truth = []ibid.Mark{{Doc: doc, Start: known(start), End: known(start + 60)}}
			}
			if (i+k)%3 != 0 {
				at := start + rng.Int64N(40)
				r.Citations = []ibid.Citation{{Doc: doc, Start: known(at), End: known(at + 50)}}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// scored is what the naive check reads of a row.
type scored struct {
	system, cluster, lang string
	value, num, den       float64
	defined               bool
}

// readScored reads char_f1 and its parts from rows.parquet.
func readScored(t *testing.T, dir string) []scored {
	t.Helper()
	f, err := parquet.OpenResult(filepath.Join(dir, runs.RowsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []scored
	for i := range f.Rows() {
		cells, err := f.ReadRow(i)
		if err != nil {
			t.Fatal(err)
		}
		by := make(map[string]parquet.Cell)
		for c, field := range f.Fields() {
			by[field.Name] = cells[c]
		}
		cluster := by["id"].Text
		if !by["cluster"].Null {
			cluster = by["cluster"].Text
		}
		out = append(out, scored{
			system: by["system"].Text, cluster: cluster, lang: by["tags"].Texts[0],
			value: by["char_f1"].Double, defined: !by["char_f1"].Null,
			num: 2 * float64(by["overlap_chars"].Int), den: float64(by["truth_chars"].Int + by["pred_chars"].Int),
		})
	}
	return out
}

// clustered computes a ratio of sums with its CR1 standard error from the
// definition, in the plainest way.
func clustered(rows []scored, y, x func(scored) float64) (ratio, se float64, clusters int) {
	sumY, sumX := 0.0, 0.0
	for _, r := range rows {
		sumY += y(r)
		sumX += x(r)
	}
	ratio = sumY / sumX
	residual := make(map[string]float64)
	for _, r := range rows {
		residual[r.cluster] += y(r) - ratio*x(r)
	}
	square := 0.0
	for _, d := range residual {
		square += d * d
	}
	g := float64(len(residual))
	return ratio, math.Sqrt(g/(g-1)*square) / sumX, len(residual)
}

func TestSummaryAgainstDefinition(t *testing.T) {
	path := writeRows(t, questions(60, "a", "b", "c"))
	for _, cluster := range []string{"id", "doc"} {
		t.Run("cluster="+cluster, func(t *testing.T) {
			dir := evaluate(t, path, "statistics.cluster="+cluster, "slices=[lang]")
			rows := readScored(t, dir)
			summary, err := runs.ReadSummary(dir)
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, s := range summary {
				if s.Metric != "char_f1" {
					continue
				}
				checked++
				checkGroup(t, s, rows)
			}
			if want := 2 * 4 * 3; checked != want { // agg × systems and all × slices and all
				t.Errorf("%d summary rows of char_f1, want %d", checked, want)
			}
		})
	}
}

func checkGroup(t *testing.T, s runs.SummaryRow, rows []scored) {
	t.Helper()
	var in []scored
	undefined := int64(0)
	for _, r := range rows {
		if s.System != "" && r.system != s.System || s.Slice != "" && "lang="+r.lang != s.Slice {
			continue
		}
		if !r.defined {
			undefined++
			continue
		}
		in = append(in, r)
	}
	value, one := func(r scored) float64 { return r.value }, func(scored) float64 { return 1 }
	if s.Agg == runs.Micro {
		value, one = func(r scored) float64 { return r.num }, func(r scored) float64 { return r.den }
	}
	want, se, clusters := clustered(in, value, one)
	name := fmt.Sprintf("%q %q %s", s.System, s.Slice, s.Agg)
	if s.N != int64(len(in)) || s.Undefined != undefined || s.Clusters != int64(clusters) {
		t.Errorf("%s: n %d, undefined %d, clusters %d; want %d, %d, %d", name, s.N, s.Undefined, s.Clusters, len(in), undefined, clusters)
	}
	if want := float64(len(in)) / float64(int64(len(in))+undefined); s.DefinedShare == nil || *s.DefinedShare != want {
		t.Errorf("%s: defined in a share of %v of the rows, want %v", name, s.DefinedShare, want)
	}
	if math.Abs(*s.Estimate-want) > 1e-12 {
		t.Errorf("%s: estimate %v, want %v", name, *s.Estimate, want)
	}
	if s.Agg == runs.Macro { // a symmetric interval, from which the standard error can be read
		half := (*s.High - *s.Low) / 2
		if half < se || half > 3*se {
			t.Errorf("%s: half width %v does not fit a standard error of %v", name, half, se)
		}
	}
}

// TestSummaryWithoutOrder shuffles the rows and changes the number of workers:
// the summary must not move by a bit.
func TestSummaryWithoutOrder(t *testing.T) {
	chained := questions(80, "a", "b")
	for i, r := range chained {
		for k := range r.Truth {
			r.Truth[k].Doc = fmt.Sprint("doc-", i%61)
		}
		r.Truth = append(r.Truth, ibid.Mark{Doc: fmt.Sprint("doc-", i*7%61), Start: ibid.Some(int64(i)), End: ibid.Some(int64(i + 40))})
		r.HasTruth = true
	}
	read := func(dir string) string {
		summary, err := runs.ReadSummary(dir)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, s := range summary {
			text += fmt.Sprintln(s.System, s.Slice, s.Metric, s.Agg, s.N, s.Undefined, bits(s.Estimate), bits(s.Low), bits(s.High), bits(s.SE), bits(s.NaiveLow), s.Method, s.Clusters, s.Warnings)
		}
		return text
	}
	for _, c := range []struct {
		cluster, method string
		rows            []*ibid.Answer
	}{
		{"doc", "logit-t-cr3", questions(80, "a", "b")},
		{"auto", "logit-t-cr3/components", questions(80, "a", "b")},
		{"auto", "logit-t/pairs", chained},
		{"auto", "logit-t/documents", chained[:60]},
	} {
		settings := []string{"statistics.cluster=" + c.cluster, "slices=[lang]"}
		want := read(evaluate(t, writeRows(t, c.rows), settings...))
		if !strings.Contains(want, c.method+" ") {
			t.Errorf("no interval by %s in\n%s", c.method, want)
		}
		for seed := range uint64(3) {
			rng := rand.New(rand.NewPCG(seed, 1))
			shuffled := slices.Clone(c.rows)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if got := read(evaluate(t, writeRows(t, shuffled), settings...)); got != want {
				t.Fatalf("%s: shuffle %d changes the summary", c.method, seed)
			}
		}
	}
}

// TestSharedSecondDocument: questions that share a document are not independent, be it the
// first that their truth names or another; what their intervals would have been if they
// were is said of every number that has another one.
func TestSharedSecondDocument(t *testing.T) {
	rows := questions(40, "a")
	for i, r := range rows {
		mark := func(doc string) ibid.Mark {
			return ibid.Mark{Doc: doc, Start: ibid.Some(int64(0)), End: ibid.Some(int64(50))}
		}
		r.Truth, r.HasTruth = []ibid.Mark{mark(fmt.Sprint("own ", i)), mark(fmt.Sprint("shared ", i/10))}, true
		r.Citations = []ibid.Citation{{Doc: fmt.Sprint("own ", i), Start: ibid.Some(int64(0)), End: ibid.Some(int64(50 * (i / 20)))}}
	}
	path := writeRows(t, rows)
	for cluster, want := range map[string]int64{"auto": 4, "doc": 40, "id": 40} {
		summary, err := runs.ReadSummary(evaluate(t, path, "statistics.cluster="+cluster))
		if err != nil {
			t.Fatal(err)
		}
		naive := 0
		for _, r := range summary {
			if r.N == 40 && r.Clusters != want {
				t.Errorf("%s: %s of %d clusters, want %d", cluster, r.Metric, r.Clusters, want)
			}
			if d, ok := metrics.Lookup(r.Metric); r.NaiveLow != nil && ok && d.Kind == metrics.Binary {
				naive++
			}
		}
		if (naive > 0) != (cluster == "auto") || naive%4 != 0 { // macro and micro, of the system and of all
			t.Errorf("%s: %d lines of 0/1 metrics say what the interval of independent rows would be", cluster, naive)
		}
	}
}

func bits(v *float64) any {
	if v == nil {
		return nil
	}
	return math.Float64bits(*v)
}

// TestIntervalsWithinBounds: no interval of a summary leaves the bounds of a metric that has two,
// with few rows, shared documents and several systems; the old method's do.
func TestIntervalsWithinBounds(t *testing.T) {
	path := writeRows(t, questions(12, "a", "b"))
	for method, want := range map[string]bool{"auto": true, runs.CR1: false} {
		dir := evaluate(t, path, "statistics.cluster=doc", "slices=[lang]", "statistics.method="+method)
		summary, err := runs.Summary.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		beyond, within := 0, 0
		for _, r := range summary {
			d, ok := metrics.Lookup(r.Metric)
			if !ok || r.Low == nil || math.IsInf(d.Max, 1) {
				continue
			}
			if *r.Low < d.Min || *r.High > d.Max || *r.Estimate < *r.Low || *r.Estimate > *r.High {
				if beyond++; want {
					t.Errorf("%s of %s %s: %v in [%v, %v] by %s", r.Metric, r.System, r.Slice, *r.Estimate, *r.Low, *r.High, r.Method)
				}
			} else {
				within++
			}
		}
		if within == 0 || (beyond == 0) != want {
			t.Errorf("%s: %d intervals leave the bounds, %d do not", method, beyond, within)
		}
	}
}

// TestUnboundedMetrics: where items are unscored, a metric that has no bounds says none; its
// estimate is not its bounds.
func TestUnboundedMetrics(t *testing.T) {
	var rows []*ibid.Answer
	for i := range 4 {
		r := &ibid.Answer{ID: fmt.Sprintf("q-%d", i), Query: "q", Answer: "One. Two. Three.", HasCitations: true, HasClaims: true, HasLabels: true}
		for k, support := range []float64{1, 0, 1} {
			claim, citation := fmt.Sprint("claim ", k), fmt.Sprint("citation ", k)
			r.Claims = append(r.Claims, ibid.Claim{ClaimID: claim, Text: "A claim."})
			r.Citations = append(r.Citations, ibid.Citation{CitationID: citation, ClaimID: claim, Doc: "d"})
			if k == 2 && i%2 == 1 {
				continue // unscored
			}
			for _, l := range []ibid.Label{{ClaimID: claim}, {CitationID: citation}} {
				l.Annotator, l.Kind, l.Value = "ada", "support", ibid.Some(support)
				r.Labels = append(r.Labels, l)
			}
		}
		rows = append(rows, r)
	}
	summary, err := runs.ReadSummary(evaluate(t, writeRows(t, rows), "judge=human"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"consistency_variance": false, "drb_effective_citations": false, "mean_consistency": true}
	for _, r := range summary {
		bounded, ok := want[r.Metric]
		if !ok || r.Agg != runs.Macro || r.System != "" {
			continue
		}
		delete(want, r.Metric)
		if r.Estimate == nil || r.Unscored == 0 || (r.BoundLow != nil) != bounded {
			t.Errorf("%s: %d unscored, bounds %v, want bounds: %v", r.Metric, r.Unscored, r.BoundLow, bounded)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the summary: %v", want)
	}
}

// TestOwnDocuments: what rows bring along under one name is one document only if its text is.
func TestOwnDocuments(t *testing.T) {
	for text, want := range map[string]int64{"The same text.": 1, "Text number %d.": 40} {
		rows := questions(40, "a")
		for i, r := range rows {
			own := text
			if want > 1 {
				own = fmt.Sprintf(text, i)
			}
			r.Documents, r.HasDocuments = []ibid.Document{{Doc: "1", Text: own, HasText: true}}, true
			mark := ibid.Mark{Doc: "1", Start: ibid.Some[int64](0), End: ibid.Some(int64(1 + i%9))}
			r.Truth, r.HasTruth = []ibid.Mark{mark}, true
			r.Citations = []ibid.Citation{{Doc: "1", Start: ibid.Some[int64](0), End: ibid.Some[int64](5)}}
		}
		summary, err := runs.ReadSummary(evaluate(t, writeRows(t, rows)))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range summary {
			if r.Metric == "char_f1" && r.Clusters != want {
				t.Errorf("%q: %d clusters of %s, want %d", text, r.Clusters, r.Metric, want)
			}
		}
	}
}
