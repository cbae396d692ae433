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
	row        []int64 // position in the input, ascending
	failed     []string
	because    []string // why rows fail, "" of one that does not
	annotator  []string
	tags       [][]ibid.Tag
	truthSpans []ibid.Integer
	metrics    []metricColumn // those that some row has

	citations []citation
	firstCite []int32 // of each row; one more at the end
	claims    []claim
	firstClm  []int32
	findings  []metrics.ClaimFinding // what decides about each claim
	judged    bool                   // there is a claims file
	opened    map[int]*openedRow     // by position in id, see [results.open]

	calls       []judgeCall
	agreement   []runs.AgreementRow
	calibration *Calibration // nil if nobody compared the judge with people
}

// A metricColumn is the values of one metric.
type metricColumn struct {
	def    metrics.Definition
	values []float64
	valid  []bool
}

// A citation is one row of citations.parquet.
type citation struct {
	row, number               int64
	doc                       string
	docNull                   bool
	status, label, sourceType string
	exact, snapped, support   ibid.Number
	claims                    []int64
}

// A claim is one row of claims.parquet.
type claim struct {
	row, number int64
	outcome     string
	citations   []int64
}

// An openedRow is the citations and claims of a row that is looked at closely.
type openedRow struct {
	citations []runs.Citation
	claims    []runs.Claim
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
	if r.calls, err = readCalls(run.Dir); err != nil {
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
		"row":             func(i int, v *parquet.ColumnValues, k int) { r.row[i] = v.Ints[k] },
		"error":           texts(func(i int) *string { return &r.failed[i] }),
		"fails_because":   texts(func(i int) *string { return &r.because[i] }),
		"truth_annotator": texts(func(i int) *string { return &r.annotator[i] }),
		"truth_spans":     ints(func(i int) *ibid.Integer { return &r.truthSpans[i] }),
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
		r.provider = make([]string, n)
		r.failed, r.because, r.annotator, r.tags = make([]string, n), make([]string, n), make([]string, n), make([][]ibid.Tag, n)
		r.truthSpans = make([]ibid.Integer, n)
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
	at := func(i int) *citation { return &r.citations[i] }
	columns := map[string]columnReader{
		"row":             func(i int, v *parquet.ColumnValues, k int) { at(i).row = v.Ints[k] },
		"citation":        func(i int, v *parquet.ColumnValues, k int) { at(i).number = v.Ints[k] },
		"doc":             func(i int, v *parquet.ColumnValues, k int) { at(i).doc, at(i).docNull = v.Strings[k], !v.Valid[k] },
		"status":          texts(func(i int) *string { return &at(i).status }),
		"label":           texts(func(i int) *string { return &at(i).label }),
		"source_type":     texts(func(i int) *string { return &at(i).sourceType }),
		"exact_jaccard":   doubles(func(i int) *ibid.Number { return &at(i).exact }),
		"snapped_jaccard": doubles(func(i int) *ibid.Number { return &at(i).snapped }),
		"support":         doubles(func(i int) *ibid.Number { return &at(i).support }),
		"claims":          lists(func(i int) *[]int64 { return &at(i).claims }),
	}
	return readTable(filepath.Join(r.run.Dir, runs.CitationsFile), columns, func(n int) { r.citations = make([]citation, n) })
}

// readClaims reads the claims of a run that has a judge.
func (r *results) readClaims() error {
	at := func(i int) *claim { return &r.claims[i] }
	columns := map[string]columnReader{
		"row":       func(i int, v *parquet.ColumnValues, k int) { at(i).row = v.Ints[k] },
		"claim":     func(i int, v *parquet.ColumnValues, k int) { at(i).number = v.Ints[k] },
		"outcome":   texts(func(i int) *string { return &at(i).outcome }),
		"citations": lists(func(i int) *[]int64 { return &at(i).citations }),
	}
	err := readTable(filepath.Join(r.run.Dir, runs.ClaimsFile), columns, func(n int) { r.claims = make([]claim, n) })
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
	return runs.Claims.ScanSome(r.run.Dir, nil, func(at int64) bool { return rowOf(r.claims[at].row) != nil }, func(_ int64, c *runs.Claim) error {
		cleanTexts(&c.ClaimID, &c.Text, &c.Reason)
		if e := c.Elsewhere; e != nil {
			e.Doc = strings.Clone(e.Doc)
		}
		row := rowOf(c.Row)
		row.claims = append(row.claims, *c)
		return nil
	})
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
