package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"ibid/configs"
)

// unknownFlag is how the flag library says that a long flag does not exist.
const unknownFlag = "unknown flag: --"

// flagName finds the long flags in a command's list of flags.
var flagName = regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+)`)

// flagError adds the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	hint := "see: " + cmd.CommandPath() + " --help"
	if name, ok := strings.CutPrefix(err.Error(), unknownFlag); ok {
		var names []string
		for _, m := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			names = append(names, m[1])
		}
		if near := configs.Nearest(name, names); near != "" {
			hint = "did you mean --" + near + "?"
		}
	}
	return &usageError{err: err, hint: hint}
}

// unknownName is the error for an argument that names none of the commands or
// topics below cmd.
func unknownName(cmd *cobra.Command, what, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	if near := configs.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return &usageError{err: fmt.Errorf("unknown %s %q", what, name), hint: hint}
}

// onlySubcommands refuses arguments of a command that does nothing itself.
func onlySubcommands(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownName(cmd, what, args[0])
		}
		return nil
	}
}
