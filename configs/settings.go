// Package configs reads the settings of a run: a strict YAML run file, the
// environment, and the command line.
//
// Every setting has one dotted name, such as judge.kind; [Keys] lists them
// all. A value comes from the command line, else from an IBID_A__B variable
// (which is a.b), else from the run file, else from the default. What
// cannot be used as it stands is an [Error] that knows where it was written,
// and what is valid but without effect is a [Warning].
//
// The package knows names, types and ranges. It opens no dataset, and it does
// not know which metrics exist: the caller checks the names in a [Gate].
package configs

import "time"

// Settings are the values of all keys, in the units of [Keys].
//
// In a run file, relative paths of what a run reads (dataset, documents, truth, labels,
// judge.prompts, judge.file) count from the file's folder, and are resolved
// here, so that a run file works from anywhere. Paths of what it writes (out,
// judge.cache) count from the working directory, as all paths given elsewhere.
type Settings struct {
	Dataset   string             // file, directory or glob; "" if not given
	Documents string             // the same for source documents; "" if none
	Truth     string             // table of truth that is joined to the dataset; "" if none
	Labels    string             // the same of labels
	Columns   map[string]string  // foreign column name -> ours
	Values    map[string]float64 // label in words -> its number
	Out       string             // folder of runs

	OffsetUnit string // codepoint, utf16, byte
	SpanEnd    string // exclusive, inclusive
	OffsetBase string // document, page

	Marks             Marks
	DocumentsComplete string // auto, true, false
	DocNames          string // exact, normalized

	Claims      string // auto, provided, sentences
	MarkScope   string // sentence, paragraph
	TruthPolicy string // best, union, majority, intersection, mean, annotator:NAME
	LabelPolicy string // mean, majority, annotator:NAME

	NoClaimPhrases    []string // beside those of package claims; a first "none" leaves these out
	AbstentionPhrases []string // the same

	Judge      Judge
	Thresholds Thresholds

	Weights     Weights
	MinCoverage float64  // fraction in [0, 1]
	Accept      []string // names of signs that take no verdict from gates
	Statistics  Statistics
	Keep        string   // texts, nothing: what the run keeps of its data, see docs/results.md
	Slices      []string // tag names, system, provider, model, source_type, source_status
	Presence    Presence
	Report      Report
	Gates       []string // as written; [Config.Gates] has them parsed
	Compat      string   // none, spec-1.0
	Limits      int64    // by which the limits of what is read are multiplied
	RowsPerPart int64    // most rows that become durable together; 0 = as the dataset asks for

	Enabled           bool `key:"citation_accuracy.enabled"` // false stops the run with a notice
	SpanMatching      SpanMatching
	QualityThresholds QualityThresholds
	Performance       Performance
	Reporting         Reporting
	QualityControl    QualityControl
}

// Judge says who judges support and how it is asked. With kind none nothing
// else in it has any effect.
type Judge struct {
	Kind          string            // lexical, openrouter, openai, human, recorded, none
	Model         []string          // models that judge together; one is usual
	BaseURL       string            // endpoint
	APIKeyEnv     string            // name of the variable that holds the key
	Headers       map[string]string // name -> value, or env:VARIABLE
	Request       map[string]any    // members of every request; one that is null is left out
	Protocol      string            // verdicts, score, yes-no, classify
	Prompts       string            // folder of texts, or the YAML file of a small verifier; "" = built in
	Evidence      string            // span, window, document
	Necessity     bool
	Votes         int64
	RetryAttempts int64 // retries, not calls
	Timeout       time.Duration
	MaxOutage     time.Duration // without any answer; 0 = no limit
	Concurrency   int64
	RPM, TPM      int64   // calls, and tokens, a minute; 0 = no limit
	MaxCostUSD    float64 // 0 = no limit
	Prices        map[string]float64
	Cache         string // "" = the user's cache directory; CacheOff = none that lasts
	Batch         bool   // ask in batches
	File          string // verdicts of judge: recorded
}

