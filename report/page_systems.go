package report

import (
	"fmt"
	"slices"
)

// A systemHead is a system with its mark in plots.
type systemHead struct {
	Name          string
	Link          string
	Shape, Colour int
	Rows          string
	Citations     string
	Claims        string
	Errors        string
	Failing       string
	FailingLink   string
}

type metricBySystem struct {
	Name, Label, Summary, Better string
	Ends                         [2]string
	Lines                        []metricLine
	First                        bool // one of the metrics that matter most
}

// A systemsView sets systems side by side.
type systemsView struct {
	Systems []systemHead
	Metrics []metricBySystem
	Judged  bool
	Left    string // what is left out of the metrics that matter less; "" if nothing is
}

// maxSystems is how many systems are shown for the metrics that matter less.
const maxSystems = 40

// systemsSection sets systems side by side, if there are several.
func systemsSection(data *pageData) *section {
	if len(data.systems) < 2 {
		return nil
	}
	view := &systemsView{Judged: data.judged()}
	t := &data.totals
	for k, s := range data.systems {
		name := line(s, 80)
		view.Systems = append(view.Systems, systemHead{
			Name: name, Link: "#f=" + escapeLink("system:"+name), Shape: k % 4, Colour: k % 8,
			Rows: Thousands(t.rows[k]), Citations: fmt.Sprintf("%s of %s", Thousands(t.valid[k]), Thousands(t.citations[k])),
			Claims: Thousands(t.claims[k]), Errors: Thousands(t.errors[k]),
			Failing:     fmt.Sprintf("%s (%s)", Thousands(t.failing[k]), percent(t.failing[k], t.rows[k])),
			FailingLink: "#f=" + escapeLink("system:"+name) + "&f=" + escapeLink("is:failing"),
		})
	}
	for _, d := range slices.DeleteFunc(orderedDefinitions(data.lead), hidden) {
		a := sharedAxis(data, d)
		g := metricBySystem{
			Name: d.Name, Label: label(d.Name), Summary: d.Summary, Better: betterWords[d.Direction], Ends: a.ends(),
			First: slices.Contains(data.lead, d.Name),
		}
		for k, s := range data.systems {
			if !g.First && k == maxSystems {
				view.Left = fmt.Sprintf("The first %d systems; %d more in ibid show --all.", maxSystems, len(data.systems)-maxSystems)
				break
			}
			if l, ok := newMetricLine(data, d, s, "", a); ok {
				l.Group, l.Shape, l.Colour = line(s, 80), k%4, k%8
				l.Strip.Shape, l.Strip.Colour = l.Shape, l.Colour
				l.Link = "#f=" + escapeLink("system:"+l.Group)
				g.Lines = append(g.Lines, l)
			}
		}
		if len(g.Lines) > 0 {
			view.Metrics = append(view.Metrics, g)
		}
	}
	if len(view.Metrics) == 0 {
		return nil
	}
	return &section{"systems", "Systems", view}
}
