package convert

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

// csvRows is our own columns as CSV with a header: one line for each citation or
// marked span. Lines of one (id, system) that follow each other are one row; its
// query, answer, system, provider, model, answer_cost_usd, answer_tokens and
// answer_latency_ms stand on the first of them, and are empty or the same on the others.
//
// The columns of citations are called as in the dataset (doc, start, cited_text …,
// or by the specification's names), those of the truth have truth_ before it
// (truth_doc, truth_annotator …), tags are tags.KEY. An empty cell is null, but for
// query and answer. With a column of citations in the header, a row without any
// has an empty list; without one, the marks of the answer are read. A row without truth has null.
// Other columns go into source_reference: of the citation on the line, else of the
// row. Offsets are written as they are, as jsonl does.
var csvRows = Format{
	Name:    "csv",
	Summary: "our own columns as CSV, one line for each citation",
	Input:   "CSV files, or a directory of them",
	streams: true,
	fitsTable: func(columns []string) bool {
		ours := ourColumns(columns)
		return hasColumns(ours, "answer") && (hasColumns(ours, "id") || hasColumns(ours, "query"))
	},
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, []string{".csv"}, func(path string) error {
			c := csvReader{jsonlReader: newJSONLReader(r, path)}
			return c.read(ctx)
		})
	},
}

const (
	truthPrefix = "truth_"
	tagPrefix   = "tags."
)

// A csvReader reads one file.
type csvReader struct {
	jsonlReader
	table    *table
	limit    *limitedReader
	cites    bool // the header has columns of citations
	numbered bool // there is no column id: lines with one query, answer and system are a row
	last     int  // the line of the record read last

	group csvGroup
	seen  map[rowKey]int // the line where each row begins
}

// A csvGroup is the lines of one row.
type csvGroup struct {
	line             int // of the first, 0 if there is none
	row              map[string]string
	citations, truth []string // JSON objects
	tags, more       extra
	size             int
	bad              *RecordError
}

func (c *csvReader) read(ctx context.Context) error {
	in, err := c.open(c.file)
	if err != nil {
		return err
	}
	defer in.Close()
	c.limit = &limitedReader{r: in, most: c.MaxRecord}
	c.last = 1
	c.seen = map[rowKey]int{}
	if c.table, err = newTable(c.file, bufio.NewReader(c.limit)); err != nil {
		return err
	}
	for i, ours := range ourColumns(c.table.columns) {
		if theirs := c.table.columns[i]; ours != theirs {
			tally(c.report.ReadAs, theirs+" as "+ours)
			c.table.columns[i], c.table.index[ours] = ours, i
		}
	}
	if err := c.table.require("answer"); err != nil {
		return err
	}
	if c.numbered = !slices.Contains(c.table.columns, "id"); c.numbered {
		if !slices.Contains(c.table.columns, "query") {
			return c.table.require("id")
		}
		tally(c.report.ReadAs, "the position as id")
	}
	if err := c.header(); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.limit.read = 0
		rec, bad, err := c.table.next()
		switch {
		case err == io.EOF:
			return c.flush()
		case errors.Is(err, errTooLong):
			if err := c.flush(); err != nil {
				return err
			}
			c.report.Records++
			c.fail(RecordError{File: c.file, Line: c.last + 1, Reason: fmt.Sprintf("%v: over %d bytes, perhaps behind a quotation mark that does not end", errTooLong, c.MaxRecord)})
			return nil
		case err != nil:
			return err
		}
		c.last = rec.line
		if err := c.line(rec, bad); err != nil {
			return err
		}
	}
}

// header refuses two columns for one thing.
func (c *csvReader) header() error {
	ours := map[string]string{}
	for _, name := range c.table.columns {
		own, citation := csvName(name)
		c.cites = c.cites || citation
		if other, twice := ours[own]; twice {
			return ibid.Usagef("%s: columns %s and %s are one", c.file, quoted(other), quoted(name))
		}
		ours[own] = name
	}
	return nil
}

// csvName is our name of a column, and whether it is one of citations.
func csvName(column string) (name string, citation bool) {
	own := column
	if ours, ok := aliases[column]; ok {
		own = ours
	}
	return own, citationColumns.find(own) != nil
}

// line adds one line to its row.
func (c *csvReader) line(rec csvRecord, bad *RecordError) error {
	id, system := rec.get("id"), rec.get("system")
	g := &c.group
	same := g.line != 0 && id == g.row["id"] && (system == g.row["system"] || system == "")
	if c.numbered {
		same = g.line != 0 && system == g.row["system"] && rec.get("query") == g.row["query"] && rec.get("answer") == g.row["answer"]
		if id = g.row["id"]; !same {
			c.run.numbered++
			id = strconv.Itoa(c.run.numbered)
		}
	}
	if !same {
		if err := c.flush(); err != nil {
			return err
		}
		*g = csvGroup{line: rec.line, row: map[string]string{"id": id}, bad: bad}
		if bad == nil && id == "" {
			g.bad = c.at(rec, "id", "id is missing")
		}
	} else if g.bad == nil {
		g.bad = bad
	}
	if g.bad == nil {
		g.bad = c.cells(rec, g)
	}
	return nil
}

