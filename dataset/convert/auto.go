package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
)

// auto recognises the format of each file by its first record, and a directory of
// Evidence Inference or brat by its files. A file that fits none is a record that cannot
// be read; one that fits two is refused, because its answers would come out
// differently. It states no convention for offsets: formats that leave them as
// they are could be among those found.
var auto = Format{
	Name:    autoName,
	Summary: "whichever of these it is, recognised by the content of each file",
	Input:   "files, or directories of them",
	streams: true,
	options: append([]string{"columns"}, exchangeOptions...),
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, autoExtensions, func(path string) error {
			if isRequest(path) {
				return nil
			}
			return r.convertOne(ctx, path)
		})
	},
}

const autoName = "auto"

var (
	tableExtensions = []string{".csv", ".tsv"}
	autoExtensions  = append(slices.Clone(exchangeExtensions), tableExtensions...)
)

// directoryFormat is the name of the format that a directory as a whole is of, "" if it is of none.
func directoryFormat(path string) string {
	if path == stdinPath {
		return ""
	}
	if _, err := findEvidence(path); err == nil {
		return "evidence-inference"
	}
	if isDirectory(path) && isBrat(path) {
		return "brat"
	}
	return ""
}

// convertOne converts one file in the format that it is recognised to be.
func (r *run) convertOne(ctx context.Context, path string) error {
	if path == stdinPath {
		if err := r.spool(); err != nil {
			return err
		}
	}
	fitting, bad, err := r.recognise(ctx, path)
	if err != nil {
		return err
	}
	switch {
	case bad != nil:
		r.report.Records++
		r.fail(*bad)
		return nil
	case len(fitting) > 1:
		names := namesOf(fitting)
		return ibid.Usagef("%s: fits %s", path, strings.Join(names, " and ")).With("say which: ibid import " + names[0] + " " + path)
	}
	f := fitting[0]
	if r.Request != "" && !slices.Contains(f.options, "request") {
		return ibid.Usagef("%s: format %s has no use for --request", path, f.Name)
	}
	r.report.Formats[f.Name]++
	r.paths, r.format = []string{path}, f.Name
	return f.convert(ctx, r)
}

// recognise returns the formats that a file fits: one or more, unless bad says why
// it fits none.
func (r *run) recognise(ctx context.Context, path string) (fitting []Format, bad *RecordError, err error) {
	if name := directoryFormat(path); name != "" {
		i := slices.IndexFunc(r.formats, func(f Format) bool { return f.Name == name })
		return r.formats[i : i+1], nil, nil
	}
	if columns, ok := r.csvHeader(path); ok {
		if fitting = r.fittingTable(r.renamed(columns)); len(fitting) > 0 {
			return fitting, nil, nil
		}
		return nil, &RecordError{File: path, Line: 1, Column: 1, Reason: "no format is recognised: a table with the columns " + shorten(strings.Join(columns, ", "), 100) + slips(ourColumns(columns))}, nil
	}
	t := jsonText{limits: r.Limits}
	o, bad, err := r.firstObject(ctx, path, &t)
	if err != nil || bad != nil {
		return nil, bad, err
	}
	if (isOurs(o) || r.renames(o)) && t.err == nil {
		return []Format{jsonl}, nil, nil
	}
	whole := t.tree(string(t.data), o.start)
	var last []Format
	for _, f := range r.formats {
		switch {
		case f.program == nil || !f.program.fits(ctx, whole):
		case f.program.says["last"]:
			last = append(last, f)
		default:
			fitting = append(fitting, f)
		}
	}
	t.err = nil
	if len(fitting) == 0 {
		fitting = last
	}
	if len(fitting) == 0 && fitsLoosely(o) {
		fitting = append(fitting, jsonl)
	}
	if len(fitting) == 0 {
		var names []string
		for _, m := range o.members {
			names = append(names, m.name)
		}
		bad = &RecordError{File: path, Line: 1, Column: 1, Reason: "no format is recognised: the first record has " + shorten(strings.Join(names, ", "), 100) + slips(names)}
	}
	return fitting, bad, nil
}

// slips says which of the first names are probably ours misspelt.
func slips(names []string) (text string) {
	const most = 100 // names that are looked at
	for _, name := range names[:min(len(names), most)] {
		if meant := ibid.Slip(name, memberNames[""]); meant != "" && !slices.Contains(names, meant) {
			text += fmt.Sprintf("; %s: did you mean %s? (--columns %[1]s=%[2]s)", shorten(name, 40), meant)
		}
	}
	return text
}

// csvHeader is the first line of a table; ok is false if the file is none.
func (r *run) csvHeader(path string) (columns []string, ok bool) {
	named := slices.Contains(tableExtensions, filepath.Ext(unpackedName(path)))
	if !named && path != stdinPath {
		return nil, false
	}
	in, err := r.open(path)
	if err != nil {
		return nil, false
	}
	defer in.Close()
	table, err := dataset.NewCSV(io.LimitReader(in, 1<<16), 1<<16)
	if err != nil {
		return nil, named
	}
	return table.Columns, named || len(r.fittingTable(r.renamed(table.Columns))) > 0
}

// renames reports whether a record has a member that --columns gives our name.
func (r *run) renames(o *object) bool {
	for theirs, ours := range r.Columns {
		if name, _, _ := strings.Cut(theirs, "."); ours != "" && o.has(name) {
			return true
		}
	}
	return false
}

// renamed are the columns of a table under the names that --columns gives them.
func (r *run) renamed(columns []string) []string {
	out := slices.Clone(columns)
	for i, name := range out {
		if ours, said := r.Columns[name]; said {
			out[i] = cmp.Or(ours, notOurs+name)
		}
	}
	return out
}

// fittingTable returns the formats that the columns of a table fit.
func (r *run) fittingTable(columns []string) (fitting []Format) {
	for _, f := range r.formats {
		if f.fitsTable != nil && f.fitsTable(columns) {
			fitting = append(fitting, f)
		}
	}
	if len(fitting) > 1 && !hasColumns(columns, "answer") { // names of other tools are ours last
		fitting = slices.DeleteFunc(fitting, func(f Format) bool { return f.Name == csvRows.Name })
	}
	return fitting
}

// errEnough ends the reading of a file whose first record has been seen.
var errEnough = errors.New("enough")

// firstObject is the first record of a file of JSON, or the first event.
func (r *run) firstObject(ctx context.Context, path string, t *jsonText) (o *object, bad *RecordError, err error) {
	s, err := r.shapeOf(path)
	if err != nil {
		return nil, nil, err
	}
	take := func(rec *foreignRecord) error {
		rec.data = slices.Clone(rec.data) // it is the reader's, who goes on reading
		if o, bad = rec.open(t); o == nil {
			return nil // the next record may tell
		}
		return errEnough
	}
	if s == eventShape {
		err = r.eachEvent(ctx, path, take)
	} else {
		err = r.eachRecord(ctx, path, s, take)
	}
	switch {
	case o != nil:
		return o, nil, nil
	case err != nil:
		return nil, nil, err
	case bad == nil:
		bad = &RecordError{File: path, Reason: emptyFile}
	}
	return nil, bad, nil
}
