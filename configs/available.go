package configs

import (
	"reflect"
	"slices"
)

// notAvailable are the settings whose feature is not part of this version.
// Their defaults are accepted, since they ask for nothing.
var notAvailable = []string{
	"claims", "label_policy",
	"thresholds.supported", "thresholds.consistent",
	"weights.span_accuracy", "weights.citation_quality", "weights.answer_consistency", "weights.hallucination",
	"statistics.resamples", "statistics.method",
	"presence.mode", "presence.strict", "presence.custom_resource_phrases", "presence.semantic.enabled", "presence.semantic.threshold",
	"report.citation_display.show_provenance", "report.citation_display.show_relevance_scores",
	"report.citation_display.show_token_contribution", "report.citation_display.group_by_source_type",
	"report.citation_display.max_citations_displayed", "report.citation_display.inline_markers",
	"compat",
	"performance.batch_size",
	"reporting.detailed_span_analysis", "reporting.hallucination_details", "reporting.confidence_intervals",
	"quality_control.inter_annotator_agreement.target_agreement", "quality_control.inter_annotator_agreement.min_annotators",
	"quality_control.inter_annotator_agreement.recalibration_threshold",
	"quality_control.error_handling.error_logging",
}

// refuseUnavailable reports every setting that asks for a missing feature.
// A run that is switched off asks for none.
func (l *loader) refuseUnavailable(c *Config) {
	if !c.Enabled {
		return
	}
	for _, name := range notAvailable {
		s := byName[name]
		if v := c.values[s]; !reflect.DeepEqual(v.value, s.def) {
			l.report(v.at, name, flowText(v.value)+" is not available yet", "leave it at "+flowText(s.def))
		}
	}
	if kind := c.values[byName["judge.kind"]]; c.Judge.Kind != "none" {
		l.report(kind.at, "judge.kind", c.Judge.Kind+" is not available yet", "set judge: none or pass --judge none")
	}
	if v := c.values[byName["slices"]]; slices.Contains(c.Slices, "source_type") {
		l.report(v.at, "slices", "source_type is not available yet", "slice by a tag, system or provider")
	}
	for _, g := range c.gates {
		if g.Func.NeedsBaseline() {
			l.report(g.at, "gates", string(g.Func)+"() needs a baseline, which is not available yet", "")
		}
	}
}
