package judge

import (
	"slices"
	"testing"
)

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
