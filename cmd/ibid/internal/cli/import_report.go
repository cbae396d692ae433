package cli

import (
	"fmt"
	"io"
	"strings"

	"ibid/dataset/convert"
	"ibid/report"
)

// What of an import report is printed unless everything is asked for.
const (
	shownFiles    = 10
	shownWarnings = 5
)

// writeImportText writes an import report as people read it. all says that nothing
// is left for the report in JSON.
func writeImportText(w io.Writer, output string, r *convert.Report, all bool) error {
	var b strings.Builder
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
	fmt.Fprintf(&b, "spans: %s; offsets proved %s, repaired %s, mismatched %s, degenerate %s, without quote %s, unproved %s\n",
		report.Thousands(r.Spans), report.Thousands(r.Proved), report.Thousands(r.Repaired), report.Thousands(r.Mismatched),
		report.Thousands(r.Degenerate), report.Thousands(r.WithoutQuote), report.Thousands(r.Unproved))
	for _, reading := range sortedKeys(r.Readings) {
		fmt.Fprintf(&b, "reading %s: %s\n", reading, report.Thousands(r.Readings[reading]))
	}
	for i := range r.Files {
		if i == shownFiles && !all {
			fmt.Fprintf(&b, "and %s more files: --import-report FILE lists them\n", report.Thousands(int64(len(r.Files)-i)))
			break
		}
		fileText(&b, &r.Files[i])
	}
	for _, label := range sortedKeys(r.SpanLabels) {
		fmt.Fprintf(&b, "marked as %s: %s\n", report.CleanLine(label), report.Thousands(r.SpanLabels[label]))
	}
	for _, kind := range sortedKeys(r.Ignored) {
		fmt.Fprintf(&b, "no place in a row for %s: %s times\n", report.CleanLine(kind), report.Thousands(r.Ignored[kind]))
	}
	for _, field := range sortedKeys(r.UnknownFields) {
		fmt.Fprintf(&b, "unknown field %s kept in source_reference: %s times\n", field, report.Thousands(r.UnknownFields[field]))
	}
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

// fileText says how the offsets of one file were read.
func fileText(b *strings.Builder, f *convert.FileReport) {
	fmt.Fprintf(b, "%s: %s", f.File, f.Format)
	sideText(b, "sources", f.Source)
	sideText(b, "answer", f.Answer)
	b.WriteByte('\n')
}

// sideText says how the offsets on one side were read, and what became of them.
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
