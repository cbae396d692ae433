package judge

import (
	"slices"
	"testing"
)

func TestContained(t *testing.T) {
	tests := []struct {
		name, claim, text string
		at                Interval
		ok                bool
	}{
		{"alone", "The bridge opened in 1909.", "The bridge opened in 1909.", Interval{Start: 0, End: 26}, true},
		{"among others, other white space", "The bridge opened in 1909.", "Häh? The  bridge\nopened in 1909. More.", Interval{Start: 5, End: 32}, true},
		{"no full stop of its own", "The bridge opened in 1909", "The bridge opened in 1909.", Interval{Start: 0, End: 25}, true},
		{"on a line", "The bridge opened in 1909", "Facts\nThe bridge opened in 1909\nIt is red", Interval{Start: 6, End: 31}, true},
		{"spaceless", "大桥于1909年7月11日正式开放通车。", "是。大桥于1909年7月11日正式开放通车。", Interval{Start: 2, End: 22}, true},
		{"goes on", "The bridge opened in 1909", "The bridge opened in 1909 only on paper.", Interval{}, false},
		{"has a beginning", "the bridge opened in 1909.", "Nobody says that the bridge opened in 1909.", Interval{}, false},
		{"within a word", "The bridge opened in 190", "The bridge opened in 1909.", Interval{}, false},
		{"too short to mean it", "It is red.", "It is red.", Interval{}, false},
		{"question", "Did the bridge open in 1909?", "Did the bridge open in 1909?", Interval{}, false},
		{"nothing", "", "", Interval{}, false},
		{"not UTF-8", "one two three four \xff", "one two three four \xff", Interval{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if at, ok := Contained(tt.claim, tt.text); at != tt.at || ok != tt.ok {
				t.Errorf("Contained(%q, %q) = %+v, %t, want %+v, %t", tt.claim, tt.text, at, ok, tt.at, tt.ok)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	tests := []struct {
		name, claim string
		texts       []string
		want        []string
	}{
		{"number", "It opened in 1908.", []string{"It opened in 1909."}, []string{"1908"}},
		{"grouped", "It carries 4200 cars and 1.5 tons.", []string{"It carries 4,200 cars", "1.5 tons"}, nil},
		{"part of a number", "It has 42 cars.", []string{"It has 4,200 cars"}, []string{"42"}},
		{"name and month", "The tower in Lyon opened in May, in Lyon.", []string{"The tower in Paris opened in June."}, []string{"Lyon", "May"}},
		{"first word", "Lyon is old.", []string{"It is old."}, nil},
		{"nothing to compare with", "It opened in 1908.", nil, []string{"1908"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Differences(tt.claim, tt.texts); !slices.Equal(got, tt.want) {
				t.Errorf("Differences(%q, %q) = %q, want %q", tt.claim, tt.texts, got, tt.want)
			}
		})
	}
}
