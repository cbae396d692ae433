package report

import (
	"bytes"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// TestCoverage: how much of a metric was scored and what it could be are numbers of its line;
// the notes on them have none, so that many metrics share one.
func TestCoverage(t *testing.T) {
	row := func(coverage float64, bounds ...float64) runs.SummaryRow {
		r := runs.SummaryRow{Coverage: &coverage}
		if len(bounds) == 2 {
			r.BoundLow, r.BoundHigh = &bounds[0], &bounds[1]
		}
		return r
	}
	withheld := row(0.5, 0.342, 0.777)
	withheld.Withhold(runs.Undecided)
	tests := []struct {
		name               string
		macro, micro       runs.SummaryRow
		part, bounds, note string
	}{
		{"not judged", runs.SummaryRow{}, runs.SummaryRow{}, "", "", ""},
		{"all scored", row(1, 0.5, 0.5), row(1, 0.5, 0.5), "", "", ""},
		{"macro only", row(0.65, 0.42, 0.77), runs.SummaryRow{}, "0.65", "0.42–0.77", partlyUnscored},
		{"the micro value has others", row(0.65, 0.42, 0.77), row(0.65, 0.4, 0.75), "0.65", "0.42–0.77", partlyUnscored},
		{"micro only", row(0.65), row(0.65, 0.4, 0.75), "0.65", "micro 0.40–0.75", partlyUnscored},
		{"no bounds", row(0.65), runs.SummaryRow{}, "0.65", "any", partlyUnscored},
		{"nearly all", row(0.99999, 0.1, 0.2), runs.SummaryRow{}, "over 0.999", "0.10–0.20", partlyUnscored},
		{"the rest settled", row(0.65, 0.42, 0.42), row(0.65, 0.4, 0.4), "0.65", "0.42", partlyUnscored},
		{"nothing", row(0, 0, 1), runs.SummaryRow{}, "0", "0.00–1.00", partlyUnscored},
		{"slight", row(0.97, 0.60, 0.64), runs.SummaryRow{}, "0.97", "0.60–0.64", slightlyUnscored},
		{"wide", row(0.97, 0.60, 0.66), runs.SummaryRow{}, "0.97", "0.60–0.66", partlyUnscored},
		{"low", row(0.89, 0.60, 0.61), runs.SummaryRow{}, "0.89", "0.60–0.61", partlyUnscored},
		{"withheld", withheld, runs.SummaryRow{}, "0.5", "0.34–0.78", "too much is undecided: no estimate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &summaryLine{Macro: tt.macro, Micro: tt.micro}
			if part, bounds := l.scored(); part != tt.part || bounds != tt.bounds {
				t.Errorf("%q scored, could be %q, want %q, %q", part, bounds, tt.part, tt.bounds)
			}
			if got := strings.Join(notesOf(l), "; "); got != tt.note {
				t.Errorf("note %q, want %q", got, tt.note)
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
		{"all", slicedSummary(), TextOptions{All: true}, false},
		{"by lang", by, TextOptions{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, tt.summary, "text", tt.options); err != nil {
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
	if err := Write(&out, by, "text", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = `x, by lang: 8 answers.

by lang, all answers
lang  char_f1  n
de      0.500  2
en      0.500  2

by lang, a
lang  char_f1  n
de     0.500¹  2
en      0.500  2

by lang, b
lang  char_f1  n
de      0.500  2
en      0.500  2

every metric, with -v

¹ few rows
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &out, want)
	}
	out.Reset()
	if err := Write(&out, by, "csv", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 7 || strings.Contains(out.String(), "\na,,") {
		t.Errorf("%d lines, want a header and 6 rows of slices:\n%s", n, &out)
	}
}
