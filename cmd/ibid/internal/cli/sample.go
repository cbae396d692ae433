package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/harness"
	"ibid/report"
)

type sampleFlags struct {
	settings settingFlags
	draw     harness.SampleOptions
	template string
}

// The key of a blind sample. What people are given stands beside it.
const keyFile = "key.json"

func (a *app) sampleCommand() *cobra.Command {
	f := &sampleFlags{}
	cmd := &cobra.Command{
		Use:   "sample DATASET|RUN.yaml -o DIR",
		Short: "a blind sample for people to annotate",
		Long: `sample draws a fraction of the annotated rows, in proportion to a field if one is
given, and writes two files to DIR: ` + templateFile + `, which shows each item with
its texts but without names and without what was said of it, and ` + keyFile + `, which
says which item is which. Give people the template only: they fill in truth (a list
of doc, start, end; [] for nothing to mark) and the values of labels. Then

  ibid agree --blind DIR/` + keyFile + `

compares what they said with what is there.

--purpose draws from answers that nobody has annotated:
  truth   what should be cited: one item a question, without any answer, for all
          systems; its documents are those that any of them has or cites
  labels  is each claim of an answer supported by what it cites?
  both    items of truth, then items of labels for all answers to those questions
Each person fills in a copy: DIR/ada.jsonl, DIR/ben.jsonl. agree --blind compares them
and, with --adjudicate, makes one table of them that truth: and labels: read.

The same seed draws the same items, and a larger fraction adds to them. (With
--stratify rounding may move an item from one stratum to another.) Whoever knows the seed can foretell the sample.

--template html writes ` + pageFile + ` instead: the page of ibid annotate as one file, for
somebody without ibid. It keeps what is done in the browser and gives it back as
` + downloadFile + `, which belongs beside the key.

--template label-studio writes ` + tasksFile + ` and ` + configFile + ` instead: paste the one
as the labeling configuration of a project in Label Studio and import the other. What
people said there comes back with its JSON export:

  ibid import label-studio export.json -o DIR/` + annotatedFile + `
  ibid agree --blind DIR/` + keyFile,
		Example: `  ibid sample answers.parquet --documents documents.parquet -o blind --seed 2026-11
  ibid sample answers.parquet -o blind --fraction 0.2 --stratify lang
  ibid sample answers.parquet --documents documents.parquet -o first --purpose both --n 50
  ibid sample answers.parquet -o blind --template html
  ibid sample answers.parquet -o blind --template label-studio`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.drawSample(cmd, f, args[0]) },
	}
	f.settings.register(cmd)
	f.settings.add(cmd, "documents", "documents", documentsUsage)
	f.settings.addGold(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.draw.Purpose, "purpose", "", "for a first round: truth, labels or both")
	flags.StringVar(&f.draw.Fraction, "fraction", "0.1", "share of the annotated rows to draw, with --purpose of the questions or answers; rounded up")
	flags.IntVar(&f.draw.Items, "n", 0, "how many to draw, in place of a fraction")
	flags.StringVar(&f.draw.Stratify, "stratify", "", "draw in proportion to this: system, provider or a tag")
	flags.StringVar(&f.draw.Seed, "seed", "1", "what the draw depends on, besides the names of the rows")
	flags.StringVar(&f.template, "template", "jsonl", "what people fill in: jsonl, html or label-studio")
	return cmd
}

func (a *app) drawSample(cmd *cobra.Command, f *sampleFlags, argument string) error {
	if a.output == "-" {
		return ibid.Usagef("sample needs a folder to write to").With("add -o DIR")
	}
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	template, ok := templates[f.template]
	if !ok {
		return ibid.Usagef("unknown template %q", f.template).With("templates are " + strings.Join(sortedKeys(templates), ", "))
	}
	switch {
	case f.draw.Purpose != "" && !slices.Contains(annotations.Purposes, f.draw.Purpose):
		return ibid.Usagef("unknown purpose %q", f.draw.Purpose).With("purposes are " + strings.Join(annotations.Purposes, ", "))
	case cmd.Flags().Changed("n") && cmd.Flags().Changed("fraction"):
		return ibid.Usagef("--n and --fraction do not go together")
	case cmd.Flags().Changed("n") && f.draw.Items < 1:
		return ibid.Usagef("--n must be at least 1")
	}
	there := func(path string) error {
		return ibid.Usagef("%s is there already", path).With("choose another folder: what people filled in must not be lost")
	}
	// The key is written last. A template without one is what a killed sample left, and
	// may be written again if nobody has filled it in.
	for _, name := range []string{keyFile, template.filled} {
		if path := filepath.Join(a.output, name); exists(path) && !slices.Contains(template.files(), name) {
			return there(path)
		}
	}
	plan, progress, err := a.planAnnotated(cmd, &f.settings, argument)
	if err != nil {
		return err
	}
	defer progress.Close()
	s, err := plan.DrawBlind(cmd.Context(), f.draw)
	if err != nil {
		return err
	}
	progress.Close()
	s.Key.Template = template.filled
	if err := os.MkdirAll(a.output, 0o777); err != nil {
		return err
	}
	for _, file := range template.write {
		path := filepath.Join(a.output, file.name)
		same, err := wouldBeSame(path, func(w io.Writer) error { return file.write(w, s.Items) })
		if err != nil {
			return err
		}
		if !same {
			return there(path)
		}
	}
	for _, file := range template.write {
		err := dataset.WriteFile(filepath.Join(a.output, file.name), func(w io.Writer) error { return file.write(w, s.Items) })
		if err != nil {
			return err
		}
	}
	if err := s.Key.Write(filepath.Join(a.output, keyFile)); err != nil {
		return err
	}
	return a.saySample(template, s)
}

