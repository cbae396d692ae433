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
	f.manifest.Judge = runs.JudgeRecord{Kind: "openrouter", Model: "some/model", Asked: 200, Unanswered: 3, Calls: 4, Cached: 1, Retries: 2, PromptTokens: 2000, CompletionTokens: 100, LatencyMillis: new(1500.0), CostUSD: new(0.02)}
	f.summary[0].Corrected, f.summary[0].CorrectedLow, f.summary[0].CorrectedHigh, f.summary[0].CorrectedMethod = new(0.7), new(0.6), new(0.8), "ppi"
	p := f.page(t, PageOptions{})
	judge := doc.FormatText(doc.TextOptions{}, docView(t, p, "judge"))
	for _, want := range []string{
		"from the cache +1 \\(25 %\\)", "cost +\\$0\\.0200", "cost of 1,000 claims +\\$0\\.1000", "tokens +2,000 asked, 100 answered", "retries +2", "mean latency of a call +1\\.5 s",
		"char_f1 +all systems +macro +0\\.900 .*0\\.700 +\\[0\\.600, 0\\.800\\]¹", "¹ ppi",
	} {
		if !regexp.MustCompile("(?m)^" + want + "$").MatchString(judge) {
			t.Errorf("no %q in\n%s", want, judge)
		}
	}
	if html := writePage(t, p); !strings.Contains(html, `id="h-judge"`) {
		t.Error("the page has no section on the judge")
	}
}
