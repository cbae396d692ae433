package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/round"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/harness"
	"ibid/report"
	"ibid/report/doc"
)

type importFlags struct {
	with      string
	docs      string
	request   string
	report    string
	annotator string
	system    string
	columns   map[string]string
	first     int
	limits    int
}

func (a *app) importCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import FORMAT|--with FILE.jq PATH... -o DATASET",
		Short: "other formats to a dataset",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.with != "" {
				return cobra.MinimumNArgs(1)(cmd, args)
			}
			return cobra.MinimumNArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.with == "" {
				return a.importFiles(cmd, f, args[0], args[1:])
			}
			if _, known := convert.Lookup(args[0]); known && !exists(args[0]) {
				return ibid.Usagef("--with %s stands in place of the format %s: give one of them", f.with, args[0])
			}
			return a.importFiles(cmd, f, "", args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.docs, "docs", "", "write the documents to this Parquet file, too")
	flags.StringVar(&f.with, "with", "", "a program in jq that reads the records, in place of FORMAT")
	flags.StringVar(&f.request, "request", "", "the request that the responses answer, as JSON; X.request.json beside X.response.json is found by itself")
	flags.StringVar(&f.system, "system", "", "what the system is called whose answers these are; by default as its model, else its provider")
	flags.StringVar(&f.report, "import-report", "", "write what became of every record and offset to this file, as JSON or, if it ends in .txt, as text")
	flags.StringToStringVar(&f.columns, "columns", nil, "other names of members, THEIRS=OURS, such as citations.file=doc; THEIRS= alone says that it is none of ours")
	flags.IntVar(&f.first, "marks-first", 1, "number of the first source that marks such as [1] count: 0 or 1")
	flags.IntVar(&f.limits, "limits", 1, "multiplies what is read at most: 64 MiB a record, 20,000 elements a list; a record over one is left out (exit code 4)")
	flags.StringVar(&f.annotator, "truth-annotator", "", "whose spans are the truth; the other annotators become systems")
	return cmd
}

// importRound adds what people said in Label Studio to the round in a folder.
func (a *app) importRound(cmd *cobra.Command, f *importFlags, paths []string) error {
	r, err := round.Open(a.output)
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "ibid-round-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	into := *a
	into.output = filepath.Join(temporary, "said.parquet")
	result, err := into.convert(cmd.Context(), "label-studio", paths, "", convert.Options{Stdin: a.Stdin, Limits: f.limits})
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		a.warn("%s", w.Error())
	}
	written, err := r.Import(cmd.Context(), into.output)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		fmt.Fprintf(a.Stdout, "%s: %s\n", filepath.Join(a.output, name+".jsonl"), report.Plural(int64(written[name]), "item", "items"))
	}
	if result.Failed > 0 {
		return exitError{ExitNoVerdict}
	}
	return nil
}

func (a *app) importFiles(cmd *cobra.Command, f *importFlags, format string, paths []string) error {
	if a.output == "-" {
		return ibid.Usagef("import needs a file to write to").With("add -o dataset.parquet")
	}
	if f.limits < 1 {
		return ibid.Usagef("--limits %d: want 1 or more", f.limits)
	}
	if format == "label-studio" && round.IsRound(a.output) {
		return a.importRound(cmd, f, paths)
	}
	o := convert.Options{With: f.with, Request: f.request, System: f.system, Stdin: a.Stdin, Limits: f.limits}
	if cmd.Flags().Changed("columns") {
		o.Columns = f.columns
	}
	if cmd.Flags().Changed("marks-first") {
		if o.FirstMark = &f.first; f.first != 0 && f.first != 1 {
			return ibid.Usagef("--marks-first %d: want 0 or 1", f.first)
		}
	}
	if cmd.Flags().Changed("truth-annotator") {
		o.TruthAnnotator = &f.annotator
	}
	result, err := a.convert(cmd.Context(), format, paths, f.docs, o)
	if errors.Is(err, dataset.ErrEndless) && cmd.Context().Err() == nil {
		a.say("%v; nothing was written", err)
		a.hint("--limits accepts longer ones: ibid import FORMAT FILES --limits 16 -o DATASET")
		return exitError{ExitNoVerdict}
	}
	if err != nil {
		return err
	}
	if f.report != "" {
		err := writeOutput(f.report, func(w io.Writer) error {
			if strings.HasSuffix(f.report, ".txt") {
				return writeImportText(w, a.output, &result, true)
			}
			return report.WriteJSON(w, result)
		})
		if err != nil {
			return err
		}
	}
	if a.format == "json" {
		err = report.WriteJSON(a.Stdout, result)
	} else if !a.quiet {
		err = writeImportText(a.Stdout, a.output, &result, a.detail)
	}
	if err != nil {
		return err
	}
	if off, all := result.Repaired+result.Mismatched, result.Proved+result.Repaired+result.Mismatched; off*misplacedLimit > all {
		a.warn("%s of %s quoted passages are not at their offsets: they count where their quotes are, truth and citations alike",
			report.Thousands(off), report.Thousands(all))
	}
	if result.Failed > 0 {
		a.say("%s records could not be read and were left out", report.Thousands(result.Failed))
		return exitError{ExitNoVerdict}
	}
	return nil
}

