package convert

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A bratDocument is one text with what its annotators said.
type bratDocument struct {
	name   string   // of its files, without the ending
	texts  []string // its copies
	layers []bratLayer
	count  bratCount
	bad    *RecordError // why it cannot be converted
}

// fail keeps the first thing that is wrong with the document.
func (d *bratDocument) fail(e RecordError) {
	if d.bad == nil {
		d.bad = &e
	}
}

// A bratLayer is the file of one annotator.
type bratLayer struct {
	annotator string
	path      string
	spans     []bratSpan
	lines     []bratLine
}

// A bratSpan is one piece of a text-bound annotation.
type bratSpan struct {
	markedSpan
	line int
}

// findDocuments finds the documents of the directory and of its folders, by name.
func (c *bratReader) findDocuments() ([]*bratDocument, error) {
	info, err := os.Stat(c.dir)
	if err != nil {
		return nil, pathError(c.dir, err)
	}
	if !info.IsDir() {
		return nil, &UsageError{Msg: c.dir + ": not a directory", Hint: "give the directory that holds the .txt and .ann files"}
	}
	byName := map[string]*bratDocument{}
	folders, err := c.addFolder(byName, c.dir, "")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		deeper, err := c.addFolder(byName, filepath.Join(c.dir, folder), strings.ToValidUTF8(folder, "\ufffd"))
		if err != nil {
			return nil, err
		}
		for _, name := range deeper {
			if dir := filepath.Join(c.dir, folder, name); isBrat(dir) {
				c.warn(RecordError{File: dir, Reason: "not read: annotators are folders of the directory that is given, not of its folders"})
			}
		}
	}
	var all []*bratDocument
	annotated := false
	for _, d := range byName {
		all = append(all, d)
		annotated = annotated || len(d.layers) > 0
	}
	if !annotated {
		return nil, &UsageError{Msg: c.dir + ": no .ann files here, nor in its folders"}
	}
	slices.SortFunc(all, func(a, b *bratDocument) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// addFolder adds the files of one folder, and returns the folders in it.
func (c *bratReader) addFolder(byName map[string]*bratDocument, dir, annotator string) (folders []string, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, pathError(dir, err)
	}
	document := func(name string) *bratDocument {
		if byName[name] == nil {
			byName[name] = &bratDocument{name: name}
		}
		return byName[name]
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(name, ".") {
			continue
		}
		if isDirectory(path) {
			folders = append(folders, name)
			continue
		}
		switch extension := filepath.Ext(name); extension {
		case ".txt":
			d := document(strings.TrimSuffix(name, extension))
			d.texts = append(d.texts, path)
		case ".ann":
			d := document(strings.TrimSuffix(name, extension))
			d.layers = append(d.layers, bratLayer{annotator: annotator, path: path})
		case ".a1", ".a2", ".co", ".rel": // of BioNLP, parts of what an .ann file has
			tally(c.report.Ignored, extension+" file")
		}
	}
	return folders, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readLayer reads a file of annotations. Any line that cannot be read spoils the
// document: with a part of its spans it would be scored wrongly.
func (c *bratReader) readLayer(ctx context.Context, d *bratDocument, l *bratLayer) error {
	var ids names
	return c.lines(ctx, l.path, func(line []byte, number int, bad error) error {
		fail := func(column int, reason string) {
			d.fail(RecordError{File: l.path, Line: number, Column: column, Reason: reason})
		}
		if number == 1 {
			line = []byte(strings.TrimPrefix(string(line), string(utf8Mark)))
		}
		switch {
		case d.bad != nil:
			return nil
		case bad != nil:
			fail(0, bad.Error())
			return nil
		case mark(line) != "":
			fail(1, "the line begins with "+mark(line))
			return nil
		case !utf8.Valid(line):
			fail(0, "invalid UTF-8")
			return nil
		case strings.TrimSpace(string(line)) == "":
			return nil
		}
		parsed, spans, wrong := parseBratLine(string(line))
		switch {
		case wrong != nil:
			fail(position{1, 1}.after(line[:wrong.offset]).column, wrong.msg)
		case parsed.id != "*" && !ids.add(parsed.id):
			fail(1, "id "+quoted(parsed.id)+" is there twice")
		}
		if parsed.id == "*" {
			parsed.id = indexed("*", len(l.lines))
		}
		l.lines = append(l.lines, parsed)
		for _, q := range spans {
			l.spans = append(l.spans, bratSpan{markedSpan: markedSpan{quote: q}, line: number})
		}
		return nil
	})
}
