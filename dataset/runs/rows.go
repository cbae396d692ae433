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
	return append(all[:metrics.HallucinatedClaims+1], all[metrics.Abstained:]...)
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
	Undefined    map[string]string  `col:"undefined" doc:"metrics without a value whose reason is not the usual one, each with its reason; usual are span_null, judge_null, null counts and empty denominators" null:"never"`
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
	l := &RowsLayout{Citations: Citations.Without(lacks...)}
	var numbers []Column
	add := func(kind parquet.ColumnKind, d metrics.Definition) {
		c := metricColumn(&d, d.UndefinedWhen)
		c.Kind = kind
		if numbers = append(numbers, c); len(numbers) == 1 {
			numbers[0].After = "undefined"
		} else {
			numbers[len(numbers)-1].After = numbers[len(numbers)-2].Name
		}
	}
	var derived []Column
	for _, d := range metrics.CountDefinitions() {
		add(parquet.Int64, d)
	}
	for _, d := range metrics.Definitions() {
		if d.Derived {
			c := metricColumn(&d, d.UndefinedWhen)
			c.SQL = d.SQL()
			derived = append(derived, c)
		} else if !isDialect(&d) {
			add(parquet.Double, d)
		}
	}
	l.Table = NewTable[Row](RowsFile, "one row of the input: an answer by a system", numbers...)
	l.Derived = derived
	for i := range l.Columns {
		c := &l.Columns[i]
		c.Keys, c.SQL = keysOf[c.Name], keySQL[c.Name]
	}
	l.Form = *l.Without(lacks...)
	has := func(name string) (at int, ok bool) {
		at = slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == name })
		return at, at >= 0
	}
	for c := range metrics.NumCounts {
		if at, ok := has(c.String()); ok {
			l.Counts = append(l.Counts, CountColumn{c, at})
		}
	}
	for m, d := range metrics.Definitions() {
		if at, ok := has(d.Name); ok {
			l.Metrics = append(l.Metrics, MetricColumn{metrics.Metric(m), at})
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

// A RowKey names one row of rows.parquet.
type RowKey struct {
	Key
	Index int64  // position in the file
	Error string // why it could not be scored, "" if it was
}

// rowKeyColumns are the columns of a RowKey.
var rowKeyColumns = []string{"id", "system", "row", "error"}

// FindRows lists the rows of the run in dir that match, in file order.
func FindRows(dir string, match func(RowKey) bool) ([]RowKey, error) {
	f, err := OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.keys(nil, match)
}

// NamedRows lists the rows of the run in dir that are named ID, ID/SYSTEM or #N, the
// position N in the input, in file order.
func NamedRows(dir, name string) ([]RowKey, error) {
	f, err := OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if number, ok := strings.CutPrefix(name, "#"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, ibid.Usagef("%q is no row number", name).With("write #N, quoted for the shell: '#12'")
		}
		at, _, err := f.findInts("row", []int64{n})
		if err != nil {
			return nil, err
		}
		return f.keys(at, func(RowKey) bool { return true })
	}
	names := []string{name} // that the id can be
	for i := range len(name) {
		if name[i] == '/' {
			names = append(names, name[:i])
		}
	}
	at := []int64{}
	err = f.Each(func(b *Block) error {
		if !slices.ContainsFunc(names, func(id string) bool { return f.file.MayHoldText(b.Number, "id", id) }) {
			return nil
		}
		for i, id := range b.Texts("id") {
			if slices.Contains(names, id) {
				at = append(at, b.First+int64(i))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.keys(at, func(k RowKey) bool { return k.ID == name || k.ID+"/"+k.System == name })
}

// keys are those of the rows at positions of the file that match; nil is all of them.
func (f *Frame) keys(at []int64, match func(RowKey) bool) ([]RowKey, error) {
	var found []RowKey
	err := Rows().scan(f, rowKeyColumns, at, func(at int64, row *Row) error {
		if key := (RowKey{row.Key, at, row.Error}); match(key) {
			found = append(found, key)
		}
		return nil
	})
	return found, err
}

// ReadRow reads the row at a position of the rows.parquet of the run in dir.
func ReadRow(dir string, index int64) (*Row, error) {
	var found *Row
	err := Rows().ScanSome(dir, nil, []int64{index}, func(_ int64, row *Row) error {
		found = row
		return nil
	})
	return found, err
}
