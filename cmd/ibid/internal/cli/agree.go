package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/term"
	"ibid/configs"
	"ibid/dataset"
	"ibid/harness"
	"ibid/report"
)

type agreeFlags struct {
	settings settingFlags
	table    tableFlags
	blind    string
	filled   []string
	policy   string
	worst    int
	gates    statisticGates
}

// tableFlags say how a table of labels is read.
type tableFlags struct {
	columns map[string]string // theirs -> ours
	values  []string          // in their order
}

// tableColumns are our names of the columns of a table of labels.
var tableColumns = []string{"item", "annotator", "value", "cluster"}

func (f *tableFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringToStringVar(&f.columns, "columns", nil, "columns of a table of labels, THEIRS=OURS; ours are item, annotator, value and cluster (the document or batch of the item)")
	cmd.Flags().StringSliceVar(&f.values, "values", nil, "values that could be said in a table, in their order, comma separated (default those that occur)")
}

// asked reports whether the argument is a table of labels.
func (f *tableFlags) asked(path string) bool { return annotations.IsTable(path) || len(f.columns) > 0 }

// read reads a table; what is wrong with it is wrong use.
func (f *tableFlags) read(path string) (*annotations.Table, error) {
	var c annotations.TableColumns
	for theirs, ours := range f.columns {
		to := map[string]*string{"item": &c.Item, "annotator": &c.Annotator, "value": &c.Value, "cluster": &c.Cluster}[ours]
		if to == nil {
			return nil, ibid.Usagef("--columns %s=%s: no column is called %s", theirs, ours, ours).With("ours are " + strings.Join(tableColumns, ", "))
		}
		*to = theirs
	}
	t, err := annotations.ReadTable(path, c)
	return t, asUsage(err)
}

const agreeLong = `agree measures how far the annotators of a dataset agree: on the places that they
marked (truth) and on what they said of claims and citations (labels). Intervals are
over documents.

One statistic decides about each kind of data; the others have no verdict.
  marked places  char_jaccard, the mean over items and pairs, against target_agreement
                 of quality_control; below recalibration_threshold annotators should
                 meet. Beside it char_alpha, overlap_f1, exact_f1
  labels         alpha_ordinal where there are three or more values with an order, else
                 alpha_nominal, against 0.8 (Krippendorff 2004). Beside it
                 percent_agreement, ac1

Annotators are reliable if the low end of its interval reaches the target, and unreliable
if the high end does not. Otherwise it is undecided, with the number of items that would
decide if the estimate stays (Cochran 1977, ch. 4). Fewer than 6 documents, and labels
of which more than 90 % are alike, decide nothing.

A gate is a condition such as 'char_jaccard >= 0.85' or 'lo(alpha) >= 0.67'. The exit code
is 3 if it fails, and 4 if the statistic is undefined or absent. In gates alpha is what
decides about labels.

Items with fewer annotators than min_annotators of quality_control are left out.

A table of labels (CSV, JSON Lines, Parquet) has one label a record, in the columns
item, annotator, value and perhaps cluster; --columns THEIRS=OURS names them.

Where items of a blind sample carried proposals of a judge, proposals_gap says whether
people follow them: the mean Jaccard of marks and proposals where these were shown,
less that where they were withheld.

--blind KEY compares what was said in a blind sample of ibid sample with what the dataset
has: in the template and in every NAME.jsonl beside the key, or in the files of --filled.

--adjudicate POLICY writes the dataset to -o with one opinion instead of several:
  majority      what more than half of the annotators marked; the value that most gave
  union         what anybody marked; the highest value
  intersection  what everybody marked; the lowest value
  best          what the annotator said who agrees best with the others

With --blind it merges rounds into one table for truth: and labels: of a run, JSON
Lines: what the dataset has, what each person said, and what an adjudicator decided.
  decided       what one person alone said, all said alike, or somebody decided;
                the rest is left out and counted
  union, intersection  for what nobody decided
Each element says how it came about: decided_by, from, how.`

