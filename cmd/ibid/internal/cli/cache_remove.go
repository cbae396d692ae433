package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid/judge/cache"
	"ibid/report"
)

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
			age, err := parseAge(olderThan)
			if err != nil {
				return &usageError{err: fmt.Errorf("--older-than: %w", err), hint: "write an age such as 90d, 36h or 2d12h"}
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

// refuseClear says what clear would remove.
func (c *cacheFlags) refuseClear(cmd *cobra.Command, path string, store *cache.SQLite) error {
	stats := new(cache.Stats)
	if store != nil {
		var err error
		if stats, err = store.Stats(cmd.Context()); err != nil {
			return err
		}
	}
	return &usageError{
		err: fmt.Errorf("%s has %s answers that cost %s; clear removes them only with --yes",
			path, report.Thousands(stats.Entries), dollars(stats.EntryCostNanoUSD)),
		hint: "ibid cache export -o FILE keeps a copy; ibid cache prune removes old ones only",
	}
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

// removed removes and says what. What was removed before an error is said, too.
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
			return writeJSON(w, out)
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

// parseAge reads a duration that may begin with days, such as 90d or 2d12h.
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, errors.New("an age is needed")
	}
	var age time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not an age", text)
		}
		age, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%q is not an age", text)
		}
		age += d
	}
	if age <= 0 {
		return 0, fmt.Errorf("%q is not an age above 0", text)
	}
	return age, nil
}
