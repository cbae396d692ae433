package configs

import "strings"

// gone says for each setting of the version before what to do instead. A run file
// that still has one is refused with that sentence.
var gone = map[string]string{
	"statistics.method":             "leave it out: there is one way to make an interval, from the documents that questions share",
	"statistics.resamples":          "leave it out: nothing is resampled, intervals are in closed form",
	"limits.memory":                 "set limits: a number by which all limits are multiplied",
	"limits.row_spans":              "set limits: a number by which all limits are multiplied",
	"limits.row_pairs":              "set limits: a number by which all limits are multiplied",
	"limits.document_bytes":         "set limits: a number by which all limits are multiplied",
	"limits.name_bytes":             "set limits: a number by which all limits are multiplied",
	"limits.rows_per_part":          "it is rows_per_part now",
	"thresholds.good_match":         "leave it out: a good match has a tolerance Jaccard of at least 0.8",
	"id":                            "name the run on the command line: --id NAME",
	"answer_offset_unit":            "set offset_unit: it counts for answers, too, unless the texts of claims prove another unit",
	"presence.sources":              "set documents: what ibid fetch has written is read as documents",
	"presence.semantic.enabled":     "set presence.semantic.model: lexical, or name a model of embeddings",
	"presence.semantic.base_url":    "set judge.base_url: embeddings are asked there",
	"presence.semantic.api_key_env": "set judge.api_key_env: embeddings are asked with that key",
	"report.page":                   "leave it out: a run leaves its page, up to 1,000,000 rows; --report FILE names one all the same",
	"seed":                          "leave it out: nothing of a run is random; ibid sample has --seed",
	"tokenizer":                     "leave it out: a token is a word of Unicode (UAX #29)",
	"attribution_phrases":           "leave it out: ibid help claims lists the phrases, which always apply",
	"concise_chars":                 "leave it out: a citation may point to 2,000 code points before it counts less",
	"min_defined":                   "leave it out: it is 0.5; accept: [min_defined] gives gates their verdict all the same",
	"judge.anchors":                 "leave it out: judge a file of fixed answers by themselves in CI: ibid run FIXED.jsonl --set judge.cache=off --baseline RUN --gate 'p(mean_support_score) > 0.05'",
	"judge.mode":                    "set judge.protocol: score for one question a claim and citation, or leave it out",
	"quoted_spans":                  "leave it out: a place counts where its quote stands; with quality_control.validation_checks.text_extraction_validation: false it counts at its offsets",
	"results":                       "leave it out: rows.parquet always has every column",
	"judge.temperature":             "set judge.request: {temperature: T}",
	"judge.seed":                    "set judge.request: {seed: N}",
	"judge.max_tokens":              "set judge.request: {max_tokens: N}",
	"judge.provider":                "set judge.request: {provider: {...}}",
	"judge.reasoning":               "set judge.request: {reasoning: {...}}, or {reasoning_effort: low} where the endpoint takes that",
	"judge.extra_body":              "write its members into judge.request",
	"judge.service_tier":            "set judge.request: {service_tier: flex}",
	"judge.batch_lines":             "leave it out: a batch has as many questions as the service takes",
	"judge.max_rate_wait":           "leave it out: the run stops when it is asked to wait for more than 10 minutes",
	"judge.panel":                   "write the models as a list into judge.model",
	"judge.replay":                  "it is judge.file now",
	"judge.template":                "write it into a YAML file, and name that as judge.prompts (ibid help verifiers)",
	"judge.cache_results":           "set judge.cache: off",
	"judge.lexical.weights":         "leave it out: lexical scores by the share of words alone, which did better on claims that no weights were fitted to",
}

// refuseUnknown reports a key that names no setting; what was in a section that is gone is
// gone with it.
func (l *loader) refuseUnknown(at place, name, hint string) {
	for of := name; of != ""; {
		if instead, ok := gone[of]; ok {
			l.report(at, name, "this setting is gone", instead)
			return
		}
		of = of[:max(0, strings.LastIndexByte(of, '.'))]
	}
	l.report(at, name, "unknown key", hint)
}