// at is an error at a cell.
func (c *csvReader) at(rec csvRecord, column, format string, args ...any) *RecordError {
	e := rec.bad(format, args...)
	i := rec.index[column]
	for _, before := range rec.fields[:i] {
		for k := range len(before) {
			if before[k] >= 0x80 || before[k] == '\n' {
				return e // the reader counts bytes
			}
		}
	}
	e.Line, e.Column = rec.r.FieldPos(i)
	return e
}

// cells adds the cells of one line to its row.
func (c *csvReader) cells(rec csvRecord, g *csvGroup) *RecordError {
	var citation, truth, more extra
	cited := false
	for i, column := range rec.columns {
		cell := rec.fields[i]
		g.size += len(cell)
		if g.size > c.MaxRecord {
			return rec.bad("%v: over %d bytes", errTooLong, c.MaxRecord)
		}
		own, isCitation := csvName(column)
		tag, isTag := strings.CutPrefix(column, tagPrefix)
		ofTruth, isTruth := strings.CutPrefix(column, truthPrefix)
		var bad *RecordError
		switch row, mark := rowColumns.find(column), truthColumns.find(ofTruth); {
		case row != nil:
			bad = c.rowCell(rec, g, column, row.cell, cell)
		case cell == "":
		case isCitation:
			cited = true
			bad = c.add(rec, &citation, column, own, citationColumns.find(own).cell, cell)
		case isTruth && mark != nil:
			bad = c.add(rec, &truth, column, ofTruth, mark.cell, cell)
		case isTag:
			if g.line == rec.line {
				g.tags.addText(tag, cell)
			}
		default:
			more.addText(column, cell)
		}
		if bad != nil {
			return bad
		}
	}
	c.close(g, citation, truth, more, cited)
	return nil
}

// close adds what a line says to the lists of its row.
func (c *csvReader) close(g *csvGroup, citation, truth, more extra, cited bool) {
	switch {
	case more.empty():
	case cited:
		citation.addAll(&more)
	case g.more.empty():
		g.more = more
	}
	if cited {
		g.citations = append(g.citations, citation.object())
	}
	if !truth.empty() {
		g.truth = append(g.truth, truth.object())
	}
}

// rowCell takes a cell of the row itself.
func (c *csvReader) rowCell(rec csvRecord, g *csvGroup, column string, kind cellKind, cell string) *RecordError {
	before, known := g.row[column]
	if kind != textCell && cell != "" {
		if bad := c.add(rec, &extra{}, column, column, kind, cell); bad != nil {
			return bad
		}
	}
	switch {
	case !known:
		g.row[column] = cell
	case cell != "" && cell != before:
		return c.at(rec, column, "%s differs from line %d, which has the same id", column, g.line)
	}
	return nil
}

// add adds a cell to a JSON object.
func (c *csvReader) add(rec csvRecord, to *extra, column, name string, kind cellKind, cell string) *RecordError {
	switch number, ok := kind.number(cell); {
	case ok:
		to.add(name, number)
	case kind == integerCell:
		return c.at(rec, column, "%s: want an integer, got %s", column, quoted(cell))
	case kind == floatCell:
		return c.at(rec, column, "%s: want a number, got %s", column, quoted(cell))
	default:
		to.addText(name, cell)
	}
	return nil
}

// number is a cell that holds a number of the kind, as JSON has it.
func (k cellKind) number(cell string) (text []byte, ok bool) {
	switch k {
	case integerCell:
		n, err := strconv.ParseInt(cell, 10, 64)
		return strconv.AppendInt(nil, n, 10), err == nil && cell[0] != '+'
	case floatCell:
		f, err := strconv.ParseFloat(cell, 64)
		return strconv.AppendFloat(nil, f, 'g', -1, 64), err == nil && f-f == 0
	}
	return nil, false
}

// flush converts the row whose lines have been read.
func (c *csvReader) flush() error {
	g := &c.group
	if g.line == 0 {
		return nil
	}
	line := g.line
	g.line = 0
	c.report.Records++
	if g.bad != nil {
		c.fail(*g.bad)
		return nil
	}
	key := keyOf(g.row["id"], g.row["system"])
	if before, seen := c.seen[key]; seen {
		c.fail(position{line: line}.err(c.file, fmt.Sprintf("id %s has a row from line %d on: the lines of a row must follow each other", quoted(g.row["id"]), before)))
		return nil
	}
	c.seen[key] = line
	if e := c.record.decode(g.json(c.cites)); e != nil {
		c.fail(position{line: line}.err(c.file, e.msg))
		return nil
	}
	c.tallyNames()
	return c.row(&c.record.row, position{line: line})
}

