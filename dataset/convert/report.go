package convert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

// Schema is the value of Report.Schema.
const Schema = "ibid.import/v1"

// MaxListed is how many errors and how many warnings a report lists; all are
// counted.
const MaxListed = 1000

// A Report says what became of every record and of every quote.
//
// Records = rows' records + LeftOut + Failed. A record gives one row, but for
// formats that divide it by system. Spans = Proved + Repaired + Mismatched +
// Degenerate + WithoutQuote + Unproved.
type Report struct {
	Schema string `json:"schema"`
	Format string `json:"format"`

	// Program is the SHA-256 of the user's own program that read the records.
	Program string `json:"program,omitempty"`

	Records   int64 `json:"records"`   // records met
	Rows      int64 `json:"rows"`      // rows written
	LeftOut   int64 `json:"left_out"`  // records that an option leaves out on purpose
	Failed    int64 `json:"failed"`    // records that could not be read
	Documents int64 `json:"documents"` // documents written
	Citations int64 `json:"citations"` // citations written

	// MarksOfZero counts the answers whose marks have the number 0 where sources count from 1,
	// MarksOfLast those with the number of the last source.
	MarksOfZero int64 `json:"-"`
	MarksOfLast int64 `json:"-"`

	// AnswersElsewhere counts the texts that cite, where the answer does not, by the names of
	// their members, which are those of answers in other tools.
	AnswersElsewhere map[string]int64 `json:"-"`

	// BadAnnotations counts the annotations of kept records that could not be read.
	BadAnnotations int64 `json:"bad_annotations,omitempty"`

	// PDFReader is what read the PDFs in the records: "pdftotext 22.12.0", with the version
	// that is installed, or "ledongthuc/pdf". It is "" where none was read.
	PDFReader string `json:"pdf_reader,omitempty"`

	Spans int64 `json:"spans"` // spans proved by quotes: citations and truth, those of records left out included; 0 of our own columns, which a run proves
	Quotes

	// Readings counts the proved spans by the reading of their offsets, such
	// as "codepoint_exclusive" (see [Reading]). Aligned counts, for every
	// reading that reproduces any, the quotes it reproduces: what the choice
	// was made from.
	Readings map[string]int64 `json:"readings"`
	Aligned  map[string]int64 `json:"aligned"`

	// UnknownFields counts members of records that are no column of ours, by
	// dotted name. They are kept in source_reference.
	UnknownFields map[string]int64 `json:"unknown_fields"`

	// ReadAs counts the members that were read under another name, such as "question as
	// query".
	ReadAs map[string]int64 `json:"read_as,omitempty"`

	// SpanLabels counts the places that annotators marked by the label they gave
	// them: all of them are truth.
	SpanLabels map[string]int64 `json:"span_labels"`

	// Ignored counts what records hold that has no place in a row, by kind, such as
	// prediction or relation. The rest of the record is kept.
	Ignored map[string]int64 `json:"ignored"`

	// Formats counts the files by the format that they were recognised to be; it is
	// empty unless that was asked for.
	Formats map[string]int64 `json:"formats"`

	// Files says which reading fitted each file, in the order they were read: the
	// first MaxListed of those with offsets.
	Files []FileReport `json:"files"`

	Errors   []RecordError `json:"errors"` // the first MaxListed of Failed
	Warned   int64         `json:"warned"`
	Warnings []RecordError `json:"warnings"` // the first MaxListed of Warned
}

// addMarks counts what the marks of an answer say of where its sources count from.
func (r *Report) addMarks(zero, last bool) {
	if zero {
		r.MarksOfZero++
	}
	if last {
		r.MarksOfLast++
	}
}

// Quotes is what became of quotes, or of pairs of offsets: several citations may share a
// pair, which is counted once.
type Quotes struct {
	Proved       int64 `json:"proved"`        // the quote is the text at its offsets
	Repaired     int64 `json:"repaired"`      // the quote is elsewhere in the document, exactly once
	Mismatched   int64 `json:"mismatched"`    // the quote is not in the document, or more than once
	Degenerate   int64 `json:"degenerate"`    // negative, empty or inverted offsets
	WithoutQuote int64 `json:"without_quote"` // nothing quoted
	Unproved     int64 `json:"unproved"`      // a quote, but no text or no offsets in characters to prove it by
}

