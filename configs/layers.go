package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
)

// assigned is a value for a setting, and who gave it.
type assigned struct {
	setting *setting
	value   any
	node    node // as written; the zero node for defaults
	at      place
}

// A loader collects the errors of one Load.
type loader struct {
	file  string
	lines []string // of the run file
	errs  Errors
}

// maxErrors bounds what one bad file can print; the rest is rarely news.
const maxErrors = 20

func (l *loader) report(at place, key, msg, hint string) {
	if l.full() {
		return
	}
	e := at.refuse(key, msg, hint)
	if s, ok := byName[key]; !ok || !s.secret {
		e.Snippet = at.snippet(l.lines)
	}
	l.errs = append(l.errs, e)
}

func (l *loader) full() bool { return len(l.errs) >= maxErrors }

// merge puts one layer over the values of c.
func (l *loader) merge(c *Config, layer []assigned) {
	given := make(map[*setting]assigned)
	for _, a := range layer {
		first, ok := given[a.setting]
		if ok {
			if joined, ok := joinMembers(first.value, a.value); ok {
				first.value = joined
				given[a.setting] = first
			} else {
				l.report(a.at, a.setting.name, fmt.Sprintf("%s, but %s says %s", a.setting.text(a.value), first.at, a.setting.text(first.value)), "they are two names of one setting; remove one")
			}
			continue
		}
		given[a.setting] = a
	}
	for _, a := range given {
		c.assign(a)
	}
}

// joinMembers joins two values of one setting: equal ones, or mappings that say the same of
// what both have.
func joinMembers(a, b any) (joined any, ok bool) {
	first, isMap := a.(map[string]any)
	second, both := b.(map[string]any)
	if !isMap || !both {
		return a, reflect.DeepEqual(a, b)
	}
	out := maps.Clone(first)
	for name, v := range second {
		if other, given := first[name]; given && !reflect.DeepEqual(other, v) {
			return nil, false
		}
		out[name] = v
	}
	return out, true
}

// fromFile reads the run file's text.
func (l *loader) fromFile(text string) []assigned {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) // all are line ends in YAML
	l.lines = strings.Split(text, "\n")
	root, bad := parseYAML(text)
	if bad != nil {
		l.report(place{file: l.file, line: bad.line, column: bad.column}, "", bad.msg, bad.hint)
		return nil
	}
	at := func(line, column int) place { return place{file: l.file, line: line, column: column} }
	if root.kind == scalarNode || root.kind == listNode {
		l.report(at(root.line, root.column), "", "want a mapping of settings, got "+root.describe(), "such as dataset: answers.parquet")
		return nil
	}
	return l.walk(root, "", at)
}

// walk collects the settings below a mapping whose name is prefix, a dotted
// name with a dot at its end, or "".
func (l *loader) walk(n node, prefix string, at func(line, column int) place) []assigned {
	var layer []assigned
	lines := make(map[string]int, len(n.entries))
	for _, e := range n.entries {
		if l.full() {
			break
		}
		if bad := repeated(lines, e); bad != nil {
			l.report(at(e.line, e.column), prefix+e.key, bad.msg, bad.hint)
			continue
		}
		layer = append(layer, l.member(e, prefix, at)...)
	}
	return layer
}

func (l *loader) member(e entry, prefix string, at func(line, column int) place) []assigned {
	name := prefix + e.key
	if strings.Contains(e.key, ".") {
		hint := unknownHint(prefix, e.key)
		if _, ok := byName[name]; ok {
			dots := strings.Count(e.key, ".")
			hint = "nest it: " + strings.ReplaceAll(e.key, ".", ": {") + ": …" + strings.Repeat("}", dots)
		}
		l.refuseUnknown(at(e.line, e.column), name, hint)
		return nil
	}
	if s, ok := byName[name]; ok {
		return l.leaf(s, name, e.value, at)
	}
	if !groups[name] {
		l.refuseUnknown(at(e.line, e.column), name, unknownHint(prefix, e.key))
		return nil
	}
	return l.group(name, e.value, at)
}

func (l *loader) group(name string, value node, at func(line, column int) place) []assigned {
	switch {
	case value.kind == nullNode:
		return nil
	case value.kind == mappingNode:
		return l.walk(value, name+".", at)
	case value.kind == scalarNode && name == "judge":
		return l.leaf(byName["judge.kind"], name, value, at)
	}
	l.report(at(value.line, value.column), name, "want a mapping, got "+value.describe(), "its keys are "+strings.Join(children(name+"."), ", "))
	return nil
}

