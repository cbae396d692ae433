package configs

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"ibid"
)

// specBlock is the specification's outer key; its inner groups are also valid
// without it, since two of our names live there.
const specBlock = "citation_accuracy."

// specGroups are the groups the specification keeps inside its outer key.
var specGroups = []string{"span_matching.", "llm_evaluation.", "quality_thresholds.", "performance.", "reporting."}

// A specPart is a name of the specification for a part of a setting of ours.
type specPart struct {
	setting string
	like    reflect.Type       // of what stands under the name
	whole   func(part any) any // the value of our setting, nil if the part changes nothing
}

// specParts are those names, without the outer key.
var specParts = map[string]specPart{
	"llm_evaluation.temperature": {"judge.request", reflect.TypeFor[float64](), func(v any) any { return map[string]any{"temperature": v} }},
	"llm_evaluation.max_tokens":  {"judge.request", reflect.TypeFor[int64](), func(v any) any { return map[string]any{"max_tokens": v} }},
	"performance.cache_results": {"judge.cache", reflect.TypeFor[bool](), func(v any) any {
		if v == true {
			return nil
		}
		return CacheOff
	}},
}

// partOf is the part that a name stands for; ok is false if it is none.
func partOf(name string) (part specPart, ok bool) {
	part, ok = specParts[strings.TrimPrefix(name, specBlock)]
	return part, ok
}

// displayGroup is what Keeptrusts calls the settings of how citations are shown. Its
// documentation has the group at the top of the file.
const displayGroup = "citation_display."

// reportGroup is where ibid has them.
const reportGroup = "report."

func inSpecGroup(name string) bool {
	return slices.ContainsFunc(specGroups, func(g string) bool { return strings.HasPrefix(name, g) })
}

// aliasesOf lists the other names of a setting, the longer
// ones inside the specification's block last.
func aliasesOf(name string) []string {
	var names []string
	for _, from := range slices.Sorted(maps.Keys(specParts)) {
		if specParts[from].setting == name {
			names = append(names, from)
		}
	}
	if rest, ok := strings.CutPrefix(name, "judge."); ok {
		names = append(names, "llm_evaluation."+rest)
	}
	if rest, ok := strings.CutPrefix(name, reportGroup); ok && strings.HasPrefix(rest, displayGroup) {
		names = append(names, rest)
	}
	all := names
	for _, n := range append([]string{name}, names...) {
		if inSpecGroup(n) {
			all = append(all, specBlock+n)
		}
	}
	return all
}

// names are all names of all settings, the first names first.
var names = func() []string {
	var names, others []string
	for _, s := range table {
		names = append(names, s.name)
		others = append(others, aliasesOf(s.name)...)
	}
	return append(names, others...)
}()

// children are the keys that may stand directly below prefix, a dotted name
// with a dot at its end or "".
func children(prefix string) []string {
	var keys []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			key, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// unknownHint is the hint for an unknown key below prefix: a key near it in the same
// group, or a setting of that name in another group.
func unknownHint(prefix, key string) string {
	if isSecretName(key) {
		return "keys are never settings: put it into the environment variable that judge.api_key_env names"
	}
	if near := ibid.Nearest(key, children(prefix)); near != "" {
		return "did you mean " + near + "?"
	}
	return elsewhere(key)
}

// unknownOverride is unknownHint for a whole dotted name.
func unknownOverride(name string) string {
	group, key := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		group, key = name[:i+1], name[i+1:]
	}
	if isSecretName(key) {
		return unknownHint(group, key)
	}
	if s, ok := byName[strings.TrimSuffix(group, ".")]; ok && strings.HasPrefix(s.typeName(), "mapping") {
		return "set the whole mapping: " + s.name + "={" + key + ": …}"
	}
	if near := ibid.Nearest(key, children(group)); near != "" {
		return "did you mean " + group + near + "?"
	}
	if near := ibid.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return elsewhere(key)
}

func elsewhere(key string) string {
	for _, match := range []func(last string) bool{
		func(last string) bool { return last == key },
		func(last string) bool { return ibid.Nearest(key, []string{last}) != "" },
	} {
		for _, name := range names {
			if last := name[strings.LastIndexByte(name, '.')+1:]; match(last) {
				return "did you mean " + name + "?"
			}
		}
	}
	return "ibid help settings lists them all"
}

// isSecretName reports whether a key was probably meant to hold a secret.
func isSecretName(key string) bool {
	switch strings.ReplaceAll(strings.ToLower(key), "-", "_") {
	case "api_key", "apikey", "key", "token", "access_token", "secret", "password", "authorization":
		return true
	}
	return false
}
