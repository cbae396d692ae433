package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ibid/metrics"
)

// askedRows is how many rows a page of asked rows has at most.
const askedRows = 100

// mostAsked is how many of the first rows of an order can be turned to: what a page of
// rows takes of memory must not grow with the run. Filters reach the others.
const mostAsked = 100_000

// RowsAsked says which rows of a run somebody wants to see: as the address of the page
// has it.
type RowsAsked struct {
	Page    int      // from 1; past the end: the last
	Sort    string   // a metric, id, row, system or cited, after "-" the greatest first; "": the worst first
	Filters []string // as links on the page have them, such as outcome:unsupported; all must hold
	Words   []string // in lower case; each in id, system, question, answer or a cited document
	Key     string   // of the one row, as links have it; "": all
}

// ReadRowsAsked reads the query of an address. What it does not know is passed over, as
// on a page whose script reads it.
func ReadRowsAsked(q url.Values) RowsAsked {
	page, _ := strconv.Atoi(q.Get("p")) // 0 is the first page, too
	return RowsAsked{
		Page: min(max(page, 1), mostAsked/askedRows), Sort: q.Get("s"), Filters: q["f"], Key: q.Get("row"),
		Words: wordsOf(q.Get("q")),
	}
}

// wordsOf are the words that somebody searches for.
func wordsOf(query string) []string { return strings.Fields(strings.ToLower(query)) }

// A searcher yields the rows of a run with question and answer, without their documents.
// A row is valid until yield returns.
type searcher interface {
	EachAnswer(ctx context.Context, yield func(pos int64, query, answer string) error) error
}

// An askedRow is a row that is asked for, as far as it is ordered.
type askedRow struct {
	candidate
	text string // that it is sorted by
}

// asked is what was found of the rows that are asked for.
type asked struct {
	RowsAsked
	rows   []candidate // of the page, in order
	found  int64       // rows that fit
	facets *facets
}

// facets are what the rows of the run have: the choices of filters.
type facets struct {
	Pages     int     `json:"pages"`
	Page      int     `json:"page"`
	Found     int64   `json:"found"`
	Total     int64   `json:"total"`
	Problem   []int64 `json:"problem"` // rows, by the numbers of the words
	Status    []int64 `json:"status"`
	Outcome   []int64 `json:"outcome"`
	tags      map[string]bool
	annotator map[string]bool
	provider  map[string]bool
	model     map[string]bool
	types     map[string]bool
}

// mostFacets is how many different tags, models and so on can be chosen.
const mostFacets = 500

func noteFacet(m map[string]bool, name string) {
	if name != "" && !m[name] && len(m) < mostFacets {
		m[strings.Clone(name)] = true
	}
}

// WriteRows writes a page of some rows of a run, read from its files: at most
// [askedRows] of them, in full. It reads the files row group by row group and holds the
// rows of the page alone. Its script asks for other rows by the address of the page:
// somebody must serve it, see [ReadRowsAsked].
func WriteRows(ctx context.Context, w io.Writer, o PageOptions, q RowsAsked, run RunData) error {
	data, err := readAsked(ctx, o, q, run, askedRows, true)
	if err != nil {
		return err
	}
	p := &page{Title: line(run.Manifest.ID, 80), Version: o.Version, Served: true, packs: data.packs, Links: o.Links, Sections: []*section{rowsSection(data)}}
	return p.write(w)
}

// readAsked reads the first most rows of the page that is asked for; with open, in full,
// else only what a list shows of them.
func readAsked(ctx context.Context, o PageOptions, q RowsAsked, run RunData, most int, open bool) (_ *pageData, err error) {
	data := &pageData{options: o, kinds: make(kindCounts), disagreements: make([][]*disagreementView, 1)}
	data.options.MaxBytes = math.MaxInt // a row is opened however many there are beside it
	tables, rows, err := beginTables(data, []RunData{run})
	defer func() { closeTables(tables, &err) }()
	if err != nil {
		return nil, err
	}
	s := newSurvey(data, newChooser(askedRows, rows), 1)
	if data.asked, err = findAsked(ctx, data, s, tables[0], q); err != nil {
		return nil, err
	}
	data.totals.rows = []int64{rows}
	data.asked.rows = data.asked.rows[:min(most, len(data.asked.rows))]
	wanted := make(map[int64]bool, most)
	for _, x := range data.asked.rows {
		wanted[x.row] = true
	}
	r, err := tables[0].load(len(wanted), func(row int64, _, _ string) bool { return wanted[row] })
	if err != nil {
		return nil, err
	}
	r.systems = len(data.systems)
	data.results = []*results{r}
	listRows(data, s)
	chosen := &choice{listed: slices.Clone(data.asked.rows)}
	slices.SortFunc(chosen.listed, candidate.before)
	if open {
		chosen.opened = chosen.listed
	}
	err = packRows(ctx, data, chosen)
	data.sampled = ""
	return data, err
}

