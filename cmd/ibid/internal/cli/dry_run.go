package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ibid/cmd/ibid/internal/term"
	"ibid/configs"
	"ibid/harness"
	"ibid/report"
)

// dryRun prints what a run would find in its inputs, what it would ask, what that costs
// and which settings it would have. It asks no model and leaves nothing behind.
func (a *app) dryRun(cmd *cobra.Command, job *harness.Job) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	job.Import = harness.ImportForNow
	plan, progress, err := a.plan(cmd, job)
	if err != nil {
		return err
	}
	defer progress.Close()
	defer plan.Close()
	found, err := plan.Check(cmd.Context())
	if err != nil {
		return err
	}
	forecast, err := plan.Forecast(cmd.Context())
	progress.Close()
	if err != nil {
		return err
	}
	warnings := append(append([]string{}, found.Warnings...), forecast.Warnings...)
	for _, text := range warnings {
		a.warn("%s", text)
	}
	err = a.write(func(w io.Writer) error {
		if a.format == "json" {
			return report.WriteJSON(w, dryRunJSON{
				"ibid.dryrun/v1", found.Rows, found.Errors, found.Citations, found.Truth, append([]harness.Problem{}, found.Problems...), append([]string{}, found.Ignored...), found.Unchecked,
				newForecastJSON(job.Config.Judge.Kind, forecast), settingsJSON(job.Config), warnings,
			})
		}
		return errors.Join(writeForecast(w, job.Config.Judge.Kind, found, forecast), writeProblems(w, found), a.writeSettings(w, job.Config))
	})
	if err == nil && found.Coverage() < job.Config.MinCoverage {
		a.say("%d of %d rows are error rows: coverage %.3f is below min_coverage %v",
			found.Errors, found.Rows, found.Coverage(), job.Config.MinCoverage)
		return exitError{ExitNoVerdict}
	}
	return err
}

type dryRunJSON struct {
	Schema    string            `json:"schema"`
	Rows      int64             `json:"rows"`
	Errors    int64             `json:"error_rows"`
	Statuses  map[string]int64  `json:"citation_statuses"`
	Truth     map[string]int64  `json:"truth_statuses"`
	Problems  []harness.Problem `json:"problems"`
	Ignored   []string          `json:"ignored_columns"`
	Unchecked int64             `json:"unchecked_bytes"`
	Forecast  *forecastJSON     `json:"forecast"`
	Settings  []settingJSON     `json:"settings"`
	Warnings  []string          `json:"warnings"`
}

type settingJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// settingsJSON lists every setting.
func settingsJSON(c *configs.Config) []settingJSON {
	var all []settingJSON
	for _, v := range c.Effective() {
		all = append(all, settingJSON(v))
	}
	return all
}

type forecastJSON struct {
	Judge       string   `json:"judge"`
	Models      []string `json:"models"`
	Rows        int64    `json:"rows"`
	RowsAsked   int64    `json:"rows_with_claims"`
	RowsSettled int64    `json:"rows_settled"` // that no model needs to see
	Cache       string   `json:"cache"`        // "" without one
	Cached      int64    `json:"cached"`
	Repeated    int64    `json:"repeated"` // same as an earlier call of the run
	Calls       int64    `json:"calls"`
	Batches     int64    `json:"batches"` // that they go out in; 0 without judge.batch

	PromptTokens         int64 `json:"prompt_tokens"`
	CompletionTokens     int64 `json:"completion_tokens"`
	MostCompletionTokens int64 `json:"most_completion_tokens"`

	CostUSD     *float64 `json:"cost_usd"` // null if a price is not known
	MostCostUSD *float64 `json:"most_cost_usd"`
	MaxCostUSD  *float64 `json:"max_cost_usd"` // null without a limit

	Seconds        float64 `json:"seconds"`
	Concurrency    int64   `json:"concurrency"`
	RPM            *int64  `json:"rpm"` // null without a limit
	LatencySeconds float64 `json:"latency_seconds"`
	LatencyAssumed bool    `json:"latency_assumed"`
}

func newForecastJSON(kind string, f *harness.Forecast) *forecastJSON {
	out := &forecastJSON{
		Judge: kind, Models: append([]string{}, f.Models...), Rows: f.InputRows, RowsAsked: f.Rows,
		RowsSettled: f.Settled, Cache: f.Cache, Cached: f.Cached, Repeated: f.Repeated, Calls: f.Calls, Batches: f.Batches,
		PromptTokens: f.PromptTokens, CompletionTokens: f.CompletionTokens, MostCompletionTokens: f.MostCompletionTokens,
		Seconds: f.Time.Seconds(), Concurrency: f.Concurrency, LatencySeconds: f.Latency.Seconds(), LatencyAssumed: f.LatencyAssumed,
	}
	if f.Unpriced == 0 {
		out.CostUSD, out.MostCostUSD = new(usd(f.NanoUSD)), new(usd(f.MostNanoUSD))
	}
	if f.MaxCostUSD > 0 {
		out.MaxCostUSD = &f.MaxCostUSD
	}
	if f.RPM > 0 {
		out.RPM = &f.RPM
	}
	return out
}

