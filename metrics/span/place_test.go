package span

import (
	"math"
	"testing"

	"ibid"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name       string
		start, end int64
		want       ibid.Status
		inSets     bool
	}{
		{"one code point", 0, 1, ibid.StatusOK, true},
		{"the longest", 0, ibid.MaxEnd, ibid.StatusOK, true},
		{"behind the largest end", 5, ibid.MaxEnd + 1, ibid.StatusOutOfBounds, true},
		{"empty", 7, 7, ibid.StatusEmpty, false},
		{"inverted", 7, 6, ibid.StatusInverted, false},
		{"negative start", -1, 6, ibid.StatusNegative, false},
		{"both negative and empty", -1, -1, ibid.StatusNegative, false},
		{"smallest integers", math.MinInt64, math.MaxInt64, ibid.StatusNegative, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ibid.CheckSpan(tt.start, tt.end)
			if got != tt.want {
				t.Errorf("Check(%d, %d) = %v, want %v", tt.start, tt.end, got, tt.want)
			}
			p := ibid.Place{Doc: "a", Status: got, Start: tt.start, End: tt.end}
			if p.InSets() != tt.inSets {
				t.Errorf("InSets of [%d, %d) = %v, want %v", tt.start, tt.end, p.InSets(), tt.inSets)
			}
			p.Level = ibid.LevelPages
			if p.InSets() {
				t.Error("a place of whole pages is in the span sets")
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	usable, valid := 0, 0
	for _, s := range ibid.Statuses() {
		if s.String() == "" {
			t.Errorf("status %d has no name", s)
		}
		if s.Valid() && !s.Usable() {
			t.Errorf("%v is valid but not usable", s)
		}
		if s.Usable() {
			usable++
		}
		if s.Valid() {
			valid++
		}
	}
	if len(ibid.Statuses()) != 15 || usable != 12 || valid != 6 {
		t.Errorf("%d statuses, %d usable, %d valid, want 15, 12, 6", len(ibid.Statuses()), usable, valid)
	}
}

func TestFractionCompare(t *testing.T) {
	const big = math.MaxInt64
	tests := []struct {
		f, g Fraction
		want int
	}{
		{Fraction{1, 2}, Fraction{2, 4}, 0},
		{Fraction{0, 1}, Fraction{0, big}, 0},
		{Fraction{1, 3}, Fraction{1, 2}, -1},
		{Fraction{big - 1, big}, Fraction{big - 2, big - 1}, 1}, // equal as float64
	}
	for _, tt := range tests {
		if got := tt.f.Compare(tt.g); got != tt.want {
			t.Errorf("%v.Compare(%v) = %d, want %d", tt.f, tt.g, got, tt.want)
		}
		if got := tt.g.Compare(tt.f); got != -tt.want {
			t.Errorf("%v.Compare(%v) = %d, want %d", tt.g, tt.f, got, -tt.want)
		}
	}
}
