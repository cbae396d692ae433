package convert

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/dataset"
	"ibid/metrics/claims"
)

// csvRows is our own columns as CSV with a header: one line for each citation or
// marked span. Lines of one (id, system) that follow each other are one row; its
// query, answer, system, provider, model, answer_cost_usd, answer_tokens and
// answer_latency_ms stand on the first of them, and are empty or the same on the others.
//
// The columns of citations are called as in the dataset (doc, start, cited_text …,
// or by the specification's names), those of the truth have truth_ before it
// (truth_doc, truth_annotator …), tags are tags.KEY. An empty cell is null, but for
// query and answer. A column contexts, or another name of documents, has a list in JSON or as
// Python prints it, or one text. With a column of citations in the header, a row without any
// has an empty list; without one, the marks of the answer are read. A row without truth has null.
// Other columns go into source_reference: of the citation on the line, else of the
// row. Offsets are written as they are, as jsonl does.
var csvRows = Format{
	Name:    "csv",
	Summary: "our own columns as CSV, one line for each citation",
	Input:   "CSV files, or a directory of them",
	streams: true,
	options: []string{"columns"},
	fitsTable: func(columns []string) bool {
		ours := ourColumns(columns)
		return hasColumns(ours, "answer") && (hasColumns(ours, "id") || hasColumns(ours, "query"))
	},
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, tableExtensions, func(path string) error {
			c := csvReader{jsonlReader: newJSONLReader(r, path)}
			return c.read()
		})
	},
}

const (
	notOurs     = "\x00" // prefix of a column that the user excludes: --columns NAME=
	truthPrefix = "truth_"
	tagPrefix   = "tags."
)

// A csvReader reads one file.
type csvReader struct {
	jsonlReader
	table    *table
	cites    bool // the header has columns of citations
	numbered bool // there is no column id: lines with one query, answer and system are a row

	group csvGroup
	seen  map[rowKey]int // the line where each row begins
}

// A csvGroup is the lines of one row.
type csvGroup struct {
	line    int               // of the first, 0 if there is none
	cells   map[string]string // of the row itself, by column
	row     ibid.Answer
	named   []string // see jsonlRecord
	others  []memberText
	oneText bool
	size    int
	bad     *RecordError
}

func (c *csvReader) read() error {
	c.seen = map[rowKey]int{}
	if err := c.eachLine(c.file, nil, c.header, c.line); err != nil {
		return err
	}
	return c.flush()
}

// header gives the columns of a table our names, and refuses two for one thing.
func (c *csvReader) header(t *table) error {
	c.table = t
	theirs := slices.Clone(t.columns)
	for i, ours := range ourColumns(c.renamed(theirs)) {
		if ours != theirs[i] {
			tally(c.report.ReadAs, theirs[i]+" as "+ours)
			if t.index[theirs[i]] == i {
				delete(t.index, theirs[i])
			}
			t.columns[i], t.index[ours] = ours, i
		}
	}
	if err := t.require("answer"); err != nil {
		return err
	}
	if c.numbered = !slices.Contains(t.columns, "id"); c.numbered {
		if !slices.Contains(t.columns, "query") {
			return t.require("id")
		}
		tally(c.report.ReadAs, "the position as id")
	}
	ours := map[string]string{}
	for _, name := range t.columns {
		own := csvName(name)
		c.cites = c.cites || citationColumns.find(own) != nil
		if other, twice := ours[own]; twice {
			return ibid.Usagef("%s: columns %s and %s are one", c.file, quoted(other), quoted(name))
		}
		ours[own] = name
	}
	return nil
}

// isTableColumn reports whether a table has a column of ours under that name.
func isTableColumn(name string) bool {
	ofTruth, isTruth := strings.CutPrefix(name, truthPrefix)
	return citationColumns.find(csvName(name)) != nil || isTruth && truthColumns.find(ofTruth) != nil || strings.HasPrefix(name, tagPrefix)
}

// csvName is our name of a column.
func csvName(column string) string { return cmp.Or(aliases[column], column) }

