package configs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const envPrefix = "IBID_"

// fromEnviron reads IBID_A__B=VALUE as a.b. An empty value is as good as none,
// which is what continuous integration makes of a variable that is not set.
//
// A cluster may define IBID_SERVICE_HOST and the like for a service of that
// name, so a variable that neither has two underscores nor looks like a
// misspelt setting is left alone.
func (l *loader) fromEnviron(environ []string) []assigned {
	var layer []assigned
	for _, env := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(env, "=")
		rest, ok := strings.CutPrefix(name, envPrefix)
		if !ok || value == "" {
			continue
		}
		key := strings.ReplaceAll(strings.ToLower(rest), "__", ".")
		if !isName(key) && !strings.Contains(rest, "__") && !misspelt(key) {
			continue
		}
		layer = append(layer, l.override(key, value, false, place{source: "environment " + name})...)
	}
	return layer
}

// isName reports whether key is a setting or a group.
func isName(key string) bool {
	_, ok := lookup(key)
	return ok || groups[key]
}

// misspelt reports whether key is nearly the name of a setting.
func misspelt(key string) bool {
	_, ok := nearest(key, children(""))
	return ok
}

func (l *loader) fromCommandLine(o Options) []assigned {
	var layer []assigned
	for _, f := range o.Flags {
		layer = append(layer, l.override(f.Key, f.Value, true, place{source: f.Name})...)
	}
	var set []assigned
	for _, text := range o.Set {
		key, value, ok := strings.Cut(text, "=")
		key = strings.TrimSpace(key)
		if !ok {
			l.report(place{source: "--set " + key}, "", "want KEY=VALUE", "such as --set judge.kind=none")
			continue
		}
		for _, a := range l.override(key, value, false, place{source: "--set " + key}) {
			set = slices.DeleteFunc(set, func(b assigned) bool { return a.setting == b.setting && a.at == b.at })
			set = append(set, a)
		}
	}
	return append(layer, set...)
}

// override reads one value from outside the run file. With literal a text is
// taken as it is; otherwise it is so unless it is null or in quotes, because
// paths and globs are full of characters that mean something in YAML.
func (l *loader) override(key, value string, literal bool, at place) []assigned {
	s, ok := lookup(key)
	if key == "judge" && !strings.HasPrefix(strings.TrimSpace(value), "{") {
		s, ok = byName["judge.kind"], true
	}
	if !ok && !groups[key] {
		l.report(at, key, "unknown key", unknownOverride(key))
		return nil
	}
	if !utf8.ValidString(value) {
		l.report(at, key, "not valid UTF-8", "")
		return nil
	}
	var n node
	if ok && s.typeName() == "text" && (literal || !strings.ContainsAny(firstByte(value), `"'`)) {
		n = node{kind: scalarNode, text: value, quoted: true}
		if !literal && isNull(value) {
			n = node{}
		}
	} else {
		var bad *syntaxError
		if n, bad = parseYAML(value); bad != nil {
			l.report(at, key, bad.msg, bad.hint)
			return nil
		}
	}
	here := func(int, int) place { return at }
	if !ok {
		return l.group(key, n, here)
	}
	return l.leaf(s, key, n, here)
}

func firstByte(value string) string {
	value = strings.TrimSpace(value)
	return value[:min(1, len(value))]
}

func isNull(value string) bool {
	switch strings.TrimSpace(value) {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}
