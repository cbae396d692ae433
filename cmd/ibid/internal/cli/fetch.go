package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/cmd/ibid/internal/term"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/dataset/fetch"
	"ibid/report"
	"ibid/report/doc"
)

type fetchFlags struct {
	archive  string
	from     string
	refresh  string
	delay    time.Duration
	timeout  time.Duration
	maxBytes int64
	hosts    int
	private  bool
}

func (a *app) fetchCommand() *cobra.Command {
	f := &fetchFlags{}
	cmd := &cobra.Command{
		Use:   "fetch ANSWERS -o SOURCES",
		Short: "documents for cited URLs, archived",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.fetch(cmd.Context(), f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.archive, "archive", "", "folder of what servers sent (default SOURCES with .archive in place of .parquet)")
	flags.StringVar(&f.from, "from", "auto", "format of ANSWERS, if it is no Parquet: see ibid import --help")
	flags.StringVar(&f.refresh, "refresh", "none", "pages to ask for again: all, or failed")
	flags.Lookup("refresh").NoOptDefVal = "all"
	flags.DurationVar(&f.delay, "delay", time.Second, "time between two requests to one host; robots.txt may ask for more")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "longest time of one request")
	flags.Int64Var(&f.maxBytes, "max-bytes", 20<<20, "largest page, in bytes")
	flags.IntVar(&f.hosts, "hosts", 8, "hosts asked at the same time")
	flags.BoolVar(&f.private, "allow-private", false, "ask at private addresses, too; for tests")
	// A page that answers cite could have the services of this network read out.
	if err := flags.MarkHidden("allow-private"); err != nil {
		panic(err)
	}
	return cmd
}

// archiveOf is where the pages behind a file of sources are kept.
func archiveOf(sources string) string { return strings.TrimSuffix(sources, ".parquet") + ".archive" }

func (a *app) fetch(ctx context.Context, f *fetchFlags, answers string) error {
	if a.output == "-" {
		return ibid.Usagef("fetch needs a file to write to").With("add -o sources.parquet")
	}
	if err := oneOf("--refresh", f.refresh, "none", "failed", "all"); err != nil {
		return err
	}
	if f.delay < 0 || f.timeout <= 0 || f.maxBytes <= 0 || f.hosts <= 0 {
		return ibid.Usagef("--timeout, --max-bytes and --hosts must be above 0, and --delay not below")
	}
	if f.maxBytes > 1<<30 {
		return ibid.Usagef("--max-bytes: more than 1 GiB")
	}
	output, err := datasetTarget(a.output)
	if err != nil {
		return err
	}
	if filepath.Clean(answers) == filepath.Clean(a.output) {
		return ibid.Usagef("%s is both read and written", a.output)
	}
	cited, err := a.citedURLs(ctx, f.from, answers)
	if err != nil {
		return a.interrupted(err, "")
	}
	if len(cited.Names) == 0 {
		return ibid.Usagef("%s cites no URL", answers).With("documents with other names come with --documents")
	}
	if f.private {
		a.say("warning: --allow-private: pages of this machine and its network are asked for, too")
	}
	dir := f.archive
	if dir == "" {
		dir = archiveOf(output)
	}
	archive, err := fetch.OpenArchive(dir)
	if err != nil {
		return err
	}
	defer archive.Close()
	asked, err := a.fetchPages(ctx, f, archive, cited.Names)
	if err != nil {
		return a.interrupted(err, "")
	}
	result, err := a.writeSources(ctx, archive, cited.Names, output)
	if err != nil {
		return a.interrupted(err, "")
	}
	result.Output, result.Archive, result.Fetched = a.output, dir, asked
	if a.format == "json" {
		err = report.WriteJSON(a.Stdout, result)
	} else if !a.quiet {
		err = result.text(a.Stdout, a.detail)
	}
	if err != nil {
		return err
	}
	lost := result.States[string(dataset.FetchFailed)] + result.States[string(dataset.FetchUnreadable)]
	if lost > 0 {
		a.say("%s could not be had", report.Plural(int64(lost), "page", "pages"))
		if result.States[string(dataset.FetchFailed)] > 0 {
			a.hint("ask again for those that failed: " + commandAgain(a.Args, "") + " --refresh=failed")
		}
		return exitError{ExitNoVerdict}
	}
	return nil
}

