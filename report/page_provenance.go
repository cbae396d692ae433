package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// A provenanceView says what runs were made of.
type provenanceView struct {
	Differs *settingsDifference // what several runs differ in
	Several bool
	Runs    []provenance
}

// provenanceSection says what the runs were made of.
func provenanceSection(data *pageData) *section {
	view := &provenanceView{Differs: newSettingsDifference(data), Several: data.several()}
	for _, r := range data.results {
		view.Runs = append(view.Runs, newProvenance(r.run))
	}
	return &section{"provenance", "Provenance", view}
}

// provenance says what a run was made of.
type provenance struct {
	ID       string
	Facts    [][2]string
	Inputs   []inputText
	Settings []settingText // those that are not default
	Defaults int           // how many are
	Warnings []string
}

// An inputText is one file that was read.
type inputText struct{ Kind, Path, Rows, Bytes, Unchecked, SHA256 string }

// A settingText is one setting; secrets in it are blacked out.
type settingText struct{ Key, Value, Source string }

func newProvenance(run *RunData) provenance {
	m := run.Manifest
	p := provenance{ID: line(m.ID, 120)}
	fact := func(name, value string) {
		if value != "" {
			p.Facts = append(p.Facts, [2]string{name, shown(value)})
		}
	}
	fact("fingerprint", m.Fingerprint)
	fact("source", redact(m.Source))
	fact("status", m.Status)
	fact("seed", count(m.Seed))
	for _, name := range sortedKeys(m.Versions) {
		fact("version of "+name, m.Versions[name])
	}
	fact("judge", m.Judge.Kind)
	fact("model", m.Judge.Model)
	if m.Judge.Calls > 0 {
		fact("judge calls", fmt.Sprintf("%s, %s of them from the cache", Thousands(m.Judge.Calls), Thousands(m.Judge.Cached)))
	}
	if m.Judge.CostUSD != nil {
		fact("cost", fmt.Sprintf("$%.4f", *m.Judge.CostUSD))
	}
	fact("parts of the overall score", strings.Join(m.Components, ", "))
	if m.Coverage != nil {
		fact("coverage of rows", number(*m.Coverage))
	}
	fact("started", m.Timings.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	fact("took", took(m.Timings.Seconds))
	if m.Timings.Resumed > 0 {
		fact("resumed", Plural(int64(m.Timings.Resumed), "time", "times"))
	}
	for _, in := range m.Inputs {
		unchecked := Thousands(in.Unchecked)
		if in.Version != "" {
			unchecked = "not counted"
		}
		p.Inputs = append(p.Inputs, inputText{in.Kind, shown(redact(in.Path)), Thousands(in.Rows), Thousands(in.Bytes), unchecked, cmp.Or(in.SHA256, in.Version)})
	}
	p.settings(m)
	for _, w := range m.Warnings {
		p.Warnings = append(p.Warnings, shown(w))
	}
	return p
}

func (p *provenance) settings(m *runs.Manifest) {
	for _, s := range m.Settings {
		if s.Source == "default" {
			p.Defaults++
			continue
		}
		value := redact(s.Value)
		if isSecret(s.Key) {
			value = "(not shown)"
		}
		p.Settings = append(p.Settings, settingText{shown(s.Key), shown(clip(value, longText)), shown(redact(s.Source))})
	}
}

// isSecret reports whether a setting may hold a secret by its name. The name of
// an environment variable is none.
func isSecret(key string) bool {
	last := key[strings.LastIndexByte(key, '.')+1:]
	if strings.HasSuffix(last, "_env") {
		return false
	}
	return slices.ContainsFunc([]string{"key", "token", "secret", "password"}, func(word string) bool {
		return slices.Contains(strings.Split(last, "_"), word)
	})
}

// redact takes the user and the query out of a URL: both may carry a secret.
func redact(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return value
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return value
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String() + " (rest not shown)"
}

// A settingsDifference is what runs differ in: one line for each, one value for
// each run.
type settingsDifference struct {
	Runs  []string
	Lines []settingsLine
}

// A settingsLine is something in which runs differ.
type settingsLine struct {
	Key    string
	Values []string
}

// newSettingsDifference lists what several runs differ in; nil if it is one run.
func newSettingsDifference(data *pageData) *settingsDifference {
	if len(data.results) < 2 {
		return nil
	}
	out := &settingsDifference{}
	byRun := make([]map[string]string, len(data.results))
	var keys []string
	for k, r := range data.results {
		out.Runs = append(out.Runs, line(r.run.Manifest.ID, 80))
		byRun[k] = ingredients(r.run.Manifest)
		for _, key := range sortedKeys(byRun[k]) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys {
		l := settingsLine{Key: shown(key)}
		same := true
		for k := range byRun {
			value := byRun[k][key]
			same = same && value == byRun[0][key]
			if value == "" {
				value = "–"
			}
			l.Values = append(l.Values, shown(clip(value, 300)))
		}
		if !same {
			out.Lines = append(out.Lines, l)
		}
	}
	return out
}

// ingredients are what a run was made of, by name; secrets are left out.
func ingredients(m *runs.Manifest) map[string]string {
	all := make(map[string]string)
	for _, s := range m.Settings {
		if !isSecret(s.Key) {
			all[s.Key] = redact(s.Value)
		}
	}
	for name, version := range m.Versions {
		all["version of "+name] = version
	}
	sums := make(map[string][]string)
	for _, in := range m.Inputs {
		sums[in.Kind] = append(sums[in.Kind], cmp.Or(in.SHA256, in.Version))
	}
	for kind, list := range sums {
		all["content of "+kind+" (SHA-256)"] = strings.Join(list, ", ")
	}
	return all
}