// convert writes dataset and documents; both appear whole or not at all.
func (a *app) convert(ctx context.Context, format string, paths []string, docs string, o convert.Options) (convert.Report, error) {
	for _, out := range []string{a.output, docs} {
		if slices.Contains(paths, out) {
			return convert.Report{}, ibid.Usagef("%s is both read and written", out)
		}
	}
	if _, known := convert.Lookup(format); !known && o.With == "" {
		// Convert has the better error message, and nothing has been created yet.
		return convert.Convert(ctx, format, paths, o, nil)
	}
	for _, path := range paths {
		if path != "-" && !exists(path) {
			return convert.Report{}, ibid.Usagef("%s: no such file or directory", path)
		}
	}
	target, err := datasetTarget(a.output)
	if err == nil && docs != "" {
		docs, err = datasetTarget(docs)
	}
	if err != nil {
		return convert.Report{}, err
	}
	if len(paths) == 1 && isStream(paths[0]) {
		o.Stdin, o.StdinName = &openedLate{path: paths[0]}, paths[0]
		paths = []string{"-"}
	}
	if slices.Contains(paths, "-") {
		o.Stdin = harness.Interruptible(ctx, o.Stdin)
	}
	result, err := convert.ToFiles(ctx, format, paths, o, target, docs, func(r *convert.Report) error {
		if r.Rows == 0 && r.Documents == 0 {
			return nothingRead(paths, r)
		}
		return harness.CheckImport(r, o.FirstMark, o.Columns)
	})
	a.sayLeftOut(&result)
	return result, err
}

// nothingRead is the error of an import that has nothing to write.
func nothingRead(paths []string, r *convert.Report) error {
	stop := harness.SignNoRecordLeft.Stop
	switch {
	case r.Failed > 0:
		err := stop("none of the records of %s could be read: %v", strings.Join(paths, ", "), r.Errors[0])
		err.Hint = "nothing was written; ibid import auto recognises the format"
		return err
	case r.LeftOut > 0:
		return stop("all of the %s records were left out on purpose, so nothing was written", report.Thousands(r.LeftOut))
	}
	return stop("there are no records in it, so nothing was written")
}

// isStream reports whether a path is a pipe, a device or a socket: it can be read once, and
// may not end.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice|os.ModeSocket) != 0
}

// openedLate opens a path when it is read for the first time: to open a pipe waits until
// somebody writes to it.
type openedLate struct {
	path string
	file *os.File
}

func (o *openedLate) Read(p []byte) (n int, err error) {
	if o.file == nil {
		if o.file, err = os.Open(o.path); err != nil {
			return 0, err
		}
	}
	return o.file.Read(p)
}

// saidOfKind is how many records that were left out for reasons of one kind are printed.
const saidOfKind = 50

// sayLeftOut says which records were left out and why, those of the report: the first of each
// kind of reason, and how many more there are. Of an import of nothing else its error names the
// only one.
func (a *app) sayLeftOut(r *convert.Report) {
	kinds := make(map[string]int64)
	for _, e := range r.Errors {
		kind := kindOfReason(e.Reason)
		if kinds[kind]++; kinds[kind] <= saidOfKind && (len(r.Errors) > 1 || r.Rows+r.Documents > 0) {
			a.say("left out: %s", doc.Clean(e.Error()))
		}
	}
	for _, kind := range sortedKeys(kinds) {
		if n := kinds[kind] - saidOfKind; n > 0 {
			a.say("left out: %s more such as: %s", report.Thousands(n), doc.Clean(kind))
		}
	}
	if more := r.Failed - int64(len(r.Errors)); more > 0 {
		a.say("left out: %s more", report.Thousands(more))
	}
}

