package report

import (
	"strings"
	"testing"

	"ibid/dataset/runs"
)

func TestPageShowsJudges(t *testing.T) {
	f := twins()
	f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter", Model: "some/model", Asked: 200, Unanswered: 3, Calls: 4, Cached: 1, CostUSD: new(0.02)}
	f.summary[0].Corrected, f.summary[0].CorrectedLow, f.summary[0].CorrectedHigh, f.summary[0].CorrectedMethod = new(0.7), new(0.6), new(0.8), "ppi"
	data := f.run(t)
	writeCalls(t, data.Dir,
		runs.Call{Attempts: 1, PromptTokens: new(int64(1000)), CompletionTokens: new(int64(50)), LatencyMillis: new(int64(1500)), Status: "ok"},
		runs.Call{Key: runs.Key{Row: 1}, Attempts: 3, PromptTokens: new(int64(1000)), CompletionTokens: new(int64(50)), LatencyMillis: new(int64(4000)), Status: "ok"},
		runs.Call{Key: runs.Key{Row: 2}, Cached: true, Attempts: 1, PromptTokens: new(int64(0)), CompletionTokens: new(int64(0)), LatencyMillis: new(int64(0)), Status: "ok"},
		runs.Call{Key: runs.Key{Row: 3}, Attempts: 3, Status: "refused"},
	)
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(view[judgeView](p).Runs) != 1 {
		t.Fatalf("judges = %+v", view[judgeView](p).Runs)
	}
	facts := make(map[string]string)
	for _, fact := range view[judgeView](p).Runs[0].Facts {
		facts[fact[0]] = fact[1]
	}
	for name, want := range map[string]string{
		"answered": "197 (99 %)", "from the cache": "1 (25 %)", "cost": "$0.0200", "cost of 1,000 claims": "$0.1000", "tokens asked": "2,000",
		"calls tried again": "2 (50 %)", "latency, half of the calls under": "4.0 s",
	} {
		if facts[name] != want {
			t.Errorf("%s = %q, want %q", name, facts[name], want)
		}
	}
	if c := view[judgeView](p).Runs[0].Calls; len(c) != 2 || c[0] != (callLine{"Ok", "3", "75 %"}) || c[1] != (callLine{"Refused", "1", "25 %"}) {
		t.Errorf("calls = %+v", c)
	}
	if c := view[judgeView](p).Runs[0].Corrected; len(c) != 1 || c[0].Corrected != "0.700" || c[0].CorrectedInt != "[0.600, 0.800]" || c[0].System != "all systems" {
		t.Errorf("corrected = %+v", c)
	}
	if html := writePage(t, p); !strings.Contains(html, `id="h-judge"`) {
		t.Error("the page has no section on the judge")
	}
}
