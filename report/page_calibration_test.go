package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/report/doc"

	"github.com/google/go-cmp/cmp"
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
		Options: annotations.Options{Level: 0.95}, Threshold: 0.7,
	})
}

func TestSavedCalibrationIsReadBack(t *testing.T) {
	dir := t.TempDir()
	items := judgedByPeople()
	k := calibrationOf("claim support", items)
	if k.Best == nil {
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
	judge := doc.FormatText(doc.TextOptions{Width: 200, All: true}, docView(t, p, "judge"))
	x := c.Kinds[1].Confusion
	for _, want := range []string{
		"people yes  " + fmt.Sprintf("%9d", x.TP), "\nsensitivity ", number(float64(x.TP) / float64(x.TP+x.FN)), "\nIt accepts 1 of the 1 that people accept. Of the 2 that people reject it accepts 1.\n",
		"\nPeople accept none of them. People reject none of them.\n", "\n0.6 to 0.8 ", "\nneeds_citation: 3 items of 3 documents, yes from 0.7 on\n",
	} {
		if !strings.Contains(judge, want) {
			t.Errorf("no %q in\n%s", want, judge)
		}
	}
	if claims, citations := strings.Index(judge, "claim support: "), strings.Index(judge, "citation support: "); claims < 0 || citations < claims {
		t.Errorf("claims at %d, citations at %d: claims come first", claims, citations)
	}

	html := writePage(t, p)
	for _, want := range []string{"It accepts ", "Compared with the labels that people gave in this run.", "best threshold: "} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(writePage(t, harbour().page(t, PageOptions{})), "people yes") {
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
		if err := runs.Agreement.Write(data.Dir, agreementRows()); err != nil {
			t.Fatal(err)
		}
		both = append(both, data)
	}
	p, err := newPage(t.Context(), PageOptions{}, both...)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`role="(?:region|group)" aria-label="([^"]*)"`).FindAllStringSubmatch(writePage(t, p), -1) {
		if seen[m[1]] {
			t.Errorf("two regions are called %q", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) < 10 {
		t.Errorf("regions: %v", sortedKeys(seen))
	}
}