// findAsked finds the rows of the page that is asked for in one pass.
func findAsked(ctx context.Context, data *pageData, s *survey, b *tableReader, q RowsAsked) (*asked, error) {
	match, err := wordsMatch(ctx, data, q.Words, b.run)
	if err != nil {
		return nil, err
	}
	out := &asked{RowsAsked: q, facets: &facets{
		Total: b.rows.Len(), Problem: make([]int64, len(problemWords)), Status: make([]int64, len(statusWords)), Outcome: make([]int64, len(outcomeWords)),
		tags: make(map[string]bool), annotator: make(map[string]bool), provider: make(map[string]bool), model: make(map[string]bool), types: make(map[string]bool),
	}}
	// Only what rows are chosen and ordered by is read of all rows.
	whole := b.defined
	b.defined = slices.DeleteFunc(slices.Clone(whole), func(d metrics.Definition) bool {
		return d.Name != "overall_citation_accuracy" && d.Name != strings.TrimPrefix(q.Sort, "-") && !slices.Contains(data.lead[:min(len(data.lead), 1)], d.Name) &&
			!slices.ContainsFunc(q.Filters, func(f string) bool { return strings.HasPrefix(f, d.Name+":") })
	})
	defer func() { b.defined, b.block.metrics = whole, nil }()
	order := askedOrder(q.Sort)
	most := q.Page * askedRows
	var list []askedRow
	err = b.each(func(block *results) error {
		for i := range block.row {
			x := askedRow{candidate: candidate{row: block.row[i], problem: data.limits[0].ofRow(block, i), system: s.system(block.system[i])}}
			out.facets.add(block, i, x.problem)
			if !q.fits(block, i, x.problem) || !match(block, i) {
				continue
			}
			out.found++
			q.value(data, block, i, &x)
			if list = append(list, x); len(list) > 2*most {
				slices.SortFunc(list, order)
				list = list[:most]
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, order)
	f := out.facets
	f.Found, f.Pages = out.found, int(min(max(1, (out.found+askedRows-1)/askedRows), mostAsked/askedRows))
	f.Page = min(q.Page, f.Pages)
	first := (f.Page - 1) * askedRows
	for _, x := range list[min(first, len(list)):min(first+askedRows, len(list))] {
		out.rows = append(out.rows, x.candidate)
	}
	return out, nil
}

// askedOrder is the order of rows by a sort.
func askedOrder(by string) func(x, y askedRow) int {
	name, down := strings.CutPrefix(by, "-")
	sign := 1
	if down {
		sign = -1
	}
	if name == "" {
		return func(x, y askedRow) int { return x.worse(y.candidate) }
	}
	return func(x, y askedRow) int {
		if x.hasLead != y.hasLead { // undefined comes last either way
			if x.hasLead {
				return -1
			}
			return 1
		}
		if c := cmp.Or(cmp.Compare(x.lead, y.lead), cmp.Compare(x.text, y.text)); c != 0 {
			return sign * c
		}
		return x.before(y.candidate)
	}
}

// value sets what the row is sorted by.
func (q *RowsAsked) value(data *pageData, r *results, i int, x *askedRow) {
	switch name := strings.TrimPrefix(q.Sort, "-"); name {
	case "":
		x.lead, x.hasLead = leadValue(data, r, i)
	case "id":
		x.text, x.hasLead = strings.Clone(r.id[i]), true
	case "system":
		x.text, x.hasLead = strings.Clone(r.system[i]), true
	case "problem":
		x.lead, x.hasLead = -float64(x.problem), true
	case "cited":
		n, _ := strconv.Atoi(strings.Split(citationsText(r.citationsOf(i)), " ")[0]) // none is 0
		x.lead, x.hasLead = float64(n), true
	case "row":
		x.lead, x.hasLead = float64(x.row), true
	default:
		x.lead, x.hasLead = r.metric(name).at(i)
	}
}

// fits reports whether row i has what all filters ask for.
func (q *RowsAsked) fits(r *results, i int, problem metrics.Problem) bool {
	if q.Key != "" && r.key(i) != q.Key {
		return false
	}
	return !slices.ContainsFunc(q.Filters, func(f string) bool { return !rowHas(r, i, problem, f) })
}

// rowHas reports whether row i has what a filter asks for, as the script of the page does
// for rows that it holds. A filter that is not known holds.
func rowHas(r *results, i int, problem metrics.Problem, filter string) bool {
	facet, value, _ := strings.Cut(filter, ":")
	citations := r.citationsOf(i)
	switch facet {
	case "system":
		return line(r.system[i], 80) == value
	case "status":
		return slices.ContainsFunc(citations, func(c citation) bool { return c.status == value })
	case "outcome":
		return slices.ContainsFunc(r.claimsOf(i), func(c claim) bool { return c.outcome == value })
	case "problem":
		return problemWords[problem].Code == value
	case "tag":
		for _, t := range r.tags[i] {
			if line(t.Key, 60)+"="+line(t.Value, 60) == value {
				return true
			}
		}
		return false
	case "type":
		return slices.ContainsFunc(citations, func(c citation) bool { return line(c.sourceType, 80) == value })
	case "doc":
		return slices.ContainsFunc(citations, func(c citation) bool { return line(c.doc, 120) == value })
	case "provider":
		return line(r.provider[i], 80) == value
	case "model":
		return line(r.model[i], 80) == value
	case "annotator":
		return line(r.annotator[i], 80) == value
	case "is":
		return value == "failing" && problem.Fails() || value == "error" && r.failed[i] != ""
	}
	column := r.metric(facet)
	if column == nil {
		return true
	}
	v, ok := column.at(i)
	if value == "undefined" || !ok {
		return !ok && value == "undefined"
	}
	low, high, _ := strings.Cut(value, "..")
	v = rounded(v)
	if lo, err := strconv.ParseFloat(low, 64); err == nil && lo > v {
		return false
	}
	hi, err := strconv.ParseFloat(high, 64)
	return err != nil || v < hi || v == hi && hi == axisOf(column.def, nil).hi
}

// wordsMatch is whether a row has all words. Questions and answers are read where the run
// has its texts.
func wordsMatch(ctx context.Context, data *pageData, words []string, run *RunData) (func(r *results, i int) bool, error) {
	if len(words) == 0 {
		return func(*results, int) bool { return true }, nil
	}
	// Of each row, the words that question and answer have: the others must be in what the
	// results say of it.
	said := make(map[int64]uint64)
	words = words[:min(len(words), 64)]
	if texts, ok := run.Texts.(searcher); ok && run.Texts != nil {
		err := texts.EachAnswer(ctx, func(pos int64, query, answer string) error {
			query, answer = strings.ToLower(query), strings.ToLower(answer)
			for k, w := range words {
				if strings.Contains(query, w) || strings.Contains(answer, w) {
					said[pos] |= 1 << k
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return func(r *results, i int) bool {
		id, system := strings.ToLower(r.id[i]), strings.ToLower(r.system[i])
		for k, w := range words {
			if said[r.row[i]]>>k&1 == 0 && !strings.Contains(id, w) && !strings.Contains(system, w) &&
				!slices.ContainsFunc(r.citationsOf(i), func(c citation) bool { return strings.Contains(strings.ToLower(c.doc), w) }) {
				return false
			}
		}
		return true
	}, nil
}

// add counts a row.
func (f *facets) add(r *results, i int, problem metrics.Problem) {
	f.Problem[problem]++
	citations, claims := r.citationsOf(i), r.claimsOf(i)
	count := func(into []int64, set uint32) {
		for k := range into {
			into[k] += int64(set >> k & 1)
		}
	}
	count(f.Status, bits(statusWords, len(citations), func(k int) string { return citations[k].status }))
	count(f.Outcome, bits(outcomeWords, len(claims), func(k int) string { return claims[k].outcome }))
	for _, t := range r.tags[i] {
		if len(f.tags) < mostFacets {
			noteFacet(f.tags, line(t.Key, 60)+"="+line(t.Value, 60))
		}
	}
	for k := range citations {
		noteFacet(f.types, citations[k].sourceType)
	}
	noteFacet(f.annotator, r.annotator[i])
	noteFacet(f.provider, r.provider[i])
	noteFacet(f.model, r.model[i])
}

// fill puts what the rows of the run have into the index of the rows of a page.
func (a *asked) fill(data *pageData, x *rowIndex, place map[int]int) {
	x.Asked = a.facets
	x.Worst = x.Worst[:0]
	for _, c := range a.rows {
		if n, ok := data.find(c.run, c.row); ok {
			x.Worst = append(x.Worst, place[n])
		}
	}
	more := func(list *[]string, m map[string]bool) {
		for _, name := range sortedKeys(m) {
			if name = line(name, 121); !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	more(&x.TagNames, a.facets.tags)
	more(&x.Annotators, a.facets.annotator)
	more(&x.Providers, a.facets.provider)
	more(&x.Models, a.facets.model)
	more(&x.Types, a.facets.types)
}

// closeTables closes tables, adding what goes wrong to err.
func closeTables(tables []*tableReader, err *error) {
	for _, b := range tables {
		*err = errors.Join(*err, b.close())
	}
}

// beginTables opens the tables of runs, and finds their systems and the metrics that lead.
func beginTables(data *pageData, all []RunData) (tables []*tableReader, rows int64, err error) {
	for k := range all {
		b, err := openTables(&all[k], prefixOf(all, k))
		if err != nil {
			return tables, 0, fmt.Errorf("%s: %w", all[k].Dir, err)
		}
		tables = append(tables, b)
		rows += b.rows.Len()
		data.limits = append(data.limits, limitsOf(all[k].Manifest))
	}
	data.summary = indexSummary(all)
	data.systems = data.summary.systems()
	data.lead = leadOf(func(name string) bool {
		return slices.ContainsFunc(tables, func(b *tableReader) bool {
			return slices.ContainsFunc(b.defined, func(d metrics.Definition) bool { return d.Name == name })
		})
	})
	return tables, rows, nil
}