// line adds one line to its row.
func (c *csvReader) line(rec csvRecord, bad *RecordError) error {
	id, system := rec.get("id"), rec.get("system")
	g := &c.group
	same := g.line != 0 && id == g.cells["id"] && (system == g.cells["system"] || system == "")
	if c.numbered {
		same = g.line != 0 && system == g.cells["system"] && rec.get("query") == g.cells["query"] && rec.get("answer") == g.cells["answer"]
		if id = g.cells["id"]; !same {
			c.run.numbered++
			id = strconv.Itoa(c.run.numbered)
		}
	}
	if !same {
		if err := c.flush(); err != nil {
			return err
		}
		*g = csvGroup{line: rec.line, cells: map[string]string{"id": id}}
		if bad == nil && id == "" {
			bad = rec.bad("id is missing")
		}
	}
	if bad == nil {
		bad = c.add(rec, g)
	}
	if g.bad == nil {
		g.bad = bad
	}
	return nil
}

// listMember is where a member of an element begins in a message of [jsonText].
var listMember = regexp.MustCompile(`^(citations|truth)\[0\]\.`)

// add reads a line as a record of jsonl, and adds it to its row.
func (c *csvReader) add(rec csvRecord, g *csvGroup) *RecordError {
	var line, citation, truth, tags, more extra
	var unknown []string
	line.addText("id", g.cells["id"])
	cited, first := false, g.line == rec.line
	if _, given := rec.index["query"]; first && !given {
		line.addText("query", "")
	}
	for i, column := range rec.columns {
		cell, own := rec.fields[i], csvName(column)
		if g.size += len(cell); g.size > c.MaxRecord {
			return rec.bad("%v: over %d bytes", dataset.ErrLongRecord, c.MaxRecord)
		}
		tag, isTag := strings.CutPrefix(column, tagPrefix)
		ofTruth, isTruth := strings.CutPrefix(column, truthPrefix)
		switch isRow := rowColumns.find(column) != nil; {
		case column == "id":
		case isRow && first:
			if g.cells[column] = cell; cell != "" || column == "query" || column == "answer" {
				line.addText(column, cell)
			}
		case isRow && cell != "" && cell != g.cells[column]:
			return rec.bad("%s differs from line %d, which has the same id", column, g.line)
		case isRow || cell == "":
		case isDocuments(column) && first:
			list, ok := cellList(column, cell)
			switch {
			case ok:
				g.cells[column] = cell
				line.add(column, list)
			case startsAsList.MatchString(cell): // spreadsheets cut long cells
				return rec.bad("%s: a list that cannot be read: want JSON, or texts as Python prints them", column)
			default:
				more.addText(column, cell)
			}
		case isDocuments(column) && cell == g.cells[column]:
		case column == "citations" && first:
			names, err := cellNames(cell)
			if err != nil {
				return rec.bad("citations: %v", err)
			}
			g.cells[column] = cell
			line.add(column, names)
		case column == "citations" && cell == g.cells[column]:
		case citationColumns.find(own) != nil:
			cited = true
			citation.addText(own, cell)
		case isTruth && truthColumns.find(ofTruth) != nil:
			truth.addText(ofTruth, cell)
		case isTag:
			if first {
				tags.addText(tag, cell)
			}
		case first && numberedText.MatchString(column):
			line.addText(column, cell)
		case first && namesTexts(column, cell):
			list, _ := cellList(column, cell)
			line.add(column, list)
		default:
			column = strings.TrimPrefix(column, notOurs)
			more.addText(column, cell)
			unknown = append(unknown, column)
			if first && isOtherName(column, "answer") {
				g.others = append(g.others, memberText{column, cell})
			}
		}
	}
	if cited {
		citation.addAll(&more)
		more.reset()
	}
	for _, m := range []struct {
		name, open, end string
		of              *extra
	}{
		{"citations", "[", "]", &citation},
		{"truth", "[", "]", &truth},
		{"tags", "", "", &tags},
		{"columns", "", "", &more},
	} {
		if !m.of.empty() {
			line.add(m.name, []byte(m.open+m.of.object()+m.end))
		}
	}
	if e := c.record.decode([]byte(line.object())); e != nil {
		path := listMember.FindStringSubmatch(e.msg)
		if path != nil {
			e.msg = map[string]string{"truth": truthPrefix}[path[1]] + e.msg[len(path[0]):]
		}
		return rec.bad("%s", e.msg)
	}
	if i := slices.Index(c.record.unknown, "columns"); i >= 0 {
		c.record.unknown = slices.Replace(c.record.unknown, i, i+1, unknown...)
	}
	if first {
		g.named, g.oneText = slices.Clone(c.record.named), c.record.oneText
	}
	c.record.text.inQuotes = nil // every number of a table is a text
	c.tallyNames()
	g.merge(&c.record.row, first)
	return nil
}

