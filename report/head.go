package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A standing is what is said first of a system.
type standing struct {
	name, link string // link leads to its rows
	failing    doc.Text
	rank       string // "" if it has none
	of         *Summary
	block      *summaryBlock // its numbers
}

// number is a number of the system, nil if it is not defined.
func (s *standing) number(metric string) *runs.SummaryRow {
	if l := s.block.line(metric); l != nil {
		return &l.Macro
	}
	return nil
}

// notes are on a number that is defined.
func (s *standing) notes(metric string) []string {
	l := s.block.line(metric)
	notes := slices.Clone(l.Notes)
	if f1 := s.block.line("char_f1"); f1 != nil && l.Metric.ComparesTruth() {
		if n := f1.Macro.Reasons[ibid.NoTruth.String()]; n > 0 {
			notes = append(notes, fmt.Sprintf("%s of %s %s no truth", Thousands(n), Plural(f1.Macro.N+f1.Macro.Undefined, "answer", "answers"), oneOrMany(n, "has", "have")))
		}
	}
	for _, sign := range s.of.Run.Signs {
		if sign.Counts(s.block.System, metric) {
			notes = append(notes, "sign "+sign.Name+": the number may be wrong")
		}
	}
	return notes
}

// mostStandings is how many systems are listed first.
const mostStandings = 20

// rankOf orders systems by a metric: the least is the best, one without a value is last.
func rankOf(metric string, s *runs.SummaryRow) float64 {
	switch d, _ := metrics.Lookup(metric); {
	case s == nil || s.Estimate == nil:
		return math.Inf(1)
	case d.Direction == metrics.LowerIsBetter:
		return *s.Estimate
	}
	return -*s.Estimate
}

// standings are the systems of a run; a run without systems has all answers. Prefix stands
// before their names on the page.
func (s *Summary) standings(prefix string, lead []string) (out []standing) {
	blocks := s.firstBlocks()
	for i := range blocks {
		b := &blocks[i]
		name := clip(prefix+b.name(), 80)
		x := standing{name: name, link: rowsLink("system:" + name), of: s, block: b, rank: s.rank(b.System, lead[0])}
		if b.System == "" {
			x.link = "#answers"
		} else if s.Failing != nil {
			x.failing = doc.Text{{Text: s.Failing.BySystem[b.System].failing(), Link: rowsLink("system:"+name, "is:failing")}}
		}
		out = append(out, x)
	}
	return out
}

// sortStandings puts the best first, by the first metric that matters of which some system has a
// number.
func sortStandings(lead []string, systems []standing) {
	for _, metric := range lead {
		rank := func(s standing) float64 { return rankOf(metric, s.number(metric)) }
		if slices.ContainsFunc(systems, func(s standing) bool { return !math.IsInf(rank(s), 0) }) {
			slices.SortStableFunc(systems, func(x, y standing) int { return cmp.Compare(rank(x), rank(y)) })
			return
		}
	}
}

