package configs

import (
	"slices"
	"strings"
	"time"
)

// A Key describes one setting.
type Key struct {
	Name    string   // dotted, such as judge.kind
	Type    string   // text, integer, number, boolean, duration, list of text, text or list of text, mapping
	Default string   // as YAML in one line; "null" if there is none
	Range   string   // of numbers, such as "from 0 to 2"; "" if any will do
	Allowed []string // the values a text may have, "annotator:NAME" for any name; nil if any text will do
	Aliases []string // other dotted names of the same setting
	Doc     string   // one line
}

// Keys describes every setting, in the order of the contract's table. The
// caller may change the result.
func Keys() []Key {
	keys := make([]Key, len(table))
	for i, s := range table {
		keys[i] = Key{
			Name:    s.name,
			Type:    s.typeName(),
			Default: flowText(s.def),
			Range:   s.rangeText(),
			Allowed: s.choices(),
			Aliases: aliasesOf(s.name),
			Doc:     s.doc,
		}
	}
	return keys
}

// A setting is one entry of the table. The field of [Settings] that it has its name of says
// its type.
type setting struct {
	name    string
	def     any // of the type that decode returns for the field; nil = none
	doc     string
	allowed []string            // texts allowed, nil = any
	example string              // of a mapping, for who writes another value
	prefix  string              // text also allowed before a free name, such as "annotator:"
	between *interval           // that a number, size or duration must be in, nil = any
	check   func(any) string    // what is wrong with a value of the right type, "" = nothing
	item    func(string) *fault // what is wrong with one item of a list
	scores  bool                // can change a score or a summary
	path    bool                // read by the run: relative to the run file when written there
	secret  bool                // a wrong value may be a secret and must not be printed
	single  bool                // of a list: a text is a list of one
}

// rangeText is the range of a number, for people.
func (s *setting) rangeText() string {
	if s.between == nil {
		return ""
	}
	switch s.typeName() {
	case "duration":
		return s.between.text(func(x float64) string { return flowDuration(time.Duration(x)) })
	}
	return s.between.text(flowNumber)
}

// refusal is what is wrong with a value of the right type, "" if nothing is.
func (s *setting) refusal(v any) string {
	if x, ok := number(v); ok && s.between != nil && !s.between.holds(x) {
		return "want a value " + s.rangeText() + ", got " + flowText(v)
	}
	if s.check != nil {
		return s.check(v)
	}
	return ""
}

// choices are the allowed texts, for people.
func (s *setting) choices() []string {
	choices := slices.Clone(s.allowed)
	if s.prefix != "" {
		choices = append(choices, s.prefix+"NAME")
	}
	return choices
}

// A fault is what is wrong with a text, and where in it, in code points from 0.
type fault struct {
	offset    int
	msg, hint string
}

var (
	table = append(append([]*setting(nil), runKeys...), specKeys...)

	byName = func() map[string]*setting {
		m := make(map[string]*setting, len(table))
		for _, s := range table {
			m[s.name] = s
		}
		return m
	}()

	// groups are the names that have settings below them and are none themselves.
	groups = func() map[string]bool {
		m := make(map[string]bool)
		add := func(name string) {
			for {
				i := strings.LastIndexByte(name, '.')
				if i < 0 {
					return
				}
				name = name[:i]
				m[name] = true
			}
		}
		for _, s := range table {
			add(s.name)
			for _, a := range aliasesOf(s.name) {
				add(a)
			}
		}
		return m
	}()
)

var offsetUnits = []string{"codepoint", "utf16", "byte"}

