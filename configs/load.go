package configs

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Options say where a configuration comes from.
type Options struct {
	File    string   // run file; "" for none
	Environ []string // NAME=VALUE as from os.Environ; only IBID_ names are looked at
	Set     []string // KEY=VALUE of --set; of one key the last counts
	Flags   []Flag   // values of other flags and arguments
	Gates   []string // expressions of --gate, added to those of the gates setting
}

// A Flag is a setting that has a flag or argument of its own. It ranks with
// --set: both set and different is an error.
type Flag struct {
	Name  string // as the user knows it, such as "--judge" or "DATASET"
	Key   string // setting, such as "judge.kind"
	Value string // taken as it is if the setting is a text, else YAML
}

// Config is a checked configuration.
type Config struct {
	Settings
	File     string    // run file as given; "" if there is none
	Warnings []Warning // what was set but has no effect

	values map[*setting]assigned
	gates  []Gate
	lines  []string // of the run file
}

// A Warning is a setting that is valid but without effect.
type Warning struct {
	Key, Source, Msg string
}

// String is the warning in one line.
func (w Warning) String() string { return w.Source + ": " + w.Key + ": " + w.Msg }

// A Value is one setting as it applies.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // YAML in one line, as written: paths are not resolved
	Source string `json:"source"` // "default", "ibid.yaml:12:3", "environment IBID_JUDGE__KIND", "--set judge.kind", "--judge"
}

// Load reads, merges and checks a configuration. What is wrong with it is
// returned as [Errors]; a run file that cannot be read is the system's error.
func Load(o Options) (*Config, error) {
	l := &loader{file: o.File}
	c := newConfig(o.File)
	if o.File != "" {
		text, err := readFile(o.File)
		if err != nil {
			return nil, err
		}
		l.merge(c, l.fromFile(text))
		c.lines = l.lines
	}
	l.merge(c, l.fromEnviron(o.Environ))
	l.merge(c, l.fromCommandLine(o))
	l.finish(c, o.Gates)
	if len(l.errs) > 0 {
		l.errs.sort()
		return nil, l.errs
	}
	return c, nil
}

// readFile reads at most one byte more than parseYAML accepts.
func readFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return string(text), err
}

// ReadMapping reads a YAML file that holds one mapping whose members are not ours to know.
// What is wrong with it is an *[Error] with the hint unless it has one; a file that cannot be read is the system's error.
func ReadMapping(file, hint string) (map[string]any, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	root, bad := parseYAML(text)
	var v any
	if bad == nil {
		v, bad = decodeMapping[any](root, hint, decodeFree)
	}
	if bad != nil {
		return nil, place{file: file, line: bad.line, column: bad.column}.refuse("", bad.msg, cmp.Or(bad.hint, hint))
	}
	return v.(map[string]any), nil
}

func newConfig(file string) *Config {
	c := &Config{File: file, values: make(map[*setting]assigned, len(table))}
	for _, s := range table {
		c.assign(assigned{setting: s, value: s.def, at: place{source: "default"}})
	}
	return c
}

func (c *Config) assign(a assigned) {
	c.values[a.setting] = a
	value := a.value
	if text, ok := value.(string); ok && a.setting.path && a.at.file != "" && text != "" && !filepath.IsAbs(text) && !strings.Contains(text, "://") {
		if dir := filepath.Dir(a.at.file); dir != "." {
			value = filepath.Join(dir, text)
		}
	}
	a.setting.put(&c.Settings, value)
}

// Effective lists every setting in the order of [Keys].
func (c *Config) Effective() []Value {
	return c.list(func(*setting) bool { return true })
}

// ScoreSettings lists the settings that can change a score or a summary of
// this run, for its fingerprint. Those of a judge that is not asked and those
// of a compatibility mode that is off are not among them.
func (c *Config) ScoreSettings() []Value {
	return c.list(func(s *setting) bool {
		switch {
		case s.name == "min_coverage" || s.name != "judge.kind" && s.ofJudge():
			return s.scores && (c.Judge.Kind != "none" || s.name == "judge.base_url" && c.Presence.Embeds())
		case s.name == "quality_control.error_handling.fallback_scoring":
			return c.Compat != "none"
		}
		return s.scores
	})
}

func (c *Config) list(keep func(*setting) bool) []Value {
	var values []Value
	for _, s := range table {
		if keep(s) {
			a := c.values[s]
			values = append(values, Value{Key: s.name, Value: s.text(a.value), Source: a.at.String()})
		}
	}
	return values
}

// IsSet reports whether anything but the default gave the setting its value.
// It panics if there is no such setting.
func (c *Config) IsSet(key string) bool {
	return c.values[mustLookup(key)].at.source != "default"
}

// Refuse is an error at the place that gave a setting its value, for what only
// the caller can know: that the dataset says otherwise, for example. It panics
// if there is no such setting.
func (c *Config) Refuse(key, msg, hint string) *Error {
	s := mustLookup(key)
	e := c.values[s].at.refuse(s.name, msg, hint)
	if !s.secret {
		e.Snippet = c.values[s].at.snippet(c.lines)
	}
	return e
}

// Gates are the gates of the gates setting, then those of quality_thresholds,
// then those of Options.Gates.
func (c *Config) Gates() []Gate {
	return append([]Gate(nil), c.gates...)
}

func mustLookup(key string) *setting {
	s, ok := byName[key]
	if !ok {
		panic("configs: no setting " + key)
	}
	return s
}

// ofJudge reports whether the setting has no effect without a judge.
func (s *setting) ofJudge() bool {
	return strings.HasPrefix(s.name, "judge.") || s.name == "performance.batch_size"
}

// FromValues are the settings that values stand for, as [Config.Effective] lists
// them and a manifest keeps them. Settings that are not among them have their
// defaults; values of another version that no longer mean anything are skipped.
// Paths are as written.
func FromValues(values []Value) *Settings {
	l, c := &loader{}, newConfig("")
	for _, v := range values {
		if s, ok := byName[v.Key]; ok && v.Value != flowText(s.def) {
			for _, a := range l.override(v.Key, v.Value, false, place{}) {
				c.assign(a)
			}
		}
	}
	return &c.Settings
}
