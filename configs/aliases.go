package configs

import "strings"

// specBlock is the specification's outer key; its inner groups are also valid
// without it, since two of our names live there.
const specBlock = "citation_accuracy."

// specGroups are the groups the specification keeps inside its outer key.
var specGroups = []string{"span_matching.", "llm_evaluation.", "quality_thresholds.", "performance.", "reporting."}

// moved are the specification's names for settings that live elsewhere here.
var moved = map[string]string{"performance.cache_results": "judge.cache_results"}

// lookup finds a setting by any of its names.
func lookup(name string) (*setting, bool) {
	if s, ok := byName[name]; ok {
		return s, true
	}
	if inner, ok := strings.CutPrefix(name, specBlock); ok && inSpecGroup(inner) {
		name = inner
	}
	if to, ok := moved[name]; ok {
		name = to
	}
	if rest, ok := strings.CutPrefix(name, "llm_evaluation."); ok {
		name = "judge." + rest
	}
	s, ok := byName[name]
	return s, ok
}

func inSpecGroup(name string) bool {
	for _, g := range specGroups {
		if strings.HasPrefix(name, g) {
			return true
		}
	}
	return false
}

// aliasesOf lists the other names that lookup takes for a setting, the longer
// ones inside the specification's block last.
func aliasesOf(name string) []string {
	var names []string
	for from, to := range moved {
		if to == name {
			names = append(names, from)
		}
	}
	if rest, ok := strings.CutPrefix(name, "judge."); ok {
		names = append(names, "llm_evaluation."+rest)
	}
	all := names
	for _, n := range append([]string{name}, names...) {
		if inSpecGroup(n) {
			all = append(all, specBlock+n)
		}
	}
	return all
}
