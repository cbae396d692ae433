package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid/dataset/runs"
)

// A RunHead is one run at the top of the page.
type RunHead struct {
	ID    string
	Facts []string
	Gates []GateHead
	Judge string // who judged, in words
	Base  bool   // verdicts are those of the lexical baseline
}

// A GateHead is one gate in words.
type GateHead struct {
	Gate, Word, Value string
	Tone              Tone
}

// verdict says in words what the page shows in numbers.
func (b *pageBuilder) verdict() {
	p := b.page
	var ids []string
	for _, r := range b.results {
		p.Runs = append(p.Runs, runHead(r))
		ids = append(ids, line(r.run.Manifest.ID, 80))
	}
	p.Title = strings.Join(ids, ", ")
	p.State = b.state()
	t := &b.totals
	rows, bad, errors := sum(t.rows), sum(t.failing), sum(t.errors)
	p.Headline = b.gatesInWords() + " " + fmt.Sprintf("%s of %s", Thousands(rows-bad), plural(rows, "answer", "answers"))
	if rows-bad == 1 {
		p.Headline += " shows no serious problem"
	} else {
		p.Headline += " show no serious problem"
	}
	if bad > 0 {
		p.Headline += fmt.Sprintf("; %s %s.", Thousands(bad), oneOrMany(bad, "fails", "fail"))
	} else {
		p.Headline += "."
	}
	if errors > 0 {
		var f Finding
		f.link(plural(errors, "row", "rows"), "is:error")
		f.say(" could not be scored.")
		p.Lines = append(p.Lines, f)
	}
	b.sayStatuses()
	b.sayOutcomes()
	b.saySystems()
	b.whatChanged()
}

// state is the verdict in one word, of the gates of all runs.
func (b *pageBuilder) state() GateHead {
	worst := GateHead{Word: "no gates", Tone: Neutral}
	for _, r := range b.results {
		for _, g := range r.run.Gates {
			switch {
			case g.Verdict == runs.Failed:
				return GateHead{Word: "failed", Tone: Bad}
			case g.Verdict == runs.NoVerdict:
				worst = GateHead{Word: "no verdict", Tone: Warn}
			case worst.Tone == Neutral:
				worst = GateHead{Word: "passed", Tone: Good}
			}
		}
	}
	return worst
}

