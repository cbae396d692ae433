package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ibid/annotations"
	"ibid/report"
)

// agreeBlind compares a blind sample with the dataset that it was drawn from.
func (a *app) agreeBlind(cmd *cobra.Command, f *agreeFlags, args []string) (*report.Agreement, error) {
	key, err := annotations.ReadKey(f.blind)
	if err != nil {
		return nil, &usageError{err: err, hint: "the key is what ibid sample wrote beside the template"}
	}
	filled := f.filled
	if filled == "" {
		filled = key.TemplatePath(f.blind)
	}
	said, err := annotations.ReadFilled(cmd.Context(), filled, key)
	if err != nil {
		return nil, &usageError{err: err}
	}
	if len(said) == 0 {
		return nil, &usageError{err: fmt.Errorf("%s: nothing was filled in", filled), hint: "fill in truth, and the values of labels"}
	}
	argument := key.Dataset
	if len(args) > 0 {
		argument = args[0]
	}
	if key.Documents != "" && len(args) == 0 && !cmd.Flags().Changed("documents") {
		f.settings.set = append(f.settings.set, "documents="+key.Documents)
	}
	plan, progress, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return nil, err
	}
	defer progress.Close()
	if plan.Ingredients["dataset"] != key.Digest {
		return nil, &usageError{err: fmt.Errorf("%s is not the dataset that the sample was drawn from", argument), hint: "compare with the one that was: ibid agree DATASET --blind KEY"}
	}
	found, err := plan.AnnotatedAgain(cmd.Context(), f.worst, said)
	if err != nil {
		return nil, err
	}
	if !found.Spans.Pairable() && !found.Labels.Pairable() {
		return nil, nothingToCompare(argument, found.MinAnnotators())
	}
	return measured(cmd, plan, found, fmt.Sprintf("agreement of %s with %s, annotated blindly", plural(int64(len(said)), "row", "rows"), argument))
}

// adjudicate writes a dataset with one opinion.
func (a *app) adjudicate(cmd *cobra.Command, f *agreeFlags, argument string) error {
	if a.output == "-" {
		return &usageError{err: errors.New("--adjudicate needs a file to write to"), hint: "add -o dataset.parquet"}
	}
	policy, err := annotations.ParsePolicy(f.policy)
	if err != nil {
		return &usageError{err: err}
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
		a.warn("%s kept as they were, since some mark has no place in a text", plural(done.Unclear, "row", "rows"))
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s, %s with one truth; %s, %s without an answer\n", a.output, plural(done.Rows, "row", "rows"),
		report.Thousands(done.Marked), plural(done.Labels, "label", "labels"), plural(done.Undecided, "question", "questions"))
	return err
}
