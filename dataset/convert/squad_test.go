package convert

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
)

var squadSample = filepath.Join("testdata", "squad", "harbour.json")

// TestSquad converts a sample that counts UTF-16 units, but for one text, so that no unit is
// proved; it has something wrong in each way, and the rest is kept.
func TestSquad(t *testing.T) {
	m, report := importPath(t, "squad", squadSample, Options{Docs: true})
	if report.Records != 7 || report.Rows != 4 || report.Failed != 3 || report.Documents != 2 {
		t.Errorf("report: %+v", report)
	}
	if report.Proved != 1 || report.Repaired != 4 || report.Degenerate != 1 || report.Files[0].Source.Reading != "codepoint_exclusive" {
		t.Errorf("offsets: %+v, %+v", report, report.Files)
	}
	wantErrors(t, report.Errors,
		squadSample+`:41:92: data[0].paragraphs[1].qas[1].answers[0].answer_start: want a number, got a string`,
		squadSample+`:42:7: the answer of system "default" to "p-4" is there twice`,
		squadSample+`:45:5: data[0].paragraphs[2].context: missing`,
	)
	one := ibid.Some[int64]
	mark := func(annotator, doc string, start, end int64) ibid.Mark {
		return ibid.Mark{Annotator: annotator, Doc: doc, Start: one(start), End: one(end)}
	}
	want := map[string][]ibid.Mark{
		"p-1": {mark("1", "Port Lindow", 28, 32), mark("2", "Port Lindow", 25, 32), mark("3", "Port Lindow", 28, 32)},
		"p-2": nil,
		"p-3": {mark("1", "Port Lindow", 45, 63)},
		"p-4": {mark("1", "Port Lindow#2", 14, 24)},
	}
	for i := range m.rows {
		r := &m.rows[i]
		if diff := cmp.Diff(want[r.ID], r.Truth); diff != "" || !r.HasTruth || r.HasCitations || len(r.Documents) != 1 || !r.Documents[0].NameOnly() {
			t.Errorf("%s: truth (-want +got):\n%s%+v", r.ID, diff, r)
		}
	}
	if tag, _ := m.rows[2].Tag(referenceTag); tag != `{"answers[1]":{"text":"4.2 m tonnes","answer_start":-1}}` {
		t.Errorf("p-3 keeps %s", tag)
	}
	m, _ = importPath(t, "squad", squadSample, Options{})
	if d := m.rows[3].Documents; len(d) != 1 || d[0].Doc != "Port Lindow#2" || d[0].Metadata != `{"version":"v2.0"}` {
		t.Errorf("own documents: %+v", d)
	}
}

// TestSquadPublished converts CMRC 2018 and compares how far its annotators agree
// with figures of an independent program.
func TestSquadPublished(t *testing.T) {
	var want struct {
		Questions int64
		Counts    map[string]int64
		Agreement map[string]float64
	}
	data, err := os.ReadFile(shared(t, "expected", "cmrc2018.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	m, report := importPath(t, "squad", shared(t, "data", "cmrc2018", "cmrc2018_dev.subset.json"), Options{Docs: true})
	if report.Rows != want.Questions || report.Failed != 0 || report.Documents != want.Counts["contexts"] || report.Spans != want.Counts["answers"] {
		t.Errorf("report: %+v", report)
	}
	if report.Proved != want.Counts["aligned_u16"] || report.Readings["utf16_exclusive"] != want.Counts["aligned_u16"] || report.Degenerate != want.Counts["start_negative"] {
		t.Errorf("proved %d, degenerate %d, readings %v; want %v", report.Proved, report.Degenerate, report.Readings, want.Counts)
	}
	got := map[string]float64{}
	for i := range m.rows {
		truth := m.rows[i].Truth
		for a := range truth {
			for b := range a {
				x, y := &truth[a], &truth[b]
				both := float64(max(0, min(x.End.Value, y.End.Value)-max(x.Start.Value, y.Start.Value)))
				sum := float64(x.End.Value - x.Start.Value + y.End.Value - y.Start.Value)
				got["pairs"]++
				got["macro_char_jaccard"] += both / (sum - both)
				got["macro_char_f1"] += 2 * both / sum
				if x.Start == y.Start && x.End == y.End {
					got["exact"]++
				}
				if both > 0 {
					got["overlap"]++
				}
			}
		}
	}
	for name, value := range want.Agreement {
		mine := got[name]
		if name != "pairs" {
			mine /= got["pairs"]
		}
		if math.Abs(mine-value) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, mine, value)
		}
	}
}

// FuzzSquad imports any bytes. What comes of them must be valid, add up, and be the
// same if it is done again; every truth is in its document.
func FuzzSquad(f *testing.F) {
	data, err := os.ReadFile(squadSample)
	if err != nil {
		f.Fatal(err)
	}
	var short bytes.Buffer
	if err := json.Compact(&short, data); err != nil {
		f.Fatal(err)
	}
	f.Add(short.Bytes())
	f.Add([]byte(`{"data":[{"paragraphs":[{"context":"a b","qas":[{"id":1,"question":"q","answers":[{"text":"b","answer_start":9}]}]}]},7]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, report, err := imported(t, "squad", data)
		again, reportAgain, _ := imported(t, "squad", data)
		if diff := cmp.Diff(m.rows, again.rows, cmpopts.EquateErrors()) + cmp.Diff(report, reportAgain); diff != "" {
			t.Fatalf("-once +twice:\n%s", diff)
		}
		if err != nil {
			return
		}
		checkReport(t, &report)
		for i := range m.rows {
			r := &m.rows[i]
			checkRow(t, r)
			length := int64(len([]rune(r.Documents[0].Text)))
			if slices.ContainsFunc(r.Truth, func(m ibid.Mark) bool {
				return m.Doc != r.Documents[0].Doc || m.Start.Value < 0 || m.Start.Value >= m.End.Value || m.End.Value > length
			}) {
				t.Errorf("truth that is no place: %+v", r)
			}
		}
	})
}
