// Package convert turns other people's records of answers and citations into
// the rows and documents of package dataset.
//
// A format is read as a stream: memory does not grow with the number of
// records. A record that cannot be read is reported with its position and left
// out, and the conversion goes on. Offsets are proved against quoted text
// where there is any (see [Reading]); the package never guesses their unit.
package convert

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/disk"
)

// A Sink takes what a conversion reads, rows and documents each in input
// order. It must not keep the row or the document, nor their slices, after it
// returns; their strings it may keep. An error ends the conversion.
type Sink interface {
	WriteRow(*ibid.Answer) error
	WriteDocument(*ibid.Document) error
}

// Options of a conversion. The zero value is usable. An option that the format
// has no use for is refused with [ibid.ErrUsage], never ignored.
type Options struct {
	// Docs says that the sink has a place for documents. Without it no
	// document is written, and a record that is one cannot be read; NoDocs, unless "",
	// says why in other words.
	Docs   bool
	NoDocs string

	// TruthAnnotator, unless nil, names the annotator whose spans become the
	// truth; each other annotator of the same item becomes a system whose
	// spans are citations. Items without both are left out.
	TruthAnnotator *string

	// With, unless "", is the file with the program in jq that is the format.
	With string

	// Request, unless "", is the file with the request that the responses
	// answer.
	Request string

	// FirstMark is the number of the first source that marks such as [1] count: 0 or 1; 1 if it
	// is nil.
	FirstMark *int

	// System, unless "", is the system of every row.
	System string

	// Columns are other people's names of members, dotted for those of lists, and ours
	// for them; "" says that a member is none of ours, whatever it looks like.
	Columns map[string]string

	// Stdin is what the path "-" reads, and StdinName, unless "", what reports call it.
	Stdin     io.Reader
	StdinName string

	// Limits multiplies the most that is taken: a record of 64 MiB, a list of 20,000
	// elements; 0 is 1. A record over one is reported and left out.
	Limits int

	// MaxRecord is the largest record accepted, in bytes; 0 stands for 64 MiB times Limits. A
	// larger one is not held in memory; a line of standard input that is longer by 16 MiB ends
	// the conversion with [dataset.ErrEndless].
	MaxRecord int

	// OnError, unless nil, is called with each record that could not be read,
	// as it is met. The report keeps only the first [MaxListed].
	OnError func(RecordError)
}

// firstMark is the number of the first source.
func (o *Options) firstMark() int {
	if o.FirstMark != nil {
		return *o.FirstMark
	}
	return 1
}

// What a record may be at most, times Options.Limits.
const (
	mostRecordBytes = 64 << 20
	mostElements    = 20_000    // of one list
	mostValues      = 1_000_000 // of a record of a provider or a framework
)

// Convert reads paths in the named format, or that of [Options].With, and gives every record's rows to
// sink. A path is a file, a directory, or "-" for Options.Stdin; a file that is
// gzip or zstd is decompressed.
//
// The error is nil when the whole input was read, even if records had to be
// left out: Report.Failed counts those. It is [ibid.ErrUsage] if nothing could
// be begun, and otherwise the context's, the sink's or the file's. The report
// is meaningful in every case.
func Convert(ctx context.Context, format string, paths []string, o Options, sink Sink) (Report, error) {
	f, err := find(format, o.With)
	if err != nil {
		return Report{}, err
	}
	if o.MaxRecord == 0 {
		o.MaxRecord = mostRecordBytes * max(o.Limits, 1)
	}
	if err := f.check(paths, o); err != nil {
		return newReport(f.Name), err
	}
	r := &run{ctx: ctx, Options: o, paths: paths, sink: sink, report: newReport(f.Name), formats: formats, format: f.Name}
	r.seen = map[rowKey]struct{}{}
	if o.With != "" {
		r.report.Program = fmt.Sprintf("%x", sha256.Sum256([]byte(f.program.text)))
	}
	if slices.Contains(paths, stdinPath) {
		if r.Stdin, err = r.unpacked(stdinPath, o.Stdin); err != nil {
			return r.report, r.passOver(err, false)
		}
	}
	err = f.convert(ctx, r)
	if r.spooled != nil {
		r.spooled.Close() // nobody needs its content any more
	}
	return r.report, err
}

// A run is one conversion under way: what a format's function reads from and
// reports to.
type run struct {
	Options
	ctx    context.Context // of the conversion: some file may never end
	paths  []string
	sink   Sink
	report Report

	formats []Format // that can be recognised
	format  string   // the one that is being read

	spooled *disk.File // standard input, nil until it has been kept

	numbered int // answers without an id

	names documentNames       // of the documents written
	seen  map[rowKey]struct{} // rows written, by formats that look for repeated ones
}

// row writes one row and counts it and its citations.
func (r *run) row(row *ibid.Answer) error {
	row.Pos = r.report.Rows
	row.FileRow = r.report.Rows
	if err := r.sink.WriteRow(row); err != nil {
		return err
	}
	r.report.Rows++
	r.report.Citations += int64(len(row.Citations))
	return nil
}

