package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ibid/harness"
	"ibid/report"
)

// forecast prints what a run would ask, what that costs and how long it takes, for
// --dry-run.
func (a *app) forecast(cmd *cobra.Command, job *harness.Job) error {
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
	found, err := plan.Forecast(cmd.Context())
	progress.Close()
	if err != nil {
		return err
	}
	for _, text := range found.Warnings {
		a.warn("%s", text)
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return report.WriteJSON(w, newForecastJSON(job.Config.Judge.Kind, found))
		}
		return writeForecast(w, job.Config.Judge.Kind, found)
	})
}

type forecastJSON struct {
	Schema      string   `json:"schema"`
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

	Seconds        float64  `json:"seconds"`
	Concurrency    int64    `json:"concurrency"`
	RPM            *int64   `json:"rpm"` // null without a limit
	LatencySeconds float64  `json:"latency_seconds"`
	LatencyAssumed bool     `json:"latency_assumed"`
	Warnings       []string `json:"warnings"`

	Anchors *forecastJSON `json:"anchors,omitempty"` // absent without anchors; their calls are not in the numbers above
}

func newForecastJSON(kind string, f *harness.Forecast) *forecastJSON {
	out := &forecastJSON{
		Schema: "ibid.forecast/v1", Judge: kind, Models: append([]string{}, f.Models...), Rows: f.InputRows, RowsAsked: f.Rows,
		RowsSettled: f.Settled, Cache: f.Cache, Cached: f.Cached, Repeated: f.Repeated, Calls: f.Calls, Batches: f.Batches,
		PromptTokens: f.PromptTokens, CompletionTokens: f.CompletionTokens, MostCompletionTokens: f.MostCompletionTokens,
		Seconds: f.Time.Seconds(), Concurrency: f.Concurrency, LatencySeconds: f.Latency.Seconds(), LatencyAssumed: f.LatencyAssumed,
		Warnings: append([]string{}, f.Warnings...),
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
	if f.Anchors != nil {
		out.Anchors = newForecastJSON(kind, f.Anchors)
	}
	return out
}

// anchorsForecast is what the anchors take, in one line.
func anchorsForecast(f *harness.Forecast) string {
	text := fmt.Sprintf("%s rows, asked anew by every run: %s calls", report.Thousands(f.InputRows), report.Thousands(f.Calls))
	if f.Calls > 0 && f.Unpriced == 0 {
		text += fmt.Sprintf(", about %s besides, at most %s, about %s", dollars(f.NanoUSD), dollars(f.MostNanoUSD), max(f.Time.Round(time.Second), time.Second))
	}
	return text
}

func writeForecast(w io.Writer, kind string, f *harness.Forecast) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, report.CleanLine(fmt.Sprintf(format, args...)))
	}
	if len(f.Models) == 0 {
		line("rows", "%s", report.Thousands(f.InputRows))
		line("calls", "0: judge %s asks no model", kind)
		return t.Flush()
	}
	if n := f.Anchors; n != nil {
		line("anchors", "%s", anchorsForecast(n))
	}
	line("rows", "%s; %s have claims, %s of them need no model", report.Thousands(f.InputRows), report.Thousands(f.Rows), report.Thousands(f.Settled))
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
		line("cost", "about %s, at most %s if every first reply is good%s", dollars(f.NanoUSD), dollars(f.MostNanoUSD), inBatches)
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
