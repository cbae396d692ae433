package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// provenanceSection says what the runs were made of, folded run by run.
func provenanceSection(data *pageData) *doc.Section {
	var out []doc.Block
	for _, r := range data.results {
		out = append(out, provenance(r.run.Manifest))
	}
	return docSection("provenance", "Provenance", out)
}

// provenance is what a run was made of.
func provenance(m *runs.Manifest) doc.Details {
	var facts doc.Facts
	facts.Add("fingerprint", m.Fingerprint)
	facts.Add("source", redact(m.Source))
	facts.Add("status", m.Status)
	for _, name := range sortedKeys(m.Versions) {
		facts.Add("version of "+name, m.Versions[name])
	}
	facts.Add("parts of the overall score", strings.Join(m.Components, ", "))
	if m.Coverage != nil {
		facts.Add("coverage of rows", number(*m.Coverage))
	}
	facts.Add("started", m.Timings.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	out := doc.Details{Summary: "What " + m.ID + " was made of", Blocks: []doc.Block{facts}}
	out.Blocks = append(out.Blocks, paras(doc.Note, m.Warnings)...)
	inputs := doc.Table{Caption: "Inputs of " + m.ID, Columns: []doc.Column{
		{Name: "kind"}, {Name: "file"}, {Name: "rows", Number: true}, {Name: "bytes", Number: true}, {Name: "read without checksums", Number: true, Keep: 1}, {Name: "SHA-256", Keep: 1},
	}}
	for _, in := range m.Inputs {
		unchecked := Thousands(in.Unchecked)
		if in.Version != "" {
			unchecked = "not counted"
		}
		inputs.Rows = append(inputs.Rows, []doc.Cell{
			doc.C(in.Kind), doc.C(redact(in.Path)), doc.C(Thousands(in.Rows)), doc.C(Thousands(in.Bytes)), doc.C(unchecked), doc.C(cmp.Or(in.SHA256, in.Version)),
		})
	}
	defaults := 0
	settings := doc.Table{Columns: []doc.Column{{Name: "setting"}, {Name: "value"}, {Name: "from"}}}
	for _, s := range m.Settings {
		if s.Source == "default" {
			defaults++
			continue
		}
		value := redact(s.Value)
		if isSecret(s.Key) {
			value = "(not shown)"
		}
		settings.Rows = append(settings.Rows, []doc.Cell{doc.C(s.Key), doc.C(clip(value, longText)), doc.C(redact(s.Source))})
	}
	settings.Caption = fmt.Sprintf("Settings of %s that are not default (%d others are)", m.ID, defaults)
	out.Blocks = append(out.Blocks, inputs, settings)
	return out
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

// methodSection says how the metrics of the page are defined.
func methodSection(data *pageData) *doc.Section {
	levels := make(map[string]bool)
	for _, r := range data.results {
		for i := range r.run.Summary {
			if s := &r.run.Summary[i]; s.Method != "" {
				levels[levelText(s.Level)] = true
			}
		}
	}
	var out []doc.Block
	say := func(text string) { out = append(out, doc.Para{Text: doc.T(text)}) }
	if len(levels) > 0 {
		say("Intervals are two-sided at level " + list(sortedKeys(levels)) +
			". Rows that share a document are not independent of each other: the standard error is over documents, and degrees of freedom are fewer where few documents or rows carry it.")
	}
	say("Macro is the mean of the rows' values; micro is the quotient of sums over rows.")
	say("A metric without meaning for a row is undefined, with a reason. Such rows are left out of means and counted beside them.")
	say(fmt.Sprintf("A row fails if its worst problem is a warning or worse, or if its overall_citation_accuracy is below %v.", metrics.FailsBelow))
	var defined doc.Facts
	for _, d := range metrics.Definitions() {
		if !slices.ContainsFunc(data.results, func(r *results) bool { return r.summary.has(d.Name) }) {
			continue
		}
		defined = append(defined, doc.Fact{ID: "m-" + d.Name, Name: d.Name, Text: doc.T(definitionText(&d))})
	}
	return docSection("method", "Method", append(out, doc.Details{Summary: "Definitions of " + Plural(int64(len(defined)), "metric", "metrics"), Blocks: []doc.Block{defined}}))
}

// Definition is what a metric is, as names and what they say.
func Definition(d *metrics.Definition) [][2]string {
	all := [][2]string{
		{"formula", d.Formula},
		{"kind", fmt.Sprintf("%s, %s, in [%g, %g]", d.Kind, d.Direction, d.Min, d.Max)},
		{"undefined", d.UndefinedWhen},
		{"source", d.Source},
	}
	return slices.DeleteFunc(all, func(l [2]string) bool { return l[1] == "" })
}

// definitionText is the definition of a metric in words.
func definitionText(d *metrics.Definition) string {
	text := strings.TrimSuffix(d.Summary, ".")
	for _, l := range Definition(d) {
		text += "; " + l[0] + ": " + strings.TrimSuffix(l[1], ".")
	}
	if len(d.Aliases) > 0 {
		text += "; also called " + strings.Join(d.Aliases, ", ")
	}
	return text + "."
}
