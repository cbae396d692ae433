package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/cmd/ibid/internal/annotate"
	"ibid/cmd/ibid/internal/loopback"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

type annotateFlags struct {
	settings   settingFlags
	annotator  string
	purpose    string
	overlap    float64
	share      string
	seed       string
	port       int
	adjudicate bool
	propose    string
	withhold   float64
}

const annotateLong = `annotate serves a page to the browser at this machine. In it a person marks the places
that answer a question, and says which claims of an answer are supported. It prints the
address of the page and serves it until it is interrupted (Ctrl-C).

The argument is what ibid sample wrote: its folder, or a copy of ` + templateFile + ` alone,
which is all that an annotator needs. A dataset is sampled whole first, into -o DIR.

Every act is on disk before the page says saved, in NAME.acts.jsonl beside the sample
(or in -o DIR). NAME.jsonl is made from it: what ibid agree reads.

  ibid agree --blind DIR/` + keyFile + ` --filled DIR/ada.jsonl

The page shows neither systems nor scores nor what others marked. Several people work
side by side from copies: --share 2/3 is the second third of the items, and --overlap
of them everybody gets, in one order, so that agreement can be measured.

--propose RUN shows what the judge of a run found to support the answers to a question.
These are dashed marks that a person takes, changes or leaves. Part of them is withheld, for
whole documents and the same from everybody: ibid agree then says whether people follow
what they are shown.

--adjudicate is for who decides between several annotators whose files are in the
folder: it shows where they differ, the least agreement first. What all said alike and
what was decided goes to ` + annotations.MergedFile + `, which --truth and --labels of ibid run
read; what is undecided is left out and counted.`

func (a *app) annotateCommand() *cobra.Command {
	f := &annotateFlags{}
	cmd := &cobra.Command{
		Use:   "annotate SAMPLE|DATASET --annotator NAME",
		Short: "mark places and label claims in the browser",
		Long:  annotateLong,
		Example: `  ibid annotate blind --annotator ada
  ibid annotate template.jsonl --annotator ben --share 2/2 --overlap 0.3
  ibid annotate answers.parquet --documents documents.parquet --annotator ada -o gold
  ibid annotate blind --adjudicate --annotator lead`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.serveAnnotation(cmd, f, args[0]) },
	}
	f.settings.register(cmd)
	f.settings.add(cmd, "documents", "documents", documentsUsage)
	f.settings.addGold(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.annotator, "annotator", "", "who annotates: the name of the files")
	flags.StringVar(&f.purpose, "purpose", "both", "what is asked: truth (mark places), labels (judge claims) or both")
	flags.Float64Var(&f.overlap, "overlap", 0.2, "share of the items that everybody gets, from 0 to 1")
	flags.StringVar(&f.share, "share", "1/1", "part I of N of the other items, as I/N")
	flags.StringVar(&f.seed, "seed", "1", "what the order of the items depends on, besides their names")
	flags.IntVar(&f.port, "port", 0, "port on 127.0.0.1; 0 is a free one")
	flags.StringVar(&f.propose, "propose", "", "a finished run whose judge proposes marks; needs the key")
	flags.Float64Var(&f.withhold, "withhold", 0.1, "share of the items whose proposals nobody sees; at least 20 items")
	flags.BoolVar(&f.adjudicate, "adjudicate", false, "decide between several annotators")
	return cmd
}

