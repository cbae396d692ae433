package cli

import (
	"embed"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ibid/annotations"
	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/configs"
	"ibid/dataset/convert"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge"
	"ibid/judge/prompts"
	"ibid/metrics"
	"ibid/metrics/claims"
	"ibid/report"
)

// helpTexts holds one file for each command and each topic of ibid help. The file of
// "cache prune" is cache-prune.txt. Examples follow the line "examples:". A line {NAME} is
// replaced by the text that the function of this name in generated returns.
//
//go:embed help
var helpTexts embed.FS

var generatedLine = regexp.MustCompile(`(?m)^\{([a-z ]+)\}\n`)

// helpText returns the text of a command or topic, or "" if it has no file.
func helpText(name string) string {
	text, _ := helpTexts.ReadFile("help/" + name + ".txt")
	return generatedLine.ReplaceAllStringFunc(string(text), func(line string) string {
		return generated[strings.Trim(line, "{}\n")]()
	})
}

// generated are the parts of help texts that follow from what the program has.
var generated = map[string]func() string{
	"metrics": metricList, "settings": settingList, "columns": columnList, "formats": func() string { return formatList(false) },
	"formats and inputs": func() string { return formatList(true) }, "own format": func() string { return ownFormatExample },
	"phrases": phraseList, "signs": signList, "prompts": promptList,
}

// explain gives a command and those below it their texts.
func explain(cmd *cobra.Command) {
	text := helpText(strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "ibid "), " ", "-"))
	long, examples, _ := strings.Cut(text, "\nexamples:\n")
	cmd.Long, cmd.Example = strings.TrimSuffix(long, "\n"), strings.TrimSuffix(examples, "\n")
	for _, below := range cmd.Commands() {
		if below.Run != nil || below.RunE != nil {
			explain(below)
		}
	}
}

// addHelp adds the topics of ibid help that are no commands.
func (a *app) addHelp(root *cobra.Command) {
	for _, t := range [][2]string{
		{"metrics", "what each number means"},
		{"settings", "every setting of a run file, its default and its other names"},
		{"columns", "what each column of each file is"},
		{"formats", "what ibid import reads, and what a dataset is"},
		{"claims", "what a claim is, and which text a citation backs"},
		{"gates", "how to make a run fail"},
		{"signs", "signs that the input is wrong, and not the system"},
		{"exit-codes", "what exit codes mean"},
		{"prompts", "what a judge that asks models is asked, and how to change it"},
		{"verifiers", "small models as judges: how to start one, and how it is asked"},
		{"environment", "which environment variables count"},
	} {
		// A command without a Run function is a help topic to cobra.
		c := &cobra.Command{Use: t[0], Short: t[1]}
		c.SetHelpFunc(func(cmd *cobra.Command, _ []string) { io.WriteString(cmd.OutOrStdout(), helpText(t[0])) })
		root.AddCommand(c)
	}
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND|TOPIC|METRIC]",
		Short: "help about a command, a topic or a metric",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if len(args) == 0 && !c.Hidden {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.formats("text"); err != nil {
				return err
			}
			about, rest, err := root.Find(args)
			if (err != nil || len(rest) > 0) && len(args) == 1 {
				if d, ok := metrics.Lookup(args[0]); ok {
					return a.write(func(w io.Writer) error {
						_, err := io.WriteString(w, metricTopic(d))
						return err
					})
				}
			}
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownName(about, "topic", rest[0])
			}
			return a.write(func(w io.Writer) error {
				about.SetOut(w)
				about.InitDefaultHelpFlag()
				return about.Help()
			})
		},
	})
}

// metricList is the registry.
func metricList() string {
	var b strings.Builder
	group := ""
	for _, d := range metrics.ByGroup(metrics.Definitions()) {
		if d.Group != group {
			group = d.Group
			fmt.Fprintf(&b, "\n%s: %s\n", strings.ToUpper(group), metrics.AboutGroup(group))
		}
		writeDefinition(&b, d)
	}
	b.WriteString("\nCOUNTS (macro only)\n")
	for _, d := range metrics.CountDefinitions() {
		fmt.Fprintf(&b, "  %-28s %s\n", d.Name, d.Summary)
	}
	return b.String()
}

func metricTopic(d metrics.Definition) string {
	var b strings.Builder
	writeDefinition(&b, d)
	if about := metrics.AboutGroup(d.Group); about != "" {
		fmt.Fprintf(&b, "      %-10s %s: %s\n", "group", d.Group, about)
	}
	if len(d.Num) > 0 {
		fmt.Fprintf(&b, "      %-10s %s\n", "summary", "macro: mean of the rows' values; micro: quotient of sums over rows")
	}
	return b.String()
}

