package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ibid/judge/cache"
)

func (a *app) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache stat|prune|clear|export",
		Short: "the store of answers that a judge was paid for",
		Long: `cache looks after the file that keeps what models answered: the same question to the
same model is asked and paid for once. Answers never expire by themselves. Beside them,
the file has every call that was made, failed ones too, with its cost.

The file is --cache, else IBID_JUDGE__CACHE, else ibid/judge.sqlite in the user's cache
directory; a run file can name another as judge.cache.`,
		Example: `  ibid cache stat
  ibid cache prune --older-than 90d --dry-run
  ibid cache export -o answers.parquet`,
		Args: onlySubcommands("cache command"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c := &cacheFlags{app: a}
	cmd.PersistentFlags().StringVar(&c.file, "cache", "", "file of the cache (default: in the user's cache directory)")
	cmd.AddCommand(c.statCommand(), c.pruneCommand(), c.clearCommand(), c.exportCommand())
	return cmd
}

// cacheFlags are what the commands of ibid cache share.
type cacheFlags struct {
	app  *app
	file string
}

// path is where the cache is, and whether the user said so.
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

// with opens the cache for do and closes it. A cache that is not there is not
// made: nil stands for it where nobody named it, else it is an error.
func (c *cacheFlags) with(do func(path string, store *cache.SQLite) error) error {
	path, named, err := c.path()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if named {
			return &usageError{err: fmt.Errorf("%s: there is no judge cache", path), hint: "ibid cache stat without --cache looks at the default one"}
		}
		return do(path, nil)
	}
	store, err := cache.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(do(path, store), store.Close())
}
