package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/quote"
	"ibid/report/doc"
)

// mostQuotations is how many wrong quotations a page lists.
const mostQuotations = 50

// quotationWords are the outcomes of quotations in words, the gravest first of those that count.
var quotationWords = []word{
	{quote.Nowhere.String(), "in no source", "No text that was given has it.", doc.Bad},
	{quote.Stitched.String(), "made of pieces", "Its pieces stand in several places, and it does not say so.", doc.Bad},
	{quote.Altered.String(), "altered", "It differs from its source in some words.", doc.Warn},
	{quote.Elsewhere.String(), "in another source", "Only a source that is not cited has it.", doc.Warn},
	{quote.Elided.String(), "with gaps", "The cited source has its pieces in order; it shows what it leaves out.", doc.Good},
	{quote.Normalised.String(), "faithful", "The cited source has it, but for typography.", doc.Good},
	{quote.Verbatim.String(), "to the letter", "The cited source has it.", doc.Good},
	{quote.TooShort.String(), "too short", "It has too few words to tell.", doc.Dim},
	{quote.Echo.String(), "said by the user", "The question has it.", doc.Dim},
	{ibid.NoText.String(), "no text", "A text that it cites is not known.", doc.Dim},
	{quote.OtherLanguage.String(), "other language", "No text has its language.", doc.Dim},
}

// gravityChanged is the least gravity of a quotation that is made up, or changed in a number or a
// negation.
const gravityChanged = 3

// gravity orders quotations that count and are wrong, the gravest first.
func gravity(q *runs.Quotation) int {
	o, _ := quote.ParseOutcome(q.Outcome)
	switch {
	case !q.Counts || o.Faithful():
		return 0
	case o == quote.Altered && q.DifferenceKind == quote.WordsDiffer:
		return 1
	case o == quote.Elsewhere:
		return 2
	case o == quote.Altered:
		return gravityChanged
	case o == quote.Stitched:
		return gravityChanged + 1
	}
	return gravityChanged + 2
}

// A quotedRow is a wrong quotation and the run that it is of. The judge may have found full
// support in what it cites.
type quotedRow struct {
	runs.Quotation
	run       int
	supported bool
}

// quotations are those of the runs of a page: how many of each system have which outcome, and
// the worst.
type quotations struct {
	counts map[string]map[string]int64 // of those that count, by system and outcome
	open   map[string]int64            // of the others, by outcome
	worst  []quotedRow

	before map[[3]string]bool // wrong ones of the base, which are not among the worst; nil without a base
	fresh  int64              // that stand in no source, and did not in the base
}

