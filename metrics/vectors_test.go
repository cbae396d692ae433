package metrics

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ibid"
	"ibid/metrics/span"
)

// A spanCase is one case of the shared span vectors. The cases of
// testdata/spans.json have the same form; their expected values were computed
// with sets of single characters and exact fractions.
type spanCase struct {
	ID          string
	Tolerance   int64
	Truth, Pred []vectorSpan
	Expected    struct {
		ValidTruth       int64 `json:"valid_truth"`
		ValidPred        int64 `json:"valid_pred"`
		DroppedTruth     []int `json:"dropped_truth"`
		DroppedPred      []int `json:"dropped_pred"`
		TruthChars       int64 `json:"truth_chars"`
		PredChars        int64 `json:"pred_chars"`
		Intersection     int64
		Union            int64
		Precision        *float64
		Recall           *float64
		F1               *float64
		Jaccard          *float64
		TolPredChars     int64       `json:"tol_pred_chars"`
		TolIntersection  int64       `json:"tol_intersection"`
		TolUnion         int64       `json:"tol_union"`
		ToleranceJaccard *float64    `json:"tolerance_jaccard"`
		BestMatches      []bestMatch `json:"best_matches"`
		MeanExactJaccard *float64    `json:"mean_exact_jaccard"`
		MeanTolerance    *float64    `json:"mean_tolerance_jaccard"`
		PerfectMatches   int64       `json:"perfect_matches"`
		GoodMatches      int64       `json:"good_matches"`
		Alt              struct {
			BestByExact          []bestMatch `json:"best_by_exact"`
			MeanBestExactJaccard *float64    `json:"mean_best_exact_jaccard"`
			ExactHits            int64       `json:"exact_hits"`
			BoundaryHits         int64       `json:"boundary_hits"`
		}
	}
}

type bestMatch struct {
	Truth            int
	Pred             *int
	ExactJaccard     float64 `json:"exact_jaccard"`
	ToleranceJaccard float64 `json:"tolerance_jaccard"`
}

// A vectorSpan is [doc, page, start, end].
type vectorSpan struct {
	doc        string
	page       int32
	start, end int64
}

func (v *vectorSpan) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&v.doc, &v.page, &v.start, &v.end})
}

func (v vectorSpan) place() ibid.Place {
	return ibid.Place{
		Doc: v.doc, Page: v.page, Status: ibid.CheckSpan(v.start, v.end), Start: v.start, End: v.end,
		FirstPage: v.page, LastPage: v.page,
	}
}

func loadSpanCases(t *testing.T, path string) []spanCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing: the shared vectors are not here", filepath.Dir(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []spanCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestSpanVectors(t *testing.T) {
	tests := []struct {
		name, path string
		cases      int
	}{
		{"own", filepath.Join("testdata", "spans.json"), 16},
		{"shared", filepath.Join("..", "..", "shared", "vectors", "spans_public.json"), 300},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cases := loadSpanCases(t, tt.path)
			if len(cases) != tt.cases {
				t.Fatalf("%s holds %d cases, want %d", tt.path, len(cases), tt.cases)
			}
			for _, c := range cases {
				t.Run(c.ID, func(t *testing.T) { checkSpanCase(t, c) })
			}
		})
	}
}

func checkSpanCase(t *testing.T, c spanCase) {
	o := DefaultOptions()
	o.Tolerance = c.Tolerance
	row := Row{Answer: ibid.Answer{HasTruth: true, HasCitations: true}}
	for _, v := range c.Truth {
		row.Truth = append(row.Truth, ibid.Mark{Place: v.place()})
	}
	for _, v := range c.Pred {
		row.Citations = append(row.Citations, ibid.Citation{Place: v.place()})
	}
	got := score(t, o, &row)
	e := &c.Expected
	for count, want := range map[Count]int64{
		TruthSpans: e.ValidTruth, PredSpans: e.ValidPred,
		TruthChars: e.TruthChars, PredChars: e.PredChars, OverlapChars: e.Intersection,
		PerfectMatches: e.PerfectMatches, GoodMatches: e.GoodMatches,
		Citations: int64(len(c.Pred)),
	} {
		wantCount(t, got, count, want)
	}
	for metric, want := range map[Metric]*float64{
		CharPrecision: e.Precision, CharRecall: e.Recall, CharF1: e.F1, CharJaccard: e.Jaccard,
		MeanExactJaccard: e.MeanExactJaccard, MeanToleranceJaccard: e.MeanTolerance,
	} {
		value, ok := got.Value(metric)
		if ok != (want != nil) || ok && math.Abs(value-*want) > 1e-12 {
			t.Errorf("%v = %v, %v, want %v", metric, value, got.Reasons[metric], deref(want))
		}
	}
	checkBest(t, c, &row)
}

