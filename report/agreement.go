package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
)

// An Agreement is the view model of how far annotators agree.
type Agreement struct {
	Title  string // what was looked at, in words
	Result *annotations.Agreement
	All    bool // in text, too: every statistic of every two annotators, and slices by tag
}

// headline are the statistics that a text shows of two annotators.
var headline = []string{
	"char_jaccard", "exact_f1", "char_kappa", "char_alpha", "percent_agreement", "cohen_kappa", "alpha_nominal", "alpha_ordinal", "pearson", "spearman",
}

func (a *Agreement) asJSON() any {
	return struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		*annotations.Agreement
	}{"ibid.agreement/v1", a.Title, a.Result}
}

func (a *Agreement) writeCSV(w io.Writer) error {
	return runs.Agreement.WriteCSV(w, a.Result.Statistics)
}

func (a *Agreement) writeTo(p *paper) {
	p.title(a.Title)
	a.verdicts(p)
	a.together(p)
	a.pairs(p)
	a.people(p)
	a.worst(p)
	for _, text := range a.Result.Warnings {
		p.line(CleanLine(text))
	}
	p.footnotes()
}

// verdicts shows what decides about each kind of data.
func (a *Agreement) verdicts(p *paper) {
	t := &table{header: []string{"agreement on", "verdict", "statistic", "", a.levelName(), "target", "items", "documents"}, right: 3}
	for i := range a.Result.Statistics {
		r := &a.Result.Statistics[i]
		if r.Verdict == "" {
			continue
		}
		t.rows = append(t.rows, []string{
			CleanLine(agreedOn(r)), verdictText(r.Verdict, r.Need), r.Statistic, numberOrDash(r.Estimate), interval(r.Low, r.High), optional(r.Target),
			Thousands(r.Items), Thousands(r.Documents) + p.notes.marks(r.Warnings),
		})
	}
	p.table(t)
}

// agreedOn names the kind of data of an agreement.
func agreedOn(r *runs.AgreementRow) string {
	if r.Kind == runs.SpanAgreement {
		return "marked places"
	}
	return cmp.Or(strings.TrimPrefix(r.Slice, "kind="), "labels")
}

// verdictText is a verdict, with the items that would decide.
func verdictText(verdict string, need *int64) string {
	if need != nil {
		return fmt.Sprintf("%s: about %s would decide", verdict, Plural(*need, "item", "items"))
	}
	return verdict
}

// together shows the statistics over all annotators, slice by slice.
func (a *Agreement) together(p *paper) {
	t := &table{header: []string{"all annotators", "slice", "", a.levelName(), "target", "items", "documents"}, right: 2}
	for _, r := range a.Result.Statistics {
		if r.Verdict != "" || r.Annotators != runs.AllAnnotators || !a.shows(r.Slice) {
			continue
		}
		t.rows = append(t.rows, []string{
			r.Statistic, CleanLine(r.Slice), numberOrDash(r.Estimate), interval(r.Low, r.High), optional(r.Target),
			Thousands(r.Items), Thousands(r.Documents) + p.notes.marks(r.Warnings),
		})
	}
	p.table(t)
}

// shows reports whether a text shows a slice: those of tags only if all is asked
// for.
func (a *Agreement) shows(slice string) bool {
	return a.All || slice == "" || strings.HasPrefix(slice, "kind=") && !strings.Contains(slice, ",")
}

func (a *Agreement) levelName() string {
	if len(a.Result.Statistics) == 0 {
		return ""
	}
	return fmt.Sprintf("%g %%", 100*a.Result.Statistics[0].Level)
}

// pairs shows two annotators a line: the headline statistics, or all of them.
func (a *Agreement) pairs(p *paper) {
	t := &table{header: []string{"two annotators", "slice", "statistic", "", a.levelName(), "items"}, right: 3}
	for _, r := range a.Result.Statistics {
		if r.Annotators == runs.AllAnnotators || !a.shows(r.Slice) || !a.All && !slices.Contains(headline, r.Statistic) {
			continue
		}
		t.rows = append(t.rows, []string{
			CleanLine(whoAgrees(r.Annotators)), CleanLine(r.Slice), r.Statistic, numberOrDash(r.Estimate),
			interval(r.Low, r.High), Thousands(r.Items) + p.notes.marks(r.Warnings),
		})
	}
	p.table(t)
}

// whoAgrees names the annotators of a statistic.
func whoAgrees(annotators string) string {
	if first, second, ok := runs.CutPair(annotators); ok {
		return first + " and " + second
	}
	return annotators
}

// people shows who differs from the others, and which way.
func (a *Agreement) people(p *paper) {
	t := &table{header: []string{"annotator", "items", "jaccard", "begins", "ends", "length", "marked nothing alone"}, right: 1}
	for _, x := range a.Result.Marking {
		t.rows = append(t.rows, []string{
			CleanLine(x.Name), Thousands(x.Items), numberOf(x.Jaccard), shift(x.StartShift, "early", "late"), shift(x.EndShift, "early", "late"),
			times(x.LengthRate), Thousands(x.Empty),
		})
	}
	p.table(t)
	t = &table{header: []string{"annotator", "labels", "same as others", "leans"}, right: 1}
	for _, x := range a.Result.Labelling {
		t.rows = append(t.rows, []string{CleanLine(x.Name), Thousands(x.Labels), numberOf(x.Agree), leaning(x.Leaning)})
	}
	p.table(t)
}

func numberOf(n ibid.Number) string { return numberOrDash(n.Pointer()) }

// shift says a mean distance in characters and its direction.
func shift(n ibid.Number, before, after string) string {
	switch {
	case !n.Known():
		return "–"
	case n.Value < 0:
		return fmt.Sprintf("%.1f %s", -n.Value, before)
	case n.Value > 0:
		return fmt.Sprintf("%.1f %s", n.Value, after)
	}
	return "alike"
}

func times(n ibid.Number) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf("× %.2f", n.Value)
}

func leaning(n ibid.Number) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf("%+.3f", n.Value)
}

// worst shows the items with the least agreement, with their texts.
func (a *Agreement) worst(p *paper) {
	if len(a.Result.Worst) > 0 {
		p.heading("Least agreement")
	}
	for _, d := range a.Result.Worst {
		head := fmt.Sprintf("%s: %s", CleanLine(d.ID), number(d.Agreement))
		if d.Row >= 0 {
			head = fmt.Sprintf("#%d %s", d.Row, head)
		}
		p.line(head)
		for _, x := range d.Passages {
			at := fmt.Sprintf("%s:%d-%d", CleanLine(x.Doc), x.Start, x.End)
			if x.Page > 0 {
				at = fmt.Sprintf("%s:%d:%d-%d", CleanLine(x.Doc), x.Page, x.Start, x.End)
			}
			if x.Doc == "" {
				at = "nothing"
			}
			p.item(strings.TrimRight(fmt.Sprintf("%s marked %s %s", CleanLine(x.Annotator), at, quoted(x.Text)), " "))
		}
		if d.Text != "" {
			p.item("about " + quoted(d.Text))
		}
		for _, r := range d.Said {
			p.item(fmt.Sprintf("%s said %s", CleanLine(r.Annotator), CleanLine(r.Value)))
		}
	}
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "“" + CleanLine(strings.Join(strings.Fields(text), " ")) + "”"
}
