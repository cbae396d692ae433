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
	Dataset           string             `is:"path" doc:"answers to evaluate: a Parquet file, a directory or a glob"`
	Documents         string             `is:"path" doc:"source documents: a Parquet file, a directory or a glob of them, or a folder of text, Markdown, HTML and PDF files"`
	Truth             string             `is:"path" doc:"truth in a table of its own, joined by id: Parquet, JSON Lines or CSV, with id and truth, or one line a mark"`
	Labels            string             `is:"path" doc:"labels in a table of their own, joined by id and system: Parquet, JSON Lines or CSV, with id and labels, or one line a label"`
	Columns           map[string]string  `is:"scores" doc:"foreign column names to ours, dotted for members of lists; to an empty one: none of ours"`
	Values            map[string]float64 `is:"scores" doc:"what labels in words stand for in the table of labels, such as {supported: 1, partly: 0.5, unsupported: 0}"`
	Out               string             `default:"runs" doc:"folder that holds the runs"`
	OffsetUnit        string             `default:"codepoint" oneof:"codepoint utf16 byte" is:"scores" doc:"what start and end count in the source, and in the answer unless the texts of its claims prove another unit"`
	SpanEnd           string             `default:"exclusive" oneof:"exclusive inclusive" is:"scores" doc:"whether end is the first position after the span or its last"`
	OffsetBase        string             `default:"document" oneof:"document page" is:"scores" doc:"where offset 0 is"`
	Marks             Marks
	DocumentsComplete string   `default:"auto" oneof:"auto true false" is:"scores" doc:"whether a name that is not among the documents was invented; auto: unless it begins with http:// or https://, then its text is not known"`
	DocNames          string   `default:"exact" oneof:"exact normalized" is:"scores" doc:"which names mean one document: those that are equal, or that differ in ./, case, percent-encoding, URL scheme, trailing slash and fragment only"`
	Claims            string   `default:"auto" oneof:"auto provided sentences model" is:"scores" doc:"what a claim is; auto: the row's claims if it has them, else sentences, cut at cited segments; sentences: never cut there; model: what the judge's model makes of each sentence"`
	MarkScope         string   `default:"sentence" oneof:"sentence paragraph" is:"scores" doc:"what a mark backs: its sentence or, at the end of a paragraph or list, all of that"`
	NoClaimPhrases    []string `is:"scores" doc:"more phrases with which uncited sentences begin that claim nothing; a first entry none leaves ours out (ibid help claims)"`
	AbstentionPhrases []string `is:"scores" doc:"more patterns (RE2) of uncited sentences that say that the answer is not known; a first entry none leaves ours out (ibid help claims)"`
	TruthPolicy       string   `default:"best" oneof:"best union majority intersection mean annotator:" is:"scores" doc:"how several annotators become one truth"`
	LabelPolicy       string   `default:"mean" oneof:"mean majority annotator:" is:"scores" doc:"how the labels of several annotators become one"`
	Judge             Judge
	Thresholds        Thresholds
	Weights           Weights
	MinCoverage       float64  `default:"0.98" range:"[0,1]" is:"scores" doc:"share of claims and citations with a verdict, below which gates have none; share of those that are not undecided, below which a judged metric is a range"`
	Accept            []string `doc:"signs that the input is wrong with which gates have their verdict all the same (ibid help signs)"`
	Statistics        Statistics
	Keep              string   `default:"texts" oneof:"texts nothing" doc:"what a run keeps of its data: texts (the documents that it points to and, with a judge, questions and answers), or nothing"`
	Slices            []string `is:"scores" doc:"tags, and system, provider, model, source_type, source_status, to summarise by"`
	Presence          Presence
	Report            Report
	Gates             []string `doc:"conditions a run must meet, such as char_f1 >= 0.7"`
	Compat            string   `default:"none" oneof:"none spec-1.0" is:"scores" doc:"follow the specification to the letter"`
	Limits            int64    `default:"1" range:"[1,1000]" is:"scores" doc:"multiplies what is read at most: 20,000 spans a row, 4 MiB an answer, 64 MiB a document or record, 200 annotators, 500 systems"`
	RowsPerPart       int64    `default:"0" range:"[0,2147483647]" is:"scores" doc:"most rows that are in memory and become durable together; 0 = as long as rows are"`

	Enabled           bool `key:"citation_accuracy.enabled" default:"true" doc:"false stops the run with a notice"`
	SpanMatching      SpanMatching
	QualityThresholds QualityThresholds
	Performance       Performance
	Reporting         Reporting
	QualityControl    QualityControl
}

