package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/round"
	"ibid/configs"
	"ibid/dataset"
	"ibid/harness"
	"ibid/report"
)

type agreeFlags struct {
	settings  settingFlags
	table     tableFlags
	gold      string
	undecided string
	worst     int
	gates     statisticGates
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

// asked reports whether the argument is a table of labels: --columns says so, or it has the
// columns of one.
func (f *tableFlags) asked(path string) bool { return len(f.columns) > 0 || annotations.IsTable(path) }

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

func (a *app) agreeCommand() *cobra.Command {
	f := &agreeFlags{}
	cmd := &cobra.Command{
		Use:   "agree ROUND|DATASET|RUN.yaml|LABELS",
		Short: "agreement between annotators",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.agree(cmd, f, args[0]) },
	}
	f.settings.register(cmd)
	f.settings.add(cmd, "documents", "documents", documentsUsage)
	f.settings.addGold(cmd)
	f.table.register(cmd)
	cmd.Flags().StringVar(&f.gold, "gold", "", "write one opinion instead of several to this file, as JSON Lines")
	cmd.Flags().StringVar(&f.undecided, "undecided", round.Policies[0], "with --gold, what decides where nobody did: "+strings.Join(round.Policies, ", "))
	f.gates.register(cmd, "'alpha >= 0.8'")
	cmd.Flags().IntVar(&f.worst, "worst", 5, "how many of the worst disagreements to show")
	return cmd
}

// check refuses what does not go together.
func (f *agreeFlags) check(cmd *cobra.Command) error {
	switch {
	case f.worst < 0:
		return ibid.Usagef("--worst cannot be negative")
	case f.gold == "" && cmd.Flags().Changed("undecided"):
		return ibid.Usagef("--undecided needs --gold")
	case f.gold != "" && f.gates != nil:
		return ibid.Usagef("--gold and --gate do not go together")
	case f.gold != "" && !strings.HasSuffix(f.gold, ".jsonl"):
		return ibid.Usagef("--gold %s: it writes JSON Lines", f.gold).With("call it " + f.gold + ".jsonl")
	}
	return oneOf("--undecided", f.undecided, round.Policies...)
}

func (a *app) agree(cmd *cobra.Command, f *agreeFlags, argument string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var view *report.Agreement
	var err error
	switch {
	case round.IsRound(argument):
		if view, err = a.agreeRound(cmd, f, argument); view == nil {
			return err
		}
	case f.gold != "":
		return a.goldOfDataset(cmd, f, argument)
	case f.table.asked(argument):
		view, err = a.agreeTable(cmd, f, argument)
	default:
		view, err = a.agreeDataset(cmd, f, argument)
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
	labels := annotations.NewLabels(harness.AgreementOptions(config, f.worst), f.table.values)
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
	plan, closePlan, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return nil, err
	}
	defer closePlan()
	found, err := plan.Annotated(cmd.Context(), f.worst)
	if err != nil {
		return nil, err
	}
	if !found.Spans.Pairable() && !found.Labels.Pairable() {
		return nil, nothingToCompare(argument, found.MinAnnotators())
	}
	result := annotations.Measure(found.Spans, found.Labels)
	result.Warnings = append(result.Warnings, found.Warnings()...)
	if err := plan.Explain(cmd.Context(), result.Worst); err != nil {
		return nil, err
	}
	return &report.Agreement{Title: "agreement of the annotators of " + argument, Result: result}, nil
}

// planAnnotated opens a dataset for what its annotators said; nobody is judged. close ends
// the progress line, too; it must be called before anything else is said.
func (a *app) planAnnotated(cmd *cobra.Command, settings *settingFlags, argument string) (plan *harness.Plan, closePlan func(), err error) {
	settings.fixed = append(settings.fixed, configs.Flag{Name: cmd.Name(), Key: "judge.kind", Value: "none"})
	config, err := settings.load(a, cmd, argument)
	if err != nil {
		return nil, nil, err
	}
	plan, progress, err := a.plan(cmd, &harness.Job{Config: config, Source: argument, Version: a.Version, Import: harness.ImportForNow})
	if err != nil {
		return nil, nil, err
	}
	return plan, func() { progress.Close(); plan.Close() }, nil
}

