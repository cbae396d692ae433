package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/metrics"
)

// RowsFile is the file of a run with its rows.
const RowsFile = "rows.parquet"

// Row states, as in the column status of rows.parquet.
const (
	RowOK    = "ok"
	RowError = "error"
)

// SummaryCounts are the counts that are in summaries. The others are parts of what is pooled.
func SummaryCounts() []metrics.Definition {
	all := metrics.CountDefinitions()
	return slices.Concat(all[:metrics.HallucinatedClaims+1], all[metrics.MissingCitations:metrics.MissingCitations+1], all[metrics.Abstained:])
}

// A Key says which row of the input a result is about.
type Key struct {
	ID     string `json:"-" col:"id" doc:"the question or case"`
	System string `json:"-" col:"system" doc:"who answered"`
	Row    int64  `json:"-" col:"row" doc:"position in the input, from 0"`
}

// A Row is one answer and what became of it: a row of rows.parquet. Texts that are
// null are "".
type Row struct {
	Key
	Status       string             `col:"status" doc:"ok or error"`
	Error        string             `col:"error" doc:"why the row could not be scored" null:"it could"`
	FailsBecause string             `col:"fails_because" doc:"why the answer fails: error, or its worst problem where that is a warning or worse, or overall_citation_accuracy below 0.5" null:"the answer does not fail"`
	Annotator    string             `col:"truth_annotator" doc:"annotator whose truth the row was compared with" null:"no truth, or that of several taken together"`
	Provider     string             `col:"provider" doc:"who ran the model, as the input has it" null:"not given"`
	Model        string             `col:"model" doc:"the model that answered, as the input has it" null:"not given"`
	Tags         map[string]string  `col:"tags" doc:"the tags of the input" null:"never"`
	SpanNull     string             `col:"span_null" doc:"why no metric compares the citations with truth: no_truth, truth_not_found, or no_citations where they are not known" null:"they are compared, or the row could not be scored"`
	JudgeNull    string             `col:"judge_null" doc:"why no metric that reads sources has a value, such as judge_failed, no_claims or no_documents" null:"some has, or the row could not be scored" needs:"judge"`
	Undefined    map[string]string  `col:"undefined" doc:"metrics without a value whose reason is not the usual one, each with its reason; usual are span_null, judge_null, null counts and empty denominators; keys are also those of by_kind" null:"never"`
	Numbers      map[string]float64 `col:"*"` // counts and metrics by name; what is undefined is not there
	Open         map[string]int64   `col:"open" doc:"claims and citations without a verdict, where there are any, by class and kind; unscored: a verdict was due and none came, undecided: what was read cannot settle it, no_text: no text that they cite is known; outcomes are those of factual claims, elsewhere_outcomes unsupported ones for want of a verdict on other passages" null:"the row could not be scored" needs:"judge"`
	Bounds       map[string]float64 `col:"bounds" doc:"least and greatest value that a metric of the row can have, METRIC_low and METRIC_high, where something of it has no verdict" null:"the row could not be scored" needs:"judge"`
	Dialects     map[string]float64 `col:"dialects" doc:"values of published benchmarks, by their names; what is undefined is not there" null:"the row could not be scored" needs:"judge"`

	Tampering     string   `col:"tampering" doc:"an attempt to steer the judge: none, in_answer or in_evidence, as it says; suspected, where only verdicts.parquet names something (suspected)" null:"the judge does not look for it, and nothing is suspected" needs:"judge"`
	CostUSD       *float64 `col:"answer_cost_usd" doc:"what the answer cost, as the input has it" unit:"USD" null:"not known"`
	Tokens        *int64   `col:"answer_tokens" doc:"tokens that the answer took, read and written, as the input has it" null:"not known"`
	LatencyMillis *float64 `col:"answer_latency_ms" doc:"how long the answer took, as the input has it" unit:"ms" null:"not known"`

	SourceTypes []string `col:"source_types" doc:"kinds of source that the citations have, sorted" null:"the run has no slices by source_type" needs:"source_type"`
	AnswerHash  *int64   `col:"answer_hash" doc:"equal in rows whose answers have the same text and cite the same places" null:"the run has one system, or the row could not be scored"`

	SourceStatuses []string `col:"source_statuses" doc:"states of the sources that are cited, such as active or archived, sorted" null:"the run has no slices by source_status" needs:"source_status"`

	Documents []string `col:"documents" doc:"documents of the truth, or of the citations of a row without; rows that share one are not independent; one of the row's own has a digest of its text behind its name" null:"statistics.cluster is not auto" needs:"auto"`

	Kinds map[string]float64 `col:"by_kind" doc:"numbers over the citations of one kind or state of source, where others of the answer have another: NAME[source_type=KIND], NAME[source_status=STATE]; slices by them count these" null:"all citations are of one kind and state, or the row could not be scored"`
}

