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
	"ibid/report/doc"
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
	found, forecast, err := plan.DryRun(cmd.Context())
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
				forecastJSON(job.Config.Judge.Kind, found.Rows, forecast), job.Config.Effective(), warnings,
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
	Forecast  map[string]any    `json:"forecast"`
	Settings  []configs.Value   `json:"settings"`
	Warnings  []string          `json:"warnings"`
}

// forecastJSON returns a forecast as the members of its JSON. A cost is null if its price is
// not known. A limit is null if it is not set.
func forecastJSON(kind string, rows int64, f *harness.Forecast) map[string]any {
	out := map[string]any{
		"judge": kind, "models": append([]string{}, f.Models...), "rows": rows, "rows_with_claims": f.Rows, "rows_settled": f.Settled,
		"cache": f.Cache, "cached": f.Cached, "repeated": f.Repeated, "calls": f.Calls, "batches": f.Batches,
		"prompt_tokens": f.PromptTokens, "completion_tokens": f.CompletionTokens, "most_completion_tokens": f.MostCompletionTokens,
		"cost_usd": nil, "most_cost_usd": nil, "max_cost_usd": nil, "rpm": nil,
		"seconds": f.Time.Seconds(), "concurrency": f.Concurrency, "latency_seconds": f.Latency.Seconds(), "latency_assumed": f.LatencyAssumed,
	}
	if f.Unpriced == 0 {
		out["cost_usd"], out["most_cost_usd"] = usd(f.NanoUSD), usd(f.MostNanoUSD)
	}
	if f.MaxCostUSD > 0 {
		out["max_cost_usd"] = f.MaxCostUSD
	}
	if f.RPM > 0 {
		out["rpm"] = f.RPM
	}
	return out
}

func writeForecast(w io.Writer, kind string, c *harness.Checked, f *harness.Forecast) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, doc.Clean(fmt.Sprintf(format, args...)))
	}
	rows := report.Thousands(c.Rows)
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
		fmt.Fprintf(b, "%s\n", doc.Clean(p.String()))
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
		source := style.Dim("# " + v.Source)
		if v.Source != "default" {
			source = style.Bold("# " + v.Source)
		}
		fmt.Fprintf(b, "%-*s  %s\n", width, v.Key+": "+v.Value, source)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
