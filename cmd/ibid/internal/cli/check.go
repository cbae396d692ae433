package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ibid/cmd/ibid/internal/term"
	"ibid/configs"
	"ibid/harness"
	"ibid/report"
)

func (a *app) checkCommand() *cobra.Command {
	var settings settingFlags
	var printAll bool
	cmd := &cobra.Command{
		Use:   "check RUN.yaml|DATASET",
		Short: "schema, keys, spans, quotes and settings; no network, no writes",
		Long: `check reads everything a run would read and says what is wrong with it: settings,
schema, keys, rows that cannot be scored, and the status of every citation.
It writes nothing. What is not Parquet is imported for the time of the check.`,
		Example: `  ibid check ibid.yaml
  ibid check answers.parquet --documents docs.parquet --judge none
  ibid check ibid.yaml --print`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.formats("text", "json"); err != nil {
				return err
			}
			config, err := settings.load(a, cmd, args[0])
			if err != nil {
				return err
			}
			if printAll {
				return a.write(func(w io.Writer) error { return a.printSettings(w, config) })
			}
			return a.check(cmd, config, args[0])
		},
	}
	settings.register(cmd)
	settings.add(cmd, "documents", "documents", documentsUsage)
	settings.addGold(cmd)
	settings.add(cmd, "judge", "judge.kind", judgeUsage)
	cmd.Flags().BoolVar(&printAll, "print", false, "print each effective setting and where it came from")
	return cmd
}

// printSettings lists every setting as YAML would have it.
func (a *app) printSettings(w io.Writer, c *configs.Config) error {
	values := c.Effective()
	if a.format == "json" {
		type setting struct {
			Key    string `json:"key"`
			Value  string `json:"value"`
			Source string `json:"source"`
		}
		out := struct {
			Schema   string    `json:"schema"`
			Settings []setting `json:"settings"`
		}{Schema: "ibid.settings/v1"}
		for _, v := range values {
			out.Settings = append(out.Settings, setting(v))
		}
		return report.WriteJSON(w, out)
	}
	width := 0
	for _, v := range values {
		width = max(width, utf8.RuneCountInString(v.Key+": "+v.Value))
	}
	width = min(width, term.DefaultWidth)
	style := a.style()
	for _, v := range values {
		text := v.Key + ": " + v.Value
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
		source := style.Dim("# " + v.Source)
		if v.Source != "default" {
			source = style.Bold("# " + v.Source)
		}
		if _, err := fmt.Fprintf(w, "%s%s  %s\n", text, pad, source); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) check(cmd *cobra.Command, config *configs.Config, argument string) error {
	plan, progress, err := a.plan(cmd, &harness.Job{Config: config, Source: argument, Version: a.Version, Import: harness.ImportForNow})
	if err != nil {
		return err
	}
	defer progress.Close()
	defer plan.Close()
	found, err := plan.Check(cmd.Context())
	progress.Close()
	if err != nil {
		return err
	}
	for _, text := range found.Warnings {
		a.warn("%s", text)
	}
	err = a.write(func(w io.Writer) error { return a.printCheck(w, found) })
	if err == nil && found.Coverage() < config.MinCoverage {
		a.say("%d of %d rows are error rows: coverage %.3f is below min_coverage %v",
			found.Errors, found.Rows, found.Coverage(), config.MinCoverage)
		return exitError{ExitNoVerdict}
	}
	return err
}

// checkJSON is the JSON form of what check found.
type checkJSON struct {
	Schema    string            `json:"schema"`
	Rows      int64             `json:"rows"`
	Errors    int64             `json:"error_rows"`
	Statuses  map[string]int64  `json:"citation_statuses"`
	Truth     map[string]int64  `json:"truth_statuses"`
	Problems  []harness.Problem `json:"problems"`
	Ignored   []string          `json:"ignored_columns"`
	Unchecked int64             `json:"unchecked_bytes"`
	Warnings  []string          `json:"warnings"`
}

func (a *app) printCheck(w io.Writer, c *harness.Checked) error {
	if a.format == "json" {
		return report.WriteJSON(w, checkJSON{"ibid.check/v1", c.Rows, c.Errors, c.Citations, c.Truth, append([]harness.Problem{}, c.Problems...), append([]string{}, c.Ignored...), c.Unchecked, append([]string{}, c.Warnings...)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rows: %s, of them error rows: %s\n", report.Thousands(c.Rows), report.Thousands(c.Errors))
	writeStatuses(&b, "citations", c.Citations)
	writeStatuses(&b, "truth spans", c.Truth)
	if len(c.Ignored) > 0 {
		fmt.Fprintf(&b, "columns that are ignored: %s\n", report.Clean(strings.Join(c.Ignored, ", ")))
	}
	if c.Unchecked > 0 {
		fmt.Fprintf(&b, "pages without checksums: %s bytes; damage there may read as other values\n", report.Thousands(c.Unchecked))
	}
	for _, p := range c.Problems {
		fmt.Fprintf(&b, "%s\n", report.CleanLine(p.String()))
	}
	if more := c.Found - int64(len(c.Problems)); more > 0 {
		fmt.Fprintf(&b, "and %s more\n", report.Thousands(more))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeStatuses(b *strings.Builder, what string, counts map[string]int64) {
	total := int64(0)
	var parts []string
	for _, status := range sortedKeys(counts) {
		total += counts[status]
		parts = append(parts, status+" "+report.Thousands(counts[status]))
	}
	fmt.Fprintf(b, "%s: %s", what, report.Thousands(total))
	if len(parts) > 0 {
		fmt.Fprintf(b, " (%s)", strings.Join(parts, ", "))
	}
	b.WriteString("\n")
}
