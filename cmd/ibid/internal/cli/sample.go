package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/round"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/harness"
	"ibid/report"
)

type sampleFlags struct {
	settings settingFlags
	draw     round.Draw
	propose  string
	template string
}

func (a *app) sampleCommand() *cobra.Command {
	f := &sampleFlags{}
	cmd := &cobra.Command{
		Use:   "sample DATASET|RUN.yaml -o DIR",
		Short: "a round of annotation: items for people",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.drawSample(cmd, f, args[0]) },
	}
	f.settings.register(cmd)
	f.settings.add(cmd, "documents", "documents", documentsUsage)
	f.settings.addGold(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.draw.Purpose, "purpose", round.Both, "what people are asked: truth, labels or both")
	flags.StringVar(&f.draw.Fraction, "fraction", "0.1", "share of the questions to draw, rounded up")
	flags.IntVar(&f.draw.Items, "n", 0, "how many questions to draw, in place of a fraction")
	flags.StringVar(&f.draw.Stratify, "stratify", "", "draw in proportion to the values of this tag")
	flags.StringVar(&f.draw.Seed, "seed", "1", "what the draw depends on, besides the ids")
	flags.StringSliceVar(&f.draw.Annotators, "annotators", nil, "who annotates, to share the items out: ada,ben")
	flags.Float64Var(&f.draw.Overlap, "overlap", 0.2, "with --annotators, share of the items that all of them get")
	flags.StringVar(&f.propose, "propose", "", "a finished run whose judge proposes marks")
	flags.StringVar(&f.template, "template", "", "another form for people: page or label-studio")
	return cmd
}

// Files of other forms of a round.
const (
	tasksFile  = "tasks.json"
	configFile = "label_config.xml"
	pageFile   = "annotate.html"
)

func (a *app) drawSample(cmd *cobra.Command, f *sampleFlags, argument string) error {
	if a.output == "-" {
		return ibid.Usagef("sample needs a folder to write to").With("add -o DIR")
	}
	switch {
	case f.template != "" && f.template != "page" && f.template != "label-studio":
		return ibid.Usagef("unknown template %q", f.template).With("templates are page, label-studio")
	case cmd.Flags().Changed("n") && cmd.Flags().Changed("fraction"):
		return ibid.Usagef("--n and --fraction do not go together")
	case cmd.Flags().Changed("n") && f.draw.Items < 1:
		return ibid.Usagef("--n must be at least 1")
	}
	if err := round.Check(a.output); err != nil {
		return err
	}
	for _, name := range f.draw.Annotators {
		if err := round.CheckName(name); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("n") {
		f.draw.Fraction = ""
	}
	if len(f.draw.Annotators) == 0 {
		f.draw.Overlap = 0
	}
	answers, closeAnswers, err := a.openAnswers(cmd, &f.settings, argument)
	if err != nil {
		return err
	}
	defer closeAnswers()
	options, err := answers.ClaimOptions()
	if err != nil {
		return err
	}
	drawn, err := round.DrawRound(cmd.Context(), answers, options, f.draw)
	if err != nil {
		return err
	}
	drawn.Key.Dataset, drawn.Key.Foreign = filepath.Base(argument), answers.CountsOtherwise()
	closeAnswers()
	if f.propose != "" {
		if err := a.propose(drawn, f.propose); err != nil {
			return err
		}
	}
	more := make(map[string]func(io.Writer) error)
	switch f.template {
	case "page":
		more[pageFile] = func(w io.Writer) error { return annotate.WriteFile(w, &drawn.Header, drawn.Items) }
	case "label-studio":
		more[tasksFile] = func(w io.Writer) error { return round.WriteTasks(w, drawn.Items) }
		more[configFile] = func(w io.Writer) error { return round.WriteConfig(w, drawn.Items) }
	}
	if err := drawn.Write(a.output, more); err != nil {
		return err
	}
	return a.saySample(drawn)
}

// openAnswers opens the rows of a dataset for a round; close ends the progress line, too.
func (a *app) openAnswers(cmd *cobra.Command, settings *settingFlags, argument string) (*harness.Answers, func(), error) {
	plan, closePlan, err := a.planAnnotated(cmd, settings, argument)
	if err != nil {
		return nil, nil, err
	}
	answers, err := plan.OpenAnswers(cmd.Context())
	if err != nil {
		closePlan()
		return nil, nil, err
	}
	return answers, sync.OnceFunc(func() { answers.Close(); closePlan() }), nil
}

// propose gives the round what the judge of a run found.
func (a *app) propose(drawn *round.Drawn, dir string) error {
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	found, err := round.ReadFound(dir, m.Supported())
	if errors.Is(err, fs.ErrNotExist) {
		return ibid.Usagef("%s has no verdicts of a judge", dir).With("evaluate with one: ibid run --judge lexical")
	}
	if err != nil {
		return err
	}
	all, shown := drawn.Propose(m.Judge.Name(), found)
	if all == 0 {
		return ibid.Usagef("%s found nothing for any item of the sample", dir).With("propose from a run over the same questions")
	}
	if a.format != "json" {
		fmt.Fprintf(a.Stdout, "%s proposes marks for %s; %d show them\n", m.Judge.Name(), report.Plural(int64(all), "item", "items"), shown)
	}
	return nil
}

// saySample prints what was drawn and which files to give to people.
func (a *app) saySample(d *round.Drawn) error {
	if a.format == "json" {
		return report.WriteJSON(a.Stdout, struct {
			Schema string `json:"schema"`
			Round  string `json:"round"`
			Second bool   `json:"second_look"`
			Drawn  int    `json:"questions"`
			Of     int    `json:"of"`
			Items  int    `json:"items"`
			Bare   int    `json:"left_out_without_text"`
		}{"ibid.drawn/v3", d.Header.Round, d.Key.Draw.Second, d.Drawn, d.Of, len(d.Items), d.Bare})
	}
	truth := 0
	for i := range d.Items {
		if d.Items[i].Purpose == round.Truth {
			truth++
		}
	}
	var items []string
	for _, n := range []struct {
		n  int
		of string
	}{{truth, round.Truth}, {len(d.Items) - truth, round.Labels}} {
		if n.n > 0 {
			items = append(items, fmt.Sprintf("%s of %s", report.Plural(int64(n.n), "item", "items"), n.of))
		}
	}
	what := "first round: %d of %s: %s\n"
	if d.Key.Draw.Second {
		what = "second look: %d of %s that people annotated: %s\n"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, what, d.Drawn, report.Plural(int64(d.Of), "question", "questions"), strings.Join(items, ", then "))
	if d.Bare > 0 {
		fmt.Fprintf(&b, "left out %s: no text is at hand that could be marked or judged\n", report.Plural(int64(d.Bare), "item", "items"))
	}
	fmt.Fprintf(&b, "annotate with ibid annotate %s --annotator NAME; %s says which item is which\n", a.output, filepath.Join(a.output, round.KeyFile))
	_, err := a.Stdout.Write(b.Bytes())
	return err
}
