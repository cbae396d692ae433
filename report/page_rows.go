package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// staticRows is how many of the worst rows are on the page without a script.
const staticRows = 50

// rowsTable is the table of rows as it stands on the page before its script
// takes over.
type rowsTable struct {
	Columns []rowColumn
	Static  []staticRow // the worst rows
	Total   int64       // rows of the runs
	Held    int64       // rows that the page lists
	Opened  int64       // rows that can be opened
	NoTexts []string    // why texts are missing, by run
	Systems bool        // there is more than one system
	Served  bool        // these are the rows that the address asks for
	Run     string      // if Served
}

// A rowColumn is a metric that the table of rows shows.
type rowColumn struct{ Name, Label, Title string }

type staticRow struct {
	Key, ID, System, Question string
	Values                    []string
	Citations                 string
	Problem                   word
}

// rowTexts is a row of the dataset with the texts around it.
type rowTexts struct {
	row  *ibid.Answer
	text func(doc string, page int32) (string, bool)
}

// keepTexts copies what is shown of a row: its strings are gone once the next
// rows are read.
func keepTexts(row *ibid.Answer, text func(doc string, page int32) (string, bool)) *rowTexts {
	out := &rowTexts{&ibid.Answer{Query: strings.Clone(row.Query), Answer: strings.Clone(row.Answer)}, text}
	out.row.Citations, out.row.Truth = slices.Clone(row.Citations), slices.Clone(row.Truth)
	for k := range out.row.Citations {
		c := &out.row.Citations[k]
		for _, s := range []*string{&c.Title, &c.SourceType, &c.SourceReference, &c.Place.Doc} {
			*s = strings.Clone(*s)
		}
	}
	for k := range out.row.Truth {
		t := &out.row.Truth[k]
		t.Annotator, t.Place.Doc = strings.Clone(t.Annotator), strings.Clone(t.Place.Doc)
	}
	return out
}

// packRows reads the texts of the rows that the page holds, and packs them for the
// script of the page.
func packRows(ctx context.Context, data *pageData, chosen *choice) error {
	listed, opened := data.places(chosen.listed), data.places(chosen.opened[:min(len(chosen.opened), maxHeld)])
	tooLong := func(n int) bool { row := &data.rows[n]; return data.results[row.run].tooLong(row.index) }
	opened = slices.DeleteFunc(opened, tooLong)
	details, detailers, err := readDetails(ctx, data, listed, opened)
	if err != nil {
		return err
	}
	splitAll(data, listed, details, detailers)
	room := data.options.MaxBytes - data.options.MaxBytes/40 // the rest is for what stands on the page
	for {
		packs, err := packAll(data, listed, details, detailers)
		if err != nil {
			return err
		}
		size := 0
		for _, p := range packs {
			size += len(p.Data)
		}
		if size <= room || len(opened) <= staticRows {
			data.packs = packs
			data.held = listed
			break
		}
		// The index stays; the rest is nearly proportional to rows. Some room is kept.
		index := len(packs[0].Data)
		share := 0.95 * float64(room-index) / float64(size-index)
		keep := max(staticRows, int(share*float64(len(opened))))
		for _, n := range opened[min(keep, len(opened)):] {
			k, _ := slices.BinarySearch(listed, n)
			details[k] = nil
		}
		opened = opened[:min(keep, len(opened))]
	}
	data.opened, data.sampled = int64(len(opened)), sampledInWords(data, chosen, len(opened))
	return nil
}

