package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

func (a *app) showCommand() *cobra.Command {
	var errorRows bool
	cmd := &cobra.Command{
		Use:   "show RUN [ID | ID/SYSTEM | #N]",
		Short: "the summary of a run, or one row with its spans marked in the text",
		Long: `show prints the summary of a finished run, or one of its rows: the answer, each
citation with its status, and the cited text with predicted and true spans marked.
#N is the row at position N of the input, from 0.`,
		Example: `  ibid show runs/sample
  ibid show runs/sample q-07/careful
  ibid show runs/sample '#12'
  ibid show runs/sample --errors
  ibid show runs/sample --format csv -o summary.csv`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := openRun(args[0])
			if err != nil {
				return err
			}
			switch {
			case errorRows && len(args) > 1:
				return &usageError{err: errors.New("--errors and a row do not go together")}
			case errorRows:
				return a.showErrors(args[0])
			case len(args) > 1:
				return a.showRow(cmd, args[0], m, args[1])
			}
			return a.showSummary(args[0], m)
		},
	}
	cmd.Flags().BoolVar(&errorRows, "errors", false, "list the rows that could not be scored, and why")
	return cmd
}

// openRun reads the manifest of a finished run.
func openRun(dir string) (*runs.Manifest, error) {
	m, err := runs.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &usageError{err: fmt.Errorf("%s is no run directory", dir), hint: nearestRun(dir)}
	}
	if err != nil {
		return nil, err
	}
	if !m.Complete() {
		return nil, &usageError{
			err:  fmt.Errorf("%s is unfinished", dir),
			hint: "go on with: " + commandOf(dir, m),
		}
	}
	return m, nil
}

// nearestRun suggests a run beside the one that is not there.
func nearestRun(dir string) string {
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", runs.ManifestFile))
	var names []string
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	if near := configs.Nearest(filepath.Base(dir), names); near != "" {
		return "did you mean " + filepath.Join(filepath.Dir(dir), near) + "?"
	}
	return "ibid run prints where it leaves its results"
}

func (a *app) showSummary(dir string, m *runs.Manifest) error {
	summary, err := runs.ReadSummary(dir)
	if err != nil {
		return err
	}
	view := report.NewSummary(m, summary, nil)
	return a.write(func(w io.Writer) error {
		return view.Write(w, a.format, report.TextOptions{All: a.detail, Style: a.style()})
	})
}

// errorRow is an error row in JSON.
type errorRow struct {
	Row    int64  `json:"row"`
	ID     string `json:"id"`
	System string `json:"system"`
	Error  string `json:"error"`
}

func (a *app) showErrors(dir string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	found, err := runs.FindRows(dir, func(k runs.RowKey) bool { return k.Error != "" })
	if err != nil {
		return err
	}
	rows := make([]errorRow, 0, len(found))
	for _, k := range found {
		rows = append(rows, errorRow{k.Row, k.ID, k.System, k.Error})
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return writeJSON(w, map[string]any{"schema": "ibid.errors/v1", "errors": rows})
		}
		for _, r := range rows {
			if _, err := fmt.Fprintf(w, "%s\n", report.CleanLine(fmt.Sprintf("#%d %s/%s: %s", r.Row, r.ID, r.System, r.Error))); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) showRow(cmd *cobra.Command, dir string, m *runs.Manifest, name string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	key, err := findRow(dir, name)
	if err != nil {
		return err
	}
	row, err := runs.ReadRow(dir, key.Index)
	if err != nil {
		return err
	}
	citations, err := runs.CitationsOf(dir, key.Row)
	if err != nil {
		return err
	}
	detail, err := harness.ReadDetail(cmd.Context(), m, key.Row)
	if err != nil {
		a.warn("only the results can be shown, not the texts: %v", err)
		detail = nil
	}
	view := rowView(key, row, citations, detail)
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return writeJSON(w, view)
		}
		return view.WriteText(w, a.style())
	})
}

// findRow finds the one row that is meant by ID, ID/SYSTEM or #N.
func findRow(dir, name string) (runs.RowKey, error) {
	match := func(k runs.RowKey) bool { return k.ID == name || k.ID+"/"+k.System == name }
	if number, ok := strings.CutPrefix(name, "#"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return runs.RowKey{}, &usageError{err: fmt.Errorf("%q is no row number", name), hint: "write #N, quoted for the shell: '#12'"}
		}
		match = func(k runs.RowKey) bool { return k.Row == n }
	}
	found, err := runs.FindRows(dir, match)
	switch {
	case err != nil:
		return runs.RowKey{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		hint, err := nearestRow(dir, name)
		return runs.RowKey{}, errors.Join(err, &usageError{err: fmt.Errorf("%s has no row %s", dir, name), hint: hint})
	}
	var names []string
	for _, k := range found {
		names = append(names, k.ID+"/"+k.System)
	}
	return runs.RowKey{}, &usageError{err: fmt.Errorf("%s is the id of %d rows", name, len(found)), hint: "choose one of " + strings.Join(names, ", ")}
}

// nearestRow suggests a row instead of one that is not there.
func nearestRow(dir, name string) (string, error) {
	bySystem := strings.Contains(name, "/")
	var names []string
	_, err := runs.FindRows(dir, func(k runs.RowKey) bool {
		if bySystem {
			names = append(names, k.ID+"/"+k.System)
		} else if len(names) == 0 || names[len(names)-1] != k.ID {
			names = append(names, k.ID)
		}
		return false
	})
	if near := configs.Nearest(name, names); near != "" {
		return "did you mean " + near + "?", err
	}
	return "ibid show " + dir + " prints what the run has", err
}

// rowView brings together what the results and the inputs know of a row.
func rowView(key runs.RowKey, row runs.Record, citations []runs.Record, d *harness.Detail) *report.RowView {
	v := report.NewRowView(key, row, citations)
	if d == nil {
		return v
	}
	v.Query, v.Answer = d.Row.Query, d.Row.Answer
	for i := range d.Row.Truth {
		if d.Row.Truth[i].DocNull {
			continue
		}
		v.Truth = append(v.Truth, report.TruthView{Annotator: d.Row.Truth[i].Annotator, Place: d.Places.Truth[i]})
	}
	for k, text := range d.Texts {
		v.AddText(k.Doc, k.Page, text, d.Places.Citations)
	}
	return v
}
