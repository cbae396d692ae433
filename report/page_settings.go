package report

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// A SettingsDifference is what runs differ in: one line for each, one value for
// each run.
type SettingsDifference struct {
	Runs  []string
	Lines []SettingsLine
}

// A SettingsLine is something in which runs differ.
type SettingsLine struct {
	Key    string
	Values []string
}

// settingsDifference lists what several runs differ in; nil if it is one run.
func (b *pageBuilder) settingsDifference() *SettingsDifference {
	if len(b.results) < 2 {
		return nil
	}
	out := &SettingsDifference{}
	byRun := make([]map[string]string, len(b.results))
	var keys []string
	for k, r := range b.results {
		out.Runs = append(out.Runs, line(r.run.Manifest.ID, 80))
		byRun[k] = ingredients(r.run.Manifest)
		for _, key := range sortedKeys(byRun[k]) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys {
		l := SettingsLine{Key: shown(key)}
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
		sums[in.Kind] = append(sums[in.Kind], in.SHA256)
	}
	for kind, list := range sums {
		all["content of "+kind+" (SHA-256)"] = strings.Join(list, ", ")
	}
	return all
}
