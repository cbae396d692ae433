package cli

import (
	"fmt"
	"strings"

	"ibid/judge"
	"ibid/judge/prompts"
)

const promptsIntro = `A judge that asks models (judge: openrouter or openai) sends these texts. To send your
own, put files of the same names into a folder and name it: judge.prompts in the run
file, or --set judge.prompts=DIR. What is not there stays as it is here. A reply has to
keep to the schema at the end. Fields in double braces are filled in; the material of a
row comes fenced, whatever a file says around it.

The version of the texts is part of a run's fingerprint: other prompts, other run.
ibid show RUN ROW --prompt prints what a row was asked.
`

// promptsTopic prints the built-in prompts.
func promptsTopic() string {
	var b strings.Builder
	b.WriteString(promptsIntro)
	set := prompts.Builtin()
	fmt.Fprintf(&b, "\nversion %s\n", set.Version())
	for _, n := range prompts.Names() {
		fmt.Fprintf(&b, "\n=== %s: %s%s\n%s\n", n.File(), n.About(), fieldList(n), set.Text(n))
	}
	fmt.Fprintf(&b, "\n=== schema of a reply\n%s\n", strings.TrimSpace(judge.Schema))
	return b.String()
}

func fieldList(n prompts.Name) string {
	must, may := n.Fields()
	var parts []string
	if len(must) > 0 {
		parts = append(parts, "needs {{"+strings.Join(must, "}} and {{")+"}}")
	}
	if len(may) > 0 {
		parts = append(parts, "may have {{"+strings.Join(may, "}} and {{")+"}}")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