// Judge says who judges support and how it is asked. With kind none nothing
// else in it has any effect.
type Judge struct {
	Kind          string             `default:"lexical" oneof:"lexical openrouter openai human recorded none" is:"scores" doc:"who judges support; a bare judge: KIND is short for it"`
	Model         []string           `is:"single scores" doc:"model that judges, or a list of models that judge together"`
	BaseURL       string             `default:"'https://openrouter.ai/api/v1'" is:"secret scores" doc:"endpoint of the judge"`
	APIKeyEnv     string             `default:"OPENROUTER_API_KEY" is:"secret" doc:"environment variable that holds the key; judge: openai sends none unless this is set"`
	Headers       map[string]string  `is:"secret" doc:"headers of every request, {NAME: VALUE}; env:VAR takes the value from the environment, as credentials must"`
	Request       map[string]any     `default:"{seed: 1, temperature: 0}" is:"scores" doc:"members of every request as they are, such as provider, reasoning, service_tier and max_tokens, which is raised to what a reply needs; temperature and seed stay unless given, null leaves one out"`
	Protocol      string             `default:"verdicts" oneof:"verdicts score yes-no classify" is:"scores" doc:"what a model is asked; verdicts: all of a row at once; score: a number for each claim and citation, by the prompts of the specification; yes-no, classify: one claim and one text, of a chat model or of a classifier over HTTP (ibid help verifiers)"`
	Prompts       string             `is:"scores path" doc:"folder of prompts, or with judge.protocol yes-no or classify a file that says how the verifier is asked (ibid help verifiers); default: built in"`
	Evidence      string             `default:"window" oneof:"window span document" is:"scores" doc:"what a judge sees of a citation; window: the cited words, marked, and the sentences around them (human and protocol score: the cited words; yes-no and classify: these and the title; a model, of a document of over 20,000 code points that is cited as a whole: what the answer quotes from it); span: the cited words; document: the whole text"`
	Necessity     bool               `default:"false" is:"scores" doc:"ask which citations are needed"`
	Votes         int64              `default:"1" range:"[1,99]" is:"scores" doc:"calls of each model whose verdicts are combined"`
	RetryAttempts int64              `default:"3" range:"[0,1000]" doc:"retries after a failed call"`
	Timeout       time.Duration      `default:"2m" range:"[0,)" doc:"longest wait for one call; 0 = no limit"`
	MaxOutage     time.Duration      `default:"1m" range:"[0,)" doc:"stop when no call was answered for so long; 0 = no limit"`
	Concurrency   int64              `default:"48" range:"[1,10000]" doc:"calls under way at once; 8 unless given, at an endpoint on this machine or in its own network"`
	RPM           int64              `default:"0" range:"[0,2147483647]" doc:"most calls a minute; 0 = no limit, but 20 for a model whose name ends in :free"`
	TPM           int64              `default:"0" range:"[0,2147483647]" doc:"most tokens a minute, of prompts and replies; 0 = no limit"`
	MaxCostUSD    float64            `default:"0" range:"[0,)" doc:"stop when the run has cost this much; 0 = no limit"`
	Prices        map[string]float64 `doc:"US dollars for a million tokens, {prompt: P, completion: C} and where it differs cached: P of prompts that the endpoint remembers; wins over what the endpoint tells"`
	Cache         string             `doc:"file of the answer cache, on a local disk, or off: answers are kept until the run is complete; default: a file in the user's cache directory"`
	Batch         bool               `default:"false" doc:"ask in batches, at about half the price, with answers within a day; what a batch cannot answer is asked in calls"`
	File          string             `is:"scores path" doc:"for judge: recorded, verdicts of another program or run, with the columns of verdicts.parquet or some of them, as Parquet, JSON Lines or CSV; for lexical and models, thresholds that ibid calibrate --fit chose"`
}

