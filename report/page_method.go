package report

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A Method says what the numbers of a page mean.
type Method struct {
	Definitions []DefinitionText
	Intervals   []IntervalText
	Notes       []string
}

// A DefinitionText is a metric's definition in words.
type DefinitionText struct {
	Name, Aliases, Summary, Formula, Better, Bounds, Undefined, Source, Kind string
	Judged                                                                   bool
}

// An IntervalText says how an interval was made.
type IntervalText struct{ Name, Text string }

var intervalWords = map[string]string{
	string(stats.CR1T):                 "mean ± t quantile (clusters − 1 degrees of freedom) × CR1 standard error over clusters",
	string(stats.CR1Effective):         "the same with the degrees of freedom that clusters of unequal size leave",
	string(stats.DeltaT):               "ratio ± t quantile × linearised standard error over clusters",
	string(stats.DeltaZ):               "ratio ± normal quantile × linearised standard error over clusters",
	string(stats.LogitT):               "the linearised interval on the logit scale, carried back to (0, 1)",
	string(stats.WilsonScore):          "Wilson's score interval of a proportion",
	string(stats.WilsonCluster):        "Wilson's score interval at the effective sample size that clusters leave",
	string(stats.WilsonClusterT):       "Wilson's score interval at the effective sample size that clusters leave, adjusted for their number",
	string(stats.BCaBootstrap):         "bias-corrected and accelerated interval of a bootstrap of clusters",
	string(stats.PercentileBootstrap):  "percentile interval of a bootstrap of clusters",
	string(stats.ClopperPearsonExact):  "exact binomial interval of Clopper and Pearson",
	string(stats.AgrestiCoullAdjusted): "Agresti and Coull's adjusted interval",
}

// method collects the definitions of all metrics on the page.
func (b *pageBuilder) method() {
	m := &b.page.Method
	for _, d := range b.definitions() {
		m.Definitions = append(m.Definitions, DefinitionText{
			Name: d.Name, Aliases: strings.Join(d.Aliases, ", "), Summary: d.Summary, Formula: d.Formula,
			Better: betterWords[d.Direction], Bounds: boundsText(d.Min, d.Max), Undefined: d.UndefinedWhen, Source: d.Source,
			Kind: d.Kind.String(), Judged: d.Judged,
		})
	}
	used := make(map[string]bool)
	levels := make(map[string]bool)
	for _, s := range b.summary.rows {
		if s.Method != "" {
			used[s.Method] = true
			levels[levelText(s.Level)] = true
		}
	}
	for _, name := range sortedKeys(used) {
		text := intervalWords[name]
		if text == "" {
			text = "see the documentation of this method"
		}
		m.Intervals = append(m.Intervals, IntervalText{name, text})
	}
	if len(levels) > 0 {
		m.Notes = append(m.Notes, "Intervals are two-sided at level "+list(sortedKeys(levels))+
			". Rows of one cluster are not independent of each other, so standard errors are over clusters.")
	}
	m.Notes = append(m.Notes,
		"Macro is the mean of the rows' values; micro is the quotient of sums over rows.",
		"A metric without meaning for a row is undefined, with a reason. Such rows are left out of means and counted beside them.",
		b.whatFails())
}

// whatFails says which rows fail.
func (b *pageBuilder) whatFails() string {
	text := "A row fails if its worst problem is a warning or worse"
	if b.leadJudges {
		text += fmt.Sprintf(", or if its %s is below %v", b.lead[0], failingBelow)
	}
	return text + "."
}

func boundsText(lo, hi float64) string {
	end := func(v float64) string {
		if math.IsInf(v, 0) {
			return "no limit"
		}
		return number(v)
	}
	return end(lo) + " to " + end(hi)
}

// Provenance says what a run was made of.
type Provenance struct {
	ID       string
	Facts    [][2]string
	Inputs   []InputText
	Settings []SettingText // those that are not default
	Defaults int           // how many are
	Warnings []string
}

// An InputText is one file that was read.
type InputText struct{ Kind, Path, Rows, Bytes, SHA256 string }

// A SettingText is one setting; secrets in it are blacked out.
type SettingText struct{ Key, Value, Source string }

func provenance(run *RunData) Provenance {
	m := run.Manifest
	p := Provenance{ID: line(m.ID, 120)}
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
		fact("resumed", plural(int64(m.Timings.Resumed), "time", "times"))
	}
	for _, in := range m.Inputs {
		p.Inputs = append(p.Inputs, InputText{in.Kind, shown(redact(in.Path)), Thousands(in.Rows), Thousands(in.Bytes), in.SHA256})
	}
	p.settings(m)
	for _, w := range m.Warnings {
		p.Warnings = append(p.Warnings, shown(w))
	}
	return p
}

func (p *Provenance) settings(m *runs.Manifest) {
	for _, s := range m.Settings {
		if s.Source == "default" {
			p.Defaults++
			continue
		}
		value := redact(s.Value)
		if isSecret(s.Key) {
			value = "(not shown)"
		}
		p.Settings = append(p.Settings, SettingText{shown(s.Key), shown(clip(value, longText)), shown(redact(s.Source))})
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