// citedURLs reads the answers.
func (a *app) citedURLs(ctx context.Context, format, answers string) (*fetch.Cited, error) {
	if err := notRun(answers); err != nil {
		return nil, err
	}
	cited := &fetch.Cited{}
	if isParquet(answers) && !convert.IsOther(answers, nil) {
		src, err := dataset.Open(answers, dataset.ReadOptions{Want: dataset.WantKeys | dataset.WantAnswers | dataset.WantSpans | dataset.WantDocuments | dataset.WantMessages})
		if err != nil {
			return nil, asUsage(err)
		}
		var row ibid.Answer
		err = src.Read(ctx, 0, 1024, func(b *dataset.Batch) error {
			defer b.Release()
			for i := range b.Len() {
				b.Row(i, &row)
				cited.Add(&row)
			}
			return nil
		})
		return cited, err
	}
	if answers != "-" && !exists(answers) {
		return nil, ibid.Usagef("%s: no such file or directory", answers)
	}
	o := convert.Options{Stdin: a.Stdin, OnError: func(e convert.RecordError) { a.say("left out: %v", e) }}
	_, err := convert.Convert(ctx, format, []string{answers}, o, citedSink{cited})
	return cited, err
}

// isParquet reports whether a dataset is at path, or at a glob.
func isParquet(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return strings.HasSuffix(path, ".parquet") || strings.ContainsAny(path, "*?[")
	}
	if info.IsDir() {
		found, _ := filepath.Glob(filepath.Join(path, "*.parquet"))
		return len(found) > 0
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return dataset.IsParquet(f) || strings.HasSuffix(path, ".parquet")
}

// A citedSink takes the URLs of what is imported, and nothing else.
type citedSink struct{ cited *fetch.Cited }

func (s citedSink) WriteRow(r *ibid.Answer) error      { s.cited.Add(r); return nil }
func (s citedSink) WriteDocument(*ibid.Document) error { return nil }

// fetchPages asks for what the archive does not have.
func (a *app) fetchPages(ctx context.Context, f *fetchFlags, archive *fetch.Archive, names []string) (int, error) {
	progress := term.NewProgress(a.Stderr, a.quiet)
	defer progress.Close()
	o := fetch.Options{
		Agent: "ibid/" + a.Version + " (reads pages that answers cite)",
		Delay: f.delay, Timeout: f.timeout, MaxBytes: f.maxBytes, Hosts: f.hosts, AllowPrivate: f.private,
		Progress: func(done, all int) {
			progress.Update(func() string {
				return fmt.Sprintf("fetching %s/%s pages", report.Thousands(int64(done)), report.Thousands(int64(all)))
			})
		},
	}
	switch f.refresh {
	case "all":
		o.Again = func(*dataset.Fetched) bool { return true }
	case "failed":
		o.Again = func(old *dataset.Fetched) bool { return old.State == dataset.FetchFailed }
	}
	return fetch.Fetch(ctx, archive, names, o)
}

type fetchResult struct {
	Schema   string         `json:"schema"`
	Output   string         `json:"output"`
	Archive  string         `json:"archive"`
	URLs     int            `json:"urls"`     // cited
	Fetched  int            `json:"fetched"`  // asked for by this process
	Redirect int            `json:"redirect"` // cited URLs that lead elsewhere
	States   map[string]int `json:"states"`   // of the cited URLs
	Problems []fetch.Source `json:"problems"` // the cited URLs without a text
}

// writeSources writes the documents; they appear whole or not at all.
func (a *app) writeSources(ctx context.Context, archive *fetch.Archive, names []string, output string) (*fetchResult, error) {
	w, err := dataset.NewDocumentWriter(output)
	if err != nil {
		return nil, err
	}
	r := &fetchResult{Schema: "ibid.fetch/v1", URLs: len(names), States: make(map[string]int), Problems: []fetch.Source{}}
	for _, state := range dataset.FetchStates {
		r.States[string(state)] = 0
	}
	err = fetch.WriteSources(ctx, archive, names, w, func(s fetch.Source) {
		r.States[string(s.State)]++
		if s.Final != "" {
			r.Redirect++
		}
		if s.State != dataset.FetchOK {
			r.Problems = append(r.Problems, s)
		}
	})
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return r, w.Close()
}

// shownProblems is how many pages without a text are listed without -v.
const shownProblems = 20

func (r *fetchResult) text(w io.Writer, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s cited, %s asked for this time, archive %s\n", r.Output, report.Plural(int64(r.URLs), "URL", "URLs"), report.Thousands(int64(r.Fetched)), r.Archive)
	var counts []string
	for _, state := range dataset.FetchStates {
		counts = append(counts, fmt.Sprintf("%s %s", state, report.Thousands(int64(r.States[string(state)]))))
	}
	fmt.Fprintf(&b, "%s; redirected %s\n", strings.Join(counts, ", "), report.Thousands(int64(r.Redirect)))
	slices.SortStableFunc(r.Problems, func(x, y fetch.Source) int {
		return slices.Index(dataset.FetchStates, x.State) - slices.Index(dataset.FetchStates, y.State)
	})
	for i, p := range r.Problems {
		if i == shownProblems && !all {
			fmt.Fprintf(&b, "and %s more: -v lists them\n", report.Thousands(int64(len(r.Problems)-i)))
			break
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", p.State, doc.Clean(p.Name), doc.Clean(p.Problem))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