// agreeRound measures what people said in a round, or writes its gold: then there is no view.
func (a *app) agreeRound(cmd *cobra.Command, f *agreeFlags, dir string) (*report.Agreement, error) {
	config, err := f.settings.without(a, cmd)
	if err != nil {
		return nil, err
	}
	r, err := round.Open(dir)
	if err != nil {
		return nil, err
	}
	if r.Key == nil {
		return nil, ibid.Usagef("%s has no %s, which says which item is which", dir, round.KeyFile)
	}
	for _, text := range r.Warnings {
		a.warn("%s", text)
	}
	if f.gold != "" {
		if r.Key.Foreign {
			return nil, errOtherOffsets()
		}
		return nil, a.writeGold(f, r.Asked())
	}
	o := harness.AgreementOptions(config, f.worst)
	spans, labels := annotations.NewSpans(o), annotations.NewLabels(o, []string{"0", "1"})
	r.Measure(spans, labels)
	counts := r.Counts()
	var people []string
	for _, c := range counts {
		people = append(people, c.Text())
	}
	if !spans.Pairable() && !labels.Pairable() {
		err := nothingToCompare(dir, o.Quality.MinAnnotators)
		if len(people) > 0 {
			return nil, fmt.Errorf("%w (%s)", err, strings.Join(people, "; "))
		}
		return nil, ibid.Usagef("%s: nobody has annotated yet", dir).With("ibid annotate " + dir + " --annotator NAME")
	}
	result := annotations.Measure(spans, labels)
	r.Explain(result.Worst)
	view := &report.Agreement{Title: fmt.Sprintf("agreement on %s of %s", report.Plural(int64(len(r.Items)), "item", "items"), r.Key.Dataset), Result: result, People: people}
	view.Round = struct {
		People    []round.Count    `json:"people"`
		Proposals *round.Following `json:"proposals,omitempty"`
	}{counts, r.Following()}
	if p := r.Following(); p != nil {
		result.Warnings = append(result.Warnings, fmt.Sprintf("mean Jaccard of marks and what %s proposes: %s in %s that show it, %s in %s that do not",
			r.Key.Judge, meanText(p.Shown), report.Plural(int64(p.ShownItems), "item", "items"), meanText(p.Hidden), report.Plural(int64(p.HiddenItems), "item", "items")))
	}
	return view, nil
}

func meanText(n ibid.Number) string {
	if !n.Known() {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", n.Value)
}

func errOtherOffsets() error {
	return ibid.Usagef("a table of one opinion counts in code points with exclusive ends, and the dataset does not").With("ibid import converts offsets; draw from what it writes")
}

// goldOfDataset writes one opinion of what the annotators of a dataset say.
func (a *app) goldOfDataset(cmd *cobra.Command, f *agreeFlags, argument string) error {
	answers, closeAnswers, err := a.openAnswers(cmd, &f.settings, argument)
	if err != nil {
		return err
	}
	defer closeAnswers()
	if answers.CountsOtherwise() {
		return errOtherOffsets()
	}
	asked, err := round.AskedOf(cmd.Context(), answers)
	if err != nil {
		return err
	}
	closeAnswers()
	if len(asked) == 0 {
		return ibid.Usagef("%s: nobody annotated anything", argument)
	}
	return a.writeGold(f, asked)
}

// writeGold writes one opinion and says how much of it there is.
func (a *app) writeGold(f *agreeFlags, asked []round.Asked) error {
	gold, err := round.MakeGold(asked, f.undecided)
	if err != nil {
		return err
	}
	if err := dataset.WriteFile(f.gold, gold.Write); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s with one truth, %s; %d open and left out\n", f.gold,
		report.Plural(gold.Questions, "question", "questions"), report.Plural(gold.Labels, "label", "labels"), gold.Open)
	return err
}
