package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"ibid/annotations"
	"ibid/dataset/runs"
)

// judgedByPeople are 40 claims: a judge that is too sure of itself, and people.
func judgedByPeople() []annotations.Verdict {
	var items []annotations.Verdict
	for i := range 40 {
		v := annotations.Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint("document ", i/2), Judge: float64(i%10) / 9}
		if i%10 >= 4 && i%7 != 0 {
			v.Human = 1
		}
		items = append(items, v)
	}
	return items
}

func calibrationOf(kind string, items []annotations.Verdict) *annotations.Calibration {
	return annotations.Calibrate(kind, "some/model", items, annotations.CalibrateOptions{
		Options: annotations.Options{Level: 0.95}, Threshold: 0.7, Positive: 0.7, Bins: 10,
	})
}

func TestSavedCalibrationIsReadBack(t *testing.T) {
	dir := t.TempDir()
	items := judgedByPeople()
	k := calibrationOf("claim support", items)
	if k.Isotonic == nil && k.Best == nil {
		t.Fatal("nothing beyond the confusion to be saved")
	}
	want := &Calibration{Title: "judge some/model against people", Of: "night", Kinds: []*annotations.Calibration{k, calibrationOf("factual", nil)}}
	if err := SaveCalibration(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCalibration(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Empty lists are lists in JSON.
	empty := cmp.FilterValues(func(x, y []string) bool { return len(x) == 0 && len(y) == 0 }, cmp.Ignore())
	if diff := cmp.Diff(want, got, empty); diff != "" {
		t.Errorf("saved and read back:\n%s", diff)
	}
	if c, err := ReadCalibration(t.TempDir()); c != nil || err != nil {
		t.Errorf("a run without a calibration has %v, %v", c, err)
	}
}

func TestPageShowsCalibration(t *testing.T) {
	data := harbour().run(t)
	yesNo := []annotations.Verdict{
		{Item: "1", Cluster: "a", Human: 1, Judge: 1}, {Item: "2", Cluster: "b", Human: 0, Judge: 1}, {Item: "3", Cluster: "c", Human: 0, Judge: 0},
	}
	c := &Calibration{Of: data.Manifest.ID, Kinds: []*annotations.Calibration{
		calibrationOf("citation support", nil), calibrationOf("claim support", judgedByPeople()), calibrationOf("needs_citation", yesNo),
	}}
	if err := SaveCalibration(data.Dir, c); err != nil {
		t.Fatal(err)
	}
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	a := view[judgeView](p).Runs[0].Against
	if a == nil || len(a.Kinds) != 2 || len(a.Others) != 1 {
		t.Fatalf("calibration = %+v", a)
	}
	claims := a.Kinds[0]
	x := c.Kinds[1].Confusion
	if got, want := claims.Matrix.Rows[0].Yes.Count, fmt.Sprint(x.TP); got != want {
		t.Errorf("accepted by both: %s, want %s", got, want)
	}
	if got, want := claims.Lines[0].Value, number(float64(x.TP)/float64(x.TP+x.FN)); claims.Lines[0].Name != "Sensitivity" || got != want {
		t.Errorf("%s = %s, want %s", claims.Lines[0].Name, got, want)
	}
	if o := a.Others[0]; o.Name != "Needs citation" || o.Found != "1 of 1" || o.Passed != "1 of 2" || !strings.HasPrefix(o.Specificity, "0.500 [") {
		t.Errorf("other question = %+v", o)
	}
	if none := a.Kinds[1]; none.Says != "People accept none of the citations. People reject none of them." || none.Chart != nil || none.Lines[0].Value != "–" || none.Lines[0].Strip.X != "" {
		t.Errorf("of no items: %+v", none)
	}
	goldenPicture(t, "curve.html", "curve", claims.Chart)

	html := writePage(t, p)
	for _, want := range []string{"It accepts ", "Compared with the labels that people gave in this run.", "Best threshold: "} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(writePage(t, harbour().page(t, PageOptions{})), "people accept") {
		t.Error("a run that nobody compared with people shows a calibration")
	}
}

// TestRegionsHaveNamesOfTheirOwn: two runs side by side have everything twice, but
// no two regions of the page have one name.
func TestRegionsHaveNamesOfTheirOwn(t *testing.T) {
	var both []RunData
	for _, id := range []string{"monday", "tuesday"} {
		f := harbour()
		f.manifest.ID = id
		f.summary[0].Corrected, f.summary[0].CorrectedLow, f.summary[0].CorrectedHigh = new(0.7), new(0.6), new(0.8)
		data := f.run(t)
		c := &Calibration{Of: id, Kinds: []*annotations.Calibration{calibrationOf("claim support", judgedByPeople()), calibrationOf("factual", nil)}}
		if err := SaveCalibration(data.Dir, c); err != nil {
			t.Fatal(err)
		}
		if err := runs.WriteAgreement(data.Dir, agreementRows()); err != nil {
			t.Fatal(err)
		}
		both = append(both, data)
	}
	p, err := newPage(t.Context(), PageOptions{}, both...)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`role="region" aria-label="([^"]*)"`).FindAllStringSubmatch(writePage(t, p), -1) {
		if seen[m[1]] {
			t.Errorf("two regions are called %q", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) < 10 {
		t.Errorf("regions: %v", sortedKeys(seen))
	}
}

// TestCurveIsWhereItBelongs computes places in the picture by hand.
func TestCurveIsWhereItBelongs(t *testing.T) {
	k := &annotations.Calibration{Bins: 10, Threshold: 0.5, EqualWidth: []annotations.CalibrationBin{
		{Index: 0, Count: 5, MeanScore: 0, PositiveRate: 0},
		{Index: 7, Count: 10, MeanScore: 0.8, PositiveRate: 0.6, Low: new(0.4), High: new(0.8)},
	}}
	c := newCurveChart("curve", k)
	if want := (curvePoint{X: "240.0", Y: "110.0", Low: "160.0", High: "60.0", Interval: true, Scores: "0.7 to 0.8", Mean: "0.800", Share: "0.600", Between: "[0.400, 0.800]", Items: "10"}); c.Points[1] != want {
		t.Errorf("point = %+v, want %+v", c.Points[1], want)
	}
	if c.Points[0].Interval || c.Points[0].X != "40.0" || c.Points[0].Y != "260.0" {
		t.Errorf("point at 0 = %+v", c.Points[0])
	}
	if b := c.Bars[0]; b.Height != "22.0" || b.Y != "330.0" {
		t.Errorf("a bar half as tall as the tallest = %+v", b)
	}
	if c.Threshold != "165.0" || c.Line != "40.0,260.0 240.0,110.0" {
		t.Errorf("threshold at %s, line %s", c.Threshold, c.Line)
	}
}
