package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge/openrouter"
	"ibid/report"
	"ibid/report/doc"
)

func (a *app) showRow(cmd *cobra.Command, dir string, m *runs.Manifest, name string, set []string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	row, err := findRow(dir, name)
	if err != nil {
		return err
	}
	config, err := shownAs(m, set)
	if err != nil {
		return err
	}
	source := &report.RowSource{Run: m, Row: row, Display: config.Report.CitationDisplay}
	if err := source.ReadTables(dir); err != nil {
		return err
	}
	shown, err := a.showTexts(cmd.Context(), dir, source)
	if shown {
		return err
	}
	a.warn("only the results can be shown, not the texts: %v", err)
	source.Answer, source.Text, source.Meant, source.Presence = nil, nil, nil, nil
	return a.show(report.NewRowView(source))
}

// showTexts shows a row with its texts, and those of the evidence that its claims do not cite.
// Not shown, the error says why its texts are not at hand.
func (a *app) showTexts(ctx context.Context, dir string, source *report.RowSource) (shown bool, err error) {
	texts, err := harness.OpenTexts(ctx, dir, source.Run)
	if err != nil {
		return false, err
	}
	var further []string
	for i := range source.Claims {
		if e := source.Claims[i].Elsewhere; e != nil && e.Doc != "" {
			further = append(further, e.Doc)
		}
	}
	err = texts.Each(ctx, further, []int64{source.Row.Row}, func(row *ibid.Answer, text func(string, int32) (string, bool)) (err error) {
		source.Answer, source.Text = row, text
		if source.Meant, err = texts.Meant(ctx, row); err != nil {
			return err
		}
		if source.Presence, err = texts.Presence(ctx, row); err != nil {
			return err
		}
		if texts.Kept != nil {
			a.warn("%v: the texts shown are those that the run kept", texts.Kept)
		}
		shown = true
		return a.show(report.NewRowView(source))
	})
	return shown, err
}

// findRow finds the one row that is meant by ID, ID/SYSTEM or #N.
func findRow(dir, name string) (*runs.Row, error) {
	found, err := runs.NamedRows(dir, name)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 1:
		return &found[0], nil
	case len(found) == 0:
		hint, err := nearestRow(dir, name)
		return nil, errors.Join(err, ibid.Usagef("%s has no row %s", dir, name).With(hint))
	}
	var names []string
	for _, k := range found {
		names = append(names, k.ID+"/"+k.System)
	}
	return nil, ibid.Usagef("%s is the id of %d rows", name, len(found)).With("choose one of " + strings.Join(names, ", "))
}

// nearestRow suggests a row instead of one that is not there.
func nearestRow(dir, name string) (string, error) {
	bySystem := strings.Contains(name, "/")
	var names []string
	err := runs.Rows().Scan(dir, []string{"id", "system"}, func(_ int64, k *runs.Row) error {
		if bySystem {
			names = append(names, k.ID+"/"+k.System)
		} else if len(names) == 0 || names[len(names)-1] != k.ID {
			names = append(names, k.ID)
		}
		return nil
	})
	return didYouMean(name, names, "ibid show "+dir+" prints what the run has"), err
}

// displayKeys is what the settings begin with that a finished run can be shown
// under without being scored again.
const displayKeys = "report.citation_display."

// theirDisplayKeys is Keeptrusts' name for some of them.
const theirDisplayKeys = "citation_display."

// shownAs are the settings of a finished run, with those of --set that are about
// looking at it.
func shownAs(m *runs.Manifest, set []string) (*configs.Config, error) {
	for _, s := range set {
		if key, _, _ := strings.Cut(s, "="); !strings.HasPrefix(key, displayKeys) && !strings.HasPrefix(key, theirDisplayKeys) {
			return nil, ibid.Usagef("--set %s does not change how a finished run is shown", key).With("report.citation_display.* do; ibid rescore changes what a run says")
		}
	}
	return harness.SettingsOf(m, set, nil)
}

// showPrompt prints what a row was asked.
func (a *app) showPrompt(cmd *cobra.Command, dir string, m *runs.Manifest, name string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	key, err := findRow(dir, name)
	if err != nil {
		return err
	}
	prompts, err := harness.ReadPrompts(cmd.Context(), dir, m, key.Row)
	if err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			out := &promptsJSON{Schema: "ibid.prompts/v1", ID: key.ID, System: key.System, Version: m.Judge.Prompt, Prompts: []promptJSON{}}
			for _, p := range prompts {
				out.Prompts = append(out.Prompts, promptJSON{p.Model, p.Vote, p.MaxTokens, p.System, p.User, p.Schema})
			}
			return report.WriteJSON(w, out)
		}
		return writePrompts(w, prompts)
	})
}

// promptsJSON is the JSON form of what a row was asked.
type promptsJSON struct {
	Schema  string       `json:"schema"`
	ID      string       `json:"id"`
	System  string       `json:"system"`
	Version string       `json:"version"` // of the prompts
	Prompts []promptJSON `json:"prompts"`
}

type promptJSON struct {
	Model     string `json:"model"`
	Vote      int    `json:"vote"`
	MaxTokens int64  `json:"max_tokens"`
	System    string `json:"system_message"` // "" if there is none
	User      string `json:"user_message"`
	Schema    string `json:"reply_schema"` // "" if the reply is free text
}

// writePrompts prints prompts one below the other. Instructions that are those of
// the prompt before are not repeated.
func writePrompts(w io.Writer, prompts []openrouter.Prompt) error {
	var b strings.Builder
	if len(prompts) == 0 {
		b.WriteString("no model was asked: pre-checks settle this row, or it has no claims\n")
	}
	for i, p := range prompts {
		fmt.Fprintf(&b, "=== %s, vote %d, at most %s tokens\n", doc.Clean(p.Model), p.Vote+1, report.Thousands(p.MaxTokens))
		if p.System != "" && (i == 0 || p.System != prompts[i-1].System) {
			fmt.Fprintf(&b, "--- system\n%s\n", report.Clean(p.System))
		}
		fmt.Fprintf(&b, "--- user\n%s\n", report.Clean(p.User))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
