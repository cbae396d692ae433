package annotations

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// labelled are items of their own documents, with one value of each annotator; "" is none.
func labelled(codeBook []string, said ...[]string) *Labels {
	l := NewLabels(testOptions, codeBook)
	for i, values := range said {
		it := Judged{ID: fmt.Sprint(i), Row: int64(i), Cluster: fmt.Sprint(i)}
		for k, v := range values {
			if v != "" {
				it.Ratings = append(it.Ratings, Rating{Annotator: string(rune('a' + k)), Value: v})
			}
		}
		l.Add(it)
	}
	return l
}

// TestLabelStatistics: which coefficients values allow, of all annotators and of two, and
// that they are those of package stats over the values in their order.
func TestLabelStatistics(t *testing.T) {
	many := [][]string{}
	for i := range maxCategories + 1 {
		many = append(many, []string{fmt.Sprint(i), fmt.Sprint(i * i % 7), "3"})
	}
	const nominal, ordinal, two = "percent_agreement ac1 alpha_nominal", "percent_agreement ac1 alpha_ordinal", "percent_agreement cohen_kappa"
	tests := []struct {
		name, all, two string
		codeBook       []string
		said           [][]string
		values         []string // in order
	}{
		{"two words", nominal, two, nil, [][]string{{"no", "yes", "no"}, {"yes", "yes", "yes"}, {"no", "no", "yes"}}, []string{"no", "yes"}},
		{"three words without order", nominal, two, nil, [][]string{{"low", "mid", "low"}, {"high", "high", "mid"}, {"mid", "low", "low"}}, []string{"high", "low", "mid"}},
		{
			"words in the order of the code book", ordinal, two,
			[]string{"low", "mid", "high"},
			[][]string{{"low", "mid", "low"}, {"high", "high", "mid"}, {"mid", "low", "low"}},
			[]string{"low", "mid", "high"},
		},
		{"a word that the code book lacks", nominal, two, []string{"low", "mid", "high"}, [][]string{{"low", "mid", "low"}, {"high", "none", "mid"}}, []string{"high", "low", "mid", "none"}},
		{
			"numbers from 0 on", ordinal,
			two,
			nil,
			[][]string{{"0", "1", "0"}, {"10", "10", "2"}, {"2", "1", "1"}, {"10", "2", ""}},
			[]string{"0", "1", "2", "10"},
		},
		{
			"numbers from below 0 on", ordinal,
			two,
			nil,
			[][]string{{"-1", "1", "-1"}, {"1", "1", "0"}, {"0", "1", "1"}},
			[]string{"-1", "0", "1"},
		},
		{"two numbers", nominal, two, nil, [][]string{{"0", "1", "0"}, {"1", "1", "0"}}, []string{"0", "1"}},
		{
			"as many values as are categories", ordinal,
			two, nil, many[:maxCategories], nil,
		},
		{"measurements", "percent_agreement", "percent_agreement", nil, many, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := labelled(tt.codeBook, tt.said...).Statistics()
			names := make(map[string][]string)
			for _, r := range rows {
				names[r.Annotators] = append(names[r.Annotators], r.Statistic)
			}
			for annotators, want := range map[string]string{runs.AllAnnotators: tt.all, "a|b": tt.two, "a|c": tt.two, "b|c": tt.two} {
				got, want := slices.Sorted(slices.Values(names[annotators])), slices.Sorted(slices.Values(strings.Fields(want)))
				if !slices.Equal(got, want) {
					t.Errorf("of %s: %v, want %v", annotators, got, want)
				}
			}
			if tt.values == nil {
				return
			}
			tally := stats.NewTally(len(tt.values))
			for _, said := range tt.said {
				counts := make([]int, len(tt.values))
				for _, v := range said {
					if v != "" {
						counts[slices.Index(tt.values, v)]++
					}
				}
				tally.Add(counts)
			}
			for name, want := range map[string]float64{
				"percent_agreement": tally.Percent().Value, "ac1": tally.AC1().Value.Value,
				"alpha_nominal": tally.Alpha(stats.Nominal, nil).Value, "alpha_ordinal": tally.Alpha(stats.Ordinal, nil).Value,
			} {
				for _, r := range rows {
					if r.Statistic != name || r.Annotators != runs.AllAnnotators {
						continue
					}
					if r.Estimate == nil {
						t.Errorf("%s is undefined", name)
					} else if r.Estimate != nil && math.Abs(*r.Estimate-want) > 1e-12 {
						t.Errorf("%s = %v, want %v", name, *r.Estimate, want)
					}
				}
			}
		})
	}
}

