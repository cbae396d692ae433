package report

import (
	"regexp"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/report/doc"
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
	judge := doc.FormatText(doc.TextOptions{Style: plain{}}, docView(t, p, "judge"))
	for _, want := range []string{
		"answered +197 \\(99 %\\)", "from the cache +1 \\(25 %\\)", "cost +\\$0\\.0200", "cost of 1,000 claims +\\$0\\.1000", "tokens asked +2,000", "calls tried again +2 \\(50 %\\)",
		"latency, half of the calls under +4\\.0 s", "ok +3 +75 %", "refused +1 +25 %", "char_f1 +all systems +macro +0\\.900 .*0\\.700 +\\[0\\.600, 0\\.800\\]¹", "¹ ppi",
	} {
		if !regexp.MustCompile("(?m)^" + want + "$").MatchString(judge) {
			t.Errorf("no %q in\n%s", want, judge)
		}
	}
	if html := writePage(t, p); !strings.Contains(html, `id="h-judge"`) {
		t.Error("the page has no section on the judge")
	}
}
