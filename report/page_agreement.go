package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// An agreementView is how far the annotators of the runs agree.
type agreementView struct{ Runs []runAgreement }

// An runAgreement is how far the annotators of a run agree, as its file of
// agreement has it.
type runAgreement struct {
	Run   string          // "" if there is one
	Lines []agreementLine // of all annotators, those that have a target
	More  []agreementLine // and the others
	Maps  []*heatMap
	Pairs []agreementLine     // of two annotators
	Marks []*disagreementView // the worst ones on places
	Said  []*disagreementView // and on labels
}

// An agreementTable is some of the lines under a name of their own: a page has no
// two tables of one name.
type agreementTable struct {
	Title string
	Lines []agreementLine
	Names bool // the lines are of different annotators
}

// Table names lines of the section, also by its run if there are several.
func (s runAgreement) Table(title string, lines []agreementLine) agreementTable {
	if s.Run != "" {
		title += " of " + s.Run
	}
	names := slices.ContainsFunc(lines, func(l agreementLine) bool { return l.Annotators != runs.AllAnnotators })
	return agreementTable{title, lines, names}
}

type agreementLine struct {
	Statistic, Annotators, Slice string
	Value, Interval              string
	Target                       string
	Word                         word // the verdict; its code is "" if there is no target
	Items, Documents             string
	Strip                        stripView
	Notes                        []int
}

// heatStatistics are the statistics that a heat map is drawn of, by kind.
var heatStatistics = map[string]string{runs.SpanAgreement: "char_jaccard", runs.LabelAgreement: "percent_agreement"}

// verdictWords put verdicts on agreement into tones.
var verdictTones = map[string]tone{
	"reliable": toneGood, "unreliable": toneBad, "undecided": toneWarn, "no verdict": toneNeutral,
}

