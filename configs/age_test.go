package configs

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "2d12h": 60 * time.Hour, "0d": 0, "0s": 0,
	} {
		if got, err := ParseAge(text); err != nil || got != want {
			t.Errorf("ParseAge(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "soon", "-3h", "3dd", "90", "1d-2h", "2562047h48m", "99999d", "65535d2562047h"} {
		if got, err := ParseAge(text); err == nil {
			t.Errorf("ParseAge(%q) = %v, want an error", text, got)
		}
	}
}
