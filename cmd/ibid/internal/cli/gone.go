package cli

import (
	"cmp"
	_ "embed"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
)

// goneText has a line for each command, flag and format of the version before, with what
// to do instead. A command is named by its path below ibid, a flag or a format by a command
// and its name, or the flag alone where every command had it.
//
//go:embed gone.txt
var goneText string

// insteadOf says what to do in place of what is gone, "" if it is not.
func insteadOf(gone string) string {
	_, after, _ := strings.Cut("\n"+goneText, "\n"+gone+": ")
	instead, _, _ := strings.Cut(after, "\n")
	return instead
}

// goneCommand is the error for arguments of cmd that begin with a command of the
// version before, or nil.
func goneCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	name := belowIbid(cmd, args[0])
	if instead := insteadOf("command " + name); instead != "" {
		return ibid.Usagef("the command ibid %s is gone", name).With(instead)
	}
	return nil
}

// goneFlag is the error for a flag of the version before, or nil.
func goneFlag(cmd *cobra.Command, flag string) error {
	instead := cmp.Or(insteadOf("flag "+belowIbid(cmd, "--"+flag)), insteadOf("flag --"+flag))
	if instead == "" {
		return nil
	}
	return ibid.Usagef("the flag --%s is gone", flag).With(instead)
}

// belowIbid is the path of a command, without the program's name, and a word.
func belowIbid(cmd *cobra.Command, word string) string {
	return strings.TrimPrefix(cmd.CommandPath()+" "+word, cmd.Root().Name()+" ")
}
