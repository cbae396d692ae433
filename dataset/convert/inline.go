package convert

import (
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ibid/dataset"
	"ibid/metrics/presence"
)

// inline is answers whose citations stand in their text. The markers are those
// of package presence; the answer stays as it is, and answer_start and
// answer_end of a citation are the interval of its marker, of a statement the
// whole element. method is the form of the marker, such as "numbered".
//
// A record has the members of jsonl but citations, and may have references or
// sources: what the numbers in the answer stand for, counted from 1. An element
// is the name of a document or an object with doc (else url, else id), title,
// text, cited_text, source_type, page, start, end and unit. References come
// first, then sources, then the row's documents. Two texts under one name are
// two documents (see [documentNames]).
//
//   - [file:page:start-end] gives one citation per span, as written: what the
//     offsets count is for the run to state. An excerpt is the cited_text, but
//     of several spans it is kept in source_reference, since it does not say
//     which of them it quotes.
//   - [n], 【n†…】, ^n and [^n] give one citation per number, to the source of that
//     number: to the whole document unless the source names a place. What stands
//     behind a dagger is the locator of source_reference. 【turn:n†…】 counts
//     the sources of another turn, so only a locator that is the name of exactly
//     one source says which is meant.
//   - <statement>…<cite>[a-b]</cite></statement> gives one citation per range:
//     sentences of the only source, counted from 0, the last included. They are
//     its blocks. An answer of nothing but statements has them as its claims,
//     unless the record gives claims.
//
// A number without a source gives a citation of no document with the marker as
// title, and a warning; so does a malformed marker, of which nothing is used.
//
// A .txt or .md file is one answer: its id is the file's name, its query "". A
// .json file holds one record, several, or a list of them.
var inline = Format{
	Name:    "inline",
	Summary: "answers that carry their citations in the text",
	Input:   "JSON Lines, JSON or text files, or a directory of them",
	streams: true,
	fits: func(o *object) bool {
		return o.peek("id") != "" && !o.has("citations") && (listsInline(o) || hasMarkers(o.peek("answer")))
	},
	convert: convertInline,
}

// listsInline reports whether a record lists what numbers in its answer stand for.
func listsInline(o *object) bool {
	return !o.has("citations") && o.has("answer") && (o.isList("references") || o.isList("sources"))
}

// hasMarkers reports whether citations stand in an answer.
func hasMarkers(answer string) bool {
	items, _ := presence.Parse(answer)
	return len(items) > 0
}

func convertInline(ctx context.Context, r *run) error {
	paths, err := files(r.paths, []string{".jsonl", ".ndjson", ".json", ".txt"})
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := newInlineReader(r, path).read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// An inlineReader reads one file.
type inlineReader struct {
	jsonlReader
	sources sourceList
}

func newInlineReader(r *run, path string) *inlineReader {
	c := &inlineReader{}
	c.run, c.file = r, path
	c.record.sources = &c.sources
	c.amend = c.cite
	return c
}

func (c *inlineReader) read(ctx context.Context) error {
	name := strings.TrimSuffix(filepath.Base(c.file), ".gz")
	extension := filepath.Ext(name)
	isText := extension == ".txt" || extension == ".md"
	if !isText && extension != ".json" || c.file == stdinPath {
		return c.jsonlReader.read(ctx)
	}
	data, ok, err := c.whole()
	if err != nil || !ok {
		return err
	}
	if isText {
		err = c.text(name, string(data))
	} else {
		err = c.list(ctx, data)
	}
	c.settle()
	return err
}

// whole reads the file. One that cannot be a record is reported.
func (c *inlineReader) whole() (data []byte, ok bool, err error) {
	data, reason, err := c.run.whole(c.file)
	if reason != "" {
		c.report.Records++
		c.fail(RecordError{File: c.file, Reason: reason})
	}
	return data, reason == "" && err == nil, err
}

// text converts a file that is one answer.
func (c *inlineReader) text(name, answer string) error {
	c.report.Records++
	if !utf8.ValidString(answer) {
		valid := strings.ToValidUTF8(answer, "\x00")
		c.fail(position{1, 1}.after([]byte(answer[:firstDifference(answer, valid)])).err(c.file, "invalid UTF-8"))
		return nil
	}
	c.sources.reset()
	row := dataset.Row{File: c.file, ID: name, System: "default", Answer: answer}
	if reason := c.cite(&row, position{}); reason != "" {
		c.fail(RecordError{File: c.file, Reason: reason})
		return nil
	}
	c.proof.row(&row)
	return c.run.row(&row)
}

// firstDifference is the first byte at which a and b differ.
func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// list converts a file of JSON.
func (c *inlineReader) list(ctx context.Context, data []byte) error {
	records := jsonRecords{data: data}
	at, last := position{1, 1}, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		start, end, reason := records.next()
		at, last = at.after(data[last:start]), start
		if reason != "" {
			c.report.Records++
			c.fail(at.err(c.file, reason))
			return nil
		}
		if start == end {
			return nil
		}
		c.report.Records++
		if err := c.value(data[start:end], at); err != nil {
			return err
		}
	}
}