// startsAsList is how a list of texts or objects begins.
var startsAsList = regexp.MustCompile(`^\s*\[\s*["'{]`)

// isDocuments reports whether a column is called as lists of documents are.
func isDocuments(column string) bool {
	return column == "documents" || isOtherName(column, "documents")
}

// namesTexts reports whether a cell is a list of names or titles for a list of texts.
func namesTexts(column, cell string) bool {
	_, isList := cellList(column, cell)
	return isList && (slices.Contains(textNames, column) || slices.Contains(textTitles, column))
}

// cellList is the list in a cell, as JSON: it is written in JSON, or as Python prints a list of
// texts, or is names of files and URLs with ; between them. A cell of contexts that is no list is one text.
func cellList(column, cell string) (list []byte, ok bool) {
	text := strings.TrimSpace(cell)
	if strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
		return []byte(text), true
	}
	texts, ok := pythonTexts(text)
	names := cellParts(text)
	switch {
	case ok:
	case !slices.ContainsFunc(names, func(name string) bool { return !isURL(name) && !claims.IsFileName(name) }):
		texts = names
	case startsAsList.MatchString(text) || !strings.Contains(strings.ToLower(column), "context"):
		return nil, false
	default:
		list, err := json.Marshal(cell)
		return list, err == nil
	}
	list, err := json.Marshal(texts)
	return list, err == nil
}

// cellNames is the list of names or numbers of sources in a cell, as JSON: a list, as JSON or
// Python have it, or names with ; between them.
func cellNames(cell string) ([]byte, error) {
	if list, ok := cellList("", cell); ok {
		return list, nil
	}
	if startsAsList.MatchString(cell) {
		return nil, errors.New("a list that cannot be read: want JSON, or texts as Python prints them")
	}
	return json.Marshal(cellParts(cell))
}

// cellParts returns the parts of a cell between semicolons, or between commas if all are numbers, URLs
// or names of files.
func cellParts(cell string) []string {
	parts := fieldsOf(cell, ";")
	all := fieldsOf(cell, ",")
	if len(parts) == 1 && !slices.ContainsFunc(all, func(name string) bool { return !isNumber(name) && !isURL(name) && !claims.IsFileName(name) }) {
		return all
	}
	return parts
}

// fieldsOf returns the parts between separators that are not empty.
func fieldsOf(text, separator string) (parts []string) {
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// pythonTexts are the texts of a list as Python or NumPy prints it: ['a', "b"] or ['a' 'b'].
func pythonTexts(list string) (texts []string, ok bool) {
	rest, begins := strings.CutPrefix(list, "[")
	rest, ends := strings.CutSuffix(rest, "]")
	if !begins || !ends {
		return nil, false
	}
	for {
		if rest = strings.TrimLeft(rest, ", \t\r\n"); rest == "" {
			return texts, true
		}
		quote := rest[0]
		if quote != '\'' && quote != '"' {
			return nil, false
		}
		var text strings.Builder
		for rest = rest[1:]; rest != "" && rest[0] != quote; {
			c, _, tail, err := strconv.UnquoteChar(rest, quote)
			if err != nil {
				return nil, false
			}
			text.WriteRune(c)
			rest = tail
		}
		if rest == "" {
			return nil, false
		}
		texts, rest = append(texts, text.String()), rest[1:]
	}
}

// merge adds what a line says to its row.
func (g *csvGroup) merge(line *ibid.Answer, first bool) {
	citations, truth, tags := append(g.row.Citations, line.Citations...), append(g.row.Truth, line.Truth...), g.row.Tags
	if first || len(tags) == 0 {
		tags = slices.Clone(line.Tags)
	}
	if first {
		g.row = *line
		g.row.Documents = slices.Clone(line.Documents)
	}
	g.row.Citations, g.row.Truth, g.row.Tags = citations, truth, tags
}

// flush converts the row whose lines have been read.
func (c *csvReader) flush() error {
	g := &c.group
	if g.line == 0 {
		return nil
	}
	at := position{line: g.line}
	g.line = 0
	c.report.Records++
	key := keyOf(g.cells["id"], g.cells["system"])
	before, seen := c.seen[key]
	switch {
	case g.bad != nil:
		c.fail(*g.bad)
		return nil
	case seen:
		c.fail(at.err(c.file, fmt.Sprintf("id %s has a row from line %d on: the lines of a row must follow each other", quoted(g.row.ID), before)))
		return nil
	}
	c.seen[key] = at.line
	g.row.HasCitations, g.row.HasTruth = c.cites, len(g.row.Truth) > 0
	if slices.Contains(c.table.columns, "citations") && g.named == nil {
		g.named = []string{} // nothing is cited
	}
	c.record.oneText, c.record.excerpts = g.oneText, nil // of the last line
	return c.row(&g.row, g.named, g.others, at)
}

// hasColumns reports whether a table has all of some columns.
func hasColumns(columns []string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(columns, name) })
}