// wouldBeSame reports whether the file at path, if there is one, has what write writes.
func wouldBeSame(path string, write func(io.Writer) error) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	has, wants := sha256.New(), sha256.New()
	if _, err := io.Copy(has, f); err != nil {
		return false, err
	}
	if err := write(wants); err != nil {
		return false, err
	}
	return bytes.Equal(has.Sum(nil), wants.Sum(nil)), nil
}

// saySample prints what was drawn and which files to give to people.
func (a *app) saySample(template blindTemplate, s *harness.BlindSample) error {
	total, drawn := s.Total, int64(s.Drawn)
	if a.format == "json" {
		return report.WriteJSON(a.Stdout, struct {
			Schema string `json:"schema"`
			Items  int64  `json:"items"`
			Of     int    `json:"of"`
			Lines  int    `json:"lines"`
			Bare   int    `json:"left_out_without_text"`
		}{"ibid.drawn/v2", drawn, total, len(s.Items), s.Bare})
	}
	var b bytes.Buffer
	switch of := s.Key.Purpose; of {
	case "":
		fmt.Fprintf(&b, "drew %d of %d annotated rows\n", drawn, total)
	case annotations.AskBoth:
		labels := 0
		for i := range s.Items {
			if s.Items[i].Purpose == annotations.AskLabels {
				labels++
			}
		}
		fmt.Fprintf(&b, "drew %d of %s: %s of truth, then %d of labels\n", drawn, report.Plural(int64(total), "question", "questions"),
			report.Plural(int64(len(s.Items)-labels), "item", "items"), labels)
	case annotations.AskTruth:
		fmt.Fprintf(&b, "drew %d of %s\n", drawn, report.Plural(int64(total), "question", "questions"))
	default:
		fmt.Fprintf(&b, "drew %d of %s with claims that cite something\n", drawn, report.Plural(int64(total), "answer", "answers"))
	}
	if s.Bare > 0 {
		fmt.Fprintf(&b, "left out %s: no text is at hand that could be marked or judged\n", report.Plural(int64(s.Bare), "item", "items"))
	}
	var give []string
	for _, name := range template.files() {
		give = append(give, filepath.Join(a.output, name))
	}
	fmt.Fprintf(&b, "give people %s and keep %s\n", strings.Join(give, " and "), filepath.Join(a.output, keyFile))
	_, err := a.Stdout.Write(b.Bytes())
	return err
}

// A blindTemplate is what people are given of a blind sample.
type blindTemplate struct {
	write  []blindFile
	filled string // the file with what they say
}

type blindFile struct {
	name  string
	write func(io.Writer, []annotations.BlindItem) error
}

const (
	templateFile  = "template.jsonl"
	tasksFile     = "tasks.json"
	configFile    = "label_config.xml"
	pageFile      = "annotate.html"
	downloadFile  = "filled.jsonl"
	annotatedFile = "annotated.parquet"
)

var templates = map[string]blindTemplate{
	"jsonl": {
		write:  []blindFile{{templateFile, acts.WriteLines[annotations.BlindItem]}},
		filled: templateFile,
	},
	"html": {
		write:  []blindFile{{pageFile, writeAnnotationPage}},
		filled: downloadFile,
	},
	"label-studio": {
		write: []blindFile{
			{tasksFile, func(w io.Writer, items []annotations.BlindItem) error {
				return convert.WriteBlindTasks(w, studioTasks(items))
			}},
			{configFile, func(w io.Writer, items []annotations.BlindItem) error {
				return convert.WriteBlindConfig(w, studioTasks(items))
			}},
		},
		filled: annotatedFile,
	},
}

// writeAnnotationPage writes the page of ibid annotate as one file, with the items inside.
func writeAnnotationPage(w io.Writer, items []annotations.BlindItem) error {
	return annotate.WriteFile(w, items, annotate.Options{Purpose: "both", Seed: "1", Share: acts.Share{Index: 1, Of: 1}})
}

// files are the names of the files that people are given.
func (t blindTemplate) files() []string {
	var names []string
	for _, f := range t.write {
		names = append(names, f.name)
	}
	return names
}

func studioTasks(items []annotations.BlindItem) []convert.BlindTask {
	all := make([]convert.BlindTask, len(items))
	for i := range items {
		it := &items[i]
		t := convert.BlindTask{ID: it.ID, Question: it.Query, Answer: it.Answer}
		for _, d := range it.Documents {
			t.Documents = append(t.Documents, convert.BlindText{Doc: d.Doc, Text: d.Text})
		}
		for _, l := range it.Labels {
			t.Questions = append(t.Questions, convert.BlindQuestion{Kind: l.Kind, ClaimID: l.ClaimID, CitationID: l.CitationID, Text: it.Ask(l)})
		}
		all[i] = t
	}
	return all
}
