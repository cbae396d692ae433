package cli

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
	"ibid/report/doc"
)

func (a *app) gateCommand() *cobra.Command {
	var gates, accept []string
	var baseline, link string
	var ci ciFlags
	cmd := &cobra.Command{
		Use:   "gate RUN [BASE]",
		Short: "gates on the saved results of a run; costs nothing",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := ci.check(); err != nil {
				return err
			}
			if len(args) > 1 && baseline != "" {
				return ibid.Usagef("BASE and --baseline name the same run: give one")
			}
			if len(args) > 1 {
				baseline = args[1]
			}
			if err := a.checkLink(link); err != nil {
				return err
			}
			return a.gate(args[0], baseline, link, gates, accept, &ci)
		},
	}
	cmd.Flags().StringArrayVar(&gates, "gate", nil, "a condition that the run must meet, such as 'char_f1 >= 0.7' (may be repeated)")
	cmd.Flags().StringArrayVar(&accept, "accept", nil, "a sign that the input is wrong with which gates have their verdict all the same (may be repeated; ibid help signs)")
	cmd.Flags().StringVar(&baseline, "baseline", "", baselineUsage)
	cmd.Flags().StringVar(&link, "link", "", "where the page of the run is, https://…: the comment of --format markdown links to it and its answers")
	ci.register(cmd)
	return cmd
}

// checkLink refuses what leads nowhere from a comment.
func (a *app) checkLink(link string) error {
	switch u, err := url.Parse(link); {
	case link == "":
		return nil
	case a.format != "markdown":
		return ibid.Usagef("--link is for --format markdown")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "":
		return ibid.Usagef("--link: %q is no address of a page", link).With("such as https://example.org/runs/42/report.html")
	}
	return nil
}

func (a *app) gate(dir, baseline, link string, gates, accept []string, ci *ciFlags) error {
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	config, err := harness.SettingsOf(m, nil, gates)
	if err != nil {
		return err
	}
	config.Accept = append(config.Accept, accept...)
	if baseline == harness.NoBaseline {
		return ibid.Usagef("--baseline none is for ibid run").With("leave it out, or name a run")
	}
	if len(config.Gates()) == 0 {
		return ibid.Usagef("%s has no gates", dir).With("give one: --gate 'char_f1 >= 0.7'; see ibid help gates")
	}
	for _, text := range gates {
		if g, err := configs.ParseGate(text); err == nil && g.Diff && baseline == "" && m.Baseline == "" {
			return harness.NoBase(g)
		}
	}
	if baseline != "" {
		base, err := a.openRun(baseline)
		if err != nil {
			return err
		}
		if why := compare.Reasons(base, m); len(why) > 0 {
			return compareError(&compare.RefusedError{Base: base.ID, New: m.ID, Reasons: why})
		}
	}
	out, err := harness.SavedOutcome(dir, m, config, baseline, "")
	if err != nil {
		return err
	}
	view, err := a.gateView(dir, config, out, link)
	if err != nil {
		return err
	}
	if err := a.show(view); err != nil {
		return err
	}
	return a.conclude(config, out, ci)
}

// gateView is what is shown of gates: in Markdown a comment on the change that the run is of.
func (a *app) gateView(dir string, config *configs.Config, out *harness.Outcome, link string) (report.View, error) {
	view, base := gatesView(config, out), out.Base
	if base != "" && !exists(filepath.Join(base, runs.ManifestFile)) {
		base = ""
	}
	if a.format != "markdown" {
		return view, view.AddQuotations(dir, base)
	}
	c := &report.Comment{Gates: view, Page: link}
	if out.Base != "" {
		run, err := compare.Open(dir)
		if err != nil {
			return nil, err
		}
		defer run.Close()
		summary, err := a.summaryView(dir, out.Manifest, out.Gates, "system")
		if err != nil {
			return nil, err
		}
		if err := changeSince(&c.Compared, out.Base, run, summary); err != nil {
			return nil, err
		}
		if c.Failing, err = newlyFailing(out); err != nil {
			return nil, err
		}
	}
	if c.Compared.Since == nil {
		base = "" // it is not comparable
	}
	return c, view.AddQuotations(dir, base)
}

// failingJUnit is how many rows that newly fail JUnit XML has: as many as people read.
const failingJUnit = 200

// ciFlags leave the verdict to a CI system.
type ciFlags struct {
	path        string // of JUnit XML
	annotations string
}

func (c *ciFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.path, "junit", "", "leave the verdict in this file, as JUnit XML: a test case for each gate and each row that fails")
	cmd.Flags().StringVar(&c.annotations, "annotations", "", "also print what failed on standard error, in the form that this CI service shows: github")
}

