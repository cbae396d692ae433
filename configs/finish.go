package configs

import (
	"slices"
	"strings"
)

// finish settles what depends on more than one setting.
func (l *loader) finish(c *Config, gateFlags []string) {
	l.addGates(c, gateFlags)
	l.checkWeights(c)
	if len(l.errs) > 0 {
		return // what follows would only repeat it
	}
	l.serialize(c)
	inheritRetries(c)
	l.refuseUnavailable(c)
	l.checkLive(c)
	l.checkAnchors(c)
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

// serialize makes one call at a time of parallel_evaluation: false.
func (l *loader) serialize(c *Config) {
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

func (c *Config) warn(a assigned, msg string) {
	c.Warnings = append(c.Warnings, Warning{Key: a.setting.name, Source: a.at.String(), Msg: msg})
}

// warnUnused tells which settings were given for nothing.
func warnUnused(c *Config) {
	for _, s := range table {
		a := c.values[s]
		if a.at.source == "default" {
			continue
		}
		switch {
		case s.ofJudge() && !usedBy(s.name, c.Judge.Kind):
			c.warn(a, "has no effect with judge: "+c.Judge.Kind)
		case s.name == "quality_control.error_handling.fallback_scoring" && c.Compat == "none":
			c.warn(a, "has no effect without compat: spec-1.0; what cannot be judged is unscored")
		}
	}
}

// usedBy reports whether a setting of the judge means anything to a kind of it.
func usedBy(name, kind string) bool {
	switch name {
	case "judge.kind", "judge.concurrency":
		return true
	case "judge.evidence", "judge.anchors.dataset", "judge.anchors.documents", "judge.anchors.digest":
		return kind != "none" && kind != "human"
	case "judge.replay":
		return kind == "replay"
	case "judge.provider", "judge.reasoning":
		return kind == "openrouter"
	}
	return slices.Contains(liveJudges, kind)
}

// addGates parses the gates, whose grammar is already checked, and adds those
// that quality_thresholds and the command line ask for.
func (l *loader) addGates(c *Config, flags []string) {
	setting := c.values[byName["gates"]]
	for i, expr := range c.Settings.Gates {
		at := setting.at
		if at.file != "" && i < len(setting.node.items) {
			at.line, at.column = setting.node.items[i].line, setting.node.items[i].column
		}
		l.addGate(c, expr, at)
	}
	for _, t := range []struct{ key, metric, op string }{
		{"quality_thresholds.span_accuracy", "span_accuracy_score", ">="},
		{"quality_thresholds.citation_validity", "citation_correctness", ">="},
		{"quality_thresholds.answer_consistency", "answer_consistency_score", ">="},
		{"quality_thresholds.hallucination_tolerance", "hallucination_rate", "<="},
	} {
		a := c.values[byName[t.key]]
		if x, ok := a.value.(float64); ok {
			c.gates = append(c.gates, Gate{Metric: t.metric, Op: t.op, Number: x, Source: a.at.String(), at: a.at, snippet: a.at.snippet(l.lines)})
		}
	}
	for _, expr := range flags {
		l.addGate(c, expr, place{source: "--gate"})
	}
}

func (l *loader) addGate(c *Config, expr string, at place) {
	g, bad := parseGate(expr)
	if bad != nil {
		l.report(at, "", bad.msg, bad.hint)
		if at.file == "" {
			l.errs[len(l.errs)-1].Column = bad.offset + 1
			l.errs[len(l.errs)-1].Snippet = snippet(expr, 1, bad.offset+1)
		}
		return
	}
	g.Source, g.at, g.snippet = at.String(), at, at.snippet(l.lines)
	c.gates = append(c.gates, g)
}
