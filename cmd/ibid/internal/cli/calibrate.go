package cli

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

type calibrateFlags struct {
	settings  settingFlags
	table     tableFlags
	judge     string
	threshold float64
	policy    string
	from      string
	fit       string
	dry       bool
	gates     statisticGates
}

func (a *app) calibrateCommand() *cobra.Command {
	f := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:   "calibrate RUN|LABELS",
		Short: "judge against human labels; corrected scores with intervals",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.calibrate(cmd, f, args[0]) },
	}
	f.settings.register(cmd)
	f.table.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.judge, "judge-name", "", "the annotator of a table that is the judge")
	flags.Float64Var(&f.threshold, "threshold", 0, "scores and people's values are a yes from here on (default thresholds.supported of the run; 0.5 of a table)")
	flags.StringVar(&f.policy, "policy", "mean", "how several people's labels of a table count: mean, majority or each")
	flags.StringVar(&f.from, "labelled", "", "a labelled run with the same judge, to correct this one by")
	flags.StringVar(&f.fit, "fit", "", "choose thresholds on the labels and write them here, for judge.file")
	f.gates.register(cmd, "'balanced_accuracy >= 0.8'")
	flags.BoolVar(&f.dry, "dry-run", false, "leave the run as it is")
	return cmd
}

func (f *calibrateFlags) check(cmd *cobra.Command, path string) error {
	switch {
	case f.table.asked(path) && f.judge == "":
		return ibid.Usagef("which annotator is the judge?").With("name one: --judge-name NAME")
	case !f.table.asked(path) && f.judge != "":
		return ibid.Usagef("--judge-name needs a table of labels").With("a run knows its judge")
	case math.IsNaN(f.threshold) || math.IsInf(f.threshold, 0):
		return ibid.Usagef("--threshold must be a finite number")
	case f.table.asked(path) && f.from != "":
		return ibid.Usagef("--labelled needs a run")
	case f.from != "" && f.fit != "":
		return ibid.Usagef("--fit needs the labels of the run itself").With("leave out --labelled")
	case f.from != "" && cmd.Flags().Changed("threshold"):
		return ibid.Usagef("--labelled takes the thresholds of the runs").With("the judge's rates must be those at the threshold that the metrics count by: leave out --threshold")
	case !slices.Contains([]string{"mean", "majority", "each"}, f.policy):
		return ibid.Usagef("--policy: %q is not possible", f.policy).With("it is one of mean, majority, each")
	}
	return nil
}

// options are those of a calibration; the threshold is the one given, or else the
// default.
func (f *calibrateFlags) options(cmd *cobra.Command, o annotations.Options, threshold float64) annotations.CalibrateOptions {
	if cmd.Flags().Changed("threshold") {
		threshold = f.threshold
	}
	return annotations.CalibrateOptions{Options: o, Threshold: threshold}
}

func (a *app) calibrate(cmd *cobra.Command, f *calibrateFlags, argument string) error {
	if err := f.check(cmd, argument); err != nil {
		return err
	}
	measure, run := a.calibrateRun, report.ShellWord(argument)
	if f.table.asked(argument) {
		measure, run = a.calibrateTable, "RUN"
	}
	view, err := measure(cmd, f, argument)
	if err != nil {
		return err
	}
	if err := a.show(view); err != nil {
		return err
	}
	switch t := view.Fitted; {
	case f.fit == "":
	case view.Recorded:
		a.hint(fmt.Sprintf("use it: ibid rescore %s --set thresholds.supported=%v", run, *t.Supported))
	default:
		t.Judge = view.Kinds[0].Judge
		if err := t.Write(f.fit); err != nil {
			return err
		}
		a.hint(fmt.Sprintf("use it: ibid rescore %s --set judge.file=%s", run, report.ShellWord(f.fit)))
	}
	return f.gates.check(a, valuesOfJudge(view.Kinds))
}

