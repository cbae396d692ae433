package report

import (
	"cmp"
	"fmt"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A JudgeSection is what a judge did and what its scores are worth.
type JudgeSection struct {
	Run       string // "" if there is one
	Who       string
	Facts     [][2]string
	Calls     []CallLine          // by how calls ended
	Against   *CalibrationSection // nil if nobody compared it with people
	Corrected []CorrectedLine
}

// A CallLine counts calls.
type CallLine struct{ Status, Calls, Share string }

// A CorrectedLine is a judged metric corrected by what people said.
type CorrectedLine struct {
	Name, Label, System     string
	Value, Interval         string
	Corrected, CorrectedInt string
	Method                  string
	Strip, CorrectedStrip   Strip
}

// judges tells what judges did and what they are worth: of runs that asked a
// model, have anchors, whose judge was compared with people, or whose scores are corrected.
func (b *pageBuilder) judges() error {
	for _, r := range b.results {
		calls, err := readCalls(r.run.Dir)
		if err != nil {
			return err
		}
		against, err := b.calibrated(r)
		if err != nil {
			return err
		}
		s := JudgeSection{Who: judgeInWords(r), Against: against, Corrected: b.corrected(r)}
		if len(calls) == 0 && r.run.Manifest.Judge.Calls == 0 && r.run.Manifest.Anchors == nil && against == nil && len(s.Corrected) == 0 {
			continue
		}
		if len(b.results) > 1 {
			s.Run = line(r.run.Manifest.ID, 80)
		}
		s.Facts = append(judgeFacts(&r.run.Manifest.Judge), callFacts(calls)...)
		s.Facts = append(s.Facts, anchorFacts(r.run.Manifest.Anchors)...)
		s.Calls = callLines(calls)
		b.page.Judges = append(b.page.Judges, s)
	}
	return nil
}

// judgeFacts are those that the manifest has.
func judgeFacts(j *runs.JudgeRecord) [][2]string {
	var facts [][2]string
	add := func(name, value string) { facts = append(facts, [2]string{name, value}) }
	if j.Model != "" {
		add("model", line(j.Model, 120))
	}
	if j.Asked > 0 {
		add("claims asked about", Thousands(j.Asked))
		add("answered", fmt.Sprintf("%s (%s)", Thousands(j.Asked-j.Unanswered), percent(j.Asked-j.Unanswered, j.Asked)))
	}
	if j.Calls > 0 {
		add("calls", Thousands(j.Calls))
		add("from the cache", fmt.Sprintf("%s (%s)", Thousands(j.Cached), percent(j.Cached, j.Calls)))
	}
	if j.CostUSD != nil {
		add("cost", fmt.Sprintf("$%.4f", *j.CostUSD))
		if n := j.Asked; n > 0 {
			add("cost of 1,000 claims", fmt.Sprintf("$%.4f", *j.CostUSD/float64(n)*1000))
		}
	}
	return facts
}

// callFacts are sums and quantiles over calls.
func callFacts(calls []judgeCall) [][2]string {
	var asked, answered, again, repaired int64
	var latency []float64
	for i := range calls {
		c := &calls[i]
		asked += c.promptTokens.Value
		answered += c.replyTokens.Value
		if c.attempts.Valid && c.attempts.Value > 1 {
			again++
		}
		if c.repaired {
			repaired++
		}
		if c.latency.Valid && !c.cached {
			latency = append(latency, c.latency.Value)
		}
	}
	var facts [][2]string
	add := func(name, value string) { facts = append(facts, [2]string{name, value}) }
	if asked+answered > 0 {
		add("tokens asked", Thousands(asked))
		add("tokens answered", Thousands(answered))
	}
	if n := int64(len(calls)); n > 0 {
		add("calls tried again", fmt.Sprintf("%s (%s)", Thousands(again), percent(again, n)))
		add("replies repaired", fmt.Sprintf("%s (%s)", Thousands(repaired), percent(repaired, n)))
	}
	if n := len(latency); n > 0 {
		slices.Sort(latency)
		at := func(q float64) string { return fmt.Sprintf("%.1f s", latency[min(int(q*float64(n)), n-1)]/1000) }
		add("latency, half of the calls under", at(0.5))
		add("latency, 95 % of the calls under", at(0.95))
	}
	return facts
}

// callLines counts calls by how they ended, the most frequent first.
func callLines(calls []judgeCall) []CallLine {
	counts := make(map[string]int64)
	for i := range calls {
		counts[cmp.Or(calls[i].status, "ok")]++
	}
	names := sortedKeys(counts)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(counts[y], counts[x]) })
	var out []CallLine
	for _, name := range names {
		out = append(out, CallLine{label(line(name, 60)), Thousands(counts[name]), percent(counts[name], int64(len(calls)))})
	}
	return out
}

// corrected are the metrics of a run that have a corrected value.
func (b *pageBuilder) corrected(r *results) []CorrectedLine {
	var out []CorrectedLine
	for i := range r.run.Summary {
		s := &r.run.Summary[i]
		if s.Corrected == nil || s.Estimate == nil || s.Slice != "" || s.Agg != runs.Macro {
			continue
		}
		d, ok := metrics.Lookup(s.Metric)
		if !ok {
			continue
		}
		a := axisOf(d, []float64{*s.Estimate, *s.Corrected})
		l := CorrectedLine{
			Name: d.Name, Label: label(d.Name), System: line(s.System, 80), Value: Number(s.Estimate), Interval: interval(s.Low, s.High),
			Corrected: Number(s.Corrected), CorrectedInt: interval(s.CorrectedLow, s.CorrectedHigh), Method: line(s.CorrectedMethod, 80),
			Strip: a.strip(label(d.Name)+" as judged", s, nil),
		}
		fixed := *s
		fixed.Estimate, fixed.Low, fixed.High = s.Corrected, s.CorrectedLow, s.CorrectedHigh
		l.CorrectedStrip = a.strip(label(d.Name)+" corrected", &fixed, nil)
		l.CorrectedStrip.Shape, l.CorrectedStrip.Colour = 3, 2
		if l.System == "" {
			l.System = "all systems"
		}
		out = append(out, l)
	}
	return out
}
