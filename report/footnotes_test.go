package report

import (
	"bytes"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

func TestCoverageNote(t *testing.T) {
	row := func(coverage float64, bounds ...float64) runs.SummaryRow {
		r := runs.SummaryRow{Coverage: &coverage}
		if len(bounds) == 2 {
			r.BoundLow, r.BoundHigh = &bounds[0], &bounds[1]
		}
		return r
	}
	tests := []struct {
		name         string
		macro, micro runs.SummaryRow
		want         string
	}{
		{"not judged", runs.SummaryRow{}, runs.SummaryRow{}, ""},
		{"all scored", row(1, 0.5, 0.5), row(1, 0.5, 0.5), ""},
		{"macro only", row(0.65, 0.42, 0.77), runs.SummaryRow{}, "0.65 of it was scored: with the rest it would be between 0.42 and 0.77"},
		{"both alike", row(0.5, 0, 1), row(0.5, 0, 1), "0.5 of it was scored: with the rest it would be between 0 and 1"},
		{"the micro value has others", row(0.65, 0.42, 0.77), row(0.65, 0.4, 0.75), "0.65 of it was scored: with the rest it would be between 0.42 and 0.77"},
		{"micro only", row(0.65), row(0.65, 0.4, 0.75), "0.65 of it was scored: with the rest it would be micro between 0.4 and 0.75"},
		{"no bounds", row(0.65), runs.SummaryRow{}, "0.65 of it was scored: the rest could change it by any amount"},
		{"nearly all", row(0.99999, 0.1, 0.2), runs.SummaryRow{}, "over 0.999 of it was scored: with the rest it would be between 0.1 and 0.2"},
		{"the rest settled", row(0.65, 0.42, 0.42), row(0.65, 0.4, 0.4), "0.65 of it was scored: with the rest it would be 0.42"},
		{"nothing", row(0, 0, 1), runs.SummaryRow{}, "0 of it was scored: with the rest it would be between 0 and 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := coverageNote(&summaryLine{Macro: tt.macro, Micro: tt.micro}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// slicedSummary has two systems, a slice with two values, and a note that only
// one of the slices has.
func slicedSummary() *Summary {
	value := 0.5
	var rows []runs.SummaryRow
	for _, system := range []string{"", "a", "b"} {
		for _, slice := range []string{"", "lang=de", "lang=en"} {
			r := runs.SummaryRow{System: system, Slice: slice, Metric: "char_f1", Agg: runs.Macro, N: 2, Estimate: &value, Level: 0.95}
			if system == "a" && slice == "lang=de" {
				r.Warnings = []string{"few rows"}
			}
			rows = append(rows, r)
		}
	}
	m := &runs.Manifest{ID: "x", Rows: 8, Judge: runs.JudgeRecord{Kind: "lexical", Baseline: true}}
	return NewSummary(m, rows, nil)
}

// A note is there only if what it is about is.
func TestNotesOfWhatIsShown(t *testing.T) {
	by, ok := slicedSummary().By("lang")
	if !ok {
		t.Fatal("no lang")
	}
	for _, tt := range []struct {
		name    string
		summary *Summary
		options TextOptions
		want    bool
	}{
		{"systems", slicedSummary(), TextOptions{}, false},
		{"all", slicedSummary(), TextOptions{All: true}, true},
		{"by lang", by, TextOptions{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := tt.summary.Write(&out, "text", tt.options); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "\n¹ few rows\n"); got != tt.want {
				t.Errorf("note shown: %t, want %t:\n%s", got, tt.want, &out)
			}
		})
	}
}

func TestBy(t *testing.T) {
	s := slicedSummary()
	for _, field := range []string{"", "lan", "lang=de", "topic"} {
		if _, ok := s.By(field); ok {
			t.Errorf("grouped by %q", field)
		}
	}
	by, _ := s.By("lang")
	var out bytes.Buffer
	if err := by.Write(&out, "text", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = `x, by lang: 8 answers.

all systems
macro, 95 %     de  n     en  n
char_f1      0.500  2  0.500  2

system a
macro, 95 %     de   n     en  n
char_f1      0.500  2¹  0.500  2

system b
macro, 95 %     de  n     en  n
char_f1      0.500  2  0.500  2

every metric, with -v

¹ few rows
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &out, want)
	}
	out.Reset()
	if err := by.Write(&out, "csv", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 7 || strings.Contains(out.String(), "\na,,") {
		t.Errorf("%d lines, want a header and 6 rows of slices:\n%s", n, &out)
	}
}

// TestSlightCoverageNote: metrics that are nearly scored whole share one note,
// whatever their bounds.
func TestSlightCoverageNote(t *testing.T) {
	line := func(coverage, low, high float64) *summaryLine {
		return &summaryLine{Macro: runs.SummaryRow{Coverage: &coverage, BoundLow: &low, BoundHigh: &high}}
	}
	a, b := coverageNote(line(0.97, 0.60, 0.64)), coverageNote(line(0.99, 0.10, 0.11))
	if a == "" || a != b {
		t.Errorf("notes %q and %q, want one", a, b)
	}
	for _, l := range []*summaryLine{line(0.97, 0.60, 0.66), line(0.89, 0.60, 0.61)} {
		if got := coverageNote(l); got == a {
			t.Errorf("coverage %v, bounds %v to %v: the shared note", *l.Macro.Coverage, *l.Macro.BoundLow, *l.Macro.BoundHigh)
		}
	}
}