// agreementSection takes over what is known of the agreement of annotators.
func agreementSection(data *pageData) *section {
	view := &agreementView{}
	for run, r := range data.results {
		rows := r.agreement
		if len(rows) == 0 {
			continue
		}
		s := runAgreement{}
		if data.several() {
			s.Run = line(r.run.Manifest.ID, 80)
		}
		for i := range rows {
			a := &rows[i]
			if !wholeSlice(a.Slice) {
				continue
			}
			l := newAgreementLine(data, a)
			switch {
			case a.Annotators != runs.AllAnnotators:
				s.Pairs = append(s.Pairs, l)
			case a.Verdict != "":
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
		for _, v := range data.disagreements[run] {
			v.Link = rowLink(data, run, v.found.Row)
			if v.found.Kind == runs.LabelAgreement {
				s.Said = append(s.Said, v)
			} else {
				s.Marks = append(s.Marks, v)
			}
		}
		view.Runs = append(view.Runs, s)
	}
	if len(view.Runs) == 0 {
		return nil
	}
	return &section{"agreement", "Agreement", view}
}

// wholeSlice reports whether a slice of agreement is of all rows: everything, or
// one kind of label.
func wholeSlice(slice string) bool {
	return slice == "" || strings.HasPrefix(slice, "kind=") && !strings.Contains(slice, ",")
}

func newAgreementLine(data *pageData, a *runs.AgreementRow) agreementLine {
	l := agreementLine{
		Statistic: label(a.Statistic), Annotators: line(whoAgrees(a.Annotators), 120), Slice: line(strings.TrimPrefix(a.Slice, "kind="), 80),
		Value: numberOrDash(a.Estimate), Interval: interval(a.Low, a.High), Target: optional(a.Target), Items: Thousands(a.Items), Documents: Thousands(a.Documents),
	}
	if l.Slice == "" {
		l.Slice = map[string]string{runs.SpanAgreement: "marked places", runs.LabelAgreement: "labels"}[a.Kind]
	}
	if a.Verdict != "" {
		l.Word = word{Code: a.Verdict, Short: line(verdictText(a.Verdict, a.Need), 80), Tone: verdictTones[a.Verdict]}
		if l.Word.Tone == "" {
			l.Word.Tone = toneNeutral
		}
	}
	l.Notes = data.notes.numbers(a.Warnings)
	if a.Estimate != nil {
		l.Strip = agreementStrip(l.Statistic, a)
	}
	return l
}

// agreementStrip draws an estimate between 0 and 1, with its target.
func agreementStrip(name string, a *runs.AgreementRow) stripView {
	unit := axis{0, 1}
	s := unit.strip(name, &runs.SummaryRow{Estimate: a.Estimate, Low: a.Low, High: a.High, Level: a.Level}, nil)
	s.Below = s.Below || a.Low != nil && *a.Low < 0
	if a.Target != nil {
		s.Gates = append(s.Gates, gateRule{X: percentText(unit.at(*a.Target)), Text: "target " + number(*a.Target)})
		s.Label += ", target " + number(*a.Target)
	}
	return s
}

// heatMaps draws one map for each kind of agreement between three or more
// annotators; of two there is nothing to see.
func heatMaps(rows []runs.AgreementRow) []*heatMap {
	type key struct{ Kind, Slice string }
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
		pairs[k] = append(pairs[k], pairValue{first, second, a.Estimate, Plural(a.Items, "item", "items")})
		for _, name := range []string{first, second} {
			if !slices.Contains(names[k], name) {
				names[k] = append(names[k], name)
			}
		}
	}
	var out []*heatMap
	for _, k := range order {
		if len(names[k]) < 3 {
			continue
		}
		slices.Sort(names[k])
		title := label(heatStatistics[k.Kind]) + " of two annotators"
		if k.Slice != "" {
			title += ", " + line(strings.TrimPrefix(k.Slice, "kind="), 80)
		}
		out = append(out, newHeatMap(title, names[k], pairs[k]))
	}
	return out
}

// A heatMap is a square of values between names that come in pairs. Cells have
// their value as text, so colour only helps.
type heatMap struct {
	Title, Desc   string
	Width, Height int
	Rows          []heatName
	Columns       []heatName
	Cells         []heatCell
}

type heatName struct {
	Name string
	X, Y int
}

// A heatCell is the value of two names. Step goes from 0 to 9 with the value.
type heatCell struct {
	First, Second  string
	X, Y           int
	TextX, TextY   int
	Value, Details string
	Step           int
}

// A pairValue is the value of a pair of names; Value is nil if it is not defined.
type pairValue struct {
	first, second string
	value         *float64
	details       string
}

const (
	heatLeft, heatTop         = 120, 28
	heatWide, heatTall        = 104, 36
	heatNameLength, heatSteps = 15, 10 // characters of a name; steps of colour
)

// newHeatMap lays out the values of pairs, which are between 0 and 1 or below.
func newHeatMap(title string, names []string, pairs []pairValue) *heatMap {
	n := len(names)
	m := &heatMap{Title: title, Width: heatLeft + n*heatWide, Height: heatTop + n*heatTall}
	place := make(map[string]int, n)
	for k, name := range names {
		place[name] = k
		short := clip(line(name, 80), heatNameLength)
		m.Rows = append(m.Rows, heatName{short, heatLeft - 8, heatTop + k*heatTall + heatTall/2 + 5})
		m.Columns = append(m.Columns, heatName{short, heatLeft + k*heatWide + heatWide/2, heatTop - 9})
	}
	var words []string
	for _, p := range pairs {
		i, okFirst := place[p.first]
		j, okSecond := place[p.second]
		if !okFirst || !okSecond {
			continue
		}
		words = append(words, fmt.Sprintf("%s and %s %s", line(p.first, 80), line(p.second, 80), numberOrDash(p.value)))
		for _, at := range [][2]int{{i, j}, {j, i}} {
			m.Cells = append(m.Cells, newHeatCell(p, at[0], at[1]))
		}
	}
	m.Desc = strings.Join(words, "; ") + "."
	return m
}

func newHeatCell(p pairValue, row, column int) heatCell {
	c := heatCell{
		First: line(p.first, 80), Second: line(p.second, 80), X: heatLeft + column*heatWide, Y: heatTop + row*heatTall, Value: numberOrDash(p.value), Details: p.details,
	}
	c.TextX, c.TextY = c.X+heatWide/2, c.Y+heatTall/2+5
	if p.value != nil {
		c.Step = min(max(int(*p.value*heatSteps), 0), heatSteps-1)
	}
	return c
}