func writeForecast(w io.Writer, kind string, c *harness.Checked, f *harness.Forecast) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, report.CleanLine(fmt.Sprintf(format, args...)))
	}
	rows := report.Thousands(f.InputRows)
	if len(f.Models) > 0 {
		rows += fmt.Sprintf("; %s have claims, %s of them need no model", report.Thousands(f.Rows), report.Thousands(f.Settled))
	}
	line("rows", "%s", rows)
	line("error rows", "%s", report.Thousands(c.Errors))
	line("citations", "%s", statuses(c.Citations))
	line("truth", "%s", statuses(c.Truth))
	if len(c.Ignored) > 0 {
		line("ignored", "columns %s", strings.Join(c.Ignored, ", "))
	}
	if c.Unchecked > 0 {
		line("unchecked", "%s bytes of pages without checksums; damage there may read as other values", report.Thousands(c.Unchecked))
	}
	if len(f.Models) == 0 {
		line("calls", "0: judge %s asks no model", kind)
		return t.Flush()
	}
	if f.Cache != "" {
		line("kept", "%s answers in %s", report.Thousands(f.Cached), f.Cache)
	} else {
		line("kept", "no answers yet")
	}
	if f.Repeated > 0 {
		line("repeated", "%s questions that another row asks, too", report.Thousands(f.Repeated))
	}
	line("calls", "%s to %s", report.Thousands(f.Calls), strings.Join(f.Models, ", "))
	if f.Calls == 0 {
		line("cost", "$0")
		return t.Flush()
	}
	line("tokens", "about %s of prompts and %s of replies, at most %s of replies",
		report.Thousands(f.PromptTokens), report.Thousands(f.CompletionTokens), report.Thousands(f.MostCompletionTokens))
	inBatches := ""
	if f.Batches > 0 {
		inBatches = ", at the price of batches"
	}
	if f.Unpriced > 0 {
		line("cost", "not known: no price for %s calls", report.Thousands(f.Unpriced))
	} else {
		line("cost", "about %s, at most %s if every first reply is good%s", dollars(usd(f.NanoUSD)), dollars(usd(f.MostNanoUSD)), inBatches)
	}
	if f.Batches > 0 {
		line("time", "a day at most for each round: %s go out in batches (%s), the first question alone", report.Thousands(f.Calls), report.Thousands(f.Batches))
		return t.Flush()
	}
	from := "as long as those in the cache"
	if f.LatencyAssumed {
		from = "assumed"
	}
	limits := fmt.Sprintf("%s calls at once of %s (%s)", report.Thousands(f.Concurrency), f.Latency.Round(time.Millisecond), from)
	if f.RPM > 0 {
		limits += fmt.Sprintf(", %s a minute", report.Thousands(f.RPM))
	}
	line("time", "about %s: %s", max(f.Time.Round(time.Second), time.Second), limits)
	return t.Flush()
}

// statuses counts places by their status.
func statuses(counts map[string]int64) string {
	total := int64(0)
	var parts []string
	for _, status := range sortedKeys(counts) {
		total += counts[status]
		parts = append(parts, status+" "+report.Thousands(counts[status]))
	}
	if len(parts) == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s)", report.Thousands(total), strings.Join(parts, ", "))
}

// writeProblems lists what is wrong with rows and their places.
func writeProblems(w io.Writer, c *harness.Checked) error {
	if c.Found == 0 {
		return nil
	}
	b := new(strings.Builder)
	b.WriteString("\nproblems\n")
	for _, p := range c.Problems {
		fmt.Fprintf(b, "%s\n", report.CleanLine(p.String()))
	}
	if more := c.Found - int64(len(c.Problems)); more > 0 {
		fmt.Fprintf(b, "and %s more\n", report.Thousands(more))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSettings lists the settings that are not defaults, with -v all of them, as YAML
// would have them, each with its source.
func (a *app) writeSettings(w io.Writer, c *configs.Config) error {
	values := c.Effective()
	if !a.detail {
		values = slices.DeleteFunc(values, func(v configs.Value) bool { return v.Source == "default" })
	}
	if len(values) == 0 {
		return nil
	}
	width := 0
	for _, v := range values {
		width = max(width, utf8.RuneCountInString(v.Key+": "+v.Value))
	}
	width = min(width, term.DefaultWidth)
	style := a.style()
	b := new(strings.Builder)
	b.WriteString("\nsettings\n")
	for _, v := range values {
		text := v.Key + ": " + v.Value
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
		source := style.Dim("# " + v.Source)
		if v.Source != "default" {
			source = style.Bold("# " + v.Source)
		}
		fmt.Fprintf(b, "%s%s  %s\n", text, pad, source)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
