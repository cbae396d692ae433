package configs

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Key describes one setting.
type Key struct {
	Name    string   // dotted, such as judge.kind
	Type    string   // text, integer, number, boolean, duration, list of text, text or list of text, mapping
	Default string   // as YAML in one line; "null" if there is none
	Allowed []string // the values a text may have, "annotator:NAME" for any name; nil if any text will do
	Aliases []string // other dotted names of the same setting
	Doc     string   // one line
}

// Keys describes every setting, in the order of the contract's table. The
// caller may change the result.
func Keys() []Key {
	keys := make([]Key, len(table))
	for i, s := range table {
		keys[i] = Key{
			Name:    s.name,
			Type:    s.typeName(),
			Default: flowText(s.def),
			Allowed: s.choices(),
			Aliases: aliasesOf(s.name),
			Doc:     s.doc,
		}
	}
	return keys
}

// A setting is a field of [Settings] with what its tags say:
//
//	default  as YAML in one line; none is null, of a list []
//	oneof    texts that are allowed, in spaces; one that ends with a colon stands before a free name
//	range    of a number or a duration, as mathematicians write it, such as (0,1]; without an upper end any
//	is       scores: it can change a score or a summary; path: read by the run, relative to the run file when
//	         written there; secret: a wrong value may be a secret and must not be printed; single: of a list,
//	         a text is a list of one
//	doc      what it is for, in one line
//	key      its dotted name, where that does not follow from the names of fields
//
// [checks] has what else a value must be.
type setting struct {
	name    string
	field   reflect.StructField // its index is that from Settings on
	def     any                 // of the type that decode returns for the field; nil = none
	doc     string
	allowed []string // texts allowed, nil = any
	prefix  string   // text also allowed before a free name, such as "annotator:"
	between *interval
	check   func(any) string // what is wrong with a value of the right type, "" = nothing

	scores, path, secret, single bool
}

// newSetting reads the tags of a field.
func newSetting(name string, f reflect.StructField) *setting {
	is := strings.Fields(f.Tag.Get("is"))
	s := &setting{
		name: name, field: f, doc: f.Tag.Get("doc"), between: parseInterval(f.Tag.Get("range")), check: checks[name],
		scores: slices.Contains(is, "scores"), path: slices.Contains(is, "path"), secret: slices.Contains(is, "secret"), single: slices.Contains(is, "single"),
	}
	for _, word := range strings.Fields(f.Tag.Get("oneof")) {
		if strings.HasSuffix(word, ":") {
			s.prefix = word
		} else {
			s.allowed = append(s.allowed, word)
		}
	}
	if f.Type.Kind() == reflect.Slice {
		s.def = []string{}
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		n, bad := parseYAML(text)
		if bad == nil {
			s.def, bad = s.decode(n)
		}
		if bad != nil {
			panic("configs: the default of " + name + ": " + bad.msg)
		}
	}
	return s
}

// settingsBelow returns the settings of the fields of a struct; their names begin with group.
func settingsBelow(t reflect.Type, group string, at []int) (all []*setting) {
	for f := range t.Fields() {
		name := cmp.Or(f.Tag.Get("key"), strings.ToLower(wordEnd.ReplaceAllString(f.Name, "${1}${3}_${2}${4}")))
		if f.Index = slices.Concat(at, f.Index); f.Type.Kind() == reflect.Struct {
			all = append(all, settingsBelow(f.Type, group+name+".", f.Index)...)
		} else {
			all = append(all, newSetting(group+name, f))
		}
	}
	return all
}

// wordEnd is where a word of a name in Go ends.
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// rangeText is the range of a number, for people.
func (s *setting) rangeText() string {
	if s.between == nil {
		return ""
	}
	if s.typeName() == "duration" {
		return s.between.text(func(x float64) string { return flowDuration(time.Duration(x)) })
	}
	return s.between.text(flowNumber)
}

// refusal is what is wrong with a value of the right type, "" if nothing is.
func (s *setting) refusal(v any) string {
	if x, ok := number(v); ok && s.between != nil && !s.between.holds(x) {
		return "want a value " + s.rangeText() + ", got " + flowText(v)
	}
	if s.check != nil {
		return s.check(v)
	}
	return ""
}

// choices are the allowed texts, for people.
func (s *setting) choices() []string {
	choices := slices.Clone(s.allowed)
	if s.prefix != "" {
		choices = append(choices, s.prefix+"NAME")
	}
	return choices
}

var (
	table = settingsBelow(reflect.TypeFor[Settings](), "", nil)

	// byName are the settings by all their names.
	byName = func() map[string]*setting {
		m := make(map[string]*setting, len(table))
		for _, s := range table {
			for _, name := range append(aliasesOf(s.name), s.name) {
				m[name] = s
			}
		}
		return m
	}()

	// groups are the names that have settings below them and are none themselves.
	groups = func() map[string]bool {
		m := make(map[string]bool)
		for name := range byName {
			for i := range name {
				if name[i] == '.' {
					m[name[:i]] = true
				}
			}
		}
		return m
	}()
)