// kindOfReason is a reason without numbers and quoted names.
func kindOfReason(reason string) string {
	inQuotes := false
	return strings.Map(func(r rune) rune {
		if r == '"' {
			inQuotes = !inQuotes
			return r
		}
		if inQuotes || '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, reason)
}

// misplacedLimit is one in how many quotes may stand elsewhere than given without a word.
const misplacedLimit = 20

// What of an import report is printed unless everything is asked for.
const (
	shownFiles    = 10
	shownWarnings = 5
)

// writeImportText writes an import report as text. With all it lists every file and
// every warning.
func writeImportText(w io.Writer, output string, r *convert.Report, all bool) error {
	var b strings.Builder
	counted := func(format string, counts map[string]int64) {
		for _, name := range sortedKeys(counts) {
			fmt.Fprintf(&b, format, doc.Clean(name), report.Thousands(counts[name]))
		}
	}
	fmt.Fprintf(&b, "%s: %s records, %s rows, %s left out on purpose, %s could not be read\n", output,
		report.Thousands(r.Records), report.Thousands(r.Rows), report.Thousands(r.LeftOut), report.Thousands(r.Failed))
	if len(r.Formats) > 0 {
		var found []string
		for _, format := range sortedKeys(r.Formats) {
			files := "files"
			if r.Formats[format] == 1 {
				files = "file"
			}
			found = append(found, fmt.Sprintf("%s %s %s", format, report.Thousands(r.Formats[format]), files))
		}
		fmt.Fprintf(&b, "recognised: %s\n", strings.Join(found, ", "))
	}
	if r.Documents > 0 {
		fmt.Fprintf(&b, "documents: %s\n", report.Thousands(r.Documents))
	}
	if r.PDFReader != "" {
		fmt.Fprintf(&b, "PDFs: read by %s\n", r.PDFReader)
	}
	if r.Spans > 0 {
		fmt.Fprintf(&b, "spans: %s; offsets proved %s, repaired %s, mismatched %s, degenerate %s, without quote %s, unproved %s\n",
			report.Thousands(r.Spans), report.Thousands(r.Proved), report.Thousands(r.Repaired), report.Thousands(r.Mismatched),
			report.Thousands(r.Degenerate), report.Thousands(r.WithoutQuote), report.Thousands(r.Unproved))
	}
	counted("reading %s: %s\n", r.Readings)
	for i := range r.Files {
		if i == shownFiles && !all {
			fmt.Fprintf(&b, "and %s more files: --import-report FILE lists them\n", report.Thousands(int64(len(r.Files)-i)))
			break
		}
		f := &r.Files[i]
		fmt.Fprintf(&b, "%s: %s", f.File, f.Format)
		sideText(&b, "sources", f.Source)
		sideText(&b, "answer", f.Answer)
		b.WriteByte('\n')
	}
	counted("marked as %s: %s\n", r.SpanLabels)
	counted("no place in a row for %s: %s times\n", r.Ignored)
	counted("read %s: %s times\n", r.ReadAs)
	counted("unknown field %s kept in source_reference: %s times\n", r.UnknownFields)
	for i, e := range r.Warnings {
		if i == shownWarnings && !all {
			fmt.Fprintf(&b, "and %s more warnings: --import-report FILE lists them\n", report.Thousands(r.Warned-shownWarnings))
			break
		}
		fmt.Fprintf(&b, "warning: %v\n", e)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sideText writes how the offsets on one side were read, and how many were proved.
func sideText(b *strings.Builder, side string, o *convert.Offsets) {
	if o == nil {
		return
	}
	fmt.Fprintf(b, "; %s %s", side, o.Reading)
	if o.Within == "part" {
		b.WriteString(" of each part")
	}
	if !o.Fitted {
		b.WriteString(" (as documented: no quote tells)")
	}
	for _, n := range []struct {
		count int64
		what  string
	}{
		{o.Proved, "proved"},
		{o.Repaired, "repaired"},
		{o.Mismatched, "mismatched"},
		{o.Degenerate, "degenerate"},
		{o.WithoutQuote, "without quote"},
		{o.Unproved, "unproved"},
	} {
		if n.count > 0 {
			fmt.Fprintf(b, ", %s %s", report.Thousands(n.count), n.what)
		}
	}
}
