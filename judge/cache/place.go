package cache

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultPath is where the command keeps its store: ibid/judge.sqlite in the
// user's cache directory.
func DefaultPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the judge cache: %w", err)
	}
	return filepath.Join(dir, "ibid", "judge.sqlite"), nil
}
