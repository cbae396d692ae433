package harness

import (
	"testing"

	"ibid"
	"ibid/judge"
)

// TestTamperingWord: what a judge says of tampering counts more than what is suspected
// without it.
func TestTamperingWord(t *testing.T) {
	tests := []struct {
		says      string // "" if the judge does not look
		failed    bool
		suspected bool
		want      string
	}{
		{"", false, false, ""},
		{"", false, true, ibid.TamperingSuspected},
		{"", true, true, ibid.TamperingSuspected},
		{ibid.TamperingNone, false, false, ibid.TamperingNone},
		{ibid.TamperingNone, false, true, ibid.TamperingSuspected},
		{ibid.TamperingInAnswer, false, true, ibid.TamperingInAnswer},
		{ibid.TamperingInEvidence, false, false, ibid.TamperingInEvidence},
	}
	for _, tt := range tests {
		j := &judging{verdict: &judge.Verdict{Tampering: tt.says}}
		if tt.failed {
			j.verdict = nil
		}
		if tt.suspected {
			j.suspected = []string{"frame"}
		}
		if got := j.tampering(); got != tt.want {
			t.Errorf("the judge says %q, failed %t, suspected %t: %q, want %q", tt.says, tt.failed, tt.suspected, got, tt.want)
		}
	}
}