// leaf decodes and checks the value of one setting.
func (l *loader) leaf(s *setting, name string, n node, at func(line, column int) place) []assigned {
	var v any
	var bad *fault
	if part, ok := partOf(name); !ok || n.kind == nullNode {
		v, bad = s.decode(n)
	} else if v, bad = kinds[part.like].decode(n); bad == nil {
		if v = part.whole(v); v == nil {
			return nil
		}
	}
	if bad != nil {
		l.report(at(bad.line, bad.column), name, bad.msg, bad.hint)
		return nil
	}
	errs := len(l.errs)
	if msg, hint := s.notAllowed(v); msg != "" {
		l.report(at(n.line, n.column), name, msg, hint)
	} else if msg := s.refusal(v); msg != "" {
		l.report(at(n.line, n.column), name, msg, "")
	}
	if _, list := v.([]string); list {
		items := n.items
		if n.kind == scalarNode {
			items = []node{n}
		}
		for _, item := range items {
			if l.full() {
				break
			}
			bad := &fault{column: 1, msg: notBlank(item.text)}
			if s.name == "gates" {
				_, bad = parseGate(item.text)
			}
			if bad != nil && bad.msg != "" {
				line, column := l.inside(item, bad.column-1)
				l.report(at(line, column), name, bad.msg, bad.hint)
			}
		}
	}
	if len(l.errs) > errs || l.full() {
		return nil
	}
	return []assigned{{setting: s, value: v, node: n, at: at(n.line, n.column)}}
}

// inside is the position offset code points into a scalar, or the scalar's own
// if it is not written in one piece.
func (l *loader) inside(n node, offset int) (line, column int) {
	if n.line < 1 || n.line > len(l.lines) || n.block {
		return n.line, n.column
	}
	start := n.column - 1
	if n.quoted {
		start++
	}
	runes := []rune(l.lines[n.line-1])
	if start > len(runes) || !strings.HasPrefix(string(runes[start:]), n.text) || offset > utf8.RuneCountInString(n.text) {
		return n.line, n.column
	}
	return n.line, start + 1 + offset
}

const envPrefix = "IBID_"

// envSource begins the place of what the environment says.
const envSource = "environment "

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
		_, known := byName[key]
		if !known && !groups[key] && gone[key] == "" && !strings.Contains(rest, "__") && ibid.Nearest(key, children("")) == "" {
			continue
		}
		layer = append(layer, l.override(key, value, false, place{source: envSource + name})...)
	}
	return layer
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
		given := l.override(key, value, false, place{source: "--set " + key})
		set = slices.DeleteFunc(set, func(b assigned) bool {
			return slices.ContainsFunc(given, func(a assigned) bool { return a.setting == b.setting && a.at == b.at })
		})
		set = append(set, given...)
	}
	return append(layer, set...)
}

// override reads one value from outside the run file. A text is not parsed as YAML
// unless it is null or in quotes, because paths and globs are full of characters
// that mean something in YAML; with literal it is never parsed.
func (l *loader) override(key, value string, literal bool, at place) []assigned {
	s, ok := byName[key]
	if key == "judge" && !strings.HasPrefix(strings.TrimSpace(value), "{") {
		s, ok = byName["judge.kind"], true
	}
	if !ok && !groups[key] {
		l.refuseUnknown(at, key, unknownOverride(key))
		return nil
	}
	if !utf8.ValidString(value) {
		l.report(at, key, "not valid UTF-8", "")
		return nil
	}
	var n node
	trimmed := strings.TrimSpace(value)
	inQuotes := strings.HasPrefix(trimmed, `"`) || strings.HasPrefix(trimmed, "'")
	asText := ok && (s.typeName() == "text" || s.single && !strings.HasPrefix(trimmed, "["))
	if part, of := partOf(key); of {
		asText = kinds[part.like].name == "text"
	}
	if asText && (literal || !inQuotes) {
		n = node{kind: scalarNode, text: value, quoted: true}
		if !literal && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, trimmed) {
			n = node{}
		}
	} else {
		var bad *fault
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
