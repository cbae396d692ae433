package configs

import (
	"slices"
	"strings"
)

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

// unknownHint says what a key below prefix was perhaps meant to be: one of its
// neighbours, or a setting that has this name elsewhere.
func unknownHint(prefix, key string) string {
	if isSecretName(key) {
		return "keys are never settings: put it into the environment variable that judge.api_key_env names"
	}
	if near, ok := nearest(key, children(prefix)); ok {
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
	if s, ok := lookup(strings.TrimSuffix(group, ".")); ok && strings.HasPrefix(s.typeName(), "mapping") {
		return "set the whole mapping: " + s.name + "={" + key + ": …}"
	}
	if near, ok := nearest(key, children(group)); ok {
		return "did you mean " + group + near + "?"
	}
	if near, ok := nearest(name, names); ok {
		return "did you mean " + near + "?"
	}
	return elsewhere(key)
}

func elsewhere(key string) string {
	for _, match := range []func(last string) bool{
		func(last string) bool { return last == key },
		func(last string) bool { _, ok := nearest(key, []string{last}); return ok },
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