// CacheOff is the value of judge.cache with which answers are kept for the run alone.
const CacheOff = "off"

// Thresholds turn scores into yes and no; all are fractions in [0, 1].
type Thresholds struct {
	Supported  float64
	Consistent float64
}

// Weights of the overall score: not negative, with a positive sum.
type Weights struct {
	SpanAccuracy      float64
	CitationQuality   float64
	AnswerConsistency float64
	Hallucination     float64
}

// Marks says how marks such as [1] in answers are read.
type Marks struct {
	First string // number of the first source: auto, 0, 1
}

// Statistics choose the intervals of the summary.
type Statistics struct {
	Level   float64 // two-sided confidence in (0, 1)
	Cluster string  // auto, question (once id), or a tag
}

// Presence configures the citation presence heuristic.
type Presence struct {
	Mode                  string // any_citation, resource_section
	Strict                bool   // URLs must be live, as documents of ibid fetch say
	CustomResourcePhrases []string
	Semantic              Semantic
}

// Semantic is the embedder fallback of the presence heuristic.
type Semantic struct {
	Threshold float64 // cosine similarity in (0, 1]
	Model     string  // of embeddings at the judge's endpoint, or [LexicalModel]; "" for no fallback
}

// LexicalModel is the value of presence.semantic.model for embeddings that need no endpoint.
const LexicalModel = "lexical"

// Embeds reports whether presence asks a model of embeddings over the network.
func (p *Presence) Embeds() bool {
	return p.Mode == "resource_section" && p.Semantic.Model != "" && p.Semantic.Model != LexicalModel
}

// Report configures the HTML report.
type Report struct {
	CitationDisplay CitationDisplay
}

// CitationDisplay says what the view of one row shows of its citations.
type CitationDisplay struct {
	ShowProvenance        bool
	ShowRelevanceScores   bool
	ShowTokenContribution bool
	GroupBySourceType     bool
	MaxCitationsDisplayed int64
	InlineMarkers         bool
}

// SpanMatching says when two spans are the same place.
type SpanMatching struct {
	ToleranceChars      int64   // code points
	MinOverlapThreshold float64 // Jaccard in (0, 1]
	MaxSpanLength       int64   // code points
}

// QualityThresholds are gates in the words of the specification; nil means no
// gate.
type QualityThresholds struct {
	SpanAccuracy           *float64
	CitationValidity       *float64
	AnswerConsistency      *float64
	HallucinationTolerance *float64
}

// Performance is the specification's block of that name.
type Performance struct {
	BatchSize          int64 // most claims in one judge call
	ParallelEvaluation bool  // false = one worker and one call at a time
}

// Reporting leaves parts out of report and summary when false.
type Reporting struct {
	DetailedSpanAnalysis bool
	HallucinationDetails bool
	ConfidenceIntervals  bool
}

// QualityControl is the specification's block of that name.
type QualityControl struct {
	Agreement        Agreement `key:"inter_annotator_agreement"`
	ValidationChecks ValidationChecks
	ErrorHandling    ErrorHandling
}

// Agreement are the targets that ibid agree compares with.
type Agreement struct {
	TargetAgreement        float64
	MinAnnotators          int64
	RecalibrationThreshold float64
}

// ValidationChecks turn citation statuses off when false.
type ValidationChecks struct {
	SpanBoundsCheck          bool // span_out_of_bounds, page_not_found
	DocumentExistenceCheck   bool // document_not_found
	TextExtractionValidation bool // quote_mismatch, quote_repaired
}

// ErrorHandling says what happens to calls that fail.
type ErrorHandling struct {
	MaxRetries      *int64  // nil if not given; judge.retry_attempts wins over it
	FallbackScoring float64 // only under compat: spec-1.0
	ErrorLogging    bool    // write run.log
}