// check refuses what is no file, or has no folder, and other systems.
func (c *ciFlags) check() error {
	switch folder := filepath.Dir(c.path); {
	case c.path == "-":
		return ibid.Usagef("--junit needs a file").With("name it: --junit gates.xml")
	case c.path != "" && !exists(folder):
		return ibid.Usagef("--junit: %s: no such folder", folder)
	}
	if c.annotations == "" {
		return nil
	}
	return oneOf("--annotations", c.annotations, "github")
}

// gatesView is the view model of an outcome's gates.
func gatesView(config *configs.Config, out *harness.Outcome) *report.Gates {
	return report.NewGates(out.Manifest, out.Verdict(config.MinCoverage), out.Lacks(config.MinCoverage), out.Gates)
}

// conclude prints why an outcome is not good, writes it for a CI system, and turns
// it into an exit code.
func (a *app) conclude(config *configs.Config, out *harness.Outcome, ci *ciFlags) error {
	view := gatesView(config, out)
	if ci.path != "" {
		failing, err := newlyFailing(out)
		if err != nil {
			return err
		}
		if err := writeOutput(ci.path, func(w io.Writer) error { return view.WriteJUnit(w, failing) }); err != nil {
			return err
		}
	}
	for _, g := range out.Gates {
		switch g.Verdict {
		case runs.Passed:
		case runs.Failed:
			a.say("gate failed: %s%s", g.Gate, gateValue(g))
		case runs.NotAsked:
			a.say("gate not asked: %s%s", g.Gate, gateValue(g))
		default:
			a.say("gate without verdict: %s%s", g.Gate, gateValue(g))
		}
	}
	for _, why := range view.Lacks {
		a.say("%s", why)
	}
	if ci.annotations != "" {
		a.annotate(config, out, view.Lacks)
	}
	if len(view.Lacks) > 0 && out.Manifest.Errors > 0 {
		a.hint("ibid show " + out.Dir + " --errors")
	}
	leftOut := int64(0)
	if im := out.Manifest.Imported; im != nil && im.Report.Failed > 0 {
		leftOut = im.Report.Failed
		a.say("%s of the input could not be read: left out", report.Plural(leftOut, "record", "records"))
	}
	switch {
	case view.Verdict == runs.Failed:
		return exitError{ExitGate}
	case view.Verdict == runs.NoVerdict, leftOut > 0:
		return exitError{ExitNoVerdict}
	}
	return nil
}

// newlyFailing are rows that do not fail in the base of a run; nil if there is no base, or
// another judge says there what fails.
func newlyFailing(out *harness.Outcome) (*report.Failing, error) {
	if out.Base == "" || !exists(filepath.Join(out.Base, runs.ManifestFile)) {
		return nil, nil
	}
	base, err := runs.ReadManifest(out.Base)
	if err != nil || len(compare.OtherJudge(base, out.Manifest)) > 0 {
		return nil, err
	}
	return report.ReadNewlyFailing(out.Dir, out.Manifest, out.Base, failingJUnit)
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

// annotate writes what was not met as workflow commands of GitHub, which shows
// them at the line of the run file where the gate stands, or at the run.
func (a *app) annotate(config *configs.Config, out *harness.Outcome, lacks []string) {
	gates := config.Gates()
	for i, g := range out.Gates {
		file, line := gates[i].Place()
		switch g.Verdict {
		case runs.Failed:
			a.workflowCommand("error", file, line, "gate failed", g.Gate+gateValue(g))
		case runs.NoVerdict:
			a.workflowCommand("error", file, line, "gate without verdict", g.Gate+gateValue(g))
		}
	}
	for _, why := range lacks {
		a.workflowCommand("error", "", 0, "no verdict", why)
	}
	if len(lacks) == 0 && out.Verdict(config.MinCoverage) == runs.Passed {
		a.workflowCommand("notice", "", 0, "gates passed", fmt.Sprintf("run %s: %d of %d", out.Manifest.ID, len(gates), len(gates)))
	}
}

// workflowCommand writes one command on a line of its own.
func (a *app) workflowCommand(kind, file string, line int, title, message string) {
	var properties []string
	if file != "" {
		properties = append(properties, "file="+escapeProperty(file), fmt.Sprintf("line=%d", line))
	}
	properties = append(properties, "title="+escapeProperty("ibid: "+title))
	fmt.Fprintf(a.Stderr, "::%s %s::%s\n", kind, strings.Join(properties, ","), escapeMessage(message))
}

// escapeMessage keeps a message on its line, and a terminal from obeying it.
func escapeMessage(s string) string {
	return doc.Clean(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s))
}

// escapeProperty keeps a property from ending early.
func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeMessage(s))
}
