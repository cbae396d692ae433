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
	decided, pairs, more := agreementTables(a.Result.Statistics, "", true)
	blocks = slices.Concat(blocks, decided, pairs, a.people())
	if len(a.Result.Worst) > 0 {
		blocks = append(blocks, doc.Heading{Text: doc.T("Least agreement")})
	}
	for _, d := range a.Result.Worst {
		v := newDisagreement(d, annotatorsOf(a.Result.Statistics), "")
		blocks = append(blocks, doc.Para{Kind: doc.Item, Text: doc.T(v.line())})
		worst = append(worst, v.blocks("")...)
	}
	blocks = append(blocks, folded("what they marked and said", worst)...)
	blocks = append(blocks, folded("more statistics", more)...)
	blocks = append(blocks, paras(doc.Plain, a.Result.Warnings)...)
	return doc.Section{Title: a.Title, Blocks: blocks}
}

// pairStatistics are those of two annotators, by kind: the one that pairs are ordered by, and the
// one that leaves chance out.
var pairStatistics = map[string][2]string{runs.SpanAgreement: {"char_jaccard", "char_alpha"}, runs.LabelAgreement: {"percent_agreement", "cohen_kappa"}}

// shownPairs is how many pairs of annotators are shown unfolded.
const shownPairs = 10

// agreementTables are the statistics of agreement: the verdicts with a line about the others, two
// annotators at a time, and all the rest. Of ends captions where there are several runs. Slices
// by tag are among the rest, if they are asked for.
func agreementTables(rows []runs.AgreementRow, of string, slicesToo bool) (decided, pairs, more []doc.Block) {
	verdicts, others, sliced := agreementTable("agreement of all annotators"+of), agreementTable("other statistics of all annotators"+of), agreementTable("agreement by slice"+of)
	beside := make(map[string][]string) // by what is agreed on
	var kinds []string
	for i := range rows {
		r := &rows[i]
		into := &others
		switch {
		case r.Verdict != "":
			into = &verdicts
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
		agreementRow(into, r, doc.Cell{})
	}
	var lines []string
	for _, on := range kinds {
		lines = append(lines, on+": "+strings.Join(beside[on], ", "))
	}
	decided = filled(verdicts)
	if len(lines) > 0 {
		decided = append(decided, doc.Para{Text: doc.T(strings.Join(lines, "; "))})
	}
	first := pairTable(rows, of)
	rest := first
	first.Rows, rest.Rows = first.Rows[:min(len(first.Rows), shownPairs)], first.Rows[min(len(first.Rows), shownPairs):]
	rest.Caption = "more pairs of annotators" + of
	return decided, filled(first), filled(rest, others, sliced)
}

// pairTable has a row for each pair of annotators and kind of data: marks, then labels, of each
// the worst first.
func pairTable(rows []runs.AgreementRow, of string) doc.Table {
	t := agreementTable("two annotators at a time" + of)
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
	for _, r := range pairs { // the verdict is on all annotators
		agreementRow(&t, r, doc.C(numberOrDash(beyond[key{r.Annotators, r.Kind, r.Slice}])))
	}
	return t
}

// wholeSlice reports whether a slice of agreement is of all rows: everything, or one kind
// of label.
func wholeSlice(slice string) bool {
	return slice == "" || strings.HasPrefix(slice, "kind=") && !strings.Contains(slice, ",")
}

func agreementTable(caption string) doc.Table { return doc.Table{Caption: caption, Class: "metrics"} }

// orGreatest is a value, or more than any if there is none.
func orGreatest(v *float64) float64 {
	if v == nil {
		return math.Inf(1)
	}
	return *v
}

// agreementRow adds a statistic to a table; beyond is what is left of it without chance, if
// that has a column.
func agreementRow(t *doc.Table, r *runs.AgreementRow, beyond doc.Cell) {
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
	verdict := doc.Cell{Text: doc.Text{{Text: r.Verdict, Tone: verdictTones[r.Verdict]}}}
	if r.Need != nil {
		verdict.Notes = []string{fmt.Sprintf("about %s would decide", Plural(*r.Need, "item", "items"))}
	}
	t.Row()
	t.Add(doc.Column{Name: "annotators"}, doc.C(who))
	t.Add(doc.Column{Name: "on"}, doc.C(agreedOn(r)))
	t.Add(doc.Column{Name: "verdict"}, verdict)
	t.Add(doc.Column{Name: "statistic"}, doc.C(r.Statistic))
	t.Add(doc.Column{Number: true}, doc.C(numberOrDash(r.Estimate)))
	t.Add(doc.Column{Name: levelText(r.Level), Number: true}, doc.C(interval(r.Low, r.High)))
	t.Add(doc.Column{Name: "estimate, interval, target", Page: true, Keep: 1}, drawn)
	t.Add(doc.Column{Name: "target", Number: true, Keep: 1}, doc.C(target))
	t.Add(doc.Column{Name: "beyond chance", Number: true, Keep: 1}, beyond)
	t.Add(doc.Column{Name: "items", Number: true, Keep: 2}, doc.C(Thousands(r.Items)))
	t.Add(doc.Column{Name: "documents", Number: true, Keep: 2}, doc.Cell{Text: doc.T(Thousands(r.Documents)), Notes: r.Warnings})
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
		people := make(map[string]bool)
		for pair := range byKind[kind] {
			people[pair[0]] = true
		}
		if len(people) < 3 {
			continue
		}
		t := doc.Table{Caption: kind, Class: "shaded"}
		for _, name := range sortedKeys(people) {
			t.Row()
			t.Add(doc.Column{}, doc.C(name))
			for _, other := range sortedKeys(people) {
				cell := doc.Cell{}
				if v, ok := byKind[kind][[2]string{name, other}]; ok {
					cell = doc.C(numberOrDash(v))
					if v != nil {
						cell.Step = min(max(int(*v*10), 0), 9) + 1
					}
				}
				t.Add(doc.Column{Name: other, Number: true}, cell)
			}
		}
		tables = append(tables, t)
	}
	return tables
}

// people shows who differs from the others, and which way.
func (a *Agreement) people() []doc.Block {
	marking, labelling := doc.Table{Caption: "who marks how"}, doc.Table{Caption: "who labels how"}
	for _, x := range a.Result.Marking {
		marking.Row()
		marking.Add(doc.Column{Name: "annotator"}, doc.C(x.Name))
		marking.Add(doc.Column{Name: "items", Number: true}, doc.C(Thousands(x.Items)))
		marking.Add(doc.Column{Name: "jaccard", Number: true}, doc.C(numberOf(x.Jaccard)))
		marking.Add(doc.Column{Name: "begins", Number: true}, doc.C(shift(x.StartShift)))
		marking.Add(doc.Column{Name: "ends", Number: true}, doc.C(shift(x.EndShift)))
		marking.Add(doc.Column{Name: "length", Number: true}, doc.C(known(x.LengthRate, "× %.2f")))
		marking.Add(doc.Column{Name: "marked nothing alone", Number: true, Keep: 1}, doc.C(Thousands(x.Empty)))
	}
	for _, x := range a.Result.Labelling {
		labelling.Row()
		labelling.Add(doc.Column{Name: "annotator"}, doc.C(x.Name))
		labelling.Add(doc.Column{Name: "labels", Number: true}, doc.C(Thousands(x.Labels)))
		labelling.Add(doc.Column{Name: "same as others", Number: true}, doc.C(numberOf(x.Agree)))
		labelling.Add(doc.Column{Name: "leans", Number: true}, doc.C(known(x.Leaning, "%+.3f")))
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