// details makes the details of the rows that can be opened, run by run, in the
// order of the input, and finds the questions of all that are listed. The result
// is parallel to listed, nil for rows that cannot be opened.
func readDetails(ctx context.Context, data *pageData, listed, opened []int) ([]*rowDetail, []*detailer, error) {
	details := make([]*rowDetail, len(listed))
	detailers := make([]*detailer, len(data.results))
	opens := make(map[int]bool, len(opened))
	for _, n := range opened {
		opens[n] = true
	}
	for run, r := range data.results {
		d := newDetailer(data, run)
		detailers[run] = d
		wanted := make(map[int64]int) // position in the input -> index in listed
		keep := make(map[int]bool)
		for k, n := range listed {
			if row := &data.rows[n]; row.run == run {
				wanted[row.row] = k
				keep[row.index] = opens[n]
			}
		}
		if err := r.open(func(i int) bool { return keep[i] }); err != nil {
			return nil, nil, err
		}
		elsewhere := r.elsewhere()
		// A row's results are let go once its detail is made of them.
		detail := func(i int, texts *rowTexts) *rowDetail {
			out := d.row(i, texts)
			delete(r.opened, i)
			return out
		}
		if r.run.Texts != nil {
			disputed := make(map[int64]bool)
			for _, v := range data.disagreements[run] {
				disputed[v.found.Row] = true
			}
			wants := func(pos int64) bool {
				_, ok := wanted[pos]
				return ok || disputed[pos]
			}
			if len(data.kinds) > 0 {
				wants = nil // what providers say of kinds of sources is counted over all rows
			}
			err := r.run.Texts.Each(ctx, elsewhere, wants, func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
				data.kinds.said(row)
				for _, v := range data.disagreements[run] {
					if v.found.Row == row.Pos {
						v.read(row, text)
					}
				}
				k, ok := wanted[row.Pos]
				if !ok {
					return nil
				}
				entry := &data.rows[listed[k]]
				entry.question = strings.Clone(line(row.Query, 240))
				if keep[entry.index] && len(row.Citations)+len(row.Truth) <= mostItems {
					details[k] = detail(entry.index, keepTexts(row, text))
				}
				return nil
			})
			if err != nil {
				return nil, nil, err
			}
		}
		for k, n := range listed {
			if row := &data.rows[n]; row.run == run && details[k] == nil && keep[row.index] {
				details[k] = detail(row.index, nil)
			}
		}
	}
	return details, detailers, nil
}

// elsewhere names the documents that hold evidence that opened rows did not cite.
func (r *results) elsewhere() []string {
	seen := make(map[string]bool)
	for _, row := range r.opened {
		for k := range row.claims {
			if e := row.claims[k].Elsewhere; e != nil && e.Doc != "" {
				seen[e.Doc] = true
			}
		}
	}
	return sortedKeys(seen)
}

func limitsOf(m *runs.Manifest) limits {
	s := m.Effective()
	return limits{metrics.ProblemLimits{Supported: s.Thresholds.Supported, GoodMatch: s.Thresholds.GoodMatch}, s.SpanMatching.ToleranceChars}
}

// worstFirst orders rows by how bad they are.
func worstFirst(data *pageData, rows []int) []int {
	out := slices.Clone(rows)
	slices.SortFunc(out, func(x, y int) int { return data.rows[x].worse(data.rows[y].candidate) })
	return out
}

// rowsSection is the table of rows as it stands on the page before its script takes
// over.
func rowsSection(data *pageData) *section {
	held := data.held
	t := &rowsTable{Opened: data.opened}
	if data.asked != nil {
		t.Served, t.Run = true, line(data.results[0].run.Manifest.ID, 80)
	}
	t.Total, t.Held, t.Systems = sum(data.totals.rows), int64(len(held)), len(data.systems) > 1
	defs := make(map[string]string)
	for _, d := range orderedDefinitions(nil) {
		defs[d.Name] = d.Summary
	}
	for _, name := range rowColumns(data) {
		t.Columns = append(t.Columns, rowColumn{name, label(name), defs[name]})
	}
	for _, n := range worstFirst(data, held)[:min(len(held), staticRows)] {
		t.Static = append(t.Static, newStaticRow(data, n))
	}
	for _, r := range data.results {
		if r.run.NoTexts != "" {
			t.NoTexts = append(t.NoTexts, fmt.Sprintf("%s: the texts are not on this page (%s).", shown(r.run.Manifest.ID), shown(r.run.NoTexts)))
		}
	}
	return &section{"rows", "Rows", t}
}

// rowColumns are the metrics that the table shows.
func rowColumns(data *pageData) []string { return data.lead[:min(len(data.lead), 4)] }

func newStaticRow(data *pageData, n int) staticRow {
	row := &data.rows[n]
	r := data.results[row.run]
	out := staticRow{
		Key: r.key(row.index), ID: line(r.id[row.index], 60), System: line(r.system[row.index], 60), Question: row.question,
		Citations: citationsText(r.citationsOf(row.index)), Problem: problemWords[row.problem],
	}
	for _, name := range rowColumns(data) {
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