func (a *app) agreeCommand() *cobra.Command {
	f := &agreeFlags{}
	cmd := &cobra.Command{
		Use:   "agree DATASET|RUN.yaml|LABELS | agree --blind KEY",
		Short: "agreement between annotators",
		Long:  agreeLong,
		Example: `  ibid agree answers.parquet --documents documents.parquet
  ibid agree answers.parquet --gate 'alpha >= 0.8' --gate 'char_jaccard >= 0.85'
  ibid agree labels.csv --columns claim=item,who=annotator,verdict=value
  ibid agree --blind blind/key.json
  ibid agree answers.parquet --documents documents.parquet --adjudicate majority -o one.parquet
  ibid agree --blind first/key.json --adjudicate decided -o gold.jsonl
  ibid agree answers.parquet --format csv -o agreement.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.agree(cmd, f, args) },
	}
	f.settings.register(cmd)
	f.settings.add(cmd, "documents", "documents", documentsUsage)
	f.settings.addGold(cmd)
	f.table.register(cmd)
	cmd.Flags().StringVar(&f.blind, "blind", "", "the key of a blind sample that was annotated")
	cmd.Flags().StringArrayVar(&f.filled, "filled", nil, "what annotators said: a filled-in template, or a dataset; again for the next of them (default the template and every NAME.jsonl beside the key)")
	cmd.Flags().StringVar(&f.policy, "adjudicate", "", "write one opinion: majority, union, intersection or best; with --blind decided, union or intersection")
	f.gates.register(cmd, "'alpha >= 0.8'")
	cmd.Flags().IntVar(&f.worst, "worst", 5, "how many of the worst disagreements to show")
	return cmd
}

// check refuses what does not go together.
func (f *agreeFlags) check(args []string) error {
	switch {
	case f.worst < 0:
		return ibid.Usagef("--worst cannot be negative")
	case len(args) == 0 && f.blind == "":
		return ibid.Usagef("nothing to compare").With("name a dataset: ibid agree DATASET")
	case f.filled != nil && f.blind == "":
		return ibid.Usagef("--filled needs --blind")
	case f.policy != "" && f.gates != nil:
		return ibid.Usagef("--adjudicate and --gate do not go together")
	}
	return nil
}

func (a *app) agree(cmd *cobra.Command, f *agreeFlags, args []string) error {
	if err := a.formats(tableFormats...); err != nil {
		return err
	}
	if err := f.check(args); err != nil {
		return err
	}
	if f.policy != "" && f.blind != "" {
		return a.mergeRounds(cmd, f, args)
	}
	if f.policy != "" {
		return a.adjudicate(cmd, f, args[0])
	}
	var view *report.Agreement
	var err error
	switch {
	case f.blind != "":
		view, err = a.agreeBlind(cmd, f, args)
	case f.table.asked(args[0]):
		view, err = a.agreeTable(cmd, f, args[0])
	default:
		view, err = a.agreeDataset(cmd, f, args[0])
	}
	if err != nil {
		return err
	}
	if err := a.show(view); err != nil {
		return err
	}
	return f.gates.check(a, valuesOfAgreement(view.Result.Statistics))
}

// agreeTable measures a table of labels.
func (a *app) agreeTable(cmd *cobra.Command, f *agreeFlags, path string) (*report.Agreement, error) {
	config, err := f.settings.without(a, cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.table.read(path)
	if err != nil {
		return nil, err
	}
	labels := annotations.NewLabels((&harness.Job{Config: config}).AgreementOptions(f.worst), f.table.values)
	for _, it := range t.Items {
		labels.Add(it)
	}
	if !labels.Pairable() {
		return nil, nothingToCompare(path, int(config.QualityControl.Agreement.MinAnnotators))
	}
	result := annotations.Measure(nil, labels)
	if t.Blank > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf("%d records have no value", t.Blank))
	}
	return &report.Agreement{Title: fmt.Sprintf("agreement on %s of %s", report.Plural(int64(len(t.Items)), "item", "items"), path), Result: result}, nil
}

func nothingToCompare(path string, least int) error {
	if least > 2 {
		return ibid.Usagef("%s: no item has %d annotators", path, least).With("quality_control.inter_annotator_agreement.min_annotators asks for as many")
	}
	return ibid.Usagef("%s: no item has two annotators", path).With("agreement needs truth or labels by two annotators of one item; see ibid help formats")
}

// agreeDataset measures what the annotators of a dataset said.
func (a *app) agreeDataset(cmd *cobra.Command, f *agreeFlags, argument string) (*report.Agreement, error) {
	plan, progress, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	found, err := plan.Annotated(cmd.Context(), f.worst)
	if err != nil {
		return nil, err
	}
	if !found.Spans.Pairable() && !found.Labels.Pairable() {
		return nil, nothingToCompare(argument, found.MinAnnotators())
	}
	return measured(cmd, plan, found, "agreement of the annotators of "+argument)
}

func measured(cmd *cobra.Command, plan *harness.Plan, found *harness.Annotated, title string) (*report.Agreement, error) {
	result := annotations.Measure(found.Spans, found.Labels)
	result.Warnings = append(result.Warnings, found.Warnings()...)
	if err := plan.Explain(cmd.Context(), result.Worst); err != nil {
		return nil, err
	}
	return &report.Agreement{Title: title, Result: result}, nil
}

// planAnnotated opens a dataset for what its annotators said; nobody is judged.
// The progress line must be closed before anything else is said.
func (a *app) planAnnotated(cmd *cobra.Command, settings *settingFlags, argument string) (*harness.Plan, *term.Progress, error) {
	settings.fixed = append(settings.fixed, configs.Flag{Name: cmd.Name(), Key: "judge.kind", Value: "none"})
	config, err := settings.load(a, cmd, argument)
	if err != nil {
		return nil, nil, err
	}
	return a.plan(cmd, &harness.Job{Config: config, Source: argument, Version: a.Version})
}

// agreeBlind compares a blind sample with the dataset that it was drawn from.
func (a *app) agreeBlind(cmd *cobra.Command, f *agreeFlags, args []string) (*report.Agreement, error) {
	r, err := a.openRound(cmd, f, args)
	if err != nil {
		return nil, err
	}
	defer r.progress.Close()
	found, err := r.plan.AnnotatedAgain(cmd.Context(), f.worst, r.said.Said)
	if err != nil {
		return nil, err
	}
	if !found.Spans.Pairable() && !found.Labels.Pairable() {
		return nil, nothingToCompare(r.argument, found.MinAnnotators())
	}
	view, err := measured(cmd, r.plan, found, fmt.Sprintf("agreement of %s with %s, annotated blindly", report.Plural(int64(len(r.said.Said)), "row", "rows"), r.argument))
	if err != nil {
		return nil, err
	}
	if f, proposed := annotations.Follow(r.said.Said, r.plan.Level()); proposed {
		view.Result.AddFollowing(&f)
	}
	return view, nil
}

// A blindRound is what people said of a blind sample, and its dataset.
type blindRound struct {
	said     *annotations.Filled
	argument string // the dataset as it is named
	plan     *harness.Plan
	progress *term.Progress // to be closed
}

// openRound reads what people said of a blind sample, and opens its dataset.
func (a *app) openRound(cmd *cobra.Command, f *agreeFlags, args []string) (*blindRound, error) {
	key, err := annotations.ReadKey(f.blind)
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err, Hint: "the key is what ibid sample wrote beside the template"}
	}
	filled := f.filled
	if filled == nil {
		if filled, err = key.FilledFiles(f.blind); err != nil {
			return nil, err
		}
	}
	said, err := annotations.ReadFilled(cmd.Context(), filled, key)
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err}
	}
	if len(said.Said) == 0 {
		return nil, ibid.Usagef("%s: nothing was filled in", filled[0]).With("fill in truth, and the values of labels")
	}
	argument := key.Dataset
	if len(args) > 0 {
		argument = args[0]
	}
	for name, path := range map[string]string{"documents": key.Documents, "truth": key.Truth, "labels": key.Labels} {
		if path != "" && len(args) == 0 && !cmd.Flags().Changed(name) {
			f.settings.set = append(f.settings.set, name+"="+path)
		}
	}
	plan, progress, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return nil, err
	}
	if plan.Ingredients["dataset"] != key.Digest {
		progress.Close()
		return nil, ibid.Usagef("%s is not the dataset that the sample was drawn from", argument).With("compare with the one that was: ibid agree DATASET --blind KEY")
	}
	return &blindRound{said, argument, plan, progress}, nil
}

// decidedPolicy is the policy of adjudication by people alone.
const decidedPolicy = "decided"

// mergeRounds writes one table of what people said of a blind sample and of its dataset.
func (a *app) mergeRounds(cmd *cobra.Command, f *agreeFlags, args []string) error {
	policies := []string{decidedPolicy, string(ibid.PolicyUnion), string(ibid.PolicyIntersection)}
	if !slices.Contains(policies, f.policy) {
		return ibid.Usagef("--adjudicate %s: with --blind not one of %s", f.policy, strings.Join(policies, ", ")).With("with decided, what people differ on is left out until somebody decides it: ibid annotate DIR --adjudicate")
	}
	if filepath.Ext(a.output) != ".jsonl" {
		return ibid.Usagef("--adjudicate with --blind needs a file of JSON Lines to write to").With("add -o merged.jsonl")
	}
	r, err := a.openRound(cmd, f, args)
	if err != nil {
		return err
	}
	defer r.progress.Close()
	var merging acts.Merging
	if f.policy != decidedPolicy {
		merging.Rule = ibid.Policy(f.policy)
	}
	merged, err := r.plan.MergeRounds(cmd.Context(), r.said, merging)
	if err != nil {
		return err
	}
	r.progress.Close()
	if merged.Unclear > 0 {
		a.warn("%s left out of their questions, since some mark has no place in a text", report.Plural(merged.Unclear, "annotator", "annotators"))
	}
	if err := dataset.WriteFile(a.output, func(w io.Writer) error { return acts.WriteLines(w, merged.Items) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s with one truth, %s; %d undecided and left out\n", a.output,
		report.Plural(merged.Questions, "question", "questions"), report.Plural(merged.Labels, "label", "labels"), merged.Undecided)
	return err
}

// adjudicate writes a dataset with one opinion.
func (a *app) adjudicate(cmd *cobra.Command, f *agreeFlags, argument string) error {
	if a.output == "-" {
		return ibid.Usagef("--adjudicate needs a file to write to").With("add -o dataset.parquet")
	}
	policy, err := ibid.ParsePolicy(f.policy, annotations.Policies...)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err}
	}
	target, err := datasetTarget(a.output)
	if err != nil {
		return err
	}
	plan, progress, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return err
	}
	defer progress.Close()
	done, err := plan.Adjudicate(cmd.Context(), policy, target)
	progress.Close()
	if err != nil {
		return err
	}
	if done.Unclear > 0 {
		a.warn("%s kept as they were, since some mark has no place in a text", report.Plural(done.Unclear, "row", "rows"))
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s, %s with one truth; %s, %s without an answer\n", a.output, report.Plural(done.Rows, "row", "rows"),
		report.Thousands(done.Marked), report.Plural(done.Labels, "label", "labels"), report.Plural(done.Undecided, "question", "questions"))
	return err
}
