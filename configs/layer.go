package configs

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
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
	if s, ok := lookup(key); !ok || !s.secret {
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
		if ok && first.at.source != a.at.source || ok && a.at.file != "" {
			if !reflect.DeepEqual(first.value, a.value) {
				l.report(a.at, a.setting.name, fmt.Sprintf("%s, but %s says %s", flowText(a.value), first.at, flowText(first.value)), "they are two names of one setting; remove one")
			}
			continue
		}
		given[a.setting] = a
	}
	for _, a := range given {
		c.assign(a)
	}
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
		if _, ok := lookup(name); ok {
			dots := strings.Count(e.key, ".")
			hint = "nest it: " + strings.ReplaceAll(e.key, ".", ": {") + ": …" + strings.Repeat("}", dots)
		}
		l.report(at(e.line, e.column), name, "unknown key", hint)
		return nil
	}
	if s, ok := lookup(name); ok {
		return l.leaf(s, name, e.value, at)
	}
	if !groups[name] {
		l.report(at(e.line, e.column), name, "unknown key", unknownHint(prefix, e.key))
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
	v, bad := s.decode(n)
	if bad != nil {
		l.report(at(bad.at.line, bad.at.column), name, bad.msg, bad.hint)
		return nil
	}
	errs := len(l.errs)
	if msg, hint := s.notAllowed(v); msg != "" {
		l.report(at(n.line, n.column), name, msg, hint)
	} else if s.check != nil {
		if msg := s.check(v); msg != "" {
			l.report(at(n.line, n.column), name, msg, "")
		}
	}
	if s.item != nil {
		for _, item := range n.items {
			if bad := s.item(item.text); bad != nil && !l.full() {
				line, column := l.inside(item, bad.offset)
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
