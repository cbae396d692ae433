package configs

import (
	"maps"
	"slices"
	"strings"
)

// finish checks and completes what depends on more than one setting.
func (l *loader) finish(c *Config, gateFlags []string) {
	l.addGates(c, gateFlags)
	l.checkWeights(c)
	if len(l.errs) > 0 {
		return // what follows would only repeat it
	}
	judgeByModel(c)
	fitEndpoint(c)
	l.limitToOneCall(c)
	spareSmallServers(c)
	inheritRetries(c)
	completeRequest(c)
	lowerThresholds(c)
	l.refuseIncomplete(c)
	l.checkLive(c)
	warnUnused(c)
	warnLive(c)
}

func (l *loader) checkWeights(c *Config) {
	w := c.Weights
	if w.SpanAccuracy+w.CitationQuality+w.AnswerConsistency+w.Hallucination > 0 {
		return
	}
	for _, s := range table {
		if a := c.values[s]; strings.HasPrefix(s.name, "weights.") && a.at.source != "default" {
			l.report(a.at, s.name, "all weights are 0", "at least one must be above 0")
			return
		}
	}
}

// judgeByModel selects the judge openrouter, or openai if judge.base_url is set, when judge.model
// is set and judge.kind is not (CITATION-ACCURACY-001, section 6.1). A model that only an
// environment variable sets does not select a judge: calls cost money.
func judgeByModel(c *Config) {
	model, kind := c.values[byName["judge.model"]], c.values[byName["judge.kind"]]
	if c.IsSet("judge.kind") || len(c.Judge.Model) == 0 || strings.HasPrefix(model.at.source, envSource) {
		return
	}
	kind.value, kind.at = "openrouter", model.at
	if c.IsSet("judge.base_url") {
		kind.value = "openai"
	}
	c.assign(kind)
}

// limitToOneCall allows one call at a time if parallel_evaluation is false.
func (l *loader) limitToOneCall(c *Config) {
	if c.Performance.ParallelEvaluation {
		return
	}
	parallel, limit := c.values[byName["performance.parallel_evaluation"]], c.values[byName["judge.concurrency"]]
	if c.IsSet("judge.concurrency") && c.Judge.Concurrency != 1 {
		l.report(limit.at, "judge.concurrency", flowText(limit.value)+", but "+parallel.at.String()+" turns parallel_evaluation off", "remove one of the two")
		return
	}
	limit.value, limit.at = int64(1), parallel.at
	c.assign(limit)
}

// smallServer is how many calls are under way at once, unless the user says more, at an
// endpoint that is a machine of the user's own: it queues what it cannot compute, and
// calls time out there.
const smallServer = 8

func spareSmallServers(c *Config) {
	if c.IsSet("judge.concurrency") || !c.Performance.ParallelEvaluation || !c.Judge.AsksModels() || !private(c.Judge.BaseURL) {
		return
	}
	limit := c.values[byName["judge.concurrency"]]
	limit.value = int64(smallServer)
	c.assign(limit)
}

// inheritRetries uses the specification's second name for the retries where
// the first is not given.
func inheritRetries(c *Config) {
	second := c.values[byName["quality_control.error_handling.max_retries"]]
	if second.value == nil {
		return
	}
	first := c.values[byName["judge.retry_attempts"]]
	if !c.IsSet("judge.retry_attempts") {
		first.value, first.at = second.value, second.at
		c.assign(first)
	} else if first.value != second.value {
		c.warn(second, "judge.retry_attempts is "+flowText(first.value)+" ("+first.at.String()+") and wins")
	}
}

// completeRequest adds the members of every request that are there unless the user says
// otherwise.
func completeRequest(c *Config) {
	a := c.values[byName["judge.request"]]
	given, _ := a.value.(map[string]any)
	all := maps.Clone(a.setting.def.(map[string]any))
	maps.Copy(all, given)
	a.value = all
	c.assign(a)
}

func (c *Config) warn(a assigned, msg string) {
	c.Warnings = append(c.Warnings, Warning{Key: a.setting.name, Source: a.at.String(), Msg: msg})
}

// warnUnused warns of settings that were given and have no effect.
func warnUnused(c *Config) {
	for _, s := range table {
		a := c.values[s]
		if a.at.source == "default" {
			continue
		}
		switch {
		case s.ofJudge() && !usedBy(s.name, c.Judge.Kind) && !(c.Presence.Embeds() && slices.Contains(embeddingKeys, s.name)):
			c.warn(a, "has no effect with judge: "+c.Judge.Kind)
		case s.name == "presence.resource_similarity_threshold" && c.Presence.EmbedModel == "":
			c.warn(a, "has no effect without presence.embed_model")
		case s.name == "presence.use_semantic_search" && c.Presence.UseSemanticSearch && c.Presence.EmbedModel == "":
			c.warn(a, "has no effect without presence.embed_model: lexical, which is offline, or a model of embeddings")
		case s.name == "presence.embed_model" && !c.Presence.UseSemanticSearch:
			c.warn(a, "has no effect with presence.use_semantic_search: false")
		case s.name == "presence.embed_model" && c.Presence.EmbedModel != "" && c.Presence.Mode == "any_citation":
			c.warn(a, "has no effect with presence.mode: any_citation")
		case s.name == "quality_control.error_handling.fallback_scoring" && c.Compat == "none":
			c.warn(a, "has no effect without compat: spec-1.0; what cannot be judged is unscored")
		}
	}
}

// embeddingKeys are the settings of the judge that a model of embeddings is asked by.
var embeddingKeys = []string{"judge.base_url", "judge.api_key_env", "judge.retry_attempts", "judge.timeout", "judge.cache"}

// usedBy reports whether a setting of the judge means anything to a kind of it.
func usedBy(name, kind string) bool {
	switch name {
	case "judge.kind", "judge.concurrency":
		return true
	case "judge.evidence":
		return canMove(kind)
	case "judge.file":
		return kind == "recorded" || canMove(kind)
	case "judge.necessity":
		return kind == "recorded" || slices.Contains(liveJudges, kind)
	}
	return slices.Contains(liveJudges, kind)
}

// A refusal is what is wrong with a setting beside the values of others.
type refusal struct {
	wrong          bool
	key, msg, hint string
}

func (l *loader) refuse(c *Config, all ...refusal) {
	for _, r := range all {
		if r.wrong {
			l.report(c.values[byName[r.key]].at, r.key, r.msg, r.hint)
		}
	}
}

// refuseIncomplete reports settings that need another one, which is not given. A
// run that is switched off needs none.
func (l *loader) refuseIncomplete(c *Config) {
	if !c.Enabled {
		return
	}
	j := &c.Judge
	l.refuse(c,
		refusal{
			c.Presence.Strict && c.Documents == "", "presence.strict", "nobody has asked which URLs are live",
			"run: ibid fetch ANSWERS -o sources.parquet, then name it: --documents sources.parquet",
		},
		refusal{
			c.Claims == "model" && !j.AsksModels() && !(j.Kind == "recorded" && j.File != ""), "claims",
			"judge " + j.Kind + " asks no model, so nothing can make claims of sentences", "set judge.kind to openrouter or openai, or claims: sentences",
		},
	)
}
