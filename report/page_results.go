package report

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// results are the result tables of one run, by column.
type results struct {
	run    *RunData
	prefix string // of its systems' names, when there are several runs

	id, system []string
	provider   []string
	model      []string
	row        []int64 // position in the input, ascending
	failed     []string
	because    []string // why rows fail, "" of one that does not
	annotator  []string
	tags       [][]ibid.Tag
	truthSpans []int64        // 0 where truth is not known
	metrics    []metricColumn // those that some row has

	citations []citation
	firstCite []int32 // of each row; one more at the end
	claims    []claim
	firstClm  []int32
	findings  []metrics.ClaimFinding // what decides about each claim
	judged    bool                   // there is a claims file
	opened    map[int]*openedRow     // by position in id, see [results.open]

	calls       []runs.Call
	agreement   []runs.AgreementRow
	calibration *Calibration // nil if nobody compared the judge with people
}

// A metricColumn is the values of one metric.
type metricColumn struct {
	def    metrics.Definition
	values []float64
	valid  []bool
}

// A citation is what all citations are counted by.
type citation struct {
	row                     int64
	doc                     string // "" if it names none
	status, label           string
	sourceType              string
	exact, snapped, support *float64
	claims                  []int32
}

// A claim is what all claims are counted by.
type claim struct {
	row       int64
	outcome   string
	citations []int32
}

// An openedRow is the citations and claims of a row that is looked at closely.
type openedRow struct {
	citations []runs.Citation
	claims    []runs.Claim
	verdicts  *verdictTable // nil where it is small
	tampering []string      // with the judge, in words
}

// readResults reads what the page shows of a run.
func readResults(run *RunData, prefix string) (*results, error) {
	r := &results{run: run, prefix: prefix}
	if err := r.readRows(); err != nil {
		return nil, err
	}
	if err := r.readCitations(); err != nil {
		return nil, err
	}
	if err := r.readClaims(); err != nil {
		return nil, err
	}
	r.firstCite = firstOf(r.row, len(r.citations), func(i int) int64 { return r.citations[i].row })
	r.firstClm = firstOf(r.row, len(r.claims), func(i int) int64 { return r.claims[i].row })
	for i := range r.claims {
		c := &r.claims[i]
		r.findings = append(r.findings, metrics.ClaimFinding{Outcome: outcomeNamed[c.outcome], Cited: len(c.citations)})
	}
	var err error
	if r.calls, err = runs.Calls.ReadIfAny(run.Dir); err != nil {
		return nil, err
	}
	if r.agreement, err = runs.ReadAgreement(run.Dir); err != nil {
		return nil, err
	}
	if r.calibration, err = ReadCalibration(run.Dir); err != nil {
		return nil, err
	}
	return r, nil
}

// firstOf returns, for each row, the first of n items that belong to it or a
// later row; items are ordered as rows are.
func firstOf(rows []int64, n int, rowOf func(i int) int64) []int32 {
	first := make([]int32, len(rows)+1)
	at := 0
	for i, row := range rows {
		for at < n && rowOf(at) < row {
			at++
		}
		first[i] = int32(at)
	}
	first[len(rows)] = int32(n)
	return first
}

func (r *results) citationsOf(i int) []citation { return r.citations[r.firstCite[i]:r.firstCite[i+1]] }

func (r *results) claimsOf(i int) []claim { return r.claims[r.firstClm[i]:r.firstClm[i+1]] }

func (r *results) findingsOf(i int) []metrics.ClaimFinding {
	return r.findings[r.firstClm[i]:r.firstClm[i+1]]
}

