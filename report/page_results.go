package report

import (
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// results are rows of the result tables of one run, by column: those of one block,
// or those that the page lists.
type results struct {
	in     *runs.Block // of a block: where it is read from
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
	undefined  [][]string     // metrics without a value, each before its reason
	metrics    []metricColumn // those that some row of the run has

	citations []citation
	firstCite []int32 // of each row; one more at the end
	claims    []claim
	firstClm  []int32
	findings  []metrics.ClaimFinding // what decides about each claim
	judged    bool                   // there is a claims file
	opened    map[int]*openedRow     // by position in id, see [results.open]

	systems     int // of the run
	calls       callSums
	agreement   []runs.AgreementRow
	calibration *Calibration // nil if nobody compared the judge with people
}

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
	calls     []callShown   // of the judge
}

// firstOf appends, for each row, the first of n items that belong to it or a later
// row, and n; items are ordered as rows are.
func firstOf(first []int32, rows []int64, n int, rowOf func(i int) int64) []int32 {
	first = slices.Grow(first, len(rows)+1)[:len(rows)+1]
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

// cleanTexts clips and cleans texts that the page holds. They become copies: one
// string would keep the text of all others of its part of the file in memory.
func cleanTexts(texts ...*string) {
	for _, s := range texts {
		*s = strings.Clone(shown(clip(*s, longText)))
	}
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
	var found [8]metrics.CitationFinding // most rows have no more
	a.Citations = found[:0]
	for k := range r.citationsOf(i) {
		a.Citations = append(a.Citations, citationFinding(&r.citationsOf(i)[k]))
	}
	a.Overall, a.HasOverall = r.metric("overall_citation_accuracy").at(i)
	return l.OfAnswer(&a)
}