// CacheOff is the value of judge.cache with which answers are kept for the run alone.
const CacheOff = "off"

// Thresholds turn scores into yes and no; all are fractions in [0, 1].
type Thresholds struct {
	Supported  float64 `default:"0.7" range:"[0,1]" is:"scores" doc:"support from which a claim or citation is supported; 0.5 unless given, with judge.protocol yes-no or classify"`
	Consistent float64 `default:"0.8" range:"[0,1]" is:"scores" doc:"support from which a claim is consistent; 0.5 unless given, with judge.protocol yes-no or classify"`
}

// Weights of the overall score: not negative, with a positive sum.
type Weights struct {
	SpanAccuracy      float64 `default:"0.3" range:"[0,)" is:"scores" doc:"weight of span_accuracy_score in the overall score"`
	CitationQuality   float64 `default:"0.3" range:"[0,)" is:"scores" doc:"weight of citation_quality_score"`
	AnswerConsistency float64 `default:"0.25" range:"[0,)" is:"scores" doc:"weight of answer_consistency_score"`
	Hallucination     float64 `default:"0.15" range:"[0,)" is:"scores" doc:"weight of hallucination_score"`
}

// Marks says how marks such as [1] in answers are read.
type Marks struct {
	First string `default:"auto" oneof:"auto 0 1" is:"scores" doc:"number of the first source that marks such as [1] count; auto: 1, but a run stops where answers cite [0] and none cites its last source"`
}

// Statistics choose the intervals of the summary.
type Statistics struct {
	Level   float64 `default:"0.95" range:"(0,1)" is:"scores" doc:"confidence level of intervals"`
	Cluster string  `default:"auto" is:"scores" doc:"what rows share that are not independent: auto (any document of their truth, or of their citations without truth), question (no documents), or a tag"`
}

// Presence configures the citation presence heuristic.
type Presence struct {
	Mode                        string   `default:"any_citation" oneof:"any_citation resource_section" is:"scores" doc:"what counts as a citation being present"`
	Strict                      bool     `default:"false" is:"scores" doc:"a citation counts only if its URL is live, as documents of ibid fetch say"`
	CustomResourcePhrases       []string `is:"scores" doc:"more headings of a resource section"`
	UseSemanticSearch           bool     `default:"true" is:"scores" doc:"find headings of resource sections by embedding, too, in mode resource_section, where embed_model names a model"`
	EmbedModel                  string   `is:"scores" doc:"what embeds: a model behind judge.base_url, compatible with OpenAI's embeddings, or lexical, which is offline and sees wording only"`
	ResourceSimilarityThreshold float64  `default:"0.8" range:"(0,1]" is:"scores" doc:"similarity from which a heading is one of a resource section"`
}

// LexicalModel is the value of presence.embed_model for embeddings that need no endpoint.
const LexicalModel = "lexical"

// Semantic reports whether headings are found by embedding.
func (p *Presence) Semantic() bool {
	return p.Mode == "resource_section" && p.UseSemanticSearch && p.EmbedModel != ""
}

// Embeds reports whether presence asks a model of embeddings over the network.
func (p *Presence) Embeds() bool {
	return p.Semantic() && p.EmbedModel != LexicalModel
}

// Report configures the HTML report.
type Report struct {
	CitationDisplay CitationDisplay
}

