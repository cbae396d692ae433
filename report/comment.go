package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A Comment is what the reviewers of a change read of its run: whether its gates passed, what is
// certainly different from its base, which answers newly fail, and what quotations are wrong.
type Comment struct {
	*Gates
	Compared Compared
	Failing  *Failing // the answers that newly fail; nil without a base
	Page     string   // the address of the page of the run; "" if there is none
}

// How much stands above the fold.
const (
	commentDifferences = 10
	commentAnswers     = 5
)

func (c *Comment) section() doc.Section {
	lead := doc.Text{{Text: c.Compared.conclude(answerCount{}, nil).Since}}
	if c.Page != "" {
		lead = append(lead, doc.Span{Text: " "}, doc.Span{Text: "page", Link: c.Page})
	}
	out := doc.Section{Title: c.verdict()}
	if len(lead) > 1 || lead[0].Text != "" {
		out.Blocks = append(out.Blocks, doc.Para{Text: lead})
	}
	out.Blocks = append(out.Blocks, paras(doc.Note, c.Lacks)...)
	var passed, others []runs.GateResult
	for _, g := range c.Results {
		if g.Verdict == runs.Passed {
			passed = append(passed, g)
		} else {
			others = append(others, g)
		}
	}
	if len(others) > 0 {
		out.Blocks = append(out.Blocks, gateBlocks("Gates that did not pass", others)...)
	}
	var comparison *Comparison
	if r := c.Compared.Since; r != nil {
		comparison = NewComparison(r)
		out.Blocks = append(out.Blocks, comparison.certain()...)
	}
	out.Blocks = append(append(out.Blocks, c.newlyFailing()...), c.quotations...)
	if len(passed) > 0 {
		out.Blocks = append(out.Blocks, doc.Details{Summary: "passed gates", Blocks: gateBlocks("passed gates", passed)})
	}
	if comparison != nil {
		var all []*compare.Metric
		for i := range comparison.Metrics {
			all = append(all, &comparison.Metrics[i])
		}
		out.Blocks = append(out.Blocks, doc.Details{Summary: "all differences", Blocks: comparison.table("all differences", all)})
	}
	if r := c.Compared.Since; r != nil && len(r.Failures) > 0 {
		out.Blocks = append(out.Blocks, doc.Details{Summary: "answers that fail", Blocks: failureLists(r, nil)})
	}
	return out
}

// verdict is what came of the gates, in a sentence.
func (c *Comment) verdict() string {
	all := int64(len(c.Results))
	worst := gravest(c.Results)
	text := fmt.Sprintf("%s of %s", Thousands(countGates(c.Results)[worst]), Plural(all, "gate", "gates"))
	switch {
	case c.Verdict == runs.Passed:
		return "✅ ibid: " + Plural(all, "gate", "gates") + " passed."
	case c.Verdict == runs.Failed:
		return "❌ ibid: " + text + " failed."
	case worst == runs.NoVerdict:
		return "⚠️ ibid: " + text + " without verdict."
	}
	return "⚠️ ibid: no verdict."
}

// certain is a table of the differences that chance does not explain, what is worse first; nil if
// there are none.
func (c *Comparison) certain() []doc.Block {
	t := doc.Table{Caption: "Differences that are certain", Columns: []doc.Column{{Name: ""}, {Name: ""}, {Name: "difference", Number: true}, {Name: "interval", Number: true}, {Name: "p", Number: true}, {Name: "questions", Number: true}}}
	for _, word := range []compare.Word{compare.Worse, compare.Better, compare.Different} {
		for i := range c.Metrics {
			m := &c.Metrics[i]
			for k := range m.Differences {
				d := &m.Differences[k]
				if d.Word != word || d.Diff == nil || len(t.Rows) == commentDifferences {
					continue
				}
				name, between := c.label(m, d.New), interval(d.Low, d.High)
				if m.Deciding {
					name = shortQuantity(m) + ", " + name
				}
				if of, _ := metrics.Lookup(m.Metric); d.Low != nil && *d.High-*d.Low > 1 && of.Min == 0 && of.Max == 1 {
					between = fmt.Sprintf("too few questions (%d)", d.N)
				}
				t.Rows = append(t.Rows, []doc.Cell{doc.C(name), {Text: doc.Text{{Text: words[word].Short, Tone: words[word].Tone}}}, doc.C(signed(d.Diff)), doc.C(between), doc.C(pValue(d)), doc.C(Thousands(d.N))})
			}
		}
	}
	return filled(t)
}

// newlyFailing counts the answers that fail since the base, and names the worst that are new.
func (c *Comment) newlyFailing() (out []doc.Block) {
	r := c.Compared.Since
	if r == nil || len(r.Failures) == 0 || c.Failing == nil {
		return nil
	}
	var fixed, still int64
	for i := range r.Failures {
		fixed, still = fixed+r.Failures[i].Fixed.Rows, still+r.Failures[i].Still.Rows
	}
	say := func(kind doc.Kind, text doc.Text) { out = append(out, doc.Para{Kind: kind, Text: text}) }
	say(doc.Plain, doc.T(fmt.Sprintf("%s newly failing (%s fixed, %s still failing)", Thousands(c.Failing.Failing), Thousands(fixed), Thousands(still))))
	named := c.Failing.Rows[:min(len(c.Failing.Rows), commentAnswers)]
	for i := range named {
		name := doc.Span{Text: named[i].name()}
		if c.Page != "" {
			name.Link = c.Page + "#row=" + escapeLink(named[i].ID) + "/" + escapeLink(named[i].System)
		}
		why := slices.Concat([]string{problemWords[named[i].Problem].Short}, named[i].Why)
		say(doc.Item, doc.Text{name, {Text: ": " + clip(strings.Join(slices.Compact(why), ", "), 100)}})
	}
	if left := c.Failing.Failing - int64(len(named)); left > 0 {
		say(doc.Item, doc.T(Thousands(left)+" more"))
	}
	return out
}
