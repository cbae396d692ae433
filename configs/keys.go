package configs

import (
	"slices"
	"strings"
)

// A Key describes one setting.
type Key struct {
	Name    string   // dotted, such as judge.kind
	Type    string   // text, integer, number, boolean, duration, list of text, mapping
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

// A setting is one entry of the table. Its type is that of the field.
type setting struct {
	name    string
	def     any // of the type that decode returns for the field; nil = none
	field   func(*Settings) any
	doc     string
	allowed []string            // texts allowed, nil = any
	prefix  string              // text also allowed before a free name, such as "annotator:"
	check   func(any) string    // what is wrong with a value of the right type, "" = nothing
	item    func(string) *fault // what is wrong with one item of a list
	scores  bool                // can change a score or a summary
	path    bool                // read by the run: relative to the run file when written there
	secret  bool                // a wrong value may be a secret and must not be printed
}

// choices are the allowed texts, for people.
func (s *setting) choices() []string {
	choices := slices.Clone(s.allowed)
	if s.prefix != "" {
		choices = append(choices, s.prefix+"NAME")
	}
	return choices
}

// A fault is what is wrong with a text, and where in it, in code points from 0.
type fault struct {
	offset    int
	msg, hint string
}

var (
	table = append(append([]*setting(nil), runKeys...), specKeys...)

	byName = func() map[string]*setting {
		m := make(map[string]*setting, len(table))
		for _, s := range table {
			m[s.name] = s
		}
		return m
	}()

	// groups are the names that have settings below them and are none themselves.
	groups = func() map[string]bool {
		m := make(map[string]bool)
		add := func(name string) {
			for {
				i := strings.LastIndexByte(name, '.')
				if i < 0 {
					return
				}
				name = name[:i]
				m[name] = true
			}
		}
		for _, s := range table {
			add(s.name)
			for _, a := range aliasesOf(s.name) {
				add(a)
			}
		}
		return m
	}()
)
