package convert

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset"
)

// brat is the standoff format of the brat annotation tool (Stenetorp et al., EACL
// 2012): X.ann has the annotations of X.txt, one on each line.
//
// The annotators of a directory are its folders that have .ann files, by the name
// of the folder, and, if it has such files itself, one without a name. A text may
// lie beside the annotations, or in the directory for all of them; copies must be
// the same. An annotator without X.ann did not see X; an empty X.ann says that
// there was nothing to mark.
//
// Every X is a row: id is X, the document X.txt, query and answer are "", citations
// are null. Each text-bound annotation is truth, each piece of one that is in
// several pieces a span of its own, whatever its type. Lines of every kind stand
// under their ids in the tag source_reference, without the texts; relations, events,
// equivalences and normalizations are counted besides.
//
// Offsets count code points, zero-based, end exclusive, line ends as one character
// even where the file has two; the texts of the annotations prove or refute it.
var brat = Format{
	Name:       "brat",
	Summary:    "brat standoff: pairs of .txt and .ann files, annotators in folders",
	Input:      "a directory of .txt and .ann files",
	CodePoints: true,
	convert:    convertBrat,
}

// A bratReader converts one directory.
type bratReader struct {
	*run
	dir       string
	documents []*bratDocument
	proof     proof
	reading   int
}

func convertBrat(ctx context.Context, r *run) error {
	if len(r.paths) > 1 {
		return &UsageError{Msg: "format brat takes one directory", Hint: "annotators are its folders"}
	}
	c := &bratReader{run: r, dir: r.paths[0]}
	var err error
	if c.documents, err = c.findDocuments(); err != nil {
		return err
	}
	for _, d := range c.documents {
		if err := c.prove(ctx, d); err != nil {
			return err
		}
	}
	c.reading = c.proof.settle(&c.report)
	if o := c.proof.offsets(); o.pairs() > 0 {
		c.report.file(FileReport{File: c.dir, Format: c.format, Source: &o})
	}
	for _, d := range c.documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.write(d); err != nil {
			return err
		}
	}
	return nil
}

// prove reads the annotations of a document and gathers what their texts say.
func (c *bratReader) prove(ctx context.Context, d *bratDocument) error {
	for i := range d.layers {
		if err := c.readLayer(ctx, d, &d.layers[i]); err != nil {
			return err
		}
	}
	text, err := c.load(d)
	if err != nil {
		d.fail(RecordError{File: d.path(), Reason: err.Error()})
	}
	if d.bad != nil {
		return nil
	}
	marks := d.marks()
	d.count = text.count(marks)
	c.proof.gatherMarks(text.as(d.count).Text, marks)
	return nil
}

// load reads the text of a document, of which there may be copies.
func (c *bratReader) load(d *bratDocument) (bratText, error) {
	if len(d.texts) == 0 {
		return bratText{}, fmt.Errorf("there is no %s.txt", d.name)
	}
	var text bratText
	for i, path := range d.texts {
		data, err := readFile(path, func(in io.Reader) ([]byte, error) {
			return io.ReadAll(io.LimitReader(in, int64(c.MaxRecord)+1))
		})
		if err != nil {
			return bratText{}, err
		}
		if len(data) > c.MaxRecord {
			return bratText{}, fmt.Errorf("%s: over %d bytes", path, c.MaxRecord)
		}
		copied, err := newBratText(data)
		if err != nil {
			return bratText{}, fmt.Errorf("%s: %w", path, err)
		}
		if i > 0 && copied.text != text.text {
			return bratText{}, fmt.Errorf("%s is another text than %s", path, d.texts[0])
		}
		text = copied
	}
	return text, nil
}

// write converts one document.
func (c *bratReader) write(d *bratDocument) error {
	c.report.Records++
	if d.bad != nil {
		c.fail(*d.bad)
		return nil
	}
	text, err := c.load(d)
	if err != nil {
		return err // it could be read a moment ago
	}
	row := dataset.Row{File: c.dir, ID: strings.ToValidUTF8(d.name, "\ufffd"), System: "default", HasTruth: len(d.layers) > 0}
	counted := text.as(d.count)
	var kept extra
	for i := range d.layers {
		c.writeLayer(&row, &kept, d, &d.layers[i], counted)
	}
	if !kept.empty() {
		row.Tags = []dataset.Tag{{Key: referenceTag, Value: kept.object()}}
	}
	document := dataset.Document{Doc: d.doc(), Text: text.text, HasText: true}
	if c.Docs {
		if err := c.document(&document); err != nil {
			return err
		}
	} else {
		row.Documents, row.HasDocuments = []dataset.Document{document}, true
	}
	return c.row(&row)
}

// writeLayer adds what one annotator says of a document.
func (c *bratReader) writeLayer(row *dataset.Row, kept *extra, d *bratDocument, l *bratLayer, text *countedText) {
	for i := range l.spans {
		s := &l.spans[i]
		t := dataset.Truth{Annotator: l.annotator, Doc: d.doc()}
		if t.Start, t.End, t.Unit = s.place(text.Text, c.reading); t.Unit == "" {
			t.Start.Value, t.End.Value = text.original(t.Start.Value), text.original(t.End.Value)
		}
		row.Truth = append(row.Truth, t)
		if v := s.verdict(c.reading); v != proved {
			c.warn(RecordError{File: l.path, Line: s.line, Reason: markReasons[v]})
		}
	}
	if len(l.spans) == 0 {
		row.Truth = append(row.Truth, dataset.Truth{Annotator: l.annotator, DocNull: true})
	}
	own := kept
	if l.annotator != "" {
		own = &extra{}
	}
	for _, line := range l.lines {
		own.addText(line.id, line.data)
		if line.label != "" {
			tally(c.report.SpanLabels, line.label)
		}
		if name := bratIgnored[line.id[0]]; name != "" {
			tally(c.report.Ignored, name)
		}
	}
	if own != kept && !own.empty() {
		kept.add(l.annotator, []byte(own.object()))
	}
}

// bratIgnored are the kinds of annotations that have no place in a row, by the
// letter that their ids begin with.
var bratIgnored = map[byte]string{'R': "relation", '*': "equivalence", 'E': "event", 'N': "normalization"}

// doc is the name of the document.
func (d *bratDocument) doc() string { return strings.ToValidUTF8(d.name, "\ufffd") + ".txt" }

// path is a file of the document, for errors.
func (d *bratDocument) path() string { return slices.Concat(d.annotated(), d.texts)[0] }

// annotated are the files of annotations.
func (d *bratDocument) annotated() []string {
	var all []string
	for i := range d.layers {
		all = append(all, d.layers[i].path)
	}
	return all
}

// marks are those of all annotators.
func (d *bratDocument) marks() []*markedSpan {
	var all []*markedSpan
	for i := range d.layers {
		for k := range d.layers[i].spans {
			all = append(all, &d.layers[i].spans[k].markedSpan)
		}
	}
	return all
}

// isBrat reports whether a directory has files of brat.
func isBrat(dir string) bool {
	for _, pattern := range []string{"*.ann", "*/*.ann"} {
		if found, _ := filepath.Glob(filepath.Join(globLiteral(dir), pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}

// globLiteral is a path as a pattern that matches nothing else.
func globLiteral(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
