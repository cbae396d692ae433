package runs

import (
	"ibid/dataset"
	"ibid/metrics"
)

// The files of a run directory that hold results.
const (
	RowsFile      = "rows.parquet"
	CitationsFile = "citations.parquet"
	ClaimsFile    = "claims.parquet" // of runs that have a judge
	CallsFile     = "calls.parquet"  // of runs whose judge asks a model
	SummaryFile   = "summary.parquet"

	CalibrationFile   = "calibration.json"   // of runs whose judge was compared with people
	DisagreementsFile = "disagreements.json" // of runs that have an agreement
)

// AnchorsDir is the folder in a run directory that holds the run over the anchors
// of its judge.
const AnchorsDir = "anchors"

// Row states, as in the column status of rows.parquet.
const (
	RowOK    = "ok"
	RowError = "error"
)

// Columns of rows.parquet by position. Counts, metrics and sums follow.
const (
	RowID = iota
	RowSystem
	RowRow
	RowStatus
	RowErrorText
	RowAnnotator
	RowComponents
	RowProvider
	RowModel
	RowTags
	RowUndefined
	RowCounts // first of the counts that the contract names
)

// The counts, metrics and sums before these limits are columns that every run
// has; the rest are parts that micro values are pooled from, and custom metrics.
const (
	ContractCounts = int(metrics.UnscoredClaims) + 1
)

// Suffixes of the columns that hold the least and the greatest value that a
// metric of a row can have, where something of it is unscored.
const (
	LowSuffix  = "_low"
	HighSuffix = "_high"
)

// A RowsLayout says where each number of a row stands in rows.parquet.
type RowsLayout struct {
	Fields      []dataset.Field
	Metrics     int // column of metric 0; built-in ones are contiguous
	Builtin     int // number of built-in metrics
	PoolCounts  int // column of the first count after the contract's
	Sums        int // column of sum 0
	BuiltinSums int
	Cluster     int
	Tampering   int              // what the judge says of attempts to steer it: none, in_answer, in_evidence
	SourceTypes int              // the kinds of source that the row's citations have, sorted; null unless the run slices by them
	Bounds      int              // column of the first bound; each metric of Bounded has two, low and high
	Bounded     []metrics.Metric // metrics that can be unscored
	Custom      int              // column of the first custom metric
	CustomSums  int
}

// NewRowsLayout lays out the columns for the metrics registered so far.
func NewRowsLayout() *RowsLayout {
	l := &RowsLayout{Builtin: metrics.NumBuiltin, BuiltinSums: metrics.NumBuiltinSums}
	l.Fields = []dataset.Field{
		{Name: "id", Kind: dataset.String, Required: true},
		{Name: "system", Kind: dataset.String, Required: true},
		{Name: "row", Kind: dataset.Int64, Required: true},
		{Name: "status", Kind: dataset.String, Required: true},
		{Name: "error", Kind: dataset.String},
		{Name: "truth_annotator", Kind: dataset.String},
		{Name: "overall_components", Kind: dataset.String},
		{Name: "provider", Kind: dataset.String},
		{Name: "model", Kind: dataset.String},
		{Name: "tags", Kind: dataset.MapString},
		{Name: "undefined", Kind: dataset.MapString},
	}
	counts, values, sums := metrics.CountDefinitions(), metrics.Definitions(), metrics.SumDefinitions()
	l.add(dataset.Int64, counts[:ContractCounts])
	l.Metrics = l.add(dataset.Double, values[:l.Builtin])
	l.PoolCounts = l.add(dataset.Int64, counts[ContractCounts:])
	l.Sums = l.add(dataset.Double, sums[:l.BuiltinSums])
	l.Cluster = len(l.Fields)
	l.Tampering, l.SourceTypes = l.Cluster+1, l.Cluster+2
	l.Fields = append(l.Fields,
		dataset.Field{Name: "cluster", Kind: dataset.String}, dataset.Field{Name: "tampering", Kind: dataset.String},
		dataset.Field{Name: "source_types", Kind: dataset.ListString})
	l.Bounds = len(l.Fields)
	for m, d := range values[:l.Builtin] {
		if d.Judged || d.Group == "overall" {
			l.Bounded = append(l.Bounded, metrics.Metric(m))
			l.Fields = append(l.Fields,
				dataset.Field{Name: d.Name + LowSuffix, Kind: dataset.Double}, dataset.Field{Name: d.Name + HighSuffix, Kind: dataset.Double})
		}
	}
	l.Custom = l.add(dataset.Double, values[l.Builtin:])
	l.CustomSums = l.add(dataset.Double, sums[l.BuiltinSums:])
	return l
}

