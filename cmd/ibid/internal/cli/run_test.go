package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge"
)

func TestCommandAgain(t *testing.T) {
	tests := []struct {
		name string
		args []string
		id   string
		want string
	}{
		{"settings are kept", []string{"run", "a.parquet", "--judge", "none", "--set", "columns={a: id}"}, "a-1", "ibid run a.parquet --judge none --set 'columns={a: id}'"},
		{"fresh has an id by now", []string{"run", "x.yaml", "--fresh", "-q"}, "x-1-20260101T000000Z", "ibid run x.yaml --id x-1-20260101T000000Z -q"},
		{"fresh before its id is known", []string{"run", "x.yaml", "--fresh"}, "", "ibid run x.yaml --fresh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := commandAgain(tt.args, tt.id); got != tt.want {
				t.Errorf("commandAgain(%q, %q) = %s, want %s", tt.args, tt.id, got, tt.want)
			}
		})
	}
}

func TestCommandOf(t *testing.T) {
	m := &runs.Manifest{
		ID: "a-1", Source: "my.yaml",
		Ingredients: map[string]string{"--limit": "5", "--only lang": "de", "mark_scope": "paragraph"},
		Settings: []configs.Value{
			{Key: "out", Value: "elsewhere", Source: "--out"},
			{Key: "limits", Value: "1", Source: "default"},
			{Key: "slices", Value: "[lang]", Source: "my.yaml:3:1"},
			{Key: "judge.kind", Value: "none", Source: "--judge"},
			{Key: "mark_scope", Value: "paragraph", Source: "environment IBID_MARK_SCOPE"},
		},
	}
	want := "ibid run my.yaml --out elsewhere --id a-1 --set judge.kind=none --set mark_scope=paragraph --limit 5 --only lang=de"
	if got := commandOf("elsewhere/a-1", m); got != want {
		t.Errorf("commandOf = %s\nwant        %s", got, want)
	}
}

// Whenever a run is stopped, what is said ends with the command that goes on;
// trouble of another kind is not mistaken for a stop.
func TestInterrupted(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"with rows judged", &harness.InterruptedError{Done: 5, Rows: 9, Judged: true}, "ibid: interrupted after 5 of 9 rows; every answer is kept\nhint: go on with: ibid run a.yaml --seed 'a b'\n"},
		{"before there was anything to save", fmt.Errorf("digest: %w", context.Canceled), "ibid: interrupted\nhint: go on with: ibid run a.yaml --seed 'a b'\n"},
		{"trouble", errors.New("disk on fire"), "ibid: disk on fire\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			a := &app{Process: Process{Args: []string{"run", "a.yaml", "--seed", "a b"}, Stderr: &stderr}}
			if code := a.fail(a.interrupted(tt.err, "")); code != ExitFailure {
				t.Errorf("exit code %d, want %d", code, ExitFailure)
			}
			if got := stderr.String(); got != tt.want {
				t.Errorf("said %q, want %q", got, tt.want)
			}
		})
	}
}

// TestProgressLine: the line says how far a stage is and how fast, what the judge has done, and
// how long it will take, as far as that is known.
func TestProgressLine(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for _, tt := range []struct {
		p    harness.Progress
		want string
	}{
		{harness.Progress{Stage: "joining", Since: began}, "joining"},
		{harness.Progress{Stage: "digest", Done: 512 << 20, Of: 1 << 30, UnitsBytes: true, Since: began}, "digest 512 MiB/1024 MiB (50 %), 51 MiB/s, 10s left"},
		{harness.Progress{Stage: "scoring", Done: 2500, Of: 10_000, Errors: 3, Since: began}, "scoring 2,500/10,000 (25 %), 250/s, 3 error rows, 30s left"},
		{
			harness.Progress{Stage: "scoring", Done: 5, Of: 5, Since: began, Judge: &judge.Usage{Asked: 1200, Cached: 7, Retries: 2, Failed: 1, CostNanoUSD: 1_250_000_000}},
			"scoring 5/5 (100 %), 1,200 asked, 7 cached, 2 retries, 1 failed, $1.25",
		},
	} {
		if got := progressLine(tt.p, began.Add(10*time.Second)); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
