package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge/openrouter"
	"ibid/report"
)

// showPrompt prints what a row was asked.
func (a *app) showPrompt(cmd *cobra.Command, dir string, m *runs.Manifest, name string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	key, err := findRow(dir, name)
	if err != nil {
		return err
	}
	prompts, err := harness.ReadPrompts(cmd.Context(), m, key.Row)
	if err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return writeJSON(w, newPromptsJSON(key, m, prompts))
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

func newPromptsJSON(key runs.RowKey, m *runs.Manifest, prompts []openrouter.Prompt) *promptsJSON {
	out := &promptsJSON{Schema: "ibid.prompts/v1", ID: key.ID, System: key.System, Version: m.Judge.Prompt, Prompts: []promptJSON{}}
	for _, p := range prompts {
		out.Prompts = append(out.Prompts, promptJSON{p.Model, p.Vote, p.MaxTokens, p.System, p.User, p.Schema})
	}
	return out
}

// writePrompts prints prompts one below the other. Instructions that are those of
// the prompt before are not repeated.
func writePrompts(w io.Writer, prompts []openrouter.Prompt) error {
	var b strings.Builder
	if len(prompts) == 0 {
		b.WriteString("no model was asked: pre-checks settle this row, or it has no claims\n")
	}
	for i, p := range prompts {
		fmt.Fprintf(&b, "=== %s, vote %d, at most %s tokens\n", report.CleanLine(p.Model), p.Vote+1, report.Thousands(p.MaxTokens))
		if p.System != "" && (i == 0 || p.System != prompts[i-1].System) {
			fmt.Fprintf(&b, "--- system\n%s\n", report.Clean(p.System))
		}
		fmt.Fprintf(&b, "--- user\n%s\n", report.Clean(p.User))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
