package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// A runHead is one run at the top of the page.
type runHead struct {
	ID    string
	Facts []string
	Gates []gateHead // those that look at no single system that has a card
}

type gateHead struct {
	Gate, Word, Value string
	Tone              tone
}

// A verdictView says in words what the page shows in numbers.
type verdictView struct {
	Headline string // the verdict in one sentence
	Standing []standingLine
	Sampled  string     // which rows are left out; "" if none
	Signs    []signView // that take verdicts from gates
	Noted    []signView // that were accepted or only are notes
	Cards    []systemCard
	Table    *cardTable // in place of cards, where there are many systems
	Tiles    []tileView // in place of cards, where there is one system
	Of       string     // run that the numbers are of, where the page has others; "" if it has not
	Base     string     // run that changes are from; "" if there are none
	Worst    []worstCitation
	WorstOf  string // their heading
	Lines    []finding
	Several  bool // there is more than one run
	Runs     []runHead
	Spark    *sparkView // of the nights before; nil if there are too few
}

func verdictSection(data *pageData) *section {
	view := &verdictView{Headline: verdictInWords(data), Standing: standing(data), Sampled: data.sampled, Several: data.several()}
	view.Cards, view.Table = cards(data)
	if shown := firstSystems(data); len(shown) == 1 {
		view.Tiles = numbersOf(data, shown[0])
	}
	if r := data.options.Since; r != nil {
		view.Base = line(r.Sides[0].Name, 40)
		if len(data.results) == 2 {
			view.Of = line(data.results[1].run.Manifest.ID, 40)
		}
	}
	for _, r := range data.results {
		view.Runs = append(view.Runs, newRunHead(r, len(view.Cards) > 0))
	}
	for _, s := range signs(data) {
		if s.Tone == toneWarn {
			view.Signs = append(view.Signs, s)
		} else {
			view.Noted = append(view.Noted, s)
		}
	}
	view.Lines = moved(data)
	if data.trends != nil && len(data.systems) < 2 {
		view.Spark = data.trends.Spark
	}
	for _, w := range data.worst {
		view.Worst = append(view.Worst, newWorstCitation(data, w))
	}
	view.WorstOf = worstOf(data)
	return &section{"verdict", "Verdict", view}
}

// worstOf is the heading of the worst answers.
func worstOf(data *pageData) string {
	text := "The worst answer"
	if n := len(data.worst); n > 1 {
		text = fmt.Sprintf("The %s worst answers", []string{"two", "three"}[n-2])
	}
	if len(data.results) == 2 {
		text += " of " + line(data.results[1].run.Manifest.ID, 40)
	}
	for _, newly := range newlyFailing(data.options.Since) {
		if len(newly) > 0 {
			return text + ", new failures first"
		}
	}
	return text
}

// A signView is one sign that the input may be wrong, or a note.
type signView struct {
	Tone            tone
	Name, Text, Tip string
}

// signs are those of all runs.
func signs(data *pageData) []signView {
	var out []signView
	for _, r := range data.results {
		for _, s := range r.run.Manifest.Signs {
			v := signView{
				Tone: toneWarn, Name: "sign: " + s.Name, Text: shown(s.Text) + ".",
				Tip: "Probably " + shown(s.Cause) + ". What to do: " + shown(s.Tip) + ".",
			}
			if s.System != "" {
				v.Text = line(s.System, 60) + ": " + v.Text
			}
			if r.prefix != "" {
				v.Text = r.prefix + v.Text
			}
			switch {
			case s.Note:
				v.Tone, v.Name, v.Tip = toneNote, "note: "+s.Name, ""
			case s.Accepted:
				v.Tone, v.Name, v.Tip = toneNote, v.Name+", accepted", ""
			default:
				v.Text += " Gates over " + Plural(int64(len(s.Metrics)), "metric", "metrics") + " of it have no verdict."
			}
			out = append(out, v)
		}
	}
	return out
}

// moved says which places are not where they were said to be, of all runs.
func moved(data *pageData) []finding {
	var out []finding
	for _, r := range data.results {
		for _, text := range r.run.Manifest.Moved() {
			if r.prefix != "" {
				text += ", in " + r.run.Manifest.ID
			}
			out = append(out, sentence("%s", capital(text))...)
		}
	}
	return out
}

func oneOrMany(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// sentence is a finding without links.
func sentence(format string, args ...any) []finding {
	return []finding{{{Text: fmt.Sprintf(format, args...) + "."}}}
}

// gatesInWords counts gates by how they ended.
func gatesInWords(gates []runs.GateResult) string {
	count, all := countGates(gates), len(gates)
	failed, open, passed := count[runs.Failed], count[runs.NoVerdict], count[runs.Passed]
	switch {
	case all == 0:
		return "none is set"
	case failed+open > 0:
	case all == 1:
		return "the only one passed"
	default:
		return fmt.Sprintf("all %d passed", all)
	}
	var parts []string
	for _, part := range []struct {
		n    int64
		what string
	}{{failed, "failed"}, {open, oneOrMany(open, "has no verdict", "have no verdict")}, {passed, "passed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", part.n, all, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

func newRunHead(r *results, cards bool) runHead {
	m := r.run.Manifest
	h := runHead{ID: line(m.ID, 120)}
	h.Facts = append(h.Facts, Plural(m.Rows, "row", "rows"), Plural(m.Citations, "citation", "citations"))
	if n := r.systems; n > 1 {
		h.Facts = append(h.Facts, Plural(int64(n), "system", "systems"))
	}
	if m.Errors > 0 {
		h.Facts = append(h.Facts, Plural(m.Errors, "error row", "error rows"))
	}
	if m.Judge.CostUSD != nil {
		h.Facts = append(h.Facts, fmt.Sprintf("$%.2f", *m.Judge.CostUSD))
	}
	h.Facts = append(h.Facts, m.Timings.Started.UTC().Format("2006-01-02 15:04 UTC"))
	for _, g := range r.run.Gates {
		if !cards || systemOfGate(g) == "" {
			h.Gates = append(h.Gates, newGateHead(g))
		}
	}
	// What did not pass is what somebody looks for.
	slices.SortStableFunc(h.Gates, func(a, b gateHead) int { return gateOrder[a.Tone] - gateOrder[b.Tone] })
	return h
}

var gateOrder = map[tone]int{toneBad: 0, toneWarn: 1, toneGood: 2}

func newGateHead(g runs.GateResult) gateHead {
	w := gateWords[g.Verdict]
	h := gateHead{Gate: shown(g.Gate), Value: "is " + numberOrDash(g.Value), Word: w.page, Tone: w.tone}
	if g.Reason != "" {
		h.Value = shown(g.Reason)
	}
	return h
}

func judgeInWords(r *results) string {
	kind := r.judgeKind()
	if who := judgeWords[kind].who; who != "" {
		return who
	}
	if m := r.run.Manifest.Judge.Model; m != "" {
		return line(m, 80) + " (" + kind + ")"
	}
	return kind
}
