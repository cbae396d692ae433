package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"ibid/cmd/ibid/internal/term"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// arrowTables are the results that --format arrow can write, by the names that
// --table has for them.
var arrowTables = map[string]string{
	"rows": runs.RowsFile, "citations": runs.CitationsFile, "claims": runs.ClaimsFile, "summary": runs.SummaryFile,
}

// showArrow writes a table of results as an Arrow IPC stream.
func (a *app) showArrow(dir, table string) error {
	if err := oneOf("--table", table, sortedKeys(arrowTables)...); err != nil {
		return err
	}
	if a.output == "-" && term.IsTerminal(a.Stdout) {
		return &usageError{err: errors.New("an Arrow stream is nothing for a terminal"), hint: "name a file: -o " + table + ".arrow"}
	}
	f, err := dataset.OpenResult(filepath.Join(dir, arrowTables[table]))
	if errors.Is(err, fs.ErrNotExist) {
		return &usageError{err: fmt.Errorf("%s has no %s", dir, table), hint: "only a run with a judge has claims"}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return a.write(func(w io.Writer) error { return dataset.WriteArrow(w, f) })
}
