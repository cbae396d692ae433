package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// Of up to maxCards systems the first screen has a card each, of more a line each, up to
// maxCardLines.
const maxCards, maxCardLines = 6, 20

// A systemCard is what the first screen shows of a system.
type systemCard struct {
	Name, Link           string
	Failing, FailingLink string
	Numbers              []tileView // the first is the one that is shown large
	Gates                []gateHead // that look at this system
	Spark                *sparkView // of the nights before; nil if there are too few
	rank                 float64
}

// A cardTable is a line for each system, where cards would be too many.
type cardTable struct {
	Columns []tileView // names and labels of the numbers
	Cards   []systemCard
	Left    string // how many systems are left out; "" if none
}

// A changeView is how a number changed since an earlier run.
type changeView struct {
	Text string
	Word word
}

// firstSystems are the systems of the first screen: of two runs that are compared, those
// of the later one. One system of one run is "", all of its rows.
func firstSystems(data *pageData) []string {
	if !data.several() && len(data.systems) < 2 {
		return []string{""}
	}
	if len(data.results) != 2 || data.options.Since == nil {
		return data.systems
	}
	return slices.DeleteFunc(slices.Clone(data.systems), func(s string) bool { return runOfSystem(data, s) != data.results[1] })
}

// nameShown is the name of a system on the first screen: without that of its run where all
// are of one.
func nameShown(data *pageData, system string) string {
	if len(firstSystems(data)) < len(data.systems) {
		return nameInRun(data, system)
	}
	return system
}

// numbersOf are the numbers that matter most, of one system.
func numbersOf(data *pageData, system string) (numbers []tileView) {
	for _, name := range data.lead {
		d, _ := metrics.Lookup(name)
		s := data.summary.find(system, "", name)
		if s == nil {
			continue
		}
		warnings := []string(s.Warnings)
		if m := data.summary.findMicro(system, "", name); m != nil {
			warnings = slices.Concat([]string(m.Warnings), warnings)
		}
		t := tileView{
			Name: name, Label: label(name), Summary: d.Summary, Value: estimateText(s), Interval: interval(s.Low, s.High), Level: levelText(s.Level),
			Better: betterWords[d.Direction], Notes: data.notes.numbers(warnings), Counts: "over " + Plural(s.N, "row", "rows"), Change: newChangeView(data, system, name),
		}
		if s.Undefined > 0 {
			t.Counts += fmt.Sprintf(", undefined in %s", Thousands(s.Undefined))
		}
		if s.Coverage != nil && (*s.Coverage < 1 || s.Unscored > 0) {
			t.Counts += ", coverage " + percent(int64(*s.Coverage*1e6), 1e6)
		}
		numbers = append(numbers, t)
	}
	return numbers
}

// newChangeView is how a number changed since the run that this one is compared with; nil
// if nothing is known of that.
func newChangeView(data *pageData, system, metric string) *changeView {
	d := changeOf(data.options.Since, runOfSystem(data, system).run.Manifest.ID, nameInRun(data, system), metric)
	switch {
	case d == nil || d.Diff == nil:
		return nil
	case unchanged(d):
		return &changeView{"", differenceWord(d)}
	}
	return &changeView{signed(d.Diff), differenceWord(d)}
}

// cards are the systems of the first screen. None of one system: its numbers have a tile
// each.
func cards(data *pageData) (cards []systemCard, table *cardTable) {
	shown := firstSystems(data)
	if len(shown) < 2 || len(data.lead) == 0 {
		return nil, nil
	}
	for _, s := range shown {
		k := slices.Index(data.systems, s)
		name := line(s, 80)
		filter := "system:" + name
		card := systemCard{
			Name: line(nameShown(data, s), 80), Link: rowsLink(filter), rank: rankBy(data, rankingMetric(data), s), FailingLink: rowsLink(filter, "is:failing"), Numbers: numbersOf(data, s),
			Failing: failText(data.totals.failing[k], data.totals.rows[k]), Gates: gatesOfCard(data, s),
		}
		if data.trends != nil {
			card.Spark = data.trends.Sparks[s]
		}
		cards = append(cards, card)
	}
	if data.options.Since != nil || !data.several() { // else nobody says that numbers of two runs mean the same
		slices.SortStableFunc(cards, func(x, y systemCard) int { return cmp.Compare(x.rank, y.rank) })
	}
	if len(cards) <= maxCards {
		return cards, nil
	}
	table = &cardTable{}
	for _, name := range data.lead {
		table.Columns = append(table.Columns, tileView{Name: name, Label: label(name)})
	}
	if left := len(cards) - maxCardLines; left > 0 {
		table.Left = Plural(int64(left), "more system is", "more systems are") + " below, under Systems."
		cards = cards[:maxCardLines]
	}
	table.Cards = cards
	return nil, table
}

// Cells are the numbers of a card in the order of the columns of a table, empty where one
// is not defined.
func (t *cardTable) Cells(c systemCard) []tileView {
	out := make([]tileView, len(t.Columns))
	for k, column := range t.Columns {
		if i := slices.IndexFunc(c.Numbers, func(n tileView) bool { return n.Name == column.Name }); i >= 0 {
			out[k] = c.Numbers[i]
		}
	}
	return out
}

// failText says how many answers fail.
func failText(failing, rows int64) string {
	if failing == 0 {
		return fmt.Sprintf("none of %s fails", Thousands(rows))
	}
	return fmt.Sprintf("%s of %s %s", Thousands(failing), Thousands(rows), oneOrMany(failing, "fails", "fail"))
}

// rankBy orders systems by a metric: the least is the best, one without a value is last.
func rankBy(data *pageData, metric, system string) float64 {
	s := data.summary.find(system, "", metric)
	switch d, _ := metrics.Lookup(metric); {
	case s == nil || s.Estimate == nil:
		return math.Inf(1)
	case d.Direction == metrics.LowerIsBetter:
		return *s.Estimate
	}
	return -*s.Estimate
}

func gatesOfCard(data *pageData, system string) (gates []gateHead) {
	for _, g := range gatesOfSystem(data, system) {
		if of := systemOfGate(g); of != "" && of == nameInRun(data, system) {
			h := newGateHead(g)
			h.Gate = strings.Replace(h.Gate, "[system="+of+"]", "", 1) // it stands on the card already
			gates = append(gates, h)
		}
	}
	return gates
}

// systemOfGate is the system that a gate looks at, "" if it looks at all or cannot be read.
func systemOfGate(result runs.GateResult) string {
	g, err := configs.ParseGate(result.Gate)
	if err != nil {
		return ""
	}
	system, _, _ := g.Group()
	return system
}