// add appends one column per definition and returns the first one's position.
func (l *RowsLayout) add(kind dataset.ColumnKind, defs []metrics.Definition) (first int) {
	first = len(l.Fields)
	for _, d := range defs {
		l.Fields = append(l.Fields, dataset.Field{Name: d.Name, Kind: kind})
	}
	return first
}

// Columns of citations.parquet by position.
const (
	CiteID = iota
	CiteSystem
	CiteRow
	CiteCitation
	CiteCitationID
	CiteDoc
	CitePage
	CiteStart
	CiteEnd
	CiteUnit
	CiteAnswerStart
	CiteAnswerEnd
	CiteStatus
	CiteRepairedStart
	CiteRepairedEnd
	CiteBestTruth
	CiteExact
	CiteTolerance
	CiteSnapped
	CiteClaims // this and the columns up to quote_end are a judge's
	CiteSupport
	CiteLabel
	CiteRelevant
	CiteNecessary
	CitePrecheck
	CiteReason
	CiteQuote
	CiteQuoteStart
	CiteQuoteEnd
	CiteCitedText
	CiteSourceType
)

// CitationFields are the columns of citations.parquet.
//
// Start, end and unit agree with each other: code points and "codepoint" where
// the place could be resolved, else the numbers and the unit as given.
var CitationFields = []dataset.Field{
	{Name: "id", Kind: dataset.String, Required: true},
	{Name: "system", Kind: dataset.String, Required: true},
	{Name: "row", Kind: dataset.Int64, Required: true},
	{Name: "citation", Kind: dataset.Int32, Required: true},
	{Name: "citation_id", Kind: dataset.String},
	{Name: "doc", Kind: dataset.String},
	{Name: "page", Kind: dataset.Int32},
	{Name: "start", Kind: dataset.Int64},
	{Name: "end", Kind: dataset.Int64},
	{Name: "unit", Kind: dataset.String},
	{Name: "answer_start", Kind: dataset.Int64},
	{Name: "answer_end", Kind: dataset.Int64},
	{Name: "status", Kind: dataset.String, Required: true},
	{Name: "repaired_start", Kind: dataset.Int64},
	{Name: "repaired_end", Kind: dataset.Int64},
	{Name: "best_truth", Kind: dataset.Int32},
	{Name: "exact_jaccard", Kind: dataset.Double},
	{Name: "tolerance_jaccard", Kind: dataset.Double},
	{Name: "snapped_jaccard", Kind: dataset.Double},
	{Name: "claims", Kind: dataset.ListInt32},
	{Name: "support", Kind: dataset.Double},
	{Name: "label", Kind: dataset.String},
	{Name: "relevant", Kind: dataset.Bool},
	{Name: "necessary", Kind: dataset.Bool},
	{Name: "precheck", Kind: dataset.String},
	{Name: "reason", Kind: dataset.String},
	{Name: "quote", Kind: dataset.String},
	{Name: "quote_start", Kind: dataset.Int64},
	{Name: "quote_end", Kind: dataset.Int64},
	{Name: "cited_text", Kind: dataset.String},
	{Name: "source_type", Kind: dataset.String},
}

// Columns of claims.parquet by position.
const (
	ClaimRowID = iota
	ClaimSystem
	ClaimRow
	ClaimClaim
	ClaimID
	ClaimStart
	ClaimEnd
	ClaimText
	ClaimFactual
	ClaimNeedsCitation
	ClaimCitations
	ClaimSupport
	ClaimLabel
	ClaimContradicted
	ClaimOutcome
	ClaimElsewhereDoc
	ClaimElsewherePage
	ClaimElsewhereStart
	ClaimElsewhereEnd
	ClaimElsewhereSupport
	ClaimReason
	ClaimVotes
	ClaimOpinions
)

