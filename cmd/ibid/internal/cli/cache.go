package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/judge/cache"
	"ibid/report"
)

const ageHint = "write an age such as 90d, 36h or 2d12h"

func (a *app) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache stat|prune|clear",
		Short: "the store of answers that a judge was paid for",
		Long: `cache looks after the file that keeps what models answered: the same question to the
same model is asked and paid for once. Answers never expire by themselves. Beside them,
the file has every call that was made, failed ones too, with its cost.

The file is --cache, else IBID_JUDGE__CACHE, else ibid/judge.sqlite in the user's cache
directory; a run file can name another as judge.cache.`,
		Example: `  ibid cache stat
  ibid cache prune --older-than 90d --dry-run`,
		Args: onlySubcommands("cache command"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := &cacheFlags{app: a}
	cmd.PersistentFlags().StringVar(&c.file, "cache", "", "file of the cache (default: in the user's cache directory)")
	cmd.AddCommand(c.statCommand(), c.pruneCommand(), c.clearCommand())
	return cmd
}

// cacheFlags are what the commands of ibid cache share.
type cacheFlags struct {
	app  *app
	file string
}

// path is the file of the cache, and whether the user named it.
func (c *cacheFlags) path() (path string, named bool, err error) {
	if c.file != "" {
		return c.file, true, nil
	}
	if path := c.app.Getenv("IBID_JUDGE__CACHE"); path != "" {
		return path, true, nil
	}
	path, err = cache.DefaultPath()
	return path, false, err
}

// with opens the cache, calls do and closes the cache. It never creates one: if
// the file does not exist, do gets nil for the default file, and a file that the
// user named is an error.
func (c *cacheFlags) with(do func(path string, store *cache.SQLite) error) error {
	path, named, err := c.path()
	if err != nil {
		return err
	}
	if wrong := configs.AnswerFile(path); wrong != "" {
		return ibid.Usagef("judge.cache: %s", wrong)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if named {
			return ibid.Usagef("%s: there is no judge cache", path).With("ibid cache stat without --cache looks at the default one")
		}
		return do(path, nil)
	}
	store, err := cache.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(do(path, store), store.Close())
}

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
						return report.WriteJSON(w, newCacheStat(path, stats))
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

func (c *cacheFlags) pruneCommand() *cobra.Command {
	var olderThan string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "remove old answers and calls, and give their room on disk back",
		Long: `prune removes the answers that came, and the calls that were made, longer ago than
--older-than. A run that needs one of them asks and pays again.`,
		Example: `  ibid cache prune --older-than 90d --dry-run
  ibid cache prune --older-than 90d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.app.formats("text", "json"); err != nil {
				return err
			}
			age, err := configs.ParseAge(olderThan)
			if err == nil && age == 0 {
				err = fmt.Errorf("%q is not an age above 0", olderThan)
			}
			if err != nil {
				return ibid.Usagef("--older-than: %w", err).With(ageHint)
			}
			before := time.Now().Add(-age)
			return c.with(func(path string, store *cache.SQLite) error {
				return c.removed(path, store, before, dryRun, func() (cache.Removed, error) {
					if dryRun {
						return store.Removable(cmd.Context(), before)
					}
					return store.Prune(cmd.Context(), before)
				})
			})
		},
	}
	cmd.Flags().StringVar(&olderThan, "older-than", "", "age from which on answers are removed, such as 90d")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	return cmd
}

func (c *cacheFlags) clearCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "clear --yes",
		Short: "remove all answers and calls",
		Long: `clear removes every answer and every call on record. All of it would have to be asked
and paid for again, so it wants --yes; without it, it says what is at stake.`,
		Example: `  ibid cache clear --yes`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.app.formats("text", "json"); err != nil {
				return err
			}
			return c.with(func(path string, store *cache.SQLite) error {
				if !yes {
					return c.refuseClear(cmd, path, store)
				}
				return c.removed(path, store, time.Time{}, false, func() (cache.Removed, error) { return store.Clear(cmd.Context()) })
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, remove everything")
	return cmd
}

// refuseClear is the error of clear without --yes. It lists what would be removed.
func (c *cacheFlags) refuseClear(cmd *cobra.Command, path string, store *cache.SQLite) error {
	stats := new(cache.Stats)
	if store != nil {
		var err error
		if stats, err = store.Stats(cmd.Context()); err != nil {
			return err
		}
	}
	return ibid.Usagef("%s has %s answers that cost %s; clear removes them only with --yes", path, report.Thousands(stats.Entries), dollars(stats.EntryCostNanoUSD)).With("ibid cache prune --older-than AGE removes old ones only")
}

// cacheRemoved is the JSON form of what was removed.
type cacheRemoved struct {
	Schema   string     `json:"schema"`
	Path     string     `json:"path"`
	DryRun   bool       `json:"dry_run"`
	Before   *time.Time `json:"before"` // null if all is removed
	Entries  int64      `json:"entries"`
	Attempts int64      `json:"attempts"`
	Bytes    int64      `json:"bytes"` // of the file afterwards
}

// removed runs remove and prints what is gone, also if an error came in between.
func (c *cacheFlags) removed(path string, store *cache.SQLite, before time.Time, dryRun bool, remove func() (cache.Removed, error)) error {
	out := cacheRemoved{Schema: "ibid.cache.removed/v1", Path: path, DryRun: dryRun}
	if !before.IsZero() {
		moment := before.UTC().Truncate(time.Millisecond)
		out.Before = &moment
	}
	var failed error
	if store != nil {
		var r cache.Removed
		r, failed = remove()
		out.Entries, out.Attempts = r.Entries, r.Attempts
		failed = errors.Join(failed, store.Close()) // so that the size is final
	}
	size, err := cache.Size(path)
	if err != nil {
		return errors.Join(failed, err)
	}
	out.Bytes = size
	return errors.Join(failed, c.app.write(func(w io.Writer) error {
		if c.app.format == "json" {
			return report.WriteJSON(w, out)
		}
		verb := "removed"
		if dryRun {
			verb = "would remove"
		}
		_, err := fmt.Fprintf(w, "%s %s answers and %s calls; %s takes %s\n",
			verb, report.Thousands(out.Entries), report.Thousands(out.Attempts), report.CleanLine(path), storage(out.Bytes))
		return err
	}))
}
