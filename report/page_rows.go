package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics/span"
)

// staticRows is how many of the worst rows are on the page without a script.
const staticRows = 50

// RowsTable is the table of rows as it stands on the page before its script
// takes over.
type RowsTable struct {
	Columns []RowColumn
	Static  []StaticRow // the worst rows
	Total   int64       // rows of the runs
	Held    int64       // rows that the page lists
	Opened  int64       // rows that can be opened
	Sampled string      // what was left out, in words; "" if nothing was
	NoTexts []string    // why texts are missing, by run
	Systems bool        // there is more than one system
}

// A RowColumn is a metric that the table of rows shows.
type RowColumn struct{ Name, Label, Title string }

// A StaticRow is one row of the table.
type StaticRow struct {
	Key, ID, System, Question string
	Values                    []string
	Citations                 string
	Problem                   Word
}

// rowTexts is a row of the dataset with the texts around it.
type rowTexts struct {
	row    *dataset.Row
	places *dataset.Resolved
	text   func(doc string, page int32) (string, bool)
}

// keepTexts copies what is shown of a row: its strings are gone once the next
// rows are read.
func keepTexts(row *dataset.Row, places *dataset.Resolved, text func(doc string, page int32) (string, bool)) *rowTexts {
	out := &rowTexts{&dataset.Row{Query: strings.Clone(row.Query), Answer: strings.Clone(row.Answer)}, &dataset.Resolved{}, text}
	out.row.Citations, out.row.Truth = slices.Clone(row.Citations), slices.Clone(row.Truth)
	out.places.Citations, out.places.Truth = slices.Clone(places.Citations), slices.Clone(places.Truth)
	for k := range out.row.Citations {
		c := &out.row.Citations[k]
		for _, s := range []*string{&c.Title, &c.SourceType, &c.SourceReference} {
			*s = strings.Clone(*s)
		}
	}
	for k := range out.row.Truth {
		out.row.Truth[k].Annotator = strings.Clone(out.row.Truth[k].Annotator)
	}
	for _, list := range [][]span.Place{out.places.Citations, out.places.Truth} {
		for k := range list {
			list[k].Doc = strings.Clone(list[k].Doc)
		}
	}
	return out
}

// packRows chooses the rows that the page holds, reads their texts, and packs
// them for the script of the page.
func (b *pageBuilder) packRows(ctx context.Context) error {
	chosen := b.choose(maxListed)
	opened := chosen.opened[:min(len(chosen.opened), maxHeld)]
	details, detailers, err := b.details(ctx, chosen.listed, opened)
	if err != nil {
		return err
	}
	b.splitAll(chosen.listed, details, detailers)
	room := b.options.MaxBytes - b.options.MaxBytes/40 // the rest is for what stands on the page
	for {
		packs, err := b.pack(chosen.listed, details, detailers)
		if err != nil {
			return err
		}
		size := 0
		for _, p := range packs {
			size += len(p.Data)
		}
		if size <= room || len(opened) <= staticRows {
			b.page.packs = packs
			b.held = heldRows{chosen.listed, details, detailers}
			break
		}
		// The index stays; the rest is nearly proportional to rows. Some room is kept.
		index := len(packs[0].Data)
		share := 0.95 * float64(room-index) / float64(size-index)
		keep := max(staticRows, int(share*float64(len(opened))))
		for _, n := range opened[min(keep, len(opened)):] {
			k, _ := slices.BinarySearch(chosen.listed, n)
			details[k] = nil
		}
		opened = opened[:min(keep, len(opened))]
	}
	b.page.Rows.Opened = int64(len(opened))
	b.saySampled(&chosen, len(opened))
	b.table(chosen.listed)
	return nil
}

// heldRows are the rows that a page holds, in order, with their details.
type heldRows struct {
	rows      []int
	details   []*rowDetail
	detailers []*detailer // of each run
}

// detail finds the detail of a row, nil if the page cannot open it.
func (h *heldRows) detail(row int) *rowDetail {
	if k, ok := slices.BinarySearch(h.rows, row); ok {
		return h.details[k]
	}
	return nil
}

