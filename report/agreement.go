package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// An Agreement is the view of how far annotators agree.
type Agreement struct {
	Title  string // what was looked at, in words
	Result *annotations.Agreement
	People []string // of a round: how far everybody has come
	Round  any      // the same as JSON has it; nil if it is no round
}

func (a *Agreement) asJSON() any {
	return struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		Round  any    `json:"round,omitempty"`
		*annotations.Agreement
	}{"ibid.agreement/v1", a.Title, a.Round, a.Result}
}

func (a *Agreement) writeCSV(w io.Writer) error {
	return runs.Agreement.WriteCSV(w, a.Result.Statistics)
}

// section is what agreement comes to; all of its numbers, and what the least agreement is about,
// are folded.
func (a *Agreement) section() doc.Section {
	var blocks, worst []doc.Block
	if len(a.People) > 0 {
		blocks = append(blocks, doc.Para{Text: doc.T(strings.Join(a.People, "; "))})
	}
	all := newAgreementTables(a.Result.Statistics, "", true)
	blocks = slices.Concat(blocks, all.decided, all.pairs, a.people())
	if len(a.Result.Worst) > 0 {
		blocks = append(blocks, doc.Heading{Text: doc.T("Least agreement")})
	}
	for _, d := range a.Result.Worst {
		v := newDisagreement(d, annotatorsOf(a.Result.Statistics), "")
		blocks = append(blocks, doc.Para{Kind: doc.Item, Text: doc.T(v.line())})
		worst = append(worst, v.blocks("")...)
	}
	blocks = append(blocks, folded("what they marked and said", worst)...)
	blocks = append(blocks, folded("more statistics", all.more)...)
	blocks = append(blocks, paras(doc.Plain, a.Result.Warnings)...)
	return doc.Section{Title: a.Title, Blocks: blocks}
}

// pairStatistics are those of two annotators, by kind: the one that pairs are ordered by, and the
// one that leaves chance out.
var pairStatistics = map[string][2]string{runs.SpanAgreement: {"char_jaccard", "char_alpha"}, runs.LabelAgreement: {"percent_agreement", "cohen_kappa"}}

// shownPairs is how many pairs of annotators are shown unfolded.
const shownPairs = 10

// agreementTables are the statistics of agreement: the verdicts with a line about the others, two
// annotators at a time, and all the rest.
type agreementTables struct{ decided, pairs, more []doc.Block }

// newAgreementTables makes tables of statistics. Of ends captions where there are several runs.
// Slices by tag are among the rest, if they are asked for.
func newAgreementTables(rows []runs.AgreementRow, of string, slicesToo bool) (out agreementTables) {
	decided, others, sliced := agreementTable("agreement of all annotators"+of), agreementTable("other statistics of all annotators"+of), agreementTable("agreement by slice"+of)
	beside := make(map[string][]string) // by what is agreed on
	var kinds []string
	for i := range rows {
		r := &rows[i]
		into := &others
		switch {
		case r.Verdict != "":
			into = &decided
		case !wholeSlice(r.Slice):
			if into = &sliced; !slicesToo {
				continue
			}
		case r.Annotators != runs.AllAnnotators:
			continue
		default:
			on := agreedOn(r)
			if beside[on] == nil {
				kinds = append(kinds, on)
			}
			beside[on] = append(beside[on], r.Statistic+" "+numberOrDash(r.Estimate))
		}
		into.Columns[agreementLevel].Name = levelText(r.Level)
		into.Rows = append(into.Rows, agreementCells(r))
	}
	var lines []string
	for _, on := range kinds {
		lines = append(lines, on+": "+strings.Join(beside[on], ", "))
	}
	out.decided = filled(decided)
	if len(lines) > 0 {
		out.decided = append(out.decided, doc.Para{Text: doc.T(strings.Join(lines, "; "))})
	}
	pairs := pairTable(rows, of)
	if n := len(pairs.Rows); n > shownPairs {
		rest := pairs
		rest.Caption, rest.Rows = "more pairs of annotators"+of, pairs.Rows[shownPairs:]
		pairs.Rows = pairs.Rows[:shownPairs]
		out.more = append(out.more, rest)
	}
	out.pairs = filled(pairs)
	out.more = append(out.more, filled(others, sliced)...)
	return out
}

