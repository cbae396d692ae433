package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// A bratDocument is one text with what its annotators said.
type bratDocument struct {
	name   string   // of its files, without the ending
	texts  []string // its copies
	layers []bratLayer
}

// A bratLayer is the file of one annotator.
type bratLayer struct{ annotator, path string }

// gatherBrat joins the annotations of each text with it.
func gatherBrat(ctx context.Context, c *exchangeReader) (func(func(madeRow) error) error, error) {
	documents, err := c.findDocuments(c.file)
	return func(do func(madeRow) error) error {
		for i, d := range documents {
			r := c.recordOf(i + 1)
			err := c.bratRecord(ctx, d, r)
			if err == nil {
				err = c.finish(ctx, r, false, do)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, err
}

// bratRecord reads the files of a document.
func (c *exchangeReader) bratRecord(ctx context.Context, d *bratDocument, r *programRecord) error {
	path := d.path()
	layers := make([]any, len(d.layers))
	for i, l := range d.layers {
		before := len(r.pieces)
		if err := c.bratLines(ctx, l.path, r); err != nil {
			return err
		}
		layers[i] = map[string]any{"annotator": l.annotator, "lines": trees(r.pieces[before:])}
	}
	text, marked, err := c.bratText(d)
	if err != nil {
		r.fail(RecordError{File: path, Reason: err.Error()})
	}
	if len(r.pieces) == 0 {
		r.pieces = []recordPiece{{file: path, data: []byte("{}")}}
	}
	r.tree = map[string]any{"name": strings.ToValidUTF8(d.name, "\ufffd"), "layers": layers, "text": text, "marked": marked}
	return nil
}

// bratLines adds the lines of a file of annotations to a record.
func (c *exchangeReader) bratLines(ctx context.Context, path string, r *programRecord) error {
	return c.lines(ctx, path, func(line []byte, number int, bad error) error {
		at := position{line: number}
		switch {
		case bad != nil:
			r.fail(at.err(path, bad.Error()))
		case mark(line) != "":
			r.fail(at.err(path, "the line begins with "+mark(line)))
		case !utf8.Valid(line):
			r.fail(at.err(path, "invalid UTF-8"))
		case len(bytes.TrimSpace(line)) > 0:
			r.pieces = append(r.pieces, recordPiece{file: path, tree: map[string]any{"line": string(line)}, data: fmt.Appendf(nil, `{"line":%s}`, jsonString(string(line))), at: at})
		}
		return nil
	})
}

// bratText reads the text of a document, of which there may be copies, without the byte order
// mark that it may begin with.
func (c *exchangeReader) bratText(d *bratDocument) (text string, marked bool, err error) {
	if len(d.texts) == 0 {
		return "", false, fmt.Errorf("there is no %s.txt", d.name)
	}
	for i, path := range d.texts {
		data, err := c.readText(path)
		if err != nil {
			return "", false, err
		}
		var first string
		first, text = text, strings.TrimPrefix(string(data), string(utf8Mark))
		marked = len(text) < len(data)
		switch m := mark([]byte(text)); {
		case m != "":
			return "", false, fmt.Errorf("%s: the file begins with %s", path, m)
		case !utf8.ValidString(text):
			return "", false, errors.New(path + ": invalid UTF-8")
		case i > 0 && text != first:
			return "", false, fmt.Errorf("%s is another text than %s", path, d.texts[0])
		}
	}
	return text, marked, nil
}

// path is a file of the document, for errors.
func (d *bratDocument) path() string {
	if len(d.layers) > 0 {
		return d.layers[0].path
	}
	return d.texts[0]
}

// isBrat reports whether a directory has files of brat.
func isBrat(dir string) bool {
	for _, pattern := range []string{"*.ann", "*/*.ann"} {
		if found, _ := fs.Glob(os.DirFS(dir), pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// findDocuments finds the documents of the directory and of its folders, by name.
func (r *run) findDocuments(root string) ([]*bratDocument, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, pathError(root, err)
	}
	if !info.IsDir() {
		return nil, ibid.Usagef("%s: not a directory", root).With("give the directory that holds the .txt and .ann files")
	}
	byName := map[string]*bratDocument{}
	document := func(name string) *bratDocument {
		if byName[name] == nil {
			byName[name] = &bratDocument{name: name}
		}
		return byName[name]
	}
	folders := []string{""}
	for i := 0; i < len(folders); i++ {
		dir := filepath.Join(root, folders[i])
		entries, err := os.ReadDir(dir) // sorted by name
		if err != nil {
			return nil, pathError(dir, err)
		}
		for _, e := range entries {
			path, extension := filepath.Join(dir, e.Name()), filepath.Ext(e.Name())
			stem := strings.TrimSuffix(e.Name(), extension)
			switch isFolder := isDirectory(path); {
			case strings.HasPrefix(e.Name(), "."):
			case isFolder && i == 0:
				folders = append(folders, e.Name())
			case isFolder && isBrat(path):
				r.warn(RecordError{File: path, Reason: "not read: annotators are folders of the directory that is given, not of its folders"})
			case isFolder:
			case extension == ".txt":
				d := document(stem)
				d.texts = append(d.texts, path)
			case extension == ".ann":
				d := document(stem)
				d.layers = append(d.layers, bratLayer{strings.ToValidUTF8(folders[i], "\ufffd"), path})
			case slices.Contains(bioNLP, extension):
				tally(r.report.Ignored, extension+" file")
			}
		}
	}
	all := slices.SortedFunc(maps.Values(byName), func(a, b *bratDocument) int {
		return strings.Compare(a.name, b.name)
	})
	if !slices.ContainsFunc(all, func(d *bratDocument) bool { return len(d.layers) > 0 }) {
		return nil, ibid.Usagef("%s: no .ann files here, nor in its folders", root)
	}
	return all, nil
}

// bioNLP are the endings of files that have parts of what an .ann file has.
var bioNLP = []string{".a1", ".a2", ".co", ".rel"}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// A countedText is a text as offsets of brat count it: a line end of two characters may be one,
// and a byte order mark a character. Line ends are spaces, since the texts of annotations have
// none.
type countedText struct {
	folded, marked bool // that is so

	find   *searched // nil until asked for
	pairs  []int64   // code points that stand for two of the document
	before int64     // code points that are not in the document
}

func newCountedText(text string, folded, marked bool) *countedText {
	c := &countedText{folded: folded, marked: marked}
	var b strings.Builder
	if marked {
		b.Write(utf8Mark)
		c.before = 1
	}
	for n := c.before; text != ""; n++ {
		r, size := utf8.DecodeRuneInString(text)
		if folded && strings.HasPrefix(text, "\r\n") {
			c.pairs = append(c.pairs, n)
			size = len("\r\n")
		}
		if r == '\r' || r == '\n' {
			r = ' '
		}
		b.WriteRune(r)
		text = text[size:]
	}
	c.find = newSearched(token.NewText(b.String()))
	return c
}

// countedAs returns the text as the offsets of the marks count it: as most of their quotes stand
// there, and where that does not tell, as brat itself does. marked says that its file begins with
// a byte order mark.
func countedAs(marks []*markedSpan, text string, marked bool) (best *countedText) {
	folded, most := strings.Contains(text, "\r\n"), -1
	for _, fold := range []bool{true, false} {
		for _, count := range []bool{true, false} {
			if fold && !folded || count && !marked {
				continue
			}
			c := newCountedText(text, fold, count)
			if n := c.fits(marks); n > most {
				best, most = c, n
			}
		}
	}
	return best
}

// original is the code point of the document at which code point cp of the counted
// text begins.
func (c *countedText) original(cp int64) int64 {
	pairs := sort.Search(len(c.pairs), func(i int) bool { return c.pairs[i] >= cp })
	return max(0, cp-c.before) + int64(pairs)
}

// fits says how well quotes stand at their offsets: the more of them one reading
// that counts from 0 reproduces the better, the documented one before others. One
// that counts from 1 would fit a byte order mark, too.
func (c *countedText) fits(marks []*markedSpan) int {
	var p proof
	p.examineMarks(c.find, marks)
	exact, alike := make([]int, len(readings)), 0
	for k, n := range p.tallies {
		for i, r := range readings {
			if !r.OneBased {
				exact[i] += int(n) * int(k.exact>>i&1)
			}
		}
		alike += int(n) * int(k.alike>>p.documented&1)
	}
	best := slices.Max(exact)
	score := 2 * best
	if exact[p.documented] == best {
		score++
	}
	return score*(len(marks)+1) + alike
}