func oneOrMany(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// say adds a sentence without links.
func (b *pageBuilder) say(format string, args ...any) {
	b.page.Lines = append(b.page.Lines, Finding{{Text: fmt.Sprintf(format, args...) + "."}})
}

// gatesInWords counts the gates of all runs.
func (b *pageBuilder) gatesInWords() string {
	var passed, failed, open int
	for _, r := range b.results {
		for _, g := range r.run.Gates {
			switch g.Verdict {
			case runs.Passed:
				passed++
			case runs.Failed:
				failed++
			default:
				open++
			}
		}
	}
	all := passed + failed + open
	switch {
	case all == 0:
		return "No gate was set."
	case failed > 0:
		return fmt.Sprintf("%d of %s failed.", failed, plural(int64(all), "gate", "gates"))
	case open > 0:
		return fmt.Sprintf("%d of %s %s no verdict.", open, plural(int64(all), "gate", "gates"), oneOrMany(int64(open), "has", "have"))
	case all == 1:
		return "The gate passed."
	case all == 2:
		return "Both gates passed."
	}
	return fmt.Sprintf("All %d gates passed.", all)
}

// sayStatuses says how many citations are valid and what is commonest among the
// others.
func (b *pageBuilder) sayStatuses() {
	t := &b.totals
	all, valid := sum(t.citations), sum(t.valid)
	if all == 0 {
		return
	}
	if sum(t.status["ok"]) == all {
		if all == 1 {
			b.say("The citation points at a place that exists")
		} else {
			b.say("All %s point at a place that exists", plural(all, "citation", "citations"))
		}
		return
	}
	// A citation that could not be checked counts as valid, but nobody knows
	// whether its place exists.
	var f Finding
	if valid == all {
		f.say("No citation of %s is known to be invalid: ", Thousands(all))
	} else {
		f.say("%s of %s %s not valid: ", Thousands(all-valid), plural(all, "citation", "citations"), oneOrMany(all-valid, "is", "are"))
	}
	words := slices.DeleteFunc(slices.Clone(statusWords), func(w Word) bool {
		return sum(t.status[w.Code]) == 0 || valid != all && validStatus(w.Code)
	})
	f.list(len(words), func(k int) {
		f.link(words[k].Short, "status:"+words[k].Code)
		f.say(" (%s)", Thousands(sum(t.status[words[k].Code])))
	})
	f.say(".")
	b.page.Lines = append(b.page.Lines, f)
}

// sayOutcomes says what became of the claims.
func (b *pageBuilder) sayOutcomes() {
	all := sum(b.totals.claims)
	if all == 0 || b.parts().NoHallucinations {
		return
	}
	var f Finding
	f.say("Of %s, by %s: ", plural(all, "claim", "claims"), b.judgedBy())
	words := slices.DeleteFunc(slices.Clone(outcomeWords), func(w Word) bool { return sum(b.totals.outcome[w.Code]) == 0 })
	f.list(len(words), func(k int) {
		n := sum(b.totals.outcome[words[k].Code])
		f.say("%s ", Thousands(n))
		f.link(words[k].Short, "outcome:"+words[k].Code)
		f.say(" (%s)", percent(n, all))
	})
	f.say(".")
	b.page.Lines = append(b.page.Lines, f)
}

// saySystems names the systems by the metric that matters most.
func (b *pageBuilder) saySystems() {
	if len(b.systems) < 2 || len(b.lead) == 0 {
		return
	}
	type scored struct {
		name string
		row  *runs.SummaryRow
	}
	var all []scored
	for _, s := range b.systems {
		if row := b.summary.find(s, "", b.lead[0]); row != nil {
			all = append(all, scored{line(s, 60), row})
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int {
		switch {
		case *x.row.Estimate > *y.row.Estimate:
			return -1
		case *x.row.Estimate < *y.row.Estimate:
			return 1
		}
		return 0
	})
	if len(all) == 0 {
		return
	}
	var parts []string
	for _, s := range all[:min(len(all), 8)] {
		parts = append(parts, fmt.Sprintf("%s %s", s.name, strings.TrimSpace(Number(s.row.Estimate)+" "+interval(s.row.Low, s.row.High))))
	}
	b.say("%s by system: %s", label(b.lead[0]), list(parts))
}

// runHead says what a run is.
func runHead(r *results) RunHead {
	m := r.run.Manifest
	h := RunHead{ID: line(m.ID, 120), Base: r.judgeKind() == "lexical", Judge: judgeInWords(r)}
	h.Facts = append(h.Facts, plural(m.Rows, "row", "rows"), plural(m.Citations, "citation", "citations"))
	if n := len(systemsOf(r)); n > 1 {
		h.Facts = append(h.Facts, plural(int64(n), "system", "systems"))
	}
	if m.Errors > 0 {
		h.Facts = append(h.Facts, plural(m.Errors, "error row", "error rows"))
	}
	if m.Judge.CostUSD != nil {
		h.Facts = append(h.Facts, fmt.Sprintf("$%.2f", *m.Judge.CostUSD))
	}
	h.Facts = append(h.Facts, took(m.Timings.Seconds))
	if m.Timings.Finished != nil {
		h.Facts = append(h.Facts, m.Timings.Finished.UTC().Format("2006-01-02 15:04 UTC"))
	}
	for _, g := range r.run.Gates {
		h.Gates = append(h.Gates, gateHead(g))
	}
	// What did not pass is what somebody looks for.
	slices.SortStableFunc(h.Gates, func(a, b GateHead) int { return gateOrder[a.Tone] - gateOrder[b.Tone] })
	return h
}

var gateOrder = map[Tone]int{Bad: 0, Warn: 1, Good: 2}

func took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func systemsOf(r *results) map[string]bool {
	seen := make(map[string]bool)
	for _, s := range r.system {
		seen[s] = true
	}
	return seen
}

func gateHead(g runs.GateResult) GateHead {
	h := GateHead{Gate: shown(g.Gate), Value: "is " + Number(g.Value)}
	switch g.Verdict {
	case runs.Passed:
		h.Word, h.Tone = "passed", Good
	case runs.Failed:
		h.Word, h.Tone = "failed", Bad
	default:
		h.Word, h.Tone = "no verdict", Warn
	}
	if g.Reason != "" {
		h.Value = shown(g.Reason)
	}
	return h
}

func judgeInWords(r *results) string {
	j := r.run.Manifest.Judge
	switch kind := r.judgeKind(); kind {
	case "none":
		return "no judge: this run looks at where citations point, not at what they say"
	case "lexical":
		return "judged by the lexical baseline, which compares words and understands nothing: its verdicts are a floor to measure judges against"
	case "human":
		return "judged by people"
	default:
		if j.Model != "" {
			return "judged by " + line(j.Model, 80) + " (" + kind + ")"
		}
		return "judged by " + kind
	}
}