// A table is an open CSV file. Its first record is the header: one name for each column.
type table struct {
	file    string
	columns []string
	index   map[string]int
}

// A csvRecord is one record of a table.
type csvRecord struct {
	*table
	fields []string // nil if the record is no record of CSV at all
	line   int
}

// require refuses a table that lacks a column.
func (t *table) require(names ...string) error {
	for _, name := range names {
		if _, ok := t.index[name]; ok {
			continue
		}
		e := ibid.Usagef("%s: no column %s", t.file, quoted(name))
		if near := ibid.Nearest(name, t.columns); near != "" {
			e.Hint = "did you mean " + quoted(near) + "?"
		}
		return e
	}
	return nil
}

// eachLine calls header, unless nil, with a table in a file, and then do with every record or with
// what is wrong with it; a record with another number of fields than the header has fields all the
// same. A missing or repeated column is [ibid.ErrUsage]: without it no record can be read.
func (r *run) eachLine(path string, required []string, header func(*table) error, do func(rec csvRecord, wrong *RecordError) error) error {
	in, err := r.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines, err := dataset.NewCSV(in, r.MaxRecord)
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		return ibid.Usagef("%s:%d: header: %v", path, parse.Line, parse.Err)
	} else if err != nil {
		return ibid.Usagef("%v", pathError(path, err))
	}
	t := &table{file: path, columns: lines.Columns, index: map[string]int{}}
	for i, name := range t.columns {
		if _, twice := t.index[name]; twice {
			return ibid.Usagef("%s: column %s is there twice", path, quoted(name))
		}
		t.index[name] = i
	}
	if err := t.require(required...); err != nil {
		return err
	}
	if header != nil {
		if err := header(t); err != nil {
			return err
		}
	}
	for last := 1; ; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		fields, line, err := lines.Next()
		rec := csvRecord{t, fields, int(line)}
		var wrong *RecordError
		parse := (*csv.ParseError)(nil)
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, dataset.ErrLongRecord):
			rec = csvRecord{table: t, line: last + 1}
			return do(rec, rec.bad("%v, perhaps behind a quotation mark that does not end", err))
		case errors.As(err, &parse) && parse.Err == csv.ErrFieldCount:
			wrong = rec.bad("%d fields, and the header has %d", len(fields), len(t.columns))
		case parse != nil:
			rec = csvRecord{table: t, line: parse.StartLine}
			wrong = &RecordError{File: path, Line: parse.Line, Reason: parse.Err.Error()}
		case err != nil:
			return pathError(path, err)
		}
		for i, f := range fields {
			if wrong == nil && !utf8.ValidString(f) {
				wrong = rec.bad("%s: invalid UTF-8", t.columns[i])
			}
		}
		last = rec.line
		if err := do(rec, wrong); err != nil {
			return err
		}
	}
}

// bad is an error at the record.
func (c csvRecord) bad(format string, args ...any) *RecordError {
	return &RecordError{File: c.file, Line: c.line, Reason: fmt.Sprintf(format, args...)}
}

// piece is the record as one of a program: an object of its cells by column.
func (c csvRecord) piece() recordPiece {
	line, members := make(map[string]any, len(c.columns)), extra{}
	for i, column := range c.columns {
		line[column] = c.fields[i]
		members.addText(column, c.fields[i])
	}
	return recordPiece{file: c.file, tree: line, data: []byte(members.object()), at: position{line: c.line}}
}

// get returns a field, "" if the record is too short for it.
func (c csvRecord) get(column string) string {
	i, ok := c.index[column]
	if !ok || i >= len(c.fields) {
		return ""
	}
	return c.fields[i]
}
