package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ibid/configs"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "a script that completes commands and flags: " + strings.Join(shells, ", "),
		Example: `  source <(ibid completion bash)
  ibid completion fish -o ~/.config/fish/completions/ibid.fish`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			scripts := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}
			script, ok := scripts[args[0]]
			if !ok {
				hint := "it is one of " + strings.Join(shells, ", ")
				if near := configs.Nearest(args[0], shells); near != "" {
					hint = "did you mean " + near + "?"
				}
				return &usageError{err: fmt.Errorf("unknown shell %q", args[0]), hint: hint}
			}
			if err := a.formats("text"); err != nil {
				return err
			}
			return a.write(script)
		},
	}
}