// TestLabelsOfPeople, by hand. Of three who say 1, 1 and 0, two pairs of six agree; who said
// 0 agrees with nobody and is 1 lower than each.
func TestLabelsOfPeople(t *testing.T) {
	l := labelled(nil, []string{"1", "1", "0"}, []string{"1", "1", "1"}, []string{"4", "1"}, []string{"0", "2"}, []string{"2", ""})
	l.Add(Judged{ID: "unnamed", Row: 9, Cluster: "x", Ratings: []Rating{{Value: "0"}, {Annotator: "c", Value: "7"}}})
	l.options.Worst = 3
	a := Measure(nil, l)
	wantPeople := []struct {
		name           string
		labels         int64
		agree, leaning float64
	}{{"a", 4, 3.0 / 6, (1 + 3 - 2) / 6.0}, {"b", 4, 3.0 / 6, (1 - 3 + 2) / 6.0}, {"c", 3, 2.0 / 5, (-2 + 7) / 5.0}}
	if len(a.Labelling) != len(wantPeople) {
		t.Fatalf("people: %+v", a.Labelling)
	}
	for i, want := range wantPeople {
		p := a.Labelling[i]
		if p.Name != want.name || p.Labels != want.labels || math.Abs(p.Agree.Value-want.agree) > 1e-12 || math.Abs(p.Leaning.Value-want.leaning) > 1e-12 {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
	// The least agreement first, then the widest apart.
	var worst []string
	for _, d := range a.Worst {
		worst = append(worst, fmt.Sprintf("%s %.3f", d.ID, d.Agreement))
	}
	if want := []string{"unnamed 0.000", "2 0.000", "3 0.000"}; !slices.Equal(worst, want) {
		t.Errorf("worst %v, want %v", worst, want)
	}
}

// TestWorst: of equal agreement the widest apart, then the earlier row, then the id; words
// are not apart. No more are kept than asked for.
func TestWorst(t *testing.T) {
	l := labelled(nil, []string{"no", "yes"}, []string{"0", "3"}, []string{"0", "3"}, []string{"7", "8"}, []string{"1", "1", "0"}, []string{"1", "1"})
	l.Add(Judged{ID: "0", Row: 2, Cluster: "y", Ratings: []Rating{{Annotator: "a", Value: "0"}, {Annotator: "b", Value: "3"}}})
	for keep, want := range map[int][]string{0: nil, 1: {"1/1"}, 4: {"1/1", "0/2", "2/2", "3/3"}, 9: {"1/1", "0/2", "2/2", "3/3", "0/0", "4/4"}} {
		l.options.Worst, l.worst = keep, worst{}
		var got []string
		for _, d := range Measure(nil, l).Worst {
			got = append(got, fmt.Sprintf("%s/%d", d.ID, d.Row))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the worst %d are %v, want %v", keep, got, want)
		}
	}
}

func TestRepeatedLabels(t *testing.T) {
	l := NewLabels(testOptions, nil)
	l.Add(Judged{ID: "x", Cluster: "x", Ratings: []Rating{{Annotator: "ada", Value: "1"}, {Annotator: "ada", Value: "0"}, {Annotator: "ada", Value: "0"}, {Value: "1.0"}, {Value: "1"}}})
	if n := len(l.items[0].Ratings); n != 3 || l.repeated != 2 {
		t.Errorf("%d labels of three people, %d repeated", n, l.repeated)
	}
	want := "2 labels repeat one that the same annotator gave of the same item: the first counts"
	if got := l.Warnings(); len(got) != 1 || got[0] != want {
		t.Errorf("warnings %q, want %q", got, want)
	}
	if r := row(t, l.Statistics(), "percent_agreement"); *r.Estimate != 1 {
		t.Errorf("1 and 1.0 agree in %v", *r.Estimate)
	}
}

// TestSlicesOfLabels: an item counts in its kind, and in its kind with each of its tags.
func TestSlicesOfLabels(t *testing.T) {
	l := NewLabels(testOptions, nil)
	two := []Rating{{Annotator: "ada", Value: "1"}, {Annotator: "ben", Value: "0"}}
	l.Add(Judged{ID: "1", Cluster: "1", Kind: "support", Slices: []string{"lang=en", "topic=a"}, Ratings: two})
	l.Add(Judged{ID: "2", Cluster: "2", Slices: []string{"lang=en"}, Ratings: two})
	got := make(map[string]bool)
	for _, r := range l.Statistics() {
		got[r.Slice] = true
	}
	for _, want := range []string{"", "lang=en", "kind=support", "kind=support,lang=en", "kind=support,topic=a"} {
		if !got[want] {
			t.Errorf("no slice %q", want)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("slices of nothing: %v", got)
	}
}

func TestDisagreementsFile(t *testing.T) {
	dir := t.TempDir()
	if got, err := ReadDisagreements(dir); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	worst := []Disagreement{{Kind: runs.LabelAgreement, ID: "x", Row: 3, Agreement: 0.25, Said: []Rating{{Annotator: "ada", Value: "1"}}}}
	if err := WriteDisagreements(dir, worst); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadDisagreements(dir); err != nil || len(got) != 1 || got[0].ID != "x" || got[0].Agreement != 0.25 {
		t.Errorf("read %v, %v", got, err)
	}
	path := filepath.Join(dir, runs.DisagreementsFile)
	for text, want := range map[string]string{`{"schema":"ibid.disagreements/v9"}`: `schema is "ibid.disagreements/v9", this ibid reads "ibid.disagreements/v1"`, `{`: ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDisagreements(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestReadTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.csv")
	read := func(text string, c TableColumns) (*Table, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadTable(path, c)
	}
	say := func(table *Table) string {
		var b strings.Builder
		for _, it := range table.Items {
			fmt.Fprintf(&b, "%s/%s/%d %v ", it.ID, it.Cluster, it.Row, it.Ratings)
		}
		return fmt.Sprintf("%sblank %d", b.String(), table.Blank)
	}
	for _, tt := range []struct {
		text string
		c    TableColumns
		want string
	}{
		{"item,annotator,value,cluster\nq1,ada,1,d1\nq2,ada,0,\nq1,ben,0,d1\nq1,cy,,d1\nq2,cy,NaN,\n", TableColumns{}, "q1/d1/-1 [{ada 1 false} {ben 0 false}] q2/q2/-1 [{ada 0 false}] blank 2"},
		{"item,value\nq1,1\nq1,0\n", TableColumns{}, "q1/q1/-1 [{ 1 false} { 0 false}] blank 0"},
		{"item,value,cluster\nq1,1,d\n", TableColumns{}, "q1/d/-1 [{ 1 false}] blank 0"},
		{"value,id,item,who,doc,annotator\n1,q1,x,ada,d,zoe\n", TableColumns{Item: "id", Annotator: "who", Cluster: "doc"}, "q1/d/-1 [{ada 1 false}] blank 0"},
	} {
		table, err := read(tt.text, tt.c)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		} else if got := say(table); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
	for text, want := range map[string]string{"item,value\nq1,1\n,0\n": "line 3: empty", "id,value\nq1,1\n": "item"} {
		if _, err := read(text, TableColumns{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for name, want := range map[string]bool{"a.csv": true, "A.CSV": true, "a.jsonl": true, "a.parquet": false, "a.Parquet": false, "a.pdf": false} {
		if IsTable(name) != want {
			t.Errorf("IsTable(%s) = %v", name, !want)
		}
	}
}