// document writes one document and counts it. Callers check Options.Docs.
func (r *run) document(d *ibid.Document) error {
	if err := r.sink.WriteDocument(d); err != nil {
		return err
	}
	r.report.Documents++
	return nil
}

// place writes a document of a row to the place for documents the first time that it is
// met, and its name to the row if that has a list; without a place, all of it to the row.
func (r *run) place(row *ibid.Answer, d *ibid.Document, first bool) error {
	if row.HasDocuments && documentOf(row, d.Doc) == nil {
		own := *d
		if r.Docs {
			own = ibid.Document{Doc: d.Doc, Title: d.Title, SourceType: d.SourceType}
		}
		row.Documents = append(row.Documents, own)
	}
	if r.Docs && first {
		return r.document(d)
	}
	return nil
}

// fail counts a record that could not be read.
func (r *run) fail(e RecordError) {
	e.File = r.named(e.File)
	r.report.Failed++
	r.report.Errors = appendListed(r.report.Errors, e)
	if r.OnError != nil {
		r.OnError(e)
	}
}

// named is what reports call a path.
func (r *run) named(path string) string {
	if path == stdinPath && r.StdinName != "" {
		return r.StdinName
	}
	return path
}

// warn keeps what a reader of the result should know of a record that was kept.
func (r *run) warn(e RecordError) {
	e.File = r.named(e.File)
	r.report.Warned++
	r.report.Warnings = appendListed(r.report.Warnings, e)
}

// check refuses options and paths that the format has no use for.
func (f Format) check(paths []string, o Options) error {
	if len(paths) == 0 {
		return ibid.Usagef("format %s: no path given", f.Name).With("- reads standard input")
	}
	stdin := 0
	for _, p := range paths {
		if p == stdinPath {
			stdin++
		}
	}
	switch {
	case stdin > 0 && !f.streams:
		return ibid.Usagef("format %s cannot be read from standard input", f.Name).With("give the path of " + f.Input)
	case stdin > 0 && o.Stdin == nil:
		return ibid.Usagef("there is no standard input to read")
	case stdin > 1:
		return ibid.Usagef("- is given more than once")
	}
	for _, use := range []struct {
		given bool
		name  string
	}{
		{o.TruthAnnotator != nil, "truth-annotator"},
		{o.Request != "", "request"},
		{o.System != "", "system"},
		{len(o.Columns) > 0, "columns"},
	} {
		if use.given && !slices.Contains(f.options, use.name) {
			return ibid.Usagef("format %s has no use for --%s", f.Name, use.name).With(optionHint(use.name))
		}
	}
	return checkColumns(o.Columns, f.Name != jsonl.Name)
}

// A Format is one foreign shape of records.
type Format struct {
	Name    string // as on the command line
	Summary string // one line, lower case, no full stop
	Input   string // what its paths are, such as "JSON Lines files"

	// CodePoints says that the offsets written are zero-based, half-open code
	// points of the whole document. Without it they are written as the records
	// give them, and their convention is the user's to state.
	CodePoints bool

	program *program // that reads it, nil if Go does

	// fitsTable reports whether a table with these columns is of the format; nil if it reads none.
	fitsTable func(columns []string) bool

	streams bool     // standard input can be read
	options []string // names of the options it takes, as on the command line
	convert func(context.Context, *run) error
}

// formats is the registry: a new format is a program in formats.
var formats = func() []Format {
	all := []Format{auto, csvRows, jsonl}
	for _, p := range programs {
		all = append(all, p.format())
	}
	slices.SortFunc(all, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
	return all
}()

// Formats returns every format, by name.
func Formats() []Format { return append([]Format(nil), formats...) }

// Lookup returns the format of that name.
func Lookup(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// find returns the format of a name, or that of the program in a file.
func find(name, with string) (Format, error) {
	if with == "" {
		if f, ok := Lookup(name); ok {
			return f, nil
		}
		return Format{}, unknownFormat(name)
	}
	text, err := os.ReadFile(with)
	if err != nil {
		return Format{}, ibid.Usagef("%s", pathError(with, err).Error())
	}
	p, err := newProgram(strings.TrimSuffix(filepath.Base(with), ".jq"), string(text))
	if err != nil {
		return Format{}, ibid.Usagef("%s: %v", with, err)
	}
	p.file = with
	return p.format(), nil
}

// unknownFormat says which formats there are, and the nearest first.
func unknownFormat(name string) error {
	if name == "inline" {
		return ibid.Usagef("the format inline is gone").With("ibid run FILE reads the marks of answers by itself, as does ibid import jsonl FILE -o DATASET")
	}
	names := namesOf(formats)
	e := ibid.Usagef("unknown format %s", quoted(name)).With("formats are " + strings.Join(names, ", "))
	if near := ibid.Nearest(name, names); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// optionHint names the formats that take an option.
func optionHint(option string) string {
	takes := slices.DeleteFunc(Formats(), func(f Format) bool { return !slices.Contains(f.options, option) })
	return "it is for " + strings.Join(namesOf(takes), ", ")
}

func namesOf(all []Format) []string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return names
}
