package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ibid/judge/cache"
	"ibid/report"
)

func (c *cacheFlags) statCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stat",
		Short: "what is stored, from when, and what it cost",
		Example: `  ibid cache stat
  ibid cache stat --cache team.sqlite --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.app.formats("text", "json"); err != nil {
				return err
			}
			return c.with(func(path string, store *cache.SQLite) error {
				stats := new(cache.Stats)
				if store != nil {
					var err error
					if stats, err = store.Stats(cmd.Context()); err != nil {
						return err
					}
				}
				return c.app.write(func(w io.Writer) error {
					if c.app.format == "json" {
						return writeJSON(w, newCacheStat(path, stats))
					}
					return writeCacheStat(w, path, stats)
				})
			})
		},
	}
}

// cacheStat is the JSON form of what a cache holds.
type cacheStat struct {
	Schema         string       `json:"schema"`
	Path           string       `json:"path"`
	Bytes          int64        `json:"bytes"`
	Entries        int64        `json:"entries"`
	EntryCostUSD   float64      `json:"entry_cost_usd"`
	Attempts       int64        `json:"attempts"`
	AttemptCostUSD float64      `json:"attempt_cost_usd"`
	Oldest         *time.Time   `json:"oldest"` // null without entries
	Newest         *time.Time   `json:"newest"`
	Models         []cacheModel `json:"models"`
	Classes        []cacheClass `json:"classes"`
}

type cacheModel struct {
	Model            string  `json:"model"`
	Provider         string  `json:"provider"`
	Entries          int64   `json:"entries"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	CostUSD          float64 `json:"cost_usd"`
}

type cacheClass struct {
	Class    string  `json:"class"`
	Attempts int64   `json:"attempts"`
	CostUSD  float64 `json:"cost_usd"`
}

func newCacheStat(path string, s *cache.Stats) *cacheStat {
	out := &cacheStat{
		Schema: "ibid.cache/v1", Path: path, Bytes: s.Bytes, Entries: s.Entries, EntryCostUSD: usd(s.EntryCostNanoUSD),
		Attempts: s.Attempts, AttemptCostUSD: usd(s.AttemptCostNanoUSD), Models: []cacheModel{}, Classes: []cacheClass{},
	}
	if s.Entries > 0 {
		out.Oldest, out.Newest = &s.Oldest, &s.Newest
	}
	for _, m := range s.Models {
		out.Models = append(out.Models, cacheModel{m.Model, m.Provider, m.Entries, m.PromptTokens, m.CompletionTokens, usd(m.CostNanoUSD)})
	}
	for _, k := range s.Classes {
		out.Classes = append(out.Classes, cacheClass{k.Class, k.Attempts, usd(k.CostNanoUSD)})
	}
	return out
}

// usd is an amount in US dollars of one in billionths of them.
func usd(nano int64) float64 { return float64(nano) / 1e9 }

func dollars(nano int64) string { return fmt.Sprintf("$%.4f", usd(nano)) }

// storage prints bytes in the largest binary unit of which there is at least one.
func storage(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	value, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

func writeCacheStat(w io.Writer, path string, s *cache.Stats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "file\t%s\n", report.CleanLine(path))
	if s.Bytes == 0 {
		fmt.Fprintf(t, "answers\tnone yet\n")
		return t.Flush()
	}
	fmt.Fprintf(t, "size\t%s\n", storage(s.Bytes))
	answers := report.Thousands(s.Entries)
	if s.Entries > 0 {
		answers += fmt.Sprintf(", from %s to %s", s.Oldest.Format(time.DateOnly), s.Newest.Format(time.DateOnly))
	}
	fmt.Fprintf(t, "answers\t%s\n", answers)
	fmt.Fprintf(t, "they cost\t%s\n", dollars(s.EntryCostNanoUSD))
	var classes []string
	for _, k := range s.Classes {
		classes = append(classes, report.CleanLine(k.Class)+" "+report.Thousands(k.Attempts))
	}
	calls := report.Thousands(s.Attempts)
	if len(classes) > 0 {
		calls += " (" + strings.Join(classes, ", ") + ")"
	}
	fmt.Fprintf(t, "calls on record\t%s\n", calls)
	fmt.Fprintf(t, "they cost\t%s\n", dollars(s.AttemptCostNanoUSD))
	if err := t.Flush(); err != nil || len(s.Models) == 0 {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nmodel\tprovider\tanswers\tprompt tokens\tcompletion tokens\tcost\n")
	for _, m := range s.Models {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", report.CleanLine(m.Model), report.CleanLine(m.Provider), report.Thousands(m.Entries),
			report.Thousands(m.PromptTokens), report.Thousands(m.CompletionTokens), dollars(m.CostNanoUSD))
	}
	return t.Flush()
}
