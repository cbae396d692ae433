package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A runJudge is what a judge did and what its scores are worth.
type runJudge struct {
	Run       string // "" if there is one
	Who       string
	Facts     [][2]string
	Calls     []callLine       // by how calls ended
	Against   *calibrationView // nil if nobody compared it with people
	Corrected []correctedLine
}

type callLine struct{ Status, Calls, Share string }

// A correctedLine is a judged metric corrected by what people said.
type correctedLine struct {
	Name, Label, System     string
	Value, Interval         string
	Corrected, CorrectedInt string
	Method                  string
	Strip, CorrectedStrip   stripView
}

// A judgeView is what judges did, and whether they moved between runs.
type judgeView struct {
	Drifts []driftView
	Runs   []runJudge
}

// judgeSection tells what judges did and what they are worth: of runs that asked a
// model, have anchors, whose judge was compared with people, or whose scores are corrected.
func judgeSection(data *pageData) *section {
	view := &judgeView{Drifts: driftViews(data)}
	for _, r := range data.results {
		calls, against := &r.calls, calibrated(data, r)
		s := runJudge{Who: judgeInWords(r), Against: against, Corrected: corrected(r)}
		if calls.calls == 0 && r.run.Manifest.Judge.Calls == 0 && r.run.Manifest.Anchors == nil && against == nil && len(s.Corrected) == 0 {
			continue
		}
		if data.several() {
			s.Run = line(r.run.Manifest.ID, 80)
		}
		s.Facts = append(judgeFacts(&r.run.Manifest.Judge), calls.facts()...)
		s.Facts = append(s.Facts, anchorFacts(r.run.Manifest.Anchors)...)
		s.Calls = calls.lines()
		view.Runs = append(view.Runs, s)
	}
	if len(view.Runs)+len(view.Drifts) == 0 {
		return nil
	}
	return &section{"judge", "Judge", view}
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

// callSums are sums over the calls of a run.
type callSums struct {
	calls, asked, answered, again, repaired int64

	latency []float64 // in milliseconds, of those that were not cached
	ended   map[string]int64
}

// readCalls sums up the calls of a run, if it has any.
func readCalls(dir string) (callSums, error) {
	s := callSums{ended: make(map[string]int64)}
	columns := []string{"row", "cached", "repaired", "attempts", "prompt_tokens", "completion_tokens", "latency_ms", "status"}
	err := runs.Calls.Scan(dir, columns, func(_ int64, c *runs.Call) error {
		s.add(c)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

func (s *callSums) add(c *runs.Call) {
	s.calls++
	if c.PromptTokens != nil {
		s.asked += *c.PromptTokens
	}
	if c.CompletionTokens != nil {
		s.answered += *c.CompletionTokens
	}
	if c.Attempts > 1 {
		s.again++
	}
	if c.Repaired {
		s.repaired++
	}
	if c.LatencyMillis != nil && !c.Cached {
		s.latency = append(s.latency, float64(*c.LatencyMillis))
	}
	ended := cmp.Or(c.Status, "ok")
	if _, ok := s.ended[ended]; !ok {
		ended = strings.Clone(ended)
	}
	s.ended[ended]++
}

// facts are sums and quantiles over calls.
func (s *callSums) facts() [][2]string {
	var facts [][2]string
	add := func(name, value string) { facts = append(facts, [2]string{name, value}) }
	if s.asked+s.answered > 0 {
		add("tokens asked", Thousands(s.asked))
		add("tokens answered", Thousands(s.answered))
	}
	if n := s.calls; n > 0 {
		add("calls tried again", fmt.Sprintf("%s (%s)", Thousands(s.again), percent(s.again, n)))
		add("replies repaired", fmt.Sprintf("%s (%s)", Thousands(s.repaired), percent(s.repaired, n)))
	}
	if n := len(s.latency); n > 0 {
		slices.Sort(s.latency)
		at := func(q float64) string { return fmt.Sprintf("%.1f s", s.latency[min(int(q*float64(n)), n-1)]/1000) }
		add("latency, half of the calls under", at(0.5))
		add("latency, 95 % of the calls under", at(0.95))
	}
	return facts
}

// lines counts calls by how they ended, the most frequent first.
func (s *callSums) lines() []callLine {
	names := sortedKeys(s.ended)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(s.ended[y], s.ended[x]) })
	var out []callLine
	for _, name := range names {
		out = append(out, callLine{label(line(name, 60)), Thousands(s.ended[name]), percent(s.ended[name], s.calls)})
	}
	return out
}

// corrected are the metrics of a run that have a corrected value.
func corrected(r *results) []correctedLine {
	var out []correctedLine
	for i := range r.run.Summary {
		s := &r.run.Summary[i]
		if s.Corrected == nil || s.Estimate == nil || s.Slice != "" || s.Agg != runs.Macro {
			continue
		}
		d, ok := metrics.Lookup(s.Metric)
		if !ok || hidden(d) {
			continue
		}
		a := axisOf(d, []float64{*s.Estimate, *s.Corrected})
		l := correctedLine{
			Name: d.Name, Label: label(d.Name), System: line(s.System, 80), Value: numberOrDash(s.Estimate), Interval: interval(s.Low, s.High),
			Corrected: numberOrDash(s.Corrected), CorrectedInt: interval(s.CorrectedLow, s.CorrectedHigh), Method: line(s.CorrectedMethod, 80),
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

// commonJudge is what verdicts are called in all runs that have some.
func commonJudge(data *pageData) string {
	var names []string
	for _, r := range data.results {
		if r.judged {
			names = append(names, judgeName(r.run.Manifest))
		}
	}
	if names = distinct(names); len(names) == 1 {
		return names[0]
	}
	return "Judge"
}

// judgedBy names the kinds of judges whose verdicts are counted together.
func judgedBy(data *pageData) string {
	var names []string
	for _, r := range data.results {
		if kind := r.judgeKind(); kind != "none" {
			names = append(names, cmp.Or(judgeWords[kind].by, "the judge"))
		}
	}
	return list(distinct(names))
}

// distinct are texts, each once, in the order of their first appearance.
func distinct(texts []string) (out []string) {
	for _, s := range texts {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// baselineOf says, where verdicts are those of the lexical baseline, what that means, and
// of which runs where another judge judged others; "" if none are. The page says it once.
func baselineOf(data *pageData) string {
	var names []string
	others := false
	for _, r := range data.results {
		if r.judgeKind() == "lexical" {
			names = append(names, line(r.run.Manifest.ID, 80))
		} else {
			others = true
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := "It compares words and understands nothing: take its verdicts as a floor to measure judges against."
	if others {
		text = "The lexical one, in " + list(names) + ", compares words and understands nothing: take its verdicts as a floor."
	}
	return text
}

// A driftView is whether the judge moved between two runs, by its verdicts on the
// same anchors.
type driftView struct {
	Title   string
	Word    word
	Says    string
	Facts   [][2]string
	Flipped []flippedLine // the first of them
	More    string        // how many others there are, "" if none
}

// A flippedLine is a verdict that only one of the runs calls supported.
type flippedLine struct{ Anchor, Before, After, Text string }

// shownFlips is how many flipped verdicts a page lists: JSON has all.
const shownFlips = 50

// driftViews tell whether the judge moved between the runs of the page.
func driftViews(data *pageData) (views []driftView) {
	all := data.options.Drifts
	if r := data.options.Comparison; r != nil {
		all = r.Drifts
	}
	for _, d := range all {
		v := driftView{
			Title: line(d.New, 80) + " against " + line(d.Base, 80), Word: driftWord(d), Says: capital(shown(d.Sentence())), Facts: driftFacts(d),
		}
		for i := range d.Flipped[:min(len(d.Flipped), shownFlips)] {
			c := flipCells(&d.Flipped[i])
			v.Flipped = append(v.Flipped, flippedLine{c[0], c[1], c[2], c[3]})
		}
		if n := int64(len(d.Flipped) - len(v.Flipped)); n > 0 {
			v.More = Thousands(n) + " more in ibid compare --json"
		}
		views = append(views, v)
	}
	return views
}

func driftWord(d *compare.Drift) word {
	switch {
	case d.Unchecked != "":
		return word{"unchecked", "not checked", "Whether the judge moved was not checked.", toneNeutral}
	case d.Moved:
		return word{"moved", "moved", "More verdicts on the same anchors flipped one way than chance explains.", toneBad}
	}
	return word{"steady", "steady", "Chance may explain the verdicts on the same anchors that flipped.", toneGood}
}

// driftFacts are the figures of the test, and how the judge agrees with people.
func driftFacts(d *compare.Drift) [][2]string {
	if d.Unchecked != "" {
		return nil
	}
	facts := [][2]string{
		{"verdicts on anchors", fmt.Sprintf("%s on %s", Thousands(d.Verdicts), Thousands(d.Rows))},
		{"became supported", Thousands(d.Gained)},
		{"became unsupported", Thousands(d.Lost)},
		{"flipped", percent(d.Gained+d.Lost, d.Verdicts)},
	}
	if d.OneSided > 0 {
		facts = append(facts, [2]string{"judged in one run only", Thousands(d.OneSided)})
	}
	for i := range d.Agreement {
		a := &d.Agreement[i]
		facts = append(facts,
			[2]string{a.Kind + ", sensitivity", numberOrDash(a.Before.Sensitivity) + " → " + numberOrDash(a.After.Sensitivity)},
			[2]string{a.Kind + ", specificity", numberOrDash(a.Before.Specificity) + " → " + numberOrDash(a.After.Specificity)})
	}
	return facts
}

// anchorFacts say what the anchors of a run are, and how the judge agrees on them
// with people.
func anchorFacts(a *runs.AnchorsRecord) [][2]string {
	if a == nil {
		return nil
	}
	facts := [][2]string{{"anchors", fmt.Sprintf("%s with %s", Plural(a.Rows, "row", "rows"), Plural(a.Claims, "claim", "claims"))}}
	if a.SpentUSD != nil {
		facts = append(facts, [2]string{"cost of the anchors", fmt.Sprintf("$%.4f", *a.SpentUSD)})
	}
	for i := range a.Agreement {
		of := compare.RatesOf(a.Agreement[i].Counts())
		facts = append(facts, [2]string{
			"anchors, " + a.Agreement[i].Kind,
			fmt.Sprintf("sensitivity %s, specificity %s (%s)", numberOrDash(of.Sensitivity), numberOrDash(of.Specificity), Plural(of.Items, "label", "labels")),
		})
	}
	return facts
}

// A callShown is one call of the judge in words.
type callShown struct {
	Model  string `json:"model,omitempty"`
	Facts  string `json:"facts"`
	Cached bool   `json:"cached,omitempty"`
}

// newCallShown puts a call into words.
func newCallShown(c *runs.Call) callShown {
	out := callShown{Model: line(c.Model, 80), Cached: c.Cached}
	add := func(format string, args ...any) {
		if out.Facts != "" {
			out.Facts += " · "
		}
		out.Facts += fmt.Sprintf(format, args...)
	}
	if c.Cached {
		add("from the cache")
	}
	if c.Status != "" && c.Status != "ok" {
		add("%s", line(label(c.Status), 80))
	}
	if c.Error != "" {
		add("%s", line(c.Error, 300))
	}
	if c.CostUSD != nil {
		add("$%.5f", *c.CostUSD)
	}
	if c.PromptTokens != nil && c.CompletionTokens != nil {
		add("%s tokens asked, %s answered", Thousands(*c.PromptTokens), Thousands(*c.CompletionTokens))
	}
	if c.LatencyMillis != nil && !c.Cached {
		add("%.1f s", float64(*c.LatencyMillis)/1000)
	}
	if c.Attempts > 1 {
		add("%s attempts", Thousands(int64(c.Attempts)))
	}
	if c.Repaired {
		add("reply repaired")
	}
	return out
}