// standingTable has a line for each system, or whatever else: its rank, or the change since an earlier run where
// there is one, the first metric with its interval, then the others that lead.
func standingTable(what, caption string, lead []string, systems []standing, since bool, most int) []doc.Block {
	if len(lead) == 0 || len(systems) == 0 {
		return []doc.Block{doc.Para{Text: doc.T("no metric is defined in any row")}}
	}
	before := ""
	if since {
		before = systems[0].of.Since.Sides[0].Name
	}
	t := doc.Table{Caption: caption, Class: "standing", Apart: true}
	d, _ := metrics.Lookup(lead[0])
	var values []float64
	for i := range systems {
		values = append(values, rangeOf(systems[i].number(lead[0]))...)
	}
	a := axisOf(&d, values)
	for i := range systems[:min(len(systems), most)] {
		s := &systems[i]
		rank := doc.Cell{}
		if !since {
			rank = doc.C(s.rank)
		}
		t.Row()
		t.Add(doc.Column{Name: what}, doc.Cell{Text: doc.Text{{Text: s.name, Link: s.link}}})
		t.Add(doc.Column{Name: "rank", Number: true}, rank)
		t.Add(doc.Column{Name: "fail", Number: true}, doc.Cell{Text: s.failing})
		t.Add(doc.Column{Name: "since " + clip(before, 16)}, doc.Cell{Text: changeText(s.changed(lead[0]))})
		for k, name := range lead {
			n, value, ends, drawn, rows := s.number(name), doc.C(numberOrDash(nil)), doc.Cell{}, doc.Cell{}, doc.Cell{}
			if n != nil {
				value, ends = doc.Cell{Text: doc.T(estimateText(n)), Notes: s.notes(name)}, doc.C(intervalOf(n))
				if drawn.Strip = strip(a, name, n, nil); s.failing == nil {
					rows = doc.C(Thousands(n.N))
				}
			}
			t.Add(doc.Column{Name: shortName(name), Number: true, Keep: k}, value)
			if k == 0 {
				t.Add(doc.Column{Name: "interval", Number: true}, ends)
				t.Add(doc.Column{Name: "0 to 1", Page: true, Keep: 1}, drawn)
				t.Add(doc.Column{Name: "n", Number: true, Keep: 1}, rows)
			}
		}
	}
	out := []doc.Block{t}
	if left := len(systems) - most; left > 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(Plural(int64(left), "more system", "more systems"))})
	}
	return out
}

func intervalOf(s *runs.SummaryRow) string { return cmp.Or(s.Reason, interval(s.Low, s.High)) }

// changeText is how a number changed, and how sure that is.
func changeText(d *compare.Difference) doc.Text {
	switch {
	case d == nil || d.Diff == nil:
		return nil
	case d.Better+d.Worse == 0:
		return doc.T(differenceWord(d).Short)
	}
	return doc.Text{{Text: signed(d.Diff) + " " + differenceWord(d).Short, Tone: differenceWord(d).Tone}}
}

// changed is how a number changed since the earlier run; nil if that is not known.
func (s *standing) changed(metric string) *compare.Difference {
	r, system, run := s.of.Since, s.block.System, s.of.Run.ID
	if r == nil || s.block.Slice != "" {
		return nil
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Metric != metric || m.Slice != "" || m.Agg != runs.Macro || m.System != "" && m.System != system {
			continue
		}
		for k := range m.Differences {
			d := &m.Differences[k]
			if d.N > 0 && slices.ContainsFunc(r.Sides, func(s compare.Side) bool { return s.Name == d.New && (run == "" || s.Run == run) }) {
				return d
			}
		}
	}
	return nil
}

// Notes on a metric of which not all was scored. They have no numbers, so that metrics share
// them: the tables of every metric have a column for each number.
const (
	slightlyUnscored = "some of it was not scored: that could change it by 0.05 at most"
	partlyUnscored   = "part of it was not scored: “every metric” has how much, and what it could be"
)

// notesOf are what a reader must know of a metric: what its intervals rest on, why it has no
// estimate, and whether all of it was scored.
func notesOf(l *summaryLine) []string {
	notes := slices.Concat(l.Macro.Warnings, l.Micro.Warnings)
	if r := &l.Macro; r.Reason != "" {
		notes = append([]string{runs.WithheldText(r.Reason, nil, nil)}, l.Micro.Warnings...)
		if l.Micro.Reason != "" {
			notes = notes[:1]
		}
	} else if text := coverageNote(l); text != "" {
		notes = append(notes, text)
	}
	return notes
}

// coverageNote says whether all of a metric was scored; "" if it was.
func coverageNote(l *summaryLine) string {
	const mostly, slightly = 0.9, 0.05 // least coverage, greatest distance of the bounds
	r := &l.Macro
	switch {
	case r.Coverage == nil || *r.Coverage >= 1:
		return ""
	case *r.Coverage >= mostly && r.BoundLow != nil && r.BoundHigh != nil && *r.BoundHigh-*r.BoundLow <= slightly:
		return slightlyUnscored
	}
	return partlyUnscored
}

