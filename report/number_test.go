package report

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	tests := []struct {
		name  string
		value float64
		want  string
	}{
		{"fraction", 0.87654, "0.877"},
		{"zero", 0, "0.000"},
		{"one", 1, "1.000"},
		{"just below one", 0.99999, "1.000"},
		{"minus one", -1, "-1.000"},
		{"no sign without digits", -0.0004, "0.000"},
		{"smallest that shows", -0.0005, "-0.001"},
		{"whole", 44, "44"},
		{"four digits", 12.3456, "12.35"},
		{"no needless zeros", 2.5, "2.5"},
		{"hundreds", 123.456, "123.5"},
		{"thousands are no powers of ten", 12345.678, "12346"},
		{"negative thousands", -12345.678, "-12346"},
		{"beyond counting", 1e20, "1e+20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := numberOrDash(&tt.value); got != tt.want {
				t.Errorf("Number(%v) = %s, want %s", tt.value, got, tt.want)
			}
		})
	}
	if got := numberOrDash(nil); got != "–" {
		t.Errorf("Number(nil) = %q, want a dash", got)
	}
}

func TestThousands(t *testing.T) {
	tests := []struct {
		n    int64
		want string
	}{
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{-999, "-999"},
		{-1000, "-1,000"},
		{1234567, "1,234,567"},
		{math.MinInt64, "-9,223,372,036,854,775,808"},
	}
	for _, tt := range tests {
		if got := Thousands(tt.n); got != tt.want {
			t.Errorf("Thousands(%d) = %s, want %s", tt.n, got, tt.want)
		}
	}
}

func TestInterval(t *testing.T) {
	low, high := 0.25, 12.5
	if got, want := interval(&low, &high), "[0.250, 12.5]"; got != want {
		t.Errorf("interval = %s, want %s", got, want)
	}
	if got := interval(&low, nil); got != "" {
		t.Errorf("interval without an upper end = %q, want none", got)
	}
}
