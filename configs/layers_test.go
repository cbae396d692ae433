package configs

import (
	"strings"
	"testing"
)

// TestEnvironmentOfOthers: variables that happen to begin with IBID_ must not
// stop a run, as a cluster makes them for a service of that name.
func TestEnvironmentOfOthers(t *testing.T) {
	c, err := Load(Options{Environ: []string{
		"IBID_JUDGE=none", "IBID_SERVICE_HOST=10.0.0.1", "IBID_PORT_80_TCP_ADDR=10.0.0.1", "IBID_LIMITS=", "IBID=1", "ibid_limits=9", "HOME=/", "=C:=x",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits != 1 {
		t.Errorf("limits is %d, want the default 1", c.Limits)
	}
}

func TestOverridesOfTexts(t *testing.T) {
	tests := []struct {
		set  string
		want string
	}{
		{"dataset=*.parquet", "*.parquet"},
		{"dataset=[ab].parquet", "[ab].parquet"},
		{"dataset=C:\\x: y #1", "C:\\x: y #1"},
		{"dataset=2024", "2024"},
		{"dataset=true", "true"},
		{"dataset=\"null\"", "null"},
		{"dataset='it''s'", "it's"},
		{"dataset=null", ""},
		{"dataset=", ""},
		{"dataset=a=b", "a=b"},
		{" dataset =a", "a"},
	}
	for _, tt := range tests {
		c, err := Load(Options{Set: []string{"judge=none", tt.set}})
		if err != nil {
			t.Errorf("--set %q: %v", tt.set, err)
		} else if c.Dataset != tt.want {
			t.Errorf("--set %q: dataset is %q, want %q", tt.set, c.Dataset, tt.want)
		}
	}
	for _, literal := range []string{"null", "'a'", "*", "12", "{a}"} {
		c, err := Load(Options{Flags: []Flag{{"--judge", "judge", "none"}, {"DATASET", "dataset", literal}}})
		if err != nil {
			t.Errorf("argument %q: %v", literal, err)
		} else if c.Dataset != literal {
			t.Errorf("argument %q: dataset is %q", literal, c.Dataset)
		}
	}
}

func TestLastSetWins(t *testing.T) {
	c, err := Load(Options{Set: []string{"judge=none", "limits=1", "limits=2", "limits=3"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits != 3 {
		t.Errorf("limits is %d, want 3", c.Limits)
	}
}

func TestSetTakesMappings(t *testing.T) {
	c, err := Load(Options{Set: []string{"judge={kind: none}", "columns={question: query, citations.file: citations.doc}", "slices=[language, system]"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Judge.Kind != "none" || c.Columns["citations.file"] != "citations.doc" || strings.Join(c.Slices, " ") != "language system" {
		t.Errorf("settings are %+v", c.Settings)
	}
}