// annotatorName is a name that can be a file's.
var annotatorName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._-]*$`)

// check refuses wrong flags, and gives those of the page.
func (f *annotateFlags) check() (o annotate.Options, err error) {
	bad := func(hint, format string, args ...any) (annotate.Options, error) {
		return o, ibid.Usagef(format, args...).With(hint)
	}
	taken := []string{"template", "adjudicated", "filled", "key"}
	switch {
	case f.annotator == "":
		return bad("add --annotator NAME: the name of the files that are written", "nobody is named to annotate")
	case !annotatorName.MatchString(f.annotator) || strings.HasSuffix(f.annotator, ".acts") || slices.Contains(taken, f.annotator):
		return bad("letters, digits, points, dashes and underscores, such as ada", "%q cannot be the name of an annotator's files", f.annotator)
	case !(f.overlap >= 0 && f.overlap <= 1):
		return bad("", "--overlap must be from 0 to 1")
	case !(f.withhold >= 0 && f.withhold <= 1):
		return bad("", "--withhold must be from 0 to 1")
	case f.propose != "" && f.adjudicate:
		return bad("", "--propose and --adjudicate do not go together")
	}
	if err := oneOf("--purpose", f.purpose, annotations.Purposes...); err != nil {
		return o, err
	}
	share, err := acts.ParseShare(f.share)
	if err != nil {
		return bad("", "--share: %w", err)
	}
	return annotate.Options{Annotator: f.annotator, Purpose: f.purpose, Seed: f.seed, Share: share, Overlap: f.overlap}, nil
}

func (a *app) serveAnnotation(cmd *cobra.Command, f *annotateFlags, argument string) error {
	if err := a.formats("text"); err != nil {
		return err
	}
	options, err := f.check()
	if err != nil {
		return err
	}
	path, err := a.samplePath(cmd, f, argument)
	if err != nil {
		return err
	}
	sample, err := acts.OpenSample(path)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err, Hint: "items are what ibid sample writes to " + templateFile}
	}
	defer sample.Close()
	dir := filepath.Dir(path)
	if a.output != "-" {
		dir = a.output
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	journal, err := acts.Open(dir, f.annotator)
	if errors.Is(err, disk.ErrHeld) {
		return ibid.Usagef("%s annotates here already: %w", f.annotator, err).With("go on in the page that is open, or choose another name")
	}
	if err != nil {
		return err
	}
	defer journal.Close()
	if f.adjudicate {
		if err := journal.Decides(); err != nil {
			return err
		}
	}
	options.Dir = dir
	if key := filepath.Join(dir, keyFile); exists(key) {
		options.Agreement = a.liveAgreement(key)
	}
	if f.propose != "" {
		if options.Proposals, err = a.proposals(f, sample, filepath.Dir(path)); err != nil {
			return err
		}
	}
	pages, err := a.annotationPages(f, sample, journal, dir, path, options)
	if err != nil {
		return err
	}
	server, err := loopback.Listen(f.port)
	if err != nil {
		return &ibid.Error{Usage: true, Err: err, Hint: "--port 0 takes a free one"}
	}
	fmt.Fprintf(a.Stdout, "open %s\n", server.URL())
	if err := server.Serve(cmd.Context(), pages); err != nil {
		return err
	}
	return a.sayAnnotated(f, journal, pages, dir)
}

// samplePath is the file with the items. A dataset is sampled first.
func (a *app) samplePath(cmd *cobra.Command, f *annotateFlags, argument string) (string, error) {
	info, err := os.Stat(argument)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ibid.Usagef("%s: no such file or directory", argument).With("annotate what ibid sample wrote, or a dataset")
	case err != nil:
		return "", err
	case info.IsDir():
		return filepath.Join(argument, templateFile), nil
	case filepath.Ext(argument) == ".jsonl":
		return argument, nil
	}
	if a.output == "-" {
		return "", ibid.Usagef("a dataset is sampled into a folder").With("add -o DIR")
	}
	path := filepath.Join(a.output, templateFile)
	if exists(filepath.Join(a.output, keyFile)) {
		return path, nil // it was sampled before
	}
	draw := &sampleFlags{settings: f.settings, draw: harness.SampleOptions{Purpose: f.purpose, Fraction: "1", Seed: f.seed}, template: "jsonl"}
	return path, a.drawSample(cmd, draw, argument)
}

// proposals are what the judge of a run found, for the items of a sample that ask for marks.
func (a *app) proposals(f *annotateFlags, sample *acts.Sample, dir string) (p annotate.Proposals, err error) {
	key, err := annotations.ReadKey(filepath.Join(dir, keyFile))
	if err != nil {
		return p, &ibid.Error{Usage: true, Err: err, Hint: "--propose needs " + keyFile + " beside the sample, which says which item is which question"}
	}
	m, err := a.openRun(f.propose)
	if err != nil {
		return p, err
	}
	config, err := harness.SettingsOf(m, nil, nil)
	if err != nil {
		return p, err
	}
	found, err := annotations.ReadFound(f.propose, config.Thresholds.Supported)
	if errors.Is(err, fs.ErrNotExist) {
		return p, ibid.Usagef("%s has no verdicts of a judge", f.propose).With("evaluate with one: ibid run --judge lexical")
	}
	if err != nil {
		return p, err
	}
	p = annotate.Proposals{By: m.Judge.Name(), Of: make(map[string][]annotations.Proposal)}
	var proposed []acts.SampleItem
	for _, k := range key.Items {
		it, ok := sample.Find(k.Blind)
		if ok && k.Purpose != annotations.AskLabels && len(found[k.ID]) > 0 {
			p.Of[k.Blind], proposed = found[k.ID], append(proposed, it)
		}
	}
	if len(proposed) == 0 {
		return p, ibid.Usagef("%s found nothing for any item of the sample", f.propose).With("propose from a run over the same questions")
	}
	p.Withheld = acts.Withheld(proposed, f.withhold)
	fmt.Fprintf(a.Stdout, "%s proposes marks for %s; %d of them withheld\n", p.By, report.Plural(int64(len(proposed)), "item", "items"), len(p.Withheld))
	return p, nil
}

// annotationPages are the pages for an annotator, or for who adjudicates.
func (a *app) annotationPages(f *annotateFlags, sample *acts.Sample, journal *acts.Journal, dir, path string, o annotate.Options) (*annotate.Server, error) {
	if !f.adjudicate {
		return annotate.NewServer(sample, journal, o), nil
	}
	var key *annotations.Key
	if name := filepath.Join(filepath.Dir(path), keyFile); exists(name) {
		k, err := annotations.ReadKey(name)
		if err != nil {
			return nil, &ibid.Error{Usage: true, Err: err}
		}
		key = k
	}
	pages, err := annotate.NewAdjudication(sample, dir, key, journal, o)
	if err != nil {
		return nil, ibid.Usagef("%s: %w", dir, err).With("put the files of the annotators there: ada.jsonl, ben.jsonl")
	}
	c := pages.Counts()
	fmt.Fprintf(a.Stdout, "%s by several annotators: %d alike, %d to decide\n", report.Plural(int64(c.Several), "answer", "answers"), c.Equal, c.Decided+c.Left)
	return pages, nil
}

// liveAgreement measures what ibid agree --blind KEY does.
func (a *app) liveAgreement(key string) func(context.Context) ([]runs.AgreementRow, error) {
	quiet := *a
	quiet.quiet = true
	agree := quiet.agreeCommand() // with the flags that it has, at their defaults
	return func(ctx context.Context) ([]runs.AgreementRow, error) {
		agree.SetContext(ctx)
		view, err := quiet.agreeBlind(agree, &agreeFlags{blind: key}, nil)
		if err != nil {
			return nil, err
		}
		return view.Result.Statistics, nil
	}
}

// sayAnnotated prints what there is when the page is closed.
func (a *app) sayAnnotated(f *annotateFlags, journal *acts.Journal, pages *annotate.Server, dir string) error {
	if f.adjudicate {
		c := pages.Counts()
		_, err := fmt.Fprintf(a.Stdout, "%s: %d alike, %d decided, %d undecided and left out\n", filepath.Join(dir, annotations.MergedFile), c.Equal, c.Decided, c.Left)
		return err
	}
	n := len(acts.FilledItems(journal.Acts()))
	_, err := fmt.Fprintf(a.Stdout, "%s: %s\n", acts.FilledPath(dir, f.annotator), report.Plural(int64(n), "item", "items"))
	return err
}