func (r *results) readRows() error {
	defs := metrics.Definitions()
	all := make([]metricColumn, len(defs))
	columns := map[string]columnReader{
		"id":              texts(func(i int) *string { return &r.id[i] }),
		"system":          texts(func(i int) *string { return &r.system[i] }),
		"provider":        texts(func(i int) *string { return &r.provider[i] }),
		"model":           texts(func(i int) *string { return &r.model[i] }),
		"row":             func(i int, v *parquet.ColumnValues, k int) { r.row[i] = v.Ints[k] },
		"error":           texts(func(i int) *string { return &r.failed[i] }),
		"fails_because":   texts(func(i int) *string { return &r.because[i] }),
		"truth_annotator": texts(func(i int) *string { return &r.annotator[i] }),
		"truth_spans": func(i int, v *parquet.ColumnValues, k int) {
			if v.Valid[k] {
				r.truthSpans[i] = v.Ints[k]
			}
		},
		"tags": func(i int, v *parquet.ColumnValues, k int) {
			for e := v.Offsets[k]; e < v.Offsets[k+1]; e++ {
				r.tags[i] = append(r.tags[i], ibid.Tag{Key: v.Keys[e], Value: v.Strings[e]})
			}
		},
	}
	for m, d := range defs {
		columns[d.Name] = func(i int, v *parquet.ColumnValues, k int) {
			if v.Valid[k] {
				c := &all[m]
				if c.values == nil {
					c.def, c.values, c.valid = d, make([]float64, len(r.row)), make([]bool, len(r.row))
				}
				c.values[i], c.valid[i] = v.Doubles[k], true
			}
		}
	}
	err := readTable(filepath.Join(r.run.Dir, runs.RowsFile), columns, func(n int) {
		r.id, r.system, r.row = make([]string, n), make([]string, n), make([]int64, n)
		r.provider, r.model = make([]string, n), make([]string, n)
		r.failed, r.because, r.annotator, r.tags = make([]string, n), make([]string, n), make([]string, n), make([][]ibid.Tag, n)
		r.truthSpans = make([]int64, n)
	})
	for _, c := range all {
		if c.values != nil {
			r.metrics = append(r.metrics, c)
		}
	}
	for i := range r.system {
		r.system[i] = r.prefix + r.system[i]
	}
	return err
}

func (r *results) readCitations() error {
	columns := []string{"row", "doc", "status", "label", "source_type", "exact_jaccard", "snapped_jaccard", "support", "claims"}
	return runs.Citations.Scan(r.run.Dir, columns, func(_ int64, c *runs.Citation) error {
		r.citations = append(r.citations, citation{
			row: c.Row, doc: c.Doc, status: c.Status, label: c.Label, sourceType: c.SourceType,
			exact: c.ExactJaccard, snapped: c.SnappedJaccard, support: c.Support, claims: c.Claims,
		})
		return nil
	})
}

