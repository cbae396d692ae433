package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"ibid/harness"
)

// Whenever a run is stopped, what is said ends with the command that goes on;
// trouble of another kind is not mistaken for a stop.
func TestInterrupted(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"with rows saved", &harness.InterruptedError{Command: "lost the flags", Done: 5, Rows: 9}, "ibid: interrupted: 5 of 9 rows are saved\nhint: go on with: ibid run a.yaml --seed 'a b'\n"},
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