func (a *app) calibrateTable(cmd *cobra.Command, f *calibrateFlags, path string) (*report.Calibration, error) {
	config, err := f.settings.without(a, cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.table.read(path)
	if err != nil {
		return nil, err
	}
	t.InNumbers(config.Values)
	verdicts, err := annotations.TableVerdicts(t, f.judge, ibid.Policy(f.policy))
	if err != nil {
		hint := "say what words stand for: --set 'values={yes: 1, no: 0}'"
		if known, ok := errors.AsType[*ibid.Error](err); ok {
			hint = known.Hint
		}
		return nil, ibid.Usagef("%s: %w", path, err).With(hint)
	}
	if len(verdicts) == 0 {
		return nil, ibid.Usagef("%s: people said nothing of what %s judged", path, f.judge)
	}
	o := f.options(cmd, harness.AgreementOptions(config, 0), 0.5)
	if most := highest(verdicts); o.Threshold > most {
		return nil, ibid.Usagef("%s: no score and no value reaches the threshold %g", path, o.Threshold).With(fmt.Sprintf("they go up to %g: --threshold says from where on they are a yes", most))
	}
	if f.fit != "" {
		if o.Fitted, err = annotations.Fit(annotations.SupportScore, verdicts, o.Threshold); err != nil {
			return nil, err
		}
	}
	c := annotations.Calibrate("", f.judge, verdicts, o)
	view := &report.Calibration{Title: fmt.Sprintf("judge %s against people, %s", f.judge, path), Kinds: []*annotations.Calibration{c}, Fitted: o.Fitted}
	if !cmd.Flags().Changed("threshold") && slices.ContainsFunc(verdicts, offScale) {
		view.Warnings = append(view.Warnings, fmt.Sprintf("some of people's values lie outside 0 to 1; every value from %g on counts as a yes here: --threshold sets another", c.Threshold))
	}
	return view, nil
}

// highest is the greatest score or value.
func highest(verdicts []annotations.Verdict) float64 {
	most := math.Inf(-1)
	for _, v := range verdicts {
		most = max(most, v.Human, v.Judge)
	}
	return most
}

// offScale reports whether people's value is no degree of support.
func offScale(v annotations.Verdict) bool { return v.Human < 0 || v.Human > 1 }

// calibrateRun measures the judge of a run and corrects the run's summary.
func (a *app) calibrateRun(cmd *cobra.Command, f *calibrateFlags, dir string) (*report.Calibration, error) {
	m, err := a.openRun(dir)
	if err != nil {
		return nil, err
	}
	measured, of := dir, m
	if f.from != "" {
		measured = f.from
		if of, err = a.openRun(f.from); err != nil {
			return nil, err
		}
		if sameRun(m, of) {
			return nil, ibid.Usagef("--labelled: %s is the run itself", f.from).With("errors must be known from other items; without --labelled the run's own labels correct it")
		}
		if err := sameJudge(m, of); err != nil {
			return nil, err
		}
	}
	view, judged, err := a.measureJudge(cmd, f, measured, of)
	if err != nil {
		return nil, err
	}
	summary, err := runs.ReadSummaryOf(dir, runs.WholeSystems) // slices are not corrected
	if err != nil {
		return nil, err
	}
	before, abstains, people := corrections(summary), judged.Abstains, judged.Rows
	switch {
	case abstains:
		people = nil
		for i := range summary {
			summary[i].Corrected, summary[i].CorrectedLow, summary[i].CorrectedHigh, summary[i].CorrectedMethod = nil, nil, nil, ""
		}
	case f.from != "":
		rates := make(map[string]annotations.Rates)
		for _, k := range view.Kinds {
			rates[k.Kind] = annotations.MeasureRates(judged.Verdicts[k.Kind], annotations.CalibrateOptions{
				Options: annotations.Options{Level: k.Level}, Threshold: k.Threshold, Fitted: view.Fitted,
			})
		}
		annotations.CorrectByRates(rates, summary)
		people = nil
	default:
		warnings, err := annotations.CorrectByLabels(dir, people, summary)
		if err != nil {
			return nil, err
		}
		view.Warnings = append(view.Warnings, warnings...)
	}
	view.Corrected = corrections(summary)
	if len(view.Corrected) == 0 && !abstains {
		view.Warnings = append(view.Warnings, "nothing could be corrected: that needs 10 labelled rows of a metric, and others without labels; or --labelled RUN")
	}
	if f.dry {
		return view, nil
	}
	err = runs.Change(dir, []string{runs.SummaryFile, runs.CalibrationFile}, func() error {
		if len(view.Corrected)+len(before) > 0 {
			if err := runs.ReplaceSummary(dir, summary); err != nil {
				return err
			}
		}
		return report.SaveCalibration(dir, view)
	})
	if err != nil {
		return nil, err
	}
	return view, a.refreshReport(cmd.Context(), dir, m)
}

// corrections are the numbers that have a correction.
func corrections(summary []runs.SummaryRow) []runs.SummaryRow {
	return slices.DeleteFunc(slices.Clone(summary), func(r runs.SummaryRow) bool { return r.Corrected == nil })
}

// sameJudge refuses a run with another judge, whose errors are not those of the
// judge of m.
func sameJudge(m, older *runs.Manifest) error {
	keys := maps.Clone(m.Ingredients)
	maps.Copy(keys, older.Ingredients)
	for _, key := range sortedKeys(keys) {
		if ofJudge(key) && judgeIngredient(m, key) != judgeIngredient(older, key) {
			return ibid.Usagef("the judges differ: %s is %q in %s, %q in %s", key, m.Ingredients[key], m.ID, older.Ingredients[key], older.ID).With("errors of one judge say nothing of another's")
		}
	}
	return nil
}

// ofJudge reports whether an ingredient decides who judges and how.
func ofJudge(ingredient string) bool {
	return ingredient == "judge" || ingredient == "thresholds.supported" || strings.HasPrefix(ingredient, "judge.")
}

// judgeIngredient is an ingredient as far as it decides who judges and how. Another seed
// draws other answers of the same judge, and the room for answers changes none.
func judgeIngredient(m *runs.Manifest, key string) string {
	text := m.Ingredients[key]
	if key != "judge.request" || text == "" {
		return text
	}
	members := configs.FromValues([]configs.Value{{Key: key, Value: text}}).Judge.Request
	for _, name := range []string{"seed", "max_tokens", "max_completion_tokens"} {
		delete(members, name)
	}
	return fmt.Sprint(members)
}

// measureJudge compares the judge of a run with the labels of its dataset.
func (a *app) measureJudge(cmd *cobra.Command, f *calibrateFlags, dir string, m *runs.Manifest) (*report.Calibration, *harness.Judged, error) {
	if m.Judge.Kind == "human" {
		return nil, nil, ibid.Usagef("%s: the labels are the judge", dir).With("let another judge say something of the same answers: ibid run … --judge lexical, or --judge openrouter --model VENDOR/MODEL")
	}
	judged, err := harness.ReadJudged(cmd.Context(), dir, m)
	if err != nil {
		return nil, nil, err
	}
	config, err := harness.SettingsOf(m, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	o := f.options(cmd, harness.AgreementOptions(config, 0), config.Thresholds.Supported)
	if f.fit != "" {
		o.Fitted, err = fitRun(judged, o.Threshold)
	} else {
		o.Fitted, err = harness.ThresholdsOf(cmd.Context(), m, config.Judge.File)
	}
	if err != nil {
		return nil, nil, err
	}
	undecided := int64(0)
	for _, n := range judged.Undecided {
		undecided += n
	}
	if len(judged.Verdicts) == 0 && undecided > 0 {
		return nil, nil, ibid.Usagef("%s: the judge left all that people labelled undecided, %s", dir, report.Plural(undecided, "question", "questions")).With("let a model judge: --judge openrouter --model VENDOR/MODEL; or decide by how many words they share: --fit FILE")
	}
	if len(judged.Verdicts) == 0 {
		return nil, nil, ibid.Usagef("%s: people labelled nothing of what the judge said", dir).With("labels need the claim_id or citation_id of a claim or citation of the row")
	}
	view := &report.Calibration{
		Title: fmt.Sprintf("judge %s against people, run %s", m.Judge.Name(), m.ID), Of: m.ID,
		Recorded: m.Judge.Kind == "recorded", Fitted: o.Fitted,
	}
	if judged.Wording && config.Judge.File == "" && f.fit == "" {
		view.Offer = offer(judged.Worded, o)
	}
	for _, kind := range sortedKeys(judged.Verdicts) {
		k := o
		switch kind {
		case annotations.ClaimSupport, annotations.CitationSupport, annotations.ElsewhereSupport:
			k.Abstains, k.Undecided = judged.Abstains, judged.Undecided[kind]
			if judged.Wording && kind != annotations.ClaimSupport {
				k.Fitted = nil // which is of what a claim cites
			}
		default: // answers are yes and no
			k.Threshold, k.Fitted = 0.5, nil
		}
		c := annotations.Calibrate(kind, m.Judge.Name(), judged.Verdicts[kind], k)
		if n := judged.Open[kind]; n > 0 {
			c.Warnings = append(c.Warnings, leftOpen(n))
		}
		if c.Items > 0 || kind != annotations.ElsewhereSupport {
			view.Kinds = append(view.Kinds, c)
		}
	}
	for _, kind := range sortedKeys(judged.Open) {
		if len(judged.Verdicts[kind]) == 0 {
			view.Warnings = append(view.Warnings, kind+": "+leftOpen(judged.Open[kind]))
		}
	}
	return view, judged, nil
}

// fitRun chooses thresholds on the labels of a run: on claims, or on citations if no claim has a
// label. Those of wording are compared with the overlap of a claim, which then is its score.
func fitRun(judged *harness.Judged, threshold float64) (*annotations.Thresholds, error) {
	if judged.Wording {
		judged.Verdicts[annotations.ClaimSupport], judged.Undecided[annotations.ClaimSupport] = judged.Worded, 0
		return annotations.Fit(annotations.OverlapScore, judged.Worded, threshold)
	}
	items := judged.Verdicts[annotations.ClaimSupport]
	if len(items) == 0 {
		items = judged.Verdicts[annotations.CitationSupport]
	}
	return annotations.Fit(annotations.SupportScore, items, threshold)
}

// offer says what thresholds on overlap would bring; "" if there would be none.
func offer(claims []annotations.Verdict, o annotations.CalibrateOptions) string {
	var err error
	if o.Fitted, err = annotations.Fit(annotations.OverlapScore, claims, o.Threshold); err != nil {
		return ""
	}
	c := annotations.Calibrate("", "", slices.Clone(claims), o)
	stand := slices.DeleteFunc(slices.Clone(claims), func(v annotations.Verdict) bool { return !v.Stands })
	if c.Items <= int64(len(stand)) {
		return ""
	}
	return fmt.Sprintf("--fit FILE would decide %d of %d claims, %d rightly, in documents that had no part in the choice", c.Items, len(claims), c.TP+c.TN)
}

func leftOpen(questions int64) string {
	return "left out where label_policy finds no one answer: " + report.Plural(questions, "question", "questions")
}

// sameRun reports whether two manifests are of one run, wherever it lies.
func sameRun(a, b *runs.Manifest) bool {
	return a.ID == b.ID && a.Timings.Started.Equal(b.Timings.Started)
}
