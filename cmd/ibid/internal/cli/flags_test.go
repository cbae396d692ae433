package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestFlagsMeanOneThing: what several commands are given has one name, takes the same and
// says the same in all of them.
func TestFlagsMeanOneThing(t *testing.T) {
	type use struct{ command, usage, takes string }
	seen := make(map[string]use)
	for _, name := range []string{"documents", "truth", "labels", "judge", "baseline", "from", "junit", "annotations", "out", "replay"} {
		eachCommand((&app{}).root(), func(cmd *cobra.Command) {
			f := cmd.LocalNonPersistentFlags().Lookup(name)
			if f == nil || f.Hidden {
				return
			}
			u := use{cmd.CommandPath(), f.Usage, f.Value.Type()}
			if first, ok := seen[name]; !ok {
				seen[name] = u
			} else if first.usage != u.usage || first.takes != u.takes {
				t.Errorf("--%s:\n  %s: %s (%s)\n  %s: %s (%s)", name, first.command, first.usage, first.takes, u.command, u.usage, u.takes)
			}
		})
		if seen[name].usage == "" {
			t.Errorf("no command has --%s", name)
		}
	}
	eachCommand((&app{}).root(), func(cmd *cobra.Command) {
		if f := cmd.LocalNonPersistentFlags().Lookup("output"); f != nil && cmd.HasParent() {
			t.Errorf("%s has an -o of its own", cmd.CommandPath())
		}
	})
}

func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, f)
	}
}
