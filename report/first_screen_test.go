package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// briefOf is the first look at a judged run of n systems, each a little better than the
// one before.
func briefOf(n int, gates ...runs.GateResult) *Summary {
	var rows []runs.SummaryRow
	names := []string{"overall_citation_accuracy", "citation_correctness", "supported_completeness", "hallucination_rate", "span_accuracy_score", "mean_consistency", "char_f1", "char_precision"}
	for k := range n {
		for _, name := range names {
			v := 0.1 + 0.8*float64(k+1)/float64(n+1)
			rows = append(rows, runs.SummaryRow{
				System: fmt.Sprintf("system-%03d", k), Metric: name, Agg: runs.Macro, N: 10, Level: 0.95,
				Estimate: new(v), Low: new(v - 0.05), High: new(v + 0.05),
			})
		}
	}
	m := &runs.Manifest{ID: "x", Rows: int64(10 * n), Judge: runs.JudgeRecord{Kind: "lexical", Baseline: true}}
	f := &Failing{Run: m, Failing: 2, answers: answerCount{rows: int64(10 * n), fails: 2}, Rows: []FailingRow{
		{ID: "q 1", System: "system-000", Problem: metrics.ProblemNoDocument},
		{ID: "q 2", System: "system-000", Problem: metrics.ProblemUnsupported},
	}}
	f.BySystem = map[string]answerCount{"system-000": {rows: 10, fails: 2}}
	for _, row := range f.Rows {
		f.Reasons = append(f.Reasons, failingReason{row.Problem.String(), 1, problemWords[row.Problem]})
	}
	s := NewSummary(m, rows, gates)
	s.Dir, s.Failing = "runs/x", f
	return s
}

func briefText(t *testing.T, b *Summary) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, b, "text", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBriefFits: with a change beside each number a first look at three systems fits 80
// columns and 20 lines; more systems have a line each, the best first, and at most twenty
// are listed.
func TestBriefFits(t *testing.T) {
	gates := []runs.GateResult{
		{Gate: "char_f1 >= 0.9", Verdict: runs.Failed, Value: new(0.5)},
		{Gate: "char_precision[system=system-001] >= 0.1", Verdict: runs.Passed, Value: new(0.5)},
		{Gate: "page_f1 >= 0.9", Verdict: runs.NoVerdict, Reason: "undefined"},
	}
	for _, n := range []int{1, 3, 4, 30} {
		b := briefOf(n, gates...)
		r := &compare.Result{By: "run", Base: "last-night-of-a-long-name", Sides: []compare.Side{{Name: "last-night-of-a-long-name", Run: "last-night-of-a-long-name"}, {Name: "x", Run: "x"}}}
		for k := range n {
			for _, q := range b.Leading() {
				r.Metrics = append(r.Metrics, compare.Metric{
					Metric: q.Metric.Name, Agg: runs.Macro, System: fmt.Sprintf("system-%03d", k), Deciding: true,
					Differences: []compare.Difference{{Base: r.Base, New: "x", Diff: new(-0.123), N: 3, Better: 1, Worse: 2, Word: compare.Tied}},
				})
			}
		}
		b.Since = r
		text := briefText(t, b)
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%d systems: wider than %d: %s", n, 80, line)
			}
		}
		lines := map[int]int{1: 18, 3: 20, 4: 21, 30: 38}[n]
		if got := strings.Count(text, "\n"); got != lines {
			t.Errorf("%d systems: %d lines, want %d:\n%s", n, got, lines, text)
		}
		if !strings.Contains(text, "-0.123 tied") || !strings.Contains(text, "tied: chance may explain") {
			t.Errorf("%d systems: no change is shown:\n%s", n, text)
		}
		for _, want := range []string{"Gates: 1 of 3 failed, 1 of 3 has no verdict, 1 of 3 passed.\n", "- FAIL char_f1 >= 0.9: 0.500\n", "- NONE page_f1 >= 0.9: undefined\n", "\nfails  1 document not found, 1 unsupported\njudge  wording", "ibid show runs/x 'q 1/system-000'  # the worst: document not found\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d systems: no %q in\n%s", n, want, text)
			}
		}
		if n > 1 {
			first, second := strings.Index(text, fmt.Sprintf("system-%03d ", n-1)), strings.Index(text, fmt.Sprintf("system-%03d ", n-2))
			if first < 0 || second < first {
				t.Errorf("%d systems are not in order, the best first:\n%s", n, text)
			}
		}
		if more := strings.Contains(text, "10 more systems"); more != (n == 30) {
			t.Errorf("%d systems: %s", n, text)
		}
	}
}

