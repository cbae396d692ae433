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
	run      string
	blind    string
	filled   []string
	policy   string
	worst    int
	under    failUnder
}

// tableFlags name the columns of a table of labels.
type tableFlags struct {
	annotations.TableColumns
	categories string
}

func (f *tableFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Item, "item", "", "column of a table of labels: what was labelled (default item)")
	flags.StringVar(&f.Annotator, "annotator", "", "column: who labelled it (default annotator, if there is one)")
	flags.StringVar(&f.Value, "value", "", "column: what they said (default value)")
	flags.StringVar(&f.Cluster, "cluster", "", "column: the document or batch of the item (default cluster, if there is one)")
	flags.StringVar(&f.categories, "categories", "", "values that could be said, in their order, comma separated (default those that occur)")
}

// asked reports whether the argument is a table of labels.
func (f *tableFlags) asked(path string) bool {
	return annotations.IsTable(path) || f.TableColumns != annotations.TableColumns{}
}

// read reads a table; what is wrong with it is wrong use.
func (f *tableFlags) read(path string) (*annotations.Table, error) {
	t, err := annotations.ReadTable(path, f.TableColumns)
	return t, asUsage(err)
}

const agreeLong = `agree measures how far the annotators of a dataset agree: on the places that they
marked (truth) and on what they said of claims and citations (labels); all of them
together and two by two, raw and corrected for chance. Intervals are over documents.

One statistic decides about each kind of data: char_alpha about marked places,
alpha_ordinal about labels whose values have an order, alpha_nominal about others. It
is reliable if the low end of its interval reaches 0.8 (Krippendorff 2004), and unreliable
if the high end does not. Otherwise it is undecided, with the number of items that would
decide if the estimate stays: intervals shrink with the square root of it (Cochran 1977,
ch. 4).
Where all documents agree, 16 of them are enough. Labels that never vary, or of which
more than 90 % are alike, have no verdict: see ac1. All other statistics have none.

--fail-under alpha=0.8 ends with exit code 3 if what decides about a kind of data is
less; with 4 if it is undefined or has no verdict. Other statistics go by their names.

The target of quality_control.inter_annotator_agreement is that of mean char_jaccard;
below recalibration_threshold annotators should meet. Items with fewer annotators than
min_annotators are left out.

A table of labels (CSV, JSON Lines, Parquet) has one label a record; --item,
--annotator, --value and --cluster name its columns.

Where items of a blind sample carried proposals of a judge, proposals_gap says whether
people follow them: the mean Jaccard of marks and proposals where these were shown,
less that where they were withheld.

--run RUN makes the judge of a finished run one more annotator. --blind KEY compares
what was said in a blind sample of ibid sample with what the dataset has: in the
template and in every NAME.jsonl beside the key, or in the files of --filled.

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
		Short: "agreement between annotators, and with the judge",
		Long:  agreeLong,
		Example: `  ibid agree answers.parquet --documents documents.parquet
  ibid agree answers.parquet --run runs/sample
  ibid agree answers.parquet --fail-under alpha=0.8 --fail-under char_jaccard=0.85
  ibid agree labels.csv --item claim --annotator who --value verdict
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
	cmd.Flags().StringVar(&f.run, "run", "", "a finished run whose judge is one more annotator")
	cmd.Flags().StringVar(&f.blind, "blind", "", "the key of a blind sample that was annotated")
	cmd.Flags().StringArrayVar(&f.filled, "filled", nil, "what annotators said: a filled-in template, or a dataset; again for the next of them (default the template and every NAME.jsonl beside the key)")
	cmd.Flags().StringVar(&f.policy, "adjudicate", "", "write one opinion: majority, union, intersection or best; with --blind decided, union or intersection")
	f.under.register(cmd, "alpha=0.8")
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
	case f.policy != "" && f.run != "":
		return ibid.Usagef("--adjudicate and --run do not go together")
	case f.policy != "" && f.under != nil:
		return ibid.Usagef("--adjudicate and --fail-under do not go together")
	case f.blind != "" && f.run != "":
		return ibid.Usagef("--blind and --run do not go together")
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
	return f.under.check(a, boundsOfAgreement(view.Result.Statistics))
}

// agreeTable measures a table of labels.
func (a *app) agreeTable(cmd *cobra.Command, f *agreeFlags, path string) (*report.Agreement, error) {
	if f.run != "" {
		return nil, ibid.Usagef("--run needs a dataset").With("in a table the judge is an annotator like others")
	}
	config, err := f.settings.without(a, cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.table.read(path)
	if err != nil {
		return nil, err
	}
	var categories []string
	if f.table.categories != "" {
		categories = strings.Split(f.table.categories, ",")
	}
	labels := annotations.NewLabels((&harness.Job{Config: config}).AgreementOptions(f.worst), categories)
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
	if f.run != "" {
		if err := a.joinJudge(plan, found, f.run); err != nil {
			return nil, err
		}
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

// joinJudge makes the judge of a run an annotator.
func (a *app) joinJudge(plan *harness.Plan, found *harness.Annotated, dir string) error {
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	verdicts, err := annotations.ReadVerdicts(dir)
	if err != nil {
		return err
	}
	if len(verdicts) == 0 {
		return ibid.Usagef("%s has no verdicts of a judge", dir).With("evaluate with one: ibid run --judge lexical")
	}
	if err := verdicts.AddPairs(dir); err != nil {
		return err
	}
	config, err := harness.SettingsOf(m, nil, nil)
	if err != nil {
		return err
	}
	if m.Ingredients["dataset"] != plan.Ingredients["dataset"] {
		a.warn("%s is not of this dataset: what its judge said of the same ids may be about other answers", dir)
	}
	joined := 0
	found.Labels.Join(annotations.JudgeName(m.Judge.Name()), config.Thresholds.Supported, func(it *annotations.Judged) (float64, bool) {
		v, ok := verdicts[it.Verdict]
		if ok {
			joined++
		}
		return v, ok
	})
	if joined == 0 {
		a.warn("%s judged nothing that people labelled", dir)
	}
	return nil
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
