package cli

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/dataset/convert"
	"ibid/dataset/runs"
	"ibid/harness"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "a script that completes commands and flags: " + strings.Join(shells, ", "),
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
				hint := didYouMean(args[0], shells, "it is one of "+strings.Join(shells, ", "))
				return ibid.Usagef("unknown shell %q", args[0]).With(hint)
			}
			return a.write(script)
		},
	}
}

// maxCompletions is how many rows a shell is offered.
const maxCompletions = 200

// A completer lists what the word that is being typed may become.
type completer = cobra.CompletionFunc

// addCompletion sets how arguments and flags complete in a shell. All of it is in
// one place, so that flags of the same name complete in the same way everywhere.
func (a *app) addCompletion(root *cobra.Command) {
	run := onlyFirst(completeRuns)
	input := onlyFirst(cobra.FixedCompletions([]string{"yaml", "yml", "parquet"}, cobra.ShellCompDirectiveFilterFileExt)) // a run file or a dataset
	arguments := map[string]completer{
		"show":      completeRow,
		"gate":      run,
		"calibrate": run,
		"rescore":   run,
		"report":    completeRuns,
		"run":       input,
		"agree":     input,
		"sample":    input,
		"import":    completeFormat,
		"init":      cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	flags := map[string]completer{
		"gate":     cobra.FixedCompletions(harness.MetricNames(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace), // that it begins with
		"set":      completeSetting,
		"by":       completeField,
		"table":    oneWord(sortedKeys(shownTables)...),
		"labelled": completeRuns,
		"judge":    oneWord(allowed("judge.kind")...),
		"template": oneWord("page", "label-studio"),
		"propose":  completeRuns,
	}
	for _, cmd := range root.Commands() {
		if f, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = f
		}
		for name, f := range flags {
			registerFlag(cmd, name, f)
		}
	}
	registerFlag(root, "format", oneWord(tableFormats...))
	registerFlag(root, "color", oneWord("auto", "always", "never"))
}

func registerFlag(cmd *cobra.Command, name string, f completer) {
	if cmd.Flags().Lookup(name) == nil && cmd.PersistentFlags().Lookup(name) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
		panic(err) // a flag that is registered twice is a bug
	}
}

func oneWord(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// onlyFirst completes the first argument and no other.
func onlyFirst(complete completer) completer {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// allowed are the values that a setting may have, nil if any will do.
func allowed(key string) []string {
	keys := configs.Keys()
	i := slices.IndexFunc(keys, func(k configs.Key) bool { return k.Name == key })
	if i < 0 {
		return nil
	}
	return keys[i].Allowed
}

// completeRuns completes any number of run directories; folders where there are
// none.
func completeRuns(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, pattern := range []string{word + "*", word + "*/*"} {
		manifests, _ := filepath.Glob(filepath.Join(pattern, runs.ManifestFile))
		for _, path := range manifests {
			found = append(found, filepath.Dir(path))
		}
	}
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	slices.Sort(found)
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeRow completes a run and then one of its rows.
func completeRow(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return onlyFirst(completeRuns)(cmd, args, word)
	}
	var names []string
	_ = runs.Rows().Scan(args[0], []string{"id", "system"}, func(_ int64, k *runs.Row) error { // without a run there is nothing to offer
		if name := k.ID + "/" + k.System; len(names) < maxCompletions && strings.HasPrefix(name, word) && !strings.ContainsAny(name, "\n\t") {
			names = append(names, name)
		}
		return nil
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeFormat completes a format of import and then files.
func completeFormat(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, f := range convert.Formats() {
		names = append(names, f.Name+"\t"+f.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSetting completes KEY= and then, where there is a choice, the value.
func completeSetting(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	if key, _, ok := strings.Cut(word, "="); ok {
		var words []string
		for _, value := range allowed(key) {
			words = append(words, key+"="+value)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, k := range configs.Keys() {
		words = append(words, k.Name+"=\t"+k.Doc)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeField completes what the summary of a run is grouped by.
func completeField(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	fields, err := runs.SummaryFields(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return fields, cobra.ShellCompDirectiveNoFileComp
}
