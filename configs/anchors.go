package configs

import (
	"maps"
	"slices"
)

// checkAnchors refuses anchors of a judge that cannot move, and what belongs to
// anchors where there are none.
func (l *loader) checkAnchors(c *Config) {
	refuse := func(key, msg, hint string) { l.report(c.values[byName[key]].at, key, msg, hint) }
	if !c.Enabled {
		return
	}
	anchors := &c.Judge.Anchors
	if anchors.Dataset == "" {
		const msg, hint = "is given without judge.anchors.dataset", "name the anchors, or remove this"
		if anchors.Documents != "" {
			refuse("judge.anchors.documents", msg, hint)
		}
		if anchors.Digest != "" {
			refuse("judge.anchors.digest", msg, hint)
		}
		return
	}
	if kind := c.Judge.Kind; kind == "none" || kind == "human" {
		refuse("judge.anchors.dataset", "judge "+kind+" cannot move", "leave the anchors out, such as with --set judge.anchors.dataset=null, or let a model judge")
	}
}

// ofItsOwn are settings of a run that say nothing of its anchors: what they are,
// how its dataset is to be read, which of its rows are looked at, and what is
// asked of its results.
var ofItsOwn = []string{
	"dataset", "documents", "columns", "offset_unit", "answer_offset_unit", "span_end", "offset_base", "slices", "gates",
	"quality_thresholds.span_accuracy", "quality_thresholds.citation_validity", "quality_thresholds.answer_consistency",
	"quality_thresholds.hallucination_tolerance",
	"judge.cache", "judge.anchors.dataset", "judge.anchors.documents", "judge.anchors.digest",
}

// ForAnchors are the settings of a run over the anchors of c: the same judge over
// another dataset, which is frozen and so depends on nothing that c says of its
// own. Its answers are kept only until it is complete: what an earlier run was
// answered would say nothing of the judge of today. The caller says where it lands,
// see [Config.Place].
func (c *Config) ForAnchors() *Config {
	out := &Config{Settings: c.Settings, File: c.File, values: maps.Clone(c.values), lines: c.lines}
	for _, s := range table {
		if slices.Contains(ofItsOwn, s.name) {
			out.assign(assigned{setting: s, value: s.def, at: place{source: "default"}})
		}
	}
	for to, from := range map[string]string{"dataset": "judge.anchors.dataset", "documents": "judge.anchors.documents"} {
		a := c.values[byName[from]]
		a.setting = byName[to]
		out.assign(a)
	}
	out.assign(assigned{setting: byName["judge.cache_results"], value: false, at: place{source: "anchors"}})
	return out
}

// Place says where the run lands.
func (c *Config) Place(out, id string) {
	c.assign(assigned{setting: byName["out"], value: out, at: place{source: "anchors"}})
	c.assign(assigned{setting: byName["id"], value: id, at: place{source: "anchors"}})
}