// ClaimFields are the columns of claims.parquet. Start and end are code points of
// the answer; elsewhere_start and elsewhere_end are code points of the text of
// the key (elsewhere_doc, elsewhere_page). opinions, which come after the columns
// of the contract, are the joint labels that the verdict was combined from, each
// as MODEL#VOTE=LABEL with votes counted from 0; null where there was one only.
var ClaimFields = []dataset.Field{
	{Name: "id", Kind: dataset.String, Required: true},
	{Name: "system", Kind: dataset.String, Required: true},
	{Name: "row", Kind: dataset.Int64, Required: true},
	{Name: "claim", Kind: dataset.Int32, Required: true},
	{Name: "claim_id", Kind: dataset.String},
	{Name: "start", Kind: dataset.Int64},
	{Name: "end", Kind: dataset.Int64},
	{Name: "text", Kind: dataset.String},
	{Name: "factual", Kind: dataset.Bool},
	{Name: "needs_citation", Kind: dataset.Bool},
	{Name: "citations", Kind: dataset.ListInt32},
	{Name: "support", Kind: dataset.Double},
	{Name: "label", Kind: dataset.String},
	{Name: "contradicted", Kind: dataset.Bool},
	{Name: "outcome", Kind: dataset.String},
	{Name: "elsewhere_doc", Kind: dataset.String},
	{Name: "elsewhere_page", Kind: dataset.Int32},
	{Name: "elsewhere_start", Kind: dataset.Int64},
	{Name: "elsewhere_end", Kind: dataset.Int64},
	{Name: "elsewhere_support", Kind: dataset.Double},
	{Name: "reason", Kind: dataset.String},
	{Name: "votes", Kind: dataset.Int32},
	{Name: "opinions", Kind: dataset.ListString},
}

// Columns of calls.parquet by position.
const (
	CallID = iota
	CallSystem
	CallRow
	CallCall
	CallModel
	CallProvider
	CallCached
	CallRepaired
	CallAttempts
	CallPromptTokens
	CallCompletionTokens
	CallCostUSD
	CallLatencyMillis
	CallGenerationID
	CallStatus
)

// CallFields are the columns of calls.parquet. Unlike the other results, calls
// differ from one run to the next: they say what this run asked, waited and paid.
// cost_usd of a call that the cache answered is 0.
var CallFields = []dataset.Field{
	{Name: "id", Kind: dataset.String, Required: true},
	{Name: "system", Kind: dataset.String, Required: true},
	{Name: "row", Kind: dataset.Int64, Required: true},
	{Name: "call", Kind: dataset.Int32, Required: true},
	{Name: "model", Kind: dataset.String},
	{Name: "provider", Kind: dataset.String},
	{Name: "cached", Kind: dataset.Bool, Required: true},
	{Name: "repaired", Kind: dataset.Bool, Required: true},
	{Name: "attempts", Kind: dataset.Int32, Required: true},
	{Name: "prompt_tokens", Kind: dataset.Int64},
	{Name: "completion_tokens", Kind: dataset.Int64},
	{Name: "cost_usd", Kind: dataset.Double},
	{Name: "latency_ms", Kind: dataset.Int64},
	{Name: "generation_id", Kind: dataset.String},
	{Name: "status", Kind: dataset.String, Required: true},
}

// summaryFields are the columns of summary.parquet.
var summaryFields = []dataset.Field{
	{Name: "system", Kind: dataset.String, Required: true},
	{Name: "slice", Kind: dataset.String, Required: true},
	{Name: "metric", Kind: dataset.String, Required: true},
	{Name: "agg", Kind: dataset.String, Required: true},
	{Name: "n", Kind: dataset.Int64, Required: true},
	{Name: "num", Kind: dataset.Double},
	{Name: "den", Kind: dataset.Double},
	{Name: "undefined", Kind: dataset.Int64, Required: true},
	{Name: "unscored", Kind: dataset.Int64, Required: true},
	{Name: "coverage", Kind: dataset.Double},
	{Name: "estimate", Kind: dataset.Double},
	{Name: "ci_low", Kind: dataset.Double},
	{Name: "ci_high", Kind: dataset.Double},
	{Name: "level", Kind: dataset.Double},
	{Name: "method", Kind: dataset.String},
	{Name: "clusters", Kind: dataset.Int64, Required: true},
	{Name: "bound_low", Kind: dataset.Double},
	{Name: "bound_high", Kind: dataset.Double},
	{Name: "corrected", Kind: dataset.Double},
	{Name: "corrected_low", Kind: dataset.Double},
	{Name: "corrected_high", Kind: dataset.Double},
	{Name: "corrected_method", Kind: dataset.String},
	{Name: "warnings", Kind: dataset.ListString, Required: true},
}