// runKeys are the settings of ibid's own table, in its order.
var runKeys = []*setting{
	{name: "dataset", path: true, doc: "answers to evaluate: a Parquet file, a directory or a glob"},
	{name: "documents", path: true, doc: "source documents: a Parquet file, a directory or a glob of them, or a folder of text, Markdown, HTML and PDF files"},
	{name: "truth", path: true, check: of(notBlank), doc: "truth in a table of its own, joined by id: Parquet, JSON Lines or CSV, with id and truth, or one line a mark"},
	{
		name: "labels", path: true, check: of(notBlank),
		doc: "labels in a table of their own, joined by id and system: Parquet, JSON Lines or CSV, with id and labels, or one line a label",
	},
	{name: "columns", scores: true, check: of(columnNames), doc: "foreign column names to ours, dotted for members of lists; to an empty one: none of ours"},
	{
		name: "values", scores: true, check: of(labelValues),
		doc: "what labels in words stand for in the table of labels, such as {supported: 1, partly: 0.5, unsupported: 0}",
	},
	{name: "out", def: "runs", check: of(notBlank), doc: "folder that holds the runs"},
	{name: "offset_unit", def: "codepoint", allowed: offsetUnits, scores: true, doc: "what start and end count in the source, and in the answer unless the texts of its claims prove another unit"},
	{name: "span_end", def: "exclusive", allowed: []string{"exclusive", "inclusive"}, scores: true, doc: "whether end is the first position after the span or its last"},
	{name: "offset_base", def: "document", allowed: []string{"document", "page"}, scores: true, doc: "where offset 0 is"},
	{
		name: "marks.first", def: "auto", allowed: []string{"auto", "0", "1"}, scores: true,
		doc: "number of the first source that marks such as [1] count; auto: 1, but a run stops where answers cite [0] and none cites its last source",
	},
	{
		name: "documents_complete", def: "auto", allowed: []string{"auto", "true", "false"}, scores: true,
		doc: "whether a name that is not among the documents was invented; auto: unless it begins with http:// or https://, then its text is not known",
	},
	{
		name: "doc_names", def: "exact", allowed: []string{"exact", "normalized"}, scores: true,
		doc: "which names mean one document: those that are equal, or that differ in ./, case, percent-encoding, URL scheme, trailing slash and fragment only",
	},
	{
		name: "claims", def: "auto", allowed: []string{"auto", "provided", "sentences", "model"}, scores: true,
		doc: "what a claim is; auto: the row's claims if it has them, else sentences, cut at cited segments; sentences: never cut there; model: what the judge's model makes " +
			"of each sentence",
	},
	{
		name: "mark_scope", def: "sentence", allowed: []string{"sentence", "paragraph"}, scores: true,
		doc: "what a mark backs: its sentence or, at the end of a paragraph or list, all of that",
	},
	{
		name: "no_claim_phrases", def: []string{}, scores: true, item: blankItem,
		doc: "more phrases with which uncited sentences begin that claim nothing; a first entry none leaves ours out (ibid help claims)",
	},
	{
		name: "abstention_phrases", def: []string{}, scores: true, item: blankItem,
		doc: "more patterns (RE2) of uncited sentences that say that the answer is not known; a first entry none leaves ours out (ibid help claims)",
	},
	{
		name: "truth_policy", def: "best", allowed: []string{"best", "union", "majority", "intersection", "mean"}, prefix: "annotator:", scores: true,
		doc: "how several annotators become one truth",
	},
	{
		name: "label_policy", def: "mean", allowed: []string{"mean", "majority"}, prefix: "annotator:", scores: true,
		doc: "how the labels of several annotators become one",
	},

	{
		name: "judge.kind", def: "lexical", allowed: []string{"lexical", "openrouter", "openai", "human", "recorded", "none"}, scores: true,
		doc: "who judges support; a bare judge: KIND is short for it",
	},
	{name: "judge.model", def: []string{}, scores: true, item: blankItem, check: of(noRepeats), single: true, doc: "model that judges, or a list of models that judge together"},
	{name: "judge.base_url", def: "https://openrouter.ai/api/v1", scores: true, check: of(httpURL), secret: true, doc: "endpoint of the judge"},
	{
		name: "judge.api_key_env", def: "OPENROUTER_API_KEY", check: of(variableName), secret: true,
		doc: "environment variable that holds the key; judge: openai sends none unless this is set",
	},
	{
		name: "judge.headers", check: of(headerValues), secret: true,
		doc: "headers of every request, {NAME: VALUE}; env:VAR takes the value from the environment, as credentials must",
	},
	{
		name: "judge.request", def: map[string]any{"seed": int64(1), "temperature": int64(0)}, scores: true, check: of(requestMembers), example: "such as {reasoning: {effort: low}}",
		doc: "members of every request as they are, such as provider, reasoning, service_tier and max_tokens, which is raised to what a reply needs; " +
			"temperature and seed stay unless given, null leaves one out",
	},
	{
		name: "judge.protocol", def: "verdicts", allowed: []string{"verdicts", "score", "yes-no", "classify"}, scores: true,
		doc: "what a model is asked; verdicts: all of a row at once; score: a number for each claim and citation, by the prompts of the specification; yes-no, classify: one claim and one text, of a chat model or of a classifier over HTTP (ibid help verifiers)",
	},
	{
		name: "judge.prompts", path: true, scores: true, check: of(notBlank),
		doc: "folder of prompts, or with judge.protocol yes-no or classify a file that says how the verifier is asked (ibid help verifiers); default: built in",
	},
	{
		name: "judge.evidence", def: "window", allowed: []string{"window", "span", "document"}, scores: true,
		doc: "what a judge sees of a citation; window: the cited words, marked, and the sentences around them (human and protocol score: the cited words; yes-no and " +
			"classify: these and the title); span: the cited words; document: the whole text",
	},
	{name: "judge.necessity", def: false, scores: true, doc: "ask which citations are needed"},
	{name: "judge.votes", def: int64(1), scores: true, between: within(1, 99), doc: "calls of each model whose verdicts are combined"},
	{name: "judge.retry_attempts", def: int64(3), between: within(0, 1000), doc: "retries after a failed call"},
	{name: "judge.timeout", def: 120 * time.Second, between: notNegative, doc: "longest wait for one call; 0 = no limit"},
	{name: "judge.max_outage", def: time.Minute, between: notNegative, doc: "stop when no call was answered for so long; 0 = no limit"},
	{
		name: "judge.concurrency", def: int64(48), between: within(1, 10000),
		doc: "calls under way at once; 8 unless given, at an endpoint on this machine or in its own network",
	},
	{name: "judge.rpm", def: int64(0), between: within(0, 1<<31-1), doc: "most calls a minute; 0 = no limit, but 20 for a model whose name ends in :free"},
	{name: "judge.tpm", def: int64(0), between: within(0, 1<<31-1), doc: "most tokens a minute, of prompts and replies; 0 = no limit"},
	{name: "judge.max_cost_usd", def: 0.0, between: notNegative, doc: "stop when the run has cost this much; 0 = no limit"},
	{
		name: "judge.prices", check: of(tokenPrices),
		doc: "US dollars for a million tokens, {prompt: P, completion: C} and where it differs cached: P of prompts that the endpoint remembers; wins over what the endpoint tells",
	},
	{name: "judge.cache", check: of(AnswerFile), doc: "file of the answer cache, on a local disk, or off: answers are kept until the run is complete; default: a file in the user's cache directory"},
	{name: "judge.batch", def: false, doc: "ask in batches, at about half the price, with answers within a day; what a batch cannot answer is asked in calls"},
	{
		name: "judge.file", path: true, scores: true, check: of(notBlank),
		doc: "for judge: recorded, verdicts of another program or run, with the columns of " +
			"verdicts.parquet or some of them, as Parquet, JSON Lines or CSV",
	},

	{
		name: "thresholds.supported", def: 0.7, scores: true, between: within(0, 1),
		doc: "support from which a claim or citation is supported; 0.5 unless given, with judge.protocol yes-no or classify",
	},
	{
		name: "thresholds.consistent", def: 0.8, scores: true, between: within(0, 1),
		doc: "support from which a claim is consistent; 0.5 unless given, with judge.protocol yes-no or classify",
	},
	{name: "weights.span_accuracy", def: 0.30, scores: true, between: notNegative, doc: "weight of span_accuracy_score in the overall score"},
	{name: "weights.citation_quality", def: 0.30, scores: true, between: notNegative, doc: "weight of citation_quality_score"},
	{name: "weights.answer_consistency", def: 0.25, scores: true, between: notNegative, doc: "weight of answer_consistency_score"},
	{name: "weights.hallucination", def: 0.15, scores: true, between: notNegative, doc: "weight of hallucination_score"},
	{
		name: "min_coverage", def: 0.98, scores: true, between: within(0, 1),
		doc: "share of claims and citations with a verdict, below which gates have none; share of those that are not undecided, below which a judged metric is a range",
	},
	{
		name: "accept", def: []string{}, item: blankItem, check: of(noRepeats),
		doc: "signs that the input is wrong with which gates have their verdict all the same (ibid help signs)",
	},

	{name: "statistics.level", def: 0.95, scores: true, between: strictlyWithin(0, 1), doc: "confidence level of intervals"},
	{
		name: "statistics.cluster", def: "auto", scores: true, check: of(clusterName),
		doc: "what rows share that are not independent: auto (any document of their truth, or of their citations without truth), question (no documents), or a tag",
	},
	{
		name: "keep", def: "texts", allowed: []string{"texts", "nothing"},
		doc: "what a run keeps of its data: texts (the documents that it points to and, with a judge, questions and answers), or nothing",
	},
	{
		name: "slices", def: []string{}, scores: true, item: blankItem, check: of(noRepeats),
		doc: "tags, and system, provider, model, source_type, source_status, to summarise by",
	},

	{name: "presence.mode", def: "any_citation", allowed: []string{"any_citation", "resource_section"}, scores: true, doc: "what counts as a citation being present"},
	{name: "presence.strict", def: false, scores: true, doc: "a citation counts only if its URL is live, as documents of ibid fetch say"},
	{name: "presence.custom_resource_phrases", def: []string{}, scores: true, item: blankItem, doc: "more headings of a resource section"},
	{name: "presence.semantic.threshold", def: 0.8, scores: true, between: aboveUpTo(0, 1), doc: "similarity from which a heading is one"},
	{
		name: "presence.semantic.model", scores: true, check: of(notBlank),
		doc: "finds resource sections by embedding, in mode resource_section: a model behind judge.base_url, compatible with OpenAI's embeddings, or lexical, " +
			"which is offline and sees wording only",
	},

	{name: "report.citation_display.show_provenance", def: true, doc: "show where a citation comes from"},
	{name: "report.citation_display.show_relevance_scores", def: false, doc: "show each citation's relevance"},
	{name: "report.citation_display.show_token_contribution", def: false, doc: "show how many tokens each source contributed"},
	{name: "report.citation_display.group_by_source_type", def: true, doc: "group citations by kind of source"},
	{name: "report.citation_display.max_citations_displayed", def: int64(10), between: within(0, 1<<31-1), doc: "most citations shown for one row"},
	{name: "report.citation_display.inline_markers", def: true, doc: "number the citations in the answer"},

	{name: "gates", def: []string{}, item: gateItem, doc: "conditions a run must meet, such as char_f1 >= 0.7"},
	{name: "compat", def: "none", allowed: []string{"none", "spec-1.0"}, scores: true, doc: "follow the specification to the letter"},
	{
		name: "limits", def: int64(1), scores: true, between: within(1, 1000),
		doc: "multiplies what is read at most: 20,000 spans a row, 4 MiB an answer, 64 MiB a document or record, 200 annotators, 500 systems",
	},
	{
		name: "rows_per_part", def: int64(0), scores: true, between: within(0, 1<<31-1),
		doc: "most rows that are in memory and become durable together; 0 = as long as rows are",
	},
}