// pairTable has a row for each pair of annotators and kind of data: marks, then labels, of each
// the worst first.
func pairTable(rows []runs.AgreementRow, of string) doc.Table {
	t := agreementTable("two annotators at a time" + of)
	// The verdict is left out, and the target gives its place to the statistic without chance.
	t.Columns = slices.Concat(t.Columns[:2], t.Columns[3:7], []doc.Column{{Name: "beyond chance", Number: true, Keep: 1}}, t.Columns[8:])
	type key struct{ annotators, kind, slice string }
	var pairs []*runs.AgreementRow
	beyond := make(map[key]*float64)
	for i := range rows {
		r := &rows[i]
		switch of := pairStatistics[r.Kind]; {
		case r.Annotators == runs.AllAnnotators || !wholeSlice(r.Slice):
		case r.Statistic == of[0]:
			pairs = append(pairs, r)
		case r.Statistic == of[1]:
			beyond[key{r.Annotators, r.Kind, r.Slice}] = r.Estimate
		}
	}
	slices.SortStableFunc(pairs, func(x, y *runs.AgreementRow) int {
		return cmp.Or(strings.Compare(y.Kind, x.Kind), strings.Compare(x.Slice, y.Slice), cmp.Compare(orGreatest(x.Estimate), orGreatest(y.Estimate)))
	})
	for _, r := range pairs {
		t.Columns[4].Name = levelText(r.Level)
		cells := agreementCells(r)
		t.Rows = append(t.Rows, slices.Concat(cells[:2], cells[3:7], []doc.Cell{doc.C(numberOrDash(beyond[key{r.Annotators, r.Kind, r.Slice}]))}, cells[8:]))
	}
	return t
}

// wholeSlice reports whether a slice of agreement is of all rows: everything, or one kind
// of label.
func wholeSlice(slice string) bool {
	return slice == "" || strings.HasPrefix(slice, "kind=") && !strings.Contains(slice, ",")
}

// agreementLevel is the column of intervals.
const agreementLevel = 5

func agreementTable(caption string) doc.Table {
	return doc.Table{Caption: caption, Class: "metrics", Columns: []doc.Column{
		{Name: "annotators"},
		{Name: "on"},
		{Name: "verdict"},
		{Name: "statistic"},
		{Name: "", Number: true},
		{Name: "", Number: true},
		{Name: "estimate, interval, target", Page: true, Keep: 1},
		{Name: "target", Number: true, Keep: 1},
		{Name: "items", Number: true, Keep: 2},
		{Name: "documents", Number: true, Keep: 2},
	}}
}

// orGreatest is a value, or more than any if there is none.
func orGreatest(v *float64) float64 {
	if v == nil {
		return math.Inf(1)
	}
	return *v
}

func agreementCells(r *runs.AgreementRow) []doc.Cell {
	who, target := r.Annotators, ""
	if first, second, ok := runs.CutPair(who); ok {
		who = first + " and " + second
	} else if who == runs.AllAnnotators {
		who = ""
	}
	if r.Target != nil {
		target = number(*r.Target)
	}
	drawn := doc.Cell{Strip: strip(axis{0, 1}, r.Statistic, &runs.SummaryRow{Estimate: r.Estimate, Low: r.Low, High: r.High, Level: r.Level}, r.Target)}
	verdict, last := doc.Cell{Text: doc.Text{{Text: r.Verdict, Tone: verdictTones[r.Verdict]}}}, doc.C(Thousands(r.Documents))
	if r.Need != nil {
		verdict.Notes = []string{fmt.Sprintf("about %s would decide", Plural(*r.Need, "item", "items"))}
	}
	last.Notes = r.Warnings
	return []doc.Cell{
		doc.C(who), doc.C(agreedOn(r)), verdict, doc.C(r.Statistic),
		doc.C(numberOrDash(r.Estimate)), doc.C(interval(r.Low, r.High)), drawn, doc.C(target), doc.C(Thousands(r.Items)), last,
	}
}