// A FileReport says how the offsets of one file are to be read. Format is the one
// that was recognised or asked for. A side on which the file has no offsets is
// nil: Source is the side of the documents, Answer that of the answer.
type FileReport struct {
	File   string   `json:"file"`
	Format string   `json:"format"`
	Source *Offsets `json:"source,omitempty"`
	Answer *Offsets `json:"answer,omitempty"`
}

// Offsets is what became of the pairs of offsets on one side of a file.
type Offsets struct {
	Reading string `json:"reading"`          // of pairs of characters
	Fitted  bool   `json:"fitted"`           // some quote decided it; else it is what the format documents
	Within  string `json:"within,omitempty"` // "part" or "answer": whose start the offsets count from, where there is more than one part
	Quotes
}

// pairs is how many there are.
func (q *Quotes) pairs() int64 {
	return q.Proved + q.Repaired + q.Mismatched + q.Degenerate + q.WithoutQuote + q.Unproved
}

// add counts the offsets of a file.
func (r *Report) add(o *Offsets) {
	r.Spans += o.pairs()
	r.Proved += o.Proved
	r.Repaired += o.Repaired
	r.Mismatched += o.Mismatched
	r.Degenerate += o.Degenerate
	r.WithoutQuote += o.WithoutQuote
	r.Unproved += o.Unproved
}

// file lists a file that has offsets.
func (r *Report) file(f FileReport) {
	if (f.Source != nil || f.Answer != nil) && len(r.Files) < MaxListed {
		r.Files = append(r.Files, f)
	}
}

func newReport(format string) Report {
	return Report{
		Schema: Schema, Format: format,
		Formats: map[string]int64{}, Readings: map[string]int64{}, Aligned: map[string]int64{}, UnknownFields: map[string]int64{}, ReadAs: map[string]int64{}, AnswersElsewhere: map[string]int64{},
		SpanLabels: map[string]int64{}, Ignored: map[string]int64{},
		Files: []FileReport{}, Errors: []RecordError{}, Warnings: []RecordError{},
	}
}

// A RecordError is a record, or a part of one, that could not be read as it
// should.
type RecordError struct {
	File   string `json:"file"`             // path as the user gave it, or of the file found there; "-" is standard input
	Line   int    `json:"line,omitempty"`   // from 1; 0 when the position within the file is not known
	Column int    `json:"column,omitempty"` // from 1, in code points; 0 when not known
	Reason string `json:"reason"`
}

// Error reads: answers.jsonl:3:17: citations[0].start: want an integer, got a string
func (e RecordError) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// appendListed appends e unless the list is full.
func appendListed(list []RecordError, e RecordError) []RecordError {
	if len(list) >= MaxListed {
		return list
	}
	return append(list, e)
}

// maxNames bounds the names that a map of counts holds: hostile records could each
// bring a new one.
const maxNames = 1000

// tally counts one more of a name.
func tally(counts map[string]int64, name string) {
	if _, known := counts[name]; known || len(counts) < maxNames {
		counts[name]++
	}
}

// quoted is s in double quotes, shortened where it is long.
func quoted(s string) string { return strconv.Quote(shorten(s, 60)) }

// clipped is a path into a record, shortened where it is long: a report keeps
// many of them, and a record can hold any name.
func clipped(path string) string { return shorten(path, 1000) }

// shorten cuts s after most bytes, between code points.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// CheckColumns is the error of a column that was to be read under another name, and that no
// record has. Where there are no rows, another error says why.
func (r *Report) CheckColumns(columns map[string]string) error {
	for _, theirs := range slices.Sorted(maps.Keys(columns)) {
		ours := columns[theirs]
		read := func(as string) bool { return strings.HasPrefix(as, theirs+" as ") }
		if r.Rows == 0 || ours == "" || ours == theirs || slices.ContainsFunc(slices.Collect(maps.Keys(r.ReadAs)), read) {
			continue
		}
		return ibid.Usagef("--columns %s=%s: no record has %s", theirs, ours, theirs).With("the name in the file stands first, such as reply=answer or citations.file=citations.doc")
	}
	return nil
}
