package cli

import (
	"fmt"
	"io"
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
)

// addHelp adds the topics of ibid help that are no commands.
func (a *app) addHelp(root *cobra.Command) {
	topics := []struct {
		name, short string
		text        func() string
	}{
		{"metrics", "what each number means", metricsTopic},
		{"settings", "every setting of a run file, its default and its other names", settingsTopic},
		{"columns", "what each column of each file is", columnsTopic},
		{"formats", "what ibid import reads, and what a dataset is", formatsTopic},
		{"claims", "what a claim is, and which text a citation backs", claimsTopic},
		{"gates", "how to make a run fail", func() string { return gatesTopic }},
		{"signs", "signs that the input is wrong, and not the system", signsTopic},
		{"exit-codes", "what exit codes mean", func() string { return exitTopic }},
		{"prompts", "what a judge that asks models is asked, and how to change it", promptsTopic},
		{"verifiers", "small models as judges: how to start one, and how it is asked", func() string { return verifiersTopic }},
		{"environment", "which environment variables count", func() string { return environmentTopic }},
	}
	for _, t := range topics {
		// A command without a Run function is a help topic to cobra.
		c := &cobra.Command{Use: t.name, Short: t.short}
		c.SetHelpFunc(func(cmd *cobra.Command, _ []string) { io.WriteString(cmd.OutOrStdout(), t.text()) })
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
			if err != nil || len(rest) > 0 {
				if d, ok := metricAsked(args); ok {
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

// metricsTopic prints the registry.
func metricsTopic() string {
	var b strings.Builder
	b.WriteString("Metrics of one row. Each is summarized over rows as macro (mean of the rows'\n" +
		"values) and, where it has parts to pool, as micro (quotient of sums over rows).\n")
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

// metricAsked is the metric or count that help is asked for.
func metricAsked(args []string) (metrics.Definition, bool) {
	if len(args) != 1 {
		return metrics.Definition{}, false
	}
	return metrics.Lookup(args[0])
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
	lines := [][2]string{
		{"formula", d.Formula},
		{"kind", fmt.Sprintf("%s, %s, in [%g, %g]", d.Kind, d.Direction, d.Min, d.Max)},
		{"undefined", d.UndefinedWhen},
		{"source", d.Source},
	}
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(b, "      %-10s %s\n", l[0], l[1])
		}
	}
}

func settingsTopic() string {
	var b strings.Builder
	b.WriteString("Settings of a run file. A flag wins over IBID_A__B in the environment (which is\n" +
		"a.b), that over the run file, that over the default. --set a.b=VALUE sets any.\n\n")
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

func formatsTopic() string {
	var b strings.Builder
	b.WriteString("ibid import reads:\n\n")
	for _, f := range convert.Formats() {
		fmt.Fprintf(&b, "  %-20s %s (%s)\n", f.Name, f.Summary, f.Input)
	}
	b.WriteString("\nYour own: ibid import --with mine.jq PATH... reads records with a program in jq, such as\n\n" + ownFormatExample)
	b.WriteString(datasetTopic)
	return b.String()
}

const datasetTopic = `
A dataset is a Parquet file, a directory or a glob of them; one row is one
answer by one system. id, query and answer are required; (id, system) is unique.

  id, query, answer, system, provider, model   text
  answer_cost_usd, answer_tokens, answer_latency_ms   numbers: what the answer took
  citations   list of doc, page, start, end, unit, cited_text, title, answer_start,
              answer_end, answer_role (segment or marker), citation_id, claim_id,
              source_type, method, confidence, relevance, token_contribution, source_reference
  truth       list of annotator, doc, page, start, end, unit, cited_text, claim_id
  claims      list of claim_id, text, start, end
  labels      list of annotator, claim_id, citation_id, kind, value
  documents   list of doc, title, text, source_type, pages, blocks
  messages    list of role, content
  tags        map of text to text
  source_record   text: what another tool saved, as JSON, of which an import made the row

truth and labels may stand in tables of their own (settings truth and labels): Parquet,
JSON Lines or CSV with id and that list (in CSV as JSON), or with one line an element,
its members being columns. Truth goes to every answer of the id; a line without doc says
that the annotator marked nothing. Labels go to the answer of the id by the system. In
place of claim_id they may have claim_text, or claim_start and claim_end in the answer.

A null or absent list is not known; an empty list is known to be empty. Offsets
count code points from 0, ends are exclusive. Other names: columns in the run file.

PDFs in requests, in folders of documents and behind cited addresses are read by poppler's
pdftotext where it is installed. Else a library (ledongthuc/pdf) reads them; its text lacks
spaces at some line ends. Which it was, with its version, is in the summary of ibid import,
in manifest.json, and in the metadata of what ibid fetch writes.
`

// claimsTopic says what a claim is, and lists the phrases.
func claimsTopic() string {
	var b strings.Builder
	b.WriteString(claimsText)
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

const claimsText = `An answer is read as Markdown. Headings (and bold lines that are nothing else), code,
pictures and captions are no text. Nor are rows that head a table, lines of nothing but
links, and the answer's own list of references. A list item or a row of a table is never joined with
its neighbour; the claim of a row is "header: cell; ...". A line that ends with a colon
before a list, a table, code or more text introduces that and claims nothing. Of an
answer that is JSON, each "key: value" is a unit.

Text is cut into sentences; a mark behind the full stop belongs to the sentence before.
Questions claim nothing, nor do uncited sentences that begin with one of the phrases
below, or that abstain: they say that the answer is not known or not in what was given.
Patterns of these are RE2, matched without case at the beginning of a sentence, behind
openers (lines that begin with >). Four words or more behind a "but" (&) make it a claim.
An answer abstains if a sentence does and it has no claim and no citation. With claims: auto a sentence is cut where the provider says which words are cited:
what stands before such a segment belongs to it, or is context if it ends in a comma or a
colon and holds no number; what stands behind the last is a claim of its own from seven
words on, unless it says where something is from; a claim of fewer than three words takes
all of its sentence. claims: sentences never cuts there, claims: provided takes those of
the row. With claims: model the judge's model first makes claims that stand alone of each
sentence, in a call of its own that the cache keeps; they have the place of their sentence,
ids such as 3.0 and 3.1, and no number that the answer does not have.

A citation backs a stretch of the answer, its scope: a segment the claims that it formed;
a mark the text between the group of marks before it and itself, in its sentence (with
mark_scope: paragraph, at the end of a paragraph or list, all of that); a mark in a cell
the cell; a mark on a heading, a caption or a line that introduces a block all of the
block. One that backs no text has the status no_claim and is in no judged metric.
A judge is asked how far a citation bears out the part of a claim that it backs.

[n] is a source of the provider's list, else of the answer's own, else the nth document.
`

const gatesTopic = `A gate is a condition on a number of the summary, in the run file (gates: a list)
or with --gate:

  char_f1 >= 0.7                     macro value over all systems
  micro(char_f1) >= 0.7              micro value
  agreement(truth) >= 0.8            annotators on marked places; or a kind of label
  lo(char_f1) >= 0.6                 lower end of its interval; hi() is the upper one
  lo(micro(char_f1))[lang=de] >= 0.6 one slice (slices: [lang] in the run file)
  char_f1[system=a] >= 0.7           one system
  diff(char_f1) >= -0.02             this run less its baseline, over the rows of both
  p(char_f1) >= 0.05                 two-sided p of that difference, by clusters; not
                                     adjusted for other gates

diff and p need a baseline: ibid run --baseline RUN, ibid gate RUN BASE, or
ibid compare BASE NEW --gate. A baseline that means something else (judge, prompts,
versions, settings, documents) is wrong use: exit code 2.

ibid gate RUN asks them of saved results. For a CI system, --junit FILE leaves the
verdict in a file; --annotations github prints what GitHub shows at the line of the run
file. --format markdown is fit for a step summary. A failed gate is exit code 3.

A gate has no verdict (exit code 4) in three cases: its value is undefined; it rests on
too little (min_coverage, sign min_defined) or on too few clusters; a sign says that its metric
means little (ibid help signs; accept).
`

const signsIntro = `A sign says that the input is wrong, and not the system. Signs that stop end a command
before anything is written (exit code 2). Those that warn are looked for in each system
of a run; shares count with five cases or more, where the lower end of their 95 % Wilson
interval is above the limit. They are printed on standard error, and are in the manifest
and on top of the page. Gates over the system and the metrics that they name have no
verdict (exit code 4). A run file that knows better says so:

  accept: [quotes_misplaced]
`

func signsTopic() string {
	var b strings.Builder
	b.WriteString(signsIntro)
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

const exitTopic = `  0    done, gates passed
  1    could not: I/O, network, a bug
  2    wrong use: flags, run file, schema, fingerprint; nothing was written
  3    done, a gate failed
  4    no verdict, or done in part: coverage below min_coverage, a gate over metrics
       that a sign says mean little (ibid help signs), --max-cost reached or a judge
       that cannot go on, records that an import left out; wins over 3
  130  interrupted; the answers of a model are kept, the command that goes on is printed
  143  terminated; the same
`

const environmentTopic = `  IBID_A__B           the setting a.b, such as IBID_JUDGE__KIND=none
  OPENROUTER_API_KEY  the key of judge: openrouter; judge.api_key_env names another
                      variable, and for judge: openai the only one. A key is never
                      read from a file or a flag, and never printed
  IBID_PROFILE        a folder: the command writes cpu.pprof and allocs.pprof there, for
                      go tool pprof
  XDG_CACHE_HOME      where ibid/judge.sqlite is, the cache of the judge's answers;
                      IBID_JUDGE__CACHE or --cache names another file
  NO_COLOR            no colour
  TERM=dumb           no colour
  GOMAXPROCS          how many processors a run uses unless --workers says otherwise
`

// columnForms are all tables that ibid writes, those of a run first.
func columnForms() []runs.Form {
	return append(runs.Forms(), compare.Lines.Form, annotations.CalibrationLines.Form, history.Lines.Form)
}

const columnsIntro = `Columns of every table that ibid writes: the Parquet files of a run, and the CSV of
commands. CSV has the same names, an empty cell for null and "; " between the
elements of a list or a map. Counts are int64 and scores are double; both are null when
they are unknown or undefined, never 0.
`

// columnsTopic prints what every column is.
func columnsTopic() string {
	var b strings.Builder
	b.WriteString(columnsIntro)
	for _, f := range columnForms() {
		b.WriteString("\n" + f.Text())
	}
	return b.String()
}

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
	cmd.LocalNonPersistentFlags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, below := range cmd.Commands() {
		inPlainWords(below)
	}
}