// scored is how much of a metric was scored, and its least and greatest value if all of it
// were: of the macro value, or of the micro value where that alone has bounds. Both are ""
// where all of it was scored.
func (l *summaryLine) scored() (part, bounds string) {
	c, r, of := l.Macro.Coverage, &l.Macro, ""
	if r.BoundLow == nil || r.BoundHigh == nil {
		r, of = &l.Micro, "micro "
	}
	switch known := r.BoundLow != nil && r.BoundHigh != nil; {
	case (c == nil || *c >= 1) && l.Macro.Reason == "":
		return "", ""
	case !known:
		bounds = "any"
	case short(*r.BoundLow) == short(*r.BoundHigh):
		bounds = of + short(*r.BoundLow)
	default:
		bounds = of + rangeText(*r.BoundLow, *r.BoundHigh)
	}
	if c != nil {
		part = share(*c)
	}
	return part, bounds
}

// share prints a share; of less than all it is not as if it were all.
func share(v float64) string {
	if v >= 0.9995 && v < 1 {
		return "over 0.999"
	}
	return short(v)
}

// short is number without zeros at the end.
func short(v float64) string {
	text := number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// leadCandidates are the metrics a reader asks for first, best first. Those of
// judged runs come first: where there are verdicts, they matter most.
var leadCandidates = []string{
	"overall_citation_accuracy", "citation_correctness", "supported_completeness", "hallucination_rate", "span_accuracy_score", "mean_consistency",
	"char_f1", "char_precision", "char_recall", "mean_snapped_jaccard", "doc_f1", "page_f1", "token_f1", "over_citation",
	"quote_fabrication_rate", "quote_fidelity", "abstention_correct", "citation_presence", "citation_density",
}

// maxLead is how many metrics are shown first.
const maxLead = 6

// leadOf chooses the metrics that are shown first, among those that there are. A score
// that is another metric's value again is left out.
func leadOf(has func(name string) bool) []string {
	var lead []string
	judged := has("citation_correctness")
	for _, name := range leadCandidates {
		again := name == "mean_snapped_jaccard" && slices.Contains(lead, "span_accuracy_score") ||
			!judged && (name == "overall_citation_accuracy" || name == "span_accuracy_score")
		if len(lead) < maxLead && has(name) && !again {
			lead = append(lead, name)
		}
	}
	return lead
}

// shortNames are the names of metrics where there is little room: aliases, so that they
// can be typed.
var shortNames = map[string]string{
	"overall_citation_accuracy": "overall",
	"citation_correctness":      "correctness",
	"supported_completeness":    "completeness",
	"hallucination_rate":        "hallucination",
	"span_accuracy_score":       "span_accuracy",
	"mean_consistency":          "consistency",
	"mean_snapped_jaccard":      "span_overlap",
	"quote_fabrication_rate":    "quote_fabrication",
}

func shortName(metric string) string { return cmp.Or(shortNames[metric], metric) }

// mostLeading is how many numbers of a system the first screen has.
const mostLeading = 8

// Leading are the metrics that a first look shows: those that lead, and those that gates
// name. It is what the change from an earlier run is asked of.
func (s *Summary) Leading() []compare.Quantity {
	var all []compare.Quantity
	for _, name := range s.leading() {
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, compare.Quantity{Metric: d})
		}
	}
	return all
}

func (s *Summary) leading() []string {
	if s.asked != nil {
		return slices.DeleteFunc(slices.Clone(s.asked), func(name string) bool { return !s.has(name) })
	}
	names := leadOf(s.has)
	for _, name := range s.gateMetrics() {
		if s.has(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), mostLeading)]
}

// has reports whether some system has a number of a metric.
func (s *Summary) has(name string) bool {
	blocks := s.firstBlocks()
	if len(blocks) == 0 { // only slices
		blocks = s.Blocks
	}
	return slices.ContainsFunc(blocks, func(b summaryBlock) bool { return b.line(name) != nil })
}

// gateMetrics are the metrics that gates are about, as people see them.
func (s *Summary) gateMetrics() (names []string) {
	for _, gate := range s.Gates {
		g, _ := configs.ParseGate(gate.Gate)
		d, _ := metrics.Lookup(g.Metric)
		names = append(names, shownMetric(d.Name))
	}
	return names
}