// agreedOn names the kind of data of an agreement, and its slice.
func agreedOn(r *runs.AgreementRow) string {
	switch {
	case r.Kind != runs.SpanAgreement:
		return cmp.Or(strings.TrimPrefix(r.Slice, "kind="), "labels")
	case r.Slice != "":
		return "marked places, " + r.Slice
	}
	return "marked places"
}

var verdictTones = map[string]doc.Tone{"reliable": doc.Good, "unreliable": doc.Bad, "undecided": doc.Warn}

// shadedTables are a square of the values of every two annotators for each kind of
// agreement between three or more; of two there is nothing to see.
func shadedTables(rows []runs.AgreementRow, of string) (tables []doc.Table) {
	byKind := make(map[string]map[[2]string]*float64)
	var order []string
	for i := range rows {
		r := &rows[i]
		first, second, ok := runs.CutPair(r.Annotators)
		if !ok || !wholeSlice(r.Slice) || r.Statistic != pairStatistics[r.Kind][0] {
			continue
		}
		kind := r.Statistic + " of " + agreedOn(r) + of
		if byKind[kind] == nil {
			byKind[kind] = make(map[[2]string]*float64)
			order = append(order, kind)
		}
		byKind[kind][[2]string{first, second}], byKind[kind][[2]string{second, first}] = r.Estimate, r.Estimate
	}
	for _, kind := range order {
		var names []string
		for pair := range byKind[kind] {
			names = append(names, pair[0])
		}
		slices.Sort(names)
		if names = slices.Compact(names); len(names) < 3 {
			continue
		}
		t := doc.Table{Caption: kind, Class: "shaded", Columns: []doc.Column{{}}}
		for _, name := range names {
			t.Columns = append(t.Columns, doc.Column{Name: name, Number: true})
			row := []doc.Cell{doc.C(name)}
			for _, other := range names {
				cell := doc.Cell{}
				if v, ok := byKind[kind][[2]string{name, other}]; ok {
					cell = doc.C(numberOrDash(v))
					if v != nil {
						cell.Step = min(max(int(*v*10), 0), 9) + 1
					}
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
		tables = append(tables, t)
	}
	return tables
}

// people shows who differs from the others, and which way.
func (a *Agreement) people() []doc.Block {
	marking := doc.Table{Caption: "who marks how", Columns: []doc.Column{
		{Name: "annotator"},
		{Name: "items", Number: true},
		{Name: "jaccard", Number: true},
		{Name: "begins", Number: true},
		{Name: "ends", Number: true},
		{Name: "length", Number: true},
		{Name: "marked nothing alone", Number: true, Keep: 1},
	}}
	for _, x := range a.Result.Marking {
		marking.Rows = append(marking.Rows, []doc.Cell{
			doc.C(x.Name), doc.C(Thousands(x.Items)), doc.C(numberOf(x.Jaccard)),
			doc.C(shift(x.StartShift)), doc.C(shift(x.EndShift)),
			doc.C(known(x.LengthRate, "× %.2f")), doc.C(Thousands(x.Empty)),
		})
	}
	labelling := doc.Table{Caption: "who labels how", Columns: []doc.Column{
		{Name: "annotator"}, {Name: "labels", Number: true}, {Name: "same as others", Number: true}, {Name: "leans", Number: true},
	}}
	for _, x := range a.Result.Labelling {
		labelling.Rows = append(labelling.Rows, []doc.Cell{
			doc.C(x.Name), doc.C(Thousands(x.Labels)), doc.C(numberOf(x.Agree)), doc.C(known(x.Leaning, "%+.3f")),
		})
	}
	return filled(marking, labelling)
}

func numberOf(n ibid.Number) string { return numberOrDash(n.Pointer()) }

// known prints a number that may not be known.
func known(n ibid.Number, format string) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf(format, n.Value)
}

// shift says a mean distance in characters and its direction.
func shift(n ibid.Number) string {
	switch {
	case !n.Known():
		return "–"
	case n.Value < 0:
		return fmt.Sprintf("%.1f early", -n.Value)
	case n.Value > 0:
		return fmt.Sprintf("%.1f late", n.Value)
	}
	return "alike"
}