// TestBriefSigns: a number that a sign of wrong input is about has a note, the same number
// of another system has none.
func TestBriefSigns(t *testing.T) {
	b := briefOf(3)
	b.Run.Signs = []runs.Sign{{Name: "no_text", System: "system-001", Metrics: []string{"overall_citation_accuracy"}, Text: "4 of 6"}}
	text := briefText(t, b)
	if strings.Count(text, "¹") != 2 || !strings.Contains(text, "system-001   0/0   0.500¹") || !strings.Contains(text, "\nsign no_text, system system-001: 4 of 6\n") {
		t.Errorf("not one number is marked:\n%s", text)
	}
}

// TestBriefLongSigns: what stands out has three lines of 80 columns, whatever it says.
func TestBriefLongSigns(t *testing.T) {
	b := briefOf(6)
	for range 5 {
		b.Run.Signs = append(b.Run.Signs, runs.Sign{Name: "no_text", System: "system-001", Text: strings.Repeat("claims cite nothing ", 20)})
	}
	text := briefText(t, b)
	if strings.Count(text, "\nsign no_text") != 3 || !strings.Contains(text, "\n2 more signs\n") {
		t.Errorf("not three lines of what stands out:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than %d: %s", 80, line)
		}
	}
}

// TestShortNames: gates and commands take what the first look calls a metric.
func TestShortNames(t *testing.T) {
	for name, short := range shortNames {
		if d, ok := metrics.Lookup(short); !ok || d.Name != name {
			t.Errorf("%s is called %s, which is %q", name, short, d.Name)
		}
	}
}

// TestShellWord: what a command names can be pasted into a shell.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"q-1/a": "q-1/a", "": "''", "q 1/a": "'q 1/a'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "a\nb": "'a\nb'", "part-*.parquet": "'part-*.parquet'", "~/x": "'~/x'", "a=b": "a=b",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// TestHeadline: the first sentence of a comparison says who is better, by how much and how
// sure that is, or that it cannot be said.
func TestHeadline(t *testing.T) {
	against := func(m compare.Metric) *compare.Result {
		return &compare.Result{Base: "a", Sides: []compare.Side{{Name: "a"}, {Name: "b"}}, Metrics: []compare.Metric{m}}
	}
	d := func(word compare.Word, diff float64) compare.Metric {
		return compare.Metric{Metric: "char_f1", Agg: runs.Macro, Deciding: true, Questions: 3, Differences: []compare.Difference{{
			Base: "a", New: "b", N: 3, Better: 1, Word: word, Diff: new(diff), Low: new(diff - 0.1), High: new(diff + 0.1), P: new(0.04),
		}}}
	}
	untested := d("", 0.25)
	untested.Differences[0].Low, untested.Differences[0].P = nil, nil
	undefined := d("", 0)
	undefined.Differences[0] = compare.Difference{Base: "a", New: "b", Reason: "no row"}
	for want, m := range map[string]compare.Metric{
		"Against a: b is better on char_f1 by 0.250 (p 0.040).": d(compare.Better, 0.25),
		"Against a: b is worse on char_f1 by 0.250 (p 0.040).":  d(compare.Worse, -0.25),
		"Against a: no difference found.":                       d(compare.Tied, 0.05),
		"Against a: too few questions to tell.":                 untested,
		"Against a: no row.":                                    undefined,
	} {
		if got := NewComparison(against(m)).headline(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestHeadlineBySystem: the headline of two runs names the systems that differ.
func TestHeadlineBySystem(t *testing.T) {
	metric := func(system string, w compare.Word, diff float64) compare.Metric {
		return compare.Metric{Metric: "hallucination_rate", Agg: runs.Macro, System: system, Direction: -1, Deciding: true, Questions: 3, Differences: []compare.Difference{{
			Base: "a", New: "b", N: 3, Better: 1, Worse: 2, Word: w, Diff: new(diff),
		}}}
	}
	c := NewComparison(&compare.Result{By: "run", Base: "a", Sides: []compare.Side{{Name: "a"}, {Name: "b"}}, Metrics: []compare.Metric{
		metric("three", compare.Better, -0.1), metric("one", compare.Worse, 0.25), metric("two", compare.Tied, 0.05),
	}})
	want := "Since a: one is worse on hallucination by 0.250 and three is better on hallucination by 0.100."
	if got := c.headline(); got != want {
		t.Errorf("headline:\n%s, want\n%s", got, want)
	}
	c.Metrics = []compare.Metric{metric("one", compare.Same, 0), metric("two", compare.Tied, 0.02)}
	if got := c.headline(); got != "Since a: no difference found." {
		t.Errorf("headline: %s", got)
	}
}