// CitationDisplay says what the view of one row shows of its citations.
type CitationDisplay struct {
	ShowProvenance        bool  `default:"true" doc:"show where a citation comes from"`
	ShowRelevanceScores   bool  `default:"false" doc:"show each citation's relevance"`
	ShowTokenContribution bool  `default:"false" doc:"show how many tokens each source contributed"`
	GroupBySourceType     bool  `default:"true" doc:"group citations by kind of source"`
	MaxCitationsDisplayed int64 `default:"10" range:"[0,2147483647]" doc:"most citations shown for one row"`
	InlineMarkers         bool  `default:"true" doc:"number the citations in the answer"`
}

// SpanMatching says when two spans are the same place.
type SpanMatching struct {
	ToleranceChars      int64   `default:"10" range:"[0,2147483647]" is:"scores" doc:"code points by which a boundary may be off"`
	MinOverlapThreshold float64 `default:"0.5" range:"(0,1]" is:"scores" doc:"Jaccard from which two spans can be matched"`
	MaxSpanLength       int64   `default:"10000" range:"[1,2147483647]" is:"scores" doc:"code points from which a citation is span_too_long"`
}

// QualityThresholds are gates in the words of the specification; nil means no
// gate.
type QualityThresholds struct {
	SpanAccuracy           *float64 `range:"[0,1]" doc:"gate: span_accuracy_score at least this"`
	CitationValidity       *float64 `range:"[0,1]" doc:"gate: citation_correctness at least this"`
	AnswerConsistency      *float64 `range:"[0,1]" doc:"gate: answer_consistency_score at least this"`
	HallucinationTolerance *float64 `range:"[0,1]" doc:"gate: hallucination_rate at most this"`
}

// Performance is the specification's block of that name.
type Performance struct {
	BatchSize          int64 `default:"10" range:"[1,2147483647]" is:"scores" doc:"most claims in one judge call"`
	ParallelEvaluation bool  `default:"true" doc:"false = one worker, one call at a time"`
}

// Reporting leaves parts out of report and summary when false.
type Reporting struct {
	DetailedSpanAnalysis bool `default:"true" is:"scores" doc:"false leaves span details out of report and summary"`
	HallucinationDetails bool `default:"true" is:"scores" doc:"false leaves hallucination details out of report and summary"`
	ConfidenceIntervals  bool `default:"true" is:"scores" doc:"false leaves intervals out of report and summary"`
}

// QualityControl is the specification's block of that name.
type QualityControl struct {
	Agreement        Agreement `key:"inter_annotator_agreement"`
	ValidationChecks ValidationChecks
	ErrorHandling    ErrorHandling
}

// Agreement are the targets that ibid agree compares with.
type Agreement struct {
	TargetAgreement        float64 `default:"0.85" range:"[0,1]" is:"scores" doc:"mean character Jaccard that annotators should reach"`
	MinAnnotators          int64   `default:"2" range:"[2,2147483647]" is:"scores" doc:"fewest annotators an item needs to count in agreement"`
	RecalibrationThreshold float64 `default:"0.8" range:"[0,1]" is:"scores" doc:"mean character Jaccard of annotators below which they should meet"`
}

// ValidationChecks turn citation statuses off when false.
type ValidationChecks struct {
	SpanBoundsCheck          bool `default:"true" is:"scores" doc:"false turns bounds statuses off"`
	DocumentExistenceCheck   bool `default:"true" is:"scores" doc:"false turns document_not_found off"`
	TextExtractionValidation bool `default:"true" is:"scores" doc:"false turns quote statuses off"`
}

// ErrorHandling says what happens to calls that fail.
type ErrorHandling struct {
	MaxRetries      *int64  `range:"[0,1000]" doc:"judge.retry_attempts, which wins"`
	FallbackScoring float64 `default:"0.5" range:"[0,1]" is:"scores" doc:"score of an unreadable verdict; only under compat: spec-1.0"`
	ErrorLogging    bool    `default:"true" doc:"write run.log"`
}