// Number is a count or a metric of the row, nil if it is undefined.
func (r *Row) Number(name string) *float64 {
	v, ok := r.Numbers[name]
	switch keyed[name] {
	case openColumn:
		v, ok = float64(r.Open[name]), r.Open != nil
	case boundsColumn:
		v, ok = r.Bounds[name]
	case dialectsColumn:
		v, ok = r.Dialects[name]
	}
	if !ok {
		return nil
	}
	return &v
}

// Rows is the table of rows.parquet.
func Rows() *Table[Row] { return NewRowsLayout().Table }

// A RowsLayout says which numbers rows.parquet has, and where, and which columns stand in
// citations.parquet. What is derived is no column of the file: a [Frame] computes it.
type RowsLayout struct {
	*Table[Row]
	Counts    []CountColumn
	Metrics   []MetricColumn
	Citations *Form // citations.parquet of such rows
}

// Columns of numbers, by their position in the table.
type (
	CountColumn struct {
		metrics.Count
		At int
	}
	MetricColumn struct {
		metrics.Metric
		At int
	}
)

// What columns of rows.parquet and citations.parquet need.
const (
	NeedsJudge = "judge" // judge is not none
	NeedsTexts = "texts" // there are documents
	NeedsAuto  = "auto"  // statistics.cluster is auto
	// A slice by source_type or source_status is the other.
)

// NewRowsLayout lays out the columns but those that need what the run lacks.
func NewRowsLayout(lacks ...string) *RowsLayout {
	var numbers, derived []Column
	for _, d := range metrics.CountDefinitions() {
		c := metricColumn(&d, d.UndefinedWhen)
		c.Kind = parquet.Int64
		numbers = append(numbers, c)
	}
	for _, d := range metrics.Definitions() {
		c := metricColumn(&d, d.UndefinedWhen)
		switch {
		case d.Derived:
			c.SQL = d.SQL()
			derived = append(derived, c)
		case !isDialect(&d):
			numbers = append(numbers, c)
		}
	}
	l := &RowsLayout{Table: NewTable[Row](RowsFile, "one row of the input: an answer by a system", numbers...), Citations: Citations.Without(lacks...)}
	l.Derived = derived
	for i := range l.Columns {
		c := &l.Columns[i]
		c.Keys, c.SQL = keysOf[c.Name], keySQL[c.Name]
	}
	l.Form = *l.Without(lacks...)
	at := make(map[string]int)
	for i := range l.Columns {
		at[l.Columns[i].Name] = i
	}
	for c := range metrics.NumCounts {
		if i, ok := at[c.String()]; ok {
			l.Counts = append(l.Counts, CountColumn{c, i})
		}
	}
	for m, d := range metrics.Definitions() {
		if i, ok := at[d.Name]; ok {
			l.Metrics = append(l.Metrics, MetricColumn{metrics.Metric(m), i})
		}
	}
	return l
}

// metricColumn is the column of the value of a metric in a row.
func metricColumn(d *metrics.Definition, null string) Column {
	if null == "" {
		null = "the row could not be scored"
	}
	c := Column{Name: d.Name, Kind: parquet.Double, Doc: d.Summary, Null: null}
	switch {
	case d.Judged || strings.HasPrefix(d.UndefinedWhen, "no judge"):
		c.Needs = NeedsJudge
	case d.Group == "tokens" || strings.HasPrefix(d.UndefinedWhen, "no text of a source"):
		c.Needs = NeedsTexts
	}
	if low, high := !math.IsInf(d.Min, 0), !math.IsInf(d.Max, 0); low && high && d.Min < d.Max {
		c.Range = fmt.Sprintf("[%g, %g]", d.Min, d.Max)
	} else if low && !high {
		c.Range = fmt.Sprintf(">= %g", d.Min)
	}
	return c
}

// NamedRows reads the rows of the run in dir that are named ID, ID/SYSTEM or #N, the
// position N in the input, in file order.
func NamedRows(dir, name string) ([]Row, error) {
	f, err := OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at := []int64{}
	if number, ok := strings.CutPrefix(name, "#"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, ibid.Usagef("%q is no row number", name).With("write #N, quoted for the shell: '#12'")
		}
		at, _, err = f.findInts("row", []int64{n})
		if err != nil {
			return nil, err
		}
	} else if err := f.Each(func(b *Block) error {
		may := f.file.MayHoldText(b.Number, "id", name)
		for i := range len(name) {
			may = may || name[i] == '/' && f.file.MayHoldText(b.Number, "id", name[:i])
		}
		if !may {
			return nil
		}
		systems := b.Texts("system")
		for i, id := range b.Texts("id") {
			if rest, ok := strings.CutPrefix(name, id); ok && (rest == "" || rest == "/"+systems[i]) {
				at = append(at, b.First+int64(i))
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return collect(func(yield func(int64, *Row) error) error { return Rows().scan(f, nil, at, yield) })
}