// readClaims reads the claims of a run that has a judge.
func (r *results) readClaims() error {
	err := runs.Claims.Scan(r.run.Dir, []string{"row", "outcome", "citations"}, func(_ int64, c *runs.Claim) error {
		r.claims = append(r.claims, claim{c.Row, c.Outcome, c.Citations})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.judged = err == nil
	return err
}

// open reads all of the citations and claims of the rows that look chooses. A large
// run has far more than a page shows, and they take most of the memory that it would
// take.
func (r *results) open(look func(i int) bool) error {
	r.opened = make(map[int]*openedRow)
	for i := range r.row {
		if look(i) {
			r.opened[i] = &openedRow{}
		}
	}
	rowOf := func(row int64) *openedRow {
		i, _ := slices.BinarySearch(r.row, row)
		return r.opened[i]
	}
	err := runs.Citations.ScanSome(r.run.Dir, nil, func(at int64) bool { return rowOf(r.citations[at].row) != nil }, func(_ int64, c *runs.Citation) error {
		cleanTexts(&c.CitationID, &c.Unit, &c.Precheck, &c.Reason, &c.Quote, &c.CitedText)
		c.Doc = strings.Clone(c.Doc)
		row := rowOf(c.Row)
		row.citations = append(row.citations, *c)
		return nil
	})
	if err != nil || !r.judged {
		return err
	}
	err = runs.Claims.ScanSome(r.run.Dir, nil, func(at int64) bool { return rowOf(r.claims[at].row) != nil }, func(_ int64, c *runs.Claim) error {
		cleanTexts(&c.ClaimID, &c.Text, &c.Reason)
		if e := c.Elsewhere; e != nil {
			e.Doc = strings.Clone(e.Doc)
		}
		row := rowOf(c.Row)
		row.claims = append(row.claims, *c)
		return nil
	})
	if err != nil {
		return err
	}
	// The verdicts on a row follow each other; most rows need no table of them.
	var of []runs.Judgment
	end := func() {
		if len(of) == 0 {
			return
		}
		if t := newVerdictTable(of); !t.small() {
			rowOf(of[0].Row).verdicts = t
		}
		rowOf(of[0].Row).tampering = tamperingInWords(of[0].Tampering, suspectedIn(of))
		of = of[:0]
	}
	columns := []string{"row", "claim", "evidence", "support", "label", "annotator", "vote", "unscored", "tampering", "suspected"}
	err = runs.Verdicts.Scan(r.run.Dir, columns, func(_ int64, v *runs.Judgment) error {
		if len(of) > 0 && of[0].Row != v.Row {
			end()
		}
		if rowOf(v.Row) != nil {
			of = append(of, *v)
		}
		return nil
	})
	end()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // an earlier version made the run
	}
	return err
}

// cleanTexts clips and cleans texts that the page holds. They become copies: one
// string would keep the text of all others of its part of the file in memory.
func cleanTexts(texts ...*string) {
	for _, s := range texts {
		*s = strings.Clone(shown(clip(*s, longText)))
	}
}

// undefined returns why metrics have no value, for the rows that keep chooses:
// metric and reason in turn.
func (r *results) undefined(keep func(i int) bool) (map[int][]string, error) {
	out := make(map[int][]string)
	err := readTable(filepath.Join(r.run.Dir, runs.RowsFile), map[string]columnReader{
		"undefined": func(i int, v *parquet.ColumnValues, k int) {
			if !keep(i) {
				return
			}
			var pairs []string
			for e := v.Offsets[k]; e < v.Offsets[k+1]; e++ {
				pairs = append(pairs, v.Keys[e], v.Strings[e])
			}
			out[i] = pairs
		},
	}, func(int) {})
	return out, err
}

// metric returns the column of a metric, nil if no row has it.
func (r *results) metric(name string) *metricColumn {
	for i := range r.metrics {
		if r.metrics[i].def.Name == name {
			return &r.metrics[i]
		}
	}
	return nil
}

// at returns the value of row i; ok is false if it is undefined.
func (c *metricColumn) at(i int) (v float64, ok bool) {
	if c == nil || !c.valid[i] {
		return 0, false
	}
	return c.values[i], true
}

// key names row i in links: id/system, each escaped. What is too long for a link
// is cut and told apart by its position.
func (r *results) key(i int) string {
	id, system := r.id[i], r.system[i]
	if len(id)+len(system) > maxKey {
		return escapeLink(clip(id, maxKey/4)) + "/" + escapeLink(clip(system, maxKey/4)+"#"+count(r.row[i]))
	}
	return escapeLink(id) + "/" + escapeLink(system)
}

const maxKey = 400 // bytes of id and system in a link

// judgeKind is who judged: none, lexical, human or a kind of model.
func (r *results) judgeKind() string {
	kind := r.run.Manifest.Judge.Kind
	if kind == "" || !r.judged {
		return "none"
	}
	return strings.ToLower(kind)
}

// limits are the settings that decide what is a problem.
type limits struct {
	metrics.ProblemLimits
	tolerance int64 // code points by which a boundary may be off
}

// citationFinding is what decides about citation c of its row.
func citationFinding(c *citation) metrics.CitationFinding {
	status, known := statusNamed[c.status]
	if !known {
		status = ibid.StatusUnchecked
	}
	f := metrics.CitationFinding{Status: status, Contradicts: c.label == ibid.Contradicts.String(), Claims: c.claims}
	if c.exact != nil {
		f.HasTruth, f.Exact = true, *c.exact
	}
	if c.snapped != nil {
		f.Snapped = *c.snapped
	}
	if c.support != nil {
		f.Support = ibid.Some(*c.support)
	}
	return f
}

// ofCitation is the worst about citation c of row i.
func (l *limits) ofCitation(r *results, i int, c *citation) metrics.Problem {
	f := citationFinding(c)
	return l.OfCitation(&f, r.findingsOf(i))
}

// ofRow is the worst about row i: of a row that fails, why the run says that it
// does. Runs of earlier versions do not say it, and their rows are looked at here.
func (l *limits) ofRow(r *results, i int) metrics.Problem {
	if p, ok := metrics.ParseProblem(r.because[i]); ok {
		return p
	}
	a := metrics.AnswerFinding{
		Error: r.failed[i] != "", Claims: r.findingsOf(i), Marked: r.truthSpans[i] > 0,
	}
	for k := range r.citationsOf(i) {
		a.Citations = append(a.Citations, citationFinding(&r.citationsOf(i)[k]))
	}
	a.Overall, a.HasOverall = r.metric("overall_citation_accuracy").at(i)
	return l.OfAnswer(&a)
}

// A columnReader takes over entry k of a column as item i of a table.
type columnReader func(i int, v *parquet.ColumnValues, k int)

// readTable reads columns of a result file; those that it does not have are
// left out. size is told the number of rows first.
func readTable(path string, columns map[string]columnReader, size func(rows int)) error {
	f, err := parquet.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size(int(f.Rows()))
	var v parquet.ColumnValues
	first := 0
	for g := range f.RowGroups() {
		for name, read := range columns {
			if !f.Has(name) {
				continue
			}
			if err := f.ReadColumn(g, name, &v); err != nil {
				return err
			}
			for k := range v.Rows {
				read(first+k, &v, k)
			}
		}
		first += f.GroupRows(g)
	}
	return nil
}

func texts(field func(i int) *string) columnReader {
	return func(i int, v *parquet.ColumnValues, k int) { *field(i) = v.Strings[k] }
}