func writeDefinition(b *strings.Builder, d metrics.Definition) {
	name := d.Name
	if len(d.Aliases) > 0 {
		name += " (" + strings.Join(d.Aliases, ", ") + ")"
	}
	fmt.Fprintf(b, "  %s: %s\n", name, d.Summary)
	for _, l := range report.Definition(&d) {
		fmt.Fprintf(b, "      %-10s %s\n", l[0], l[1])
	}
}

func settingList() string {
	var b strings.Builder
	for _, k := range configs.Keys() {
		fmt.Fprintf(&b, "  %s: %s\n      %s (%s)\n", k.Name, k.Default, k.Doc, k.Type)
		if len(k.Allowed) > 0 {
			fmt.Fprintf(&b, "      one of: %s\n", strings.Join(k.Allowed, ", "))
		}
		if len(k.Aliases) > 0 {
			fmt.Fprintf(&b, "      also: %s\n", strings.Join(k.Aliases, ", "))
		}
	}
	return b.String()
}

func formatList(inputs bool) string {
	var b strings.Builder
	for _, f := range convert.Formats() {
		fmt.Fprintf(&b, "  %-20s %s", f.Name, f.Summary)
		if inputs {
			fmt.Fprintf(&b, " (%s)", f.Input)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ownFormatExample is a program that reads traces of one shape.
const ownFormatExample = `  # my traces
  def row: .trace | {id: .uid, query: .q, parts: [.a],
                     documents: [.hits[] | {doc: .path, text: .body}]};
`

func phraseList() string {
	var b strings.Builder
	builtIn := claims.NewPhrases(claims.Phrases{})
	for _, list := range []struct {
		head    string
		phrases []string
	}{
		{"Uncited sentences that begin so claim nothing (setting no_claim_phrases; a phrase with a\nfull stop must be all of the sentence)", builtIn.NoClaim},
		{"Attributions", claims.AttributionPhrases()},
		{"Headings of an answer's own list of references", claims.ReferenceHeadings()},
	} {
		fmt.Fprintf(&b, "\n%s:\n", list.head)
		line := " "
		for i, p := range list.phrases {
			if i+1 < len(list.phrases) {
				p += ";"
			}
			if len(line)+1+len(p) > 88 {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + p
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\nUncited sentences that match one of these patterns abstain (setting abstention_phrases):\n")
	for _, p := range builtIn.Abstention {
		if p != "" && p[0] != '#' {
			b.WriteString("  " + p + "\n")
		}
	}
	return b.String()
}

func signList() string {
	var b strings.Builder
	head := ""
	for _, s := range harness.Signs() {
		now := "SIGNS THAT WARN"
		if s.Stops {
			now = "SIGNS THAT STOP"
		} else if s.Note() {
			now = "NOTES"
		}
		if now != head {
			head = now
			fmt.Fprintf(&b, "\n%s\n", head)
		}
		fmt.Fprintf(&b, "  %s: %s\n      probably   %s\n      then       %s\n", s.Name, s.Text, s.Cause, s.Tip)
		if names := s.Names(); names != "" {
			fmt.Fprintf(&b, "      metrics    %s\n", names)
		}
	}
	return b.String()
}

// columnForms are all tables that ibid writes, those of a run first.
func columnForms() []runs.Form {
	return append(runs.Forms(), compare.Lines.Form, annotations.CalibrationLines.Form, history.Lines.Form)
}

// columnList says what every column is.
func columnList() string {
	var b strings.Builder
	for _, f := range columnForms() {
		b.WriteString("\n" + f.Text())
	}
	return b.String()
}

// promptList is the built-in prompts.
func promptList() string {
	var b strings.Builder
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

// A calledValue is the value of a flag with a name in plain words for what it takes.
type calledValue struct {
	pflag.Value
	name string
}

func (v calledValue) Type() string { return v.name }

// inPlainWords has the help of a command and of those below it name what flags take by
// what it is, not by its type in Go.
func inPlainWords(cmd *cobra.Command) {
	names := map[string]string{
		"string": "value", "stringArray": "value", "int": "number", "int64": "number", "uint64": "number",
		"float64": "number", "float64Slice": "numbers", "duration": "time",
	}
	plain := func(f *pflag.Flag) {
		name, ok := names[f.Value.Type()]
		if !ok {
			return
		}
		if f.Value = (calledValue{f.Value, name}); f.DefValue == "[]" {
			f.DefValue = ""
		}
	}
	cmd.Flags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, below := range cmd.Commands() {
		inPlainWords(below)
	}
}
