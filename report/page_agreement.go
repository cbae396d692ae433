package report

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// An AgreementSection is how far the annotators of a run agree, as its file of
// agreement has it.
type AgreementSection struct {
	Run   string          // "" if there is one
	Lines []AgreementLine // of all annotators, those that have a target
	More  []AgreementLine // and the others
	Maps  []*HeatMap
	Pairs []AgreementLine     // of two annotators
	Marks []*DisagreementView // the worst ones on places
	Said  []*DisagreementView // and on labels
}

// An AgreementTable is some of the lines under a name of their own: a page has no
// two tables of one name.
type AgreementTable struct {
	Title string
	Lines []AgreementLine
	Names bool // the lines are of different annotators
}

// Table names lines of the section, also by its run if there are several.
func (s AgreementSection) Table(title string, lines []AgreementLine) AgreementTable {
	if s.Run != "" {
		title += " of " + s.Run
	}
	names := slices.ContainsFunc(lines, func(l AgreementLine) bool { return l.Annotators != runs.AllAnnotators })
	return AgreementTable{title, lines, names}
}

// An AgreementLine is one statistic.
type AgreementLine struct {
	Statistic, Annotators, Slice string
	Value, Interval              string
	Target                       string
	Word                         Word // the verdict; its code is "" if there is no target
	Items, Documents             string
	Strip                        Strip
	Notes                        []int
}

// heatStatistics are the statistics that a heat map is drawn of, by kind.
var heatStatistics = map[string]string{runs.SpanAgreement: "char_jaccard", runs.LabelAgreement: "percent_agreement"}

// verdictWords put verdicts on agreement into tones.
var verdictTones = map[string]Tone{
	"meets target": Good, "reliable": Good, "below target": Warn, "tentative": Warn, "recalibrate": Bad, "unreliable": Bad, "no verdict": Neutral,
}

// agreement takes over what is known of the agreement of annotators.
func (b *pageBuilder) agreement() error {
	for run, r := range b.results {
		rows, err := runs.ReadAgreement(r.run.Dir)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		s := AgreementSection{}
		if len(b.results) > 1 {
			s.Run = line(r.run.Manifest.ID, 80)
		}
		for i := range rows {
			a := &rows[i]
			if !wholeSlice(a.Slice) {
				continue
			}
			l := b.agreementLine(a)
			switch {
			case a.Annotators != runs.AllAnnotators:
				s.Pairs = append(s.Pairs, l)
			case a.Target != nil:
				s.Lines = append(s.Lines, l)
			default:
				s.More = append(s.More, l)
			}
		}
		s.Maps = heatMaps(rows)
		if s.Run != "" {
			for _, m := range s.Maps {
				m.Title += " of " + s.Run
			}
		}
		for _, v := range b.disagreements[run] {
			v.Link = b.rowLink(run, v.found.Row)
			if v.found.Kind == runs.LabelAgreement {
				s.Said = append(s.Said, v)
			} else {
				s.Marks = append(s.Marks, v)
			}
		}
		b.page.Agreement = append(b.page.Agreement, s)
	}
	return nil
}

// wholeSlice reports whether a slice of agreement is of all rows: everything, or
// one kind of label.
func wholeSlice(slice string) bool {
	return slice == "" || strings.HasPrefix(slice, "kind=") && !strings.Contains(slice, ",")
}

func (b *pageBuilder) agreementLine(a *runs.AgreementRow) AgreementLine {
	l := AgreementLine{
		Statistic: label(a.Statistic), Annotators: line(whoAgrees(a.Annotators), 120), Slice: line(strings.TrimPrefix(a.Slice, "kind="), 80),
		Value: Number(a.Estimate), Interval: interval(a.Low, a.High), Target: optional(a.Target), Items: Thousands(a.Items), Documents: Thousands(a.Documents),
	}
	if l.Slice == "" {
		l.Slice = map[string]string{runs.SpanAgreement: "marked places", runs.LabelAgreement: "labels"}[a.Kind]
	}
	if a.Verdict != "" {
		l.Word = Word{Code: a.Verdict, Short: line(a.Verdict, 40), Tone: verdictTones[a.Verdict]}
		if l.Word.Tone == "" {
			l.Word.Tone = Neutral
		}
	}
	for _, w := range a.Warnings {
		l.Notes = append(l.Notes, b.page.note(w))
	}
	if a.Estimate != nil {
		l.Strip = agreementStrip(l.Statistic, a)
	}
	return l
}

// agreementStrip draws an estimate between 0 and 1, with its target.
func agreementStrip(name string, a *runs.AgreementRow) Strip {
	unit := axis{0, 1}
	s := unit.strip(name, &runs.SummaryRow{Estimate: a.Estimate, Low: a.Low, High: a.High, Level: a.Level}, nil)
	s.Below = s.Below || a.Low != nil && *a.Low < 0
	if a.Target != nil {
		s.Gates = append(s.Gates, GateRule{X: percentText(unit.at(*a.Target)), Text: "target " + number(*a.Target)})
		s.Label += ", target " + number(*a.Target)
	}
	return s
}

// heatMaps draws one map for each kind of agreement between three or more
// annotators; of two there is nothing to see.
func heatMaps(rows []runs.AgreementRow) []*HeatMap {
	type key struct{ kind, slice string }
	var order []key
	pairs := make(map[key][]pairValue)
	names := make(map[key][]string)
	for i := range rows {
		a := &rows[i]
		first, second, ok := runs.CutPair(a.Annotators)
		if !ok || !wholeSlice(a.Slice) || a.Statistic != heatStatistics[a.Kind] {
			continue
		}
		k := key{a.Kind, a.Slice}
		if pairs[k] == nil {
			order = append(order, k)
		}
		pairs[k] = append(pairs[k], pairValue{first, second, a.Estimate, plural(a.Items, "item", "items")})
		for _, name := range []string{first, second} {
			if !slices.Contains(names[k], name) {
				names[k] = append(names[k], name)
			}
		}
	}
	var out []*HeatMap
	for _, k := range order {
		if len(names[k]) < 3 {
			continue
		}
		slices.Sort(names[k])
		title := label(heatStatistics[k.kind]) + " of two annotators"
		if k.slice != "" {
			title += ", " + line(strings.TrimPrefix(k.slice, "kind="), 80)
		}
		out = append(out, heatMap(title, names[k], pairs[k]))
	}
	return out
}