func deref(p *float64) any {
	if p == nil {
		return "undefined"
	}
	return *p
}

// checkBest compares the best match of each truth span.
func checkBest(t *testing.T, c spanCase, row *Row) {
	var truth, pred []span.Span
	var truthAt, predAt, droppedTruth, droppedPred []int
	var keys names
	for i, a := range row.Truth {
		truth, truthAt, droppedTruth = enterPlace(truth, truthAt, droppedTruth, i, &a.Place, &keys)
	}
	for i, p := range row.Citations {
		pred, predAt, droppedPred = enterPlace(pred, predAt, droppedPred, i, &p.Place, &keys)
	}
	if !slices.Equal(droppedTruth, c.Expected.DroppedTruth) || !slices.Equal(droppedPred, c.Expected.DroppedPred) {
		t.Errorf("dropped %v and %v, want %v and %v", droppedTruth, droppedPred, c.Expected.DroppedTruth, c.Expected.DroppedPred)
	}
	e := &c.Expected
	var compare span.Comparer
	z := compare.Sizes(truth, pred, c.Tolerance)
	got := [...]int64{z.Union, z.WidePred, z.WideOverlap, z.WideUnion}
	if want := [...]int64{e.Union, e.TolPredChars, e.TolIntersection, e.TolUnion}; got != want || !isQuotient(e.ToleranceJaccard, float64(z.WideOverlap), float64(z.WideUnion)) {
		t.Errorf("sizes %+v, want %v and %v", z, want, deref(e.ToleranceJaccard))
	}
	m := compare.Match(truth, pred, c.Tolerance, 0.5)
	best, hits, boundary := 0.0, int64(0), int64(0)
	for _, x := range m.Truth {
		best += x.BestExact.Float()
		if x.ExactHit {
			hits++
		}
		if x.BoundaryHit {
			boundary++
		}
	}
	if hits != e.Alt.ExactHits || boundary != e.Alt.BoundaryHits || !isQuotient(e.Alt.MeanBestExactJaccard, best, float64(len(truth))) {
		t.Errorf("%d exact hits, %d boundary hits, sum %v of best Jaccard, want %+v", hits, boundary, best, e.Alt)
	}
	for i, x := range m.Truth {
		want, exact := c.Expected.BestMatches[i], c.Expected.Alt.BestByExact[i]
		if truthAt[i] != want.Truth || !samePred(x.Pred, predAt, want.Pred) || x.Exact.Float() != want.ExactJaccard || x.Tolerance.Float() != want.ToleranceJaccard {
			t.Errorf("best match of truth %d = %+v, want %+v", truthAt[i], x, want)
		}
		if !samePred(x.BestExactPred, predAt, exact.Pred) || x.BestExact.Float() != exact.ExactJaccard {
			t.Errorf("best exact match of truth %d = %d with %v, want %+v", truthAt[i], x.BestExactPred, x.BestExact, exact)
		}
	}
}

// isQuotient reports whether num/den is what is wanted, nil if den is 0.
func isQuotient(want *float64, num, den float64) bool {
	return (want == nil) == (den == 0) && (want == nil || math.Abs(num/den-*want) <= 1e-12)
}

func enterPlace(spans []span.Span, at, dropped []int, i int, p *ibid.Place, keys *names) (s []span.Span, a, d []int) {
	if !p.InSets() {
		return spans, at, append(dropped, i)
	}
	key, _ := keys.codes(p.Doc, p.Page)
	return append(spans, span.Span{Key: key, Start: int32(p.Start), End: int32(p.End)}), append(at, i), dropped
}

func samePred(got int32, at []int, want *int) bool {
	if got < 0 || want == nil {
		return got < 0 && want == nil
	}
	return at[got] == *want
}