// readQuotations reads the quotations of a run.
func (data *pageData) readQuotations(run int) error {
	r, all := data.results[run], &data.quotations
	err := runs.Quotations.Scan(r.run.Dir, nil, func(_ int64, q *runs.Quotation) error {
		if !q.Counts {
			if o, _ := quote.ParseOutcome(q.Outcome); !o.Decided() {
				all.open[q.Outcome]++
			}
			return nil
		}
		system := r.prefix + q.System
		if all.counts[system] == nil {
			all.counts[system] = make(map[string]int64)
		}
		all.counts[system][q.Outcome]++
		if gravity(q) == 0 || all.before[wrongKey(q)] {
			return nil
		}
		if q.Outcome == quote.Nowhere.String() {
			all.fresh++
		}
		at, _ := slices.BinarySearchFunc(all.worst, gravity(q), func(x quotedRow, g int) int {
			return cmp.Or(g-gravity(&x.Quotation), -1) // behind its like
		})
		if at < mostQuotations {
			all.worst = slices.Insert(all.worst, at, quotedRow{Quotation: *q, run: run})
			all.worst = all.worst[:min(len(all.worst), mostQuotations)]
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // without texts
		return nil
	}
	if err != nil {
		return err
	}
	return all.readSupport(run, r.run.Dir)
}

// wrongKey names a quotation that is wrong.
func wrongKey(q *runs.Quotation) [3]string {
	outcome := ""
	if q.Outcome == quote.Nowhere.String() {
		outcome = q.Outcome
	}
	return [3]string{q.ID + "/" + q.System, q.Text, outcome}
}

// readBefore reads which quotations of the base are wrong.
func (all *quotations) readBefore(dir string) error {
	all.before = make(map[[3]string]bool)
	return runs.Quotations.Scan(dir, nil, func(_ int64, q *runs.Quotation) error {
		if gravity(q) > 0 {
			all.before[wrongKey(q)] = true
		}
		return nil
	})
}

// readSupport finds the quotations of a run that are made up or changed and cite what the judge
// found full support in.
func (all *quotations) readSupport(run int, dir string) error {
	of := make(map[int64][]*quotedRow)
	for i := range all.worst {
		if q := &all.worst[i]; q.run == run && gravity(&q.Quotation) >= gravityChanged {
			of[q.Row] = append(of[q.Row], q)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return runs.Citations.ScanOf(dir, []string{"citation", "support"}, slices.Sorted(maps.Keys(of)), func(row int64, c *runs.Citation) error {
		for _, q := range of[row] {
			q.supported = q.supported || c.Support != nil && *c.Support == 1 && slices.Contains(q.Citations, c.Number)
		}
		return nil
	})
}

// quotesSection says how many quotations stand where they should, and lists those that do not.
func quotesSection(data *pageData) *doc.Section {
	all := &data.quotations
	if len(all.counts) == 0 {
		return nil
	}
	t := doc.Table{Caption: "Where quotations stand", Columns: []doc.Column{{Name: "system"}, {Name: "quotations", Number: true}}}
	kinds := quotationWords[:7]
	t.Columns = append(t.Columns, doc.Column{Name: "faithful to made up", Page: true})
	for i, w := range kinds { // what is right goes first where there is little room
		t.Columns = append(t.Columns, doc.Column{Name: w.Short, Number: true, Keep: i})
	}
	var counted, nowhere int64
	for _, system := range data.systems {
		of, n := all.counts[system], int64(0)
		for _, c := range of {
			n += c
		}
		if n == 0 {
			continue
		}
		counted += n
		nowhere += of[quote.Nowhere.String()] + of[quote.Stitched.String()]
		row := []doc.Cell{doc.C(clip(system, 80)), doc.C(Thousands(n)), {Bar: quotationBar(of, n)}}
		for _, w := range kinds {
			cell := doc.C("")
			if c := of[w.Code]; c > 0 {
				cell = doc.Cell{Text: doc.Text{{Text: fmt.Sprintf("%s (%s)", Thousands(c), percent(c, n)), Tone: w.Tone}}}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	lead := fmt.Sprintf("%s of %s %s in no source", Thousands(nowhere), Plural(counted, "quotation", "quotations"), oneOrMany(nowhere, "stands", "stand"))
	out := []doc.Block{doc.Para{Kind: doc.Lead, Text: doc.T(lead + ".")}, t}
	if len(all.worst) > 0 {
		slices.SortStableFunc(all.worst, func(a, b quotedRow) int {
			switch {
			case a.supported == b.supported:
				return 0
			case a.supported:
				return -1
			}
			return 1
		})
		worst := doc.Table{Caption: "Quotations that are wrong, the gravest first", Columns: []doc.Column{{Name: "answer"}, {Name: "quotation"}, {Name: "it is"}, {Name: "difference or place"}}}
		for i := range all.worst {
			q := &all.worst[i]
			cells := quotationCells(&q.Quotation)
			if q.supported {
				cells[1].Text = append(cells[1].Text, doc.Span{Text: ", and the judge finds full support", Tone: doc.Warn})
			}
			worst.Rows = append(worst.Rows, append([]doc.Cell{{Text: doc.Text{{Text: clip(q.ID, 60), Link: rowLink(data, q.run, q.Row)}}}}, cells...))
		}
		out = append(out, worst)
	}
	if len(all.open) > 0 {
		open := doc.Table{Caption: "Quotations that do not count", Columns: []doc.Column{{Name: "why"}, {Name: "quotations", Number: true}, {Name: "meaning"}}}
		for _, w := range quotationWords {
			if n := all.open[w.Code]; n > 0 {
				open.Rows = append(open.Rows, []doc.Cell{doc.C(w.Short), doc.C(Thousands(n)), doc.C(w.Long)})
			}
		}
		out = append(out, doc.Details{Summary: open.Caption, Blocks: []doc.Block{open}})
	}
	return docSection("quotes", "Quotations", out)
}

// quotesLine says of how many quotations no source, or another, has the words; "" if none counts.
// since says how many of the first are new.
func quotesLine(rows []runs.SummaryRow, since string) string {
	sums := make(map[string]int64)
	for i := range rows {
		if r := &rows[i]; r.System != "" && r.Slice == "" && r.Agg == runs.Micro && r.Num != nil && r.Den != nil {
			sums[r.Metric] += int64(*r.Num)
			if r.Metric == metrics.QuoteFidelity.String() {
				sums[metrics.AllQuotations.String()] += int64(*r.Den)
			}
		}
	}
	all, nowhere, elsewhere := sums[metrics.AllQuotations.String()], sums[metrics.QuoteFabricationRate.String()], sums[metrics.MisattributedRate.String()]
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s %s in no source", Thousands(nowhere), Thousands(all), oneOrMany(nowhere, "stands", "stand")) + since
	if altered := all - nowhere - elsewhere - sums[metrics.QuoteFidelity.String()]; altered > 0 {
		text += fmt.Sprintf(", %s altered", Thousands(altered))
	}
	if elsewhere > 0 {
		text += fmt.Sprintf(", %s in another source", Thousands(elsewhere))
	}
	return text
}

// shownQuotations is how many wrong quotations stand below gates.
const shownQuotations = 3

// AddQuotations adds how many quotations of the run in dir stand in no source, and the worst: of
// those that are new since a base, if there is one and it has other wrong ones.
func (g *Gates) AddQuotations(dir, base string) error {
	rows, err := runs.ReadSummaryOf(dir, runs.WholeSystems)
	if err != nil || quotesLine(rows, "") == "" {
		return err
	}
	data, since := newPageData(PageOptions{}, []RunData{{Dir: dir, Manifest: g.run}}), ""
	if base != "" {
		err := data.quotations.readBefore(base)
		if errors.Is(err, fs.ErrNotExist) {
			base = ""
		} else if err != nil {
			return err
		}
	}
	if err := data.readQuotations(0); err != nil {
		return err
	}
	if base != "" {
		since = fmt.Sprintf(" (%s since %s)", Thousands(data.quotations.fresh), filepath.Base(base))
		if len(data.quotations.worst) == 0 {
			data = newPageData(PageOptions{}, []RunData{{Dir: dir, Manifest: g.run}})
			if err := data.readQuotations(0); err != nil {
				return err
			}
		}
	}
	g.quotations = []doc.Block{doc.Para{Text: doc.T("Quotations: " + quotesLine(rows, since) + ".")}}
	for i := range data.quotations.worst[:min(len(data.quotations.worst), shownQuotations)] {
		q := &data.quotations.worst[i].Quotation
		text := fmt.Sprintf("%s/%s: “%s” ", q.ID, q.System, clip(q.Text, 100))
		if q.Difference != "" {
			text += clip(q.Difference, 100)
		} else {
			text += "is " + wordOf(quotationWords, q.Outcome).Short
		}
		g.quotations = append(g.quotations, doc.Para{Kind: doc.Item, Text: doc.T(text)})
	}
	return nil
}

// quotationBar draws the four shares of n quotations: those that are faithful, of another source,
// altered, and in no source.
func quotationBar(of map[string]int64, n int64) (bar []doc.Part) {
	for _, part := range []struct {
		name     string
		tone     doc.Tone
		outcomes []quote.Outcome
	}{
		{"faithful", doc.Good, []quote.Outcome{quote.Verbatim, quote.Normalised, quote.Elided}},
		{"in another source", doc.Dim, []quote.Outcome{quote.Elsewhere}},
		{"altered", doc.Warn, []quote.Outcome{quote.Altered}},
		{"in no source", doc.Bad, []quote.Outcome{quote.Stitched, quote.Nowhere}},
	} {
		var k int64
		for _, o := range part.outcomes {
			k += of[o.String()]
		}
		if k > 0 {
			bar = append(bar, doc.Part{Share: float64(k) / float64(n), Tone: part.tone, Label: part.name + " " + percent(k, n)})
		}
	}
	return bar
}

// quotationCells are a quotation, what is true of it, and how it differs or where it stands.
func quotationCells(q *runs.Quotation) []doc.Cell {
	state, more := wordOf(quotationWords, q.Outcome), q.Difference
	if q.DifferenceKind == quote.WordsDiffer {
		state.Tone = doc.Dim
	}
	if !q.Counts {
		state.Tone = doc.Dim
	}
	if more == "" && q.Doc != "" {
		more = "in " + q.Doc
	}
	if q.Note != "" {
		more += " (" + map[string]string{quote.NegationLeftOut: "a gap leaves a negation out", quote.NegationBefore: "a negation stands before it"}[q.Note] + ")"
	}
	return []doc.Cell{doc.C(clip(q.Text, 300)), {Text: doc.Text{state.span("")}}, doc.C(clip(more, 300))}
}

// quotationTable are the quotations of a row, nil if it has none.
func (v *RowView) quotationTable() []doc.Block {
	if len(v.Quotations) == 0 {
		return nil
	}
	t := doc.Table{Caption: "quotations", Columns: []doc.Column{{Name: "quotation"}, {Name: "it is"}, {Name: "difference or place"}}}
	for i := range v.Quotations[:min(len(v.Quotations), mostPanels)] {
		t.Rows = append(t.Rows, quotationCells(&v.Quotations[i]))
	}
	return []doc.Block{t}
}
