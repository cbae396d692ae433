package cli

import (
	"fmt"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

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

// escapeMessage keeps a message on its line.
func escapeMessage(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty keeps a property from ending early.
func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeMessage(s))
}
