package cli

import (
	"context"
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
	"ibid/report/doc"
)

// age reads how old answers are: whole days, such as 90d, or a time above 0, such as 36h.
func age(text string) (time.Duration, error) {
	wrong := ibid.Usagef("--older-than: %q is not an age above 0", text).With("write an age such as 90d or 36h")
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n == 0 {
			return 0, wrong
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age <= 0 {
		return 0, wrong
	}
	return age, nil
}

func (a *app) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache stat|prune|clear",
		Short: "the store of answers that a judge was paid for",
		Args:  onlySubcommands("cache command"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
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
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(func(path string, store *cache.SQLite) error {
				stats, err := storeStats(cmd.Context(), store)
				if err != nil {
					return err
				}
				return c.app.write(func(w io.Writer) error {
					if c.app.format == "json" {
						return report.WriteJSON(w, struct {
							Schema string `json:"schema"`
							Path   string `json:"path"`
							*cache.Stats
						}{"ibid.cache/v1", path, stats})
					}
					return writeCacheStat(w, path, stats)
				})
			})
		},
	}
}

// storeStats counts what a store holds: nothing if store is nil, because its file does not exist.
func storeStats(ctx context.Context, store *cache.SQLite) (*cache.Stats, error) {
	if store == nil {
		return &cache.Stats{Models: []cache.ModelStats{}, Classes: []cache.ClassStats{}}, nil
	}
	return store.Stats(ctx)
}

// usd is an amount in US dollars of one in billionths of them.
func usd(nano int64) float64 { return float64(nano) / 1e9 }

func dollars(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

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
	fmt.Fprintf(t, "file\t%s\n", doc.Clean(path))
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
	fmt.Fprintf(t, "they cost\t%s\n", dollars(s.EntryCostUSD))
	var classes []string
	for _, k := range s.Classes {
		classes = append(classes, doc.Clean(k.Class)+" "+report.Thousands(k.Attempts))
	}
	calls := report.Thousands(s.Attempts)
	if len(classes) > 0 {
		calls += " (" + strings.Join(classes, ", ") + ")"
	}
	fmt.Fprintf(t, "calls on record\t%s\n", calls)
	fmt.Fprintf(t, "they cost\t%s\n", dollars(s.AttemptCostUSD))
	if err := t.Flush(); err != nil || len(s.Models) == 0 {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nmodel\tprovider\tanswers\tprompt tokens\tcompletion tokens\tcost\n")
	for _, m := range s.Models {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", doc.Clean(m.Model), doc.Clean(m.Provider), report.Thousands(m.Entries),
			report.Thousands(m.PromptTokens), report.Thousands(m.CompletionTokens), dollars(m.CostUSD))
	}
	return t.Flush()
}

func (c *cacheFlags) pruneCommand() *cobra.Command {
	var olderThan string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "remove old answers and calls, and give their room on disk back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := age(olderThan)
			if err != nil {
				return err
			}
			return c.prune(cmd.Context(), time.Now().Add(-age).UTC().Truncate(time.Millisecond), dryRun)
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
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes {
				return c.prune(cmd.Context(), cache.Always, false)
			}
			return c.with(func(path string, store *cache.SQLite) error {
				stats, err := storeStats(cmd.Context(), store)
				if err != nil {
					return err
				}
				return ibid.Usagef("%s has %s answers that cost %s; clear removes them only with --yes", path, report.Thousands(stats.Entries), dollars(stats.EntryCostUSD)).
					With("ibid cache prune --older-than AGE removes old ones only")
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, remove everything")
	return cmd
}

// cacheRemoved is the JSON form of what was removed.
type cacheRemoved struct {
	Schema string     `json:"schema"`
	Path   string     `json:"path"`
	DryRun bool       `json:"dry_run"`
	Before *time.Time `json:"before"` // null if all is removed
	cache.Removed
	Bytes int64 `json:"bytes"` // of the file afterwards
}

// prune removes what is from before a moment, or counts it, and prints what is gone, also if
// an error came in between.
func (c *cacheFlags) prune(ctx context.Context, before time.Time, dryRun bool) error {
	return c.with(func(path string, store *cache.SQLite) error {
		out := cacheRemoved{Schema: "ibid.cache.removed/v1", Path: path, DryRun: dryRun}
		if before != cache.Always {
			out.Before = &before
		}
		var failed error
		if store != nil {
			remove := store.Prune
			if dryRun {
				remove = store.Removable
			}
			out.Removed, failed = remove(ctx, before)
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
				verb, report.Thousands(out.Entries), report.Thousands(out.Attempts), doc.Clean(path), storage(out.Bytes))
			return err
		}))
	})
}
