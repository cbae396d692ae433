package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

// ciFlags leave the verdict to a CI system.
type ciFlags struct {
	path        string // of JUnit XML
	annotations string
}

func (c *ciFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.path, "junit", "", "leave the verdict in this file, as JUnit XML: a test case for each gate and each row below 0.5 overall")
	cmd.Flags().StringVar(&c.annotations, "annotations", "", "say on standard error what was not met as workflow commands of: github")
}

// check refuses what is no file, and other systems.
func (c *ciFlags) check() error {
	if c.path == "-" {
		return &usageError{err: errors.New("--junit needs a file"), hint: "name it: --junit gates.xml"}
	}
	if c.annotations == "" {
		return nil
	}
	return oneOf("--annotations", c.annotations, "github")
}

// gatesView is the view model of an outcome's gates.
func gatesView(config *configs.Config, out *harness.Outcome) *report.Gates {
	view := report.NewGates(out.Manifest, out.Verdict(config.MinCoverage), out.Lacks(config.MinCoverage), out.Gates)
	view.Drift = out.Drift
	return view
}

// conclude says why an outcome is not good, leaves it for a CI system, and turns
// it into an exit code.
func (a *app) conclude(config *configs.Config, out *harness.Outcome, ci *ciFlags) error {
	view := gatesView(config, out)
	if ci.path != "" {
		failing, err := failingRows(out.Dir, out.Manifest, defaultRowGate)
		if err != nil {
			return err
		}
		if err := writeOutput(ci.path, func(w io.Writer) error { return view.WriteJUnit(w, failing) }); err != nil {
			return err
		}
	}
	for _, g := range out.Gates {
		if g.Verdict != runs.Passed {
			a.say("gate %s: %s%s", verdictWord(g.Verdict), g.Gate, gateValue(g))
		}
	}
	for _, why := range view.Lacks {
		a.say("%s", why)
	}
	if d := out.Drift; d != nil && d.Moved {
		a.say("flipped: %s", someFlips(d))
		a.hint("ibid compare " + quote(d.BaseDir) + " " + quote(out.Dir) + " names all of them")
	}
	if ci.annotations != "" {
		a.annotate(config, out, view.Lacks)
	}
	if len(view.Lacks) > 0 && out.Manifest.Errors > 0 {
		a.hint("ibid show " + out.Dir + " --errors")
	}
	switch view.Verdict {
	case runs.NoVerdict:
		return exitError{ExitNoVerdict}
	case runs.Failed:
		return exitError{ExitGate}
	}
	return nil
}

// namedFlips is how many flipped verdicts stand in one line.
const namedFlips = 3

// someFlips names the first verdicts that flipped.
func someFlips(d *compare.Drift) string {
	var some []string
	for i := range d.Flipped[:min(len(d.Flipped), namedFlips)] {
		some = append(some, d.Flipped[i].Where()+" ("+d.Flipped[i].Change()+")")
	}
	if left := len(d.Flipped) - len(some); left > 0 {
		some = append(some, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(some, ", ")
}

func verdictWord(v runs.Verdict) string {
	if v == runs.Failed {
		return "failed"
	}
	return "without verdict"
}

func gateValue(g runs.GateResult) string {
	switch {
	case g.Reason != "":
		return " (" + g.Reason + ")"
	case g.Value != nil:
		return fmt.Sprintf(" (is %.4g)", *g.Value)
	}
	return ""
}