// specKeys are the settings that have only the specification's name.
var specKeys = []*setting{
	{name: "citation_accuracy.enabled", def: true, doc: "false stops the run with a notice"},

	{name: "span_matching.tolerance_chars", def: int64(10), scores: true, between: within(0, 1<<31-1), doc: "code points by which a boundary may be off"},
	{name: "span_matching.min_overlap_threshold", def: 0.5, scores: true, between: aboveUpTo(0, 1), doc: "Jaccard from which two spans can be matched"},
	{name: "span_matching.max_span_length", def: int64(10000), scores: true, between: within(1, 1<<31-1), doc: "code points from which a citation is span_too_long"},

	{name: "quality_thresholds.span_accuracy", between: within(0, 1), doc: "gate: span_accuracy_score at least this"},
	{name: "quality_thresholds.citation_validity", between: within(0, 1), doc: "gate: citation_correctness at least this"},
	{name: "quality_thresholds.answer_consistency", between: within(0, 1), doc: "gate: answer_consistency_score at least this"},
	{name: "quality_thresholds.hallucination_tolerance", between: within(0, 1), doc: "gate: hallucination_rate at most this"},

	{name: "performance.batch_size", def: int64(10), scores: true, between: within(1, 1<<31-1), doc: "most claims in one judge call"},
	{name: "performance.parallel_evaluation", def: true, doc: "false = one worker, one call at a time"},

	{name: "reporting.detailed_span_analysis", def: true, scores: true, doc: "false leaves span details out of report and summary"},
	{name: "reporting.hallucination_details", def: true, scores: true, doc: "false leaves hallucination details out of report and summary"},
	{name: "reporting.confidence_intervals", def: true, scores: true, doc: "false leaves intervals out of report and summary"},

	{
		name: "quality_control.inter_annotator_agreement.target_agreement", def: 0.85, scores: true, between: within(0, 1),
		doc: "mean character Jaccard that annotators should reach",
	},
	{
		name: "quality_control.inter_annotator_agreement.min_annotators", def: int64(2), scores: true, between: within(2, 1<<31-1),
		doc: "fewest annotators an item needs to count in agreement",
	},
	{
		name: "quality_control.inter_annotator_agreement.recalibration_threshold", def: 0.8, scores: true, between: within(0, 1),
		doc: "mean character Jaccard of annotators below which they should meet",
	},
	{name: "quality_control.validation_checks.span_bounds_check", def: true, scores: true, doc: "false turns bounds statuses off"},
	{name: "quality_control.validation_checks.document_existence_check", def: true, scores: true, doc: "false turns document_not_found off"},
	{name: "quality_control.validation_checks.text_extraction_validation", def: true, scores: true, doc: "false turns quote statuses off"},
	{name: "quality_control.error_handling.max_retries", between: within(0, 1000), doc: "judge.retry_attempts, which wins"},
	{
		name: "quality_control.error_handling.fallback_scoring", def: 0.5, scores: true, between: within(0, 1),
		doc: "score of an unreadable verdict; only under compat: spec-1.0",
	},
	{name: "quality_control.error_handling.error_logging", def: true, doc: "write run.log"},
}