// json is the row as a record of jsonl.
func (g *csvGroup) json(cites bool) []byte {
	var row extra
	for _, column := range rowColumns {
		cell := g.row[column.name]
		if number, ok := column.cell.number(cell); ok {
			row.add(column.name, number)
		} else if cell != "" || column.name == "query" || column.name == "answer" {
			row.addText(column.name, cell)
		}
	}
	if cites {
		row.add("citations", []byte("["+strings.Join(g.citations, ",")+"]"))
	}
	if len(g.truth) > 0 {
		row.add("truth", []byte("["+strings.Join(g.truth, ",")+"]"))
	}
	if !g.tags.empty() {
		row.add("tags", []byte(g.tags.object()))
	}
	if !g.more.empty() {
		row.add("columns", []byte(g.more.object()))
	}
	return []byte(row.object())
}

// A limitedReader fails when more bytes are read than a record may have: a
// quotation mark that does not end would take in the rest of the file.
type limitedReader struct {
	r          io.Reader
	read, most int
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.read > l.most {
		return 0, errTooLong
	}
	n, err := l.r.Read(p)
	l.read += n
	return n, err
}

// hasColumns reports whether a table has all of some columns.
func hasColumns(columns []string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(columns, name) })
}

// A table reads the records of a CSV file (RFC 4180) whose first record names
// the columns.
type table struct {
	file    string
	r       *csv.Reader
	columns []string
	index   map[string]int
}

// A csvRecord is one record of a table.
type csvRecord struct {
	*table
	fields []string // nil if the record is no record of CSV at all
	line   int
}

// newTable reads the header. A missing or repeated column is [ibid.ErrUsage]:
// without it no record can be read.
func newTable(file string, in io.Reader, required ...string) (*table, error) {
	t := &table{file: file, r: csv.NewReader(in), index: map[string]int{}}
	header, err := t.r.Read()
	if err == io.EOF {
		return nil, ibid.Usagef("%s: empty, not even a header", file)
	}
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		return nil, ibid.Usagef("%s:%d: header: %v", file, parse.Line, parse.Err)
	}
	if err != nil {
		return nil, pathError(file, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i, name := range header {
		if _, twice := t.index[name]; twice {
			return nil, ibid.Usagef("%s: column %s is there twice", file, quoted(name))
		}
		t.index[name] = i
	}
	t.columns = header
	return t, t.require(required...)
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

// eachCSV calls do with every record of a table, or with what is wrong with it (see
// [table.next]).
func eachCSV(file string, in io.Reader, required []string, do func(rec csvRecord, wrong *RecordError) error) error {
	t, err := newTable(file, in, required...)
	for err == nil {
		var rec csvRecord
		var wrong *RecordError
		if rec, wrong, err = t.next(); err == nil {
			err = do(rec, wrong)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// eachLine calls do with every record of a table in a file (see [eachCSV]).
func (r *run) eachLine(path string, required []string, do func(rec csvRecord, wrong *RecordError) error) error {
	in, err := r.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return eachCSV(path, bufio.NewReader(in), required, do)
}

// next returns the next record. bad says what is wrong with it, if anything;
// a record with another number of fields than the header has fields all the
// same. err is io.EOF after the last record, and otherwise the file's.
func (t *table) next() (rec csvRecord, bad *RecordError, err error) {
	fields, err := t.r.Read()
	parse := (*csv.ParseError)(nil)
	switch {
	case err == io.EOF:
		return rec, nil, io.EOF
	case errors.As(err, &parse) && parse.Err == csv.ErrFieldCount:
		rec = csvRecord{t, fields, parse.StartLine}
		return rec, rec.bad("%d fields, and the header has %d", len(fields), len(t.columns)), nil
	case parse != nil:
		return csvRecord{table: t, line: parse.StartLine},
			&RecordError{File: t.file, Line: parse.Line, Reason: parse.Err.Error()}, nil
	case err != nil:
		return rec, nil, pathError(t.file, err)
	}
	line, _ := t.r.FieldPos(0)
	rec = csvRecord{t, fields, line}
	for i, f := range fields {
		if !utf8.ValidString(f) {
			return rec, rec.bad("%s: invalid UTF-8", t.columns[i]), nil
		}
	}
	return rec, nil, nil
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

// integer returns a field that holds an integer.
func (c csvRecord) integer(column string) (int64, *RecordError) {
	n, err := strconv.ParseInt(c.get(column), 10, 64)
	if err != nil {
		return 0, c.bad("%s: want an integer, got %s", column, quoted(c.get(column)))
	}
	return n, nil
}