// details makes the details of the rows that can be opened, run by run, in the
// order of the input, and finds the questions of all that are listed. The result
// is parallel to listed, nil for rows that cannot be opened.
func (b *pageBuilder) details(ctx context.Context, listed, opened []int) ([]*rowDetail, []*detailer, error) {
	details := make([]*rowDetail, len(listed))
	detailers := make([]*detailer, len(b.results))
	opens := make(map[int]bool, len(opened))
	for _, n := range opened {
		opens[n] = true
	}
	for run, r := range b.results {
		d := b.newDetailer(r)
		detailers[run] = d
		wanted := make(map[int64]int) // position in the input -> index in listed
		keep := make(map[int]bool)
		for k, n := range listed {
			if row := &b.rows[n]; row.run == run {
				wanted[r.row[row.index]] = k
				keep[row.index] = opens[n]
			}
		}
		if err := r.open(func(i int) bool { return keep[i] || b.isWorst(run, i) }); err != nil {
			return nil, nil, err
		}
		calls, err := readCalls(r.run.Dir)
		if err != nil {
			return nil, nil, err
		}
		d.calls = callsByRow(calls)
		undefined, err := r.undefined(func(i int) bool { return keep[i] })
		if err != nil {
			return nil, nil, err
		}
		if r.run.Texts != nil {
			err := r.run.Texts.Each(ctx, r.elsewhere(), func(row *dataset.Row, places *dataset.Resolved, text func(string, int32) (string, bool)) error {
				b.kinds.said(row)
				for _, v := range b.disagreements[run] {
					if v.found.Row == row.Pos {
						v.read(row, text)
					}
				}
				k, ok := wanted[row.Pos]
				if !ok {
					return nil
				}
				entry := &b.rows[listed[k]]
				entry.question = strings.Clone(line(row.Query, 240))
				if keep[entry.index] {
					details[k] = d.row(run, r, entry.index, undefined[entry.index], keepTexts(row, places, text))
				}
				return nil
			})
			if err != nil {
				return nil, nil, err
			}
		}
		for k, n := range listed {
			if row := &b.rows[n]; row.run == run && details[k] == nil && keep[row.index] {
				details[k] = d.row(run, r, row.index, undefined[row.index], nil)
			}
		}
	}
	return details, detailers, nil
}

// elsewhere names the documents that hold evidence that opened rows did not cite.
func (r *results) elsewhere() []string {
	seen := make(map[string]bool)
	for i := range r.claims {
		if c := r.claims[i].claimDetail; c != nil && c.elsewhereDoc != "" {
			seen[c.elsewhereDoc] = true
		}
	}
	return sortedKeys(seen)
}

func limitsOf(m *runs.Manifest) limits {
	l := limits{supported: 0.7, goodMatch: 0.8, tolerance: 10}
	for _, s := range m.Settings {
		if n, err := strconv.ParseInt(s.Value, 10, 64); s.Key == "span_matching.tolerance_chars" && err == nil {
			l.tolerance = n
		}
		into := map[string]*float64{"thresholds.supported": &l.supported, "thresholds.good_match": &l.goodMatch}[s.Key]
		if v, err := strconv.ParseFloat(s.Value, 64); into != nil && err == nil {
			*into = v
		}
	}
	return l
}

// worstFirst orders rows by how bad they are: problem, then the first metric,
// then the order of the input.
func (b *pageBuilder) worstFirst(rows []int) []int {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(x, y int) int {
		a, c := &b.rows[x], &b.rows[y]
		if d := cmp.Compare(c.problem, a.problem); d != 0 {
			return d
		}
		va, oka := b.leadValue(a)
		vc, okc := b.leadValue(c)
		switch {
		case oka && okc:
			return cmp.Compare(va, vc)
		case oka:
			return -1
		case okc:
			return 1
		}
		return 0
	})
	return out
}

// table is what stands on the page before its script takes over.
func (b *pageBuilder) table(held []int) {
	t := &b.page.Rows
	t.Total, t.Held, t.Systems = int64(len(b.rows)), int64(len(held)), len(b.systems) > 1
	defs := make(map[string]string)
	for _, d := range orderedDefinitions(nil) {
		defs[d.Name] = d.Summary
	}
	for _, name := range b.rowColumns() {
		t.Columns = append(t.Columns, RowColumn{name, label(name), defs[name]})
	}
	for _, n := range b.worstFirst(held)[:min(len(held), staticRows)] {
		t.Static = append(t.Static, b.staticRow(n))
	}
	for _, r := range b.results {
		if r.run.NoTexts != "" {
			t.NoTexts = append(t.NoTexts, fmt.Sprintf("%s: the texts are not on this page (%s).", shown(r.run.Manifest.ID), shown(r.run.NoTexts)))
		}
	}
}

// rowColumns are the metrics that the table shows.
func (b *pageBuilder) rowColumns() []string { return b.lead[:min(len(b.lead), 4)] }

func (b *pageBuilder) staticRow(n int) StaticRow {
	row := &b.rows[n]
	r := b.results[row.run]
	out := StaticRow{
		Key: r.key(row.index), ID: line(r.id[row.index], 60), System: line(r.system[row.index], 60), Question: row.question,
		Citations: citationsText(r.citationsOf(row.index)), Problem: problemWords[row.problem],
	}
	for _, name := range b.rowColumns() {
		text := "–"
		if v, ok := r.metric(name).at(row.index); ok {
			text = number(v)
		}
		out.Values = append(out.Values, text)
	}
	return out
}

// citationsText says how many citations of a row are valid.
func citationsText(list []citation) string {
	valid := 0
	for i := range list {
		if validStatus(list[i].status) {
			valid++
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", valid, len(list))
}
